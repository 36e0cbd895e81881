/** What is reported in the comment and stored there, and how. */

import type { Outcome, Status } from '../agent/job.js'

/** What the next run needs to know. */
export type Stored = Readonly<{
  /** The last state that was reported. */
  state: Status | Outcome | 'sending' | 'unsent' | 'unknown'
  jobId: string
  /** The pull request that the job opened, or was asked to continue. */
  link: string | undefined
  /** What the job accepted last, as later runs compare it; empty if what was sent may be lost. */
  fingerprint: string
}>

export type StatusUpdate = Readonly<{
  stored: Stored
  /** Whether the service has returned the job. */
  isJobSeen: boolean
  /** Whether this run has created the job, or is about to. */
  created: boolean
  /** What the text says besides the result. */
  notes: string
  text: string
  /** Whether the result is known. */
  isEnd: boolean
  /**
   * What the comment is created with. GitHub mails this, and no edit. It has no marker yet, because
   * the marker needs the comment's id: if the step dies then, it stays.
   */
  first: string
}>

/** The comment, as far as the report needs it. */
export interface KeptComment {
  /** Why it is out of date, for the summary; undefined if it isn't, or somebody else says so. */
  readonly failure: string | undefined
  /** Whether a re-run would find there what this step has sent. */
  readonly memory: 'none' | 'pending' | 'stored'
  /** @throws ActionError `github` if later runs depend on it */
  writePlaceholder(update: StatusUpdate): Promise<void>
  enqueue(update: StatusUpdate): void
  close(): Promise<void>
}
