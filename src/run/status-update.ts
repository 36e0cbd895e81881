/** What is reported in the comment, and stored there. */

import type { Outcome, Status } from '../agent/job.js'

/** What the next run needs to know. */
export type Stored = Readonly<{
  /** The last state that was reported. */
  state: Status | Outcome | 'sending' | 'unsent' | 'unknown'
  jobId: string
  /** The pull request that the job opened, or was asked to continue; or empty. */
  link: string
  /** Of what the job accepted last; empty if what was sent last may be lost. */
  fingerprint: string
}>

export type StatusUpdate = Readonly<{
  stored: Stored
  /** The service returned the job. */
  isJobSeen: boolean
  /** This run has created the job, or is about to. */
  created: boolean
  /** What the text says besides the result. */
  notes: string
  text: string
  /** The result is known. */
  isEnd: boolean
  /**
   * What the comment is created with, unless the result is known. GitHub mails this, and no edit.
   * It has no marker yet, because the marker needs the comment's id: if the step dies then, it
   * stays.
   */
  first?: string | undefined
}>
