/** Keeps what is stored at GitHub up to date: one edit per state change, one after the other, the latest last. */

import { ActionError } from '../errors.js'
import type { RunEnvironment } from '../event/event.js'
import type { StatusUpdate, StatusWriter } from '../status-update.js'
import type { StoredState } from './marker.js'

export interface WriteOptions {
  /** Retries temporary failures, because something depends on the result. */
  readonly required: boolean
  /** Aborts it, by default at the deadline or on a cancel. */
  readonly signal?: AbortSignal
}

/** A place at GitHub that keeps a text for readers, with the state of the step hidden in it. */
export interface StateStore {
  /** Finds this step's state, and counts what claims to be it but can't be verified. */
  find(options: WriteOptions): Promise<{
    readonly state: StoredState | undefined
    readonly unverified: number
  }>
  /** Creates or replaces the text and the state. */
  write(text: string, state: StoredState, options: WriteOptions): Promise<void>
}

export class StateWriter implements StatusWriter {
  readonly #store: StateStore
  readonly #run: RunEnvironment
  readonly #warn: (line: string) => void
  /** The key of the update that is stored, or about to be. */
  #lastKey = ''
  #next: StatusUpdate | undefined
  #working: Promise<void> | undefined
  #warned = false
  readonly #closing = new AbortController()

  /**
   * @param decides later runs depend on the stored state: an error before anything is sent ends the run
   * @param warn called with errors that only affect what readers see
   */
  constructor(
    store: StateStore,
    run: RunEnvironment,
    readonly decides: boolean,
    warn: (line: string) => void,
  ) {
    this.#store = store
    this.#run = run
    this.#warn = warn
  }

  /** What an earlier run stored. @throws ActionError `github` */
  findPrevious(): ReturnType<StateStore['find']> {
    return this.#store.find({ required: true })
  }

  async writePlaceholder(update: StatusUpdate): Promise<void> {
    await this.#working
    await this.#store.write(update.text, this.#toState(update), { required: true })
    this.#lastKey = keyOf(update)
  }

  enqueue(update: StatusUpdate): void {
    if (keyOf(update) === this.#lastKey) return
    this.#lastKey = keyOf(update)
    this.#next = update
    this.#working ??= this.#work()
  }

  async close(limitMs: number, cancelledLimitMs: number, cancel: AbortSignal): Promise<void> {
    const abort = (): void => this.#closing.abort()
    const timers = [setTimeout(abort, limitMs)]
    cancel.addEventListener('abort', () => timers.push(setTimeout(abort, cancelledLimitMs)))
    await this.#working
    for (const timer of timers) clearTimeout(timer)
  }

  async #work(): Promise<void> {
    while (this.#next !== undefined) {
      const update = this.#next
      this.#next = undefined
      // If the stored job ID is missing, the next run would create a second job, so these edits are retried.
      const options = { required: this.decides, signal: this.#closing.signal }
      await this.#store
        .write(update.text, this.#toState(update), options)
        .catch((thrown) => this.#onFailure(thrown))
    }
    this.#working = undefined
  }

  #onFailure(thrown: unknown): void {
    this.#lastKey = '' // The next update must not be taken for a duplicate.
    if (this.#warned) return
    this.#warned = true
    const text = thrown instanceof ActionError ? `${thrown.message} ${thrown.advice}` : String(thrown)
    this.#warn(text)
  }

  #toState({ state, jobId }: StatusUpdate): StoredState {
    return { jobId, state, run: this.#run.runId, attempt: Number(this.#run.runAttempt) }
  }
}

function keyOf({ state, jobId, link }: StatusUpdate): string {
  return JSON.stringify([state, jobId, link])
}
