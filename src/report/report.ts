/** Reports the run: outputs, summary, log lines, and one annotation. */

import { inspect } from 'node:util'
import { failsStep, isFinal, type Job } from '../agent/job.js'
import { ENDED_FIRST, resultUnknown } from '../agent/result-unknown.js'
import type { RunEnvironment } from '../event/event.js'
import { getString } from '../event/payload.js'
import { factsAfter, factsAtStart, type Happening, hasJob, type StepFacts } from '../run/facts.js'
import { errorOf, type RunResult } from '../run/result.js'
import type { KeptComment } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import {
  createAnnotation,
  formatEndLine,
  formatHeartbeatLine,
  formatStatusLine,
} from './messages.js'
import { describeEndedEarly, describeJob, type ToldRun } from './outcome.js'
import { collectOutputs } from './outputs.js'
import { createUpdate } from './status-texts.js'
import { createSummary, type View } from './summary.js'

type TextWriter = 'log' | 'debug' | 'warn' | 'notice' | 'error' | 'summary'

export interface ReportWriter extends Readonly<Record<TextWriter, (text: string) => void>> {
  readonly isDebug: boolean
  /** Writes all of them or none; they are already redacted. */
  outputs(values: Readonly<Record<string, string>>): void
  group(title: string, text: string): void
}

interface ReportOptions extends Pick<Step, 'redact' | 'clock'>, Pick<ToldRun, 'inputs'> {
  readonly writer: ReportWriter
  readonly environment: Pick<RunEnvironment, 'serverUrl' | 'repository' | 'runId' | 'workflow'>
}

// [report.facts.one]
export class StepReport {
  /** As soon as it is known that the step keeps one. */
  comment: KeptComment | undefined
  #facts: StepFacts
  // [report.annotation.one]
  #warnedOfSummary = false
  // [report.log.lines]
  #isLogEnded = false
  // [report.facts.one]
  readonly #options: ReportOptions

  constructor(options: ReportOptions) {
    const { task } = options.inputs
    this.#options = options
    // [output.job-id]
    this.#facts = factsAtStart(task.kind === 'create' ? '' : task.jobId)
  }

  // [report.facts.one] [docs.files.told] [report.log.lines]
  get facts(): StepFacts {
    return this.#facts
  }

