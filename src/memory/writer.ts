/** Keeps what is stored at GitHub up to date: one edit per state change, one after the other, the latest last. */

import { ActionError } from '../errors.js'
import type { RunEnvironment } from '../event/event.js'
import { describeWarning, GitHubError, type How } from '../github/client.js'
import { aborted } from '../net/deadline.js'
import type { CloseLimits, StatusUpdate, StatusWriter, Step } from '../run/ports.js'
import { NOTHING_SENT, type StoredState } from './marker.js'
import { type Found, NOTHING_FOUND, type Store } from './store.js'

interface Role {
  /** Whether to write this update at all. */
  readonly accepts: (update: StatusUpdate) => boolean
  /** What it means for the user if it can't be written; and what, if the job is not stored. */
  readonly stale: string
  readonly lost: string
}

const ROLES = {
  /** Later runs depend on it: nothing is sent unless it can be written. */
  decides: {
    accepts: ({ conclusion }) => conclusion !== 'skipped',
    stale: 'The comment may be out of date',
    lost: "a later run may not find this run's docs job",
  },
  /** A re-run uses it if it can. */
  remembers: {
    accepts: () => true,
    stale: 'The check may be missing or out of date',
    lost: "a re-run may not find this run's docs job",
  },
  /** Only people read it: it reports a job, not an attempt. */
  informs: {
    accepts: ({ conclusion, hasJob }) => conclusion !== 'skipped' && (hasJob || conclusion !== undefined),
    stale: 'The comment may be missing or out of date',
    lost: '',
  },
} satisfies Record<string, Role>

interface StateWriterOptions extends Pick<Step, 'run' | 'deadline' | 'log' | 'warn' | 'note'> {
  readonly store: Pick<Store, 'kind' | 'find' | 'isByAction' | 'write'>
  readonly role: keyof typeof ROLES
}

export class StateWriter implements StatusWriter {
  readonly #options: StateWriterOptions
  #found: Found | undefined
  /** The key of the update that is stored, or about to be. */
  #lastKey = ''
  #next: StatusUpdate | undefined
  #working: Promise<void> | undefined
  /** An error was reported: later ones are not, until an edit succeeds. */
  #isReported = false
  /** The error that `failure` tells. */
  #failure: unknown
  #hasWritten = false
  /** The job of the latest update, and the one that is stored. */
  #jobId = ''
  #storedId = ''
  /** Nothing is written any more. */
  #stopped = false
  /** What is stored is this run's, even if it was a later run's before. */
  #takenOver = false
  /** Aborted when the step can't wait for its edits any longer. */
  readonly #closing = new AbortController()

  constructor(options: StateWriterOptions) {
    this.#options = options
  }

  get decides(): boolean {
    return this.#options.role === 'decides'
  }

