/** What the runner says about the run: the event and its payload, and which step this is. */

import { readFileSync } from 'node:fs'
import { getArray, getPath, getSha, getString } from './payload.js'

export type RunEnvironment = Readonly<{
  eventName: string
  eventPath: string
  actor: string
  /** It is `owner/repo`. */
  repository: string
  ref: string
  sha: string
  runId: string
  /** It counts from 1. */
  runAttempt: number
  /** How many runs the workflow has had, with this one; 0 if the runner doesn't say. */
  runNumber: number
  /** It is `owner/repo/path@ref` of the workflow. */
  workflowRef: string
  /** It is the workflow's name, or its path if it has none. */
  workflow: string
  job: string
  /** The step's id, or a name that the runner derives from the action's. */
  step: string
  apiUrl: string
  serverUrl: string
}>

type PullRequestEvent = Readonly<{
  number: number
  author: string
  /**
   * Whether its head is in another repository, or in one that was deleted; undefined if the payload
   * has no head, as that of a comment: its branches are still to be read.
   */
  fromFork: boolean | undefined
}>

export type Commit = Readonly<{
  sha: string
  /** The author's login; empty if the address in the commit belongs to no account. */
  author: string
  authorName: string
  message: string
  isMerge?: boolean
}>

/** Git names no commit like this, as in a push of a new branch. */
export const ZERO_SHA = /^0+$/

/**
 * GitHub lists no more commits in the payload of a push
 * (docs.github.com/en/webhooks/webhook-events-and-payloads#push). [skip.authors.unlisted]
 */
export const PUSH_COMMITS_LIMIT = 2048

export type RunEvent = Readonly<{
  name: string
  action: string
  /** The account that triggered the event; empty if the payload doesn't say. */
  sender: string
  /** The pull request that the event is about, also if it is a comment on one. */
  pullRequest: PullRequestEvent | undefined
  /** The number of the issue that it is about, if that is not a pull request. */
  issue: number | undefined
  /** Who wrote the comment, review or answer; empty if that account is gone. */
  authors: readonly string[]
  payload: unknown
  /** Why the payload can't be read, for the user; the event then has nothing but its name. */
  problem?: string
}>

/** A payload that can't be read is a `problem` of whoever needs it. [github.event] */
export function readEvent({ eventName: name, eventPath }: RunEnvironment): RunEvent {
  try {
    const payload: unknown = JSON.parse(readFileSync(eventPath, 'utf8'))
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
      throw new SyntaxError()
    return parseEvent(name, payload)
  } catch (thrown) {
    const reason = (thrown as NodeJS.ErrnoException).code ?? 'it is not a JSON object'
    const problem = `the event payload (GITHUB_EVENT_PATH, ${JSON.stringify(eventPath)}) can't be read: ${reason}`
    return { ...parseEvent(name), problem }
  }
}

export function parseEvent(name: string, payload?: unknown): RunEvent {
  const texts = ['comment', 'review', 'answer'].filter(
    (part) => getPath(payload, part) !== undefined,
  )
  return {
    name,
    action: getString(payload, 'action'),
    sender: getString(payload, 'sender.login'),
    pullRequest: readPullRequest(payload),
    issue:
      getPath(payload, 'issue.pull_request') === undefined
        ? readNumber(payload, 'issue.number')
        : undefined,
    authors: [...new Set(texts.map((part) => getString(payload, `${part}.user.login`)))],
    payload,
  }
}

function readNumber(payload: unknown, path: string): number | undefined {
  const number = getPath(payload, path)
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0
    ? number
    : undefined
}

function readPullRequest(payload: unknown): PullRequestEvent | undefined {
  // A comment on a pull request is one on an issue that has a pull_request.
  const pull =
    getPath(payload, 'pull_request') ??
    (getPath(payload, 'issue.pull_request') && getPath(payload, 'issue'))
  const number = readNumber(pull, 'number')
  if (number === undefined) return undefined
  const headName = getString(pull, 'head.repo.full_name')
  const isSame = headName !== '' && headName === getString(pull, 'base.repo.full_name')
  return {
    number,
    author: getString(pull, 'user.login'),
    fromFork: getPath(pull, 'head') === undefined ? undefined : !isSame,
  }
}

export function pushedCommits({ name, payload }: RunEvent): readonly Commit[] {
  return (name === 'push' ? getArray(payload, 'commits') : []).map((commit) => ({
    sha: getSha(commit, 'id'),
    author: getString(commit, 'author.username'),
    authorName: getString(commit, 'author.name'),
    message: getString(commit, 'message'),
  }))
}

/** Finds `owner/repo/path` of a workflow; its ref may be a commit. */
export function withoutRef(workflowRef: string): string {
  return workflowRef.replace(/(\.ya?ml)@.*$/i, '$1').replace(/@refs\/.*$/, '')
}

/** Whether the job's token can only read: the run is of a fork's pull request. */
export function hasReadOnlyToken({ name, pullRequest }: RunEvent): boolean {
  // pull_request_target and the like run with the token and the secrets of the base repository.
  return pullRequest?.fromFork === true && /^pull_request(?:_review|_review_comment)?$/.test(name)
}

/** Whether the pull request isn't merged yet: its docs have to wait for it. [report.review] */
export function isCodeOpen({ pullRequest, payload }: RunEvent): boolean {
  if (pullRequest === undefined) return false
  return !['pull_request', 'issue'].some((name) => getString(payload, `${name}.state`) === 'closed')
}

/** Whether nobody asked for docs by what happened to a pull request. */
export function isUnasked({ name, action, pullRequest }: RunEvent): boolean {
  return pullRequest !== undefined && UNASKED.test(`${name} ${action}`)
}

const UNASKED = /^pull_request(?:_target)? (?:opened|synchronize|reopened|ready_for_review|edited)$/

/**
 * Why the runner passed this run no Actions secrets, for the user; undefined if nothing suggests
 * that it withheld them.
 *
 * Neither a pull request from a fork nor a run by Dependabot gets them
 * (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request
 * and docs.github.com/en/code-security/reference/supply-chain-security/dependabot-on-actions).
 * [input.key.empty]
 */
export function explainMissingSecrets(event: RunEvent, actor: string): string | undefined {
  if (actor === 'dependabot[bot]') {
    return (
      'This run was triggered by Dependabot, which gets Dependabot secrets but no Actions secrets. ' +
      "Add the key to the repository's Dependabot secrets too, or skip the step: " +
      "`if: github.actor != 'dependabot[bot]'`."
    )
  }
  if (hasReadOnlyToken(event)) {
    return (
      'This pull request comes from a fork, and such runs get no secrets. ' +
      `Skip the step for forks: \`if: github.event_name != '${event.name}' || github.event.pull_request.head.repo.full_name == github.repository\`. ` +
      'To get docs for one, let a maintainer comment `/docs` (the recipe command.yml), or send it after the merge (on-merge.yml).'
    )
  }
  return undefined
}
