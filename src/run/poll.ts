/** Follows a job to its end: when to look, when to believe what is seen, when to give up. */

import { isDeepStrictEqual } from 'node:util'
import type { Reply, Service } from '../agent/client.js'
import { type EndStatus, hasEnded, type Job } from '../agent/job.js'
import { delay, judgeLook } from '../agent/verdict.js'
import { ActionError, Cancelled } from '../errors.js'
import { quote } from '../escape.js'
import type { Ports } from './ports.js'

/** So long, in milliseconds, an end that is seen after a message may be the one from before it. */
export const SETTLE_MS = 30_000

/** What a wait is about. */
export interface Wait {
  readonly jobId: string
  /** What this step did before, and when on the clock. */
  readonly after:
    | { readonly kind: 'create'; readonly at: number }
    | { readonly kind: 'message'; readonly at: number; readonly answer: Job | undefined }
    | { readonly kind: 'nothing' }
  /** One answer is enough, whatever the job's state. */
  readonly once: boolean
  /** Undefined: the adaptive schedule. */
  readonly pollIntervalMs: number | undefined
  /** The time of the whole step. */
  readonly timeoutMs: number
}

export type WaitEnd =
  | { readonly kind: 'ended'; readonly status: EndStatus }
  | { readonly kind: 'active' }
  | { readonly kind: 'deadline' }

/**
 * Looks at a job until it has ended or the time is over.
 *
 * @throws ActionError where a look is refused for good, or where none was ever answered.
 * @throws Cancelled
 */
export async function follow(wait: Wait, service: Service, ports: Ports): Promise<WaitEnd> {
  const { clock, stop } = ports
  const watch = new Watch(wait, ports)
  for (let last = false; !last; ) {
    const pause = watch.pause
    const untilLastLook = Math.max(0, stop.remainingMs() - lastLookMargin(wait.timeoutMs))
    last = pause >= untilLastLook
    await clock.sleep(Math.min(pause, untilLastLook), stop.signal)
    if (stop.signal.aborted) break
    const end = watch.take(await service.look(wait.jobId))
    if (end !== undefined) return end
  }
  if (stop.cancelled()) throw new Cancelled()
  if (!watch.answered) throw neverAnswered(wait.jobId, watch.trouble)
  return { kind: 'deadline' }
}

/**
 * How long to wait before the next look, in milliseconds: a fixed interval, or a tenth of the elapsed time, at least
 * 5 s, at most 12 s.
 */
export function pollDelay(elapsedMs: number, fixedMs: number | undefined): number {
  return fixedMs ?? Math.min(12_000, Math.max(5_000, elapsedMs / 10))
}

/** So long before the deadline the last look begins, in milliseconds: it has to be answered by then. */
export function lastLookMargin(timeoutMs: number): number {
  return Math.min(2_000, timeoutMs / 20)
}

/**
 * Makes the judge of what is seen after a message: a job that had ended may still read so for a moment.
 *
 * An end is believed when the job was seen running since, or differs from the end that was seen first, or the settle
 * time has passed. That the answer to the message itself says `active` proves nothing about the next look.
 *
 * @param settleMs counted from the message
 */
export function trustAfter(after: Wait['after'], settleMs: number): (job: Job, now: number) => boolean {
  if (after.kind !== 'message') return () => true
  const { answer } = after
  let running = false
  let stale: Job | undefined
  return (job, now) => {
    running ||= !hasEnded(job.status)
    const changed =
      (stale !== undefined && differs(job, stale)) ||
      (answer !== undefined && hasEnded(answer.status) && differsWhereBothTell(job, answer))
    stale ??= job
    return running || changed || now - after.at >= settleMs
  }
}

/** Whether two looks at a job show different objects. */
function differs({ received: a }: Job, { received: b }: Job): boolean {
  try {
    return !isDeepStrictEqual(a, b)
  } catch {
    return false // Nested too deep to be compared: the settle time decides.
  }
}

