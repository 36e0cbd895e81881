/** Decides what the run does, based on GitHub's data: skip, wait, message or create, and with which prompt. */

import type { AgentService } from '../agent/client.js'
import { ActionError } from '../errors.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { Person } from '../event/who-may-start.js'
import { findChanges } from '../github/changes.js'
import { createGitHub, describeWarning, type GitHub, type GitHubOptions } from '../github/client.js'
import { allMerges, type FoundChanges, unknownChanges } from '../github/compare.js'
import { type DocsPull, readDocsPull } from '../github/docs-pull.js'
import { createCheckWriter, createCommentWriter, findConversation } from '../github/memory.js'
import { findRefusal } from '../github/permission.js'
import type { StateWriter } from '../github/state-writer.js'
import { createKeyRedactor, type Inputs, type Task } from '../inputs/inputs.js'
import { composePrompt, pathsNote, reasonToSkip } from './apply-changes.js'
import type { Ports } from './ports.js'
import { continueOrCreate, findPreviousRun, type Writers } from './previous-run.js'

export type GitHubAccess = Pick<GitHubOptions, 'token' | 'apiUrl' | 'network' | 'redact' | 'fromFork'>

export interface PlanOptions {
  readonly inputs: Inputs
  readonly run: RunEnvironment
  readonly event: RunEvent
  readonly access: GitHubAccess
  readonly service: AgentService
  readonly ports: Ports
  /** Random hexadecimal digits. */
  readonly nonce: () => string
  /** Commits of a push that may be merges: if all are, the run is skipped. */
  readonly commitsToCheck: readonly string[]
}

/** What to do, with the whole prompt; or nothing, for a reason. */
export type Plan = Task | { readonly kind: 'skip'; readonly reason: string }

type PlanContext = PlanOptions & {
  readonly github: GitHub
  readonly readDocsPull: (link: string) => Promise<DocsPull>
}

const skip = (reason: string): Plan => ({ kind: 'skip', reason })

/** Why these people must not start a job; undefined if they may. @throws ActionError `github` */
export function askGitHub(
  people: readonly Person[],
  { run, access, ports }: Pick<PlanOptions, 'run' | 'access' | 'ports'>,
): Promise<string | undefined> {
  return findRefusal(people, run, createGitHub({ ...ports, ...access }).requestWithRetry)
}

/** Creates the planner; nothing is sent yet. */
export function createPlanner(options: PlanOptions): {
  /** What the step keeps up to date at GitHub. */
  readonly statusWriters: readonly StateWriter[]
  readonly plan: () => Promise<Plan>
} {
  const { inputs, run, access, ports } = options
  const github = createGitHub({ ...ports, ...access })
  const { docsToken: token } = inputs
  const docsGitHub =
    token === '' ? undefined : (): GitHub => createGitHub({ ...ports, ...access, token, fromFork: false })
  const context: PlanContext = {
    ...options,
    github,
    readDocsPull: (link) => readDocsPull({ link, run, github, docsGitHub }),
  }
  const writers: Writers = { comment: commentWriterFor(context), check: checkWriterFor(context) }
  const all = [writers.comment, writers.check].filter((writer) => writer !== undefined)
  if (inputs.dryRun) for (const writer of all) writer.stop()
  return { statusWriters: all, plan: () => plan(context, writers) }
}

/**
 * The writer of a check of a step that ended before there was a plan. In a later attempt it keeps what the one before
 * stored, and concludes its check.
 *
 * @returns undefined if there is no commit to put it on
 */
