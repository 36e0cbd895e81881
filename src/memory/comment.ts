/** The step's comment: found by its marker, then edited, the latest update last. */

import { getPath, getString } from '../event/payload.js'
import type { RequestMode } from '../github/client.js'
import { isMissing } from '../github/errors.js'
import { waitForAbort } from '../net/deadline.js'
import type { StatusUpdate } from '../run/status-update.js'
import type { Step } from '../run/step.js'
import {
  type CommentHappening,
  type CommentState,
  commentAfter,
  describeFailure,
  lacks,
  mayWrite,
  memoryIn,
  writtenIn,
} from './comment-state.js'
import {
  createMarker,
  type Identity,
  isOfThisAttempt,
  type MarkerKeys,
  NOTHING_SENT,
  readMarker,
} from './marker.js'
import type { Comments } from './thread.js'

interface CommentOptions extends Step {
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
 * How long the last edits may take, in milliseconds: after a cancel, usually, and if the next run
 * would not find the job, or would pay again for what was sent last. The deadline ends none of
 * them, and each leaves time for another try if one gets no answer. [cancel.first]
 */
const LIMIT_MS = { cancelled: 3_000, usual: 20_000, memory: 30_000 }

export type Comment = ReturnType<typeof keepComment>

/** Keeps the status in the comment up to date. [memory.one-comment] */
export function keepComment(options: CommentOptions) {
  const { comments, isMemory, environment, clock, deadline, warn } = options
  let state: CommentState = { isMemory }
  let latest: StatusUpdate | undefined
  let working: Promise<void> | undefined
  /** Aborted when the step can't wait for its edits any longer. */
  const closing = new AbortController()

  const happens = (happening: CommentHappening): void => {
    state = commentAfter(state, happening)
  }

  function onFailure(thrown: unknown): void {
    const isTold = state.failed !== undefined
    happens({ kind: 'failed', thrown })
    if (!isTold) warn(String(describeFailure(state, latest?.stored)))
  }

  function onReportedFailure(thrown: unknown): never {
    happens({ kind: 'reported', thrown })
    throw thrown
  }

  async function read(mode: RequestMode) {
    if (state.place === undefined) happens(findOwn(await comments.list(mode), options))
    return state.before
  }

  async function write(update: StatusUpdate, mode: RequestMode) {
    await read(mode)
    // The next run must find what a later one stored.
    if (!mayWrite(state, update, environment)) return
    await edit(update, mode)
    happens({ kind: 'done' })
  }

  /**
   * Creates or edits the comment and its marker. If nothing was sent, the state of the run before
   * stays there: the next run must find its docs job. [memory.nothing-sent] Nothing is created
   * then, as GitHub mails it. [memory.silent]
   */
  async function edit(update: StatusUpdate, mode: RequestMode): Promise<void> {
    const { place, before } = state
    const sentNothing = NOTHING_SENT.includes(update.stored.state)
    const wasThere = place?.kind === 'found' || writtenIn(state) !== undefined
    const own = { ...update.stored, run: environment.runId, attempt: environment.runAttempt }
    const held = sentNothing ? (before ?? own) : own
    const make = () =>
      sentNothing ? comments.findCreated(mode) : comments.create(update.first, mode)
    const found = place && 'id' in place ? place : await make()
    if (found === undefined) return
    const { id } = found
    // GitHub may carry out an edit without a response: the nonce is gone then.
    happens({ kind: 'written', id, held: writtenIn(state) })
    // At the end, one that this step has edited before was deleted: nothing waits for it.
    const early = writtenIn(state) === undefined || !update.isEnd
    try {
      const marker = createMarker(held, id, options.identity, options.markerKeys)
      await comments.edit(id, update.text, marker, { ...mode, early })
      happens({ kind: 'written', id, held })
    } catch (thrown) {
      if (!wasThere || !isMissing(thrown)) throw thrown // Otherwise, somebody has deleted it.
      happens({ kind: 'none' })
      await edit(update, mode)
    }
  }

  /** Without the stored job ID, the next run may pay again. [memory.edit.retried] */
  async function work() {
    for (let done: StatusUpdate | undefined; done !== latest && !state.isStopped; ) {
      done = latest as StatusUpdate
      await write(done, { retried: isMemory, signal: closing.signal }).catch(onFailure)
    }
    working = undefined
  }

  return {
    isMemory,
    /** Why it is out of date, for the summary; undefined if it isn't, or somebody else says so. */
    get failure() {
      return describeFailure(state, latest?.stored)
    },
    /** Whether a re-run would find there what this step has sent. */
    get memory() {
      return memoryIn(state, latest?.stored.jobId, environment)
    },
    /**
     * What an earlier step stored, for a run that depends on it.
     *
     * @throws ActionError `github`; the caller reports it
     */
    find: () => read({ retried: true }).catch(onReportedFailure),
    /** Writes nothing from now on, unless it has begun: its end is told then. */
    stop(): void {
      if (latest === undefined) happens({ kind: 'stopped' })
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
      if (state.isStopped) throw state.failed
      latest = update
      await write(update, { retried: true }).catch(onReportedFailure)
    },
    /** Writes an update in the background; errors are warnings. [memory.edit.order] */
    enqueue(update: StatusUpdate): void {
      const isStored = latest && keyOf(update) === keyOf(latest) && (working || !state.failed)
      const isForNobody = !isMemory && !update.isJobSeen && !update.isEnd
      if (state.isStopped || isStored || isForNobody) return
      latest = update
      working ??= work()
    },
    /** Waits until everything is written, for a limited time. */
    async close(): Promise<void> {
      const isLost = lacks(state, latest?.stored, 'jobId', 'fingerprint') && latest?.stored.jobId
      const done = new AbortController()
      const abortAfter = async (limit: keyof typeof LIMIT_MS) => {
        await clock.sleep(LIMIT_MS[limit], done.signal)
        if (!done.signal.aborted) closing.abort()
      }
      // The outcome doesn't say it: a cancelled run can end as an error, for example if its outputs
      // can't be written.
      void abortAfter(deadline.cancel.aborted ? 'cancelled' : isLost ? 'memory' : 'usual')
      deadline.cancel.addEventListener('abort', () => void abortAfter('cancelled'))
      await working
      // Another close has its own time.
      done.abort()
    },
  }
}

type Listed = Awaited<ReturnType<Comments['list']>>

/**
 * What can't be verified is left alone: anyone can write it. [memory.unverified] With an
 * installation's token, only a bot's counts: whoever has a key that leaked could sign one of his
 * own. [memory.marker.author] Nobody sees what is edited into a hidden one. [memory.hidden]
 */
function findOwn({ items, truncated }: Listed, options: CommentOptions): CommentHappening {
  const { identity, markerKeys, isMemory, inputs, environment, log, warn, tell } = options
  const isApps = inputs.githubToken.startsWith('ghs_')
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
  if (newest === undefined) {
    if (truncated)
      log('There are too many comments to read all: one by an earlier run may be among the others.')
    const text =
      "An earlier comment by this step can't be verified. It is ignored, and left as it is. " +
      'If the key was replaced, set previous-api-key to the one before it, unless it leaked. After a leak, see SECURITY.md of this action. ' +
      "If github-token was a person's before, and is an app's now, that is why."
    if (marked.some(({ stored }) => stored)) tell({ kind: 'noted', text, level: 'warn' })
    return { kind: 'none' }
  }
  const { id, stored, isHidden } = newest
  if (isHidden) tell({ kind: 'noted', text: "This step's comment is hidden." })
  if (isOfThisAttempt(stored, environment) && !isMemory)
    warn(
      "This step's comment replaces that of another step of this run. Give each step or matrix leg its own job-key.",
    )
  return { kind: 'found', id, stored }
}

/** What a later run or a reader needs. The times in a text don't count. */
function keyOf({ stored, notes, isEnd }: StatusUpdate): string {
  return JSON.stringify([stored, notes, isEnd])
}
