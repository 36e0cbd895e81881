/** Builds a step from what the runner says of it. */

import { whoNeedsAccess } from './access/who-may-start.js'
import { explainMissingSecrets, type RunEnvironment, type RunEvent, readEvent } from './event/event.js'
import { InputError, type Inputs, parseInputs, type RawInputs, readGiven } from './inputs/inputs.js'
import { readPromptFile } from './inputs/prompt-file.js'
import { createDeadline } from './net/deadline.js'
import { createRedactor, type Redact } from './redact.js'
import { type ReportWriter, StepReport } from './report/report.js'
import type { Step } from './run/ports.js'
import { Progress } from './run/progress.js'
import type * as runner from './runner.js'

/** How long a step with bad inputs may take, in milliseconds. */
const BAD_INPUT_MS = 60_000

/** A step with what only its beginning and its end need. */
export interface WiredStep extends Step {
  readonly reporter: ReportWriter
  readonly report: StepReport
}

/** What a step takes from the runner. */
export type Runner = Pick<
  typeof runner,
  | 'clock'
  | 'createReporter'
  | 'mask'
  | 'nonce'
  | 'promptRoots'
  | 'random'
  | 'rawInputs'
  | 'readNetworkSettings'
  | 'runEnvironment'
  | 'unknownInputs'
  | 'unsetEventPath'
>

/** @param cancel aborted when the runner cancels the step */
export function createStep(runner: Runner, cancel: AbortSignal): WiredStep {
  const { clock, random, nonce } = runner
  const raw = runner.rawInputs()
  const given = readGiven(raw)
  const secrets = [given.apiKey, given.githubToken, given.docsToken]
  for (const secret of secrets) runner.mask(secret)
  const redact = createRedactor(...secrets)
  const reporter = runner.createReporter(redact)
  const network = runner.readNetworkSettings()
  const run = runner.runEnvironment()
  const event = readEvent(run)
  if (event.problem !== undefined) runner.unsetEventPath()
  const inputs = readInputs(raw, run, event, redact, runner)
  const isBad = inputs instanceof InputError
  const progress = new Progress(clock)
  if (isBad) progress.follow(inputs.jobId)
  else if (inputs.task.kind !== 'create') progress.follow(inputs.task.jobId)
  const report = new StepReport({
    writer: reporter,
    progress,
    redact,
    run,
    inputs: isBad ? undefined : inputs,
  })
  return {
    ...{ given, inputs, run, event, network, redact, progress, clock, random, nonce, reporter, report },
    deadline: createDeadline(isBad ? clock.now() + BAD_INPUT_MS : inputs.timeoutMs, cancel, clock),
    log: (line) => reporter.log(line),
    debug: (line) => reporter.debug(line),
    warn: (line) => reporter.warn(line),
    note: (line) => {
      reporter.warn(line)
      progress.notes.push(line)
    },
    onJob: (job) => report.onJob(job),
    writePlaceholder: () => report.status.writePlaceholder(),
    publish: () => report.publish(),
    keepUpToDate: (writer) => void report.status.writers.push(writer),
  }
}

function readInputs(
  raw: RawInputs,
  run: RunEnvironment,
  event: RunEvent,
  redact: Redact,
  runner: Pick<Runner, 'promptRoots' | 'unknownInputs'>,
): Inputs | InputError {
  try {
    return parseInputs(raw, {
      redact,
      readPromptFile: (path) => readPromptFile(path, runner.promptRoots()),
      unknownInputs: runner.unknownInputs(),
      missingSecrets: explainMissingSecrets(event, run.actor),
      // What can't be read is reported by whoever needs the payload.
      hasIssue: (event.pullRequest?.number ?? event.issue) !== undefined || event.problem !== undefined,
    })
  } catch (thrown) {
    if (thrown instanceof InputError) return thrown
    throw thrown
  }
}

/** Says what valid inputs may do that the user does not expect. */
export function remarkOnInputs({ given, event, run, warn, log }: Step, inputs: Inputs): void {
  if (given.hasPromptFile && whoNeedsAccess(event, run, new Set()).length > 0) {
    warn(
      `prompt-file on ${event.name}: if the file comes from a pull request, whoever opened the pull request controls the prompt.`,
    )
  }
  if (inputs.since !== undefined && inputs.context === 'none' && inputs.contextPaths.length === 0) {
    log('since is ignored: neither context nor context-paths is set.')
  }
}
