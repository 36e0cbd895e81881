/** The composition root: reads, wires, runs, reports. The only place that decides the exit code. */

import { inspect } from 'node:util'
import type { Service } from './agent/client.js'
import { type FailOn, failsStep, hasEnded, type Job } from './agent/job.js'
import { unknownFate } from './agent/verdict.js'
import { ActionError, Cancelled } from './errors.js'
import { type Redact, redactor } from './escape.js'
import { readEvent } from './event/event.js'
import { secretsWithheld } from './event/secrets.js'
import { skipAuthors } from './event/skip-authors.js'
import type { Commenter, Told } from './github/commenter.js'
import {
  InputError,
  type Inputs,
  needsGitHub,
  parseAuthors,
  type RawInputs,
  readInputs,
  type Task,
} from './inputs/inputs.js'
import { readPromptFile } from './inputs/prompt-file.js'
import { stopAt } from './net/deadline.js'
import { annotation, endLine, heartbeatLine, outputs, startLine, stateLine } from './report/messages.js'
import { summary } from './report/summary.js'
import type { Plan } from './run/plan.js'
import type { End, Ports } from './run/ports.js'
import { Progress } from './run/progress.js'
import { endOf, run } from './run/run.js'
import * as runner from './runner.js'

const HEARTBEAT_MS = 60_000

/** How long the end waits for the comment, in milliseconds; the least where the time is over. */
const COMMENT_MS = { most: 10_000, least: 1_000, cancelled: 700 }

/** Runs the action and ends the process. */
export async function main(): Promise<void> {
  const signals = runner.catchSignals()
  const raw = runner.rawInputs()
  const secrets = [raw['api-key'], raw['github-token']]
  for (const secret of secrets) runner.mask(secret)
  const step = new Step(redactor(...secrets), signals.first)
  runner.catchFaults((thrown) => step.endNow(endOf(step.unknownFate(thrown) ?? thrown)))
  signals.second.addEventListener('abort', () => step.endNow(endOf(new Cancelled(step.unknownFate()))))
  try {
    await step.end(step.skip(raw) ?? (await step.run(raw)))
  } catch (thrown) {
    await step.end(endOf(thrown))
  }
}

/** One step, from its inputs to its exit code. */
class Step {
  readonly #redact: Redact
  readonly #cancel: AbortSignal
  readonly #reporter: runner.Reporter
  readonly #progress = new Progress(runner.clock)
  readonly #environment = runner.runEnvironment()
  readonly #event = readEvent(this.#environment)
  #inputs: Inputs | undefined
  #commenter: Commenter | undefined
  #ended = false
  #linkWarned = false
  /** What could not be written, and was told. */
  readonly #failed = new Set<string>()

  constructor(redact: Redact, cancel: AbortSignal) {
    this.#redact = redact
    this.#cancel = cancel
    this.#reporter = new runner.Reporter(redact)
  }

