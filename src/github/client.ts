/** GitHub's REST API: what decides is asked again for a while, what only informs is asked once. */

import { getOctokit } from '@actions/github'
import type { RequestInit } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import { fetch } from 'undici/lib/web/fetch/index.js'
import { delay, retryAfter } from '../agent/verdict.js'
import { ActionError, Cancelled } from '../errors.js'
import { clip, oneLine, type Redact } from '../escape.js'
import { connector } from '../net/connect.js'
import type { Clock, Stop } from '../net/deadline.js'
import { type ProxyVariables, proxyFor } from '../net/proxy.js'

/** How long what decides is asked again, in milliseconds. */
export const DECIDE_MS = 60_000

/** How long one request may take, in milliseconds. */
const REQUEST_MS = 10_000

export type Rest = ReturnType<typeof getOctokit>['rest']

export interface GitHubOptions {
  readonly token: string
  /** GITHUB_API_URL, also of an enterprise server. */
  readonly apiUrl: string
  readonly proxies: ProxyVariables
  readonly clock: Clock
  readonly stop: Stop
  readonly random: () => number
  readonly redact: Redact
  readonly log: (line: string) => void
  readonly debug: (line: string) => void
}

/** What is done, for the error: `reading the comments of pull request 7`, and the permission that it takes. */
export interface Question {
  readonly what: string
  readonly permission: string
}

export interface Answer<T> {
  readonly data: T
  readonly headers?: { readonly link?: string }
}

/** One request. */
export type Call<T> = (rest: Rest, signal: AbortSignal) => Promise<Answer<T>>

/**
 * Asks something of GitHub.
 *
 * @param signal ends it; the deadline and the cancel where there is none
 * @throws ActionError `github`
 * @throws Cancelled
 */
export type Ask = <T>(question: Question, call: Call<T>, signal?: AbortSignal) => Promise<Answer<T>>

export interface GitHub {
  /** Asks for what decides: again where the fault may pass, for up to 60 s in all. */
  readonly decide: Ask
  /** Asks once. */
  readonly ask: Ask
}

/** Connects to GitHub; nothing is sent yet. */
export function gitHub(options: GitHubOptions): GitHub {
  const { clock, stop, random, redact, log } = options
  const { rest } = getOctokit(options.token || 'none', {
    baseUrl: options.apiUrl,
    userAgent: 'agent-job-action',
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    request: { fetch: fetcher(options) },
  })
  /** Milliseconds that went into tries that failed, and the pauses after them. */
  let spent = 0

  const ask: Ask = async (question, call, signal = stop.signal) => {
    try {
      const answer = await call(rest, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]))
      // Octokit hands on what is no JSON, such as a cut answer, as the text it is.
      return expecting(() => true)(answer)
    } catch (thrown) {
      if (stop.cancelled() && signal === stop.signal) throw new Cancelled()
      const reason = signal.aborted ? new Error('the time was over (timeout-minutes)') : thrown
      throw new GitHubFault(question, reason, clock.date(), redact)
    }
  }
  const decide: Ask = async (question, call, signal = stop.signal) => {
    for (let tries = 1; ; tries++) {
      const startedAt = clock.now()
      try {
        return await ask(question, call, signal)
      } catch (thrown) {
        if (!(thrown instanceof GitHubFault) || !thrown.mayPass || signal.aborted) throw thrown
        spent += clock.now() - startedAt
        const left = Math.min(DECIDE_MS - spent, stop.remainingMs())
        const pause = { retryAfterMs: thrown.retryAfterMs, capMs: REQUEST_MS }
        const { least, wait } = delay(pause, tries, random())
        if (least >= left) throw thrown
        log(`${thrown.message} Trying again.`)
        await clock.sleep(Math.min(wait, left), signal)
        spent += Math.min(wait, left)
        if (stop.cancelled() && signal === stop.signal) throw new Cancelled()
      }
    }
  }
  return { decide, ask }
}

/**
 * Makes a check of an answer: a JSON answer of another shape is a fault like any other.
 *
 * @param field checked in place of the whole
 */
export function expecting(
  fits: (value: unknown) => boolean,
  field?: string,
): <A extends Answer<unknown>>(answer: A) => A {
  return (answer) => {
    const { data } = answer
    const isObject = typeof data === 'object' && data !== null
    if (isObject && fits(field === undefined ? data : (data as Record<string, unknown>)[field])) return answer
    throw new Error('the answer is not what was asked for')
  }
}

