/**
 * What the step keeps at GitHub: the comment on a pull request or an issue, and the check run on a
 * commit.
 */

import { type RunEnvironment, type RunEvent, withoutRef } from '../event/event.js'
import type { GitHub } from '../github/client.js'
import type { Inputs } from '../inputs/inputs.js'
import { describeJobKey } from '../inputs/job-key.js'
import type { Step } from '../run/step.js'
import { oneLine } from '../text/escape.js'
import { openCheckRuns } from './check-run.js'
import { type Conversation, openComments } from './comment.js'
import { deriveMarkerKeys } from './marker.js'
import { type Role, Slot } from './slot.js'

export const DECIDES: Role = {
  is: 'decides',
  stale: 'The comment may be out of date',
  soleReader: () => 'a later run',
}

/** Only people read it: it is first written when there is a job, or a result. */
export const INFORMS: Role = {
  is: 'informs',
  stale: 'The comment may be missing or out of date',
  soleReader: () => '',
}

export function openComment(step: Step, github: GitHub): Slot | undefined {
  const { inputs, event, log } = step
  const { jobScope, issueNumber } = inputs
  const decides = jobScope !== 'run'
  if (!decides && !inputs.comment) return undefined
  const conversation = findConversation(event, jobScope, issueNumber)
  if (conversation !== undefined)
    return createCommentSlot(step, github, conversation, decides ? DECIDES : INFORMS)
  const what = decides ? 'pull request' : 'pull request or issue'
  const consequence = decides ? 'job-scope works like run' : 'there is nothing to comment on'
  log(
    `The event (${event.name}) is not about a single ${what}, and issue-number is not set: ${consequence}.`,
  )
  const ofRun = decides && inputs.comment ? findConversation(event, 'run', issueNumber) : undefined
  return ofRun && createCommentSlot(step, github, ofRun, INFORMS)
}

function createCommentSlot(
  step: Step,
  github: GitHub,
  conversation: Conversation,
  role: Role,
): Slot {
  const place = openComments(github, step.environment.repository, conversation)
  return new Slot({ ...step, ...signing(step, String(conversation.number)), place, role })
}

export function openCheck(
  step: Step,
  github: GitHub,
  isInComment: () => boolean,
): Slot | undefined {
  const { environment, event, inputs, redact } = step
  const sha = commitOf(environment, event)
  if (sha === '') {
    const consequence = "without a comment, a re-run won't find this run's docs job"
    step.log(`The event (${event.name}) names no commit, so there is no check: ${consequence}.`)
    return undefined
  }
  // job-key is redacted before it is shortened: half a key would not be found.
  const name = oneLine(redact(checkName(environment, redact(inputs.jobKey))))
  const place = openCheckRuns(github, environment.repository, sha, name)
  const role: Role = {
    is: 'remembers', // A re-run uses it if it can.
    stale: 'The check may be missing or out of date',
    soleReader: () => (isInComment() ? '' : 'a re-run'),
  }
  return new Slot({ ...step, ...signing(step, sha), place, role })
}

function signing({ inputs, environment, nonce }: Step, where: string) {
  const { repository, job, step } = environment
  const { projectId: project, apiKey, previousApiKey, jobKey } = inputs
  const identity = {
    repository,
    place: where,
    workflow: workflowId(environment),
    job,
    step,
    project,
    jobKey,
  }
  const markerKeys = apiKey === '' ? undefined : deriveMarkerKeys(apiKey, previousApiKey)
  return { identity, markerKeys, nonce: nonce() }
}

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
  if (number === issue)
    return scope === 'pull-request' && issueNumber === undefined ? undefined : plain
  // The number alone doesn't tell which of the two it is, and each needs a permission of its own.
  return scope === 'pull-request'
    ? pull
    : { ...plain, permission: `${plain.permission} or ${pull.permission}` }
}

/** On `issue_comment`, GITHUB_SHA is the default branch's, which the comment is not about. */
function commitOf(environment: RunEnvironment, { name, headSha }: RunEvent): string {
  return name === 'issue_comment' ? '' : headSha || environment.sha
}

/**
 * The workflow's repository and path. An organisation's required workflow has the path of another
 * repository.
 */
export function workflowId(environment: Pick<RunEnvironment, 'workflowRef' | 'workflow'>): string {
  return withoutRef(environment.workflowRef) || environment.workflow
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
