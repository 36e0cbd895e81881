/** What the runner says about the run: the event and its payload, and which step this is. */

import { readFileSync } from 'node:fs'
import { getArray, getPath, getSha, getString } from './payload.js'

export type RunEnvironment = Readonly<{
  // [github.event]
  eventName: string
  eventPath: string
  // [input.key.empty]
  actor: string
  /** `owner/repo`. [memory.marker.signed] */
  repository: string
  // [context.facts.event]
  ref: string
  sha: string
  // [memory.identity.same-attempt]
  runId: string
  /** From 1. [memory.identity.same-attempt] */
  runAttempt: number
  /**
   * How many runs the workflow has had, with this one; 0 if the runner doesn't say.
   * [range.schedule.unlisted]
   */
  runNumber: number
  /** `owner/repo/path@ref` of the workflow. [memory.identity] */
  workflowRef: string
  /** The workflow's name, or its path if it has none. [memory.identity] */
  workflow: string
  // [memory.identity]
  job: string
  /** The step's id, or a name that the runner derives from the action's. [memory.identity] */
  step: string
  // [secret.key.where]
  apiUrl: string
  serverUrl: string
}>

type PullRequestEvent = Readonly<{
  // [github.event]
  number: number
  // [access.words.asked]
  author: string
  /**
   * Its head is in another repository, or in one that was deleted; undefined if the payload has no
   * head, as that of a comment: its branches are still to be read.
   * [input.key.empty] [access.pull-request.readers] [context.facts.event]
   */
  fromFork: boolean | undefined
}>

export type Commit = Readonly<{
  // [merge.whole]
  sha: string
  /**
   * The author's login; empty if the address in the commit belongs to no account.
   * [skip.authors.push]
   */
  author: string
  // [context.facts.commits]
  authorName: string
  message: string
  // [skip.schedule.agents-own]
  isMerge?: boolean
}>

/** Git's name for no commit, as in a push of a new branch. [range.push] [merge.asked-when] */
export const ZERO_SHA = /^0+$/

/**
 * GitHub lists no more commits in the payload of a push
 * (docs.github.com/en/webhooks/webhook-events-and-payloads#push). [skip.authors.unlisted]
 * [context.facts.commits]
 */
export const PUSH_COMMITS_LIMIT = 2048

export type RunEvent = Readonly<{
  // [github.event]
  name: string
  action: string
  /**
   * The account that triggered the event; empty if the payload doesn't say.
   * [skip.authors.cause]
   */
  sender: string
  /** The pull request that the event is about, also if it is a comment on one. [github.event] */
  pullRequest: PullRequestEvent | undefined
  /** The number of the issue that it is about, if that is not a pull request. [github.event] */
  issue: number | undefined
  /**
   * Who wrote the comment, the review or the answer that the event is about; empty if that account
   * is gone. [access.events.others]
   */
  authors: readonly string[]
  // [github.event]
  payload: unknown
  /**
   * Why the payload can't be read, for the user; the event then has nothing but its name.
   * [merge.unreadable]
   */
  problem: string | undefined
}>

/**
 * Never throws: an unreadable payload is a `problem`, reported by whoever needs the payload.
 * [github.event]
 */
export function readEvent({ eventName: name, eventPath }: RunEnvironment): RunEvent {
  try {
    const payload: unknown = JSON.parse(readFileSync(eventPath, 'utf8'))
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
      throw new SyntaxError()
    return parseEvent(name, payload)
  } catch (thrown) {
    // [merge.unreadable]
    const reason = (thrown as NodeJS.ErrnoException).code ?? 'it is not a JSON object'
    const problem = `the event payload (GITHUB_EVENT_PATH, ${JSON.stringify(eventPath)}) can't be read: ${reason}`
    return { ...parseEvent(name, undefined), problem }
  }
}

// [github.event]
export function parseEvent(name: string, payload: unknown): RunEvent {
  // [access.events.others]
  const texts = ['comment', 'review', 'answer'].filter(
    (part) => getPath(payload, part) !== undefined,
  )
  // [github.event]
  return {
    name,
    action: getString(payload, 'action'),
    sender: getString(payload, 'sender.login'),
    pullRequest: readPullRequest(payload),
    issue:
      getPath(payload, 'issue.pull_request') === undefined
        ? readNumber(payload, 'issue.number')
        : undefined,
    // [access.events.others]
    authors: [...new Set(texts.map((part) => getString(payload, `${part}.user.login`)))],
    // [github.event]
    payload,
    problem: undefined,
  }
}

// [github.event]
function readNumber(payload: unknown, path: string): number | undefined {
  const number = getPath(payload, path)
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0
    ? number
    : undefined
}

// [github.event]
function readPullRequest(payload: unknown): PullRequestEvent | undefined {
  // A comment on a pull request is one on an issue that has a pull_request.
  const pull =
    getPath(payload, 'pull_request') ??
    (getPath(payload, 'issue.pull_request') && getPath(payload, 'issue'))
  const number = readNumber(pull, 'number')
  if (number === undefined) return undefined
  const headName = getString(pull, 'head.repo.full_name')
  // [input.key.empty] [github.permission.named]
  const isSame = headName !== '' && headName === getString(pull, 'base.repo.full_name')
  // [github.event]
  return {
    number,
    // [access.words.asked] [skip.authors.cause]
    author: getString(pull, 'user.login'),
    // [input.key.empty] [access.pull-request.readers] [context.facts.event]
    fromFork: getPath(pull, 'head') === undefined ? undefined : !isSame,
  }
}

// [skip.authors.push]
export function pushedCommits({ name, payload }: RunEvent): readonly Commit[] {
  return (name === 'push' ? getArray(payload, 'commits') : []).map((commit) => ({
    // [merge.whole] [merge.asked-when]
    sha: getSha(commit, 'id'),
    // [skip.authors.push]
    author: getString(commit, 'author.username'),
    // [context.facts.commits]
    authorName: getString(commit, 'author.name'),
    // [context.facts.commits] [merge.whole]
    message: getString(commit, 'message'),
  }))
}

/**
 * `owner/repo/path` of a workflow; its ref may be a commit.
 * [memory.identity] [range.schedule.last-success]
 */
export function withoutRef(workflowRef: string): string {
  return workflowRef.replace(/(\.ya?ml)@.*$/i, '$1').replace(/@refs\/.*$/, '')
}

// [input.key.empty]
type About = Pick<RunEvent, 'name' | 'pullRequest'>

/**
 * Whether the job's token can only read, whatever its permissions are: the run is of a pull request
 * from a fork. [input.key.empty] [github.permission.named]
 */
export function hasReadOnlyToken({ name, pullRequest }: About): boolean {
  // pull_request_target and the like run with the token and the secrets of the base repository.
  return pullRequest?.fromFork === true && /^pull_request(?:_review|_review_comment)?$/.test(name)
}

/**
 * Whether the run is about a pull request that isn't merged yet: its docs have to wait for it.
 * [report.review]
 */
export function isCodeOpen({ pullRequest, payload }: RunEvent): boolean {
  if (pullRequest === undefined) return false
  return !['pull_request', 'issue'].some((name) => getString(payload, `${name}.state`) === 'closed')
}

/**
 * Why the runner passed this run no Actions secrets, for the user; undefined if nothing suggests
 * that it withheld them.
 *
 * Neither a pull request from a fork nor a run by Dependabot gets them
 * (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request
 * and docs.github.com/en/code-security/reference/supply-chain-security/dependabot-on-actions).
 * [input.key.empty]
 */
export function explainMissingSecrets(event: About, actor: string): string | undefined {
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
