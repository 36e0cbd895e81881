/** How a run ended. */

import type { Outcome } from '../agent/job.js'
import { type ActionError, Cancelled, toActionError } from '../text/errors.js'

export type RunResult = Readonly<
  | { outcome: Exclude<Outcome, 'skipped' | 'cancelled' | 'error'> }
  | ({ outcome: 'skipped' } & Skip)
  /** `error` is set if a request was in flight and its result is unknown. */
  | { outcome: 'cancelled'; error?: ActionError | undefined }
  | { outcome: 'error'; error: ActionError }
>

/** Why nothing was sent, first in a few words; and what to do, if anything has to be done. */
export type Skip = Readonly<{
  title?: string
  reason: string
  advice?: string | undefined
}>

export function toRunResult(thrown: unknown): RunResult {
  if (thrown instanceof Cancelled) return { outcome: 'cancelled', error: thrown.unknown }
  return { outcome: 'error', error: toActionError(thrown) }
}

export function errorOf(result: RunResult | undefined): ActionError | undefined {
  return result !== undefined && 'error' in result ? result.error : undefined
}
