/** A run's dependencies and its result (types only). */

import type { Job, Outcome } from '../agent/job.js'
import type { ActionError } from '../errors.js'
import type { Redact } from '../escape.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { InputError, Inputs, RawInputs } from '../inputs/inputs.js'
import type { Clock, Deadline } from '../net/deadline.js'
import type { NetworkSettings } from '../net/proxy.js'
import type { StatusWriter } from '../status-update.js'
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

/** A step that runs: what the runner says of it, what its parts may use, and what has happened so far. */
export interface Step extends Ports {
  /** As they were given, valid or not. */
  readonly raw: RawInputs
  /** Or every problem with them. */
  readonly inputs: Inputs | InputError
  readonly run: RunEnvironment
  readonly event: RunEvent
  readonly network: NetworkSettings
  readonly redact: Redact
  /** Random hexadecimal digits that nobody can guess. */
  readonly nonce: () => string
  /** Tells this writer of every change from now on. */
  readonly keepUpToDate: (writer: StatusWriter) => void
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
