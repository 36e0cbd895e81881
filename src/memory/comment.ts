/** The step's comment: found by its marker, then edited, the latest update last. */

import type { RequestMode } from '../github/client.js'
import { describeWarning, GitHubError, isMissing } from '../github/errors.js'
import { waitForAbort } from '../net/deadline.js'
import type { StatusUpdate, Stored } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import type { Comments } from './conversation.js'
import {
  createMarker,
  type Identity,
  type MarkerKeys,
  NOTHING_SENT,
  readMarker,
  type StoredState,
} from './marker.js'

interface CommentOptions
  extends Pick<Step, 'environment' | 'clock' | 'deadline' | 'log' | 'warn' | 'tell'> {
  readonly comments: Comments
  readonly identity: Identity
  readonly markerKeys: MarkerKeys
  /**
   * Later runs depend on it: nothing is sent unless it can be written. Else, only people read it:
   * it is first written when there is a job, or a result.
   */
  readonly isMemory: boolean
}

/**
 * How long the last edits may take, in milliseconds: past the deadline, after a cancel, usually,
 * and if the next run would not find the job, or would pay again for what was sent last.
 * [cancel.first] [memory.edit.retried]
 */
const LIMIT_MS = { min: 1_000, cancelled: 3_000, usual: 10_000, memory: 30_000 }

/** What is known of the comment, and what this step has done to it. */
type State = Readonly<
  | { is: 'unread' }
  /** There is none to edit. */
  | { is: 'none' }
  | { is: 'found'; id: number }
  /** A creation went out, and no response said that it was carried out. */
  | { is: 'creating' }
  /** It is this step's, or about to be, with what its marker holds since this step wrote it. */
  | { is: 'written'; id: number; held: StoredState | undefined }
  | { is: 'off' }
>

/** Keeps the status in the comment up to date. [memory.one-comment] */
export class Comment {
  readonly #options: CommentOptions
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

  constructor(options: CommentOptions) {
    this.#options = options
  }

  get isMemory(): boolean {
    return this.#options.isMemory
  }

