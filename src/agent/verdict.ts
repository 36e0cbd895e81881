/** Retry policy: may a request to the service be retried, and after how long? Pure. */

import { type Backoff, parseRetryAfter } from '../net/backoff.js'
import type { ActionError } from '../text/errors.js'
import { quote } from '../text/escape.js'
import type { ServiceResult, SubmitRequest } from './client.js'
import type { Job } from './job.js'
import {
  cannotConnect,
  createdWithoutJob,
  createRefusal,
  missingJob,
  noJob,
  type Refusal,
} from './problems.js'
import { ENDED_FIRST, resultUnknown } from './result-unknown.js'

export type SubmitVerdict = Readonly<
  /** The service accepted it. A message may be accepted without a readable job; the id is known. */
  | { next: 'accepted'; job: Job | undefined }
  /** Certainly not accepted: retry while there is time, else end with `error`. */
  | { next: 'retry'; error: ActionError; backoff: Backoff }
  /** `unknown` is set if the request may have been accepted all the same. */
  | { next: 'fail'; error: ActionError; unknown?: ActionError }
  | { next: 'aborted'; unknown?: ActionError }
>

export type PollVerdict = Readonly<
  | { next: 'job'; job: Job }
  | {
      next: 'retry'
      reason: string
      backoff: Backoff
      /** A refusal, or no job: asked again after `REFUSED_DELAY_MS`. */
      refusal?: ActionError
    }
  | { next: 'fail'; error: ActionError }
  | { next: 'aborted' }
>

/**
 * For this long after a create request (ms), a 404 may mean that the job isn't visible yet.
 * [poll.new-job.grace]
 */
export const VISIBILITY_GRACE_MS = 30_000

/**
 * So many refused polls in a row are believed: gateways refuse for a moment, too.
 * [poll.refused]
 */
export const REFUSED_TRIES = 4

/**
 * How long to wait before each of these is repeated, in milliseconds: together about 10 s.
 * [poll.refused]
 */
export const REFUSED_DELAY_MS = 3_400

/**
 * How long a host that never responded is tried, in milliseconds.
 * [send.unconnected] [poll.dead-address]
 */
export const UNREACHABLE_MS = 120_000

/**
 * The most that one request counts for that (ms): 10 s to connect, 30 s for a poll's response.
 * [send.unconnected] [poll.dead-address]
 */
export const ATTEMPT_MS = { submit: 10_000, poll: 40_000 }

// [send.unconnected]
const CONNECT_BACKOFF_CAP_MS = 10_000
// [send.limited]
const RATE_LIMIT_BACKOFF_CAP_MS = 60_000
// [poll.retry]
const POLL_BACKOFF_CAP_MS = 30_000

export type SubmitContext = Readonly<{
  date: Date
  conflicts: number
  /** A new job can take the place of the one that gets the message, because that one has ended. */
  replaceable: boolean
}>

/**
 * It is retried only if it certainly wasn't accepted: a second job costs money and opens a second
 * pull request, and the API has no idempotency key. So no 5xx is retried either: a cache puts
 * `Retry-After` on its own 503 after the request went through. [send.never-twice]
 */
export function judgeSubmit(
  request: SubmitRequest,
  result: ServiceResult,
  { date, conflicts, replaceable }: SubmitContext,
): SubmitVerdict {
  // [send.unknown]
  const failUnknown = (reason: string, cause?: unknown): SubmitVerdict => {
    const unknown = resultUnknown(request, reason, { cause })
    return { next: 'fail', error: unknown, unknown }
  }
  // [send.never-twice]
  switch (result.kind) {
    // [send.job.required]
    case 'job': {
      // [send.no-job]
      const isAnother = request.kind === 'message' && result.job.id !== request.jobId
      return { next: 'accepted', job: isAnother ? undefined : result.job }
    }
    // [send.no-job]
    case 'no-job': {
      const isMessage = request.kind === 'message'
      if (isMessage && !result.isPage) return { next: 'accepted', job: undefined }
      const unknown = resultUnknown(request, `the response contains ${noJob(result)}`, result)
      return { next: 'fail', error: isMessage ? unknown : createdWithoutJob(result), unknown }
    }
    // [send.unknown]
    case 'aborted':
      return result.sent
        ? { next: 'aborted', unknown: resultUnknown(request, ENDED_FIRST) }
        : { next: 'aborted' }
    // [send.unknown]
    case 'no-response':
      return failUnknown(result.reason, result.cause)
    // [send.unconnected]
    case 'not-sent': {
      const error = cannotConnect(result)
      // [send.certificate.final]
      if (result.permanent !== undefined) return { next: 'fail', error }
      // [send.unconnected]
      return { next: 'retry', error, backoff: { capMs: CONNECT_BACKOFF_CAP_MS } }
    }
    // [send.never-twice]
    case 'error-response': {
      const { status } = result
      // 303 says that the request was carried out, and where its result is (RFC 9110, 15.4.4).
      // [send.unknown]
      if (status >= 500 || status === 303)
        return failUnknown(`the service responded ${result.description}`)
      // [send.refused.final]
      const error = createRefusal(result, request)
      // [send.limited]
      const isBusy =
        status === 409 &&
        request.kind === 'message' &&
        // [send.message.ended]
        !(replaceable && conflicts + 1 >= MAX_CONFLICTS)
      // [send.limited]
      if (status !== 429 && !isBusy) return { next: 'fail', error }
      const retryAfterMs = parseRetryAfter(result.retryAfter, date)
      const backoff = { retryAfterMs, capMs: RATE_LIMIT_BACKOFF_CAP_MS }
      return { next: 'retry', error, backoff }
    }
  }
}

