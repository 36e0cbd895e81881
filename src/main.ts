/** Runs the action: read, plan, run, end. Connects the parts, and decides the exit code. */

import { Cancelled } from './errors.js'
import { createRedactor, type Redact } from './escape.js'
import { explainMissingSecrets, type RunEnvironment, type RunEvent, readEvent } from './event/event.js'
import { checkSkipAuthors } from './event/skip-authors.js'
import { InputError, type Inputs, needsGitHub, parseInputs, type RawInputs } from './inputs/inputs.js'
import { readPromptFile } from './inputs/prompt-file.js'
import { parseLogins } from './inputs/values.js'
import { createDeadline } from './net/deadline.js'
import type { NetworkSettings } from './net/proxy.js'
import { heartbeatLine, startLine } from './report/messages.js'
import { StepReport } from './report/step-report.js'
import type { Plan, PlanOptions } from './run/plan.js'
import type { Ports, RunResult } from './run/ports.js'
import { Progress } from './run/progress.js'
import { run, toRunResult } from './run/run.js'
import { refuseStrangers } from './run/strangers.js'
import * as runner from './runner.js'

const HEARTBEAT_MS = 60_000

/** How long GitHub is asked if timeout-minutes is not known, in milliseconds. */
const GITHUB_MS = 60_000

/** What every part of the step needs. */
interface Step {
  readonly raw: RawInputs
  readonly environment: RunEnvironment
  readonly event: RunEvent
  readonly cancel: AbortSignal
  readonly network: NetworkSettings
  readonly redact: Redact
  readonly reporter: runner.Reporter
  readonly progress: Progress
  readonly report: StepReport
}

/** Runs the action and ends the process. */
export async function main(): Promise<void> {
  const signals = runner.onSignals()
  const step = createStep(signals.first)
  const { report } = step
  const endNow = (thrown: unknown): void => {
    try {
      report.end(toRunResult(thrown))
    } finally {
      runner.exit(report.exitCode)
    }
  }
  runner.onUncaughtException((thrown) => endNow(report.resultUnknown(thrown) ?? thrown))
  signals.second.addEventListener('abort', () => endNow(new Cancelled(report.resultUnknown())))
  const result = await execute(step).catch(toRunResult)
  if (report.result !== undefined) return // It ended in the meantime.
  try {
    report.end(result)
    await report.closeComment(signals.first)
  } finally {
    runner.exit(report.exitCode)
  }
}

function createStep(cancel: AbortSignal): Step {
  const raw = runner.rawInputs()
  const secrets = [raw['api-key'], raw['github-token']]
  for (const secret of secrets) runner.mask(secret)
  const redact = createRedactor(...secrets)
  const reporter = new runner.Reporter(redact)
  const progress = new Progress(runner.clock)
  const environment = runner.runEnvironment()
  const { serverUrl, repository, runId } = environment
  const runUrl = `${serverUrl}/${repository}/actions/runs/${runId}`
  const report = new StepReport({ writer: reporter, progress, redact, runUrl })
  const network = runner.readNetworkSettings()
  const event = readEvent(environment)
  return { raw, environment, event, cancel, network, redact, reporter, progress, report }
}

async function execute(step: Step): Promise<RunResult> {
  const { event, network, redact, reporter, progress, report } = step
  // Checked first: a run triggered by the agent may have no secrets, which is not an error.
  const skip = checkSkipAuthors(event, parseLogins(step.raw['skip-authors']))
  if (skip.reason !== undefined) return { outcome: 'skipped', reason: skip.reason }

  const inputs = readInputs(step)
  const isBad = inputs instanceof InputError
  const ports = createPorts(step, isBad ? runner.clock.now() + GITHUB_MS : inputs.timeoutMs)
  // Before bad input is reported: a stranger's event has no secrets either, and should not turn red.
  const refusal = await refuseStrangers(step.raw, step.environment, event, ports.log, async (people) => {
    const { askGitHub } = await import('./run/plan.js')
    return askGitHub(people, { run: step.environment, access: githubAccess(step), ports })
  })
  if (refusal !== undefined) return { outcome: 'skipped', reason: refusal }
  if (isBad) throw inputs

  report.inputs = inputs
  const { clock } = runner
  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => ports.log(heartbeatLine(progress)))
  const { createAgentService } = await import('./agent/client.js')
  const service = createAgentService({ ...inputs, ...ports, redact, network, now: clock.now })
  try {
    const plan = needsGitHub(inputs, skip.commitsToCheck.length > 0)
      ? await planWithGitHub(step, inputs, service, ports, skip.commitsToCheck)
      : inputs.task
    if (plan.kind === 'skip') return { outcome: 'skipped', reason: plan.reason }
    report.task = plan
    if (plan.kind !== 'create') progress.follow(plan.jobId)
    ports.log(startLine(plan, inputs))
    if (!inputs.dryRun) return await run(plan, inputs, service, ports)
    if (plan.kind !== 'attach') reporter.group('The prompt as it would be sent', plan.prompt)
    return { outcome: 'dry-run' }
  } finally {
    stopHeartbeat()
    service.close()
  }
}

function createPorts({ cancel, progress, reporter, report }: Step, deadlineAt: number): Ports {
  const { clock, random } = runner
  return {
    clock,
    deadline: createDeadline(deadlineAt, cancel, clock),
    progress,
    random,
    log: (line) => reporter.log(line),
    debug: (line) => reporter.debug(line),
    warn: (line) => reporter.warn(line),
    onJob: (job) => report.onJob(job),
    writePlaceholder: () => report.writePlaceholder(),
    publish: () => report.publish(),
  }
}

function githubAccess({ raw, environment, network, redact }: Step): PlanOptions['access'] {
  return { token: raw['github-token'].trim(), apiUrl: environment.apiUrl, network, redact }
}

/** The inputs, or every problem with them. */
function readInputs({ raw, environment, event, redact, reporter, progress }: Step): Inputs | InputError {
  try {
    const inputs = parseInputs(raw, {
      redact,
      readPromptFile: (path) => readPromptFile(path, runner.promptRoots()),
      missingSecrets: explainMissingSecrets(event, environment.actor),
    })
    if (inputs.task.kind !== 'create') progress.follow(inputs.task.jobId)
    if (raw['prompt-file'].trim() !== '' && event.name === 'pull_request_target') {
      reporter.warn(
        'prompt-file on pull_request_target: if the file comes from the pull request, whoever opened the pull request controls the prompt.',
      )
    }
    return inputs
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown
    progress.follow(thrown.jobId)
    return thrown
  }
}

/** Loads what talks to GitHub, and lets what GitHub says decide. */
async function planWithGitHub(
  step: Step,
  inputs: Inputs,
  service: Parameters<typeof run>[2],
  ports: Ports,
  commitsToCheck: readonly string[],
): Promise<Plan> {
  const { environment, event, report } = step
  if (event.problem !== undefined) runner.unsetEventPath()
  const { createPlanner } = await import('./run/plan.js')
  const { nonce } = runner
  const planner = createPlanner({
    inputs,
    run: environment,
    event,
    access: githubAccess(step),
    service,
    ports,
    nonce,
    commitsToCheck,
  })
  report.statusWriter = planner.statusWriter
  return planner.plan()
}
