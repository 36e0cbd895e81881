/**
 * One text that the step keeps at GitHub, with its state hidden in it: read once, then edited, the
 * latest update last.
 */

import type { RequestMode } from '../github/client.js'
import { describeWarning, GitHubError } from '../github/errors.js'
import { waitForAbort } from '../net/deadline.js'
import type { CloseLimits, StatusUpdate, StatusWriter } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { createMarker, NOTHING_SENT, type StoredState } from './marker.js'
import { createOnce, readEarlier, type SignedPlace } from './stored-text.js'

export interface Role {
  /** `decides`: nothing is sent unless it can be written. `informs`: nothing depends on it. */
  readonly is: 'decides' | 'remembers' | 'informs'
  /** What it means for the user if it can't be written. */
  readonly stale: string
  /** Who would look for the job only here, such as "a re-run"; empty if nobody would. */
  readonly soleReader: () => string
}

interface SlotOptions extends SignedPlace, Pick<Step, 'clock' | 'deadline' | 'warn'> {
  readonly role: Role
}

/** What is known of the text, and what this step has done to it. */
type State =
  | { readonly is: 'unread' }
  /**
   * There is no text to edit: none was found, or it is a check run, which each attempt creates
   * anew.
   */
  | { readonly is: 'none' }
  | { readonly is: 'found'; readonly id: number }
  /** A creation went out, and no response said that it was carried out. */
  | { readonly is: 'creating' }
  /** It is this step's, or about to be, with the last job that was stored. */
  | { readonly is: 'written'; readonly id: number; readonly jobId: string | undefined }
  | { readonly is: 'off' }

const REPLACES =
  "This step's comment replaces that of another step of this run. Give each step or matrix leg its own job-key."

export class Slot implements StatusWriter {
  readonly #options: SlotOptions
  #state: State = { is: 'unread' }
  #before: StoredState | undefined
  #latest: StatusUpdate | undefined
  #working: Promise<void> | undefined
  /**
   * Why the last edit failed, reported once; without an error if whoever caused the request reports
   * it.
   */
  #failed: { readonly error?: unknown } | undefined
  /** Aborted when the step can't wait for its edits any longer. */
  readonly #closing = new AbortController()

  constructor(options: SlotOptions) {
    this.#options = options
  }

  get role(): Role['is'] {
    return this.#options.role.is
  }

