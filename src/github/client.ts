/** GitHub's REST API: a request that decides something is retried for a while, no other is. */

import { getOctokit } from '@actions/github'
import { RetryBudget, retryDelay } from '../net/backoff.js'
import { abortedAfter, createDeadline, type Deadline, NO_RESPONSE } from '../net/deadline.js'
import { isForeign } from '../text/error-page.js'
import { Cancelled } from '../text/errors.js'
import {
  type CallNames,
  type FailureContext,
  GitHubError,
  isMissing,
  NO_FILES,
  TIMED_OUT,
} from './errors.js'
import { createFetch, type FetchOptions } from './fetch.js'

/** How long requests are retried (ms), together or by signal. [github.decides.retried] */
const RETRY_MS = 90_000

/** The longest wait before a retry (ms), unless GitHub asks for one. */
const MAX_BACKOFF_MS = 10_000

/**
 * How long one request may take, in milliseconds: GitHub gives itself 10 s to make an answer
 * (docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#timeouts), which then
 * has a way to go. [github.time]
 */
const REQUEST_MS = 30_000

/** One that is waited for at the end leaves time for another. [memory.edit.retried] */
const END_REQUEST_MS = 10_000

/** How many items a page has that GitHub can't have in time with fewer. [github.pages.fewer] */
const FEWEST = 25

/**
 * What GitHub says of something that it was told of a moment ago is asked for again after so many
 * milliseconds, before it is believed. All such waits of the step have a limit together: those for
 * what isn't found, and those for lists, which leave time for what they lead to. Its list of a
 * commit's pull requests was empty after every second merge
 * (github.com/projectcalico/calico/issues/13157); a comparison, and other lists, were not found
 * (github.com/rust-lang/triagebot/issues/1949). [github.early] [merge.empty-list]
 */
const EARLY = { allMs: 10_000, delayMs: 5_000 }

/** The time of a gift (ms), and how often one of its requests is sent. */
const GIFT = { allMs: 60_000, tries: 3 }

/** How long (ms) a creation may go on after the end: GitHub may carry it out anyway. */
const CREATION_MS = 500

/**
 * How long (ms) a request that can be retried is still waited for after a cancel: the edit that has
 * the docs job's ID gets another try before the step has to end.
 */
const CANCELLED_MS = 1_000

interface GitHubOptions extends FetchOptions, FailureContext {
  readonly token: string
  readonly deadline: Deadline
  readonly random: () => number
  readonly log: (line: string) => void
}

/** What an answer has, before its shape is known. */
type Fields = Readonly<Record<string, unknown>>

export interface Call extends CallNames {
  /** Whether the data has the right shape; throws why if it will have it in a moment. */
  readonly expects?: (data: Fields) => boolean | Promise<boolean>
  /**
   * What isn't found may be there in some seconds; a function says which data contradicts what is
   * known, and so may change, too. [github.late]
   */
  readonly early?: boolean | ((data: never) => boolean | Promise<boolean>)
  /** Temporary failures are retried, for up to 90 s, unless this is false. */
  readonly retried?: boolean
  /** Finds what an earlier attempt has created, if its response was lost. */
  readonly find?: () => Promise<{ id: number } | undefined>
  /** This aborts it, by default at the deadline or on a cancel. */
  readonly signal?: AbortSignal
  /** Has time and requests of its own, as the step can do without the answer. */
  readonly gift?: Gift | undefined
}

/**
 * How many requests are left of what nobody needs, failed ones counted; and its time.
 * [range.cut.requests]
 */
export interface Gift {
  requests: number
  time?: RetryBudget
}

/** Takes the place of Octokit's log, which is neither escaped nor redacted. [github.quiet] */
const noop = () => undefined

export type RequestMode = Pick<Call, 'retried' | 'find' | 'signal' | 'early'>

/**
 * Octokit's endpoints. Each request needs a `Call` as its `request`. They throw ActionError
 * `github`, and Cancelled. [github.described] [house.bundle.endpoints]
 */
export type GitHub = ReturnType<typeof getOctokit>['rest']

/** The time that a call has: the step's, or that of its own signal. */
type CallTime = Omit<Deadline, 'cancel'> &
  Readonly<{
    retries: RetryBudget
    /** Says why it failed if its signal is aborted. */
    endedBy: string
  }>

