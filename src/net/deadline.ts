/** Deadline and cancellation as one AbortSignal, and the clock that both are measured with. */

import { once, setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'

export interface Deadline {
  /** It is aborted at the deadline or on a cancel, whichever comes first. */
  readonly signal: AbortSignal
  /** It is aborted on a cancel alone. */
  readonly cancel: AbortSignal
  cancelled(): boolean
  /** Counts the milliseconds until the deadline; 0 once it has passed. */
  remainingMs(): number
}

/** Passed in wherever time matters: only the runner adapter reads the real clock. */
export interface Clock {
  /** Counts milliseconds since some fixed moment, and never goes back. */
  now(): number
  /** Reads the wall clock, for readers and for `Retry-After` dates. */
  date(): Date
  /** Waits; ends early, without an error, when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Calls repeatedly until the returned function is called. */
  every(milliseconds: number, call: () => void): () => void
}

export const NO_RESPONSE = 'no response in time'

export async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

/** How many turns of the event loop read what has arrived; each reads 64 KiB. */
const READING_TURNS = 16

/**
 * Reads what has arrived, signals too. Node runs timers before it reads sockets: after a freeze, a
 * time limit may be due while the response already waits in the socket. [net.arrived-first]
 */
export async function readArrived(): Promise<void> {
  for (let turn = 0; turn < READING_TURNS; turn++) await setImmediate()
}

/** Makes a signal that is aborted after another, once that is waited for. */
export function abortedAfter(
  signal: AbortSignal,
  wait: (end: AbortSignal) => Promise<void>,
): AbortSignal {
  const controller = new AbortController()
  void waitForAbort(signal)
    .then(() => wait(controller.signal))
    // What ended it tells whether a retry may help.
    .then(() => controller.abort(signal.reason))
  return controller.signal
}

/**
 * A deadline; `abort` aborts its signal before that. Whoever makes one that is shorter than the
 * step calls `end` when nothing waits for it any more: else its timer runs on, and what cancels it
 * keeps a listener for each. [net.deadline]
 *
 * @param at on the clock, in milliseconds
 * @param cancel aborted when the runner cancels the step
 * @param why what is told of a request that it ends
 */
export function createDeadline(
  at: number,
  cancel: AbortSignal,
  clock: Clock,
  why: string = NO_RESPONSE,
) {
  const [controller, ended] = [new AbortController(), new AbortController()]
  let cancelled = false
  const end = (): void => {
    cancel.removeEventListener('abort', onCancel)
    ended.abort()
  }
  const abort = (reason: unknown): void => {
    controller.abort(reason)
    end()
  }
  const onCancel = (): void => {
    // A step that has timed out before is not cancelled.
    cancelled = !controller.signal.aborted
    abort(cancel.reason)
  }
  const remainingMs = () => Math.max(0, at - clock.now())

  setMaxListeners(0, cancel) // Node 20 warns of more than 10.
  if (cancel.aborted) onCancel()
  else cancel.addEventListener('abort', onCancel)
  void clock.sleep(remainingMs(), ended.signal).then(() => {
    if (!ended.signal.aborted) controller.abort(new Error(why))
  })
  const { signal } = controller
  return { signal, cancel, cancelled: () => cancelled, remainingMs, end, abort }
}
