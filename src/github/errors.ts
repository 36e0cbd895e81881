/** Why a request to GitHub failed: may a retry help, or which permission is missing? */

import { madeAt, parseRetryAfter } from '../net/backoff.js'
import { permanentFailure } from '../net/connect.js'
import type { Clock } from '../net/deadline.js'
import { isForeign, summarizePage } from '../text/error-page.js'
import { ActionError, explainFailure } from '../text/errors.js'
import { oneLine, quote, truncate } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import type { Redact } from '../text/redact.js'

/** After a secondary limit without a header, as GitHub's page says that is linked below. */
const SECONDARY_LIMIT_MS = 60_000

export const TIMED_OUT = 'timed out (timeout-minutes)'

export type CallNames = Readonly<{
  /** It says what is done, such as `reading the comments of pull request 7`. */
  doing: string
  /** The permission it needs, such as `contents: read`; several are separated by ` or `. */
  needs: string
  /** It asks for changed files, of which GitHub can't always make a list. */
  ofFiles?: boolean
  /** A sentence says how to do without it. */
  instead?: string
}>

/** These words tell of an answer that comes in place of that list. */
export const NO_FILES = 'no list of files'

export type FailureContext = Readonly<{
  clock: Clock
  redact: Redact
  /** The job's token can't write, whatever its `permissions` are. */
  fromFork?: boolean
  /**
   * What it is called, such as `line 2 of code-token`, if it reads other repositories; empty if it
   * is github-token.
   */
  codeToken?: string
}>

/** What a failure means for whoever made the request. */
type GitHubFailure =
  /** A retry may help. */
  | 'temporary'
  /** GitHub has no list of the files that were asked for, however often it is asked. */
  | 'no-files'
  /** GitHub says so, not a gateway: of what is new, for some seconds, though it is there. */
  | 'missing'
  /** What is compared has no history in common. */
  | 'unrelated'
  /** No retry helps: the token may not do this, or GitHub can't be reached. */
  | 'refused'
  /** GitHub can't do what was asked for. */
  | 'invalid'

/** What GitHub says, and what helps: only GitHub knows why it refuses. [github.words] */
export class GitHubError extends ActionError {
  override readonly name = 'GitHubError'
  readonly kind: GitHubFailure
  /** It is undefined if there was no complete response. */
  readonly status: number | undefined
  /** Only a rate limit has it. */
  readonly retryAfterMs: number | undefined
  /** GitHub may have a shorter page in time. [github.pages.fewer] */
  isTooLong = false

  constructor(
    { doing, needs, ofFiles = false, instead = '' }: CallNames,
    thrown: unknown,
    context: FailureContext,
  ) {
    const { clock, redact } = context
    const failure = readFailure(thrown)
    const { status, headers, message } = failure
    const permanent = permanentFailure(thrown)
    const { cause } = thrown as { cause?: unknown }
    const setting = cause instanceof ActionError ? cause : undefined // The proxy's variable is wrong.
    const kind = permanent || setting ? 'refused' : kindOf(failure, ofFiles)
    const isLimited = isRateLimit(failure)
    const now = madeAt(headers, clock)
    const askedMs = isLimited ? rateLimitDelay(headers, now) : undefined
    const until = minuteAfter(now, askedMs)
    const words = oneLine(summarizePage(redact(message.slice(0, MESSAGE_LIMIT))))
    const text = truncate(words, 500).replace(/\.$/, '')
    // Text from outside is quoted. Without a response, the text is the action's own.
    const shown = status === undefined && permanent === undefined ? text : quote(text)
    const [why = '', advice] = permanent === undefined ? [] : explainFailure(permanent, 'GitHub')
    super(
      'github',
      // The message says what failed, and why.
      `GitHub: ${doing} failed: ${status === undefined ? '' : `${status}, `}${why && `${why}: `}${shown}.`,
      setting?.advice ??
        advice ??
        (until && `Re-run after ${until}.`) ??
        joinSentences(
          adviceFor(failure, kind, needs, context),
          kind === 'temporary' ? instead : '',
        ),
      { cause: thrown },
    )
    this.status = status
    this.kind = kind
    this.retryAfterMs = isLimited ? (askedMs ?? SECONDARY_LIMIT_MS) : undefined
  }
}

