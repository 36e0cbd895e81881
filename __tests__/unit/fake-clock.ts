// A clock that stands still while there is work to do, and jumps to the next thing due when there is none.
import type { Clock } from '../../src/net/deadline.js'

interface Timer {
  readonly due: number
  readonly fire: () => void
}

interface Beat {
  due: number
  readonly every: number
  readonly call: () => void
}

export class FakeClock implements Clock {
  #now = 0
  readonly #epoch: number
  #timers: Timer[] = []
  readonly #beats = new Set<Beat>()
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

  /** Moves the time by hand, for tests without waiting. */
  advance(milliseconds: number): void {
    this.#now += milliseconds
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
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

  /** Beats only while something sleeps: a heartbeat alone does not move the time. */
  every(milliseconds: number, call: () => void): () => void {
    const beat = { due: this.#now + milliseconds, every: milliseconds, call }
    this.#beats.add(beat)
    return () => this.#beats.delete(beat)
  }

  #jumpLater(): void {
    if (this.#jumping) return
    this.#jumping = true
    // After every promise that can go on by itself has done so.
    setImmediate(() => {
      this.#jumping = false
      const [next] = this.#timers.toSorted((a, b) => a.due - b.due)
      if (next === undefined) return
      this.#beatUntil(next.due)
      this.#now = Math.max(this.#now, next.due)
      next.fire()
      this.#jumpLater()
    })
  }

  #beatUntil(moment: number): void {
    for (const beat of this.#beats) {
      for (; beat.due <= moment; beat.due += beat.every) {
        this.#now = beat.due
        beat.call()
      }
    }
  }
}
