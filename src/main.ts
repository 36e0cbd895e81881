/** Runs the action: read, plan, run, end. Decides the exit code. */

import { checkSkipAuthors } from './access/skip-authors.js'
import { checkSkipLabels } from './access/skip-labels.js'
import { refuseStrangers } from './access/who-may-start.js'
import { isFinalOutcome } from './agent/job.js'
import { createStep, type WholeStep } from './create-step.js'
import { needsGitHub } from './inputs/inputs.js'
import { createDeadline } from './net/deadline.js'
import { type RunResult, toRunResult } from './run/result.js'
import * as runner from './runner.js'
import { ActionError, Cancelled } from './text/errors.js'

const HEARTBEAT_MS = 60_000

/** How long the docs pull request may take to read, in milliseconds: the result is told by then. */
const DOCS_MS = 5_000

/**
 * Runs the action and ends the process: at once on a second signal, or if nobody caught an
 * exception. [cancel.second] [cancel.exception]
 */
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
  runner.onUncaughtException(endNow)
  // A request in flight has an unknown result.
  signals.second.addEventListener('abort', () => endNow(new Cancelled(report.resultUnknown())))
  try {
    await runStep(step)
  } finally {
    runner.exit(report.exitCode)
  }
}

const UNSEEN =
  "GitHub didn't say whether the docs pull request was still open when the docs job ended. If it is merged by then, the next run asks for docs again."

/** Runs a step until everything is reported. [docs.ended-early] */
export async function runStep(step: WholeStep): Promise<void> {
  const { inputs, report, clock, deadline, tell } = step
  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => tell({ kind: 'heartbeat' }))
  const result = await execute(step).catch(toRunResult).finally(stopHeartbeat)
  tell({ kind: 'ended', result })
  // GitHub is not loaded for this alone.
  if (isFinalOutcome(report.facts.result?.outcome ?? '') && needsGitHub(inputs)) {
    const { signal, end } = createDeadline(clock.now() + DOCS_MS, deadline.signal, clock)
    const docs = await step
      .loadGitHub()
      .then(({ readDocs }) => readDocs(report.facts, signal))
      // Whatever happens there, the comment has the result.
      .catch(() => ({ files: [], isUnseen: true }))
      .finally(end)
    if (docs.isUnseen) tell({ kind: 'noted', text: UNSEEN })
    tell({ kind: 'docs-read', ...docs })
  }
  report.endLog()
  await report.closeComment(deadline)
}

/** What stands against a run comes first, without the service. [skip.service.unasked] */
async function execute(step: WholeStep): Promise<RunResult> {
  const { inputs, inputProblem, event } = step
  const { skip, mayBeMerges } = checkSkipAuthors(event, inputs.skipAuthors)
  if (skip !== undefined) return { outcome: 'skipped', ...skip }
  // Strangers are refused before bad input is reported: their runs have no secrets, and should not
  // turn red for that.
  const refusal = await refuseStrangers(step, async (people) =>
    (await step.loadGitHub()).findRefusal(people),
  ).catch((thrown) => {
    // If nobody can be asked, bad input is told all the same.
    throw thrown instanceof ActionError ? (inputProblem ?? thrown) : thrown
  })
  if (refusal !== undefined) return { outcome: 'skipped', ...refusal }
  if (inputProblem !== undefined) {
    // A run that somebody has labelled should not turn red for that, either.
    const labelled = checkSkipLabels(event, inputs.skipLabels)
    if (labelled && inputs.task.kind !== 'attach') return { outcome: 'skipped', ...labelled }
    throw inputProblem
  }
  const { planAndRun } = await import('./plan-and-run.js')
  return planAndRun(step, mayBeMerges)
}
