/** The agent job: its statuses, what each means for the step, and the pull request it opened. */

import type { ReceivedJob } from './schemas.js'

/**
 * Every documented final status, and why a later run can't continue such a job, if so. None may be
 * named like an outcome below: each would pass for the other.
 */
const ENDS = {
  completed: undefined,
  failed: 'failed',
  archived: 'was archived',
} as const
type FinalStatus = keyof typeof ENDS
const FINAL_STATUSES = Object.keys(ENDS) as FinalStatus[]
/** The final statuses of a job that did not complete: their outcomes have the same names. */
export const FAILURES = FINAL_STATUSES.filter((status) => status !== 'completed')

/** Every status the service documents; no other word is passed on. [output.status] */
export const STATUSES = ['active', ...FINAL_STATUSES] as const
export type Status = (typeof STATUSES)[number]

/** A completed job has led to one of the first two. */
const FINAL_OUTCOMES = ['pr-opened', 'no-changes', ...FAILURES] as const
export type FinalOutcome = (typeof FINAL_OUTCOMES)[number]

/** The output `outcome` has one of these: others say nothing of a job's end. [output.outcome] */
export const OUTCOMES = [
  ...FINAL_OUTCOMES,
  'started',
  'timed-out',
  'cancelled',
  'skipped',
  'dry-run',
  'error',
] as const
export type Outcome = (typeof OUTCOMES)[number]

export const FAIL_ON = [...FAILURES, 'timed-out', 'no-changes'] as const
export type FailOn = (typeof FAIL_ON)[number]
export const DEFAULT_FAIL_ON = FAIL_ON.filter((outcome) => outcome !== 'no-changes')

export type Job = Readonly<{
  id: string
  /** The status as the service spells it, redacted and truncated. */
  rawStatus: string
  /** It is undefined if the service does not document it. */
  status: Status | undefined
  /** It is undefined also if the service's is not safe to pass on. */
  link: string | undefined
  received: Readonly<ReceivedJob>
}>

export function isStatus(word: string): word is Status {
  return (STATUSES as readonly string[]).includes(word)
}

/** A word that the service adds later must not end the wait. [poll.status.undocumented] */
export function isFinal(status: Status | undefined): status is FinalStatus {
  return status !== undefined && status !== 'active'
}

export function outcomeOf(status: FinalStatus, link: string | undefined): FinalOutcome {
  if (status !== 'completed') return status
  return link === undefined ? 'no-changes' : 'pr-opened'
}

/** Whether a state, which may be an outcome, says that a job has ended. */
export function isFinalOutcome(state: string): boolean {
  return (FINAL_OUTCOMES as readonly string[]).includes(state)
}

/** Why a later run can't continue a job, as the end of a sentence; undefined if it can. */
export function reasonNotContinuable({ status }: Job): string | undefined {
  return isFinal(status) ? ENDS[status] : undefined
}

/** Whoever lists an outcome wants a red run; an error is one in any case. [output.exit-code] */
export function failsStep(outcome: Outcome, failOn: ReadonlySet<FailOn>): boolean {
  return outcome === 'error' || outcome === 'cancelled' || failOn.has(outcome as FailOn)
}

/** Whether the service has named a link that isn't safe to pass on. */
export function hasDroppedLink({ link, received }: Job): boolean {
  return link === undefined && Boolean(received.prLink)
}

const GITHUB_PULL = /^(\/[\w.-]+\/[\w.-]+)\/pull\/([1-9]\d{0,15})(?:\/|$)/
const GITLAB_MERGE_REQUEST =
  /^((?:\/(?!-\/)[\w.-]+){2,}?)(?:\/-)?\/merge_requests\/([1-9]\d{0,15})(?:\/|$)/

/**
 * A pull request's number and repository, from GitHub's `/owner/repo/pull/N` and GitLab's
 * `/group/project/-/merge_requests/N`; undefined if the URL has another shape. [output.pr-number]
 */
export function parsePullRequest(link: string | undefined) {
  const path = link === undefined ? '' : new URL(link).pathname
  const [, repository, number] = GITHUB_PULL.exec(path) ?? GITLAB_MERGE_REQUEST.exec(path) ?? []
  return repository && number ? { repository: repository.slice(1), number } : undefined
}
