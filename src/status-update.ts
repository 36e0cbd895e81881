/** What is kept up to date at GitHub while the step runs (types only). */

export interface StatusUpdate {
  /** A status or an outcome, or `sending`: what the next run needs to know. */
  readonly state: string
  /** The job to store. */
  readonly jobId: string
  readonly link: string
  /** The visible text, as Markdown. */
  readonly text: string
}

/** Keeps the status at GitHub up to date. */
export interface StatusWriter {
  /** Later runs depend on what is stored: an error before anything is sent ends the run. */
  readonly decides: boolean
  /**
   * Writes the state before a create request: a missing permission shows now, and a run that is killed leaves a trace.
   *
   * @throws ActionError `github`
   */
  writePlaceholder(update: StatusUpdate): Promise<void>
  /** Writes an update in the background, unless it changes nothing; errors are warnings. */
  enqueue(update: StatusUpdate): void
  /**
   * Waits until everything is written.
   *
   * @param limitMs at most this long
   * @param cancelledLimitMs at most this long once `cancel` is aborted
   */
  close(limitMs: number, cancelledLimitMs: number, cancel: AbortSignal): Promise<void>
}
