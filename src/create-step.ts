/** Builds a step from the runner's inputs and environment. */

import { explainMissingSecrets, isCodeOpen, readEvent } from './event/event.js'
import { createKeyRedactor, type InputError, parseInputs, SECRETS } from './inputs/inputs.js'
import { readPromptFile } from './inputs/prompt-file.js'
import { splitLines } from './inputs/values.js'
import { createDeadline } from './net/deadline.js'
import type { GitHubDoor } from './plan.js'
import { StepReport } from './report/report.js'
import type { Step } from './run/step.js'
import type * as runner from './runner.js'
import { createRedactor } from './text/redact.js'

/** How long a step with bad inputs may take, in milliseconds. */
const BAD_INPUT_MS = 60_000

type Runner = typeof runner

/** The step, and what only its beginning and its end need. */
export interface WholeStep extends Step {
  readonly inputProblem: InputError | undefined
  readonly report: StepReport
  /** Loads what talks to GitHub, once, and only if the run needs it. [net.cheap] */
  loadGitHub(): Promise<GitHubDoor>
}

/**
 * Secrets are masked before anything is written. [secret.masked]
 *
 * @param cancel aborted when the runner cancels the step
 */
export function createStep(runner: Runner, cancel: AbortSignal): WholeStep {
  const { clock, random, nonce } = runner
  const raw = runner.rawInputs()
  const secrets = SECRETS.flatMap((input) => splitLines(raw[input]))
  for (const secret of secrets) runner.mask(secret)
  const redact = createRedactor(...secrets)
  const writer = runner.createReporter(redact)
  const network = runner.readNetworkSettings()
  const environment = runner.runEnvironment()
  const event = readEvent(environment)
  const { inputs, problem: inputProblem } = parseInputs(raw, {
    // A bad value is shown without its secrets.
    redact,
    readPromptFile: (path) => readPromptFile(path, runner.promptRoots()),
    given: runner.givenInputs(),
    missingSecrets: explainMissingSecrets(event, environment.actor),
    // Whoever needs the payload reports that it can't be read.
    hasIssue:
      (event.pullRequest?.number ?? event.issue) !== undefined || event.problem !== undefined,
    eventName: event.name,
    now: clock.date(),
  })
  const report = new StepReport({ writer, clock, redact, environment, inputs })
  if (isCodeOpen(event)) report.tell({ kind: 'code-is-open' })
  let github: Promise<GitHubDoor> | undefined
  const step: WholeStep = {
    inputs,
    inputProblem,
    environment,
    event,
    network,
    redact,
    redactKeys: createKeyRedactor(...secrets),
    clock,
    random,
    nonce,
    report,
    deadline: createDeadline(
      inputProblem ? clock.now() + BAD_INPUT_MS : inputs.timeoutMs,
      cancel,
      clock,
    ),
    // After the result, a line of the log is for debugging only.
    log: (line) => (report.facts.result === undefined ? writer.log : writer.debug)(line),
    debug: writer.debug,
    warn: writer.warn,
    tell: (happening) => report.tell(happening),
    loadGitHub: () => (github ??= import('./plan.js').then(({ openGitHub }) => openGitHub(step))),
  }
  return step
}
