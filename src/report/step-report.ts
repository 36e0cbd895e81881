/** Reports the run: outputs, summary, comment, log lines and the annotation, each once. */

import { inspect } from 'node:util'
import { type FailOn, isFinal, type Job } from '../agent/job.js'
import { resultUnknown } from '../agent/problems.js'
import { ActionError } from '../errors.js'
import type { Redact } from '../escape.js'
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
  output(name: string, value: string): void
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
  /** Undefined if the step keeps no comment. */
  statusWriter: StatusWriter | undefined
  #ended = false
  #warnedOfLink = false
  /** Targets whose write failure has been reported. */
  readonly #reportedFailures = new Set<string>()
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

  get ended(): boolean {
    return this.#ended
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
    if (!this.#ended) this.#publish(undefined)
  }

  #publish(result: RunResult | undefined): void {
    const required = result === undefined && !this.#progress.accepted
    const values = Object.entries(outputs(this.#progress, result, this.#redact))
    const text = createSummary(this.#summaryOptions(result))
    this.#write('the summary', false, () => this.#writer.summary(text))
    this.#write('the outputs', required, () => {
      for (const [name, value] of values) this.#writer.output(name, value)
    })
    this.#updateComment(result)
  }

  /** Reports a failed write: as the step's error if it is required, else once as a warning. */
  #write(target: string, required: boolean, write: () => void): void {
    try {
      write()
    } catch (thrown) {
      const text = `Writing ${target} failed: ${(thrown as Error).message}`
      const reported = this.#reportedFailures.has(target)
      this.#reportedFailures.add(target)
      if (required) {
        const advice = "Check the runner's disk space and its GITHUB_OUTPUT file."
        throw new ActionError('internal', `${text}. Nothing was sent.`, advice, { cause: thrown })
      }
      if (!reported) this.#writer.warn(text)
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

  /** Reports the result, once. */
  end(result: RunResult): void {
    if (this.#ended) return
    this.#ended = true
    this.#publish(result)
    const { level, text, log } = annotation(this.#progress, result, this.failOn)
    if (log !== undefined) this.#writer.log(log)
    this.#writer[level](text)
    this.#writer.log(endLine(this.#progress, result))
    const error = errorOf(result)
    if (error !== undefined) this.#writer.debug(inspect(error))
  }

  /** Waits until the comment is written, for a limited time. */
  async closeComment({ outcome }: RunResult, cancel: AbortSignal): Promise<void> {
    const remainingMs = (this.inputs?.timeoutMs ?? 0) - this.#progress.elapsedMs()
    const { max, min, cancelled } = COMMENT_LIMIT_MS
    const limitMs = outcome === 'cancelled' ? cancelled : Math.min(max, Math.max(min, remainingMs))
    await this.statusWriter?.close(limitMs, cancelled, cancel)
  }
}
