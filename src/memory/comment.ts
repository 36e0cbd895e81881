/** The step's comment: found by its marker, then edited, the latest update last. */

import { getPath, getString } from '../event/payload.js'
import type { RequestMode } from '../github/client.js'
import { describeWarning, GitHubError, isMissing } from '../github/errors.js'
import { waitForAbort } from '../net/deadline.js'
import type { StatusUpdate, Stored } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import { ActionError, internalError } from '../text/errors.js'
import {
  createMarker,
  type Identity,
  isOfThisAttempt,
  type MarkerKeys,
  NOTHING_SENT,
  readMarker,
  type StoredState,
} from './marker.js'
import type { Comments } from './thread.js'

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
  /**
   * The token is an installation's: whoever has a key that leaked could sign a comment of his own,
   * so only a bot's counts. [memory.marker.author]
   */
  readonly isApps: boolean
}

/**
 * How long the last edits may take, in milliseconds: after a cancel, usually, and if the next run
 * would not find the job, or would pay again for what was sent last. The deadline ends none of
 * them. [cancel.first]
 */
const LIMIT_MS = { cancelled: 3_000, usual: 10_000, memory: 30_000 }

/** What is known of the comment, and what this step has done to it. */
type State = Readonly<
  | { kind: 'unread' }
  /** There is none to edit. */
  | { kind: 'none' }
  | { kind: 'found'; id: number }
  /** It is this step's, or about to be, with what its marker holds since this step wrote it. */
  | { kind: 'written'; id: number; held: StoredState | undefined }
>

export type Comment = ReturnType<typeof keepComment>

