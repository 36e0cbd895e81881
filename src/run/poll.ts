/** Polls a job until it ends: when to poll, when to trust the status, when to give up. */

import { isFinal, type Job } from '../agent/job.js'
import {
  ATTEMPT_MS,
  judgePoll,
  type PollVerdict,
  REFUSED_DELAY_MS,
  UNREACHABLE_MS,
} from '../agent/verdict.js'
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
  pollIntervalMs?: number | undefined
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
  const { jobId, precededBy, once, pollIntervalMs, timeoutMs } = options
  const { service, clock, deadline, random, tell } = tools
  const beganAt = clock.now()
  const deadlineAt = beganAt + deadline.remainingMs()
  const untilFinalPoll = createDeadline(
    deadlineAt - finalPollMarginMs(timeoutMs),
    deadline.cancel,
    clock,
  )
  const halfMs = untilFinalPoll.remainingMs() / 2
  const settleMs = halfMs < MIN_SETTLE_MS ? Infinity : Math.min(SETTLE_MS, halfMs)
  /** The time left for a service that has never responded. */
  const budget = new RetryBudget(UNREACHABLE_MS, clock)
  let polled = NEVER_POLLED
  let delayMs = precededBy.kind === 'nothing' ? 0 : pollDelay(0, pollIntervalMs, random())
  // A create request or a message that was answered after the deadline leaves no time for a poll.
  let isOver = hasPassed(deadline) && 'at' in precededBy
  try {
    while (!isOver) {
      const remainingMs = untilFinalPoll.remainingMs()
      const isBroughtForward = delayMs > remainingMs
      await budget.sleep(Math.min(delayMs, remainingMs), deadline.signal)
      if (deadline.cancelled()) break
      const isFinalPoll = delayMs >= remainingMs || hasPassed(untilFinalPoll)
      let until = isFinalPoll ? deadline : untilFinalPoll
      // A server may close an idle connection just as this poll is sent, which no other one
      // follows.
      if (isFinalPoll) service.close()
      // The process was frozen and has missed its final poll.
      const isLate = hasPassed(deadline)
      if (isLate) until = createDeadline(clock.now() + LATE_POLL_MS, deadline.cancel, clock)
      tell({ kind: 'not-seen', reason: 'the last status request got no response' })
      const startedAt = clock.now()
      const result = await service.getJob(jobId, until)
      // A poll that hangs uses up the two minutes, too.
      budget.count(startedAt, ATTEMPT_MS.poll)
      const now = clock.now()
      // A process that was frozen during its final poll makes another.
      isOver = isLate || (isFinalPoll && now < deadlineAt + LATE_POLL_MS)
      const verdict = judgePoll(result, {
        jobId,
        seen: precededBy.kind !== 'nothing' || polled.shown !== undefined,
        // A refusal that came before its time is no repetition of the one before.
        refusals: isBroughtForward ? 0 : polled.refusals,
        sinceCreateMs: precededBy.kind === 'create' ? now - precededBy.at : Infinity,
      })
      const before = polled
      polled = polledAfter(before, verdict)
      delayMs = verdict.kind === 'aborted' ? 0 : pollDelay(now - beganAt, pollIntervalMs, random())
      switch (verdict.kind) {
        case 'fail':
          throw verdict.error
        case 'retry':
          tellFailure(verdict, polled.failures, isFinalPoll, tools)
          delayMs =
            verdict.refusal === undefined
              ? Math.max(delayMs, retryDelay(verdict.backoff, polled.failures, random()).delayMs)
              : REFUSED_DELAY_MS
          if (service.hasResponded()) break
          isOver ||= budget.remainingMs <= 0
          delayMs = Math.min(delayMs, budget.remainingMs)
          break
        case 'job': {
          const { job } = verdict
          if (polled.hasUndocumented && !before.hasUndocumented)
            tools.warn(
              `Undocumented status ${quote(job.rawStatus)}: the docs job counts as active.`,
            )
          const freshInMs = untilFresh(polled, job, precededBy, settleMs, now)
          if (freshInMs > 0) {
            tellStale(job, tools)
            delayMs = Math.min(delayMs, freshInMs)
            break
          }
          tell({ kind: 'seen', job })
          if (once || isFinal(job.status)) return job
        }
      }
    }
  } finally {
    untilFinalPoll.end()
  }
  if (deadline.cancelled()) throw new Cancelled()
  if (!service.hasResponded()) throw neverAnswered(jobId, polled)
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

