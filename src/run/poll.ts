/** Polls a job until it ends: when to poll, when to trust the status, when to give up. */

import type { ServiceResult } from '../agent/client.js'
import { isFinal, type Job } from '../agent/job.js'
import { ATTEMPT_MS, judgePoll, REFUSED_DELAY_MS, UNREACHABLE_MS } from '../agent/verdict.js'
import { RetryBudget, retryDelay } from '../net/backoff.js'
import { createDeadline, type Deadline } from '../net/deadline.js'
import { ActionError, Cancelled } from '../text/errors.js'
import { quote } from '../text/escape.js'
import type { PollTools } from './step.js'

/** For this long after a message (ms), a final status may still be the one from before it. */
const SETTLE_MS = 30_000

/** How long a poll past the deadline may take, in milliseconds. */
const LATE_POLL_MS = 2_000

/** With less time than this (ms) to settle, only a change proves that an end is new. */
const MIN_SETTLE_MS = 1_000

/** What the step did before it polls, and when on the clock. */
export type PrecededBy = Readonly<
  | { kind: 'create'; at: number }
  /** `job` as last seen before the message, or in the response to it. */
  | { kind: 'message'; at: number; job: Job | undefined }
  /** The service has just returned the job. */
  | { kind: 'status' }
  | { kind: 'nothing' }
>

export type PollOptions = Readonly<{
  jobId: string
  precededBy: PrecededBy
  /** Stop at the first job object, whatever its status. */
  once: boolean
  /** Undefined: adaptive. */
  pollIntervalMs: number | undefined
  timeoutMs: number
}>

/**
 * Polls the docs job until it ends, with a last poll at the deadline. [poll.last]
 *
 * @returns the docs job as last received: ended, unless it was to be polled once; undefined if it
 * hadn't ended at the deadline
 * @throws ActionError if a status request is refused for good, or if none ever got a response
 */
export async function pollUntilDone(
  options: PollOptions,
  tools: PollTools,
): Promise<Job | undefined> {
  const { service, clock, deadline } = tools
  const deadlineAt = clock.now() + deadline.remainingMs()
  const untilFinalPoll = createDeadline(
    deadlineAt - finalPollMarginMs(options.timeoutMs),
    deadline.cancel,
    clock,
  )
  const polling = createPolling(options, tools)
  let delayMs = polling.firstDelayMs
  // A create request or a message that was answered after the deadline leaves no time for a poll.
  const isTooLate = hasPassed(deadline) && ['create', 'message'].includes(options.precededBy.kind)
  try {
    for (let isOver = isTooLate; !isOver; ) {
      const remainingMs = untilFinalPoll.remainingMs()
      const isBroughtForward = delayMs > remainingMs
      await polling.budget.sleep(Math.min(delayMs, remainingMs), deadline.signal)
      if (deadline.cancelled()) break
      const isFinalPoll = delayMs >= remainingMs || hasPassed(untilFinalPoll)
      let until = isFinalPoll ? deadline : untilFinalPoll
      // A server may close an idle connection just as this poll is sent, which no other one
      // follows.
      if (isFinalPoll) service.close()
      // The process was frozen and has missed its final poll.
      const isLate = hasPassed(deadline)
      if (isLate) until = createDeadline(clock.now() + LATE_POLL_MS, deadline.cancel, clock)
      tools.tell({ kind: 'not-seen', reason: 'the last status request got no response' })
      const startedAt = clock.now()
      const result = await service.getJob(options.jobId, until)
      // A poll that hangs uses up the two minutes, too.
      polling.budget.count(startedAt, ATTEMPT_MS.poll)
      // A process that was frozen during its final poll makes another.
      isOver = isLate || (isFinalPoll && clock.now() < deadlineAt + LATE_POLL_MS)
      const next = polling.handle(result, { isBroughtForward, isFinalPoll })
      if (typeof next !== 'number') return next
      delayMs = next
    }
  } finally {
    untilFinalPoll.end()
  }
  if (deadline.cancelled()) throw new Cancelled()
  polling.requireResponse()
  return undefined
}

/**
 * How long to wait before the next poll, in milliseconds: a fixed interval; or a tenth of the
 * elapsed time, at least 5 s, at most 12 s, with 10 % of jitter either way, so that many steps
 * don't keep polling at the same moment. [poll.interval]
 */
export function pollDelay(elapsedMs: number, fixedMs: number | undefined, random: number): number {
  return fixedMs ?? Math.min(12_000, Math.max(5_000, elapsedMs / 10)) * (0.9 + random / 5)
}

/** Whether a deadline has passed, also if its timer is due and has not been called yet. */
function hasPassed({ signal, remainingMs }: Deadline): boolean {
  return signal.aborted || remainingMs() === 0
}

/** How long (ms) before the deadline the final poll starts: its response is to be in time. */
export function finalPollMarginMs(timeoutMs: number): number {
  return Math.min(2_000, timeoutMs / 20)
}

/**
 * A final status is trusted if the job was seen running since, if it differs from the final one
 * seen before the message or first after it, or if the settle time has passed. That the response to
 * the message itself says `active` proves nothing about the next poll. [poll.stale-end]
 *
 * @param settleMs counted from the message
 * @returns after how many milliseconds it is trusted: now, if 0
 */
