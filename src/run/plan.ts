/** What a run does in view of what GitHub knows: skip, wait, message or create, and with which prompt. */

import type { Service } from '../agent/client.js'
import { type Job, pullRequestOf } from '../agent/job.js'
import { ActionError } from '../errors.js'
import { type RunEnvironment, type RunEvent, workflowPath } from '../event/event.js'
import { skipAuthors } from '../event/skip-authors.js'
import { allMerges, type FoundChanges, findChanges, unknownChanges } from '../github/changes.js'
import { type GitHub, type GitHubOptions, gitHub } from '../github/client.js'
import { isClosed, stepComment } from '../github/comment.js'
import { Commenter } from '../github/commenter.js'
import { type Memory, markerKey } from '../github/marker.js'
import type { Inputs, Task } from '../inputs/inputs.js'
import { matches } from '../inputs/path-patterns.js'
import { type ChangedFile, compose, type Happening } from '../prompt/compose.js'
import { follow } from './poll.js'
import type { Ports } from './ports.js'

/** What every part of the plan knows. */
interface Known {
  readonly inputs: Inputs
  readonly run: RunEnvironment
  readonly event: RunEvent
  readonly github: GitHub
  readonly service: Service
  readonly ports: Ports
  /** Random hexadecimal digits. */
  readonly nonce: () => string
  /** Takes the comment, where there is one, as soon as it is known. */
  readonly comment: (commenter: Commenter) => void
}

/** What planning needs: all of that, but how to reach GitHub in place of it. */
export interface PlanOptions extends Omit<Known, 'github'> {
  readonly access: Pick<GitHubOptions, 'token' | 'apiUrl' | 'proxies' | 'redact'>
}

export interface Plan {
  /** What to do, with the whole prompt; undefined: nothing, for the reason in `skip`. */
  readonly task: Task | undefined
  readonly skip?: string
}

/**
 * Decides what the run does. Only reads: from GitHub, and looks at the service.
 *
 * @throws ActionError `github` where something that decides can't be known
 * @throws Cancelled
 */
export async function plan({ access, ...rest }: PlanOptions): Promise<Plan> {
  const { inputs, run, event, ports } = rest
  const github = gitHub({ ...ports, ...access })
  const options: Known = { ...rest, github }
  const { unlessMerges } = skipAuthors(event, inputs.skipAuthors)
  if (unlessMerges.length > 0 && (await allMerges(run, unlessMerges, github.decide))) {
    return skipped('every commit of the push that is no merge is by one of skip-authors')
  }

  const commenter = commenterOf(options)
  if (commenter !== undefined) options.comment(commenter)
  const last = commenter?.decides ? await recall(commenter, options) : undefined
  if (last !== undefined && isUnfinishedRerun(last.memory, run) && last.job !== undefined) {
    ports.log(
      'This is a re-run of a run whose job was not told to its end: waiting for that job, sending nothing.',
    )
    return { task: { kind: 'attach', jobId: last.memory.jobId } }
  }
  if (inputs.task.kind === 'attach') return { task: inputs.task }

  const changes = await changesOf(options)
  if (changes?.cut) ports.log('GitHub cut the list of changed files: there are more.')
  const reason = reasonToSkip(inputs, event, changes)
  if (reason !== undefined) return skipped(reason)
  const prompt = promptOf(inputs.task.prompt, changes, options)
  return { task: last === undefined ? { ...inputs.task, prompt } : await continued(last, prompt, options) }
}

function skipped(skip: string): Plan {
  return { task: undefined, skip }
}