/** Keeps the status in the comment up to date. [memory.one-comment] */
export function keepComment(options: CommentOptions) {
  const { comments, identity, markerKeys, isMemory, isApps } = options
  const { environment, clock, deadline, log, warn, tell } = options
  let state: State = { kind: 'unread' }
  let isStopped = false
  let before: StoredState | undefined
  let latest: StatusUpdate | undefined
  let working: Promise<void> | undefined
  /** Why the last edit failed, reported once: here, or by whoever caused the request. */
  let failed: ActionError | 'reported elsewhere' | undefined
  /** Aborted when the step can't wait for its edits any longer. */
  const closing = new AbortController()

  /** What this step has written into the marker: if it sent nothing, what was there before. */
  const written = (): StoredState | undefined => (state.kind === 'written' ? state.held : undefined)

  /** What the marker holds: a state of this run, or of an earlier one. */
  const heldNow = (): StoredState | undefined => written() ?? before

  /** Whether later runs depend on the comment, and would not find these there. */
  function lacks(...names: readonly (keyof Stored)[]): boolean {
    if (!isMemory || latest === undefined) return false
    const { stored } = latest
    const held = heldNow()
    const isThere = stored.jobId !== '' && names.every((name) => stored[name] === held?.[name])
    return !NOTHING_SENT.includes(stored.state) && !isThere
  }

  /** Says what follows from it, and only while it is true. [memory.failure.told] */
  function describeFailure(): string | undefined {
    if (failed === undefined || failed === 'reported elsewhere') return undefined
    const stale = `The comment may be ${isMemory ? '' : 'missing or '}out of date`
    const lost = lacks('jobId') ? ", and a later run may not find this run's docs job" : ''
    return describeWarning(failed, `${stale}${lost}.`)
  }

  function onFailure(thrown: unknown): void {
    // Without the permission, no later try would succeed; after a cancel, one may.
    if (thrown instanceof GitHubError && thrown.kind !== 'temporary' && written() === undefined)
      isStopped = true
    if (failed !== undefined) return
    failed = thrown instanceof ActionError ? thrown : internalError(thrown)
    warn(String(describeFailure()))
  }

  function onReportedFailure(thrown: unknown): never {
    failed ??= 'reported elsewhere'
    onFailure(thrown)
    throw thrown
  }

  /**
   * What can't be verified is left alone: anyone can write it. [memory.unverified] Nobody sees what
   * is edited into a hidden one. [memory.hidden]
   */
  async function read(mode: RequestMode): Promise<StoredState | undefined> {
    if (state.kind !== 'unread') return before
    const note = (text: string): void => tell({ kind: 'noted', text, level: 'warn' })
    const { items, truncated } = await comments.list(mode)
    const marked = items.map((item) => {
      const { id } = item
      const marker = readMarker(getString(item, 'body'), id, identity, markerKeys)
      const isOthers = isApps && getString(item, 'user.type') !== 'Bot'
      const stored = marker && isOthers ? 'unverified' : marker
      return { id, stored, isHidden: getPath<unknown>(item, 'minimized') !== undefined }
    })
    const own = marked.flatMap(({ stored, ...item }) =>
      typeof stored === 'object' ? [{ ...item, stored }] : [],
    )
    // If two runs raced and created two comments, the newer one wins.
    const [newest] = own.sort((one, other) => other.id - one.id)
    state = newest === undefined ? { kind: 'none' } : { kind: 'found', id: newest.id }
    before = newest?.stored
    if (newest?.isHidden)
      tell({ kind: 'noted', text: "This step's comment is hidden.", level: 'log' })
    if (newest === undefined && truncated)
      log('There are too many comments to read all: one by an earlier run may be among the others.')
    if (newest === undefined && marked.some(({ stored }) => stored === 'unverified'))
      note(
        "An earlier comment by this step can't be verified. It is ignored, and left as it is. " +
          'If the key was replaced, set previous-api-key to the one before it, unless it leaked. After a leak, see SECURITY.md of this action. ' +
          "If github-token was a person's before, and is an app's now, that is why.",
      )
    if (before && isOfThisAttempt(before, environment) && !isMemory)
      warn(
        "This step's comment replaces that of another step of this run. Give each step or matrix leg its own job-key.",
      )
    return before
  }

  /** A re-run leaves what a later run stored, unless it made a new job. [memory.later-run] */
  async function write(update: StatusUpdate, mode: RequestMode): Promise<void> {
    await read(mode)
    // After a placeholder, this run creates a job of its own, which replaces what a later run
    // stored.
    const replaces = update.created || state.kind === 'written'
    const isOfLaterRun =
      environment.runAttempt > 1 && Number(before?.run ?? 0) > Number(environment.runId)
    if (isOfLaterRun && !replaces) return // The next run must find what that one stored.
    await edit(update, mode)
    failed = undefined
  }

  /**
   * Creates or edits the comment and its marker. If nothing was sent, the state of the run before
   * stays there: the next run must find its docs job. [memory.nothing-sent]
   */
  async function edit(update: StatusUpdate, mode: RequestMode): Promise<void> {
    const sentNothing = NOTHING_SENT.includes(update.stored.state)
    const wasThere = state.kind === 'found' || written() !== undefined
    const own = { ...update.stored, run: environment.runId, attempt: environment.runAttempt }
    const held = sentNothing ? (before ?? own) : own
    const id = 'id' in state ? state.id : await create(update.first, sentNothing, mode)
    if (id === undefined) return
    // GitHub may carry out an edit without a response: the nonce is gone then.
    state = { kind: 'written', id, held: written() }
    try {
      const marker = createMarker(held, id, identity, markerKeys)
      // At the end, one that this step has edited before was deleted: nothing waits for it.
      const early = written() === undefined || !update.isEnd
      await comments.edit(id, update.text, marker, { ...mode, early })
      state = { kind: 'written', id, held }
    } catch (thrown) {
      if (!wasThere || !isMissing(thrown)) throw thrown // Otherwise, somebody has deleted it.
      state = { kind: 'none' }
      await edit(update, mode)
    }
  }

  /** Nothing is created if nothing was sent, as GitHub mails it. [memory.silent] */
  async function create(text: string, sentNothing: boolean, mode: RequestMode) {
    const created = await comments.findCreated(mode)
    return sentNothing || created ? created?.id : comments.create(text, mode)
  }

  /** Without the stored job ID, the next run may pay again. [memory.edit.retried] */
  async function work(): Promise<void> {
    for (let done: StatusUpdate | undefined; done !== latest && !isStopped; ) {
      done = latest as StatusUpdate
      await write(done, { retried: isMemory, signal: closing.signal }).catch(onFailure)
    }
    working = undefined
  }

  return {
    isMemory,
    /** Why it is out of date, for the summary; undefined if it isn't, or somebody else says so. */
    get failure() {
      return describeFailure()
    },
    /** Whether a re-run would find there what this step has sent. */
    get memory() {
      if (!isMemory || isStopped) return 'none'
      const held = heldNow()
      if (held === undefined || !isOfThisAttempt(held, environment)) return 'pending'
      const isSent = !NOTHING_SENT.includes(held.state)
      return isSent && held.jobId === latest?.stored.jobId ? 'stored' : 'pending'
    },
    /**
     * What an earlier step stored, for a run that depends on it.
     *
     * @throws ActionError `github`; the caller reports it
     */
    find: () => read({ retried: true }).catch(onReportedFailure),
    /** Writes nothing from now on, unless it has begun: its end is told then. */
    stop(): void {
      isStopped ||= latest === undefined
    },
    /**
     * Writes the state before a create request, if later runs need it: a missing permission shows
     * now, and a run that is killed leaves a trace. [send.placeholder.first]
     *
     * @throws ActionError `github` if later runs depend on it
     */
    async writePlaceholder(update: StatusUpdate): Promise<void> {
      if (!isMemory) return
      // An edit before it may take longer than the step has left.
      await Promise.race([working, waitForAbort(deadline.signal)])
      if (isStopped) throw failed
      latest = update
      await write(update, { retried: true }).catch(onReportedFailure)
    },
    /** Writes an update in the background; errors are warnings. [memory.edit.order] */
    enqueue(update: StatusUpdate): void {
      const isStored = latest && keyOf(update) === keyOf(latest) && (working || !failed)
      const isForNobody = !isMemory && !update.isJobSeen && !update.isEnd
      if (isStopped || isStored || isForNobody) return
      latest = update
      working ??= work()
    },
    /** Waits until everything is written, for a limited time. */
    async close(): Promise<void> {
      const { cancelled, usual, memory } = LIMIT_MS
      const isLost = lacks('jobId', 'fingerprint') && latest?.stored.jobId
      const done = new AbortController()
      const abortAfter = async (milliseconds: number): Promise<void> => {
        await clock.sleep(milliseconds, done.signal)
        if (!done.signal.aborted) closing.abort()
      }
      // The outcome doesn't say it: a cancelled run can end as an error, for example if its outputs
      // can't be written.
      void abortAfter(deadline.cancel.aborted ? cancelled : isLost ? memory : usual)
      deadline.cancel.addEventListener('abort', () => void abortAfter(cancelled))
      await working
      // Another close has its own time.
      done.abort()
    },
  }
}

/** What a later run or a reader needs. The times in a text don't count. */
function keyOf({ stored, notes, isEnd }: StatusUpdate): string {
  return JSON.stringify([stored, notes, isEnd])
}