function createFreshnessCheck(
  precededBy: PrecededBy,
  settleMs: number,
): (job: Job, now: number) => number {
  if (precededBy.kind !== 'message') return () => 0
  const { job: previous, at } = precededBy
  let seenRunning = false
  let firstSeen: Job | undefined
  return (job, now) => {
    seenRunning ||= !isFinal(job.status)
    const changed =
      (firstSeen !== undefined && endsDifferently(job, firstSeen)) ||
      (previous !== undefined && isFinal(previous.status) && endsDifferently(job, previous))
    firstSeen ??= job
    return seenRunning || changed ? 0 : Math.max(0, at + settleMs - now)
  }
}

/** The fields that a new end changes. Others, such as a clock, may always differ. */
const END_FIELDS = ['status', 'prLink', 'archivedAt'] as const

/** Compares the fields that both have: the response to a message may have fewer. */
function endsDifferently({ received: one }: Job, { received: other }: Job): boolean {
  return END_FIELDS.some(
    (name) => Object.hasOwn(one, name) && Object.hasOwn(other, name) && one[name] !== other[name],
  )
}

/** The job that ends the polling; or after how many milliseconds it is polled again. */
type Next = Job | number

/** Remembers what the polls have shown, and decides from the next one. [poll.refused] */
function createPolling(
  { jobId, precededBy, once, pollIntervalMs, timeoutMs }: PollOptions,
  { service, clock, deadline, random, log, debug, warn, tell }: PollTools,
) {
  /** The time left for a service that has never responded. */
  const budget = new RetryBudget(UNREACHABLE_MS, clock)
  const startedAt = clock.now()
  const halfMs = (deadline.remainingMs() - finalPollMarginMs(timeoutMs)) / 2
  const settleMs = halfMs < MIN_SETTLE_MS ? Number.POSITIVE_INFINITY : Math.min(SETTLE_MS, halfMs)
  const untilFresh = createFreshnessCheck(precededBy, settleMs)
  let failures = 0
  let refusals = 0
  let lastError = ''
  let isSeen = precededBy.kind !== 'nothing'
  let hasWarned = false

  /** @throws ActionError if no status request ever got a response */
  function requireResponse(): void {
    if (service.hasResponded()) return
    throw new ActionError(
      'network',
      `The service never answered a status request for docs job ${quote(jobId)}${lastError && `: ${lastError}`}.`,
      'Check base-url, the proxy variables and the network.',
    )
  }

  /** Polls again after this delay; a service that has never responded gets a limited time. */
  function retryWithin(delayMs: number): Next {
    if (service.hasResponded()) return delayMs
    if (budget.remainingMs <= 0) requireResponse()
    return Math.min(delayMs, budget.remainingMs)
  }

  /** A final status may be the one from before a message. */
  function handleJob(job: Job, now: number, delayMs: number): Next {
    if (job.status === undefined && !hasWarned) {
      hasWarned = true
      warn(`Undocumented status ${quote(job.rawStatus)}: the docs job counts as active.`)
    }
    const untilFreshMs = untilFresh(job, now)
    if (untilFreshMs > 0) {
      const stale = `${quote(job.rawStatus)}, which may predate the message`
      debug(`The docs job's status is ${stale}.`)
      tell({ kind: 'not-seen', reason: `the last response said ${stale}` })
      return Math.min(delayMs, untilFreshMs)
    }
    isSeen = true
    tell({ kind: 'seen', job })
    return once || isFinal(job.status) ? job : delayMs
  }

  return {
    budget,
    firstDelayMs: precededBy.kind === 'nothing' ? 0 : pollDelay(0, pollIntervalMs, random()),
    requireResponse,
    /**
     * @param poll.isBroughtForward the poll was sent before its time, because the deadline is near:
     * its refusal doesn't count as a repetition of the one before
     * @throws ActionError if polling is of no use any more
     */
    handle(
      result: ServiceResult,
      { isBroughtForward, isFinalPoll }: { isBroughtForward: boolean; isFinalPoll: boolean },
    ): Next {
      const now = clock.now()
      const context = {
        jobId,
        seen: isSeen,
        refusals: isBroughtForward ? 0 : refusals,
        sinceCreateMs: precededBy.kind === 'create' ? now - precededBy.at : undefined,
      }
      const verdict = judgePoll(result, context)
      const refusal = verdict.kind === 'retry' ? verdict.refusal : undefined
      refusals = refusal === undefined ? 0 : refusals + 1
      if (verdict.kind === 'aborted') return 0
      const delayMs = pollDelay(now - startedAt, pollIntervalMs, random())
      switch (verdict.kind) {
        case 'fail':
          throw verdict.error
        case 'retry': {
          failures++
          lastError = verdict.reason
          tell({ kind: 'not-seen', reason: lastError, advice: refusal?.advice })
          // The first of several errors in a row is for everyone, the others only for debugging.
          const say = failures === 1 ? log : debug
          say(`Couldn't get the docs job's status: ${lastError}.${isFinalPoll ? '' : ' Retrying.'}`)
          return retryWithin(
            refusal === undefined
              ? Math.max(delayMs, retryDelay(verdict.backoff, failures, random()).delayMs)
              : REFUSED_DELAY_MS,
          )
        }
        case 'job':
          failures = 0
          return handleJob(verdict.job, now, delayMs)
      }
    },
  }
}
