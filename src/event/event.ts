/** What the runner says of the run: which event, which pull request, which commits, which step this is. */

import { readFileSync } from 'node:fs'

/** The parts of the runner's environment that describe the run. */
export interface RunEnvironment {
  readonly eventName: string
  /** The file that holds the event's payload as JSON. */
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
  /** The step's id, or a name that the runner makes up from the action's. */
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
  /** The pull request that the event is about, also where it is a comment on one. */
  readonly pullRequest: PullRequestEvent | undefined
  readonly push: PushEvent | undefined
  /** The comment or the review that the event is about. */
  readonly comment: { readonly author: string; readonly body: string } | undefined
  /** What is wrong with the payload, in words for the reader; then it has nothing else. */
  readonly fault: string | undefined
}

/** Reads the event. A payload that can't be read is a fault of its own, told where the payload is needed. */
export function readEvent({ eventName: name, eventPath }: RunEnvironment): RunEvent {
  try {
    const payload: unknown = JSON.parse(readFileSync(eventPath, 'utf8'))
    const action = textAt(payload, 'action')
    const comment = at(payload, 'comment') ?? at(payload, 'review')
    return {
      name,
      action,
      pullRequest: pullRequestOf(payload),
      push: pushOf(name, payload),
      comment:
        comment === undefined
          ? undefined
          : { author: textAt(comment, 'user.login'), body: textAt(comment, 'body') },
      fault: undefined,
    }
  } catch (thrown) {
    const reason =
      thrown instanceof SyntaxError
        ? 'it is not JSON'
        : ((thrown as NodeJS.ErrnoException).code ?? 'unreadable')
    const fault = `the event's payload (GITHUB_EVENT_PATH, ${JSON.stringify(eventPath)}) can't be read: ${reason}`
    return { name, action: '', pullRequest: undefined, push: undefined, comment: undefined, fault }
  }
}

function pullRequestOf(payload: unknown): PullRequestEvent | undefined {
  // A comment on a pull request comes as one on an issue that has a pull_request.
  const from = at(payload, 'pull_request') ?? (at(payload, 'issue.pull_request') && at(payload, 'issue'))
  const number = at(from, 'number')
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) return undefined
  return {
    number,
    title: textAt(from, 'title'),
    body: textAt(from, 'body'),
    author: textAt(from, 'user.login'),
    url: textAt(from, 'html_url'),
    base: textAt(from, 'base.ref'),
    head: textAt(from, 'head.label') || textAt(from, 'head.ref'),
  }
}

function pushOf(name: string, payload: unknown): PushEvent | undefined {
  if (name !== 'push') return undefined
  const commits = at(payload, 'commits')
  return {
    before: textAt(payload, 'before'),
    after: textAt(payload, 'after'),
    sender: textAt(payload, 'sender.login'),
    commits: (Array.isArray(commits) ? commits : []).map((commit) => ({
      sha: textAt(commit, 'id'),
      author: textAt(commit, 'author.username'),
      message: textAt(commit, 'message'),
    })),
  }
}

/** The value at a path of names with dots between; undefined where there is none. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((here, name) => {
    const inside = typeof here === 'object' && here !== null && Object.hasOwn(here, name)
    return inside ? (here as Record<string, unknown>)[name] : undefined
  }, value)
}

function textAt(value: unknown, path: string): string {
  const text = at(value, path)
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
