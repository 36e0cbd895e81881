/** May a request be sent again, and after how long? Pure: replies in, verdicts out. */

import { ActionError } from '../errors.js'
import { quote } from '../escape.js'
import type { Reply } from './client.js'
import type { Job } from './job.js'

/** What a POST does. */
export type Post = { readonly kind: 'create' } | { readonly kind: 'message'; readonly jobId: string }

/** What to do after a create or a message. */
export type PostVerdict =
  /** The service took it. A message may be taken without a readable job; the id is known. */
  | { readonly next: 'taken'; readonly job: Job | undefined }
  /** Proven not taken: send it again, unless the time is over; `error` is then how it ends. */
  | { readonly next: 'again'; readonly error: ActionError; readonly pause: Pause; readonly answered: boolean }
  /** `unknown` is set where it may have been taken all the same. */
  | { readonly next: 'fail'; readonly error: ActionError; readonly unknown?: ActionError }
  | { readonly next: 'stopped'; readonly unknown?: ActionError }

/** What to do after a look at a job. */
export type LookVerdict =
  | { readonly next: 'see'; readonly job: Job }
  | { readonly next: 'again'; readonly why: string; readonly pause: Pause }
  | { readonly next: 'fail'; readonly error: ActionError }
  | { readonly next: 'stopped' }

/** How long to wait: as long as the service asks for, else backing off up to a cap. */
export interface Pause {
  readonly retryAfterMs: number | undefined
  readonly capMs: number
}

/** How long after a create a 404 may mean that the job is not to be seen yet, in milliseconds. */
export const UNSEEN_MS = 30_000

/** How many complete answers in a row may hold no job before a wait ends. */
export const STRANGE_LIMIT = 3

/** How long an address that never answered is tried, in milliseconds. */
export const UNREACHABLE_MS = 120_000

const UNSENT_CAP_MS = 10_000
const BUSY_CAP_MS = 60_000
const LOOK_CAP_MS = 30_000

/**
 * Judges a create or a message.
 *
 * It is sent again only when it is proven that it was not taken: a second job costs money and a second pull request,
 * and the service has no idempotency key. So not after any 5xx either: a cache puts `Retry-After` on its own 503 after
 * the request went through.
 */
export function judgePost(post: Post, reply: Reply, date: Date): PostVerdict {
  const perhaps = (reason: string, cause?: unknown): PostVerdict => {
    const unknown = unknownFate(post, reason, cause)
    return { next: 'fail', error: unknown, unknown }
  }
  switch (reply.kind) {
    case 'job':
      return { next: 'taken', job: reply.job }
    case 'no-job':
      return post.kind === 'message'
        ? { next: 'taken', job: undefined }
        : {
            ...perhaps(`the answer holds no job (${reply.words})`),
            next: 'fail',
            error: createdWithoutJob(reply.words),
          }
    case 'stopped':
      return reply.sent
        ? { next: 'stopped', unknown: unknownFate(post, 'no answer came before it was ended') }
        : { next: 'stopped' }
    case 'lost':
      return perhaps(reply.reason, reply.cause)
    case 'unsent': {
      const error = unreachable(reply)
      return reply.refusal !== undefined
        ? { next: 'fail', error }
        : { next: 'again', error, pause: { retryAfterMs: undefined, capMs: UNSENT_CAP_MS }, answered: false }
    }
    case 'refused': {
      if (reply.status >= 500) return perhaps(`the service answered ${reply.words}`)
      const error = refusal(reply, post)
      const busy = reply.status === 429 || (reply.status === 409 && post.kind === 'message')
      const pause = { retryAfterMs: retryAfter(reply.retryAfter, date), capMs: BUSY_CAP_MS }
      return busy ? { next: 'again', error, pause, answered: true } : { next: 'fail', error }
    }
  }
}

/** What a look is judged by. */
export interface LookContext {
  readonly jobId: string
  /** Milliseconds since this step created the job; undefined where it did not. */
  readonly sinceCreateMs: number | undefined
  /** How many complete answers in a row, before this one, held no job. */
  readonly strange: number
}

/** Judges a look at a job. A look changes nothing, so whatever may pass is tried again. */
export function judgeLook(reply: Reply, context: LookContext, date: Date): LookVerdict {
  const again = (why: string, retryAfterMs?: number): LookVerdict => ({
    next: 'again',
    why,
    pause: { retryAfterMs, capMs: LOOK_CAP_MS },
  })
  switch (reply.kind) {
    case 'job':
      return { next: 'see', job: reply.job }
    case 'stopped':
      return { next: 'stopped' }
    case 'no-job':
      return context.strange + 1 < STRANGE_LIMIT
        ? again(`the service answered no job (${reply.words})`)
        : { next: 'fail', error: noJob(context.jobId, reply.words) }
    case 'lost':
      return again(reply.reason)
    case 'unsent':
      return reply.refusal === undefined ? again(reply.reason) : { next: 'fail', error: unreachable(reply) }
    case 'refused': {
      const { status, words } = reply
      const unseen = status === 404 && (context.sinceCreateMs ?? Number.POSITIVE_INFINITY) <= UNSEEN_MS
      return status >= 500 || status === 429 || unseen
        ? again(`the service answered ${words}`, retryAfter(reply.retryAfter, date))
        : { next: 'fail', error: refusal(reply, { kind: 'look', jobId: context.jobId }) }
    }
  }
}

