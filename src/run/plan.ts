/** Decides what the run does, based on GitHub's data: skip, wait, message or create, and with which prompt. */

import type { AgentService } from '../agent/client.js'
import { type Job, parsePullRequest } from '../agent/job.js'
import { ActionError } from '../errors.js'
import { type RunEnvironment, type RunEvent, workflowPath } from '../event/event.js'
import type { Person } from '../event/who-may-start.js'
import { findChanges } from '../github/changes.js'
import { createGitHub, type GitHub, type GitHubOptions } from '../github/client.js'
import { createCommentStore, isClosed } from '../github/comment.js'
import { allMerges, type FoundChanges, unknownChanges } from '../github/compare.js'
import { deriveMarkerKey, type StoredState } from '../github/marker.js'
import { findRefusal } from '../github/permission.js'
import { StateWriter } from '../github/state-writer.js'
import type { Inputs, Task } from '../inputs/inputs.js'
import { composePrompt, pathsNote, reasonToSkip } from './apply-changes.js'
import { pollUntilDone } from './poll.js'
import type { Ports } from './ports.js'

export interface PlanOptions {
  readonly inputs: Inputs
  readonly run: RunEnvironment
  readonly event: RunEvent
  readonly access: Pick<GitHubOptions, 'token' | 'apiUrl' | 'network' | 'redact'>
  readonly service: AgentService
  readonly ports: Ports
  /** Random hexadecimal digits. */
  readonly nonce: () => string
  /** Commits of a push that may be merges: if all are, the run is skipped. */
  readonly commitsToCheck: readonly string[]
}

/** What to do, with the whole prompt; or nothing, for a reason. */
export type Plan = Task | { readonly kind: 'skip'; readonly reason: string }

type PlanContext = PlanOptions & { readonly github: GitHub }

const skip = (reason: string): Plan => ({ kind: 'skip', reason })

/** Why these people must not start a job; undefined if they may. @throws ActionError `github` */
export function askGitHub(
  people: readonly Person[],
  { run, access, ports }: Pick<PlanOptions, 'run' | 'access' | 'ports'>,
): Promise<string | undefined> {
  return findRefusal(people, run, createGitHub({ ...ports, ...access }).requestWithRetry)
}

/** Creates the planner; nothing is sent yet. `statusWriter` is undefined if the step keeps no comment. */
export function createPlanner(options: PlanOptions): {
  readonly statusWriter: StateWriter | undefined
  readonly plan: () => Promise<Plan>
} {
  const context = { ...options, github: createGitHub({ ...options.ports, ...options.access }) }
  const statusWriter = createStatusWriter(context)
  return { statusWriter, plan: () => plan(context, statusWriter) }
}

/**
 * Only reads: from GitHub, and the job's status from the service.
 *
 * @throws ActionError `github` if something that decides can't be read
 * @throws Cancelled
 */
async function plan(context: PlanContext, statusWriter: StateWriter | undefined): Promise<Plan> {
  const { inputs, run, event, github, ports, commitsToCheck } = context
  if (commitsToCheck.length > 0 && (await allMerges(run, commitsToCheck, github.requestWithRetry))) {
    return skip('every non-merge commit in the push is by one of skip-authors')
  }
  const previous = statusWriter?.decides ? await findPreviousRun(statusWriter, context) : undefined
  if (previous?.job !== undefined && isUnfinishedRerun(previous.state, run)) {
    ports.log(
      "This is a re-run, and the first attempt didn't see its job finish: waiting for that job, sending nothing.",
    )
    return { kind: 'attach', jobId: previous.state.jobId }
  }
  if (inputs.task.kind === 'attach') return inputs.task

  const changes = await findChangesIfNeeded(context)
  if (changes?.truncated) ports.log('GitHub truncated the list of changed files.')
  const reason = reasonToSkip(inputs, event, changes)
  if (reason !== undefined) return skip(reason)
  const note = pathsNote(inputs, changes)
  if (note !== undefined) {
    ports.log(note)
    ports.progress.notes.push(note)
  }
  const prompt = composePrompt(inputs.task.prompt, changes, context)
  return previous === undefined ? { ...inputs.task, prompt } : continueOrCreate(previous, prompt, context)
}

/** The writer of the comment, if the step keeps one and there is a pull request for it. */
function createStatusWriter(context: PlanContext): StateWriter | undefined {
  const { inputs, run, event, github, ports, nonce } = context
  const decides = inputs.jobScope === 'pull-request'
  if (!decides && !inputs.comment) return undefined
  if (event.problem !== undefined && decides && /^(?:pull_request|issue_comment)/.test(event.name)) {
    throw new ActionError(
      'github',
      `Can't tell which pull request this is: ${event.problem}.`,
      'Use a runner that provides the event payload.',
    )
  }
  if (event.pullRequest === undefined) {
    const consequence = decides
      ? 'starting a separate job, as with job-scope: run'
      : 'there is nothing to comment on'
    ports.log(`The event (${event.name}) has no pull request: ${consequence}.`)
    return undefined
  }
  const identity = {
    repository: run.repository,
    pullRequest: event.pullRequest.number,
    workflow: workflowPath(run),
    job: run.job,
    step: run.step,
    project: inputs.projectId,
    jobKey: inputs.jobKey,
  }
  const markerKey = deriveMarkerKey(inputs.apiKey)
  return new StateWriter(
    createCommentStore({ run, identity, markerKey, github, nonce }),
    run,
    decides,
    ports.warn,
  )
}

