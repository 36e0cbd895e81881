/** Retry policy: may a request to the service be retried, and after how long? Pure. */

import type { Backoff } from '../net/backoff.js'
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
  | { kind: 'accepted'; job: Job | undefined }
  /** Certainly not accepted: retry while there is time, else end with `error`. */
  | {
      kind: 'retry'
      error: ActionError
      backoff: Backoff
      /** Only if the docs job turns out to be busy: if it has ended, a new one takes its place. */
      isDoubted?: boolean
    }
  /** `unknown` is set if the request may have been accepted all the same. */
  | { kind: 'fail'; error: ActionError; unknown?: ActionError }
  | { kind: 'aborted'; unknown?: ActionError }
>

export type PollVerdict = Readonly<
  | { kind: 'job'; job: Job }
  | {
      kind: 'retry'
      reason: string
      backoff: Backoff
      /** A refusal, or no job, is asked about again after `REFUSED_DELAY_MS`. */
      refusal?: ActionError
    }
  | { kind: 'fail'; error: ActionError }
  | { kind: 'aborted' }
>

/** How long (ms) a 404 may mean that a new job isn't visible yet. [poll.new-job.grace] */
const VISIBILITY_GRACE_MS = 30_000

/** How many refused polls in a row are believed: gateways refuse for a moment. [poll.refused] */
const REFUSED_TRIES = 4

/** How long to wait before a refused poll is repeated, in milliseconds: together about 10 s. */
export const REFUSED_DELAY_MS = 3_400

/** How long (ms) a dead address is tried. [send.unconnected] [poll.dead-address] */
export const UNREACHABLE_MS = 120_000

/** How much of that time one request uses up at most (ms): 10 s to connect, 30 s for a response. */
export const ATTEMPT_MS = { submit: 10_000, poll: 40_000 }

const CONNECT_BACKOFF_CAP_MS = 10_000
const RATE_LIMIT_BACKOFF_CAP_MS = 60_000
const POLL_BACKOFF_CAP_MS = 30_000

export type SubmitContext = Readonly<{
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
  { conflicts, replaceable }: SubmitContext,
): SubmitVerdict {
  const failUnknown = (reason: string, cause?: unknown): SubmitVerdict => {
    const unknown = resultUnknown(request, reason, { cause })
    return { kind: 'fail', error: unknown, unknown }
  }
  switch (result.kind) {
    case 'job': {
      // The message was accepted, whichever docs job the answer is about.
      const isAnother = request.kind === 'message' && result.job.id !== request.jobId
      return { kind: 'accepted', job: isAnother ? undefined : result.job }
    }
    case 'no-job': {
      const isMessage = request.kind === 'message'
      if (isMessage && !result.isPage) return { kind: 'accepted', job: undefined }
      const unknown = resultUnknown(request, `the response contains ${noJob(result)}`, result)
      return { kind: 'fail', error: isMessage ? unknown : createdWithoutJob(result), unknown }
    }
    case 'aborted':
      return result.sent
        ? { kind: 'aborted', unknown: resultUnknown(request, ENDED_FIRST) }
        : { kind: 'aborted' }
    case 'no-response':
      return failUnknown(result.reason, result.cause)
    case 'not-sent': {
      const error = cannotConnect(result)
      if (result.permanent !== undefined) return { kind: 'fail', error }
      return { kind: 'retry', error, backoff: { capMs: CONNECT_BACKOFF_CAP_MS } }
    }
    case 'error-response': {
      const { status, retryAfterMs } = result
      // 303 says that the request was carried out, and where its result is (RFC 9110, 15.4.4).
      if (status >= 500 || status === 303)
        return failUnknown(`the service responded ${result.description}`)
      const error = createRefusal(result, request)
      const isBusy =
        status === 409 &&
        request.kind === 'message' &&
        !(replaceable && conflicts + 1 >= MAX_CONFLICTS)
      const isDoubted = !isBusy && replaceable && status !== 404 && refusesMessage(error)
      if (status !== 429 && !isBusy && !isDoubted) return { kind: 'fail', error }
      // What is gone is so at once, whatever it asks for.
      const backoff = {
        retryAfterMs: isDoubted ? undefined : retryAfterMs,
        capMs: RATE_LIMIT_BACKOFF_CAP_MS,
      }
      return { kind: 'retry', error, backoff, isDoubted }
    }
  }
}

/** After how many 409s of an ended job a message gives way to a new one. */
const MAX_CONFLICTS = 3

/** Statuses that say nothing about the job: a new one has the same key, plan, length and time. */
const NOT_ABOUT_THE_JOB = [401, 402, 403, 408, 413, 425, 429]

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
  /** Milliseconds since this step created the job; infinite if it did not. */
  sinceCreateMs: number
}>

/**
 * Judges a status request. Polling changes nothing, so it is retried after every temporary failure,
 * and a refusal of any kind is only believed when it is repeated. [poll.retry]
 */
export function judgePoll(result: ServiceResult, context: PollContext): PollVerdict {
  const retry = (reason: string, retryAfterMs?: number) => ({
    kind: 'retry' as const,
    reason,
    backoff: { retryAfterMs, capMs: POLL_BACKOFF_CAP_MS },
  })
  const refuse = (reason: string, error: ActionError): PollVerdict =>
    context.refusals + 1 < REFUSED_TRIES
      ? { ...retry(reason), refusal: error }
      : { kind: 'fail', error }
  const withoutJob = (contained: string, isPage?: boolean): PollVerdict =>
    refuse(
      `the response contains ${contained}`,
      missingJob(context.jobId, context.seen, contained, isPage),
    )
  switch (result.kind) {
    case 'job':
      if (result.job.id === context.jobId) return { kind: 'job', job: result.job }
      return withoutJob(`another docs job, ${quote(result.job.id)}`)
    case 'aborted':
      return { kind: 'aborted' }
    case 'no-job':
      return withoutJob(noJob(result), result.isPage)
    case 'no-response':
      return retry(result.reason)
    case 'not-sent':
      return result.permanent === undefined
        ? retry(result.reason)
        : { kind: 'fail', error: cannotConnect(result) }
    case 'error-response': {
      const { status, description } = result
      const reason = `the service responded ${description}`
      if (status >= 500 || [408, 425, 429].includes(status)) {
        return retry(reason, result.retryAfterMs)
      }
      const isNew = context.sinceCreateMs <= VISIBILITY_GRACE_MS
      if (status === 404 && isNew) return retry(reason)
      return refuse(reason, createRefusal(result, { kind: 'poll', seen: context.seen }))
    }
  }
}
