/** What every part of a step needs, wired to the runner. */

import { createRedactor, type Redact } from './escape.js'
import {
  explainMissingSecrets,
  hasReadOnlyToken,
  type RunEnvironment,
  type RunEvent,
  readEvent,
} from './event/event.js'
import { whoNeedsAccess } from './event/who-may-start.js'
import { InputError, type Inputs, parseInputs, type RawInputs } from './inputs/inputs.js'
import { readPromptFile } from './inputs/prompt-file.js'
import { createDeadline } from './net/deadline.js'
import type { NetworkSettings } from './net/proxy.js'
import { StepReport } from './report/step-report.js'
import type { GitHubAccess } from './run/plan.js'
import type { Ports } from './run/ports.js'
import { Progress } from './run/progress.js'
import * as runner from './runner.js'

export interface Step {
  readonly raw: RawInputs
  readonly environment: RunEnvironment
  readonly event: RunEvent
  readonly cancel: AbortSignal
  readonly network: NetworkSettings
  readonly redact: Redact
  readonly reporter: runner.Reporter
  readonly progress: Progress
  readonly report: StepReport
}

/** @param cancel aborted when the runner cancels the step */
export function createStep(cancel: AbortSignal): Step {
  const raw = runner.rawInputs()
  const secrets = [raw['api-key'], raw['github-token'], raw['docs-token']]
  for (const secret of secrets) runner.mask(secret)
  const redact = createRedactor(...secrets)
  const reporter = new runner.Reporter(redact)
  const progress = new Progress(runner.clock)
  const environment = runner.runEnvironment()
  const { serverUrl, repository, runId } = environment
  const runUrl = `${serverUrl}/${repository}/actions/runs/${runId}`
  const report = new StepReport({ writer: reporter, progress, redact, runUrl })
  const network = runner.readNetworkSettings()
  const event = readEvent(environment)
  return { raw, environment, event, cancel, network, redact, reporter, progress, report }
}

/** The inputs, or every problem with them. */
export function readInputs({
  raw,
  environment,
  event,
  redact,
  reporter,
  progress,
}: Step): Inputs | InputError {
  try {
    const inputs = parseInputs(raw, {
      redact,
      readPromptFile: (path) => readPromptFile(path, runner.promptRoots()),
      missingSecrets: explainMissingSecrets(event, environment.actor),
      // What can't be read is reported by whoever needs the payload.
      hasIssue: (event.pullRequest?.number ?? event.issue) !== undefined || event.problem !== undefined,
    })
    if (inputs.task.kind !== 'create') progress.follow(inputs.task.jobId)
    if (raw['prompt-file'].trim() !== '' && whoNeedsAccess(event, environment, new Set()).length > 0) {
      reporter.warn(
        `prompt-file on ${event.name}: if the file comes from a pull request, whoever opened the pull request controls the prompt.`,
      )
    }
    return inputs
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown
    progress.follow(thrown.jobId)
    return thrown
  }
}

/** @param deadlineAt on the clock, in milliseconds */
export function createPorts({ cancel, progress, reporter, report }: Step, deadlineAt: number): Ports {
  const { clock, random } = runner
  return {
    clock,
    deadline: createDeadline(deadlineAt, cancel, clock),
    progress,
    random,
    log: (line) => reporter.log(line),
    debug: (line) => reporter.debug(line),
    warn: (line) => reporter.warn(line),
    onJob: (job) => report.onJob(job),
    writePlaceholder: () => report.status.writePlaceholder(),
    publish: () => report.publish(),
  }
}

export function githubAccess({ raw, environment, event, network, redact }: Step): GitHubAccess {
  const { apiUrl } = environment
  return { token: raw['github-token'].trim(), apiUrl, network, redact, fromFork: hasReadOnlyToken(event) }
}

/** Loads what talks to GitHub. */
export function loadPlan({ event }: Step): Promise<typeof import('./run/plan.js')> {
  if (event.problem !== undefined) runner.unsetEventPath()
  return import('./run/plan.js')
}