  // [output.exit-code] [cancel.killed]
  get exitCode(): 0 | 1 {
    const { result } = this.#facts
    return result !== undefined && !failsStep(result.outcome, this.#options.inputs.failOn) ? 0 : 1
  }

  /**
   * Records what happens, and reports what a reader has to know of it. [report.facts.one]
   * [output.unwritable]
   *
   * @throws ActionError `internal` if the outputs can't be written before the service accepted
   * anything: better to send nothing than to lose a job.
   */
  tell(happening: Happening): void {
    const { writer } = this.#options
    const before = this.#facts
    if (happening.kind === 'ended') {
      this.#end(happening.result)
      return
    }
    this.#record(happening)
    switch (happening.kind) {
      // [memory.unverified] [docs.token.refused] [report.log.lines]
      case 'noted':
        writer[happening.level](happening.text)
        break
      // [report.log.lines]
      case 'heartbeat':
        writer.log(formatHeartbeatLine(this.#facts))
        // [memory.edit.retried]
        if (hasJob(before)) this.update() // An edit of the comment that failed is repeated.
        break
      // [output.early] [report.log.lines]
      case 'accepted':
      case 'waiting':
      case 'seen':
        // [output.early]
        if (happening.job === undefined) this.#publish()
        // [report.log.lines]
        else this.#showJob(happening.job, before)
        break
      // [cancel.killed]
      case 'sending':
      case 'pausing':
        // [output.unwritable] [cancel.killed]
        this.#publish()
        break
      // [docs.ended-early]
      case 'docs-read':
        // [docs.ended-early]
        if (happening.endedEarly) writer.warn(describeEndedEarly(happening.endedEarly))
        // [docs.files.told] [docs.ended-early]
        this.#writeSummary()
        break
      // What follows from these is told with what comes next; one that is missing here doesn't
      // compile. [report.facts.one]
      case 'continuing':
      case 'not-accepted':
      case 'unknown':
      case 'not-seen':
      case 'code-is-open':
        break
      default:
        happening satisfies never
    }
  }

  #record(happening: Happening): void {
    // Facts also come after the result: what is in the docs pull request.
    // [report.facts.one] [docs.files.told]
    this.#facts = factsAfter(this.#facts, happening, this.#options.clock)
  }

  // [report.log.lines]
  #showJob(job: Job, { seen, history }: StepFacts): void {
    const { writer } = this.#options
    const isNews = this.#facts.history.length > history.length
    if (!isNews && seen && job.link === seen.job.link) return
    writer.log(formatStatusLine(this.#facts, job))
    // [output.pr-link]
    if (job.link === undefined && getString(job.received, 'prLink') !== '')
      writer.log("The service's link was dropped, because it can't be passed on safely.")
    // [output.early] [cancel.killed]
    if (!isFinal(job.status)) this.#publish() // After its end, the step ends, and reports it.
  }

  /**
   * Writes what is known to the outputs, the summary and the comment, each whether or not the
   * others can be written. [output.early] [cancel.killed]
   */
  #publish(): void {
    // [cancel.second]
    if (this.#facts.result !== undefined) return
    const failure = this.#writeOutputs()
    // [report.summary]
    this.#writeSummary()
    // [output.unwritable]
    if (failure !== undefined && !hasJob(this.#facts)) {
      this.#record({ kind: 'not-accepted', posted: false })
      throw failure
    }
    // [cancel.killed]
    this.update()
  }

  /** Returns the error if that fails. [output.unwritable] */
  #writeOutputs(): ActionError | undefined {
    const { writer, redact } = this.#options
    try {
      writer.outputs(collectOutputs(this.#facts, redact))
      return undefined
    } catch (thrown) {
      return outputsError(thrown, this.#facts)
    }
  }

  // [report.summary]
  #writeSummary(): void {
    const { writer } = this.#options
    // [output.unwritable]
    try {
      writer.summary(createSummary(this.#view()))
    } catch (thrown) {
      // [report.annotation.one]
      if (!this.#warnedOfSummary)
        writer.warn(`Writing the summary failed: ${(thrown as Error).message}`)
      this.#warnedOfSummary = true
    }
  }

  #view(): View {
    const { inputs, redact, environment } = this.#options
    // [report.summary]
    const { notes } = this.#facts
    // [memory.failure.told]
    const { failure, memory = 'none' } = this.comment ?? {}
    return {
      // [report.facts.one] [report.comment.private]
      ...{ facts: this.#facts, inputs, redact, workflow: environment.workflow, runUrl: '' },
      // [memory.failure.told] [memory.edit.order]
      notes: failure === undefined ? notes : [...notes, failure],
      // [report.advice.rerun]
      memory: failure !== undefined && memory === 'pending' ? 'none' : memory,
    }
  }

  /**
   * What the comment is written from. An edit that failed is reported in the log and the summary
   * alone. Where the text can be read, the job is stored with it. [memory.failure.told]
   */
  #commentView(): View {
    const { serverUrl, repository, runId } = this.#options.environment
    // [report.comment.quiet] [report.comment.private]
    const runUrl = `${serverUrl}/${repository}/actions/runs/${runId}`
    // [report.advice.rerun] [report.facts.one]
    const memory = (this.comment?.memory ?? 'none') === 'none' ? 'none' : 'stored'
    // [memory.failure.told] [report.comment.private] [report.facts.one]
    return { ...this.#view(), notes: this.#facts.notes, runUrl, memory }
  }

  /**
   * Stores that a create request is about to be sent: it must be correct if the run is killed while
   * the request is in flight. [send.placeholder.first]
   */
  async writePlaceholder(): Promise<void> {
    const view = this.#commentView()
    const request = { kind: 'sending', asked: 'job' } as const
    const update = createUpdate({ ...view, facts: { ...view.facts, request } })
    // [memory.later-run]
    await this.comment?.writePlaceholder({ ...update, created: true })
  }

  // [cancel.killed]
  update(): void {
    this.comment?.enqueue(createUpdate(this.#commentView()))
  }

  /**
   * If a create request or a message is in flight: the error saying that its result is unknown.
   * [cancel.in-flight] [cancel.exception] [send.unknown]
   */
  resultUnknown(cause?: unknown): ActionError | undefined {
    const { request, jobId } = this.#facts
    if (request.kind !== 'sending') return undefined
    const kind = request.asked === 'job' ? 'create' : 'message'
    return resultUnknown({ kind, jobId }, ENDED_FIRST, { cause })
  }

  /** For a dry run. [output.dry-run] */
  showPrompt(prompt: string): void {
    this.#options.writer.group('The prompt as it would be sent', prompt)
  }

  /**
   * Reports the result, but for the comment. If the outputs can't be written, that becomes the
   * result. [output.unwritable]
   */
  #end(given: RunResult): void {
    // [cancel.second]
    if (this.#facts.result !== undefined) return
    const { writer } = this.#options
    // [cancel.exception] [cancel.told]
    const cause = errorOf(given)
    const isInternal = cause?.code === 'internal'
    const inFlight = isInternal ? this.resultUnknown(cause) : undefined
    let result: RunResult = inFlight ? { outcome: 'error', error: inFlight } : given
    // [output.outcome]
    this.#record({ kind: 'ended', result })
    // [output.unwritable]
    const failure = this.#writeOutputs()
    if (failure !== undefined && !isInternal) {
      result = { outcome: 'error', error: failure }
      this.#record({ kind: 'ended', result })
    }
    // [report.summary]
    this.#writeSummary()
    // [report.annotation.one] [report.true]
    const { level, text, log } = createAnnotation(this.#view(), result)
    writer[level](text)
    if (log !== undefined) writer.log(log)
  }

  /** The last line of the log: bills are made from it. [output.sent] [report.log.lines] */
  endLog(): void {
    const { writer } = this.#options
    const { result } = this.#facts
    if (result === undefined || this.#isLogEnded) return
    this.#isLogEnded = true
    writer.log(formatEndLine(this.#facts, result))
    const error = errorOf(result)
    // Not truncated before it is redacted: half a key would not be found. [report.log.lines]
    // [secret.redacted]
    if (error && writer.isDebug) writer.debug(inspect(error, { maxStringLength: Infinity }))
  }

  /**
   * Writes the result to the comment, and waits until it is there, for a limited time.
   * [memory.edit.retried]
   */
  async closeComment({ cancel }: Step['deadline']): Promise<void> {
    const { comment } = this
    if (comment === undefined) return
    this.update()
    await comment.close()
    // [report.advice.rerun] [memory.failure.told]
    this.#writeSummary()
    // [cancel.first] [memory.edit.order]
    if (comment.failure !== undefined || cancel.aborted) return
    // What was noted meanwhile: an update without news is no edit. [memory.failure.told]
    this.update()
    await comment.close()
  }
}

// [output.unwritable]
function outputsError(thrown: unknown, facts: StepFacts): ActionError {
  // How the step would have ended otherwise, which must not be lost. [output.unwritable]
  const before = errorOf(facts.result)
  const isFollowed = hasJob(facts)
  const advice =
    (thrown as NodeJS.ErrnoException).code === 'EACCES'
      ? "With `options: --user root`, the container's user can write the runner's files."
      : "Check the runner's disk space and its GITHUB_OUTPUT file."
  return new ActionError(
    'internal',
    joinSentences(
      `Writing the outputs failed: ${(thrown as Error).message}.`,
      // [cancel.killed]
      isFollowed && `Docs job ${quote(facts.jobId)} ${describeJob(facts)}.`,
      // [report.true]
      before?.message ?? (!isFollowed && facts.isRefused && 'Nothing was accepted.'),
    ),
    joinSentences(advice, before?.advice),
    { cause: thrown },
  )
}
