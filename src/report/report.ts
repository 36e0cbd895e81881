/** Reports the run: outputs, summary, log lines, and one annotation. */

import { inspect } from 'node:util'
import { failsStep, isFinal, type Job } from '../agent/job.js'
import { ENDED_FIRST, resultUnknown } from '../agent/problems.js'
import type { RunEnvironment } from '../event/event.js'
import type { Progress } from '../run/progress.js'
import { errorOf, type RunResult } from '../run/result.js'
import type { StatusWriter } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import { createAnnotation, formatEndLine, formatStatusLine } from './messages.js'
import { describeNow } from './outcome.js'
import { collectOutputs } from './outputs.js'
import { createPlaceholder, createUpdate } from './status-texts.js'
import { createSummary, type View } from './summary.js'

export interface ReportWriter {
  readonly log: (line: string) => void
  readonly debug: (text: string) => void
  readonly warn: (line: string) => void
  readonly notice: (line: string) => void
  readonly error: (text: string) => void
  /** Writes all of them or none; they are already redacted. */
  readonly outputs: (values: readonly (readonly [name: string, value: string])[]) => void
  readonly summary: (markdown: string) => void
  readonly group: (title: string, text: string) => void
}

export interface ReportOptions extends Pick<Step, 'inputs' | 'progress' | 'redact'> {
  readonly writer: ReportWriter
  readonly environment: Pick<RunEnvironment, 'serverUrl' | 'repository' | 'runId' | 'workflow'>
}

/**
 * Time limits of the last edits at GitHub, in milliseconds: past the deadline, after a cancel,
 * usually, and as long as the next run would not find what it needs.
 */
const LIMIT_MS = { min: 1_000, cancelled: 3_000, usual: 10_000, memory: 30_000 }

export class StepReport {
  /** As soon as it is known that the step keeps one. */
  comment: StatusWriter | undefined
  #saidLinkRejected = false
  #warnedOfSummary = false
  readonly #options: ReportOptions

  constructor(options: ReportOptions) {
    this.#options = options
  }

  get exitCode(): 0 | 1 {
    const { progress, inputs } = this.#options
    return progress.result !== undefined && !failsStep(progress.result.outcome, inputs.failOn)
      ? 0
      : 1
  }

  onJob(job: Job): void {
    const { writer, progress } = this.#options
    if (job.linkRejected && !this.#saidLinkRejected) {
      this.#saidLinkRejected = true
      writer.log(
        "The service's pull request link was dropped, because it can't be passed on safely.",
      )
    }
    if (!progress.update(job)) return
    writer.log(formatStatusLine(progress))
    if (!isFinal(job.status)) this.publish() // Otherwise the step ends now, and reports it.
  }

  /**
   * Writes what is known to the outputs, the summary and the comment, each whether or not the others
   * can be written.
   *
   * @throws ActionError if the outputs can't be written before the service accepted anything:
   * better to send nothing than to lose a job.
   */
  publish(): void {
    const { progress } = this.#options
    if (progress.result !== undefined) return
    const failure = this.#writeOutputs()
    this.#writeSummary()
    if (failure !== undefined && !progress.hasJob) throw failure
    this.update()
  }

