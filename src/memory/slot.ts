/** One text that the step keeps at GitHub, with its state hidden in it: read once, then edited, the latest update last. */

import type { How } from '../github/client.js'
import { describeWarning, GitHubError } from '../github/errors.js'
import { type Clock, waitForAbort } from '../net/deadline.js'
import type { CloseLimits, StatusUpdate, StatusWriter } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { createMarker, isOfOtherStep, NOTHING_SENT, readMarker, type StoredState } from './marker.js'
import { isOfLaterRun, readEarlier, type SignedPlace, type StoredText } from './place.js'

interface Role {
  /** Whether to write this update at all. */
  readonly accepts: (update: StatusUpdate) => boolean
  /** What it means for the user if it can't be written. */
  readonly stale: string
}

const ROLES = {
  /** Later runs depend on it: nothing is sent unless it can be written. */
  decides: { accepts: ({ conclusion }) => conclusion !== 'skipped', stale: 'The comment may be out of date' },
  /** A re-run uses it if it can. */
  remembers: { accepts: () => true, stale: 'The check may be missing or out of date' },
  /** Only people read it: it is first written when there is a job, or a result. */
  informs: {
    accepts: ({ conclusion, hasJob }) => conclusion !== 'skipped' && (hasJob || conclusion !== undefined),
    stale: 'The comment may be missing or out of date',
  },
} satisfies Record<string, Role>

interface SlotOptions extends SignedPlace, Pick<Step, 'clock' | 'deadline' | 'warn'> {
  /** Random hexadecimal digits. */
  readonly nonce: string
  readonly role: keyof typeof ROLES
  /** Who finds the job here and nowhere else, such as "a re-run"; or empty. */
  readonly soleReader: string
}

/** What is known of the text, and what this step has done to it. */
type State =
  | { readonly is: 'unread' }
  /** There is no text to edit: none was found, or it is a check run, which each attempt makes anew. */
  | { readonly is: 'none' }
  | { readonly is: 'found'; readonly id: number }
  /** A creation went out, and no response said that it was carried out. */
  | { readonly is: 'creating' }
  /** It is this step's, with the last job that was stored. */
  | { readonly is: 'written'; readonly id: number; readonly jobId: string | undefined }
  /** Nothing is written any more. */
  | { readonly is: 'off' }

export class Slot implements StatusWriter {
  readonly #options: SlotOptions
  #state: State = { is: 'unread' }
  /** What an earlier step stored. */
  #before: StoredState | undefined
  /** The check runs of earlier attempts that died. */
  #dead: readonly StoredText[] = []
  #latest: StatusUpdate | undefined
  #working: Promise<void> | undefined
  /** Why the last edit failed, reported once; without an error if whoever caused the request reports it. */
  #failed: { readonly error?: unknown } | undefined
  /** Aborted when the step can't wait for its edits any longer. */
  readonly #closing = new AbortController()

  constructor(options: SlotOptions) {
    this.#options = options
  }

  get decides(): boolean {
    return this.#options.role === 'decides'
  }

