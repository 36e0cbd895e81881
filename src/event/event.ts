/** What the runner says about the run: the event and its payload, and which step this is. */

import { readFileSync } from 'node:fs'
import { getArray, getPath, getSha, getString } from './payload.js'

/** The parts of the runner's environment that describe the run. */
export interface RunEnvironment {
  readonly eventName: string
  /** The file with the event's payload as JSON. */
  readonly eventPath: string
  readonly actor: string
  /** `owner/repo`. */
  readonly repository: string
  readonly ref: string
  readonly sha: string
  readonly runId: string
  readonly runAttempt: string
  /** `owner/repo/path@ref` of the workflow. */
  readonly workflowRef: string
  /** The workflow's name, or its path if it has none. */
  readonly workflow: string
  readonly job: string
  /** The step's id, or a name that the runner derives from the action's. */
  readonly step: string
  readonly apiUrl: string
  readonly serverUrl: string
}

export interface PullRequestEvent {
  readonly number: number
  readonly author: string
  /** Its head is in another repository, or in one that was deleted. */
  readonly fromFork: boolean
}

export interface Commit {
  readonly sha: string
  /** The author's login; empty if the address in the commit belongs to no account. */
  readonly author: string
  /** What the commit itself says. */
  readonly authorName: string
  readonly message: string
}

export interface PushEvent {
  /** Forty zeros for a new branch or tag. For a tag it may be the name of a tag object, like `after`. */
  readonly before: string
  /** Forty zeros if it was deleted. */
  readonly after: string
  /** The commit that is pushed, also if `after` is a tag object. */
  readonly headCommit: string
  readonly commits: readonly Commit[]
}

/** GitHub lists no more commits in the payload of a push (docs.github.com/en/webhooks/webhook-events-and-payloads#push). */
export const PUSH_COMMITS_LIMIT = 2048

export interface ReleaseEvent {
  readonly tag: string
  readonly preRelease: boolean
  /** In ISO 8601; empty for a draft. */
  readonly publishedAt: string
}

/** The run that a `workflow_run` event is about. */
export interface PrecedingRun {
  readonly event: string
  readonly actor: string
  /** `owner/repo` of the branch it ran on; another one for a fork. */
  readonly headRepository: string
}

export interface RunEvent {
  readonly name: string
  readonly action: string
  /** The account that caused the event; empty if the payload doesn't say. */
  readonly sender: string
  /** The pull request that the event is about, also if it is a comment on one. */
  readonly pullRequest: PullRequestEvent | undefined
  /** The number of the issue that the event is about, if it is not a pull request. */
  readonly issue: number | undefined
  /** The commit that the payload names as the head, or empty. */
  readonly headSha: string
  readonly push: PushEvent | undefined
  readonly release: ReleaseEvent | undefined
  /** The commits that a merge queue is about to add to a branch. */
  readonly mergeGroup: { readonly base: string; readonly head: string } | undefined
  readonly precedingRun: PrecedingRun | undefined
  /** Who wrote the comment or the review that the event is about; empty if that account is gone. */
  readonly commentAuthor: string | undefined
  /** As it came, for what only the prompt needs. */
  readonly payload: unknown
  /** Why the payload can't be read, for the user; the event then has nothing but its name. */
  readonly problem: string | undefined
}

/** An event of which nothing but its name is known. */
export function emptyEvent(name: string, problem?: string): RunEvent {
  return {
    name,
    action: '',
    sender: '',
    pullRequest: undefined,
    issue: undefined,
    headSha: '',
    push: undefined,
    release: undefined,
    mergeGroup: undefined,
    precedingRun: undefined,
    commentAuthor: undefined,
    payload: undefined,
    problem,
  }
}

/** Reads the event. Never throws: an unreadable payload is a `problem`, reported by whoever needs the payload. */
export function readEvent({ eventName: name, eventPath }: RunEnvironment): RunEvent {
  try {
    return parseEvent(name, JSON.parse(readFileSync(eventPath, 'utf8')))
  } catch (thrown) {
    const reason =
      thrown instanceof SyntaxError
        ? 'it is not JSON'
        : ((thrown as NodeJS.ErrnoException).code ?? 'unreadable')
    return emptyEvent(
      name,
      `the event payload (GITHUB_EVENT_PATH, ${JSON.stringify(eventPath)}) can't be read: ${reason}`,
    )
  }
}

