/** Reports the run: outputs, summary, comment, log lines and the annotation, each once. */

import { inspect } from 'node:util'
import { type FailOn, failsStep, isFinal, type Job } from '../agent/job.js'
import { resultUnknown } from '../agent/problems.js'
import { ActionError } from '../errors.js'
import { quote, type Redact } from '../escape.js'
import type { Inputs, Task } from '../inputs/inputs.js'
import { errorOf, type RunResult } from '../run/ports.js'
import type { Progress } from '../run/progress.js'
import type { StatusUpdate, StatusWriter } from '../status-update.js'
import { annotation, endLine, outputs, statusLine } from './messages.js'
import { createCommentText, createSummary, type SummaryOptions } from './summary.js'

/** Time limit of the last comment edit, in milliseconds: at most, past the deadline, and after a cancel. */
const COMMENT_LIMIT_MS = { max: 10_000, min: 1_000, cancelled: 700 }

/** Where the report is written. */
export interface ReportWriter {
  log(line: string): void
  debug(text: string): void
  warn(line: string): void
  notice(line: string): void
  error(text: string): void
  /** Writes all of them or none. */
  outputs(values: readonly (readonly [name: string, value: string])[]): void
  summary(markdown: string): void
}

export interface ReportOptions {
  readonly writer: ReportWriter
  readonly progress: Progress
  readonly redact: Redact
  /** The URL of the run. */
  readonly runUrl: string
}

export class StepReport {
  /** Undefined until they are known to be valid. */
  inputs: Inputs | undefined
  /** Undefined until the plan is made. */
  task: Task | undefined
  /** How the step ended; undefined until it has. */
  result: RunResult | undefined
  /** Undefined if the step keeps no comment. */
  statusWriter: StatusWriter | undefined
  #warnedOfLink = false
  #warnedOfSummary = false
  /** The outputs as last written. */
  readonly #written = new Map<string, string>()
  readonly #writer: ReportWriter
  readonly #progress: Progress
  readonly #redact: Redact
  readonly #runUrl: string

  constructor({ writer, progress, redact, runUrl }: ReportOptions) {
    this.#writer = writer
    this.#progress = progress
    this.#redact = redact
    this.#runUrl = runUrl
  }

  get exitCode(): 0 | 1 {
    return this.result !== undefined && !failsStep(this.result.outcome, this.failOn) ? 0 : 1
  }

  get failOn(): ReadonlySet<FailOn> {
    return this.inputs?.failOn ?? new Set()
  }

  /** Records the latest job object and reports it if it changed. */
  onJob(job: Job): void {
    if (job.linkRejected && !this.#warnedOfLink) {
      this.#warnedOfLink = true
      this.#writer.warn(
        'The service returned a pull request link that is not a plain http(s) URL; it was dropped.',
      )
    }
    if (!this.#progress.update(job)) return
    this.#writer.log(statusLine(this.#progress))
    this.publish()
  }