export function createLateCheck(
  options: Pick<PlanOptions, 'run' | 'event' | 'access' | 'nonce'> & {
    /** As it was given, valid or not. */
    readonly project: string
    readonly apiKey: string
    readonly jobKey: string
    readonly ports: Pick<GitHubOptions, 'clock' | 'deadline' | 'random' | 'log' | 'debug'> &
      Pick<Ports, 'warn'>
  },
): StateWriter | undefined {
  const { run, access, ports, apiKey } = options
  const github = createGitHub({ ...ports, ...access })
  const { redact } = access
  const { deadline, log, warn } = ports
  const hasEarlierAttempt = Number(run.runAttempt) > 1 && apiKey !== ''
  return createCheckWriter({
    ...options,
    github,
    apiKey: hasEarlierAttempt ? apiKey : undefined,
    redact,
    deadline,
    log,
    warn,
  })
}

/**
 * Only reads: from GitHub, and the job's status from the service.
 *
 * @throws ActionError `github` if something that decides can't be read
 * @throws Cancelled
 */
async function plan(context: PlanContext, writers: Writers): Promise<Plan> {
  const { inputs, run, event, github, ports, commitsToCheck } = context
  if (commitsToCheck.length > 0 && (await allMerges(run, commitsToCheck, github.requestWithRetry))) {
    return skip('every non-merge commit in the push is by one of skip-authors')
  }
  const previous = await findPreviousRun(writers, context)
  if (previous?.unfinished) {
    ports.log(
      "This is a re-run, and an earlier attempt didn't see its job finish: waiting for that job, sending nothing.",
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
  const { task } = inputs
  const redact = createKeyRedactor(inputs.apiKey)
  const composeWith = (...more: string[]): string =>
    composePrompt([task.prompt, ...more].join('\n\n'), changes, { ...context, redact })
  return previous === undefined || task.kind === 'message'
    ? { ...task, prompt: composeWith() }
    : continueOrCreate(previous, composeWith, context)
}

/** The writer of the comment, if the step keeps one and there is a pull request or an issue for it. */
function commentWriterFor(context: PlanContext): StateWriter | undefined {
  const { inputs, event, ports } = context
  const { jobScope, issueNumber } = inputs
  const decides = jobScope !== 'run'
  if (!decides && !inputs.comment) return undefined
  const needsEvent = jobScope === 'issue' || /^(?:pull_request|issue_comment)/.test(event.name)
  if (event.problem !== undefined && decides && needsEvent && issueNumber === undefined) {
    throw new ActionError(
      'github',
      `Can't tell which ${jobScope === 'issue' ? 'issue' : 'pull request'} this is: ${event.problem}.`,
      'Use a runner that provides the event payload, or set issue-number.',
    )
  }
  const conversation = findConversation(event, jobScope, issueNumber)
  if (conversation !== undefined) return createCommentWriter(memoryOptions(context), conversation, decides)
  const what = decides ? 'pull request' : 'pull request or issue'
  const consequence = decides
    ? 'starting a separate job, as with job-scope: run'
    : 'there is nothing to comment on'
  ports.log(
    `The event (${event.name}) is not about a single ${what}, and issue-number is not set: ${consequence}.`,
  )
  const ofRun = decides && inputs.comment ? findConversation(event, 'run', issueNumber) : undefined
  return ofRun && createCommentWriter(memoryOptions(context), ofRun, false)
}

function checkWriterFor(context: PlanContext): StateWriter | undefined {
  const { inputs, event, ports } = context
  if (!inputs.check) return undefined
  const writer = createCheckWriter(memoryOptions(context))
  if (writer === undefined) {
    const consequence =
      inputs.jobScope === 'run' ? "a re-run won't find this run's job" : 'only the comment records the job'
    ports.log(`The event (${event.name}) names no commit, so there is no check: ${consequence}.`)
  }
  return writer
}

function memoryOptions({ inputs, run, event, access, github, ports, nonce }: PlanContext) {
  const { projectId: project, apiKey, jobKey } = inputs
  const { deadline, log, warn } = ports
  return { run, event, github, project, apiKey, jobKey, redact: access.redact, nonce, deadline, log, warn }
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
    ports.warn(describeWarning(thrown, "The prompt doesn't say what changed."))
    return unknownChanges('The list of changes could not be read.')
  }
}