/** The comment, where there is a pull request to write it on. */
function commenterOf({ inputs, run, event, github, ports, nonce }: Known): Commenter | undefined {
  const memory = inputs.jobScope === 'pull-request'
  if (!memory && !inputs.comment) return undefined
  if (event.fault !== undefined && memory && /^(?:pull_request|issue_comment)/.test(event.name)) {
    throw new ActionError(
      'github',
      `The pull request is not known: ${event.fault}.`,
      'Run it on a runner that hands over the event.',
    )
  }
  if (event.pullRequest === undefined) {
    ports.log(
      `The event (${event.name}) has no pull request: ${memory ? 'a job of its own, as with job-scope: run' : 'there is none to comment on'}.`,
    )
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
  const comment = stepComment({ run, identity, key: markerKey(inputs.apiKey), github, nonce })
  return new Commenter(comment, run, memory, ports.warn)
}

/** What the last run on this pull request left, and its job as it is now; undefined where that is gone. */
interface Last {
  readonly memory: Memory
  readonly job: Job | 'not looked at' | undefined
}

async function recall(commenter: Commenter, options: Known): Promise<Last | undefined> {
  const { inputs, ports } = options
  const { found, foreign } = await commenter.comment.find({ decides: true })
  if (found === undefined) {
    if (foreign > 0) {
      ports.log(
        "There is a comment of this step that can't be verified (was the key changed?): it stays as it is, and a new one is made.",
      )
    }
    return undefined
  }
  commenter.adopt(found)
  const { memory } = found
  if (memory.jobId === '') {
    if (['sending', 'unknown'].includes(memory.state)) {
      ports.warn(
        "What became of the last create on this pull request is unknown: a job of it may exist. Look among the agent's jobs.",
      )
    }
    return undefined
  }
  ports.progress.jobId = memory.jobId
  return { memory, job: inputs.dryRun ? 'not looked at' : await lookAt(memory.jobId, options) }
}

/**
 * The states after which a re-run is a run like any other: the job was told to its end, or this run's message was never
 * taken.
 */
const FINISHED = ['pr-opened', 'no-changes', 'failed', 'archived', 'unsent']

function isUnfinishedRerun({ run: id, attempt, state }: Memory, run: RunEnvironment): boolean {
  return id === run.runId && attempt < Number(run.runAttempt) && !FINISHED.includes(state)
}

/** A message to the remembered job, or a new one where that one is of no use any more. */
async function continued({ memory: { jobId }, job }: Last, prompt: string, options: Known): Promise<Task> {
  if (job === 'not looked at') return { kind: 'message', jobId, prompt }
  const why = job === undefined ? 'is gone' : await uselessness(job, options)
  if (why === undefined) return { kind: 'message', jobId, prompt, before: job, orCreate: true }
  options.ports.log(`The job of the last run ${why}: creating a new one.`)
  options.ports.progress.jobId = ''
  return { kind: 'create', prompt }
}

async function uselessness({ status, link }: Job, { run, github }: Known): Promise<string | undefined> {
  if (status === 'failed') return 'failed'
  if (status === 'archived') return 'was archived'
  const here = link !== '' && new URL(link).origin === new URL(run.serverUrl).origin
  return here && (await isClosed(pullRequestOf(link), run, github))
    ? 'has a pull request that was merged or closed'
    : undefined
}

/** The job as it is now; undefined where there is none. */
async function lookAt(jobId: string, { inputs, service, ports }: Known): Promise<Job | undefined> {
  let job: Job | undefined
  const see = (seen: Job): void => {
    job = seen
  }
  const { timeoutMs } = inputs
  const wait = {
    jobId,
    after: { kind: 'nothing' },
    once: true,
    pollIntervalMs: undefined,
    timeoutMs,
  } as const
  try {
    const end = await follow(wait, service, { ...ports, see })
    if (end.kind !== 'deadline') return job
  } catch (thrown) {
    if (thrown instanceof ActionError && thrown.code === 'not-found') return undefined
    throw thrown
  }
  throw new ActionError(
    'network',
    "The time was over before the service told of the last run's job. Nothing was sent.",
    'Run it again later, or raise timeout-minutes.',
  )
}

/** The changes where they are asked for. Where only the context needs them, a fault is a warning. */
async function changesOf({ inputs, run, event, github, ports }: Known): Promise<FoundChanges | undefined> {
  const decides = inputs.paths.length > 0
  if (!decides && inputs.context === 'none') return undefined
  if (event.fault !== undefined && decides) {
    throw new ActionError(
      'github',
      `It is not known what changed: ${event.fault}.`,
      'Run it on a runner that hands over the event.',
    )
  }
  try {
    return await findChanges(run, event, decides ? github.decide : github.ask)
  } catch (thrown) {
    if (decides || !(thrown instanceof ActionError)) throw thrown
    ports.warn(`${thrown.message} The prompt goes without the changes. ${thrown.advice}`)
    return unknownChanges('The list of changes could not be read.')
  }
}

/** A list that GitHub cut, or that is not known, is no reason; nor is there one for a person who pressed the button. */
function reasonToSkip(
  { paths }: Inputs,
  { name }: RunEvent,
  changes: FoundChanges | undefined,
): string | undefined {
  if (changes === undefined || name === 'workflow_dispatch') return undefined
  if (name === 'schedule' && changes.empty) return 'there is no commit since the last successful run'
  if (paths.length === 0 || changes.cut || changes.missing !== undefined) return undefined
  return changes.files.some((file) => counts(paths, file))
    ? undefined
    : 'no changed file matches context-paths'
}

/** A file that was renamed counts by either name. */
function counts(paths: Inputs['paths'], { path, previousPath = path }: ChangedFile): boolean {
  return matches(paths, path) || matches(paths, previousPath)
}

function promptOf(
  words: string,
  changes: FoundChanges | undefined,
  { inputs, run, event, nonce }: Known,
): string {
  if (inputs.context === 'none' || changes === undefined) return words
  const files = changes.files.filter((file) => counts(inputs.paths, file))
  const left = changes.files.length - files.length
  return compose(words, {
    level: inputs.context,
    happening: happeningOf(run, event),
    changes: { ...changes, files },
    boundary: nonce(),
    left,
  })
}

function happeningOf(run: RunEnvironment, event: RunEvent): Happening {
  const { pullRequest, push, comment } = event
  const facts: Record<string, string> = pullRequest
    ? {
        number: String(pullRequest.number),
        title: pullRequest.title,
        author: pullRequest.author,
        link: pullRequest.url,
        base: pullRequest.base,
        head: pullRequest.head,
        body: pullRequest.body,
        ...(comment && { 'comment by': comment.author, comment: comment.body }),
      }
    : {
        ref: run.ref,
        commit: run.sha,
        ...(push && {
          sender: push.sender,
          commits: push.commits.map(({ sha, message }) => `${sha.slice(0, 7)} ${message}`).join('\n'),
        }),
      }
  return {
    event: event.name,
    repository: run.repository,
    summary:
      event.action === ''
        ? `The event ${event.name} happened.`
        : `The event ${event.name} happened (${event.action}).`,
    facts: Object.entries(facts)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => ({ name, value })),
  }
}