/**
 * What decides is retried; what only informs is asked once. [github.informs.once] GitHub refuses a
 * request without a user agent. [net.user-agent]
 */
export function createGitHub(options: GitHubOptions): GitHub {
  const { clock, deadline } = options
  // Octokit would write to the step's log, unescaped; and for each request that its version of the
  // API is deprecated.
  const quiet = { debug: noop, info: noop, warn: noop, error: noop }
  const octokit = getOctokit(options.token || 'none', {
    baseUrl: options.environment.apiUrl,
    userAgent: 'agent-job-action',
    log: quiet,
    request: { fetch: createFetch(options), log: quiet },
  })
  const retries = new RetryBudget(RETRY_MS, clock)
  const unfound = new RetryBudget(EARLY.allMs, clock)
  const early = new RetryBudget(EARLY.allMs, clock)
  let isTokenKnown = false
  const creationEnd = abortedAfter(deadline.signal, (end) => clock.sleep(CREATION_MS, end))
  const late = abortedAfter(deadline.cancel, (end) => clock.sleep(CANCELLED_MS, end))
  octokit.hook.wrap('request', async (send, request) => {
    const call = request.request as unknown as Call
    const { gift, early: mayBeEarly } = call
    if (gift) gift.time ??= new RetryBudget(GIFT.allMs, clock)
    const time: CallTime = call.signal
      ? {
          signal: call.signal,
          cancelled: () => false,
          remainingMs: () => RETRY_MS,
          retries: new RetryBudget(RETRY_MS, clock),
          endedBy: 'there was no response before the step ended',
        }
      : { ...deadline, retries: gift?.time ?? retries, endedBy: TIMED_OUT }
    // A page of a comparison is of commits: with fewer, it has the same files.
    const isLong = Number(request.per_page) > FEWEST && !request.basehead
    // For some seconds GitHub may not know a token that an app has just made, then not its
    // permissions (github.com/octokit/auth-app.js/issues/65). [github.token.new]
    const isLate = (answer: GitHubError | { data: unknown }) =>
      answer instanceof GitHubError
        ? (mayBeEarly && isMissing(answer)) ||
          (call.retried && !isTokenKnown && / failed: 401,|not accessible/.test(answer.message))
        : typeof mayBeEarly === 'function' && mayBeEarly(answer.data as never)
    const ask = async (isFirst: boolean) => {
      time.signal.throwIfAborted()
      const created = isFirst ? undefined : await call.find?.()
      if (created !== undefined) return { data: created, status: 200, url: '', headers: {} }
      const end = call.find && !call.signal ? creationEnd : time.signal
      const limitMs = call.signal ? END_REQUEST_MS : REQUEST_MS
      const why = `no response in ${limitMs / 1000} s`
      const limit = createDeadline(clock.now() + limitMs, end, clock, why)
      const giveUp = () => limit.abort(new Error(NO_RESPONSE))
      if (call.signal && call.retried) late.addEventListener('abort', giveUp)
      // Octokit ignores a copy.
      Object.assign(request, { request: { ...call, signal: limit.signal } })
      const sent = Promise.resolve(send(request)).finally(() => {
        late.removeEventListener('abort', giveUp)
        limit.end()
      })
      return expectShape(await sent, call)
    }
    let last: GitHubError | undefined
    for (let attempts = 1; ; attempts++) {
      if (gift && (gift.requests-- <= 0 || time.retries.remainingMs <= 0))
        throw new GitHubError(call, new Error(NO_FILES), options)
      const startedAt = clock.now()
      const answer = await ask(attempts === 1).catch((thrown) =>
        toGitHubError(thrown, call, time, options),
      )
      const isError = answer instanceof GitHubError
      // What GitHub said last says more than that time is up.
      if (isError && time.signal.aborted) throw last ?? answer
      if (isError) last = answer
      else isTokenKnown = true
      if (gift || isError) time.retries.count(startedAt, REQUEST_MS)
      const allowance = isError ? unfound : early
      if (allowance.remainingMs > EARLY.delayMs / 2 && (await isLate(answer))) {
        await allowance.sleep(EARLY.delayMs, time.signal)
        continue
      }
      if (!isError) return answer
      if (!call.retried || answer.kind !== 'temporary') throw answer
      if (gift && attempts >= GIFT.tries) throw answer
      await waitForRetry(answer, attempts, time, options)
      // Octokit calls what had no answer a 500.
      answer.isTooLong = isLong && Number((answer.cause as Fields).status) >= 500
      if (answer.isTooLong) throw answer
    }
  })
  return octokit.rest
}

