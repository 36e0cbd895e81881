/** Builds a step from the runner's inputs and environment. */

import { explainMissingSecrets, isCodeOpen, readEvent } from './event/event.js'
import { createKeyRedactor, parseInputs, SECRETS } from './inputs/inputs.js'
import { readPromptFile } from './inputs/prompt-file.js'
import { createDeadline } from './net/deadline.js'
import { StepReport } from './report/report.js'
import type { Happening } from './run/facts.js'
import type * as runner from './runner.js'
import { createRedactor } from './text/redact.js'

/** How long a step with bad inputs may take, in milliseconds. [net.deadline] */
const BAD_INPUT_MS = 60_000

// [house.layers]
export type Runner = Omit<typeof runner, 'exit' | 'onSignals' | 'onUncaughtException'>

/**
 * The step, and what only its beginning and its end need: what is wrong with the inputs, and the
 * report. [house.layers] [secret.masked]
 *
 * @param cancel aborted when the runner cancels the step
 */
export function createStep(runner: Runner, cancel: AbortSignal) {
  const { clock, random, nonce } = runner
  const raw = runner.rawInputs()
  // Before anything else is written. [secret.masked]
  const secrets = SECRETS.map((input) => raw[input])
  for (const secret of secrets) runner.mask(secret)
  // [secret.redacted] [memory.marker.no-key]
  const redact = createRedactor(...secrets)
  const reporter = runner.createReporter(redact)
  // [net.tls.verified] [net.proxy]
  const network = runner.readNetworkSettings()
  // [github.event]
  const environment = runner.runEnvironment()
  const event = readEvent(environment)
  // [input.problems.together]
  const { inputs, problem: inputProblem } = parseInputs(raw, {
    // What a bad value is shown as. [secret.redacted]
    redact,
    // [input.file.inside]
    readPromptFile: (path) => readPromptFile(path, runner.promptRoots()),
    // [input.misspelt]
    given: runner.givenInputs(),
    // [input.key.empty] [access.refused.no-key]
    missingSecrets: explainMissingSecrets(event, environment.actor),
    // What can't be read is reported by whoever needs the payload.
    // [input.scope] [merge.unreadable] [memory.run.continues]
    hasIssue:
      (event.pullRequest?.number ?? event.issue) !== undefined || event.problem !== undefined,
  })
  // [report.facts.one]
  const report = new StepReport({ writer: reporter, clock, redact, environment, inputs })
  // [report.review]
  if (isCodeOpen(event)) report.tell({ kind: 'code-is-open' })
  // All that a step needs, whoever runs it. [house.layers]
  return {
    // [input.values]
    inputs,
    // [input.problems.together] [access.refused.first]
    inputProblem,
    // [github.event]
    environment,
    event,
    // [net.proxy] [net.tls.verified]
    network,
    // [secret.redacted]
    redact,
    // [context.secret.none]
    redactKeys: createKeyRedactor(...secrets),
    // What the deadline, every pause and every duration are measured by. [net.deadline]
    clock,
    // For the jitter of pauses. [send.limited] [poll.interval]
    random,
    // [memory.one-comment.no-twin] [context.fence.data]
    nonce,
    // [report.facts.one]
    report,
    // [net.deadline] [access.refused.first] [github.decides.retried]
    deadline: createDeadline(
      inputProblem ? clock.now() + BAD_INPUT_MS : inputs.timeoutMs,
      cancel,
      clock,
    ),
    // After the result, a line of the log is for debugging only. [report.log.lines]
    log: (line: string) =>
      (report.facts.result === undefined ? reporter.log : reporter.debug)(line),
    // [report.log.lines]
    debug: reporter.debug,
    // [memory.failure.told] [poll.status.undocumented]
    warn: reporter.warn,
    // [report.facts.one]
    tell: (happening: Happening) => report.tell(happening),
  }
}
