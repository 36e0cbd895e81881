/** Keeps what is stored at GitHub up to date: one edit per state change, one after the other, the latest last. */

import type { RunEnvironment } from '../event/event.js'
import type { How } from '../github/client.js'
import { describeWarning, GitHubError } from '../github/errors.js'
import { type Clock, waitForAbort } from '../net/deadline.js'
import type { CloseLimits, StatusUpdate, StatusWriter } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { NOTHING_SENT, type StoredState } from './marker.js'
import { type Found, NOTHING_FOUND, type Store } from './store.js'

interface Role {
  /** Whether to write this update at all. */
  readonly accepts: (update: StatusUpdate) => boolean
  /** What it means for the user if it can't be written. */
  readonly stale: string
}

const ROLES = {
  /** Later runs depend on it: nothing is sent unless it can be written. */
  decides: {
    accepts: ({ conclusion }) => conclusion !== 'skipped',
    stale: 'The comment may be out of date',
  },
  /** A re-run uses it if it can. */
  remembers: {
    accepts: () => true,
    stale: 'The check may be missing or out of date',
  },
  /** Only people read it: it is first written when there is a job, or a result. */
  informs: {
    accepts: ({ conclusion, hasJob }) => conclusion !== 'skipped' && (hasJob || conclusion !== undefined),
    stale: 'The comment may be missing or out of date',
  },
} satisfies Record<string, Role>

interface MemoryWriterOptions extends Pick<Step, 'run' | 'clock' | 'deadline' | 'log' | 'warn' | 'note'> {
  readonly store: Pick<Store, 'kind' | 'find' | 'isByAction' | 'write'>
  readonly role: keyof typeof ROLES
  /** Who finds the job here and nowhere else, such as "a re-run"; or empty. */
  readonly soleReader: string
}

export class MemoryWriter implements StatusWriter {
  readonly #options: MemoryWriterOptions
  #found: Found | undefined
  /** `keyOf` the update that is stored, or about to be; empty after a failure. */
  #lastKey = ''
  #next: StatusUpdate | undefined
  #working: Promise<void> | undefined
  /** Why the last edit failed, reported once; without an error if whoever caused the request reports it. */
  #failed: { readonly error?: unknown } | undefined
  #latest: StatusUpdate | undefined
  /** The job that is stored; undefined if nothing is stored yet. */
  #storedId: string | undefined
  /** Nothing is written any more. */
  #stopped = false
  /** This run may replace what a later run stored, because it creates a job of its own. */
  #takenOver = false
  /** Aborted when the step can't wait for its edits any longer. */
  readonly #closing = new AbortController()

  constructor(options: MemoryWriterOptions) {
    this.#options = options
  }

  get decides(): boolean {
    return this.#options.role === 'decides'
  }

