/** Reports the run: outputs, summary, log lines, and one annotation. */

import { inspect } from 'node:util'
import { failsStep, hasDroppedLink, isFinal, type Job } from '../agent/job.js'
import { ENDED_FIRST, resultUnknown } from '../agent/result-unknown.js'
import type { RunEnvironment } from '../event/event.js'
import { factsAfter, factsAtStart, type Happening, hasJob, type StepFacts } from '../run/facts.js'
import { errorOf, type RunResult } from '../run/result.js'
import type { KeptComment } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { joinSentences } from '../text/format.js'
import {
  createAnnotation,
  formatEndLine,
  formatHeartbeatLine,
  formatStatusLine,
} from './messages.js'
import { describeEndedEarly, describeLastSeen } from './outcome.js'
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

interface ReportOptions extends Pick<Step, 'redact' | 'clock' | 'inputs'> {
  readonly writer: ReportWriter
  readonly environment: Pick<RunEnvironment, 'serverUrl' | 'repository' | 'runId' | 'workflow'>
}

/** What a reader sees follows from the facts, and those from what happened. [report.facts.one] */
export class StepReport {
  /** It is set as soon as it is known that the step keeps one. */
  comment: KeptComment | undefined
  #facts: StepFacts
  #warnedOfSummary = false
  #isLogEnded = false
  readonly #options: ReportOptions

  constructor(options: ReportOptions) {
    const { task } = options.inputs
    this.#options = options
    this.#facts = factsAtStart(task.kind === 'create' ? '' : task.jobId)
  }

  get facts(): StepFacts {
    return this.#facts
  }

