/** What is known of the step's comment, and what follows from what happens to it. Pure. */

import type { RunEnvironment } from '../event/event.js'
import { describeWarning, GitHubError } from '../github/errors.js'
import type { StatusUpdate, Stored } from '../run/status-update.js'
import { type ActionError, toActionError } from '../text/errors.js'
import { isOfThisAttempt, NOTHING_SENT, type StoredState } from './marker.js'

type Place =
  /** There is none to edit. */
  | { kind: 'none' }
  | { kind: 'found'; id: number; stored: StoredState }
  /** It is this step's, or about to be, with what its marker holds since this step wrote it. */
  | { kind: 'written'; id: number; held: StoredState | undefined }

export type CommentHappening = Readonly<
  | Place
  /** What was to be written is there, or needn't be. */
  | { kind: 'done' }
  /** An edit failed, which is told here, or by whoever caused the request. */
  | { kind: 'failed' | 'reported'; thrown: unknown }
  | { kind: 'stopped' }
>

export type CommentState = Readonly<{
  /** Later runs depend on it. */
  isMemory: boolean
  /** Undefined until it is read. */
  place?: Place
  /** What its marker held then: what an earlier run has stored. */
  before?: StoredState
  /** Why the last edit failed, reported once. */
  failed?: ActionError | 'reported elsewhere' | undefined
  isStopped?: boolean
}>

/** What is known of it after this. */
export function commentAfter(state: CommentState, happening: CommentHappening): CommentState {
  switch (happening.kind) {
    case 'found':
      return { ...state, place: happening, before: happening.stored }
    case 'none':
    case 'written':
      return { ...state, place: happening }
    case 'done':
      return { ...state, failed: undefined }
    case 'stopped':
      return { ...state, isStopped: true }
    case 'failed':
    case 'reported': {
      const { kind, thrown } = happening
      const { failed = kind === 'reported' ? 'reported elsewhere' : toActionError(thrown) } = state
      // Without the permission, no later try would succeed; after a cancel, one may.
      const isFinal = thrown instanceof GitHubError && thrown.kind !== 'temporary'
      const isStopped = state.isStopped || (isFinal && writtenIn(state) === undefined)
      return { ...state, failed, isStopped }
    }
  }
}

/** What this step has written into the marker: if it sent nothing, what was there before. */
export function writtenIn({ place }: CommentState): StoredState | undefined {
  return place?.kind === 'written' ? place.held : undefined
}

/** What the marker holds: a state of this run, or of an earlier one. */
function heldIn(state: CommentState): StoredState | undefined {
  return writtenIn(state) ?? state.before
}

/** Whether later runs depend on the comment, and would not find these there. */
export function lacks(
  state: CommentState,
  stored: Stored | undefined,
  ...names: readonly (keyof Stored)[]
): boolean {
  if (!state.isMemory || stored === undefined) return false
  const held = heldIn(state)
  const isThere = stored.jobId !== '' && names.every((name) => stored[name] === held?.[name])
  return !NOTHING_SENT.includes(stored.state) && !isThere
}

/** Says what follows from it, and only while it is true. [memory.failure.told] */
export function describeFailure(
  state: CommentState,
  stored: Stored | undefined,
): string | undefined {
  const { failed, isMemory } = state
  if (failed === undefined || failed === 'reported elsewhere') return undefined
  const stale = `The comment may be ${isMemory ? '' : 'missing or '}out of date`
  const isLost = lacks(state, stored, 'jobId')
  const lost = isLost ? ", and a later run may not find this run's docs job" : ''
  return describeWarning(failed, `${stale}${lost}.`)
}

/** A re-run leaves what a later run stored, unless it made a new job. [memory.later-run] */
export function mayWrite(
  { place, before }: CommentState,
  { created }: StatusUpdate,
  { runAttempt, runId }: RunEnvironment,
): boolean {
  const isOfLaterRun = runAttempt > 1 && Number(before?.run ?? 0) > Number(runId)
  // After a placeholder, this run creates a job of its own, which replaces what a later run stored.
  const replaces = created || place?.kind === 'written'
  return replaces || !isOfLaterRun
}

/** Whether a re-run would find there what this step has sent. */
export function memoryIn(
  state: CommentState,
  jobId: string | undefined,
  environment: RunEnvironment,
) {
  if (!state.isMemory || state.isStopped) return 'none'
  const held = heldIn(state)
  const isOwn = held !== undefined && isOfThisAttempt(held, environment)
  const isSent = isOwn && !NOTHING_SENT.includes(held.state) && held.jobId === jobId
  return isSent ? 'stored' : 'pending'
}