/** What the previous run on this pull request stored, and its job as it is now. */
interface PreviousRun {
  readonly state: StoredState
  /** Undefined if it no longer exists. */
  readonly job: Job | 'not requested' | undefined
}

async function findPreviousRun(
  statusWriter: StateWriter,
  context: PlanContext,
): Promise<PreviousRun | undefined> {
  const { inputs, ports } = context
  const { state, unverified } = await statusWriter.findPrevious()
  if (state === undefined) {
    if (unverified > 0) {
      ports.log(
        "An earlier comment by this step can't be verified (was the key changed?). It is left as is, and a new one is posted.",
      )
    }
    return undefined
  }
  if (state.jobId === '') {
    if (['sending', 'unknown'].includes(state.state)) {
      ports.warn(
        "The result of the last create request for this pull request is unknown: a job may exist. Check the agent's jobs in the dashboard.",
      )
    }
    return undefined
  }
  ports.progress.follow(state.jobId)
  return { state, job: inputs.dryRun ? 'not requested' : await getJobOnce(state.jobId, context) }
}

/** States after which a re-run is like a new run: the job's end was reported, or nothing was accepted. */
const FINISHED = ['pr-opened', 'no-changes', 'failed', 'archived', 'unsent']

function isUnfinishedRerun({ run: runId, attempt, state }: StoredState, run: RunEnvironment): boolean {
  return runId === run.runId && attempt < Number(run.runAttempt) && !FINISHED.includes(state)
}

/** Sends a message to the stored job, or creates a new one if that job is no longer usable. */
async function continueOrCreate(
  { state: { jobId }, job }: PreviousRun,
  prompt: string,
  context: PlanContext,
): Promise<Task> {
  if (job === 'not requested') return { kind: 'message', jobId, prompt }
  const reason = job === undefined ? 'no longer exists' : await reasonNotReusable(job, context)
  if (reason === undefined) {
    return { kind: 'message', jobId, prompt, previousJob: job, createIfMissing: true }
  }
  context.ports.log(`The last run's job ${reason}: creating a new one.`)
  context.ports.progress.forget()
  return { kind: 'create', prompt }
}

async function reasonNotReusable(
  { status, link }: Job,
  { run, github }: PlanContext,
): Promise<string | undefined> {
  if (status === 'failed') return 'failed'
  if (status === 'archived') return 'was archived'
  const onThisServer = link !== '' && new URL(link).origin === new URL(run.serverUrl).origin
  return onThisServer && (await isClosed(parsePullRequest(link), run, github))
    ? 'has a pull request that was merged or closed'
    : undefined
}

/** The job as it is now; undefined if it does not exist. */
async function getJobOnce(jobId: string, { inputs, service, ports }: PlanContext): Promise<Job | undefined> {
  const options = { jobId, precededBy: { kind: 'nothing' }, once: true, pollIntervalMs: undefined } as const
  const quietPorts = { ...ports, onJob: () => undefined }
  try {
    const result = await pollUntilDone({ ...options, timeoutMs: inputs.timeoutMs }, service, quietPorts)
    if (result.kind !== 'deadline') return result.job
  } catch (thrown) {
    if (thrown instanceof ActionError && thrown.code === 'not-found') return undefined
    throw thrown
  }
  throw new ActionError(
    'network',
    "Timed out while checking the last run's job. Nothing was sent.",
    'Run it again later, or raise timeout-minutes.',
  )
}

/** The changes, if anything needs them. If only the context does, an error is a warning. */
async function findChangesIfNeeded({
  inputs,
  run,
  event,
  github,
  ports,
}: PlanContext): Promise<FoundChanges | undefined> {
  const decides = inputs.contextPaths.length > 0
  if (!decides && inputs.context === 'none') return undefined
  if (event.problem !== undefined && decides) {
    throw new ActionError(
      'github',
      `Can't tell what changed: ${event.problem}.`,
      'Use a runner that provides the event payload.',
    )
  }
  try {
    return await findChanges(run, event, decides ? github.requestWithRetry : github.requestOnce)
  } catch (thrown) {
    if (decides || !(thrown instanceof ActionError)) throw thrown
    ports.warn(`${thrown.message} The prompt is sent without the changes. ${thrown.advice}`)
    return unknownChanges('The list of changes could not be read.')
  }
}
