/** What the step keeps at GitHub: the comment on a pull request or an issue, and the check run on a commit. */

import type { Redact } from '../escape.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { Deadline } from '../net/deadline.js'
import { createCheckStore } from './check-run.js'
import type { GitHub } from './client.js'
import { type Conversation, createCommentStore } from './comment.js'
import { deriveMarkerKey, type Identity } from './marker.js'
import { StateWriter } from './state-writer.js'

export interface MemoryOptions {
  readonly run: RunEnvironment
  readonly event: RunEvent
  readonly github: GitHub
  readonly project: string
  readonly jobKey: string
  /** Undefined if it is missing or invalid: nothing can be stored. */
  readonly apiKey: string | undefined
  /** GitHub knows nothing of the masks of the log. */
  readonly redact: Redact
  readonly nonce: () => string
  readonly deadline: Deadline
  readonly log: (line: string) => void
  readonly warn: (line: string) => void
}

/** @param decides later runs need what the comment stores */
export function createCommentWriter(
  options: MemoryOptions & { readonly apiKey: string },
  conversation: Conversation,
  decides: boolean,
): StateWriter {
  const { run, apiKey, github, nonce, deadline, log, warn } = options
  const identity = createIdentity(options, String(conversation.number))
  const markerKey = deriveMarkerKey(apiKey)
  return new StateWriter({
    store: createCommentStore({ run, conversation, identity, markerKey, github, nonce }),
    run,
    role: decides ? 'decides' : 'informs',
    // A comment that isn't used as storage reports a job, not an attempt.
    accepts: ({ conclusion, hasJob }) =>
      conclusion !== 'skipped' && (decides || hasJob || conclusion !== undefined),
    consequence: '',
    ended: deadline.signal,
    log,
    warn,
  })
}

/** The writer of the check; undefined if the event has no commit to put one on. */
export function createCheckWriter(options: MemoryOptions): StateWriter | undefined {
  const { run, event, jobKey, apiKey, github, redact, nonce, deadline, log, warn } = options
  const sha = commitOf(run, event)
  if (sha === '') return undefined
  // job-key is redacted before it is shortened: half a key would not be found.
  const name = redact(checkName(run, redact(jobKey)))
  const identity = createIdentity(options, sha)
  const markerKey = apiKey === undefined ? undefined : deriveMarkerKey(apiKey)
  return new StateWriter({
    store: createCheckStore({ run, sha, name, identity, markerKey, github, nonce }),
    run,
    role: 'remembers',
    accepts: () => true,
    consequence:
      markerKey === undefined
        ? 'The check may be missing.'
        : "The check may be missing or out of date, and a re-run may not find this run's job.",
    ended: deadline.signal,
    log,
    warn,
  })
}

/** What the comment is on, if the step can tell. */
export function findConversation(
  { pullRequest, issue }: RunEvent,
  scope: 'run' | 'pull-request' | 'issue',
  issueNumber: number | undefined,
): Conversation | undefined {
  const pull = { kind: 'pull request', permission: 'pull-requests: write' } as const
  const plain = { kind: 'issue', permission: 'issues: write' } as const
  if (pullRequest !== undefined && (issueNumber ?? pullRequest.number) === pullRequest.number) {
    return { ...pull, number: pullRequest.number }
  }
  if (issue !== undefined && (issueNumber ?? issue) === issue) {
    return scope === 'pull-request' && issueNumber === undefined ? undefined : { ...plain, number: issue }
  }
  if (issueNumber === undefined) return undefined
  // The number alone doesn't tell which of the two it is, and each needs a permission of its own.
  return scope === 'pull-request'
    ? { ...pull, number: issueNumber }
    : { ...plain, permission: `${plain.permission} or ${pull.permission}`, number: issueNumber }
}

/** On `issue_comment`, GITHUB_SHA is the default branch's, which the comment is not about. */
function commitOf(run: RunEnvironment, { name, headSha }: RunEvent): string {
  return name === 'issue_comment' ? '' : headSha || run.sha
}

function createIdentity({ run, project, jobKey }: MemoryOptions, place: string): Identity {
  const { repository, job, step } = run
  return { repository, place, workflow: workflowId(run), job, step, project, jobKey }
}

/**
 * The workflow's repository and path. An organisation's required workflow has the path of another repository, and the ref
 * may be a commit.
 */
export function workflowId({
  workflowRef,
  workflow,
}: Pick<RunEnvironment, 'workflowRef' | 'workflow'>): string {
  return workflowRef.replace(/(\.ya?ml)@.*$/i, '$1').replace(/@refs\/.*$/, '') || workflow
}

/** Names the runner's own workflow and job, and what may keep several steps of the job apart. */
export function checkName({ workflow, job, step }: RunEnvironment, jobKey: string): string {
  const details = [stepName(step), keyName(jobKey)].filter((part) => part !== '').join(', ')
  return `${workflow || 'Docs'} / ${job || 'docs'}: docs job${details && ` (${details})`}`
}

/** The step's id; or, of one without an id, which use of the action in the job it is. */
function stepName(step: string): string {
  return step.startsWith('__') ? (/_(\d+)$/.exec(step)?.[1] ?? '') : step
}

/** The values of a matrix leg as GitHub shows them, or the key as it is. */
function keyName(jobKey: string): string {
  try {
    const leg: unknown = JSON.parse(jobKey)
    if (typeof leg === 'object' && leg !== null) {
      const values = Object.values(leg).map((value) =>
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      )
      return shorten(values.join(', '))
    }
  } catch {
    // A key of the user's own.
  }
  return shorten(jobKey)
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length <= 100 ? line : `${line.slice(0, 99).toWellFormed()}…`
}