/** What the polls have shown. */
type Polled = Readonly<{
  /** In a row, as are the refusals among them. */
  failures: number
  refusals: number
  lastError: string
  /** The docs job as first shown, or as last seen running. */
  shown?: Job
  hasUndocumented: boolean
}>

const NEVER_POLLED: Polled = {
  failures: 0,
  refusals: 0,
  lastError: '',
  hasUndocumented: false,
}

/** What is known after a poll. [poll.refused] */
function polledAfter(before: Polled, verdict: PollVerdict): Polled {
  switch (verdict.kind) {
    case 'job': {
      const { job } = verdict
      return {
        ...NEVER_POLLED,
        shown: isFinal(job.status) ? (before.shown ?? job) : job,
        hasUndocumented: before.hasUndocumented || job.status === undefined,
      }
    }
    case 'retry': {
      const { reason: lastError, refusal } = verdict
      const refusals = refusal === undefined ? 0 : before.refusals + 1
      return { ...before, failures: before.failures + 1, refusals, lastError }
    }
    case 'fail':
    case 'aborted':
      return { ...before, refusals: 0 }
  }
}

/**
 * A final status is trusted if the job was seen running since, if it differs from the final one
 * seen before the message or first after it, or if the settle time has passed. That the response to
 * the message itself says `active` proves nothing about the next poll. [poll.stale-end]
 *
 * @param settleMs counted from the message
 * @returns after how many milliseconds it is trusted: now, if 0
 */
function untilFresh(
  { shown }: Polled,
  job: Job,
  precededBy: PrecededBy,
  settleMs: number,
  now: number,
): number {
  if (precededBy.kind !== 'message' || !isFinal(shown?.status)) return 0
  const { job: previous, at } = precededBy
  const ends = [shown, isFinal(previous?.status) ? previous : undefined]
  const isNew = ends.some((end) => end && endsDifferently(job, end))
  return isNew ? 0 : Math.max(0, at + settleMs - now)
}

/** The fields that a new end changes. Others, such as a clock, may always differ. */
const END_FIELDS = ['status', 'prLink', 'archivedAt'] as const

/** Compares the fields that both have: the response to a message may have fewer. */
function endsDifferently({ received: one }: Job, { received: other }: Job): boolean {
  return END_FIELDS.some(
    (name) => Object.hasOwn(one, name) && Object.hasOwn(other, name) && one[name] !== other[name],
  )
}

type Retry = Extract<PollVerdict, { kind: 'retry' }>

function tellFailure(
  { reason, refusal }: Retry,
  failures: number,
  isFinalPoll: boolean,
  { log, debug, tell }: PollTools,
): void {
  tell({ kind: 'not-seen', reason, advice: refusal?.advice })
  // The first of several errors in a row is for everyone, the others only for debugging.
  const say = failures === 1 ? log : debug
  say(`Couldn't get the docs job's status: ${reason}.${isFinalPoll ? '' : ' Retrying.'}`)
}

/** A final status may be the one from before a message. */
function tellStale({ rawStatus }: Job, { debug, tell }: PollTools): void {
  const stale = `${quote(rawStatus)}, which may predate the message`
  debug(`The docs job's status is ${stale}.`)
  tell({ kind: 'not-seen', reason: `the last response said ${stale}` })
}

function neverAnswered(jobId: string, { lastError }: Polled): ActionError {
  return new ActionError(
    'network',
    `The service never answered a status request for docs job ${quote(jobId)}${lastError && `: ${lastError}`}.`,
    'Check base-url, the proxy variables and the network.',
  )
}
