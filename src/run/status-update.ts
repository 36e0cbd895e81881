/** What is reported in the comment, and stored there. */

import type { Outcome, Status } from '../agent/job.js'

/** What the next run needs to know. */
export interface Stored {
  /** The last state that was reported. */
  readonly state: Status | Outcome | 'sending' | 'unsent' | 'unknown'
  readonly jobId: string
  /** The pull request that the job opened, or was asked to continue; or empty. */
  readonly link: string
  /** Of what the job accepted last; empty if what was sent last may be lost. */
  readonly fingerprint: string
}

export interface StatusUpdate {
  readonly stored: Stored
  /** The service returned the job. */
  readonly isJobSeen: boolean
  /** This run has created the job, or is about to. */
  readonly created: boolean
  /** What the text says besides the result. */
  readonly notes: string
  readonly text: string
  /** The result is known. */
  readonly isEnd: boolean
  /**
   * What the comment is created with, unless the result is known. GitHub mails this, and no edit.
   * It has no marker yet, because the marker needs the comment's id: if the step dies then, it
   * stays.
   */
  readonly first?: string | undefined
}
