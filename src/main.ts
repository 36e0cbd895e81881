/** Runs the action: read, plan, run, end. Decides the exit code. */

import { checkSkipAuthors } from './access/skip-authors.js'
import { checkSkipLabels } from './access/skip-labels.js'
import { refuseStrangers } from './access/who-may-start.js'
import { createStep, remarkOnInputs, type WiredStep } from './create-step.js'
import { needsGitHub } from './inputs/inputs.js'
import { createDeadline } from './net/deadline.js'
import { formatStartLine } from './report/messages.js'
import { type RunResult, toRunResult } from './run/result.js'
import type { Plan } from './run/task.js'
import * as runner from './runner.js'
import { ActionError, Cancelled } from './text/errors.js'

const HEARTBEAT_MS = 60_000

/** How long the docs pull request may take to read, in milliseconds: what it says is only told. */
const DOCS_MS = 5_000

/** Runs the action and ends the process. */
export async function main(): Promise<void> {
  const signals = runner.onSignals()
  const step = createStep(runner, signals.first)
  const { report } = step
  const endNow = (thrown: unknown): void => {
    try {
      report.tell({ kind: 'ended', result: toRunResult(thrown) })
      report.endLog()
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

/** Loads what talks to GitHub. */
type LoadGitHub = () => Promise<ReturnType<typeof import('./plan.js').openGitHub>>

/** Runs a step until everything is reported. */
export async function runStep(step: WiredStep): Promise<void> {
  const { inputs, report, clock, deadline, tell } = step
  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => tell({ kind: 'heartbeat' }))
  let github: ReturnType<LoadGitHub> | undefined
  const loadGitHub: LoadGitHub = () =>
    (github ??= import('./plan.js').then(({ openGitHub }) => openGitHub(step)))
  const result = await execute(step, loadGitHub).catch(toRunResult).finally(stopHeartbeat)
  tell({ kind: 'ended', result })
  // GitHub is not loaded for this alone.
  if (report.facts.result?.outcome === 'pr-opened' && needsGitHub(inputs)) {
    const { signal, end } = createDeadline(clock.now() + DOCS_MS, deadline.signal, clock)
    const docs = await (await loadGitHub()).readDocs(report.facts, signal).finally(end)
    tell({ kind: 'docs-read', ...docs })
  }
  report.endLog()
  await report.closeComment(deadline)
}

async function execute(step: WiredStep, loadGitHub: LoadGitHub): Promise<RunResult> {
  const { inputs, inputProblem, event, log, clock, reporter, report } = step
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
  // One chunk: another would cost a docs job 1 % more.
  const [{ createAgentService }, { run }] = await Promise.all([
    import(/* webpackChunkName: "job" */ './agent/client.js'),
    import(/* webpackChunkName: "job" */ './run/run.js'),
  ])
  const service = createAgentService({ ...step, ...inputs, now: clock.now })
  try {
    let plan: Plan = inputs.task
    if (skip.mayBeMerges !== undefined || needsGitHub(inputs)) {
      const subject = await (await loadGitHub()).findSubject(skip.mayBeMerges)
      if ('reason' in subject) return { outcome: 'skipped', ...subject }
      report.comment = subject.comment
      plan = await subject.plan(service)
    }
    if ('reason' in plan) return { outcome: 'skipped', ...plan }
    log(formatStartLine(plan, inputs))
    const writePlaceholder = (): Promise<void> => report.writePlaceholder()
    if (!inputs.dryRun) return await run(plan, inputs, { ...step, service, writePlaceholder })
    if (plan.kind !== 'attach') reporter.group('The prompt as it would be sent', plan.prompt)
    return { outcome: 'dry-run' }
  } finally {
    service.close()
  }
}
