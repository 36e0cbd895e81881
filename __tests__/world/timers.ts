/**
 * Replaces Node's timers, clocks and random numbers with those of the world, for whoever's callback
 * runs.
 */

import { syncBuiltinESMExports } from 'node:module'
import { type AnyFunction, Replaced } from './replaced.js'
import type { Due, Time } from './time.js'

/** What a process has of its own. The world's start at 0 and have no jumps. */
export interface Machine {
  /** When its monotonic clock was 0. */
  readonly startedAt: number
  /** How far its wall clock is from the world's at the moment. */
  readonly jumpedMs: number
  /** From 0 to 1. */
  readonly random: () => number
}

// jest keeps what an import of these has exported.
const [crypto, timers, timersPromises] = [
  process.getBuiltinModule('node:crypto'),
  process.getBuiltinModule('node:timers'),
  process.getBuiltinModule('node:timers/promises'),
]
/** The world's wall clock at 0. */
export const EPOCH = Date.parse('2026-01-02T03:04:05Z')
/** Node's own limit. */
const LONGEST_MS = 2 ** 31 - 1
const RealDate = globalThis.Date

/**
 * Returns what puts Node's own back.
 *
 * @param machine of whoever's callback runs
 * @param applies whether who calls is in the world
 */
export function replaceTimers(
  time: Time,
  machine: () => Machine,
  applies: () => boolean,
): () => void {
  const wallClock = () => Math.floor(EPOCH + time.now + machine().jumpedMs)

  const dueAfter = (milliseconds: number) =>
    time.now + (milliseconds >= 1 && milliseconds <= LONGEST_MS ? milliseconds : 1)

  /** It keeps no process alive: the world goes on without. */
  class Handle {
    protected due: Due | undefined

    close(): this {
      if (this.due) this.due.isCancelled = true
      return this
    }

    ref(): this {
      return this
    }

    unref(): this {
      return this
    }
  }

  class Timer extends Handle {
    readonly #owner = time.owners.getStore()

    constructor(
      private readonly call: () => void,
      private readonly milliseconds = 1,
      private readonly repeats = false,
    ) {
      super()
      this.#schedule()
    }

    #schedule(): void {
      const at = dueAfter(this.milliseconds)
      this.due = time.schedule('timers', at, this.#owner, () => this.#fire())
    }

    #fire(): void {
      if (this.repeats) this.#schedule()
      this.call()
    }

    refresh(): this {
      this.close().#schedule()
      return this
    }
  }

  class Immediate extends Handle {
    constructor(call: () => void) {
      super()
      this.due = time.schedule('immediates', time.now, time.owners.getStore(), call)
    }
  }

  const replaced = new Replaced(applies)
  const clear =
    (real: AnyFunction) =>
    (timer: unknown): void => {
      if (timer instanceof Handle) timer.close()
      else real(timer)
    }
  for (const target of [globalThis, timers]) {
    replaced.replace(target, {
      setTimeout: (call: AnyFunction, milliseconds?: number, ...parameters: unknown[]) =>
        new Timer(() => call(...parameters), milliseconds),
      setInterval: (call: () => void, milliseconds: number) => new Timer(call, milliseconds, true),
      setImmediate: (call: AnyFunction, ...parameters: unknown[]) =>
        new Immediate(() => call(...parameters)),
    })
    for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate'])
      replaced.wrap(target, name, clear)
  }
  replaced.replace(timersPromises, {
    setTimeout: <T>(milliseconds?: number, value?: T, { signal }: { signal?: AbortSignal } = {}) =>
      promise(value, signal, (call) => new Timer(call, milliseconds)),
    setImmediate: <T>(value?: T, { signal }: { signal?: AbortSignal } = {}) =>
      promise(value, signal, (call) => new Immediate(call)),
  })
  replaced.replace(performance, { now: () => time.now - machine().startedAt })
  replaced.replace(process, { uptime: () => (time.now - machine().startedAt) / 1000 })
  replaced.wrap(
    globalThis,
    'Date',
    () =>
      class extends RealDate {
        constructor(...parameters: unknown[]) {
          if (parameters.length === 0 && applies()) super(wallClock())
          else super(...(parameters as [string]))
        }

        static override now(): number {
          return applies() ? wallClock() : RealDate.now()
        }
      },
  )
  const hexadecimal = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(machine().random() * 16).toString(16)).join('')
  replaced.replace(Math, { random: () => machine().random() })
  replaced.replace(crypto, {
    randomBytes: (size: number) => Buffer.from(hexadecimal(2 * size), 'hex'),
    randomUUID: () => [8, 4, 4, 4, 12].map(hexadecimal).join('-'),
  })
  syncBuiltinESMExports()
  return () => replaced.putBack()
}

/** Settles when the timer is due, or with the signal. */
function promise<T>(
  value: T,
  signal: AbortSignal | undefined,
  start: (call: () => void) => { close(): void },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      timer.close()
      reject(
        new DOMException('The operation was aborted', {
          name: 'AbortError',
          cause: signal?.reason,
        }),
      )
    }
    const timer = start(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value)
    })
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort)
  })
}