/** The same in the fields that both have: the answer to a message may be sparser than a look. */
function differsWhereBothTell(look: Job, answer: Job): boolean {
  const both = Object.keys(look.received as object).filter((name) =>
    Object.hasOwn(answer.received as object, name),
  )
  const part = (job: Job): Job => ({
    ...job,
    received: both.map((name) => (job.received as Record<string, unknown>)[name]),
  })
  return differs(part(look), part(answer))
}

/** What the looks have shown so far. */
class Watch {
  /** Milliseconds until the next look. */
  pause: number
  /** The service gave a whole answer, whatever it said. */
  answered: boolean
  /** Why the last look showed nothing. */
  trouble = ''
  readonly #wait: Wait
  readonly #ports: Ports
  readonly #startedAt: number
  readonly #settleMs: number
  readonly #trusts: (job: Job, now: number) => boolean
  #failures = 0
  #strange = 0
  #warned = false

  constructor(wait: Wait, ports: Ports) {
    this.#wait = wait
    this.#ports = ports
    this.#startedAt = ports.clock.now()
    this.#settleMs = Math.min(SETTLE_MS, (ports.stop.remainingMs() - lastLookMargin(wait.timeoutMs)) / 2)
    this.#trusts = trustAfter(wait.after, this.#settleMs)
    this.answered = wait.after.kind !== 'nothing'
    this.pause = this.answered ? pollDelay(0, wait.pollIntervalMs) : 0
  }

  /** Takes in the answer to a look; returns the wait's end when there is one. */
  take(reply: Reply): WaitEnd | undefined {
    const { clock, random } = this.#ports
    const { jobId, after, pollIntervalMs } = this.#wait
    const now = clock.now()
    const sinceCreateMs = after.kind === 'create' ? now - after.at : undefined
    const verdict = judgeLook(reply, { jobId, sinceCreateMs, strange: this.#strange }, clock.date())
    this.answered ||= reply.kind === 'job' || reply.kind === 'no-job' || reply.kind === 'refused'
    this.#strange = reply.kind === 'no-job' ? this.#strange + 1 : 0
    this.pause = pollDelay(now - this.#startedAt, pollIntervalMs)
    switch (verdict.next) {
      case 'stopped':
        return undefined
      case 'fail':
        throw verdict.error
      case 'again':
        this.#failures++
        this.trouble = verdict.why
        this.pause = Math.max(this.pause, delay(verdict.pause, this.#failures, random()).wait)
        this.#tellTrouble()
        return undefined
      case 'see':
        this.#failures = 0
        return this.#see(verdict.job, now)
    }
  }

  #see(job: Job, now: number): WaitEnd | undefined {
    const { after, once } = this.#wait
    if (job.status === undefined) this.#warnOnce(job.word)
    if (!this.#trusts(job, now)) {
      this.#ports.debug(`The job reads ${quote(job.word)}, which may be from before the message.`)
      if (after.kind === 'message') this.pause = Math.min(this.pause, after.at + this.#settleMs - now)
      return undefined
    }
    this.#ports.see(job)
    if (hasEnded(job.status)) return { kind: 'ended', status: job.status }
    return once ? { kind: 'active' } : undefined
  }

  #tellTrouble(): void {
    const text = `No state of the job: ${this.trouble}. Looking again.`
    if (this.#failures === 1) this.#ports.log(text)
    else this.#ports.debug(text)
  }

  #warnOnce(word: string): void {
    if (this.#warned) return
    this.#warned = true
    this.#ports.warn(
      `The service gives the job a status that is not in its list, ${quote(word)}. It counts as not ended.`,
    )
  }
}

function neverAnswered(jobId: string, trouble: string): ActionError {
  return new ActionError(
    'network',
    `The service never answered a look at job ${quote(jobId)}${trouble === '' ? '' : `: ${trouble}`}.`,
    'Check base-url, the proxy variables and the network, then run it again: the job is not touched by a look.',
  )
}