function kindOf(failure: Failure, ofFiles: boolean): GitHubFailure {
  const { status = 0, message } = failure
  if (ofFiles && UNLISTABLE.test(message)) return 'no-files'
  if (status < 300 || status >= 500 || failure.isForeign || isRateLimit(failure)) return 'temporary'
  // GitHub hasn't stored the pull request everywhere, or wants a pause.
  if (status === 422 && /submitted too quickly|could not resolve to a node/i.test(message))
    return 'temporary'
  if (/no common ancestor/i.test(message)) return 'unrelated'
  // If GitHub doesn't know a commit, it answers 422 to whoever asks for its lists.
  if (status === 404 || (status === 422 && /no commit found for sha/i.test(message)))
    return 'missing'
  if (ofFiles && [406, 422].includes(status)) return 'no-files'
  return status < 400 || [401, 403, 410, 451].includes(status) ? 'refused' : 'invalid'
}

/**
 * A diff that GitHub can't make: a 406, a 422, or these words, which came with a 500 and a 503, too
 * (github.com/github-changelog-generator/github-changelog-generator/issues/920,
 * github.com/googleapis/repo-automation-bots/issues/2479), and an answer without a list.
 * [range.list.never]
 */
const UNLISTABLE = RegExp(`^${NO_FILES}$|diff is taking too long|problem generating this diff`, 'i')

export function isMissing(answer: unknown): answer is GitHubError {
  return answer instanceof GitHubError && answer.kind === 'missing'
}

/** The error, if GitHub says that there is no such thing. */
export function keepMissing(thrown: unknown): GitHubError {
  if (isMissing(thrown)) return thrown
  throw thrown
}

/**
 * Whether GitHub doesn't give what the step can do without, while it may answer other
 * requests: a limit, or a network that is gone, is no such thing. [range.release.judged]
 */
export function isWithheld(thrown: unknown): boolean {
  if (!(thrown instanceof GitHubError)) return false
  return Number(thrown.status) >= 500 || thrown.kind === 'no-files'
}

/**
 * Tells whether a request succeeds; false if it is refused for good.
 *
 * @throws GitHubError after a temporary failure
 */
export async function succeeds(request: Promise<unknown>): Promise<boolean> {
  try {
    await request
    return true
  } catch (thrown) {
    if (thrown instanceof GitHubError && thrown.kind !== 'temporary') return false
    throw thrown
  }
}

/** How much of an answer is redacted, in characters: more takes long. */
const MESSAGE_LIMIT = 64 * 1024

/**
 * Says what a failure means that only warns. It advises no re-run: that would start another job.
 */
export function describeWarning(error: ActionError, consequence: string): string {
  const isTemporary = error instanceof GitHubError && error.kind === 'temporary'
  const advice = error.advice.replace(', then re-run', '')
  return joinSentences(error.message, consequence, isTemporary ? '' : advice)
}

/**
 * Other 403s have other causes than a missing permission: single sign-on, a list of allowed
 * addresses, an archived repository. [github.permission.named]
 */
function adviceFor(
  { status, message, isForeign, isUnanswered }: Failure,
  kind: GitHubFailure,
  permission: string,
  context: FailureContext,
): string {
  if (message === TIMED_OUT) return 'Raise timeout-minutes, or re-run later.'
  if (isUnanswered) return 'Check the proxy variables and the network, or re-run later.'
  // GitHub has not answered itself: it is a redirect, or a gateway.
  if (Number(status) < 400 || isForeign) return 'Check GITHUB_API_URL and the proxy variables.'
  if (kind === 'temporary') return 'Re-run later.'
  if (/by personal access token/i.test(message))
    return `Add the permission ${quotePermissions(permission.replace(/;.*/, ''))} to the personal access token.`
  if (status === 404 || (status === 403 && /not accessible|must have/i.test(message)))
    return adviceOnPermission(status, message, permission, context)
  if (status === 401)
    return `Check ${context.codeToken || 'github-token'}: it may be empty, or have expired.`
  return 'Fix the problem that GitHub reports, then re-run.'
}

