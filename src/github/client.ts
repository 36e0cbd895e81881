/** GitHub's REST API: what decides is asked again for a while, what only informs is asked once. */

import { getOctokit } from '@actions/github'
import { Agent, buildConnector, fetch, type RequestInit } from 'undici'
import { ActionError, Cancelled } from '../errors.js'
import { clip, oneLine, type Redact } from '../escape.js'
import { connector } from '../service/connect.js'
import { type ProxyVariables, proxyFor } from '../service/proxy.js'
import { delay, retryAfter } from '../service/retry.js'
import type { Clock, Stop } from '../stop.js'

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
}

/** One request. */
export type Call<T> = (rest: Rest, signal: AbortSignal) => Promise<Answer<T>>

export interface GitHub {
  /**
   * Asks for what decides, again for up to 60 s where the fault may pass.
   *
   * @throws ActionError `github`
   * @throws Cancelled
   */
  decide<T>(question: Question, call: Call<T>): Promise<Answer<T>>
  /**
   * Asks once.
   *
   * @param signal ends it; the deadline and the cancel where there is none
   * @throws ActionError `github`
   */
  ask<T>(question: Question, call: Call<T>, signal?: AbortSignal): Promise<Answer<T>>
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

  const ask: GitHub['ask'] = async (question, call, signal = stop.signal) => {
    try {
      const answer = await call(rest, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]))
      // Octokit hands on what is no JSON, such as a cut answer, as the text it is.
      if (typeof answer.data === 'object') return answer
      throw new Error('the answer is no JSON')
    } catch (thrown) {
      if (stop.cancelled() && signal === stop.signal) throw new Cancelled()
      throw new GitHubFault(question, thrown, clock.date(), redact)
    }
  }
  const decide: GitHub['decide'] = async (question, call) => {
    const end = clock.now() + DECIDE_MS
    for (let tries = 1; ; tries++) {
      try {
        return await ask(question, call)
      } catch (thrown) {
        if (!(thrown instanceof GitHubFault) || !thrown.mayPass) throw thrown
        const left = Math.min(end - clock.now(), stop.remainingMs())
        const { least, wait } = delay(
          { retryAfterMs: thrown.retryAfterMs, capMs: REQUEST_MS },
          tries,
          random(),
        )
        if (least >= left) throw thrown
        log(`${thrown.message} Trying again.`)
        await clock.sleep(Math.min(wait, left), stop.signal)
        if (stop.cancelled()) throw new Cancelled()
      }
    }
  }
  return { decide, ask }
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
      missing
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
  const base = new URL(apiUrl)
  const proxy = base.protocol === 'https:' ? proxyFor(base, proxies) : undefined
  const dispatcher = new Agent({ connect: connector(buildConnector({}), proxy).connect })
  return async (url, init) => {
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
