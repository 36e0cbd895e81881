/** Keeps the step's comment up to date: one edit for each change of state, one after the other. */

import type { ActionError } from '../errors.js'
import type { Found, StepComment } from './comment.js'
import type { RunEnvironment } from './event.js'

/** What is told: a state, its text, and the job to remember. */
export interface Told {
  readonly state: string
  readonly text: string
  readonly jobId: string
}

export class Commenter {
  #id: number | undefined
  /** What was told last, or is about to be. */
  #state: string | undefined
  #queue: Promise<void> = Promise.resolve()
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
   * Writes the placeholder before anything is sent: a missing permission shows now, and a run that dies leaves a trace.
   *
   * @throws ActionError `github`
   */
  async place(told: Told): Promise<void> {
    if (this.#id !== undefined) return
    this.#id = await this.comment.create(told.text, true)
    await this.comment.update(this.#id, told.text, this.#memory(told), { decides: true })
    this.#state = told.state
  }

  /** Tells a state, once; what goes wrong is a warning. */
  tell(told: Told): void {
    if (told.state === this.#state) return
    this.#state = told.state
    this.#queue = this.#queue
      .then(() => this.#write(told))
      .catch((fault: ActionError) => this.#warnOnce(fault))
  }

  /** Waits for what is still to be told, at most so many milliseconds. */
  async close(milliseconds: number): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(), milliseconds)
    await this.#queue
    clearTimeout(timer)
  }

  #warnOnce({ message, advice }: ActionError): void {
    if (!this.#warned) this.warn(`${message} ${advice}`)
    this.#warned = true
  }

  async #write(told: Told): Promise<void> {
    if (this.#id === undefined) {
      const { found } = await this.comment.find(false)
      this.#id = found?.id ?? (await this.comment.create(told.text, false))
    }
    const { signal } = this.#closing
    await this.comment.update(this.#id, told.text, this.#memory(told), { decides: false, signal })
  }

  #memory({ state, jobId }: Told): { jobId: string; run: string; attempt: number; state: string } {
    return { jobId, state, run: this.run.runId, attempt: Number(this.run.runAttempt) }
  }
}