/** After how many 409s a message gives way to a new job. [send.message.ended] */
const MAX_CONFLICTS = 3

/**
 * Statuses that say nothing about the job: a new one has the same key, time and limit.
 * [send.message.ended]
 */
const NOT_ABOUT_THE_JOB = [401, 403, 408, 425, 429]

/**
 * Whether a message was refused because its job has ended: a new one can take its place. Whatever
 * is in front of the service knows nothing of that. [send.message.ended]
 */
export function refusesMessage({ response: { status, isForeign } }: Refusal): boolean {
  return status >= 400 && !isForeign && !NOT_ABOUT_THE_JOB.includes(status)
}

export type PollContext = Readonly<{
  jobId: string
  seen: boolean
  refusals: number
  /** Milliseconds since this step created the job; undefined if it did not. */
  sinceCreateMs: number | undefined
}>

/**
 * Judges a status request. Polling changes nothing, so it is retried after every temporary failure,
 * and a refusal of any kind is only believed when it is repeated. [poll.retry]
 */
export function judgePoll(result: ServiceResult, context: PollContext, date: Date): PollVerdict {
  const retry = (reason: string, retryAfterMs?: number) => ({
    next: 'retry' as const,
    reason,
    backoff: { retryAfterMs, capMs: POLL_BACKOFF_CAP_MS },
  })
  // [poll.refused]
  const refuse = (reason: string, error: ActionError): PollVerdict =>
    context.refusals + 1 < REFUSED_TRIES
      ? { ...retry(reason), refusal: error }
      : { next: 'fail', error }
  // [poll.refused]
  const withoutJob = (contained: string, isPage?: boolean): PollVerdict =>
    refuse(
      `the response contains ${contained}`,
      missingJob(context.jobId, context.seen, contained, isPage),
    )
  // [poll.retry]
  switch (result.kind) {
    // [poll.refused]
    case 'job':
      // [poll.retry]
      if (result.job.id === context.jobId) return { next: 'job', job: result.job }
      // [poll.refused]
      return withoutJob(`another docs job, ${quote(result.job.id)}`)
    // [net.deadline]
    case 'aborted':
      return { next: 'aborted' }
    // [poll.refused]
    case 'no-job':
      return withoutJob(noJob(result), result.isPage)
    // [poll.retry]
    case 'no-response':
      return retry(result.reason)
    // [send.certificate.final]
    case 'not-sent':
      return result.permanent === undefined
        ? retry(result.reason)
        : { next: 'fail', error: cannotConnect(result) }
    // [poll.refused]
    case 'error-response': {
      const { status, description } = result
      // [report.log.lines]
      const reason = `the service responded ${description}`
      // [poll.retry]
      if (status >= 500 || [408, 425, 429].includes(status)) {
        return retry(reason, parseRetryAfter(result.retryAfter, date))
      }
      // [poll.new-job.grace]
      const isNew = (context.sinceCreateMs ?? Number.POSITIVE_INFINITY) <= VISIBILITY_GRACE_MS
      if (status === 404 && isNew) return retry(reason)
      // [poll.refused] [send.refused.foreign]
      return refuse(reason, createRefusal(result, { kind: 'poll', seen: context.seen }))
    }
  }
}
