/** Runs the action: read, plan, run, end. Decides the exit code. */

import { checkSkipAuthors } from './access/skip-authors.js'
import { checkSkipLabels } from './access/skip-labels.js'
import { refuseStrangers } from './access/who-may-start.js'
import { createStep } from './create-step.js'
import { needsGitHub } from './inputs/inputs.js'
import { createDeadline } from './net/deadline.js'
import { type RunResult, toRunResult } from './run/result.js'
import * as runner from './runner.js'
import { ActionError, Cancelled } from './text/errors.js'

// [report.log.lines]
const HEARTBEAT_MS = 60_000

/**
 * How long the docs pull request may take to read, in milliseconds: what it says is only told.
 * [docs.files.told]
 */
const DOCS_MS = 5_000

/** Runs the action and ends the process. [cancel.second] [cancel.exception] [output.exit-code] */
export async function main(): Promise<void> {
  // [cancel.first]
  const signals = runner.onSignals()
  const step = createStep(runner, signals.first)
  const { report } = step
  // [cancel.exception]
  const endNow = (thrown: unknown): void => {
    try {
      // [cancel.exception]
      report.tell({ kind: 'ended', result: toRunResult(thrown) })
      // [report.log.lines] [output.sent]
      report.endLog()
      // [cancel.second]
      report.update()
    } finally {
      // [output.exit-code]
      runner.exit(report.exitCode)
    }
  }
  // [cancel.exception]
  runner.onUncaughtException(endNow)
  // What is in flight has an unknown result. [cancel.second] [send.unknown]
  signals.second.addEventListener('abort', () => endNow(new Cancelled(report.resultUnknown())))
  try {
    await runStep(step)
  } finally {
    // [output.exit-code]
    runner.exit(report.exitCode)
  }
}

/** Loads what talks to GitHub. [net.cheap] */
export type LoadGitHub = () => Promise<ReturnType<typeof import('./plan.js').openGitHub>>

/** Runs a step until everything is reported. [docs.files.told] [memory.edit.retried] */
export async function runStep(step: ReturnType<typeof createStep>): Promise<void> {
  const { inputs, report, clock, deadline, tell } = step
  // [report.log.lines]
  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => tell({ kind: 'heartbeat' }))
  // [net.cheap]
  let github: ReturnType<LoadGitHub> | undefined
  const loadGitHub: LoadGitHub = () =>
    (github ??= import('./plan.js').then(({ openGitHub }) => openGitHub(step)))
  // [cancel.exception]
  const result = await execute(step, loadGitHub).catch(toRunResult).finally(stopHeartbeat)
  // [report.facts.one]
  tell({ kind: 'ended', result })
  // GitHub is not loaded for this alone. [net.cheap] [docs.files.told]
  if (report.facts.result?.outcome === 'pr-opened' && needsGitHub(inputs)) {
    // [docs.files.told]
    const { signal, end } = createDeadline(clock.now() + DOCS_MS, deadline.signal, clock)
    const docs = await (await loadGitHub()).readDocs(report.facts, signal).finally(end)
    tell({ kind: 'docs-read', ...docs })
  }
  // [report.log.lines] [output.sent]
  report.endLog()
  // [memory.edit.retried]
  await report.closeComment(deadline)
}

// [access.refused.first]
async function execute(
  step: Parameters<typeof runStep>[0],
  loadGitHub: LoadGitHub,
): Promise<RunResult> {
  const { inputs, inputProblem, event } = step
  // [skip.authors.cause] [skip.service.unasked]
  const skip = checkSkipAuthors(event, inputs.skipAuthors)
  if (skip.reason !== undefined) return { outcome: 'skipped', reason: skip.reason }
  // Before bad input is reported: a stranger's run has no secrets, and should not turn red for
  // that. [access.refused.first]
  const refusal = await refuseStrangers(step, async (people) =>
    (await loadGitHub()).findRefusal(people),
  ).catch((thrown) => {
    // [access.permission.unknown] [access.refused.first]
    throw thrown instanceof ActionError ? (inputProblem ?? thrown) : thrown
  })
  // [access.refused.green]
  if (refusal !== undefined) return { outcome: 'skipped', ...refusal }
  // [input.problems.together]
  if (inputProblem !== undefined) {
    // A run that somebody has labelled should not turn red for that, either. [skip.service.unasked]
    const reason = checkSkipLabels(event, inputs.skipLabels)
    // [skip.service.unasked] [skip.wait.never]
    if (reason !== undefined && inputs.task.kind !== 'attach') return { outcome: 'skipped', reason }
    // [input.problems.together] [access.refused.first]
    throw inputProblem
  }
  // [net.cheap]
  const { planAndRun } = await import('./plan-and-run.js')
  return planAndRun(step, skip.mayBeMerges, loadGitHub)
}
