/** What the runner says about the run: the event and its payload, and which step this is. */

import { readFileSync } from 'node:fs'

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
  readonly job: string
  /** The step's id, or a name that the runner derives from the action's. */
  readonly step: string
  readonly apiUrl: string
  readonly serverUrl: string
}

export interface PullRequestEvent {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly author: string
  readonly url: string
  readonly base: string
  readonly head: string
  /** Its head is in another repository, or in one that was deleted. */
  readonly fromFork: boolean
}

export interface PushEvent {
  /** Forty zeros for a new branch. */
  readonly before: string
  readonly after: string
  readonly sender: string
  readonly commits: readonly { readonly sha: string; readonly author: string; readonly message: string }[]
}

export interface RunEvent {
  readonly name: string
  readonly action: string
  /** The pull request that the event is about, also if it is a comment on one. */
  readonly pullRequest: PullRequestEvent | undefined
  readonly push: PushEvent | undefined
  /** The comment or the review that the event is about. */
  readonly comment: { readonly author: string; readonly body: string } | undefined
  /** Why the payload can't be read, for the user; the event then has nothing but its name. */
  readonly problem: string | undefined
}

/** Reads the event. Never throws: an unreadable payload is a `problem`, reported by whoever needs the payload. */
export function readEvent({ eventName: name, eventPath }: RunEnvironment): RunEvent {
  try {
    const payload: unknown = JSON.parse(readFileSync(eventPath, 'utf8'))
    const comment = getPath(payload, 'comment') ?? getPath(payload, 'review')
    return {
      name,
      action: getString(payload, 'action'),
      pullRequest: readPullRequest(payload),
      push: name === 'push' ? readPush(payload) : undefined,
      comment:
        comment === undefined
          ? undefined
          : { author: getString(comment, 'user.login'), body: getString(comment, 'body') },
      problem: undefined,
    }
  } catch (thrown) {
    const reason =
      thrown instanceof SyntaxError
        ? 'it is not JSON'
        : ((thrown as NodeJS.ErrnoException).code ?? 'unreadable')
    const problem = `the event payload (GITHUB_EVENT_PATH, ${JSON.stringify(eventPath)}) can't be read: ${reason}`
    return { name, action: '', pullRequest: undefined, push: undefined, comment: undefined, problem }
  }
}

function readPullRequest(payload: unknown): PullRequestEvent | undefined {
  // A comment on a pull request is one on an issue that has a pull_request.
  const pull =
    getPath(payload, 'pull_request') ?? (getPath(payload, 'issue.pull_request') && getPath(payload, 'issue'))
  const number = getPath(pull, 'number')
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) return undefined
  return {
    number,
    title: getString(pull, 'title'),
    body: getString(pull, 'body'),
    author: getString(pull, 'user.login'),
    url: getString(pull, 'html_url'),
    base: getString(pull, 'base.ref'),
    head: getString(pull, 'head.label') || getString(pull, 'head.ref'),
    fromFork: isFromFork(pull),
  }
}

function isFromFork(pull: unknown): boolean {
  const repository = getPath(pull, 'head.repo')
  if (repository === undefined) return false // Not in this payload, as in one of a comment.
  return repository === null || getPath(repository, 'full_name') !== getPath(pull, 'base.repo.full_name')
}

function readPush(payload: unknown): PushEvent {
  const commits = getPath(payload, 'commits')
  return {
    before: getString(payload, 'before'),
    after: getString(payload, 'after'),
    sender: getString(payload, 'sender.login'),
    commits: (Array.isArray(commits) ? commits : []).map((commit) => ({
      sha: getString(commit, 'id'),
      author: getString(commit, 'author.username'),
      message: getString(commit, 'message'),
    })),
  }
}

/** The value at a path of names separated by dots; undefined if there is none. */
function getPath(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((here, name) => {
    const inside = typeof here === 'object' && here !== null && Object.hasOwn(here, name)
    return inside ? (here as Record<string, unknown>)[name] : undefined
  }, value)
}

function getString(value: unknown, path: string): string {
  const text = getPath(value, path)
  return typeof text === 'string' ? text : ''
}

/** The workflow's path, without its ref: `.github/workflows/docs.yml`. */
export function workflowPath({ workflowRef }: RunEnvironment): string {
  return workflowRef
    .replace(/@refs\/.*$/, '')
    .split('/')
    .slice(2)
    .join('/')
}

/**
 * Why the runner passed this run no Actions secrets, for the user; undefined if nothing suggests that it withheld them.
 *
 * Neither a pull request from a fork nor a run by Dependabot gets them
 * (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request and
 * docs.github.com/en/code-security/reference/supply-chain-security/dependabot-on-actions).
 */
export function explainMissingSecrets(
  { name, pullRequest }: Pick<RunEvent, 'name' | 'pullRequest'>,
  actor: string,
): string | undefined {
  if (actor === 'dependabot[bot]') {
    return (
      'This run was triggered by Dependabot, which gets Dependabot secrets but no Actions secrets. ' +
      "Add the key to the repository's Dependabot secrets too, or skip the step: " +
      "if: github.actor != 'dependabot[bot]'."
    )
  }
  // pull_request_target and the like run with the secrets of the base repository.
  if (pullRequest?.fromFork && /^pull_request(?:_review|_review_comment)?$/.test(name)) {
    return (
      'This pull request comes from a fork, and such runs get no secrets. ' +
      'Skip the step for forks: if: github.event.pull_request.head.repo.full_name == github.repository.'
    )
  }
  return undefined
}
