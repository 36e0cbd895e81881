/** GitHub's REST API: required requests are retried for a while, optional ones are not. */

import { getOctokit } from '@actions/github'
import { ActionError, Cancelled, DATES_ADVICE, TRUST_ADVICE } from '../errors.js'
import { oneLine, quote, summarizePage, truncate } from '../escape.js'
import { joinSentences } from '../format.js'
import { parseRetryAfter, retryDelay } from '../net/backoff.js'
import { type PermanentFailure, permanentFailure } from '../net/connect.js'
import { abortedAfter, type Deadline } from '../net/deadline.js'
import type { Redact } from '../redact.js'
import { createFetch, type FetchOptions } from './fetch.js'

/** How long required requests are retried, all together, in milliseconds. */
const RETRY_MS = 90_000

/** GitHub's advice after a secondary limit without a header, in milliseconds (its page on rate limits, linked below). */
const SECONDARY_LIMIT_MS = 60_000

/** How many 404s in a row that are not JSON are believed of a server that isn't GitHub: gateways answer 404, too. */
const UNKNOWN_API_TRIES = 4

/** GitHub has all of its API: GitHub.com, GHE.com and GitHub Enterprise Server. */
const GITHUB_API = /^https:\/\/api\.(?:github|[\w-]+\.ghe)\.com\/?$|\/api\/v3\/?$/

/** How long one request may take, in milliseconds. */
const REQUEST_MS = 10_000

/** How long a creation may go on after the deadline or a cancel, in milliseconds: GitHub may carry it out anyway. */
const CREATION_MS = 500

export interface GitHubOptions extends FetchOptions {
  readonly token: string
  readonly deadline: Deadline
  readonly random: () => number
  readonly redact: Redact
  /** The run is of a pull request from a fork: the job's token can't write, whatever its `permissions` are. */
  readonly fromFork: boolean
  readonly log: (line: string) => void
}

/** How a request is sent, and what its errors say. */
export interface Call {
  /** What it does, such as `reading the comments of pull request 7`. */
  readonly doing: string
  /** The permission it needs, such as `contents: read`; several are separated by ` or `. */
  readonly needs: string
  /** Whether the data of a response has the right shape: JSON of another one is an error like any other. */
  readonly expects?: (data: never) => boolean
  /** Retries temporary failures, for up to 90 s in all, because something depends on the result. */
  readonly required: boolean
  /** Finds what an earlier attempt has created, if its response was lost. */
  readonly find?: () => Promise<{ readonly id: number } | undefined>
  /** Aborts it, by default at the deadline or on a cancel. */
  readonly signal?: AbortSignal
}

const noop = (): void => undefined

/** What its caller says of how a request is sent. */
export type How = Pick<Call, 'required' | 'find' | 'signal'>

/** Octokit's endpoints. Each request needs a `Call` as its `request`. They throw ActionError `github`, and Cancelled. */
export type GitHub = ReturnType<typeof getOctokit>['rest']

