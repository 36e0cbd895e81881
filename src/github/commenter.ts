/** Keeps the step's comment up to date: one edit for each change, one after the other, the latest one last. */

import { ActionError } from '../errors.js'
import type { RunEnvironment } from '../event/event.js'
import { GitHubFault } from './client.js'
import type { Found, StepComment } from './comment.js'
import type { Memory } from './marker.js'

/** What is told: a state, the job to remember, the text that a reader sees. */
export interface Told {
  readonly state: string
  readonly jobId: string
  readonly link: string
  readonly text: string
}

export class Commenter {
  #id: number | undefined
  /** What stands in the comment, or is about to. */
  #last = ''
  #next: Told | undefined
  #working: Promise<void> | undefined
  #warned = false
  readonly #closing = new AbortController()

  /**
   * @param decides the comment is a memory: a fault before anything is sent ends the run
   * @param warn told of a fault that only keeps a reader from being told
   */
  constructor(
    readonly comment: StepComment,
    readonly run: RunEnvironment,
    readonly decides: boolean,
    readonly warn: (line: string) => void,
  ) {}

  /** The comment that the step already has. */
  adopt(found: Found): void {
    this.#id = found.id
  }

  /**
   * Writes the memory before a create: a missing permission shows now, and a run that dies leaves a trace.
   *
   * @throws ActionError `github`
   */
  async place(told: Told): Promise<void> {
    await this.#working
    this.#id ??= await this.comment.create(told.text, { decides: true })
    await this.comment.update(this.#id, told.text, this.#memory(told), { decides: true })
    this.#last = keyOf(told)
  }

  /** Tells a state, once; what goes wrong is a warning. */
  tell(told: Told): void {
    if (keyOf(told) === this.#last) return
    this.#last = keyOf(told)
    this.#next = told
    this.#working ??= this.#work()
  }

  /**
   * Waits for what is still to be told.
   *
   * @param milliseconds at most so long
   * @param cancelledMs at most so long once `cancel` is raised
   */
  async close(milliseconds: number, cancelledMs: number, cancel: AbortSignal): Promise<void> {
    const abort = (): void => this.#closing.abort()
    const timers = [setTimeout(abort, milliseconds)]
    cancel.addEventListener('abort', () => timers.push(setTimeout(abort, cancelledMs)))
    await this.#working
    for (const timer of timers) clearTimeout(timer)
  }

  async #work(): Promise<void> {
    while (this.#next !== undefined) {
      const told = this.#next
      this.#next = undefined
      await this.#write(told).catch((thrown) => this.#failed(thrown))
    }
    this.#working = undefined
  }

  async #write(told: Told): Promise<void> {
    // A memory that misses the job is a second job for the next run: its edits are tried again.
    const how = { decides: this.decides, signal: this.#closing.signal }
    if (this.#id === undefined) {
      const { found } = await this.comment.find(how)
      this.#id = found?.id ?? (await this.comment.create(told.text, how))
    }
    try {
      await this.comment.update(this.#id, told.text, this.#memory(told), how)
    } catch (thrown) {
      if (!(thrown instanceof GitHubFault) || thrown.status !== 404) throw thrown
      // Somebody deleted it.
      this.#id = await this.comment.create(told.text, how)
      await this.comment.update(this.#id, told.text, this.#memory(told), how)
    }
  }

  #failed(thrown: unknown): void {
    this.#last = '' // The next state is told again, whatever it is.
    if (this.#warned) return
    this.#warned = true
    const text = thrown instanceof ActionError ? `${thrown.message} ${thrown.advice}` : String(thrown)
    this.warn(text)
  }

  #memory({ state, jobId }: Told): Memory {
    return { jobId, state, run: this.run.runId, attempt: Number(this.run.runAttempt) }
  }
}

function keyOf({ state, jobId, link }: Told): string {
  return JSON.stringify([state, jobId, link])
}
