/** The composition root: reads, wires, runs, reports. The only place that decides the exit code. */

import { inspect } from 'node:util'
import { type ActionError, Cancelled } from './errors.js'
import { type Redact, redactor } from './escape.js'
import { secretsWithheld } from './github/event.js'
import { InputError, type Inputs, type RawInputs, readInputs } from './inputs.js'
import { failsStep, type Job } from './job.js'
import { Progress } from './progress.js'
import { readPromptFile } from './prompt/files.js'
import { annotation, endLine, heartbeatLine, outputs, startLine, stateLine } from './report.js'
import { type End, endOf, type Ports, run } from './run.js'
import * as runner from './runner.js'
import { unknownFate } from './service/retry.js'
import { stopAt } from './stop.js'
import { summary } from './summary.js'

const HEARTBEAT_MS = 60_000

/** Runs the action and ends the process. */
export async function main(): Promise<void> {
  const signals = runner.catchSignals()
  const raw = runner.rawInputs()
  runner.mask(raw['api-key'])
  const step = new Step(redactor(raw['api-key']))
  runner.catchFaults((thrown) => step.end(endOf(step.unknownFate(thrown) ?? thrown)))
  signals.second.addEventListener('abort', () => step.end(endOf(new Cancelled(step.unknownFate()))))
  try {
    step.read(raw)
    step.end(await step.run(signals.first))
  } catch (thrown) {
    step.end(endOf(thrown))
  }
}

/** One step, from its inputs to its exit code. */
class Step {
  readonly #redact: Redact
  readonly #reporter: runner.Reporter
  readonly #progress = new Progress(runner.clock)
  #inputs: Inputs | undefined
  #ended = false
  #linkWarned = false
  /** What could not be written, and was told. */
  readonly #failed = new Set<string>()

  constructor(redact: Redact) {
    this.#redact = redact
    this.#reporter = new runner.Reporter(redact)
  }

  /** @throws InputError */
  read(raw: RawInputs): void {
    const event = runner.eventEnvironment()
    const sources = {
      redact: this.#redact,
      readPromptFile: (path: string) => readPromptFile(path, runner.promptRoots()),
      secretsWithheld: () => secretsWithheld(event),
    }
    try {
      this.#inputs = readInputs(raw, sources)
    } catch (thrown) {
      if (thrown instanceof InputError) this.#progress.jobId = thrown.jobId
      throw thrown
    }
    const { task } = this.#inputs
    if (task.kind !== 'create') this.#progress.jobId = task.jobId
    if (raw['prompt-file'].trim() !== '' && event.name === 'pull_request_target') {
      this.#reporter.warn(
        'prompt-file on pull_request_target: if the file comes from the pull request, its words are those of whoever opened it.',
      )
    }
  }

  async run(cancel: AbortSignal): Promise<End> {
    const inputs = this.#inputs as Inputs
    this.#reporter.log(startLine(inputs))
    if (inputs.dryRun) return this.#dryRun(inputs)

    const { clock } = runner
    const stop = stopAt(inputs.timeoutMs, cancel, clock)
    const { agentService } = await import('./service/api.js')
    const debug = (line: string): void => this.#reporter.debug(line)
    const service = agentService({
      ...inputs,
      redact: this.#redact,
      stop,
      proxies: runner.proxyVariables(),
      now: clock.now,
      debug,
    })
    const ports: Ports = {
      clock,
      stop,
      progress: this.#progress,
      random: runner.random,
      log: (line) => this.#reporter.log(line),
      debug,
      warn: (line) => this.#reporter.warn(line),
      see: (job) => this.#see(job),
      publish: () => this.#publish(),
    }
    const quiet = clock.every(HEARTBEAT_MS, () => ports.log(heartbeatLine(this.#progress)))
    try {
      return await run(inputs, service, ports)
    } finally {
      quiet()
      service.close()
    }
  }

  /** Tells how it ended, once, and ends the process. */
  end(end: End): void {
    if (this.#ended) return
    this.#ended = true
    this.#publish(end)
    const failOn = this.#inputs?.failOn ?? new Set()
    const { level, text } = annotation(this.#progress, end, failOn)
    this.#reporter[level](text)
    this.#reporter.log(endLine(this.#progress, end))
    if (end.error !== undefined) this.#reporter.debug(inspect(end.error))
    runner.exit(failsStep(end.outcome, failOn) ? 1 : 0)
  }

  /** Where a create or a message is on its way right now: that nobody knows what becomes of it. */
  unknownFate(cause?: unknown): ActionError | undefined {
    const task = this.#inputs?.task
    if (!this.#progress.sending || task === undefined || task.kind === 'attach') return undefined
    return unknownFate(task, 'the step ended before an answer came', cause)
  }

  #dryRun({ task }: Inputs): End {
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
    const known = outputs(this.#progress, end, this.#redact)
    const text = summary(this.#inputs, this.#progress, end, this.#redact)
    this.#orWarn('the summary', () => this.#reporter.summary(text))
    const untouched = end === undefined && this.#progress.job === undefined && !this.#progress.reused
    const write = (): void => {
      for (const [name, value] of Object.entries(known)) this.#reporter.output(name, value)
    }
    if (untouched) this.#orFail('the outputs', write)
    else this.#orWarn('the outputs', write)
  }

  /** Where something can't be written, that is the fault that the step ends with. */
  #orFail(what: string, write: () => void): void {
    this.#failed.add(what)
    write()
    this.#failed.delete(what)
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
}