/** Creates the client; nothing is sent yet. */
export function createGitHub(options: GitHubOptions): GitHub {
  const { clock, deadline, random, log } = options
  const octokit = getOctokit(options.token || 'none', {
    baseUrl: options.run.apiUrl,
    userAgent: 'agent-job-action',
    // Octokit would write to the step's log, unescaped.
    log: { debug: noop, info: noop, warn: noop, error: noop },
    request: { fetch: createFetch(options) },
  })
  /** The part of RETRY_MS that failed attempts and the waits after them have used. */
  let spentMs = 0
  let countedUntil = 0
  /** Counts the time since then; of requests that fail side by side only once. */
  const countSince = (startedAt: number): void => {
    const now = clock.now()
    spentMs += now - Math.max(startedAt, countedUntil)
    countedUntil = now
  }

  const creationEnd = abortedAfter(CREATION_MS, deadline.signal, clock)
  octokit.hook.wrap('request', async (send, request) => {
    const call = request.request as unknown as Call
    const { signal = deadline.signal, required, find } = call
    const isCancelled = (): boolean => deadline.cancelled() && signal === deadline.signal
    let unknownApis = 0
    for (let attempts = 1; ; attempts++) {
      const startedAt = clock.now()
      const end = find !== undefined && signal === deadline.signal ? creationEnd : signal
      const limit = AbortSignal.any([end, AbortSignal.timeout(REQUEST_MS)])
      try {
        signal.throwIfAborted()
        const data = attempts > 1 ? await find?.() : undefined
        if (data !== undefined) return { data, status: 200, url: '', headers: {} }
        Object.assign(request, { request: { ...request.request, signal: limit } }) // Octokit ignores a copy.
        return expectShape(await send(request), call)
      } catch (reason) {
        if (isCancelled()) throw new Cancelled()
        const isOfFind = reason instanceof GitHubError
        const thrown = isOfFind
          ? reason
          : new GitHubError(call, signal.aborted ? abortReason(signal, deadline) : reason, options)
        unknownApis = thrown.unknownApi ? unknownApis + 1 : 0
        const isRetried = thrown.unknownApi
          ? !isOfFind && unknownApis < UNKNOWN_API_TRIES
          : required && thrown.temporary
        if (!isRetried || signal.aborted) throw thrown
        countSince(startedAt)
        // A signal of its own ends the request itself, maybe past the deadline.
        const untilEndMs = signal === deadline.signal ? deadline.remainingMs() : RETRY_MS
        const remainingMs = Math.min(RETRY_MS - spentMs, untilEndMs)
        const backoff = { retryAfterMs: thrown.retryAfterMs, capMs: REQUEST_MS }
        const { minDelayMs, delayMs } = retryDelay(backoff, attempts, random())
        if (minDelayMs >= remainingMs) throw thrown
        log(`${thrown.message} Retrying.`)
        const failedAt = clock.now()
        await clock.sleep(Math.min(delayMs, remainingMs), signal)
        countSince(failedAt)
        if (signal.aborted) throw isCancelled() ? new Cancelled() : thrown
      }
    }
  })
  return octokit.rest
}

/** Octokit passes on what is not JSON, such as a response that was cut off, as a string; and redirects. */
function expectShape<R extends { readonly data: unknown; readonly status: number; readonly headers: object }>(
  response: R,
  { expects = () => true }: Call,
): R {
  const { data, status, headers } = response
  if (status >= 300) {
    throw Object.assign(new Error('redirected to another server'), { status, response: { headers } })
  }
  if (typeof data === 'object' && data !== null && expects(data as never)) return response
  throw new Error('unexpected response')
}

/** The items of a list, from all pages that were read. */
export interface Pages<T> {
  readonly items: readonly T[]
  /** There were more pages than are read. */
  readonly truncated: boolean
}

/**
 * All pages of a list, up to a number of pages.
 *
 * A page that is shorter than asked for is not the last one while another is named. Without a name, a full page may be
 * followed by another; some servers then send the same one for ever, so a page that repeats is the end.
 */
export async function readPages<T>(
  maxPages: number,
  readPage: (page: {
    page: number
    per_page: number
  }) => Promise<{ data: T[]; headers: { readonly link?: string } }>,
): Promise<Pages<T>> {
  const items: T[] = []
  let first = ''
  for (let page = 1; page <= maxPages; page++) {
    const { data, headers } = await readPage({ page, per_page: 100 })
    const previous = first
    first = JSON.stringify(data[0])
    if (data.length === 0 || first === previous) return { items, truncated: false }
    items.push(...data.filter((item) => typeof item === 'object' && item !== null))
    const hasNext = headers.link === undefined ? data.length >= 100 : headers.link.includes('rel="next"')
    if (!hasNext) return { items, truncated: false }
  }
  return { items, truncated: true }
}

/** A repository, and whether something depends on what is asked about it. */
export interface Source extends Pick<Call, 'required'> {
  readonly github: GitHub
  /** `owner/repo` */
  readonly repository: string
}

