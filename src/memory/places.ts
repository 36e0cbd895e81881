/** What the step keeps at GitHub: the comment on a pull request or an issue, and the check run on a commit. */

import { type RunEnvironment, type RunEvent, withoutRef } from '../event/event.js'
import type { GitHub } from '../github/client.js'
import type { Inputs } from '../inputs/inputs.js'
import { describeJobKey } from '../inputs/job-key.js'
import type { Step } from '../run/step.js'
import { openCheckRuns } from './check-run.js'
import { type Conversation, openComments } from './comment.js'
import { deriveMarkerKeys } from './marker.js'
import { type Place, Store } from './store.js'
import { MemoryWriter } from './writer.js'

/** What a writer needs of a step. */
type MemoryOptions = Pick<
  Step,
  'inputs' | 'run' | 'event' | 'redact' | 'nonce' | 'clock' | 'deadline' | 'log' | 'warn' | 'note'
>

/** @param decides later runs need what the comment stores */
export function createCommentWriter(
  step: MemoryOptions,
  github: GitHub,
  conversation: Conversation,
  decides: boolean,
): MemoryWriter {
  const place = openComments(github, step.run.repository, conversation)
  const store = createStore(step, place, String(conversation.number))
  const use = decides
    ? ({ role: 'decides', soleReader: 'a later run' } as const)
    : ({ role: 'informs', soleReader: '' } as const)
  return new MemoryWriter({ ...step, store, ...use })
}

/** The writer of the check; undefined if the event has no commit to put one on. */
export function createCheckWriter(step: MemoryOptions, github: GitHub): MemoryWriter | undefined {
  const { run, event, inputs, redact } = step
  const sha = commitOf(run, event)
  if (sha === '') return undefined
  // job-key is redacted before it is shortened: half a key would not be found.
  const name = redact(checkName(run, redact(inputs.jobKey)))
  const store = createStore(step, openCheckRuns(github, run.repository, sha, name), sha)
  const { jobScope, issueNumber } = inputs
  const isInComment = jobScope !== 'run' && findConversation(event, jobScope, issueNumber) !== undefined
  return new MemoryWriter({ ...step, store, role: 'remembers', soleReader: isInComment ? '' : 'a re-run' })
}

function createStore({ inputs, run, nonce }: MemoryOptions, place: Place, where: string): Store {
  const { repository, job, step } = run
  const { projectId: project, apiKey, previousApiKey, jobKey } = inputs
  const identity = { repository, place: where, workflow: workflowId(run), job, step, project, jobKey }
  const markerKeys = apiKey === '' ? undefined : deriveMarkerKeys(apiKey, previousApiKey)
  return new Store({ place, run, identity, markerKeys, nonce: nonce() })
}

/** What the comment is on, if the step can tell. */
export function findConversation(
  { pullRequest, issue }: RunEvent,
  scope: Inputs['jobScope'],
  issueNumber: number | undefined,
): Conversation | undefined {
  const number = issueNumber ?? pullRequest?.number ?? issue
  if (number === undefined) return undefined
  const pull = { kind: 'pull request', number, permission: 'pull-requests: write' } as const
  const plain = { kind: 'issue', number, permission: 'issues: write' } as const
  if (number === pullRequest?.number) return pull
  if (number === issue) return scope === 'pull-request' && issueNumber === undefined ? undefined : plain
  // The number alone doesn't tell which of the two it is, and each needs a permission of its own.
  return scope === 'pull-request'
    ? pull
    : { ...plain, permission: `${plain.permission} or ${pull.permission}` }
}

/** On `issue_comment`, GITHUB_SHA is the default branch's, which the comment is not about. */
function commitOf(run: RunEnvironment, { name, headSha }: RunEvent): string {
  return name === 'issue_comment' ? '' : headSha || run.sha
}

/** The workflow's repository and path. An organisation's required workflow has the path of another repository. */
export function workflowId(run: Pick<RunEnvironment, 'workflowRef' | 'workflow'>): string {
  return withoutRef(run.workflowRef) || run.workflow
}

/** Names the runner's own workflow and job, and what may keep several steps of the job apart. */
export function checkName({ workflow, job, step }: RunEnvironment, jobKey: string): string {
  const details = [stepName(step), describeJobKey(jobKey)].filter((part) => part !== '').join(', ')
  return `${workflow || 'Docs'} / ${job || 'docs'}: docs job${details && ` (${details})`}`
}

/** The step's id; or, of one without an id, which use of the action in the job it is. */
function stepName(step: string): string {
  return step.startsWith('__') ? (/_(\d+)$/.exec(step)?.[1] ?? '') : step
}