  /** Returns the error if that fails. */
  #writeOutputs(): ActionError | undefined {
    const { writer, progress, redact } = this.#options
    try {
      writer.outputs(Object.entries(collectOutputs(progress, redact)))
      return undefined
    } catch (thrown) {
      return outputsError(thrown, errorOf(progress.result), progress)
    }
  }

  #writeSummary(): void {
    const { writer } = this.#options
    try {
      writer.summary(createSummary(this.#view()))
    } catch (thrown) {
      if (!this.#warnedOfSummary)
        writer.warn(`Writing the summary failed: ${(thrown as Error).message}`)
      this.#warnedOfSummary = true
    }
  }

  #view(): View {
    const { inputs, progress, redact, environment } = this.#options
    const failure = this.comment?.failure ?? ''
    return {
      ...{ inputs, progress, redact, workflow: environment.workflow, runUrl: '' },
      notes: failure === '' ? progress.notes : [...progress.notes, failure],
      sending: progress.request === 'sending',
      isRemembered: this.comment?.memory === 'stored',
    }
  }

  /**
   * What the comment is written from. An edit that failed is reported in the log and the summary
   * alone. Where the text can be read, the job is stored with it.
   */
  #commentView(): View {
    const { serverUrl, repository, runId } = this.#options.environment
    const runUrl = `${serverUrl}/${repository}/actions/runs/${runId}`
    const isRemembered = (this.comment?.memory ?? 'none') !== 'none'
    return { ...this.#view(), notes: this.#options.progress.notes, runUrl, isRemembered }
  }

  async writePlaceholder(): Promise<void> {
    await this.comment?.writePlaceholder(createPlaceholder(this.#commentView()))
  }

  update(): void {
    this.comment?.enqueue(createUpdate(this.#commentView()))
  }

  /** If a create request or a message is in flight: the error saying that its result is unknown. */
  resultUnknown(cause?: unknown): ActionError | undefined {
    const { progress } = this.#options
    if (progress.request !== 'sending') return undefined
    const { jobId } = progress
    const request =
      jobId === '' ? ({ kind: 'create' } as const) : ({ kind: 'message', jobId } as const)
    return resultUnknown(request, ENDED_FIRST, cause)
  }

  /**
   * Reports the result, once, but for the comment. If the outputs can't be written, that becomes the
   * result.
   */
  end(ended: RunResult): void {
    const { writer, progress, inputs } = this.#options
    if (progress.result !== undefined) return
    progress.result = ended
    const failure = this.#writeOutputs()
    const alreadyReported = errorOf(ended)?.code === 'internal'
    const result: RunResult =
      failure === undefined || alreadyReported ? ended : { outcome: 'error', error: failure }
    progress.result = result
    this.#writeSummary()
    const { level, text, log } = createAnnotation(this.#view(), result, inputs.failOn)
    writer[level](text)
    if (log !== undefined) writer.log(log)
    writer.log(formatEndLine(progress, result))
    const error = errorOf(result)
    // Not truncated before it is redacted: half a key would not be found.
    if (error !== undefined)
      writer.debug(inspect(error, { maxStringLength: Number.POSITIVE_INFINITY }))
  }

  /** Writes the result to the comment, and waits until it is there, for a limited time. */
  async closeComment({ remainingMs, cancel }: Step['deadline']): Promise<void> {
    const { comment } = this
    const { progress } = this.#options
    if (progress.docsFiles.length > 0) this.#writeSummary()
    if (comment === undefined) return
    const { min, cancelled, usual, memory } = LIMIT_MS
    // The outcome doesn't say it: a cancelled run can end as an error, for example if its outputs
    // can't be written.
    const within = (limitMs: number): number =>
      cancel.aborted ? cancelled : Math.min(limitMs, Math.max(min, remainingMs()))
    const write = (): Promise<void> => {
      this.update()
      const limits = { usualMs: within(usual), memoryMs: within(memory), cancelledMs: cancelled }
      return comment.close(limits, cancel)
    }
    const changing = (): string => JSON.stringify([this.#view().notes, this.#view().isRemembered])
    const [said, noted] = [changing(), progress.notes.length]
    await write()
    if (changing() !== said) this.#writeSummary()
    const hasNews = progress.notes.length > noted && comment.failure === ''
    if (hasNews && !cancel.aborted) await write()
  }
}

/** @param before how the step would have ended otherwise, which must not be lost */
function outputsError(
  thrown: unknown,
  before: ActionError | undefined,
  progress: Progress,
): ActionError {
  const { hasJob, posted, jobId } = progress
  const advice =
    (thrown as NodeJS.ErrnoException).code === 'EACCES'
      ? "With `options: --user root`, the container's user can write the runner's files."
      : "Check the runner's disk space and its GITHUB_OUTPUT file."
  return new ActionError(
    'internal',
    joinSentences(
      `Writing the outputs failed: ${(thrown as Error).message}.`,
      hasJob ? `Docs job ${quote(jobId)} ${describeNow(progress, quote)}.` : '',
      before?.message ?? (hasJob ? '' : `Nothing was ${posted ? 'accepted' : 'sent'}.`),
    ),
    joinSentences(advice, before?.advice ?? ''),
    { cause: thrown },
  )
}
