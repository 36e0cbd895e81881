/** Remembers why the last edit failed, so that it is reported once until an edit succeeds. */

import { describeWarning } from '../github/errors.js'
import { ActionError } from '../text/errors.js'

export class EditFailure {
  /** The user knows of it: it is not told again. */
  #isTold = false
  #error: unknown

  /** An edit succeeded. */
  clear(): void {
    this.#isTold = false
    this.#error = undefined
  }

  /** Whoever caused the request tells its error. */
  toldElsewhere(): void {
    this.#isTold = true
  }

  /** @returns whether the user does not know of it yet */
  record(error: unknown): boolean {
    if (this.#isTold) return false
    this.#error = error
    this.#isTold = true
    return true
  }

  /** @param consequence what it means for the user, in a sentence; empty if there is nothing to tell */
  describe(consequence: string): string {
    if (this.#error === undefined) return ''
    return this.#error instanceof ActionError
      ? describeWarning(this.#error, consequence)
      : String(this.#error)
  }
}