/** @param payload parsed, of any shape */
export function parseEvent(name: string, payload: unknown): RunEvent {
  const comment = getPath(payload, 'comment') ?? getPath(payload, 'review')
  return {
    ...emptyEvent(name),
    action: getString(payload, 'action'),
    sender: getString(payload, 'sender.login'),
    pullRequest: readPullRequest(payload),
    issue:
      getPath(payload, 'issue.pull_request') === undefined ? readNumber(payload, 'issue.number') : undefined,
    headSha: readHeadSha(name, payload),
    push: name === 'push' ? readPush(payload) : undefined,
    release: name === 'release' ? readRelease(payload) : undefined,
    mergeGroup: name === 'merge_group' ? readMergeGroup(payload) : undefined,
    precedingRun: name === 'workflow_run' ? readPrecedingRun(payload) : undefined,
    commentAuthor: comment === undefined ? undefined : getString(comment, 'user.login'),
    payload,
  }
}

/** Where GITHUB_SHA is another commit: a merge of the pull request, or the head of the default branch. */
function readHeadSha(name: string, payload: unknown): string {
  const heads = ['pull_request.head.sha', 'merge_group.head_sha', 'workflow_run.head_sha']
  const paths = [
    ...heads,
    'check_suite.head_sha',
    'check_run.head_sha',
    ...(name === 'status' ? ['sha'] : []),
  ]
  const sha = paths.map((path) => getString(payload, path)).find((text) => text !== '') ?? ''
  return /^[0-9a-f]{40,64}$/.test(sha) ? sha : ''
}

function readNumber(payload: unknown, path: string): number | undefined {
  const number = getPath(payload, path)
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined
}

function readPullRequest(payload: unknown): PullRequestEvent | undefined {
  // A comment on a pull request is one on an issue that has a pull_request.
  const pull =
    getPath(payload, 'pull_request') ?? (getPath(payload, 'issue.pull_request') && getPath(payload, 'issue'))
  const number = readNumber(pull, 'number')
  if (number === undefined) return undefined
  const head = getPath(pull, 'head.repo')
  const headName = getString(head, 'full_name')
  const isSame = headName !== '' && headName === getString(pull, 'base.repo.full_name')
  return {
    number,
    author: getString(pull, 'user.login'),
    // GitHub leaves the head out only of events without a whole pull request, such as a comment.
    fromFork: head !== undefined && !isSame,
  }
}

function readPush(payload: unknown): PushEvent {
  return {
    before: getSha(payload, 'before'),
    after: getSha(payload, 'after'),
    headCommit: getSha(payload, 'head_commit.id'),
    commits: getArray(payload, 'commits').map((commit) => ({
      sha: getSha(commit, 'id'),
      author: getString(commit, 'author.username'),
      authorName: getString(commit, 'author.name'),
      message: getString(commit, 'message'),
    })),
  }
}

function readRelease(payload: unknown): ReleaseEvent {
  return {
    tag: getString(payload, 'release.tag_name'),
    preRelease: getPath(payload, 'release.prerelease') === true,
    publishedAt: getString(payload, 'release.published_at'),
  }
}

function readMergeGroup(payload: unknown): RunEvent['mergeGroup'] {
  return { base: getSha(payload, 'merge_group.base_sha'), head: getSha(payload, 'merge_group.head_sha') }
}

function readPrecedingRun(payload: unknown): PrecedingRun {
  return {
    event: getString(payload, 'workflow_run.event'),
    actor: getString(payload, 'workflow_run.actor.login'),
    headRepository: getString(payload, 'workflow_run.head_repository.full_name'),
  }
}

/** The workflow's path, without its ref: `.github/workflows/docs.yml`. */
export function workflowPath({ workflowRef }: RunEnvironment): string {
  return workflowRef
    .replace(/@refs\/.*$/, '')
    .split('/')
    .slice(2)
    .join('/')
}

/** Whether the job's token can only read, whatever its permissions are: the run is of a pull request from a fork. */
export function hasReadOnlyToken({ name, pullRequest }: Pick<RunEvent, 'name' | 'pullRequest'>): boolean {
  // pull_request_target and the like run with the token and the secrets of the base repository.
  return pullRequest?.fromFork === true && /^pull_request(?:_review|_review_comment)?$/.test(name)
}

/**
 * Why the runner passed this run no Actions secrets, for the user; undefined if nothing suggests that it withheld them.
 *
 * Neither a pull request from a fork nor a run by Dependabot gets them
 * (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request and
 * docs.github.com/en/code-security/reference/supply-chain-security/dependabot-on-actions).
 */
export function explainMissingSecrets(
  event: Pick<RunEvent, 'name' | 'pullRequest'>,
  actor: string,
): string | undefined {
  if (actor === 'dependabot[bot]') {
    return (
      'This run was triggered by Dependabot, which gets Dependabot secrets but no Actions secrets. ' +
      "Add the key to the repository's Dependabot secrets too, or skip the step: " +
      "if: github.actor != 'dependabot[bot]'."
    )
  }
  if (hasReadOnlyToken(event)) {
    return (
      'This pull request comes from a fork, and such runs get no secrets. ' +
      'Skip the step for forks: if: github.event.pull_request.head.repo.full_name == github.repository.'
    )
  }
  return undefined
}