  get #storedId(): string | undefined {
    return this.#state.is === 'written' ? this.#state.jobId : undefined
  }

  /** Whether the next run depends on what is stored, and would not find the job there. */
  get #lacksJob(): boolean {
    if (this.#options.role.soleReader() === '' || this.#latest === undefined) return false
    const { state, jobId } = this.#latest.stored
    const isStored = jobId !== '' && jobId === (this.#storedId ?? this.#before?.jobId)
    return !NOTHING_SENT.includes(state) && !isStored
  }

  get failure(): string {
    const { role } = this.#options
    const error = this.#failed?.error
    if (!(error instanceof ActionError)) return String(error ?? '')
    const lost = this.#lacksJob ? `, and ${role.soleReader()} may not find this run's docs job` : ''
    return describeWarning(error, `${role.stale}${lost}.`)
  }

  /**
   * What an earlier step stored; undefined if that can't be read, and this run doesn't depend on
   * it.
   *
   * @throws ActionError `github` if it does; the caller reports it
   */
  async find(): Promise<StoredState | undefined> {
    const isRerun = this.#options.environment.runAttempt > 1
    const decides = this.role === 'decides' || (this.role === 'remembers' && isRerun)
    return this.#read({ retried: decides }).catch((thrown) => {
      if (decides) this.#failed ??= {}
      if (decides || !(thrown instanceof ActionError)) throw thrown
      return undefined // Writing it fails for the same reason, and says so.
    })
  }

  /** Writes nothing from now on: what is stored belongs to another step. */
  stop(): void {
    this.#state = { is: 'off' }
  }

  async writePlaceholder(update: StatusUpdate): Promise<void> {
    if (this.role === 'informs') return
    const decides = this.role === 'decides'
    // An edit before it may take longer than the step has left.
    await Promise.race([this.#working, waitForAbort(this.#options.deadline.signal)])
    if (decides && this.#state.is === 'off' && this.#failed?.error) throw this.#failed.error
    if (this.#state.is === 'off') return
    this.#latest = update
    try {
      await this.#write(update, { retried: decides })
    } catch (thrown) {
      const ends = decides || !(thrown instanceof ActionError)
      if (ends) this.#failed ??= {}
      this.#onFailure(thrown)
      if (ends) throw thrown
    }
  }

  enqueue(update: StatusUpdate): void {
    const isStored =
      this.#latest && keyOf(update) === keyOf(this.#latest) && (this.#working || !this.#failed)
    const isEarly = this.role === 'informs' && !update.isJobSeen && update.conclusion === undefined
    if (this.#state.is === 'off' || isStored || isEarly) return
    this.#latest = update
    this.#working ??= this.#work()
  }

  async close({ usualMs, memoryMs, cancelledMs }: CloseLimits, cancel: AbortSignal): Promise<void> {
    const limitMs = this.#lacksJob && this.#latest?.stored.jobId ? memoryMs : usualMs
    const done = new AbortController()
    const abortAfter = async (milliseconds: number): Promise<void> => {
      await this.#options.clock.sleep(milliseconds, done.signal)
      if (!done.signal.aborted) this.#closing.abort()
    }
    void abortAfter(limitMs)
    cancel.addEventListener('abort', () => void abortAfter(cancelledMs))
    await this.#working
    done.abort()
  }

  async #work(): Promise<void> {
    for (let done: StatusUpdate | undefined; done !== this.#latest && this.#state.is !== 'off'; ) {
      done = this.#latest as StatusUpdate
      // If the stored job ID is missing, the next run may create a second job, so these edits are
      // retried.
      const mode = { retried: this.role !== 'informs', signal: this.#closing.signal }
      await this.#write(done, mode).catch((thrown) => this.#onFailure(thrown))
    }
    this.#working = undefined
  }

  async #write(update: StatusUpdate, mode: RequestMode): Promise<void> {
    const { place, environment } = this.#options
    const isEnd = update.conclusion !== undefined && NOTHING_SENT.includes(update.stored.state)
    // A first attempt that sent nothing has nothing to remember: one request is enough.
    if (!(place.perAttempt && environment.runAttempt === 1 && isEnd)) {
      await this.#read(mode).catch((thrown) => {
        if (!place.perAttempt) throw thrown
      })
    }
    // After a placeholder, this run creates a job of its own, which replaces what a later run
    // stored.
    const replaces =
      update.created || update.beforeSending !== undefined || this.#state.is === 'written'
    const isOfLaterRun =
      environment.runAttempt > 1 && Number(this.#before?.run ?? 0) > Number(environment.runId)
    if (isOfLaterRun && !replaces) return // The next run must find what that one stored.
    await this.#edit(update, mode)
    if (this.#state.is === 'written') this.#state = { ...this.#state, jobId: update.stored.jobId }
    this.#failed = undefined
  }

  async #read(mode: RequestMode): Promise<StoredState | undefined> {
    if (this.#state.is === 'unread') {
      const { environment, note } = this.#options
      const { before, id } = await readEarlier(this.#options, mode)
      const isOfThisAttempt =
        before?.run === environment.runId && before.attempt === environment.runAttempt
      if (isOfThisAttempt && this.role === 'informs') note(REPLACES)
      this.#before = before
      this.#become(id === undefined ? { is: 'none' } : { is: 'found', id })
    }
    return this.#before
  }

  /**
   * Creates or replaces the text and the state. Without a state, what was stored before keeps
   * counting.
   */
  async #edit(update: StatusUpdate, mode: RequestMode): Promise<void> {
    const { place, identity, markerKeys, environment } = this.#options
    const wasThere = this.#state.is === 'found' || this.#storedId !== undefined
    const own = { ...update.stored, run: environment.runId, attempt: environment.runAttempt }
    // A run that sent nothing leaves the state of the one before.
    const earlier = this.#state.is === 'unread' ? undefined : (this.#before ?? own)
    const state = markerKeys && (NOTHING_SENT.includes(own.state) ? earlier : own)
    const placeholder = { ...update, ...update.beforeSending, conclusion: undefined }
    const id =
      'id' in this.#state ? this.#state.id : await this.#create(state ? placeholder : update, mode)
    // GitHub may carry out an edit without a response.
    this.#become({ is: 'written', id, jobId: this.#storedId })
    // Nothing to remember: one request is enough.
    if (!wasThere && state === undefined) return
    const marker = markerKeys && state && createMarker(state, id, identity, markerKeys)
    try {
      await place.edit(id, update, marker, mode)
    } catch (thrown) {
      const isGone = thrown instanceof GitHubError && thrown.missing
      if (!wasThere || !isGone) throw thrown // Otherwise, somebody has deleted it.
      this.#become({ is: 'none' })
      await this.#edit(update, mode)
    }
  }

  async #create(update: StatusUpdate, mode: RequestMode): Promise<number> {
    const mayExist = this.#state.is === 'creating'
    this.#become({ is: 'creating' })
    return createOnce(this.#options, update, mode, mayExist)
  }

  #become(state: State): void {
    if (this.#state.is !== 'off') this.#state = state
  }

  #onFailure(thrown: unknown): void {
    // Without the permission, no later try would succeed.
    if (thrown instanceof GitHubError && !thrown.temporary && this.#storedId === undefined)
      this.stop()
    if (this.#failed !== undefined) return
    this.#failed = { error: thrown }
    this.#options.warn(this.failure)
  }
}

function keyOf({ stored, notes, conclusion }: StatusUpdate): string {
  return JSON.stringify([stored, notes, conclusion])
}
