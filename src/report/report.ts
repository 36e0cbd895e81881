/** Reports the run: outputs, summary, log lines and the annotation, each once. */

import { inspect } from 'node:util'
import { failsStep, isFinal, type Job } from '../agent/job.js'
import { ENDED_FIRST, resultUnknown } from '../agent/problems.js'
import { factsOf } from '../agent/service.js'
import type { RunEnvironment } from '../event/event.js'
import type { Progress } from '../run/progress.js'
import { errorOf, type RunResult } from '../run/result.js'
import type { StatusWriter } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import { collectOutputs, createAnnotation, formatEndLine, formatStatusLine } from './messages.js'
import { describeNow } from './outcome.js'
import { StatusReport } from './status-report.js'
import { createSummary, type View } from './summary.js'

/** Where the report is written. */
export interface ReportWriter {
  readonly log: (line: string) => void
  readonly debug: (text: string) => void
  readonly warn: (line: string) => void
  readonly notice: (line: string) => void
  /** May contain several lines. */
  readonly error: (text: string) => void
  /** Writes all of them or none; they are already redacted. */
  readonly outputs: (values: readonly (readonly [name: string, value: string])[]) => void
  /** Replaces the step summary, if the runner provides one. */
  readonly summary: (markdown: string) => void
  /** A text of many lines, in a group that folds. */
  readonly group: (title: string, text: string) => void
}

export interface ReportOptions extends Pick<Step, 'inputs' | 'progress' | 'redact'> {
  readonly writer: ReportWriter
  readonly run: Pick<RunEnvironment, 'serverUrl' | 'repository' | 'runId' | 'workflow'>
}

export class StepReport {
  /** The comment and the check. */
  readonly status: StatusReport
  #saidLinkRejected = false
  #warnedOfSummary = false
  /** The outputs as last written. */
  readonly #written = new Map<string, string>()
  readonly #options: ReportOptions

  constructor(options: ReportOptions) {
    this.#options = options
    const { serverUrl, repository, runId } = options.run
    const runUrl = `${serverUrl}/${repository}/actions/runs/${runId}`
    this.status = new StatusReport((writer) => ({ ...this.#view(writer), runUrl }))
  }

  get exitCode(): 0 | 1 {
    const { progress, inputs } = this.#options
    return progress.result !== undefined && !failsStep(progress.result.outcome, inputs.failOn) ? 0 : 1
  }

  /** Records the latest job object and reports it if it changed. */
  onJob(job: Job): void {
    const { writer, progress } = this.#options
    if (job.linkRejected && !this.#saidLinkRejected) {
      this.#saidLinkRejected = true
      writer.log("The service's pull request link was dropped, because it can't be passed on safely.")
    }
    if (!progress.update(job)) return
    writer.log(formatStatusLine(progress))
    if (!isFinal(job.status)) this.publish() // Otherwise the step ends now, and reports it.
  }

  /**
   * Writes what is known to the outputs, the summary, the comment and the check, each whether or not the others can be
   * written.
   *
   * @throws ActionError if the outputs can't be written before the service accepted anything: better to send nothing than
   * to lose a job.
   */
  publish(): void {
    const { progress } = this.#options
    if (progress.result !== undefined) return
    const failure = this.#writeOutputs()
    this.#writeSummary()
    if (failure !== undefined && !progress.accepted) throw failure
    this.status.update()
  }

  /** Writes the outputs that changed, or all of them with the result. Returns the error if that fails. */
  #writeOutputs(): ActionError | undefined {
    const { writer, progress, redact } = this.#options
    const { result } = progress
    const values = Object.entries(collectOutputs(progress, redact))
    const changed = values.filter(
      ([name, value]) => result !== undefined || this.#written.get(name) !== value,
    )
    try {
      writer.outputs(changed)
      for (const [name, value] of changed) this.#written.set(name, value)
      return undefined
    } catch (thrown) {
      return outputsError(thrown, errorOf(result), progress)
    }
  }

  /** Says once that the summary can't be written: nothing depends on it. */
  #writeSummary(): void {
    const { writer } = this.#options
    try {
      writer.summary(createSummary(this.#view()))
    } catch (thrown) {
      if (!this.#warnedOfSummary) writer.warn(`Writing the summary failed: ${(thrown as Error).message}`)
      this.#warnedOfSummary = true
    }
  }

  /** @param writer of the text; undefined for the summary */
  #view(writer?: StatusWriter): View {
    const { inputs, progress, redact, run } = this.#options
    // A writer's own text leaves its failure out: whoever reads that text sees that writing works again.
    const notes = [...progress.notes, ...this.#failures(writer)]
    const sending = progress.request === 'sending'
    return { inputs, progress, notes, redact, sending, workflow: run.workflow, runUrl: '' }
  }

  /** What the writers other than this one could not write. */
  #failures(writer?: StatusWriter): string[] {
    const others = this.status.writers.filter((other) => other !== writer)
    return others.map(({ failure }) => failure).filter((failure) => failure !== '')
  }

  /** If a create request or a message is in flight: the error saying that its result is unknown. */
  resultUnknown(cause?: unknown): ActionError | undefined {
    const { progress, inputs } = this.#options
    if (progress.request !== 'sending') return undefined
    const { jobId } = progress
    const request = jobId === '' ? ({ kind: 'create' } as const) : ({ kind: 'message', jobId } as const)
    return resultUnknown(request, ENDED_FIRST, factsOf(inputs.baseUrl), cause)
  }

  /** Reports the result, once. If the outputs can't be written, that becomes the result. */
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
    this.status.update()
    const { level, text, log } = createAnnotation(progress, result, inputs.failOn)
    writer[level](text)
    if (log !== undefined) writer.log(log)
    writer.log(formatEndLine(progress, result))
    const error = errorOf(result)
    // Not truncated before it is redacted: half a key would not be found.
    if (error !== undefined) writer.debug(inspect(error, { maxStringLength: Number.POSITIVE_INFINITY }))
  }

  /** Waits until the comment and the check are written, for a limited time. */
  async closeStatus({ remainingMs, cancel }: Step['deadline']): Promise<void> {
    const close = () => this.status.close(remainingMs(), cancel)
    const notes = this.#view().notes.join('\n')
    await close()
    if (this.#view().notes.join('\n') === notes) return
    // The others have to say what could not be written in the end, and not what could.
    this.#writeSummary()
    if (cancel.aborted) return // They have had their time.
    this.status.update()
    await close()
  }
}

/** @param before how the step would have ended otherwise, which must not be lost */
function outputsError(thrown: unknown, before: ActionError | undefined, progress: Progress): ActionError {
  const { accepted, posted, jobId } = progress
  return new ActionError(
    'internal',
    joinSentences(
      `Writing the outputs failed: ${(thrown as Error).message}.`,
      accepted ? `Docs job ${quote(jobId)} ${describeNow(progress, quote)}.` : '',
      before?.message ?? (accepted ? '' : `Nothing was ${posted ? 'accepted' : 'sent'}.`),
    ),
    joinSentences("Check the runner's disk space and its GITHUB_OUTPUT file.", before?.advice ?? ''),
    { cause: thrown },
  )
}
