/** Runs the action: read, plan, run, end. Decides the exit code. */

import { checkSkipAuthors } from './access/skip-authors.js'
import { checkSkipLabels } from './access/skip-labels.js'
import { refuseStrangers } from './access/who-may-start.js'
import { createStep, remarkOnInputs, type WiredStep } from './create-step.js'
import { needsGitHub } from './inputs/inputs.js'
import { formatHeartbeatLine, formatStartLine } from './report/messages.js'
import { type RunResult, toRunResult } from './run/result.js'
import * as runner from './runner.js'
import { ActionError, Cancelled } from './text/errors.js'

const HEARTBEAT_MS = 60_000

/**
 * How long the files of the docs pull request may take to read, in milliseconds: they are only
 * told.
 */
const FILES_MS = 5_000

/** Runs the action and ends the process. */
export async function main(): Promise<void> {
  const signals = runner.onSignals()
  const step = createStep(runner, signals.first)
  const { report } = step
  const endNow = (thrown: unknown): void => {
    try {
      report.end(toRunResult(thrown))
      report.update()
    } finally {
      runner.exit(report.exitCode)
    }
  }
  runner.onUncaughtException((thrown) => endNow(report.resultUnknown(thrown) ?? thrown))
  signals.second.addEventListener('abort', () => endNow(new Cancelled(report.resultUnknown())))
  try {
    await runStep(step)
  } finally {
    runner.exit(report.exitCode)
  }
}

/** Runs a step until everything is reported. */
export async function runStep(step: WiredStep): Promise<void> {
  const { inputs, report, clock, deadline, log, progress } = step
  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => {
    log(formatHeartbeatLine(progress))
    if (progress.hasJob) report.update() // Repeats the last edit if it failed.
  })
  let github: ReturnType<typeof openGitHub> | undefined
  const loadGitHub = () => (github ??= openGitHub(step))
  report.end(await execute(step, loadGitHub).catch(toRunResult).finally(stopHeartbeat))
  // GitHub is not loaded for this alone.
  if (progress.result?.outcome === 'pr-opened' && needsGitHub(inputs)) {
    const end = AbortSignal.any([deadline.signal, AbortSignal.timeout(FILES_MS)])
    progress.docsFiles = await (await loadGitHub()).readDocsFiles(progress.job?.link ?? '', end)
  }
  await report.closeComment(deadline)
}

async function execute(
  step: WiredStep,
  loadGitHub: () => ReturnType<typeof openGitHub>,
): Promise<RunResult> {
  const { inputs, inputProblem, event, log, clock, reporter, progress } = step
  const skip = checkSkipAuthors(event, inputs.skipAuthors)
  if (skip.reason !== undefined) return { outcome: 'skipped', reason: skip.reason }
  // Before bad input is reported: a stranger's run has no secrets, and should not turn red for
  // that.
  const refusal = await refuseStrangers(step, async (people) =>
    (await loadGitHub()).findRefusal(people),
  ).catch((thrown) => {
    throw thrown instanceof ActionError ? (inputProblem ?? thrown) : thrown
  })
  if (refusal !== undefined) return { outcome: 'skipped', ...refusal }
  if (inputProblem !== undefined) {
    // Nor should one that somebody has labelled.
    const reason = checkSkipLabels(event, inputs.skipLabels)
    if (reason !== undefined && inputs.task.kind !== 'attach') return { outcome: 'skipped', reason }
    throw inputProblem
  }
  if (event.problem !== undefined && needsGitHub(inputs)) {
    throw new ActionError(
      'github',
      `Can't tell what the run is about: ${event.problem}.`,
      'Use a runner that provides the event payload.',
    )
  }
  remarkOnInputs(step)
  const [{ createAgentService }, { run }] = await Promise.all([
    import('./agent/client.js'),
    import('./run/run.js'),
  ])
  const service = createAgentService({ ...step, ...inputs, now: clock.now })
  try {
    const plan =
      skip.mayBeMerges !== undefined || needsGitHub(inputs)
        ? await (await loadGitHub()).plan(service, skip.mayBeMerges)
        : inputs.task
    if ('reason' in plan) return { outcome: 'skipped', ...plan }
    if (plan.kind !== 'create') progress.follow(plan.jobId)
    log(formatStartLine(plan, inputs))
    if (!inputs.dryRun) return await run(plan, inputs, { ...step, service })
    if (plan.kind !== 'attach') reporter.group('The prompt as it would be sent', plan.prompt)
    return { outcome: 'dry-run' }
  } finally {
    service.close()
  }
}

/** Loads what talks to GitHub. */
async function openGitHub(step: WiredStep) {
  return (await import('./plan.js')).openGitHub(step)
}
