/** The end of the step's time: one signal, raised by the deadline or by a cancel, whichever comes first. */

export interface Stop {
  readonly signal: AbortSignal
  /** Whether it was a cancel that raised the signal. */
  cancelled(): boolean
  /** Milliseconds until the deadline; 0 when it has passed. */
  remainingMs(): number
}

/** A clock, handed in: nothing but the runner's edge reads the real one. */
export interface Clock {
  /** Milliseconds since some fixed moment, never going back. */
  now(): number
  /** The wall clock, for readers and for `Retry-After` dates. */
  date(): Date
  /** Waits; ends early, without an error, when the signal is raised. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Calls again and again, until the returned function is called. */
  every(milliseconds: number, call: () => void): () => void
}

/**
 * Makes the signal.
 *
 * @param cancel raised when the runner cancels the step
 * @param deadline on the clock, in milliseconds
 */
export function stopAt(deadline: number, cancel: AbortSignal, clock: Clock): Stop {
  const controller = new AbortController()
  let cancelled = false
  const onCancel = (): void => {
    cancelled = !controller.signal.aborted
    controller.abort()
  }
  const remainingMs = (): number => Math.max(0, deadline - clock.now())

  if (cancel.aborted) onCancel()
  else cancel.addEventListener('abort', onCancel, { once: true })
  void clock.sleep(remainingMs(), cancel).then(() => controller.abort())
  return { signal: controller.signal, cancelled: () => cancelled, remainingMs }
}
