/**
 * Virtual time: nothing waits. When everything that can happen at a moment has happened, the time
 * of the next timer comes.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Who a callback belongs to: a process, which may freeze or be dead. Everybody else is always
 * there.
 */
export interface Owner {
  /** What is due while it is frozen waits for its end. */
  readonly isFrozen: boolean
  readonly isDead: boolean
  /** What one of its callbacks has thrown. */
  readonly fail: (thrown: unknown) => void
}

/**
 * The phases of Node's event loop, in their order: timers, what has arrived in sockets, immediates
 * (nodejs.org/en/learn/asynchronous-work/event-loop-timers-and-nexttick).
 */
const PHASES = ['timers', 'arrivals', 'immediates'] as const
type Phase = (typeof PHASES)[number]

/** Something that is due at a moment. */
export interface Due {
  readonly phase: Phase
  readonly at: number
  readonly order: number
  readonly owner: Owner | undefined
  readonly call: () => void
  isCancelled: boolean
}

/** Times are multiples of this part of a millisecond, whose sums are exact. */
const PARTS = 1024

export const exact = (milliseconds: number): number => Math.round(milliseconds * PARTS) / PARTS

const realSetImmediate = globalThis.setImmediate

export class Time {
  /** Milliseconds since the world began. */
  now = 0
  /** Whose callback runs. Everything that a callback starts belongs to the same. */
  readonly owners = new AsyncLocalStorage<Owner | undefined>()
  /** Whose callback ran last. */
  lastOwner: Owner | undefined
  readonly #queues = { timers: new Queue(), arrivals: new Queue(), immediates: new Queue() }
  #held: Due[] = []
  #order = 0
  /** The part of the present turn of the event loop that is left. */
  #turn: Due[] = []

  schedule(phase: Phase, at: number, owner: Owner | undefined, call: () => void): Due {
    const due = { phase, at: exact(at), order: ++this.#order, owner, call, isCancelled: false }
    this.#queues[phase].add(due)
    return due
  }

  /**
   * Puts back what was held while an owner was frozen: timers first, as Node does when it goes on.
   * What is due just now comes after it.
   */
  release(owner: Owner): void {
    for (const due of [...this.#held, ...this.#turn])
      if (due.owner === owner) this.#queues[due.phase].add(due)
    this.#held = this.#held.filter((due) => due.owner !== owner)
    this.#turn = this.#turn.filter((due) => due.owner !== owner)
  }

  /** Forgets everything that is to come. */
  clear(): void {
    for (const phase of PHASES) this.#queues[phase].clear()
    this.#held = []
    this.#turn = []
    this.now = 0
    this.#order = 0
  }

  /**
   * Goes on until a promise is settled.
   *
   * @throws Error if nothing is left that could settle it, or nothing has until `latest`
   */
  async finish<T>(promise: Promise<T>, what: string, latest = Number.POSITIVE_INFINITY) {
    let hasEnded = false
    const end = (): void => {
      hasEnded = true
    }
    promise.then(end, end)
    await this.#run(() => hasEnded || this.now > latest)
    if (!hasEnded) throw new Error(`At ${this.now} ms ${what} has not ended, and nothing ends it`)
    return promise
  }

  /** Goes on until something holds, or nothing is left that could happen. */
  #run(until: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      // A real immediate for each callback: then Node's own queues, of ticks and promises, are
      // empty before the next one.
      const next = (): void => {
        try {
          if (!until() && this.#callNext()) return void realSetImmediate(next)
          this.lastOwner = undefined
          resolve()
        } catch (thrown) {
          reject(thrown)
        }
      }
      realSetImmediate(next)
    })
  }

  #callNext(): boolean {
    for (;;) {
      const due = this.#turn.shift()
      if (due === undefined) {
        if (!this.#beginTurn()) return false
        continue
      }
      if (due.isCancelled || due.owner?.isDead) continue
      if (due.owner?.isFrozen) {
        this.#held.push(due)
        continue
      }
      this.#call(due)
      // What a timer makes due at once belongs to the same turn; what an immediate starts does not.
      if (due.phase === 'timers') this.#addTimers()
      return true
    }
  }

  #call({ owner, call }: Due): void {
    this.lastOwner = owner
    try {
      this.owners.run(owner, call)
    } catch (thrown) {
      if (owner === undefined) throw thrown
      owner.fail(thrown)
    }
  }

  #addTimers(): void {
    const more = this.#queues.timers.takeUntil(this.now)
    const at = this.#turn.findIndex(({ phase }) => phase !== 'timers')
    this.#turn.splice(at < 0 ? this.#turn.length : at, 0, ...more)
  }

  /** Everything that is due at this moment, or at the next one at which anything is. */
  #beginTurn(): boolean {
    const next = Math.min(...PHASES.map((phase) => this.#queues[phase].nextAt))
    if (next === Number.POSITIVE_INFINITY) return false
    this.now = Math.max(this.now, next)
    this.#turn = PHASES.flatMap((phase) => this.#queues[phase].takeUntil(this.now))
    return true
  }
}

/** What is due, the earliest first; of the same moment, the oldest first. */
class Queue {
  #all: Due[] = []

  get nextAt(): number {
    this.#all = this.#all.filter(({ isCancelled, owner }) => !isCancelled && !owner?.isDead)
    return this.#all[0]?.at ?? Number.POSITIVE_INFINITY
  }

  clear(): void {
    this.#all = []
  }

  add(due: Due): void {
    this.#all.push(due)
    this.#all.sort((one, other) => one.at - other.at || one.order - other.order)
  }

  takeUntil(now: number): Due[] {
    const taken = this.#all.filter(({ at }) => at <= now)
    return this.#all.splice(0, taken.length)
  }
}