/** What every request about a repository has. The parameters are as in `Call`. */
export function about<D = object>(
  { repository, required, find, signal }: Pick<Source, 'repository'> & How,
  doing: string,
  needs: string,
  expects?: (data: D) => boolean,
) {
  const [owner = '', repo = ''] = repository.split('/')
  return { owner, repo, request: { doing, needs, required, expects, find, ...(signal && { signal }) } }
}

const TIMED_OUT = 'timed out (timeout-minutes)'

function abortReason(signal: AbortSignal, deadline: Deadline): Error {
  const atDeadline = signal === deadline.signal
  return new Error(atDeadline ? TIMED_OUT : 'there was no response before the step ended')
}

/** A request to GitHub that failed. */
export class GitHubError extends ActionError {
  override readonly name = 'GitHubError'
  /** Undefined if there was no complete response. */
  readonly status: number | undefined
  /** A retry may succeed. */
  readonly temporary: boolean
  /** The answer stays the same: the token may not do this, or what is asked for is not there. */
  readonly refused: boolean
  /** The server, which isn't GitHub, may not have this part of the API: its 404 is not JSON. */
  readonly unknownApi: boolean
  readonly retryAfterMs: number | undefined

  constructor(
    { doing, needs }: Call,
    thrown: unknown,
    { clock, redact, fromFork, run }: Pick<GitHubOptions, 'clock' | 'redact' | 'fromFork' | 'run'>,
  ) {
    const failure = readFailure(thrown)
    const { status, headers, message } = failure
    const permanent = findPermanentFailure(thrown)
    const limited = isRateLimit(failure)
    const words = oneLine(summarizePage(redact(message.slice(0, MESSAGE_LIMIT))))
    const text = truncate(words, 500).replace(/\.$/, '')
    // Only what the action itself says about a request that got no response is no text from outside.
    const shown = status === undefined && permanent === undefined ? oneLine(text) : quote(text)
    super(
      'github',
      `GitHub: ${doing} failed: ${status === undefined ? '' : `${status}, `}${CAUSES[permanent ?? 'other']}${shown}.`,
      permanent === undefined ? adviceFor(failure, needs, fromFork) : CONNECTION_ADVICE[permanent],
      { cause: thrown },
    )
    this.status = status
    const isForeign = status === 404 && !/json/i.test(String(headers['content-type'] ?? ''))
    this.unknownApi = isForeign && !GITHUB_API.test(run.apiUrl)
    this.temporary =
      permanent === undefined &&
      (status === undefined || status >= 500 || limited || (isForeign && !this.unknownApi))
    this.refused = permanent !== undefined || (!this.temporary && isRefusal(status))
    this.retryAfterMs = limited ? rateLimitDelay(headers, clock.date()) : undefined
  }
}

/** How much of an answer is read for its message, in characters: it takes long to redact a longer one. */
const MESSAGE_LIMIT = 64 * 1024

/** A diff that is too large is a 406 or a 422: a smaller one is not refused. */
function isRefusal(status = 0): boolean {
  return (status >= 300 && status < 400) || [401, 403, 404, 410, 451].includes(status)
}

/** An error that the step survives, and its consequence: to run the step again later would start another job. */
export function describeWarning(error: ActionError, consequence: string): string {
  const isTemporary = error instanceof GitHubError && error.temporary
  return joinSentences(error.message, consequence, isTemporary ? '' : error.advice)
}

/** What a connection that can't be made fails for, in front of the network's own message. */
const CAUSES: Readonly<Record<PermanentFailure | 'other', string>> = {
  'server-certificate': "GitHub's certificate is not trusted: ",
  'proxy-certificate': "the proxy's certificate is not trusted: ",
  'server-certificate-date': "GitHub's certificate is not valid today: ",
  'proxy-certificate-date': "the proxy's certificate is not valid today: ",
  'proxy-authentication': 'the proxy rejected the credentials: ',
  other: '',
}

