/** How a run ended. */

import type { Outcome } from '../agent/job.js'
import { ActionError, Cancelled, internalError } from '../text/errors.js'

export type RunResult = Readonly<
  | PlainResult<Exclude<Outcome, 'skipped' | 'cancelled' | 'error'>>
  /** `title` is the reason in a few words; `advice` is what to do, if anything has to be done. */
  | { outcome: 'skipped'; title?: string; reason: string; advice?: string | undefined }
  /** `error` is set if a request was in flight and its result is unknown. */
  | { outcome: 'cancelled'; error?: ActionError | undefined }
  | { outcome: 'error'; error: ActionError }
>

/** Why nothing was sent, and what to do, if anything has to be done. */
export type SkipReason = Omit<Extract<RunResult, { outcome: 'skipped' }>, 'outcome'>

/** One type for each outcome, so that a check of the outcome narrows the result. */
type PlainResult<O> = O extends Outcome ? { readonly outcome: O } : never

export function toRunResult(thrown: unknown): RunResult {
  if (thrown instanceof Cancelled) return { outcome: 'cancelled', error: thrown.unknown }
  return { outcome: 'error', error: thrown instanceof ActionError ? thrown : internalError(thrown) }
}

export function errorOf(result: RunResult | undefined): ActionError | undefined {
  return result !== undefined && 'error' in result ? result.error : undefined
}
