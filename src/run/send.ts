/**
 * Sends a create request or a message until it is accepted, and never retries once it might have
 * been.
 */

import type { ServiceResult, SubmitRequest } from '../agent/client.js'
import type { Job } from '../agent/job.js'
import { ATTEMPT_MS, judgeSubmit, type SubmitVerdict, UNREACHABLE_MS } from '../agent/verdict.js'
import { RetryBudget, retryDelay } from '../net/backoff.js'
import { ActionError, Cancelled } from '../text/errors.js'
import { formatCount, formatDuration } from '../text/format.js'
import type { RunTools } from './step.js'

/**
 * How long before the deadline a retry is sent at the latest, in milliseconds: after a response, it
 * needs another one. [send.limited]
 */
const LATEST_MS = { unsent: 250, answered: 2_000 } as const

type Retry = Extract<SubmitVerdict, { next: 'retry' }>

/**
 * Retries only if `judgeSubmit` shows that the request wasn't accepted. [send.never-twice]
 * [send.unconnected]
 *
 * @param replaceable a new job can take the place of the one that gets the message
 * @returns the job in the service's response; undefined for a message that was accepted without a
 * readable job.
 * @throws ActionError if it is refused, if the time is up, or if its result is unknown.
 */
export async function send(
  request: SubmitRequest,
  prompt: string,
  tools: RunTools,
  // [send.message.ended]
  replaceable = false,
): Promise<Job | undefined> {
  const { service, clock, deadline, log, tell } = tools
  // [output.sent]
  const asked = request.kind === 'create' ? 'job' : 'message'
  // [send.unconnected]
  const budget = new RetryBudget(UNREACHABLE_MS, clock)
  // [output.timed-out]
  let last: Retry | undefined
  // [send.message.ended]
  let conflicts = 0

  // [output.timed-out] [cancel.before-post]
  if (deadline.signal.aborted && !deadline.cancelled()) throw unsentTimeoutError()
  // [send.never-twice] [send.limited] [send.unconnected]
  for (let attempts = 1; ; attempts++) {
    // [cancel.killed]
    tell({ kind: 'sending', asked })
    // [send.unconnected]
    const startedAt = clock.now()
    // [send.unknown]
    const result = await service.submit(request, prompt).catch(toUnknown)
    // [send.unconnected]
    budget.count(startedAt, ATTEMPT_MS.submit)
    // [send.message.ended] [send.limited]
    const context = { date: clock.date(), conflicts, replaceable }
    const verdict = judgeSubmit(request, result, context)
    // [send.message.ended]
    if (result.kind === 'error-response' && result.status === 409) conflicts++
    // [send.never-twice]
    if (verdict.next === 'accepted') return verdict.job
    // [send.unknown]
    const unknown = verdict.next === 'retry' ? undefined : verdict.unknown
    // [report.true]
    const posted = result.kind === 'aborted' ? result.sent : result.kind !== 'not-sent'
    // [output.sent] [report.true]
    tell(unknown === undefined ? { kind: 'not-accepted', posted } : { kind: 'unknown', asked })
    // [cancel.in-flight]
    if (deadline.cancelled()) throw new Cancelled(unknown)
    // [send.refused.final] [send.unknown]
    if (verdict.next === 'fail') throw verdict.error
    // [output.timed-out]
    if (verdict.next === 'aborted') throw unknown ?? last?.error ?? unsentTimeoutError()

    // [output.timed-out]
    last = verdict
    // [send.unconnected] [send.limited]
    const isUnsent = result.kind === 'not-sent'
    const untilDeadlineMs = deadline.remainingMs() - LATEST_MS[isUnsent ? 'unsent' : 'answered']
    const remainingMs = service.hasResponded()
      ? untilDeadlineMs
      : Math.min(untilDeadlineMs, budget.remainingMs)
    const { minDelayMs, delayMs } = retryDelay(verdict.backoff, attempts, tools.random())
    // What couldn't be sent is tried until the end; a service that answered is given the time that
    // it wants. [send.unconnected] [send.limited]
    if (remainingMs <= (isUnsent ? 0 : minDelayMs)) throw retryTimeoutError(verdict, attempts)
    // [send.limited]
    const waitMs = delayMs < remainingMs ? delayMs : Math.min(minDelayMs, remainingMs)
    // [report.log.lines]
    log(`${verdict.error.message} Retrying in ${formatDuration(Math.ceil(waitMs / 1000) * 1000)}.`)
    // [cancel.killed]
    tell({ kind: 'pausing' })
    // [net.deadline]
    await budget.sleep(waitMs, deadline.signal)
    // [cancel.before-post]
    if (deadline.cancelled()) throw new Cancelled()
    // [send.limited]
    if (deadline.signal.aborted) throw retryTimeoutError(verdict, attempts)
  }
}

/** If the action itself fails, the request may already have been sent. [send.unknown] */
function toUnknown(cause: unknown): ServiceResult {
  return { kind: 'no-response', reason: 'the action failed while sending it', cause }
}

// [send.limited] [send.unconnected]
function retryTimeoutError({ error, backoff }: Retry, attempts: number): ActionError {
  const { retryAfterMs = 0 } = backoff
  const reason =
    retryAfterMs > 0
      ? `It asks to wait ${formatDuration(retryAfterMs)}, which leaves no time for a response.`
      : `Tried ${formatCount(attempts, 'time')}.`
  return new ActionError(error.code, `${error.message} ${reason}`, error.advice, {
    cause: error.cause,
  })
}

// [output.timed-out]
function unsentTimeoutError(): ActionError {
  return new ActionError(
    'network',
    'Timed out before the request could be sent.',
    'Check base-url, the proxy variables and the network, or raise timeout-minutes.',
  )
}
