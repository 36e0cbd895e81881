/** How long to wait before a retry, and for how long to retry at all. */

import type { Clock } from './deadline.js'

export interface Backoff {
  readonly retryAfterMs?: number | undefined
  readonly capMs: number
}

/**
 * The delay before the next attempt: what the server asked for (at least a second) plus up to 25 %
 * jitter, or exponential backoff with up to 50 % jitter: many runs that were rejected together must
 * not all come back together. `Retry-After: 0` names no delay, so it gets backoff, too.
 * [send.limited]
 *
 * @returns milliseconds; `minDelayMs` is without jitter
 */
export function retryDelay({ retryAfterMs, capMs }: Backoff, attempts: number, random: number) {
  if (retryAfterMs) {
    const minDelayMs = Math.max(retryAfterMs, 1000)
    return { minDelayMs, delayMs: minDelayMs * (1 + random / 4) }
  }
  const fullMs = Math.min(capMs, 1000 * 2 ** (attempts - 1))
  return { minDelayMs: fullMs / 2, delayMs: (fullMs / 2) * (1 + random) }
}

/** When an answer was made, by its own clock: the runner's may be slow. */
export function madeAt({ date }: { date?: unknown }, clock: Clock) {
  return new Date(Date.parse(String(date)) || clock.date())
}

/** Milliseconds from now, of seconds or an HTTP date (RFC 9110, 10.2.3); else undefined. */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const value = header?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}

/** The time for retries: failed attempts and the waits between them use it up. */
export class RetryBudget {
  #countedUntil = 0

  constructor(
    public remainingMs: number,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts the time since `startedAt`; attempts that fail at the same time are counted once.
   *
   * @param limitMs the most that counts: a process that was frozen has not tried for longer
   */
  count(startedAt: number, limitMs: number): void {
    const now = this.clock.now()
    this.remainingMs -= Math.min(limitMs, now - Math.max(startedAt, this.#countedUntil))
    this.#countedUntil = now
  }

  async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    const startedAt = this.clock.now()
    await this.clock.sleep(milliseconds, signal)
    this.count(startedAt, milliseconds)
  }
}
