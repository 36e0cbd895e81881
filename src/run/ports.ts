/** A run's dependencies and its result (types only). */

import type { Job, Outcome } from '../agent/job.js'
import type { ActionError } from '../errors.js'
import type { Clock, Deadline } from '../net/deadline.js'
import type { Progress } from './progress.js'

export interface Ports {
  readonly clock: Clock
  readonly deadline: Deadline
  readonly progress: Progress
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  readonly log: (line: string) => void
  readonly debug: (line: string) => void
  readonly warn: (line: string) => void
  /** Records the latest job object and reports it if it changed. */
  readonly onJob: (job: Job) => void
  /** Stores the state before a create request, if it is stored at all. */
  readonly writePlaceholder: () => Promise<void>
  /** Writes what is known to the outputs and the summary. */
  readonly publish: () => void
}

/** How a run ended. */
export type RunResult =
  | PlainResult<Exclude<Outcome, 'skipped' | 'cancelled' | 'error'>>
  | { readonly outcome: 'skipped'; readonly reason: string }
  /** `error` is set if a request was in flight and its result is unknown. */
  | { readonly outcome: 'cancelled'; readonly error?: ActionError | undefined }
  | { readonly outcome: 'error'; readonly error: ActionError }

/** One type for each outcome, so that a check of the outcome narrows the result. */
type PlainResult<O> = O extends Outcome ? { readonly outcome: O } : never

export function errorOf(result: RunResult | undefined): ActionError | undefined {
  return result !== undefined && 'error' in result ? result.error : undefined
}
