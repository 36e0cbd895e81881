/** What is kept up to date at GitHub while the step runs (types only). */

/** How a check run ends, in GitHub's words. */
export type Conclusion = 'success' | 'neutral' | 'failure' | 'timed_out' | 'cancelled' | 'skipped'

export interface StatusUpdate {
  /** A status or an outcome, `sending`, `unsent` or `unknown`: what the next run needs to know. */
  readonly state: string
  /** The job to store. */
  readonly jobId: string
  /** The pull request's link to store. */
  readonly link: string
  /** The service returned the job. */
  readonly hasJob: boolean
  /** This run created the job. */
  readonly created: boolean
  /** The result, on one line. */
  readonly title: string
  /** The comment, as Markdown. */
  readonly comment: string
  /** The details of a check, as Markdown. */
  readonly summary: string
  /** Undefined while the step runs. */
  readonly conclusion: Conclusion | undefined
}

/** Keeps the status at one place at GitHub up to date. */
export interface StatusWriter {
  /**
   * Writes the state before a create request, if later runs need it: a missing permission shows now, and a run that is
   * killed leaves a trace.
   *
   * @throws ActionError `github` if later runs depend on it
   */
  writePlaceholder(update: StatusUpdate): Promise<void>
  /** Writes an update in the background, unless it changes nothing; errors are warnings. */
  enqueue(update: StatusUpdate): void
  /**
   * Waits until everything is written.
   *
   * @param limitMs at most this long
   * @param cancelledLimitMs at most this long after `cancel` aborts while it waits
   */
  close(limitMs: number, cancelledLimitMs: number, cancel: AbortSignal): Promise<void>
}