  get #storedId(): string | undefined {
    return this.#state.is === 'written' ? this.#state.jobId : undefined
  }

  /** The next run depends on what is stored, and would not find the job there. */
  get #lacksJob(): boolean {
    if (this.#options.soleReader === '' || this.#latest === undefined) return false
    const { state, jobId } = this.#latest.stored
    return !NOTHING_SENT.includes(state) && (jobId === '' || jobId !== this.#storedId)
  }

  get failure(): string {
    const { role, soleReader } = this.#options
    const error = this.#failed?.error
    if (!(error instanceof ActionError)) return String(error ?? '')
    const lost = this.#lacksJob ? `, and ${soleReader} may not find this run's docs job` : ''
    return describeWarning(error, `${ROLES[role].stale}${lost}.`)
  }

  /**
   * What an earlier step stored.
   *
   * @param required retries temporary failures; the caller reports the error
   * @throws ActionError `github`
   */
  async find(required: boolean): Promise<StoredState | undefined> {
    try {
      return await this.#read({ required })
    } catch (thrown) {
      if (this.#stopsWithoutChecks(thrown)) return undefined
      if (required) this.#failed ??= {}
      throw thrown
    }
  }

  /** Whether this comment is one that this step, or another one, keeps up to date. */
  async isByAction(id: number, text: string): Promise<boolean> {
    const { identity, markerKeys } = this.#options
    if (this.decides) await this.find(true)
    else await this.find(false).catch(() => undefined) // Its marker shows as well.
    if ('id' in this.#state && id === this.#state.id) return true
    if (isOfOtherStep(text, identity)) return true
    return markerKeys !== undefined && typeof readMarker(text, id, identity, markerKeys) === 'object'
  }

  /** Writes nothing from now on: what is stored belongs to another step. */
  stop(): void {
    this.#state = { is: 'off' }
  }

  async writePlaceholder(update: StatusUpdate): Promise<void> {
    if (this.#state.is === 'off' || this.#options.role === 'informs') return
    // An edit before it may take longer than the step has left.
    await Promise.race([this.#working, waitForAbort(this.#options.deadline.signal)])
    this.#latest = update
    try {
      await this.#write(update, { required: this.decides })
    } catch (thrown) {
      if (!this.decides && thrown instanceof ActionError) return this.#onFailure(thrown)
      this.#failed ??= {}
      this.#stopIfPermanent(thrown)
      throw thrown
    }
  }

  enqueue(update: StatusUpdate): void {
    const isStored = this.#latest && keyOf(update) === keyOf(this.#latest) && (this.#working || !this.#failed)
    if (this.#state.is === 'off' || isStored || !ROLES[this.#options.role].accepts(update)) return
    this.#latest = update
    this.#working ??= this.#work()
  }

  async close({ usualMs, memoryMs, cancelledMs }: CloseLimits, cancel: AbortSignal): Promise<void> {
    const limitMs = this.#lacksJob && this.#latest?.stored.jobId ? memoryMs : usualMs
    const end = abortWithin(this.#closing, { limitMs, cancelledMs }, cancel, this.#options.clock)
    await this.#working?.finally(end)
  }

  async #work(): Promise<void> {
    for (let done: StatusUpdate | undefined; done !== this.#latest && this.#state.is !== 'off'; ) {
      done = this.#latest as StatusUpdate
      // If the stored job ID is missing, the next run may create a second job, so these edits are retried.
      const how = { required: this.#options.role !== 'informs', signal: this.#closing.signal }
      await this.#write(done, how).catch((thrown) => this.#onFailure(thrown))
    }
    this.#working = undefined
  }

  async #write(update: StatusUpdate, how: How): Promise<void> {
    const { place, run } = this.#options
    if (!hasNothingToRemember(update, this.#options)) {
      await this.#read(how).catch((thrown) => {
        if (place.kind === 'comment') throw thrown
      })
    }
    // A placeholder is followed by a job of this run's own, and so replaces what a later run stored.
    const replaces = update.created || update.beforeSending !== undefined || this.#state.is === 'written'
    if (!replaces && isOfLaterRun(this.#before, run)) return
    await this.#concludeDead(how)
    const id = await this.#edit(update, how)
    this.#become({ is: 'written', id, jobId: update.stored.jobId })
    this.#failed = undefined
  }

  async #read(how: How): Promise<StoredState | undefined> {
    if (this.#state.is === 'unread') {
      const { before, id, dead } = await readEarlier(this.#options, how)
      this.#before = before
      this.#dead = dead
      this.#become(id === undefined ? { is: 'none' } : { is: 'found', id })
    }
    return this.#before
  }

  /**
   * Creates or replaces the text and the state. Without a state, what was stored before keeps counting.
   *
   * @returns its id
   */
  async #edit(update: StatusUpdate, how: How): Promise<number> {
    const { place, identity, markerKeys, run } = this.#options
    const isNew = this.#state.is === 'unread' || this.#state.is === 'none'
    const own = { ...update.stored, run: run.runId, attempt: run.runAttempt }
    // A run that sent nothing leaves the state of the one before.
    const earlier = this.#state.is === 'unread' ? undefined : (this.#before ?? own)
    const state = markerKeys && (NOTHING_SENT.includes(own.state) ? earlier : own)
    const placeholder = { ...update, ...update.beforeSending, conclusion: undefined }
    const id = 'id' in this.#state ? this.#state.id : await this.#create(state ? placeholder : update, how)
    if (isNew && state === undefined) return id // Nothing to remember: one request is enough.
    const marker = markerKeys && state && createMarker(state, id, identity, markerKeys)
    this.#become({ is: 'written', id, jobId: this.#storedId }) // GitHub may carry out an edit without a response.
    return place.edit(id, update, marker, how).then(
      () => id,
      (thrown) => {
        const wasDeleted = !isNew && thrown instanceof GitHubError && thrown.status === 404
        if (!wasDeleted) throw thrown
        this.#become({ is: 'none' })
        return this.#edit(update, how)
      },
    )
  }

  /** If the response to a creation is lost, the text is found by its nonce instead of being created twice. */
  async #create(update: StatusUpdate, how: How): Promise<number> {
    const { place, nonce } = this.#options
    const find = async () =>
      (await place.list({ ...how, required: false })).items.find((text) => text.nonce === nonce)
    const lost = this.#state.is === 'creating' ? await find() : undefined
    this.#become({ is: 'creating' })
    const id = lost?.id ?? (await place.create(update, nonce, { ...how, find }))
    this.#become({ is: 'written', id, jobId: undefined })
    return id
  }

  /** Ends the check runs of earlier attempts that died. Nothing depends on it, so GitHub's errors are ignored. */
  async #concludeDead(how: How): Promise<void> {
    const dead = this.#dead
    this.#dead = []
    for (const text of dead) {
      await text.conclude?.({ ...how, required: false }).catch((thrown) => {
        if (!(thrown instanceof GitHubError)) throw thrown
      })
    }
  }

  #become(state: State): void {
    if (this.#state.is !== 'off') this.#state = state
  }

  /** Some servers with GitHub's API have no checks. Then nothing is kept, which is said once. */
  #stopsWithoutChecks(thrown: unknown): boolean {
    const { place, soleReader, note } = this.#options
    if (place.kind !== 'check' || !(thrown instanceof GitHubError && thrown.unknownApi)) return false
    const lost = soleReader && `: ${soleReader} won't find this run's docs job`
    if (this.#state.is !== 'off') note(`This server has no checks${lost}.`)
    this.stop()
    return true
  }

  /** Without the permission, no later try would succeed. */
  #stopIfPermanent(thrown: unknown): void {
    if (thrown instanceof GitHubError && !thrown.temporary && this.#storedId === undefined) this.stop()
  }

  #onFailure(thrown: unknown): void {
    if (this.#stopsWithoutChecks(thrown)) return
    this.#stopIfPermanent(thrown)
    if (this.#failed !== undefined) return
    this.#failed = { error: thrown }
    this.#options.warn(this.failure)
  }
}

/** A check of a first attempt that sent nothing: one request is enough. */
function hasNothingToRemember({ stored, conclusion }: StatusUpdate, { place, run }: SlotOptions): boolean {
  const isEnd = conclusion !== undefined && NOTHING_SENT.includes(stored.state)
  return place.kind === 'check' && run.runAttempt === 1 && isEnd
}

/**
 * Aborts the edits after a time, and after a cancel maybe sooner.
 *
 * @returns ends that
 */
function abortWithin(
  controller: AbortController,
  { limitMs, cancelledMs }: { readonly limitMs: number; readonly cancelledMs: number },
  cancel: AbortSignal,
  clock: Clock,
): () => void {
  const done = new AbortController()
  const abortAfter = async (milliseconds: number): Promise<void> => {
    await clock.sleep(milliseconds, done.signal)
    if (!done.signal.aborted) controller.abort()
  }
  void abortAfter(limitMs)
  cancel.addEventListener('abort', () => void abortAfter(cancelledMs))
  return () => done.abort()
}

function keyOf({ stored, notes, conclusion }: StatusUpdate): string {
  return JSON.stringify([stored, notes, conclusion])
}