  get exitCode(): 0 | 1 {
    const { result } = this.#facts
    return result !== undefined && !failsStep(result.outcome, this.#options.inputs.failOn) ? 0 : 1
  }

  /**
   * Records what happens, and reports what a reader has to know of it. [output.unwritable]
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
      case 'noted':
        writer[happening.level ?? 'log'](happening.text)
        break
      case 'heartbeat':
        writer.log(formatHeartbeatLine(this.#facts))
        if (hasJob(before)) this.update() // An edit of the comment that failed is repeated.
        break
      case 'accepted':
      case 'waiting':
      case 'seen':
        if (happening.job === undefined) this.#publish()
        else this.#showJob(happening.job, before)
        break
      case 'sending':
      case 'pausing':
        this.#publish()
        break
      case 'docs-read':
        if (happening.endedEarly) writer.warn(describeEndedEarly(happening.endedEarly))
        this.#writeSummary()
        break
      // These are told with what comes next. A kind that is missing here doesn't compile.
      case 'continuing':
      case 'not-accepted':
      case 'unknown':
      case 'not-seen':
      case 'code-is-open':
      case 'sent-once':
        break
      default:
        happening satisfies never
    }
  }

  #record(happening: Happening): void {
    // Facts also come after the result: what is in the docs pull request.
    this.#facts = factsAfter(this.#facts, happening, this.#options.clock)
  }

  #showJob(job: Job, { seen, history }: StepFacts): void {
    const { writer } = this.#options
    const isNews = this.#facts.history.length > history.length
    if (!isNews && seen && job.link === seen.job.link) return
    writer.log(formatStatusLine(this.#facts, job))
    if (hasDroppedLink(job))
      writer.log("The service's link was dropped, because it can't be passed on safely.")
    if (!isFinal(job.status)) this.#publish() // After its end, the step ends, and reports it.
  }

  /**
   * Writes what is known to the outputs, the summary and the comment, each whether or not the
   * others can be written. [output.early] [cancel.killed]
   */
  #publish(): void {
    if (this.#facts.result !== undefined) return
    const failure = this.#writeOutputs()
    this.#writeSummary()
    if (failure !== undefined && !hasJob(this.#facts)) {
      this.#record({ kind: 'not-accepted', posted: false })
      throw failure
    }
    this.update()
  }

  /** Returns the error if that fails. */
  #writeOutputs(): ActionError | undefined {
    const { writer, redact } = this.#options
    try {
      writer.outputs(collectOutputs(this.#facts, redact))
      return undefined
    } catch (thrown) {
      return outputsError(thrown, this.#facts)
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
    const { inputs, redact, environment } = this.#options
    const { notes } = this.#facts
    const { failure, memory = 'none' } = this.comment ?? {}
    return {
      facts: this.#facts,
      inputs,
      redact,
      workflow: environment.workflow,
      serverUrl: environment.serverUrl,
      runUrl: '',
      notes: failure === undefined ? notes : [...notes, failure],
      // A re-run would not find what couldn't be written.
      memory: failure !== undefined && memory === 'pending' ? 'none' : memory,
    }
  }

  /** Where the text can be read, the job is stored with it; a failed edit is told elsewhere. */
  #commentView(): View {
    const { serverUrl, repository, runId } = this.#options.environment
    const runUrl = `${serverUrl}/${repository}/actions/runs/${runId}`
    const memory = (this.comment?.memory ?? 'none') === 'none' ? 'none' : 'stored'
    return { ...this.#view(), notes: this.#facts.notes, runUrl, memory }
  }

  /** Stores that a create request is about to be sent: the run may be killed while it is. */
  async writePlaceholder(): Promise<void> {
    const view = this.#commentView()
    const request = { kind: 'sending', asked: 'job' } as const
    const update = createUpdate({ ...view, facts: { ...view.facts, request } })
    await this.comment?.writePlaceholder({ ...update, created: true })
  }

  update(): void {
    this.comment?.enqueue(createUpdate(this.#commentView()))
  }

  /** If a create request or a message is in flight: the error saying that its result is unknown. */
  resultUnknown(cause?: unknown): ActionError | undefined {
    const { request, jobId } = this.#facts
    if (request.kind !== 'sending') return undefined
    const kind = request.asked === 'job' ? 'create' : 'message'
    return resultUnknown({ kind, jobId }, ENDED_FIRST, { cause })
  }

  /** Shows what a dry run doesn't send. */
  showPrompt(prompt: string): void {
    this.#options.writer.group('The prompt as it would be sent', prompt)
  }

  /** Reports the result, but for the comment. An error of the outputs becomes the result. */
  #end(given: RunResult): void {
    if (this.#facts.result !== undefined) return // What was told must stay true.
    const { writer } = this.#options
    const cause = errorOf(given)
    const isInternal = cause?.code === 'internal'
    const inFlight = isInternal ? this.resultUnknown(cause) : undefined
    let result: RunResult = inFlight ? { outcome: 'error', error: inFlight } : given
    this.#record({ kind: 'ended', result })
    const failure = this.#writeOutputs()
    if (failure !== undefined && !isInternal) {
      result = { outcome: 'error', error: failure }
      this.#record({ kind: 'ended', result })
    }
    this.#writeSummary()
    const { level, text, log } = createAnnotation(this.#view(), result)
    writer[level](text)
    if (log !== undefined) writer.log(log)
  }

  /** The last line of the log: bills are made from it. [report.log.lines] */
  endLog(): void {
    const { writer } = this.#options
    const { result } = this.#facts
    if (result === undefined || this.#isLogEnded) return
    this.#isLogEnded = true
    writer.log(formatEndLine(this.#facts, result))
    const error = errorOf(result)
    // The error is redacted before it is truncated: half a key would not be found.
    if (error && writer.isDebug) writer.debug(inspect(error, { maxStringLength: Infinity }))
  }

  /** Writes the result to the comment, and waits until it is there, for a limited time. */
  async closeComment({ cancel }: Step['deadline']): Promise<void> {
    const { comment } = this
    if (comment === undefined) return
    this.update()
    await comment.close()
    this.#writeSummary()
    if (comment.failure !== undefined || cancel.aborted) return
    // This tells what was noted meanwhile: an update without news is no edit.
    this.update()
    await comment.close()
  }
}

function outputsError(thrown: unknown, facts: StepFacts): ActionError {
  // How the step would have ended must not be lost.
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
      isFollowed && describeLastSeen(facts),
      before?.message ?? (!isFollowed && facts.isRefused && 'Nothing was accepted.'),
    ),
    joinSentences(advice, before?.advice),
    { cause: thrown },
  )
}
