// A clock that stands still while there is work to do, and jumps to the next timer when there is
// none.
import type { Clock } from '../../src/net/deadline.js'

interface Timer {
  readonly due: number
  readonly fire: () => void
}

interface Interval {
  due: number
  readonly every: number
  readonly call: () => void
}

export class FakeClock implements Clock {
  #now = 0
  readonly #epoch: number
  #timers: Timer[] = []
  readonly #intervals = new Set<Interval>()
  #jumping = false

  constructor(date = '2025-03-01T12:00:00.000Z') {
    this.#epoch = Date.parse(date)
  }

  now(): number {
    return this.#now
  }

  date(): Date {
    return new Date(this.#epoch + this.#now)
  }

  /** Moves the time by hand, for tests in which nothing sleeps. */
  advance(milliseconds: number): void {
    this.#now += milliseconds
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    // Node would wait for 1 ms, with a warning.
    if (milliseconds >= 2 ** 31) throw new Error(`${milliseconds} ms do not fit into a timer`)
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const fire = (): void => {
        this.#timers = this.#timers.filter((other) => other !== timer)
        signal.removeEventListener('abort', fire)
        resolve()
      }
      const timer = { due: this.#now + Math.max(0, milliseconds), fire }
      this.#timers.push(timer)
      signal.addEventListener('abort', fire)
      this.#jumpLater()
    })
  }

  /** Called only while something sleeps: an interval alone does not move the time. */
  every(milliseconds: number, call: () => void): () => void {
    const interval = { due: this.#now + milliseconds, every: milliseconds, call }
    this.#intervals.add(interval)
    return () => this.#intervals.delete(interval)
  }

  #jumpLater(): void {
    if (this.#jumping) return
    this.#jumping = true
    // After every promise that can settle by itself has done so.
    setImmediate(() => {
      this.#jumping = false
      const [next] = this.#timers.toSorted((a, b) => a.due - b.due)
      if (next === undefined) return
      this.#callIntervalsUntil(next.due)
      this.#now = Math.max(this.#now, next.due)
      next.fire()
      this.#jumpLater()
    })
  }

  #callIntervalsUntil(moment: number): void {
    for (const interval of this.#intervals) {
      for (; interval.due <= moment; interval.due += interval.every) {
        this.#now = interval.due
        interval.call()
      }
    }
  }
}
