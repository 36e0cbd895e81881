/** GitHub's REST API: required requests are retried for a while, optional ones are sent once. */

import { getOctokit } from '@actions/github'
import { ActionError, Cancelled } from '../errors.js'
import { oneLine, type Redact, truncate } from '../escape.js'
import { joinSentences } from '../format.js'
import { parseRetryAfter, retryDelay } from '../net/backoff.js'
import { type PermanentFailure, permanentFailure } from '../net/connect.js'
import type { Deadline } from '../net/deadline.js'
import { createFetch, type FetchOptions } from './fetch.js'

/** How long required requests are retried, all together, in milliseconds. */
const RETRY_MS = 60_000

/** How long one request may take, in milliseconds. */
const REQUEST_MS = 10_000

export type Rest = ReturnType<typeof getOctokit>['rest']

export interface GitHubOptions extends FetchOptions {
  readonly token: string
  readonly deadline: Deadline
  readonly random: () => number
  readonly redact: Redact
  /** The run is of a pull request from a fork: the job's token can't write, whatever its `permissions` are. */
  readonly fromFork: boolean
  readonly log: (line: string) => void
}

/** What a request does, for error messages. */
export interface Operation {
  /** Such as `reading the comments of pull request 7`. */
  readonly description: string
  /** The permission it needs, such as `contents: read`; several are separated by ` or `. */
  readonly permission: string
}

export interface ApiResponse<T> {
  readonly data: T
  readonly headers?: { readonly link?: string }
}

export type ApiCall<T> = (rest: Rest, signal: AbortSignal) => Promise<ApiResponse<T>>

/**
 * Sends a request to GitHub.
 *
 * @param signal aborts it, by default at the deadline or on a cancel
 * @throws ActionError `github`
 * @throws Cancelled
 */
export type GitHubRequest = <T>(
  operation: Operation,
  call: ApiCall<T>,
  signal?: AbortSignal,
) => Promise<ApiResponse<T>>

export interface GitHub {
  /** For what decides: retries temporary failures, for up to 60 s in all. */
  readonly requestWithRetry: GitHubRequest
  /** For what only informs. */
  readonly requestOnce: GitHubRequest
}

/** The request function for what decides, or for what only informs. */
export function requestWith(
  { requestWithRetry, requestOnce }: GitHub,
  { required, signal }: { readonly required: boolean; readonly signal?: AbortSignal },
): GitHubRequest {
  const request = required ? requestWithRetry : requestOnce
  return (operation, call) => request(operation, call, signal)
}

/** Creates the client; nothing is sent yet. */
export function createGitHub(options: GitHubOptions): GitHub {
  const { clock, deadline, random, log } = options
  const { rest } = getOctokit(options.token || 'none', {
    baseUrl: options.apiUrl,
    userAgent: 'agent-job-action',
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

  const requestOnce: GitHubRequest = async (operation, call, signal = deadline.signal) => {
    try {
      const response = await call(rest, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]))
      // Octokit passes on what is not JSON, such as a response that was cut off, as a string.
      return expecting(() => true)(response)
    } catch (thrown) {
      if (deadline.cancelled() && signal === deadline.signal) throw new Cancelled()
      throw new GitHubError(operation, signal.aborted ? abortReason(signal, deadline) : thrown, options)
    }
  }
  const requestWithRetry: GitHubRequest = async (operation, call, signal = deadline.signal) => {
    for (let attempts = 1; ; attempts++) {
      const startedAt = clock.now()
      try {
        return await requestOnce(operation, call, signal)
      } catch (thrown) {
        if (!(thrown instanceof GitHubError) || !thrown.temporary || signal.aborted) throw thrown
        countSince(startedAt)
        const remainingMs = Math.min(RETRY_MS - spentMs, deadline.remainingMs())
        const backoff = { retryAfterMs: thrown.retryAfterMs, capMs: REQUEST_MS }
        const { minDelayMs, delayMs } = retryDelay(backoff, attempts, random())
        if (minDelayMs >= remainingMs) throw thrown
        log(`${thrown.message} Retrying.`)
        const failedAt = clock.now()
        await clock.sleep(Math.min(delayMs, remainingMs), signal)
        countSince(failedAt)
        if (deadline.cancelled() && signal === deadline.signal) throw new Cancelled()
      }
    }
  }
  return { requestWithRetry, requestOnce }
}

/**
 * Returns a check of a response: JSON of the wrong shape is an error like any other.
 *
 * @param field checked instead of the whole
 */
export function expecting(
  isExpected: (value: unknown) => boolean,
  field?: string,
): <R extends ApiResponse<unknown>>(response: R) => R {
  return (response) => {
    const { data } = response
    const isObject = typeof data === 'object' && data !== null
    const value = isObject && field !== undefined ? (data as Record<string, unknown>)[field] : data
    if (isObject && isExpected(value)) return response
    throw new Error('unexpected response')
  }
}