  /** Before anything else: a run that the agent brought about may have no secrets, and is no fault. */
  skip(raw: RawInputs): End | undefined {
    const { skip } = skipAuthors(this.#event, parseAuthors(raw['skip-authors']))
    return skip === undefined ? undefined : { outcome: 'skipped', reason: skip }
  }

  async run(raw: RawInputs): Promise<End> {
    const { clock } = runner
    const inputs = this.#read(raw)
    const stop = stopAt(inputs.timeoutMs, this.#cancel, clock)
    const ports: Ports = {
      clock,
      stop,
      progress: this.#progress,
      random: runner.random,
      log: (line) => this.#reporter.log(line),
      debug: (line) => this.#reporter.debug(line),
      warn: (line) => this.#reporter.warn(line),
      see: (job) => this.#see(job),
      place: () => this.#place(),
      publish: () => this.#publish(),
    }
    const quiet = clock.every(HEARTBEAT_MS, () => ports.log(heartbeatLine(this.#progress)))
    const { agentService } = await import('./agent/client.js')
    const proxies = runner.proxyVariables()
    const service = agentService({ ...inputs, ...ports, redact: this.#redact, proxies, now: clock.now })
    try {
      const { task, skip } = await this.#plan(inputs, service, ports)
      if (task === undefined) return { outcome: 'skipped', reason: skip ?? '' }
      this.#inputs = { ...inputs, task }
      if (task.kind !== 'create') this.#progress.jobId = task.jobId
      ports.log(startLine(this.#inputs))
      return inputs.dryRun ? this.#dryRun(task) : await run(this.#inputs, service, ports)
    } finally {
      quiet()
      service.close()
    }
  }

  /** Tells how it ended, once, and ends the process. */
  async end(end: End): Promise<void> {
    if (this.#ended) return
    try {
      this.#tellEnd(end)
      await this.#commenter?.close(this.#timeForComment(end), COMMENT_MS.cancelled, this.#cancel)
    } finally {
      runner.exit(this.#exitCode(end))
    }
  }

  #timeForComment({ outcome }: End): number {
    if (outcome === 'cancelled') return COMMENT_MS.cancelled
    const left = (this.#inputs?.timeoutMs ?? 0) - this.#progress.elapsedMs()
    return Math.min(COMMENT_MS.most, Math.max(COMMENT_MS.least, left))
  }

  /** Tells how it ended, if it is not told yet, and ends the process at once. */
  endNow(end: End): void {
    try {
      if (!this.#ended) this.#tellEnd(end)
    } finally {
      runner.exit(1)
    }
  }

  #tellEnd(end: End): void {
    this.#ended = true
    this.#publish(end)
    const { level, text, log } = annotation(this.#progress, end, this.#failOn())
    if (log !== undefined) this.#reporter.log(log)
    this.#reporter[level](text)
    this.#reporter.log(endLine(this.#progress, end))
    if (end.error !== undefined) this.#reporter.debug(inspect(end.error))
  }

  #failOn(): ReadonlySet<FailOn> {
    return this.#inputs?.failOn ?? new Set()
  }

  #exitCode({ outcome }: End): 0 | 1 {
    return failsStep(outcome, this.#failOn()) ? 1 : 0
  }

  /** @throws InputError */
  #read(raw: RawInputs): Inputs {
    const sources = {
      redact: this.#redact,
      readPromptFile: (path: string) => readPromptFile(path, runner.promptRoots()),
      secretsWithheld: () => secretsWithheld(this.#environment),
    }
    try {
      this.#inputs = readInputs(raw, sources)
    } catch (thrown) {
      if (thrown instanceof InputError) this.#progress.jobId = thrown.jobId
      throw thrown
    }
    const { task } = this.#inputs
    if (task.kind !== 'create') this.#progress.jobId = task.jobId
    if (raw['prompt-file'].trim() !== '' && this.#event.name === 'pull_request_target') {
      this.#reporter.warn(
        'prompt-file on pull_request_target: if the file comes from the pull request, its words are those of whoever opened it.',
      )
    }
    return this.#inputs
  }

  /** What GitHub knows decides what is done, where it is asked for; else none of that code is loaded. */
  async #plan(inputs: Inputs, service: Service, ports: Ports): Promise<Pick<Plan, 'task' | 'skip'>> {
    if (!needsGitHub(inputs, this.#event)) return { task: inputs.task }
    if (this.#event.fault !== undefined) runner.forgetEvent()
    const { plan } = await import('./run/plan.js')
    const run = this.#environment
    const proxies = runner.proxyVariables()
    const access = { token: inputs.githubToken, apiUrl: run.apiUrl, proxies, redact: this.#redact }
    return plan({
      inputs,
      run,
      event: this.#event,
      access,
      service,
      ports,
      nonce: runner.nonce,
      comment: (commenter) => {
        this.#commenter = commenter
      },
    })
  }

  /** Before a create: what the memory then says has to be right if the run dies with the create on its way. */
  async #place(): Promise<void> {
    if (this.#commenter?.decides) await this.#commenter.place(this.#told(undefined, true))
  }

  #told(end: End | undefined, sending = this.#progress.sending): Told {
    const { serverUrl, repository, runId } = this.#environment
    const runLink = `${serverUrl}/${repository}/actions/runs/${runId}`
    const text = summary(this.#inputs, this.#progress, end, this.#redact, { runLink, sending })
    return {
      state: this.#stateToRemember(end),
      jobId: this.#progress.jobId,
      link: this.#progress.job?.link ?? '',
      text,
    }
  }

  /** What the next run has to know: how it ended, and where it failed, whether something was taken. */
  #stateToRemember(end: End | undefined): string {
    const { status, taken } = this.#progress
    if (end === undefined) return taken ? (status ?? 'active') : 'sending'
    if (end.outcome !== 'error' && end.outcome !== 'cancelled') return end.outcome
    if (end.error?.code === 'create-unknown') return 'unknown'
    return taken ? end.outcome : 'unsent'
  }

  /** Where a create or a message is on its way right now: that nobody knows what becomes of it. */
  unknownFate(cause?: unknown): ActionError | undefined {
    const task = this.#inputs?.task
    if (!this.#progress.sending || task === undefined || task.kind === 'attach') return undefined
    return unknownFate(task, 'the step ended before an answer came', cause)
  }

  #dryRun(task: Task): End {
    if (task.kind !== 'attach') this.#reporter.group('The prompt as it would be sent', task.prompt)
    return { outcome: 'dry-run' }
  }

  #see(job: Job): void {
    if (job.linkRefused && !this.#linkWarned) {
      this.#linkWarned = true
      this.#reporter.warn(
        'The service gave a pull request link that is no plain http(s) address; it is not passed on.',
      )
    }
    if (!this.#progress.see(job)) return
    this.#reporter.log(stateLine(this.#progress))
    this.#publish()
  }

  /**
   * Writes what is known to the outputs and the summary, each whether or not the other can be written.
   *
   * @throws where the outputs can't be written before the service took anything: better to send nothing than to lose
   * a job.
   */
  #publish(end?: End): void {
    if (this.#ended && end === undefined) return // A run that goes on behind an end.
    const known = outputs(this.#progress, end, this.#redact)
    const text = summary(this.#inputs, this.#progress, end, this.#redact)
    this.#orWarn('the summary', () => this.#reporter.summary(text))
    const write = (): void => {
      for (const [name, value] of Object.entries(known)) this.#reporter.output(name, value)
    }
    if (end === undefined && !this.#progress.taken) this.#orFail('the outputs', write)
    else this.#orWarn('the outputs', write)
    this.#comment(end)
  }

  /** Where something can't be written, that is the fault that the step ends with. */
  #orFail(what: string, write: () => void): void {
    try {
      write()
    } catch (thrown) {
      this.#failed.add(what)
      throw new ActionError(
        'internal',
        `Writing ${what} failed: ${(thrown as Error).message}. Nothing was sent.`,
        "Check the runner's disk and the files that it hands to the step.",
        { cause: thrown },
      )
    }
  }

  /** Where something can't be written, says so once. */
  #orWarn(what: string, write: () => void): void {
    try {
      write()
    } catch (thrown) {
      if (this.#failed.has(what)) return
      this.#failed.add(what)
      this.#reporter.warn(`Writing ${what} failed: ${(thrown as Error).message}`)
    }
  }

  /** A comment that is no memory tells of a job, not of a try. */
  #comment(end: End | undefined): void {
    const { job, status } = this.#progress
    if (this.#commenter === undefined || end?.outcome === 'dry-run' || end?.outcome === 'skipped') return
    if (end === undefined && hasEnded(status)) return // Told with the end, which is next.
    const known = job !== undefined || end !== undefined
    if (this.#commenter.decides || known) this.#commenter.tell(this.#told(end))
  }
}
