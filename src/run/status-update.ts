/** What is reported in the comment, and who keeps it up to date. */

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

/** Keeps the status in the comment up to date. */
export interface StatusWriter {
  /** Why it is not up to date, for the summary; empty if it is, or if that is said elsewhere. */
  readonly failure: string
  /** Whether a re-run would find there what this step has sent. */
  readonly memory: 'none' | 'pending' | 'stored'
  /**
   * Writes the state before a create request, if later runs need it: a missing permission shows
   * now, and a run that is killed leaves a trace.
   *
   * @throws ActionError `github` if later runs depend on it
   */
  writePlaceholder(update: StatusUpdate): Promise<void>
  /** Writes an update in the background, unless it changes nothing; errors are warnings. */
  enqueue(update: StatusUpdate): void
  /** Waits until everything is written, for a limited time. */
  close(limits: CloseLimits, cancel: AbortSignal): Promise<void>
}

/** How long to wait for the last edits, in milliseconds. */
export interface CloseLimits {
  readonly usualMs: number
  /** If the next run would not find the job, or what it was sent last. */
  readonly memoryMs: number
  /** After a cancel while it waits. */
  readonly cancelledMs: number
}