/** @throws Cancelled */
function toGitHubError(
  thrown: unknown,
  call: Call,
  { signal, cancelled, endedBy }: CallTime,
  options: GitHubOptions,
): GitHubError {
  if (cancelled()) throw new Cancelled()
  // The search for an earlier creation has failed.
  if (thrown instanceof GitHubError) return thrown
  return new GitHubError(call, signal.aborted ? new Error(endedBy) : thrown, options)
}

/** @throws GitHubError `error`, if there is no time for a retry */
async function waitForRetry(
  error: GitHubError,
  attempts: number,
  { signal, retries, remainingMs }: CallTime,
  { random, log }: GitHubOptions,
): Promise<void> {
  const leftMs = Math.min(retries.remainingMs, remainingMs())
  const backoff = { retryAfterMs: error.retryAfterMs, capMs: MAX_BACKOFF_MS }
  const { minDelayMs, delayMs } = retryDelay(backoff, attempts, random())
  if (minDelayMs >= leftMs) throw error
  if (attempts === 1) log(`${error.message} Retrying.`)
  await retries.sleep(Math.min(delayMs, leftMs), signal)
}

/** Octokit passes on what isn't JSON, or was cut off, as a string. [github.shape] */
async function expectShape<R extends { data: unknown; status: number; headers: object }>(
  response: R,
  { expects = () => true, ofFiles }: Call,
): Promise<R> {
  const { data, status, headers } = response
  // A page is told by its title, and a redirect as a redirect.
  if (status >= 300 || isForeign(status, undefined, data)) {
    const message = status >= 300 ? 'redirected to another server' : String(data)
    throw Object.assign(new Error(message), { status, response: { headers } })
  }
  if (typeof data === 'object' && data !== null && (await expects(data as Fields))) return response
  throw new Error(ofFiles && typeof data === 'object' ? NO_FILES : 'unexpected response')
}

/** Says how to do without some lists. */
export const WITHOUT_LIST = 'If since says where to begin, this list is not needed.'

export type ReadPage<T> = (page: {
  page: number
  per_page: number
}) => Promise<{ data: T[]; headers: { link?: string } }>

/**
 * All pages of a list, up to a number of pages. A short page is not the last one if its `link`
 * header names a next one; without the header, a full page may not be the last one. [github.pages]
 * A list that GitHub can't make in time is read from its beginning by half as many items.
 * [github.pages.fewer]
 */
export async function readPages<T>(
  maxPages: number,
  readPage: ReadPage<T>,
  per_page = 100,
): Promise<{ items: T[]; truncated: boolean }> {
  const items: T[] = []
  for (let page = 1; page <= maxPages; page++) {
    const answer = await readPage({ page, per_page }).catch((thrown) => {
      if (!thrown.isTooLong) throw thrown
      return readPages(maxPages * 2, readPage, per_page / 2).catch((next) => {
        // What GitHub said says more than that time is up.
        throw next instanceof GitHubError && !next.status ? thrown : next
      })
    })
    if ('items' in answer) return answer
    const { data, headers } = answer
    items.push(...data.filter((item) => typeof item === 'object' && item !== null))
    const hasNext =
      headers.link === undefined ? data.length >= per_page : headers.link.includes('rel="next"')
    if (!hasNext) return { items, truncated: false }
  }
  return { items, truncated: true }
}

export interface GitHubRepo {
  readonly github: GitHub
  readonly repository: string
  /**
   * Of another repository than the run's: errors name it. How many requests are left for the parts
   * of what GitHub cut, of all of these.
   */
  readonly elsewhere?: Gift
}

/** A text about a repository, with its name if it is another one than the run's. */
export const inRepo = ({ repository, elsewhere }: GitHubRepo, text: string): string =>
  elsewhere ? `${text} of ${repository}` : text

/**
 * What each request takes besides its own parameters; what it does and the permission are told if
 * it fails.
 */
export function asking(repo: GitHubRepo, what: string, call: Omit<Call, 'doing'>) {
  const [owner = '', name = ''] = repo.repository.split('/')
  return { owner, repo: name, request: { retried: true, ...call, doing: inRepo(repo, what) } }
}