/**
 * How long to wait before the next try, in milliseconds.
 *
 * `least` is what has to be waited at least; `wait` has jitter on top, so that many runs that were refused together do
 * not come back together: up to a quarter of what the service asked for, or up to half of an exponential back-off.
 *
 * @param tries how many tries there have been, from 1
 * @param random from 0 to 1
 */
export function delay(pause: Pause, tries: number, random: number): { least: number; wait: number } {
  if (pause.retryAfterMs !== undefined) {
    const least = Math.max(pause.retryAfterMs, 1000)
    return { least, wait: least * (1 + random / 4) }
  }
  const full = Math.min(pause.capMs, 1000 * 2 ** (tries - 1))
  return { least: full / 2, wait: (full / 2) * (1 + random) }
}

/** `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3); undefined where it is neither. */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  const value = header?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000
  // Two of its three forms name GMT; the oldest, asctime's, means it.
  const zoned = /^[A-Za-z]{3} [^,]*\d$/.test(value) ? `${value} GMT` : value
  const date = /^[A-Za-z]{3,9},? .*\d\d:\d\d/.test(value) ? Date.parse(zoned) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}

const WHERE_TO_LOOK =
  "Look among the agent's jobs in the service's dashboard and the open pull requests of the docs repository " +
  'before you run this again'

/** Sent, and what became of it is not known. */
export function unknownFate(post: Post, reason: string, cause?: unknown): ActionError {
  return post.kind === 'create'
    ? new ActionError(
        'create-unknown',
        `The create was sent, and what became of it is unknown: ${reason}. A job may exist.`,
        `It was not sent again, since that could create a second job. ${WHERE_TO_LOOK}; ` +
          'a step with its job-id and no prompt follows it.',
        { cause },
      )
    : new ActionError(
        'create-unknown',
        `The message to job ${quote(post.jobId)} was sent, and what became of it is unknown: ${reason}. ` +
          'The job may be working on it.',
        'It was not sent again, since the job could then do it twice. Look at the job: a step with this job-id ' +
          'and no prompt follows it.',
        { cause },
      )
}

function createdWithoutJob(words: string): ActionError {
  return new ActionError(
    'contract',
    `The create was answered with success, but without a job (${words}). A job may exist.`,
    `It was not sent again. ${WHERE_TO_LOOK}, and check that base-url is the address of an agent service.`,
  )
}

function noJob(jobId: string, words: string): ActionError {
  return new ActionError(
    'contract',
    `The service answered ${STRANGE_LIMIT} times in a row with success, but without the job ${quote(jobId)} (${words}).`,
    'Check that base-url is the address of an agent service.',
  )
}

/** No request left: nothing can have happened at the service. */
export function unreachable(reply: Extract<Reply, { kind: 'unsent' }>): ActionError {
  const { reason, refusal, cause } = reply
  switch (refusal) {
    case 'certificate':
      return new ActionError(
        'network',
        `The service's certificate is not trusted: ${reason}. Nothing was sent.`,
        'Check base-url. Where the certificate authority is your own, set NODE_EXTRA_CA_CERTS to the file that holds ' +
          "it, in the step's env.",
        { cause },
      )
    case 'proxy-authentication':
      return new ActionError(
        'network',
        `The proxy wants other credentials: ${reason}. Nothing was sent.`,
        'Put the user and the password into HTTPS_PROXY (http://user:password@host:port), or name the service in NO_PROXY.',
        { cause },
      )
    case undefined:
      return new ActionError(
        'network',
        `The service can't be reached: ${reason}. Nothing was sent.`,
        'Check base-url, the proxy variables and the network, then run it again.',
        { cause },
      )
  }
}

type Asked = Post | { readonly kind: 'look'; readonly jobId: string }

/** A complete answer that refuses: nothing was taken. */
function refusal(reply: Extract<Reply, { kind: 'refused' }>, asked: Asked): ActionError {
  const { status, words } = reply
  const what = { create: 'create', message: 'message', look: 'look at the job' }[asked.kind]
  const text = `The service refused the ${what} with ${words}.`
  if (status < 400) {
    return new ActionError(
      'contract',
      `The service answered the ${what} with a redirect (${words}).`,
      'The key is never sent elsewhere. If the service has moved to a place that you trust, set base-url to it.',
    )
  }
  switch (status) {
    case 401:
      return new ActionError(
        'auth',
        text,
        'Check that api-key is a current admin key (mint_…, neither mint_dsc_… nor mint_us_…): keys expire.',
      )
    case 403:
      return new ActionError(
        'auth',
        text,
        "Check that the key belongs to this project-id, and that the runner's address is in the key's allow-list.",
      )
    case 404:
      return new ActionError(
        'not-found',
        text,
        asked.kind === 'create' ? 'Check project-id and base-url.' : 'Check job-id, project-id and base-url.',
      )
    case 409:
      return new ActionError(
        'rejected',
        text,
        'The job is busy. Wait for it first, or raise timeout-minutes.',
      )
    case 429:
      return new ActionError(
        'rate-limited',
        text,
        'The service takes 100 creates and 100 messages per project and hour. Run it later, or less often.',
      )
    default:
      return new ActionError('rejected', text, 'Change what the service objects to, then run it again.')
  }
}