function adviceOnPermission(
  status: 403 | 404,
  message: string,
  permission: string,
  { fromFork, codeToken }: FailureContext,
): string {
  if (codeToken !== undefined) {
    const noun = /^branch/i.test(message) ? 'branch' : 'repository'
    const why = codeToken
      ? 'code-token may not read it (Contents: read)'
      : 'it is private: code-token is empty, and github-token reads public ones'
    return `There is no such ${noun}, or ${why}${/;.*/.exec(permission) ?? ''}.`
  }
  if (permission === 'metadata: read')
    return 'Pass a github-token with write access to this repository, or use allow-users.'
  // A fork's token can only read
  // (docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#how-permissions-are-calculated-for-a-workflow-job).
  if (fromFork && permission.endsWith('write')) {
    return (
      'On a pull request from a fork, the token of the workflow job can only read, whatever its `permissions` are. ' +
      'Skip the step for forks, or pass another token as github-token.'
    )
  }
  const missing = `${quotePermissions(permission)} to the permissions of the workflow job, or of the one that calls it.`
  return status === 403
    ? `Add ${missing}`
    : `Not found, or not accessible with this token. If it exists, add ${missing}`
}

function quotePermissions(permissions: string): string {
  return `\`${permissions.replaceAll(' or ', '` or `')}\``
}

type Failure = Readonly<{
  status: number | undefined
  headers: Readonly<Record<string, string | number | undefined>>
  message: string
  /** Something on the way has answered, not GitHub. */
  isForeign?: boolean
  /** There was no response: the network helps, or the proxy's variables. Else, it can't be used. */
  isUnanswered?: boolean
}>

/**
 * Reads Octokit's RequestError, which has a response only if GitHub responded; else a cause, if the
 * network or a proxy is at fault, as the advice says.
 */
function readFailure(thrown: unknown): Failure {
  const {
    status = 0,
    response,
    message,
    cause,
  } = thrown as {
    status?: number
    response?: { headers: Failure['headers']; data?: unknown }
    message: string
    cause?: unknown
  }
  if (response === undefined)
    return { status: undefined, headers: {}, message, isUnanswered: cause !== undefined }
  const { headers, data } = response
  return { status, headers, message, isForeign: isForeign(status, headers['content-type'], data) }
}

/**
 * Both of GitHub's limits respond 403 or 429
 * (docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api). [github.limit]
 */
function isRateLimit({ status, headers, message }: Failure): boolean {
  const isSaid =
    headers['retry-after'] !== undefined ||
    headers['x-ratelimit-remaining'] === '0' ||
    /rate limit|abuse detection/i.test(message)
  // Other 403s may be for a missing permission.
  return status === 429 || (status === 403 && isSaid)
}

/** How long GitHub asks to wait; undefined if it doesn't say. */
function rateLimitDelay(headers: Failure['headers'], now: Date): number | undefined {
  const retryAfterMs = parseRetryAfter(headers['retry-after']?.toString(), now)
  const untilResetMs = Number(headers['x-ratelimit-reset']) * 1000 - now.getTime()
  const isUsedUp = headers['x-ratelimit-remaining'] === '0' && Number.isFinite(untilResetMs)
  return retryAfterMs ?? (isUsedUp ? Math.max(0, untilResetMs) : undefined)
}

/**
 * The first full minute after that, as in `2026-11-27 14:05 UTC`: a log may be read later. GitHub's
 * limits end within an hour; what is no date in a day is none of them.
 */
function minuteAfter(now: Date, delayMs = NaN): string | undefined {
  if (!(delayMs < 86_400_000)) return undefined
  const minute = new Date(now.getTime() + delayMs + 59_999).toISOString().slice(0, 16)
  return `${minute.replace('T', ' ')} UTC`
}
