/** Sends a request until it is accepted, and never again once it might have been. */

import type { ServiceResult } from '../agent/client.js'
import { isFinal, type Job } from '../agent/job.js'
import { ATTEMPT_MS, judgeSubmit, type SubmitVerdict, UNREACHABLE_MS } from '../agent/verdict.js'
import { RetryBudget, retryDelay } from '../net/backoff.js'
import { ActionError, Cancelled } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { formatCount, formatDuration } from '../text/format.js'
import type { RunTools } from './step.js'
import type { Sending } from './task.js'

/** How long before the deadline (ms) a retry is sent at the latest: it needs a response. */
const LATEST_MS = { unsent: 250, answered: 2_000 }

type Retry = Extract<SubmitVerdict, { kind: 'retry' }>

/**
 * What is to be sent by now; undefined if that is another request, or none.
 *
 * @throws ActionError the refusal's, if nobody can tell in time
 */
export type LookAgain = (refusal: ActionError) => Promise<Sending | undefined>

/**
 * Retries only if `judgeSubmit` shows that the request wasn't accepted. [send.never-twice] Whoever
 * has waited behind a refusal looks again at what decided. [send.look-again]
 *
 * @returns the job in the service's response; undefined for a message that was accepted without a
 * readable job.
 * @throws ActionError if it is refused, if the time is up, or if its result is unknown.
 */
export async function sendUntilAccepted(
  task: Sending,
  tools: RunTools,
  lookAgain?: LookAgain,
): Promise<Job | undefined> {
  const { service, clock, deadline, log, tell } = tools
  const asked = task.kind === 'create' ? 'job' : 'message'
  const budget = new RetryBudget(UNREACHABLE_MS, clock)
  let last: Retry | undefined
  let conflicts = 0
  let { prompt } = task
  let replaceable = hasEnded(task)

  if (deadline.signal.aborted && !deadline.cancelled()) throw unsentTimeoutError()
  for (let attempts = 1; ; attempts++) {
    tell({ kind: 'sending', asked })
    const startedAt = clock.now()
    const result = await service.submit(task, prompt).catch(toNoResponse)
    budget.count(startedAt, ATTEMPT_MS.submit)
    const verdict = judgeSubmit(task, result, { conflicts, replaceable })
    if (result.kind === 'error-response' && result.status === 409) conflicts++
    if (verdict.kind === 'accepted') {
      if (result.kind === 'job' && verdict.job === undefined) {
        const text = `The answer to the message names another docs job: ${quote(result.job.id)}.`
        tell({ kind: 'noted', text })
      }
      return verdict.job
    }
    const unknown = 'unknown' in verdict ? verdict.unknown : undefined
    const isUnsent = result.kind === 'not-sent'
    const posted = result.kind === 'aborted' ? result.sent : !isUnsent
    tell(unknown === undefined ? { kind: 'not-accepted', posted } : { kind: 'unknown', asked })
    if (deadline.cancelled()) throw new Cancelled(unknown)
    if (verdict.kind === 'fail') throw verdict.error
    // When time is up, the last try says more.
    if (verdict.kind === 'aborted') throw unknown ?? last?.error ?? unsentTimeoutError()

    last = verdict
    const untilDeadlineMs = deadline.remainingMs() - LATEST_MS[isUnsent ? 'unsent' : 'answered']
    const remainingMs = service.hasResponded()
      ? untilDeadlineMs
      : Math.min(untilDeadlineMs, budget.remainingMs)
    const { minDelayMs, delayMs } = retryDelay(verdict.backoff, attempts, tools.random())
    // What couldn't be sent is tried until the end; a service that answered is given the time that
    // it wants.
    if (remainingMs <= (isUnsent ? 0 : minDelayMs))
      throw retryTimeoutError(verdict, attempts, verdict.backoff.retryAfterMs)
    const waitMs = delayMs < remainingMs ? delayMs : Math.min(minDelayMs, remainingMs)
    const next = verdict.isDoubted ? 'Looking at the docs job again' : 'Retrying'
    log(`${verdict.error.message} ${next} in ${formatDuration(Math.ceil(waitMs / 1000) * 1000)}.`)
    tell({ kind: 'pausing' })
    await budget.sleep(waitMs, deadline.signal)
    if (deadline.cancelled()) throw new Cancelled()
    if (deadline.signal.aborted) throw retryTimeoutError(verdict, attempts)
    if (isUnsent || lookAgain === undefined) continue
    // No Refusal, for which a new job may take its place: nobody has seen that it may.
    const now = await lookAgain(retryTimeoutError(verdict, attempts))
    if (now === undefined || (verdict.isDoubted && hasEnded(now))) throw verdict.error
    // It is busy: what it refused says nothing of its end.
    if (!hasEnded(now)) conflicts = 0
    replaceable ||= hasEnded(now)
    prompt = now.prompt
  }
}

/** Whether the docs job that gets the message was seen ended. */
export function hasEnded(task: Sending): boolean {
  return task.kind === 'message' && isFinal(task.job?.status)
}

/** If the action itself fails, the request may already have been sent. */
function toNoResponse(cause: unknown): ServiceResult {
  return { kind: 'no-response', reason: 'the action failed while sending it', cause }
}

/** @param askedMs is what the service asks to wait, if there is no time for that */
function retryTimeoutError({ error }: Retry, attempts: number, askedMs = 0): ActionError {
  const reason =
    askedMs > 0
      ? `It asks to wait ${formatDuration(askedMs)}, which leaves no time for a response.`
      : `Tried ${formatCount(attempts, 'time')}.`
  return new ActionError(error.code, `${error.message} ${reason}`, error.advice, {
    cause: error.cause,
  })
}

function unsentTimeoutError(): ActionError {
  return new ActionError(
    'network',
    'Timed out before the request could be sent.',
    'Check base-url, the proxy variables and the network, or raise timeout-minutes.',
  )
}