/** All pages of a list. GitHub says which is the last one; a page may be short before. */
export async function pages<T>(
  size: number,
  most: number,
  page: (number: number) => Promise<Answer<T[]>>,
): Promise<T[]> {
  const all: T[] = []
  for (let number = 1; number <= most; number++) {
    const { data, headers } = await page(number)
    all.push(...data.filter((item) => typeof item === 'object' && item !== null))
    const more = headers?.link === undefined ? data.length === size : headers.link.includes('rel="next"')
    if (!more) break
  }
  return all
}

export function repositoryOf({ repository }: { readonly repository: string }): {
  owner: string
  repo: string
} {
  const [owner = '', repo = ''] = repository.split('/')
  return { owner, repo }
}

/** Why GitHub did not give what was asked for. */
export class GitHubFault extends ActionError {
  /** The status of its answer; undefined where there was no whole one. */
  readonly status: number | undefined
  readonly mayPass: boolean
  readonly retryAfterMs: number | undefined

  constructor({ what, permission }: Question, thrown: unknown, now: Date, redact: Redact) {
    const { status, headers, message } = answerOf(thrown)
    const limited = isRateLimit(status, headers, message)
    const missing = !limited && (status === 403 || status === 404)
    super(
      'github',
      `GitHub: ${what} failed: ${status === undefined ? '' : `${status}, `}${oneLine(clip(redact(message), 500))}.`,
      /locked/i.test(message)
        ? 'Unlock the conversation, or run it without a comment.'
        : missing
          ? `If it is there, the permission is missing: give the job \`permissions: ${permission}\`.`
          : status === 401
            ? 'Check github-token.'
            : 'Run it again later.',
      { cause: thrown },
    )
    this.status = status
    this.mayPass = status === undefined || status >= 500 || limited
    this.retryAfterMs = limited ? waitOf(headers, now) : undefined
  }
}

interface Answered {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | number | undefined>>
  readonly message: string
}

/** Reads Octokit's RequestError, which has a response only where GitHub answered. */
function answerOf(thrown: unknown): Answered {
  const {
    status,
    response,
    message = String(thrown),
  } = thrown as {
    status?: number
    response?: { headers: Answered['headers'] }
    message?: string
  }
  return response === undefined
    ? { status: undefined, headers: {}, message }
    : { status, headers: response.headers, message }
}

/**
 * Both of GitHub's limits come as 403 or 429 (docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
function isRateLimit(status: number | undefined, headers: Answered['headers'], message: string): boolean {
  if (status === 429) return true
  return (
    status === 403 &&
    (headers['retry-after'] !== undefined ||
      headers['x-ratelimit-remaining'] === '0' ||
      /rate limit/i.test(message))
  )
}

function waitOf(headers: Answered['headers'], now: Date): number | undefined {
  const asked = retryAfter(headers['retry-after']?.toString(), now)
  const reset = headers['x-ratelimit-remaining'] === '0' ? Number(headers['x-ratelimit-reset']) : Number.NaN
  return asked ?? (Number.isFinite(reset) ? Math.max(0, reset * 1000 - now.getTime()) : undefined)
}

/** A fetch that goes through the proxies of this machine, and tells each request in a debug line. */
function fetcher({
  apiUrl,
  proxies,
  clock,
  debug,
}: GitHubOptions): (url: string, init: RequestInit) => Promise<unknown> {
  let dispatcher: Agent | undefined
  const connected = (): Agent => {
    const base = new URL(apiUrl)
    const proxy = base.protocol === 'https:' ? proxyFor(base, proxies) : undefined
    return new Agent({ connect: connector(buildConnector({}), proxy).connect })
  }
  return async (url, init) => {
    dispatcher ??= connected()
    const start = clock.now()
    const line = `${init.method} ${new URL(url).pathname}`
    try {
      const answer = await fetch(url, { ...init, dispatcher })
      debug(`${line} ${answer.status} ${Math.round(clock.now() - start)} ms`)
      return answer
    } catch (thrown) {
      debug(`${line} failed ${Math.round(clock.now() - start)} ms`)
      throw thrown
    }
  }
}

function quiet(): void {
  // Octokit's own log would go to the step's, unescaped.
}