  /** The next run depends on what is stored, and would not find the job there. */
  get #lacksJob(): boolean {
    return this.#options.role !== 'informs' && (this.#jobId === '' || this.#jobId !== this.#storedId)
  }

  get failure(): string {
    if (this.#failure === undefined) return ''
    if (!(this.#failure instanceof ActionError)) return String(this.#failure)
    const { stale, lost } = ROLES[this.#options.role]
    return describeWarning(this.#failure, `${stale}${this.#lacksJob ? `, and ${lost}` : ''}.`)
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
      if (this.#isWithoutChecks(thrown)) return NOTHING_FOUND
      if (required) this.#isReported = true
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
    const { store, log, note } = this.#options
    this.#found = await store.find(options)
    const { state, unverified, truncated } = this.#found
    if (state !== undefined) return this.#found
    if (truncated)
      log(`There are more ${store.kind}s than are read: one by an earlier run may be among the others.`)
    if (unverified) {
      note(
        `An earlier ${store.kind} by this step can't be verified. It is ignored, and left as it is. ` +
          'If the key was replaced, set previous-api-key to the one before it.',
      )
    }
    return this.#found
  }

  /** Writes nothing from now on: what is stored belongs to another step. */
  stop(): void {
    this.#stopped = true
  }

  async writePlaceholder(update: StatusUpdate): Promise<void> {
    if (this.#stopped || this.#options.role === 'informs') return
    // An edit before it may take longer than the step has left.
    await Promise.race([this.#working, aborted(this.#options.deadline.signal)])
    this.#takenOver = true
    try {
      await this.#write(update, { required: this.decides })
      this.#lastKey = keyOf(update)
    } catch (thrown) {
      if (!this.decides && thrown instanceof ActionError) return this.#onFailure(thrown)
      this.#stopIfPermanent(thrown)
      throw thrown
    }
  }

  enqueue(update: StatusUpdate): void {
    if (this.#stopped || keyOf(update) === this.#lastKey || !ROLES[this.#options.role].accepts(update)) return
    this.#lastKey = keyOf(update)
    this.#next = update
    this.#jobId = update.jobId
    this.#working ??= this.#work()
  }

  async close({ usualMs, memoryMs, cancelledMs }: CloseLimits, cancel: AbortSignal): Promise<void> {
    const abort = (): void => this.#closing.abort()
    const timers = [setTimeout(abort, this.#jobId !== '' && this.#lacksJob ? memoryMs : usualMs)]
    cancel.addEventListener('abort', () => timers.push(setTimeout(abort, cancelledMs)))
    await this.#working
    for (const timer of timers) clearTimeout(timer)
    if (this.#lastKey === '') this.#stopped = true // What failed to the end is not tried once more for a note.
  }

  async #work(): Promise<void> {
    while (this.#next !== undefined && !this.#stopped) {
      const update = this.#next
      this.#next = undefined
      // If the stored job ID is missing, the next run may create a second job, so these edits are retried.
      const required = this.#options.role !== 'informs'
      await this.#write(update, { required, signal: this.#closing.signal }).catch((thrown) =>
        this.#onFailure(thrown),
      )
    }
    this.#working = undefined
  }

  async #write(update: StatusUpdate, options: How): Promise<void> {
    const { store, run } = this.#options
    // A check of a first attempt that sent nothing has nothing to remember: one request is enough.
    const isPlain = store.kind === 'check' && run.runAttempt === 1 && !this.#hasWritten
    const forgets = isPlain && update.conclusion !== undefined && NOTHING_SENT.includes(update.state)
    const finding = forgets ? Promise.resolve(undefined) : this.#find(options)
    const found = await finding.catch((thrown) => {
      if (store.kind === 'comment') throw thrown
      return undefined
    })
    this.#takenOver ||= update.created
    // A re-run of an earlier run must not hide from the next run what a later one stored.
    const isOfLaterRun = found?.state !== undefined && Number(found.state.run) > Number(run.runId)
    if (isOfLaterRun && run.runAttempt > 1 && !this.#takenOver) return
    await store.write(update, stateToStore(update, found, run), options)
    this.#hasWritten = true
    this.#storedId = update.jobId
    this.#isReported = false
    this.#failure = undefined
  }

  /** Some servers with GitHub's API have no checks: then nothing is kept, which is said once. */
  #isWithoutChecks(thrown: unknown): boolean {
    const { store, note } = this.#options
    if (store.kind !== 'check' || !(thrown instanceof GitHubError && thrown.unknownApi)) return false
    if (!this.#stopped) note("This server has no checks: a re-run won't find this run's docs job.")
    this.#stopped = true
    return true
  }

  /** Called with an error that is reported: later ones are not. Without the permission, no later try would succeed. */
  #stopIfPermanent(thrown: unknown): void {
    this.#isReported = true
    if (thrown instanceof GitHubError && !thrown.temporary && !this.#hasWritten) this.#stopped = true
  }

  #onFailure(thrown: unknown): void {
    if (this.#isWithoutChecks(thrown)) return
    this.#lastKey = '' // The next update must not be taken for a duplicate.
    const isReported = this.#isReported
    this.#stopIfPermanent(thrown)
    if (isReported) return
    this.#failure = thrown
    this.#options.warn(this.failure)
  }
}

function keyOf({ state, jobId, link, notes, conclusion }: StatusUpdate): string {
  return JSON.stringify([state, jobId, link, notes, conclusion])
}

/** What to store: a run that sent nothing leaves the state of the one before. */
function stateToStore(
  { state, jobId, link }: StatusUpdate,
  found: Found | undefined,
  { runId, runAttempt }: RunEnvironment,
): StoredState | undefined {
  const own = { jobId, link, state, run: runId, attempt: runAttempt }
  if (!NOTHING_SENT.includes(state)) return own
  if (found === undefined) return undefined
  // What this step has written may be what it finds.
  const isOwn = found.state?.run === own.run && found.state.attempt === own.attempt
  return isOwn ? own : (found.state ?? own)
}
