/** The agent job: its states, what a state means for the step, and the pull request it opened. */

/** Every status that the service names; any other word is not passed on. */
export const STATUSES = ['active', 'completed', 'archived', 'failed'] as const
export type Status = (typeof STATUSES)[number]
export type EndStatus = Exclude<Status, 'active'>

export const OUTCOMES = [
  'started',
  'pr-opened',
  'no-changes',
  'failed',
  'archived',
  'timed-out',
  'cancelled',
  'skipped',
  'dry-run',
  'error',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** The outcomes that `fail-on` may list. */
export const FAIL_ON = ['failed', 'archived', 'timed-out', 'no-changes'] as const
export type FailOn = (typeof FAIL_ON)[number]

/** A job as the service last gave it. */
export interface Job {
  readonly id: string
  /** The service's word, whatever it is, fit to be shown. */
  readonly word: string
  /** The word where it is one of the listed ones. */
  readonly status: Status | undefined
  /** The pull request's address, or empty. */
  readonly link: string
  /** The service gave a link that is not passed on. */
  readonly linkRefused: boolean
  /** The whole object as received. */
  readonly received: unknown
}

export function isStatus(word: string): word is Status {
  return (STATUSES as readonly string[]).includes(word)
}

export function hasEnded(status: Status | undefined): status is EndStatus {
  return status !== undefined && status !== 'active'
}

/** What a job that has ended means for the step. */
export function outcomeOf(status: EndStatus, link: string): Outcome {
  switch (status) {
    case 'completed':
      return link === '' ? 'no-changes' : 'pr-opened'
    case 'failed':
    case 'archived':
      return status
  }
}

/** Whether an outcome fails the step: `error` and `cancelled` always do, the rest where `fail-on` lists it. */
export function failsStep(outcome: Outcome, failOn: ReadonlySet<FailOn>): boolean {
  switch (outcome) {
    case 'error':
    case 'cancelled':
      return true
    case 'failed':
    case 'archived':
    case 'timed-out':
    case 'no-changes':
      return failOn.has(outcome)
    case 'started':
    case 'pr-opened':
    case 'skipped':
    case 'dry-run':
      return false
  }
}

/** An id that can be one segment of a path: not empty, not a dot segment, no control character, well-formed text. */
export function isId(id: string): boolean {
  return (
    id.trim() !== '' &&
    id !== '.' &&
    id !== '..' &&
    !/\p{Cc}/u.test(id) &&
    id.isWellFormed() &&
    id.length <= 512
  )
}

/**
 * The link where it is safe to hand on, else empty: people put it into shell lines and Markdown.
 *
 * Safe is http(s), without user info, at most 2,048 characters of `A-Z a-z 0-9 . _ ~ : / ? # @ % = + , -`.
 */
export function safeLink(link: string): string {
  if (link.length > 2048 || !/^https?:\/\/(?!\/)[A-Za-z0-9._~:/?#@%=+,-]+$/i.test(link)) return ''
  const url = URL.canParse(link) ? new URL(link) : undefined
  const authority = link.split('/')[2]?.split(/[?#]/)[0] ?? ''
  return url === undefined || authority.includes('@') ? '' : link
}

/** A pull request's number and repository, read from its address. Both empty where it has another shape. */
export interface PullRequest {
  readonly number: string
  readonly repository: string
}

const GITHUB_PULL = /^(\/[\w.-]+\/[\w.-]+)\/pull\/([1-9]\d{0,15})(?:\/|$)/
const GITLAB_MERGE_REQUEST = /^((?:\/(?!-\/)[\w.-]+){2,}?)(?:\/-)?\/merge_requests\/([1-9]\d{0,15})(?:\/|$)/

/** Reads GitHub's `/owner/repo/pull/N` and GitLab's `/group/project/-/merge_requests/N`. */
export function pullRequestOf(link: string): PullRequest {
  const path = link === '' ? '' : new URL(link).pathname
  const match = GITHUB_PULL.exec(path) ?? GITLAB_MERGE_REQUEST.exec(path)
  return { repository: match?.[1]?.slice(1) ?? '', number: match?.[2] ?? '' }
}
