/** What a run needs, how it ended, and what is kept up to date at GitHub. */

import type { Job, Outcome } from '../agent/job.js'
import { ActionError, Cancelled, internalError } from '../errors.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { Given, InputError, Inputs } from '../inputs/inputs.js'
import type { Clock, Deadline } from '../net/deadline.js'
import type { NetworkSettings } from '../net/proxy.js'
import type { Redact } from '../redact.js'
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
  /** Warns, and leaves a note in the summary, the comment and the check. */
  readonly note: (line: string) => void
  /** Records the latest job object and reports it if it changed. */
  readonly onJob: (job: Job) => void
  /** Stores the state before a create request, if it is stored at all. */
  readonly writePlaceholder: () => Promise<void>
  /** Writes what is known to the outputs and the summary. */
  readonly publish: () => void
}

/** A step that runs: what the runner says of it, what its parts may use, and what has happened so far. */
export interface Step extends Ports {
  /** What is needed even if the inputs are bad. */
  readonly given: Given
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
  /** `advice` is what to do, if anything has to be done. */
  | { readonly outcome: 'skipped'; readonly reason: string; readonly advice?: string | undefined }
  /** `error` is set if a request was in flight and its result is unknown. */
  | { readonly outcome: 'cancelled'; readonly error?: ActionError | undefined }
  | { readonly outcome: 'error'; readonly error: ActionError }

/** One type for each outcome, so that a check of the outcome narrows the result. */
type PlainResult<O> = O extends Outcome ? { readonly outcome: O } : never

/** The result of a step that ends with an exception. */
export function toRunResult(thrown: unknown): RunResult {
  if (thrown instanceof Cancelled) return { outcome: 'cancelled', error: thrown.unknown }
  return { outcome: 'error', error: thrown instanceof ActionError ? thrown : internalError(thrown) }
}

export function errorOf(result: RunResult | undefined): ActionError | undefined {
  return result !== undefined && 'error' in result ? result.error : undefined
}

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
  /** How many notes the texts have. */
  readonly notes: number
  /** The result, on one line. */
  readonly title: string
  /** The comment, as Markdown. */
  readonly comment: string
  /** The details of a check, as Markdown. */
  readonly summary: string
  /** Undefined while the step runs. */
  readonly conclusion: Conclusion | undefined
  /** What a new text says until it has its marker, which needs the text's id: it stays if nothing follows. */
  readonly beforeSending?: Pick<StatusUpdate, 'title' | 'comment' | 'summary'>
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
  /** Waits until everything is written, for a limited time. */
  close(limits: CloseLimits, cancel: AbortSignal): Promise<void>
}

/** How long to wait for the last edits, in milliseconds. */
export interface CloseLimits {
  readonly usualMs: number
  /** If the next run would not find the job. */
  readonly memoryMs: number
  /** After a cancel while it waits. */
  readonly cancelledMs: number
}