  /** The next run depends on what is stored, and would not find the job there. */
  get #lacksJob(): boolean {
    return this.#options.soleReader !== '' && lacksJob(this.#latest, this.#storedId)
  }

  get failure(): string {
    return describeFailure(this.#failed?.error, this.#options, this.#lacksJob)
  }

  /**
   * What an earlier step stored.
   *
   * @param required retries temporary failures; the caller reports the error
   * @throws ActionError `github`
   */
  async find(required: boolean): Promise<Found> {
    try {
      return await this.#find({ required })
    } catch (thrown) {
      if (this.#stopsWithoutChecks(thrown)) return NOTHING_FOUND
      if (required) this.#failed ??= {}
      throw thrown
    }
  }

  /** Whether this comment is one that this step, or another one, keeps up to date. */
  async isByAction(id: number, text: string): Promise<boolean> {
    if (this.decides) await this.find(true)
    else await this.find(false).catch(() => undefined) // Its marker shows as well.
    return this.#options.store.isByAction(id, text)
  }

  async #find(options: How): Promise<Found> {
    if (this.#found !== undefined) return this.#found
    this.#found = await this.#options.store.find(options)
    if (this.#found.state === undefined) tellNothingFound(this.#found, this.#options)
    return this.#found
  }

  /** Writes nothing from now on: what is stored belongs to another step. */
  stop(): void {
    this.#stopped = true
  }

  async writePlaceholder(update: StatusUpdate): Promise<void> {
    if (this.#stopped || this.#options.role === 'informs') return
    this.#latest = update
    // An edit before it may take longer than the step has left.
    await Promise.race([this.#working, waitForAbort(this.#options.deadline.signal)])
    this.#takenOver = true
    try {
      await this.#write(update, { required: this.decides })
      this.#lastKey = keyOf(update)
    } catch (thrown) {
      if (!this.decides && thrown instanceof ActionError) return this.#onFailure(thrown)
      this.#failed ??= {}
      this.#stopIfPermanent(thrown)
      throw thrown
    }
  }

  enqueue(update: StatusUpdate): void {
    if (this.#stopped || keyOf(update) === this.#lastKey || !ROLES[this.#options.role].accepts(update)) return
    this.#lastKey = keyOf(update)
    this.#next = update
    this.#latest = update
    this.#working ??= this.#work()
  }

  async close({ usualMs, memoryMs, cancelledMs }: CloseLimits, cancel: AbortSignal): Promise<void> {
    const limitMs = this.#lacksJob && this.#latest?.stored.jobId ? memoryMs : usualMs
    const end = abortWithin(this.#closing, { limitMs, cancelledMs }, cancel, this.#options.clock)
    await this.#working?.finally(end)
    if (this.#lastKey === '') this.#stopped = true // The last edit failed: a note about another place is no reason to try again.
  }

  async #work(): Promise<void> {
    while (this.#next !== undefined && !this.#stopped) {
      const update = this.#next
      this.#next = undefined
      // If the stored job ID is missing, the next run may create a second job, so these edits are retried.
      const how = { required: this.#options.role !== 'informs', signal: this.#closing.signal }
      await this.#write(update, how).catch((thrown) => this.#onFailure(thrown))
    }
    this.#working = undefined
  }

  async #write(update: StatusUpdate, options: How): Promise<void> {
    const { store, run } = this.#options
    const isPlain = this.#storedId === undefined && hasNothingToRemember(update, this.#options)
    const finding = isPlain ? Promise.resolve(undefined) : this.#find(options)
    const found = await finding.catch((thrown) => {
      if (store.kind === 'comment') throw thrown
      return undefined
    })
    this.#takenOver ||= update.created
    if (isOfLaterRun(found, run) && !this.#takenOver) return
    await store.write(update, selectState(update, found, run), options)
    this.#storedId = update.stored.jobId
    this.#failed = undefined
  }

  /** Then nothing is kept, which is said once. */
  #stopsWithoutChecks(thrown: unknown): boolean {
    if (!isWithoutChecks(thrown, this.#options)) return false
    if (!this.#stopped) tellWithoutChecks(this.#options)
    this.#stopped = true
    return true
  }

  /** Without the permission, no later try would succeed. */
  #stopIfPermanent(thrown: unknown): void {
    const isPermanent = thrown instanceof GitHubError && !thrown.temporary
    this.#stopped ||= isPermanent && this.#storedId === undefined
  }

  #onFailure(thrown: unknown): void {
    if (this.#stopsWithoutChecks(thrown)) return
    this.#lastKey = '' // The next update must not be taken for a duplicate.
    this.#stopIfPermanent(thrown)
    if (this.#failed !== undefined) return
    this.#failed = { error: thrown }
    this.#options.warn(this.failure)
  }
}

function lacksJob(latest: StatusUpdate | undefined, storedId: string | undefined): boolean {
  if (latest === undefined || NOTHING_SENT.includes(latest.stored.state)) return false
  return latest.stored.jobId === '' || latest.stored.jobId !== storedId
}

function describeFailure(
  error: unknown,
  { role, soleReader }: MemoryWriterOptions,
  isJobLost: boolean,
): string {
  if (!(error instanceof ActionError)) return String(error ?? '')
  const lost = isJobLost ? `, and ${soleReader} may not find this run's docs job` : ''
  return describeWarning(error, `${ROLES[role].stale}${lost}.`)
}

function tellWithoutChecks({ soleReader, note }: MemoryWriterOptions): void {
  const lost = soleReader && `: ${soleReader} won't find this run's docs job`
  note(`This server has no checks${lost}.`)
}

/** A check of a first attempt that sent nothing: one request is enough. */
function hasNothingToRemember(
  { stored, conclusion }: StatusUpdate,
  { store, run }: MemoryWriterOptions,
): boolean {
  const isEnd = conclusion !== undefined && NOTHING_SENT.includes(stored.state)
  return store.kind === 'check' && run.runAttempt === 1 && isEnd
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

/** A re-run of an earlier run must not hide from the next run what a later one stored. */
function isOfLaterRun(found: Found | undefined, { runId, runAttempt }: RunEnvironment): boolean {
  return found?.state !== undefined && Number(found.state.run) > Number(runId) && runAttempt > 1
}

/** Some servers with GitHub's API have no checks. */
function isWithoutChecks(thrown: unknown, { store }: MemoryWriterOptions): boolean {
  return store.kind === 'check' && thrown instanceof GitHubError && thrown.unknownApi
}

/** There may be an earlier text, but none that counts. */
function tellNothingFound({ unverified, truncated }: Found, { store, log, note }: MemoryWriterOptions): void {
  const { kind } = store
  if (truncated) log(`There are more ${kind}s than are read: one by an earlier run may be among the others.`)
  if (!unverified) return
  note(
    `An earlier ${kind} by this step can't be verified. It is ignored, and left as it is. ` +
      'If the key was replaced, set previous-api-key to the one before it.',
  )
}

function keyOf({ stored, notes, conclusion }: StatusUpdate): string {
  return JSON.stringify([stored, notes, conclusion])
}

/** What to store: a run that sent nothing leaves the state of the one before. */
function selectState(
  { stored }: StatusUpdate,
  found: Found | undefined,
  { runId, runAttempt }: RunEnvironment,
): StoredState | undefined {
  const own = { ...stored, run: runId, attempt: runAttempt }
  if (!NOTHING_SENT.includes(stored.state)) return own
  if (found === undefined) return undefined
  // What this step has written may be what it finds.
  const isOwn = found.state?.run === own.run && found.state.attempt === own.attempt
  return isOwn ? own : (found.state ?? own)
}
