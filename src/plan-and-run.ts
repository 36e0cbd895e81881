/**
 * Plans what the run does, and does it. Loaded when nothing stands against it: with the service's
 * client, as one chunk, because another would cost a docs job 1 % more.
 */

import { whoNeedsAccess } from './access/who-may-start.js'
import { createAgentService } from './agent/client.js'
import type { WholeStep } from './create-step.js'
import { isUnasked } from './event/event.js'
import { needsGitHub } from './inputs/inputs.js'
import { formatStartLine } from './report/start-line.js'
import type { RunResult } from './run/result.js'
import { run } from './run/run.js'
import type { Step } from './run/step.js'
import type { Plan } from './run/task.js'
import { ActionError } from './text/errors.js'
import { quote, truncate } from './text/escape.js'

/**
 * Plans what the run does, and does it; a dry run sends nothing. [output.dry-run]
 *
 * @param mayBeMerges the commits that are by nobody in skip-authors: the run is skipped if all are
 * merges
 */
export async function planAndRun(
  step: WholeStep,
  mayBeMerges: readonly string[] | undefined,
): Promise<RunResult> {
  const { inputs, event, report, log } = step
  if (event.problem !== undefined && needsGitHub(inputs)) {
    throw new ActionError(
      'github',
      `Can't tell what the run is about: ${event.problem}.`,
      'Use a runner that provides the event payload.',
    )
  }
  remarkOnInputs(step)
  const service = createAgentService({ ...step, ...inputs })
  let plan: Plan = inputs.task
  const mayBeClosed = isUnasked(event) && inputs.task.kind !== 'attach'
  if (mayBeMerges !== undefined || mayBeClosed || needsGitHub(inputs)) {
    const { planRun } = await step.loadGitHub()
    plan = await planRun(mayBeMerges, service, (comment) => {
      report.comment = comment
    })
  }
  if (plan.kind === 'skip') return { outcome: 'skipped', ...plan.skip }
  log(formatStartLine(plan, inputs))
  const tools = { ...step, service, writePlaceholder: () => report.writePlaceholder() }
  if (!inputs.dryRun) return run(plan, inputs, tools)
  if (plan.kind !== 'attach') report.showPrompt(plan.isPrivate ? NOT_SHOWN : plan.prompt)
  return { outcome: 'dry-run' }
}

/** Whoever reads this repository reads the log. [code.readers] */
const NOT_SHOWN = "Not shown: some readers of this log can't read all of the code in the prompt."

/** Says what users may not expect. [range.since.no-effect] [input.file.warned] */
function remarkOnInputs({ inputs, event, environment, redact, log, warn }: Step): void {
  if (inputs.since !== '' && inputs.context === 'none' && inputs.contextPaths.length === 0)
    log('since was ignored: neither context nor context-paths is set.')
  if (inputs.hasPromptFile && whoNeedsAccess(event, environment, new Set()).length > 0) {
    warn(
      `prompt-file on ${event.name}: if the file comes from a pull request, whoever opened the pull request controls the prompt.`,
    )
  }
  // An expression in the input prompt may be part of somebody's title.
  const prompt = inputs.hasPromptFile && 'prompt' in inputs.task ? inputs.task.prompt : ''
  const start = prompt.indexOf('${{')
  const end = start < 0 ? -1 : prompt.indexOf('}}', start)
  if (end > 0) {
    const expression = redact(prompt.slice(start, end + 2))
    warn(
      `prompt-file: ${quote(truncate(expression, 80))} is sent as it is: expressions count only in the workflow file. What triggered the run comes with context.`,
    )
  }
}