/** All pages of a list. GitHub says which page is the last; earlier ones may be short. */
export async function readPages<T>(
  pageSize: number,
  maxPages: number,
  readPage: (number: number) => Promise<ApiResponse<T[]>>,
): Promise<T[]> {
  const all: T[] = []
  for (let number = 1; number <= maxPages; number++) {
    const { data, headers } = await readPage(number)
    all.push(...data.filter((item) => typeof item === 'object' && item !== null))
    const hasNext =
      headers?.link === undefined ? data.length === pageSize : headers.link.includes('rel="next"')
    if (!hasNext) break
  }
  return all
}

export function ownerAndRepo({ repository }: { readonly repository: string }): {
  owner: string
  repo: string
} {
  const [owner = '', repo = ''] = repository.split('/')
  return { owner, repo }
}

function abortReason(signal: AbortSignal, deadline: Deadline): Error {
  return new Error(
    signal === deadline.signal
      ? 'timed out (timeout-minutes)'
      : 'there was no response before the step ended',
  )
}

/** A request to GitHub that failed. */
export class GitHubError extends ActionError {
  override readonly name = 'GitHubError'
  /** Undefined if there was no complete response. */
  readonly status: number | undefined
  /** A retry may succeed. */
  readonly temporary: boolean
  readonly retryAfterMs: number | undefined

  constructor(
    { description, permission }: Operation,
    thrown: unknown,
    { clock, redact, fromFork }: Pick<GitHubOptions, 'clock' | 'redact' | 'fromFork'>,
  ) {
    const { status, headers, message } = readFailure(thrown)
    const permanent = findPermanentFailure(thrown)
    const limited = isRateLimit(status, headers, message)
    const text = oneLine(truncate(redact(message), 500)).replace(/\.$/, '')
    super(
      'github',
      `GitHub: ${description} failed: ${status === undefined ? '' : `${status}, `}${CAUSES[permanent ?? 'other']}${text}.`,
      adviceFor({ status, message, permission, fromFork, limited, permanent }),
      { cause: thrown },
    )
    this.status = status
    this.temporary = permanent === undefined && (status === undefined || status >= 500 || limited)
    this.retryAfterMs = limited ? rateLimitDelay(headers, clock.date()) : undefined
  }
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
  'proxy-authentication': 'the proxy rejected the credentials: ',
  other: '',
}

/** The failure of the connection is a cause of the error that Octokit throws. */
function findPermanentFailure(thrown: unknown): PermanentFailure | undefined {
  return thrown instanceof Error
    ? (permanentFailure(thrown) ?? findPermanentFailure(thrown.cause))
    : undefined
}

interface FailureDetails {
  readonly status: number | undefined
  readonly message: string
  readonly permission: string
  readonly fromFork: boolean
  readonly limited: boolean
  readonly permanent: PermanentFailure | undefined
}

const RUN_LATER = 'Run it again later.'

function adviceFor({ status, message, permission, fromFork, limited, permanent }: FailureDetails): string {
  if (permanent === 'proxy-authentication') return 'Set the user name and password in HTTPS_PROXY.'
  if (permanent !== undefined) {
    return "If you use a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file in the step's env."
  }
  if (limited) return RUN_LATER
  if (/must authenticate via a GitHub App/i.test(message))
    return "Pass the job's own token, or an app's, as github-token."
  if (/\blocked\b/i.test(message)) return 'Unlock the conversation, or turn off the comment.'
  if (status === 403 || status === 404) {
    // docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#how-permissions-are-calculated-for-a-workflow-job
    if (fromFork && permission.endsWith('write')) {
      return (
        'On a pull request from a fork, the token of the job can only read, whatever its `permissions` are. ' +
        'Skip the step for forks, or pass another token as github-token.'
      )
    }
    const permissions = permission.split(' or ').map((one) => `\`permissions: ${one}\``)
    return `If it exists, the token lacks permission: give the job ${permissions.join(' or ')}.`
  }
  if (status === 401) return 'Check github-token.'
  return status === undefined || status >= 500 ? RUN_LATER : 'Fix what GitHub objects to, then run it again.'
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
function isRateLimit(status: number | undefined, headers: Failure['headers'], message: string): boolean {
  if (status === 429) return true
  return (
    status === 403 &&
    (headers['retry-after'] !== undefined ||
      headers['x-ratelimit-remaining'] === '0' ||
      /rate limit/i.test(message))
  )
}

/** How long GitHub asks to wait, in milliseconds. */
function rateLimitDelay(headers: Failure['headers'], now: Date): number | undefined {
  const retryAfterMs = parseRetryAfter(headers['retry-after']?.toString(), now)
  const reset = headers['x-ratelimit-remaining'] === '0' ? Number(headers['x-ratelimit-reset']) : Number.NaN
  return retryAfterMs ?? (Number.isFinite(reset) ? Math.max(0, reset * 1000 - now.getTime()) : undefined)
}

function noop(): void {
  // Octokit would write to the step's log, unescaped.
}
