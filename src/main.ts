/** Runs the action: read, plan, run, end. Decides the exit code. */

import { isId } from './agent/job.js'
import { Cancelled } from './errors.js'
import { checkSkipAuthors } from './event/skip-authors.js'
import { asksForCheck, InputError, type Inputs, needsGitHub } from './inputs/inputs.js'
import { parseJobKey, parseLogins } from './inputs/values.js'
import { heartbeatLine, startLine } from './report/messages.js'
import type { Plan } from './run/plan.js'
import type { Ports, RunResult } from './run/ports.js'
import { run, toRunResult } from './run/run.js'
import { refuseStrangers } from './run/strangers.js'
import * as runner from './runner.js'
import { createPorts, createStep, githubAccess, loadPlan, readInputs, type Step } from './step.js'

const HEARTBEAT_MS = 60_000

/** How long GitHub is asked if timeout-minutes is not known, in milliseconds. */
const GITHUB_MS = 60_000

/** How long a check may take that is only written at the end, in milliseconds. */
const LATE_CHECK_MS = 10_000

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
    await writeLateCheck(step)
    await report.closeStatus(signals.first)
  } finally {
    runner.exit(report.exitCode)
  }
}

async function execute(step: Step): Promise<RunResult> {
  const { raw, environment, event, progress, report } = step
  // Checked first: a run triggered by the agent may have no secrets, which is not an error.
  const skip = checkSkipAuthors(event, parseLogins(raw['skip-authors']))
  if (skip.reason !== undefined) {
    const jobId = raw['job-id'].trim()
    if (isId(jobId)) progress.follow(jobId)
    return { outcome: 'skipped', reason: skip.reason }
  }

  const inputs = readInputs(step)
  const areBad = inputs instanceof InputError
  if (!areBad) report.inputs = inputs // From here on, the report knows the deadline.
  const ports = createPorts(step, areBad ? runner.clock.now() + GITHUB_MS : inputs.timeoutMs)
  // Before bad input is reported: a stranger's run has no secrets either, and should not turn red.
  const refusal = await refuseStrangers(raw, environment, event, ports.log, async (people) => {
    const { askGitHub } = await loadPlan(step)
    return askGitHub(people, { run: environment, access: githubAccess(step), ports })
  })
  if (refusal !== undefined) return { outcome: 'skipped', reason: refusal }
  if (areBad) throw inputs
  return planAndRun(step, inputs, ports, skip.commitsToCheck)
}

async function planAndRun(
  step: Step,
  inputs: Inputs,
  ports: Ports,
  commitsToCheck: readonly string[],
): Promise<RunResult> {
  const { network, redact, reporter, progress } = step
  const { clock } = runner
  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => ports.log(heartbeatLine(progress)))
  const { createAgentService } = await import('./agent/client.js')
  const service = createAgentService({ ...inputs, ...ports, redact, network, now: clock.now })
  try {
    const plan = needsGitHub(inputs, commitsToCheck.length > 0)
      ? await planWithGitHub(step, inputs, service, ports, commitsToCheck)
      : inputs.task
    if (plan.kind === 'skip') return { outcome: 'skipped', reason: plan.reason }
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

/** Lets what GitHub says decide. */
async function planWithGitHub(
  step: Step,
  inputs: Inputs,
  service: Parameters<typeof run>[2],
  ports: Ports,
  commitsToCheck: readonly string[],
): Promise<Plan> {
  const { environment, event, report } = step
  const { createPlanner } = await loadPlan(step)
  const planner = createPlanner({
    inputs,
    run: environment,
    event,
    access: githubAccess(step),
    service,
    ports,
    nonce: runner.nonce,
    commitsToCheck,
  })
  report.status.writers = planner.statusWriters
  return planner.plan()
}

/** Writes the check of a step that ended before its plan was made, because of bad input or of who started it. */
async function writeLateCheck(step: Step): Promise<void> {
  const { raw, environment, event, reporter, report } = step
  if (report.status.writers !== undefined || !asksForCheck(raw)) return
  try {
    const { createLateCheck } = await loadPlan(step)
    const writer = createLateCheck({
      run: environment,
      event,
      project: raw['project-id'].trim(),
      apiKey: raw['api-key'].trim(),
      jobKey: parseJobKey(raw['job-key']),
      access: githubAccess(step),
      nonce: runner.nonce,
      ports: createPorts(step, runner.clock.now() + LATE_CHECK_MS),
    })
    report.status.writers = writer === undefined ? [] : [writer]
    report.status.update(report.result)
  } catch (thrown) {
    reporter.warn(`The check could not be written: ${(thrown as Error).message}`)
  }
}
