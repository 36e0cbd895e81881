/**
 * Plans what the run does, and does it. Loaded when nothing stands against it: with the service's
 * client, as one chunk, because another would cost a docs job 1 % more.
 */

import { whoNeedsAccess } from './access/who-may-start.js'
import { createAgentService } from './agent/client.js'
import type { createStep } from './create-step.js'
import { needsGitHub } from './inputs/inputs.js'
import type { LoadGitHub } from './main.js'
import { formatStartLine } from './report/start-line.js'
import type { RunResult } from './run/result.js'
import { run } from './run/run.js'
import type { Step } from './run/step.js'
import type { Plan } from './run/task.js'
import { ActionError } from './text/errors.js'
import { quote, truncate } from './text/escape.js'

/**
 * [output.dry-run]
 *
 * @param mayBeMerges the commits that are by nobody in skip-authors: the run is skipped if all are
 * merges
 */
export async function planAndRun(
  step: ReturnType<typeof createStep>,
  mayBeMerges: readonly string[] | undefined,
  loadGitHub: LoadGitHub,
): Promise<RunResult> {
  const { inputs, event, report } = step
  // [merge.unreadable] [github.event]
  if (event.problem !== undefined && needsGitHub(inputs)) {
    throw new ActionError(
      'github',
      `Can't tell what the run is about: ${event.problem}.`,
      'Use a runner that provides the event payload.',
    )
  }
  // [range.since.no-effect] [input.file.warned]
  remarkOnInputs(step)
  // [secret.key.where]
  const { clock, deadline, random, log, debug, warn, tell, network, redact } = step
  const { baseUrl, projectId, apiKey } = inputs
  // [secret.key.where] [send.refused.final]
  const service = createAgentService({
    ...{ baseUrl, projectId, apiKey, network, redact, deadline, debug, now: clock.now },
  })
  // [net.cheap]
  let plan: Plan = inputs.task
  // [skip.authors.push] [net.cheap] [memory.run.continues]
  if (mayBeMerges !== undefined || needsGitHub(inputs)) {
    // [net.cheap]
    const { planRun } = await loadGitHub()
    // [memory.run.continues]
    plan = await planRun(mayBeMerges, service, (comment) => {
      // [memory.one-comment]
      report.comment = comment
    })
  }
  // [skip.service.unasked] [skip.labels.about]
  if (plan.kind === 'skip') return { outcome: 'skipped', ...plan.why }
  // [report.log.lines]
  log(formatStartLine(plan, inputs))
  // [send.placeholder.first]
  const writePlaceholder = (): Promise<void> => report.writePlaceholder()
  // [send.placeholder.first] [poll.retry]
  const tools = { clock, deadline, random, log, debug, warn, tell, service, writePlaceholder }
  // [output.dry-run]
  if (!inputs.dryRun) return run(plan, inputs, tools)
  if (plan.kind !== 'attach') report.showPrompt(plan.prompt)
  return { outcome: 'dry-run' }
}

/**
 * Says what valid inputs may do that the user does not expect. [range.since.no-effect]
 * [input.file.warned]
 */
function remarkOnInputs({ inputs, event, environment, redact, log, warn }: Step): void {
  // [range.since.no-effect]
  if (inputs.since !== '' && inputs.context === 'none' && inputs.contextPaths.length === 0)
    log('since was ignored: neither context nor context-paths is set.')
  // [input.file.warned]
  if (inputs.hasPromptFile && whoNeedsAccess(event, environment, new Set()).length > 0) {
    warn(
      `prompt-file on ${event.name}: if the file comes from a pull request, whoever opened the pull request controls the prompt.`,
    )
  }
  // An expression in the input prompt may be part of somebody's title. [input.file.warned]
  const prompt = inputs.hasPromptFile && 'prompt' in inputs.task ? inputs.task.prompt : ''
  const start = prompt.indexOf('${{')
  const end = start < 0 ? -1 : prompt.indexOf('}}', start)
  if (end > 0) {
    // [secret.redacted]
    const expression = redact(prompt.slice(start, end + 2))
    // [input.file.warned]
    warn(
      `prompt-file: ${quote(truncate(expression, 80))} is sent as it is: expressions count only in the workflow file. What triggered the run comes with context.`,
    )
  }
}