  /**
   * What this step has written into the marker: if it sent nothing, what was there before.
   * [memory.nothing-sent]
   */
  get #written(): StoredState | undefined {
    return this.#state.is === 'written' ? this.#state.held : undefined
  }

  /** What the marker holds: a state of this run, or of an earlier one. [memory.nothing-sent] */
  get #held(): StoredState | undefined {
    return this.#written ?? this.#before
  }

  /** Whether later runs depend on the comment, and would not find these there. */
  #lacks(...names: readonly (keyof Stored)[]): boolean {
    if (!this.isMemory || this.#latest === undefined) return false
    const { stored } = this.#latest
    const held = this.#held
    const isThere = stored.jobId !== '' && names.every((name) => stored[name] === held?.[name])
    return !NOTHING_SENT.includes(stored.state) && !isThere
  }

  /**
   * Why it is not up to date, for the summary; empty if it is, or if that is said elsewhere.
   * [memory.failure.told]
   */
  get failure(): string {
    const error = this.#failed?.error
    if (!(error instanceof ActionError)) return String(error ?? '')
    const stale = `The comment may be ${this.isMemory ? '' : 'missing or '}out of date`
    const lost = this.#lacks('jobId') ? ", and a later run may not find this run's docs job" : ''
    return describeWarning(error, `${stale}${lost}.`)
  }

  /** Whether a re-run would find there what this step has sent. [report.advice.rerun] */
  get memory(): 'none' | 'pending' | 'stored' {
    if (!this.isMemory || this.#state.is === 'off') return 'none'
    const { runId, runAttempt } = this.#options.environment
    const held = this.#held
    const isOwn = held?.run === runId && held.attempt === runAttempt
    const isSent = isOwn && !NOTHING_SENT.includes(held.state)
    return isSent && held.jobId === this.#latest?.stored.jobId ? 'stored' : 'pending'
  }

  /**
   * What an earlier step stored, for a run that depends on it.
   *
   * @throws ActionError `github`; the caller reports it
   */
  async find(): Promise<StoredState | undefined> {
    try {
      return await this.#read({ retried: true })
    } catch (thrown) {
      this.#failed ??= {}
      throw thrown
    }
  }

  /** Writes nothing from now on. */
  stop(): void {
    this.#state = { is: 'off' }
  }

  /**
   * Writes the state before a create request, if later runs need it: a missing permission shows
   * now, and a run that is killed leaves a trace. [send.placeholder.first]
   *
   * @throws ActionError `github` if later runs depend on it
   */
  async writePlaceholder(update: StatusUpdate): Promise<void> {
    if (!this.isMemory) return
    // An edit before it may take longer than the step has left.
    await Promise.race([this.#working, waitForAbort(this.#options.deadline.signal)])
    if (this.#state.is === 'off') throw this.#failed?.error
    this.#latest = update
    try {
      await this.#write(update, { retried: true })
    } catch (thrown) {
      this.#failed ??= {}
      this.#onFailure(thrown)
      throw thrown
    }
  }

  /**
   * Writes an update in the background, unless it changes nothing; errors are warnings.
   * [memory.edit.order]
   */
  enqueue(update: StatusUpdate): void {
    const isStored =
      this.#latest && keyOf(update) === keyOf(this.#latest) && (this.#working || !this.#failed)
    const isEarly = !this.isMemory && !update.isJobSeen && !update.isEnd
    if (this.#state.is === 'off' || isStored || isEarly) return
    this.#latest = update
    this.#working ??= this.#work()
  }

  /** Waits until everything is written, for a limited time. */
  async close(): Promise<void> {
    const { clock, deadline } = this.#options
    const { min, cancelled, usual, memory } = LIMIT_MS
    const isLost = this.#lacks('jobId', 'fingerprint') && this.#latest?.stored.jobId
    const limitMs = Math.min(isLost ? memory : usual, Math.max(min, deadline.remainingMs()))
    const done = new AbortController()
    const abortAfter = async (milliseconds: number): Promise<void> => {
      await clock.sleep(milliseconds, done.signal)
      if (!done.signal.aborted) this.#closing.abort()
    }
    // The outcome doesn't say it: a cancelled run can end as an error, for example if its outputs
    // can't be written.
    void abortAfter(deadline.cancel.aborted ? cancelled : limitMs)
    deadline.cancel.addEventListener('abort', () => void abortAfter(cancelled))
    await this.#working
    done.abort()
  }

  // [memory.edit.retried]
  async #work(): Promise<void> {
    for (let done: StatusUpdate | undefined; done !== this.#latest && this.#state.is !== 'off'; ) {
      done = this.#latest as StatusUpdate
      // If the stored job ID is missing, the next run may create a second job, so these edits are
      // retried.
      const mode = { retried: this.isMemory, signal: this.#closing.signal }
      await this.#write(done, mode).catch((thrown) => this.#onFailure(thrown))
    }
    this.#working = undefined
  }

  async #write(update: StatusUpdate, mode: RequestMode): Promise<void> {
    const { environment } = this.#options
    await this.#read(mode)
    // After a placeholder, this run creates a job of its own, which replaces what a later run
    // stored.
    const replaces = update.created || this.#state.is === 'written'
    // [memory.later-run]
    const isOfLaterRun =
      environment.runAttempt > 1 && Number(this.#before?.run ?? 0) > Number(environment.runId)
    if (isOfLaterRun && !replaces) return // The next run must find what that one stored.
    await this.#edit(update, mode)
    this.#failed = undefined
  }

  async #read(mode: RequestMode): Promise<StoredState | undefined> {
    if (this.#state.is !== 'unread') return this.#before
    const { comments, identity, markerKeys, environment, log, tell } = this.#options
    const warn = (text: string): void => tell({ kind: 'noted', text, level: 'warn' })
    const { items, truncated } = await comments.list(mode)
    const marked = items.map(({ id, body }) => ({
      id,
      stored: readMarker(body, id, identity, markerKeys),
    }))
    const own = marked.flatMap(({ id, stored }) =>
      typeof stored === 'object' ? [{ id, stored }] : [],
    )
    // If two runs raced and created two comments, the newer one wins. [memory.one-comment]
    const [latest] = own.sort((one, other) => other.id - one.id)
    if (latest === undefined) {
      if (truncated)
        log(
          'There are too many comments to read all: one by an earlier run may be among the others.',
        )
      if (marked.some(({ stored }) => stored === 'unverified'))
        warn(
          // [memory.unverified]
          "An earlier comment by this step can't be verified. It is ignored, and left as it is. " +
            'If the key was replaced, set previous-api-key to the one before it.',
        )
    }
    this.#before = latest?.stored
    // [memory.identity.same-attempt]
    const isOfThisAttempt =
      latest?.stored.run === environment.runId && latest.stored.attempt === environment.runAttempt
    if (isOfThisAttempt && !this.isMemory)
      // [memory.identity.same-attempt]
      warn(
        "This step's comment replaces that of another step of this run. Give each step or matrix leg its own job-key.",
      )
    this.#become(latest === undefined ? { is: 'none' } : { is: 'found', id: latest.id })
    return this.#before
  }

  /** Creates or edits the comment and its marker. */
  async #edit(update: StatusUpdate, mode: RequestMode): Promise<void> {
    const { comments, identity, markerKeys, environment } = this.#options
    const sentNothing = NOTHING_SENT.includes(update.stored.state)
    const wasThere = this.#state.is === 'found' || this.#written !== undefined
    const own = { ...update.stored, run: environment.runId, attempt: environment.runAttempt }
    // A run that sent nothing leaves the state of the one before. [memory.nothing-sent]
    const held = sentNothing ? (this.#before ?? own) : own
    const id =
      'id' in this.#state ? this.#state.id : await this.#create(update.first, sentNothing, mode)
    if (id === undefined) return
    // GitHub may carry out an edit without a response.
    this.#become({ is: 'written', id, held: this.#written })
    try {
      await comments.edit(id, update.text, createMarker(held, id, identity, markerKeys), mode)
      this.#become({ is: 'written', id, held })
    } catch (thrown) {
      // [memory.one-comment.no-twin]
      if (!wasThere || !isMissing(thrown)) throw thrown // Otherwise, somebody has deleted it.
      this.#become({ is: 'none' })
      await this.#edit(update, mode)
    }
  }

  /**
   * [memory.silent]
   *
   * @param sentNothing GitHub mails what is created, to people who can't do anything about it.
   */
  async #create(
    text: string,
    sentNothing: boolean,
    mode: RequestMode,
  ): Promise<number | undefined> {
    const { comments } = this.#options
    const created = this.#state.is === 'creating' ? await comments.findCreated(mode) : undefined
    if (sentNothing || created !== undefined) return created?.id
    this.#become({ is: 'creating' })
    return comments.create(text, mode)
  }

  #become(state: State): void {
    if (this.#state.is !== 'off') this.#state = state
  }

  #onFailure(thrown: unknown): void {
    // Without the permission, no later try would succeed.
    if (thrown instanceof GitHubError && thrown.kind !== 'temporary' && this.#written === undefined)
      this.stop()
    if (this.#failed !== undefined) return
    this.#failed = { error: thrown }
    this.#options.warn(this.failure)
  }
}

// [memory.edit.order]
function keyOf({ stored, notes, isEnd }: StatusUpdate): string {
  return JSON.stringify([stored, notes, isEnd])
}