/** The failure of the connection is a cause of the error that Octokit throws. */
function findPermanentFailure(thrown: unknown): PermanentFailure | undefined {
  return thrown instanceof Error
    ? (permanentFailure(thrown) ?? findPermanentFailure(thrown.cause))
    : undefined
}

const CONNECTION_ADVICE: Readonly<Record<PermanentFailure, string>> = {
  'server-certificate': TRUST_ADVICE,
  'proxy-certificate': TRUST_ADVICE,
  'server-certificate-date': DATES_ADVICE,
  'proxy-certificate-date': DATES_ADVICE,
  'proxy-authentication': 'Set the user name and password in HTTPS_PROXY.',
}

const RUN_LATER = 'Re-run later.'

function adviceFor(failure: Failure, permission: string, fromFork: boolean): string {
  const { status, message } = failure
  if (isRateLimit(failure)) return RUN_LATER
  if (status !== undefined && status < 400) return 'Check GITHUB_API_URL and the proxy variables.'
  if (/must authenticate via a GitHub App/i.test(message))
    return "Pass the job's own token, or an app's, as github-token."
  if (/\bis locked\b/i.test(message)) return 'Unlock the conversation, or turn off the comment.'
  if (/by personal access token/i.test(message))
    return `Give the personal access token the permission ${quotePermissions(permission)}.`
  if (status === 403 || status === 404) return adviceOnPermission(status, permission, fromFork)
  if (status === 401) return 'Check github-token.'
  if (message === TIMED_OUT) return 'Raise timeout-minutes, or re-run later.'
  return status === undefined || status >= 500
    ? RUN_LATER
    : 'Fix the problem that GitHub reports, then start a new run.'
}

/** @param permission as in `Call.needs` */
function adviceOnPermission(status: 403 | 404, permission: string, fromFork: boolean): string {
  // docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#how-permissions-are-calculated-for-a-workflow-job
  if (fromFork && permission.endsWith('write')) {
    return (
      'On a pull request from a fork, the token of the job can only read, whatever its `permissions` are. ' +
      'Skip the step for forks, or pass another token as github-token.'
    )
  }
  const advice = `add the permission to the workflow job: ${quotePermissions(permission, 'permissions: ')}.`
  return status === 403
    ? `A${advice.slice(1)}`
    : `Not found, or not accessible with this token. If it exists, ${advice}`
}

function quotePermissions(permission: string, prefix = ''): string {
  const permissions = permission.split(' or ')
  return permissions.map((one) => `\`${prefix}${one}\``).join(' or ')
}

interface Failure {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | number | undefined>>
  readonly message: string
}

/** Reads Octokit's RequestError, which has a response only if GitHub responded. */
function readFailure(thrown: unknown): Failure {
  const {
    status,
    response,
    message = String(thrown),
  } = thrown as {
    status?: number
    response?: { headers: Failure['headers'] }
    message?: string
  }
  return response === undefined
    ? { status: undefined, headers: {}, message }
    : { status, headers: response.headers, message }
}

/**
 * Both of GitHub's limits respond 403 or 429 (docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
function isRateLimit({ status, headers, message }: Failure): boolean {
  if (status === 429) return true
  return (
    status === 403 &&
    (headers['retry-after'] !== undefined ||
      headers['x-ratelimit-remaining'] === '0' ||
      /rate limit/i.test(message))
  )
}

/** How long GitHub asks to wait, in milliseconds. */
function rateLimitDelay(headers: Failure['headers'], now: Date): number {
  const retryAfterMs = parseRetryAfter(headers['retry-after']?.toString(), now)
  const reset = headers['x-ratelimit-remaining'] === '0' ? Number(headers['x-ratelimit-reset']) : Number.NaN
  return (
    retryAfterMs ?? (Number.isFinite(reset) ? Math.max(0, reset * 1000 - now.getTime()) : SECONDARY_LIMIT_MS)
  )
}