  /**
   * Writes what is known to the outputs, the summary and the comment, each whether or not the others can be written.
   *
   * @throws ActionError if the outputs can't be written before the service accepted anything: better to send nothing than
   * to lose a job.
   */
  publish(): void {
    if (this.result !== undefined) return
    const failure = this.#writeOutputs(undefined)
    this.#writeSummary(undefined)
    if (failure !== undefined && !this.#progress.accepted) throw failure
    this.#updateComment(undefined)
  }

  /** Writes the outputs that changed, or all of them with the result. Returns the error if that fails. */
  #writeOutputs(result: RunResult | undefined): ActionError | undefined {
    const values = Object.entries(outputs(this.#progress, result, this.#redact))
    const changed = values.filter(
      ([name, value]) => result !== undefined || this.#written.get(name) !== value,
    )
    try {
      this.#writer.outputs(changed)
      for (const [name, value] of changed) this.#written.set(name, value)
      return undefined
    } catch (thrown) {
      const { accepted, jobId } = this.#progress
      const what = accepted ? `The job is ${quote(jobId)}.` : 'Nothing was sent.'
      return new ActionError(
        'internal',
        `Writing the outputs failed: ${(thrown as Error).message}. ${what}`,
        "Check the runner's disk space and its GITHUB_OUTPUT file.",
        { cause: thrown },
      )
    }
  }

  /** Says once that the summary can't be written: nothing depends on it. */
  #writeSummary(result: RunResult | undefined): void {
    try {
      this.#writer.summary(createSummary(this.#summaryOptions(result)))
    } catch (thrown) {
      if (!this.#warnedOfSummary)
        this.#writer.warn(`Writing the summary failed: ${(thrown as Error).message}`)
      this.#warnedOfSummary = true
    }
  }

  /** Stores the state before a create request: it must be correct if the run is killed while the request is in flight. */
  async writePlaceholder(): Promise<void> {
    if (this.statusWriter?.decides)
      await this.statusWriter.writePlaceholder(this.#statusUpdate(undefined, true))
  }

  /** A comment that isn't used as storage reports a job, not an attempt. */
  #updateComment(result: RunResult | undefined): void {
    const { job, status } = this.#progress
    if (result?.outcome === 'dry-run' || result?.outcome === 'skipped') return
    if (result === undefined && isFinal(status)) return // The final update follows at once.
    const isNews = this.statusWriter?.decides || job !== undefined || result !== undefined
    if (isNews) this.statusWriter?.enqueue(this.#statusUpdate(result))
  }

  #statusUpdate(result: RunResult | undefined, sending = this.#progress.sending): StatusUpdate {
    return {
      state: this.#stateToStore(result),
      jobId: this.#progress.jobId,
      link: this.#progress.job?.link ?? '',
      text: createCommentText({ ...this.#summaryOptions(result), sending, runUrl: this.#runUrl }),
    }
  }

  /** What the next run needs to know: how this one ended and, if it failed, whether anything was accepted. */
  #stateToStore(result: RunResult | undefined): string {
    const { status, accepted } = this.#progress
    if (result === undefined) return accepted ? (status ?? 'active') : 'sending'
    if (result.outcome !== 'error' && result.outcome !== 'cancelled') return result.outcome
    if (result.error?.code === 'create-unknown') return 'unknown'
    return accepted ? result.outcome : 'unsent'
  }

  #summaryOptions(result: RunResult | undefined): SummaryOptions {
    return { inputs: this.inputs, progress: this.#progress, result, redact: this.#redact }
  }

  /** If a create request or a message is in flight: the error saying that its result is unknown. */
  resultUnknown(cause?: unknown): ActionError | undefined {
    if (!this.#progress.sending || this.task === undefined || this.task.kind === 'attach') return undefined
    return resultUnknown(this.task, 'the step ended before a response arrived', cause)
  }

  /** Reports the result, once. If the outputs can't be written, that becomes the result. */
  end(ended: RunResult): void {
    if (this.result !== undefined) return
    this.result = ended
    const failure = this.#writeOutputs(ended)
    const alreadyReported = errorOf(ended)?.code === 'internal'
    const result: RunResult =
      failure === undefined || alreadyReported ? ended : { outcome: 'error', error: failure }
    this.result = result
    this.#writeSummary(result)
    this.#updateComment(result)
    const { level, text, log } = annotation(this.#progress, result, this.failOn)
    if (log !== undefined) this.#writer.log(log)
    this.#writer[level](text)
    this.#writer.log(endLine(this.#progress, result))
    const error = errorOf(result)
    if (error !== undefined) this.#writer.debug(inspect(error))
  }

  /** Waits until the comment is written, for a limited time. */
  async closeComment(cancel: AbortSignal): Promise<void> {
    const remainingMs = (this.inputs?.timeoutMs ?? 0) - this.#progress.elapsedMs()
    const { max, min, cancelled } = COMMENT_LIMIT_MS
    const limitMs =
      this.result?.outcome === 'cancelled' ? cancelled : Math.min(max, Math.max(min, remainingMs))
    await this.statusWriter?.close(limitMs, cancelled, cancel)
  }
}
