/** Decides what follows from the remembered docs job. Pure: docs/behaviour.md has the table. */

import { isFinalOutcome, type Job, reasonNotContinuable } from '../agent/job.js'
import type { Skip } from '../run/result.js'
import type { PullState } from './docs-pull.js'
import { NOTHING_SENT, type StoredState } from './marker.js'

export type Situation = Readonly<{
  /** Who left the job: an earlier run, or an earlier attempt of this one. */
  by: 'earlier run' | 'unfinished attempt' | 'reported attempt'
  /**
   * Nobody asked: a push to a pull request (`own`: the docs are its alone; `other`: they are an
   * issue's), or the clock.
   */
  unasked: 'own' | 'other' | 'clock' | undefined
  /** The run would send what the job doesn't have yet. */
  isNews: boolean
  /** Undefined if it no longer exists. */
  job: Job | 'not requested' | undefined
  /** The job was asked to go on in this pull request, and no run has seen it finish that. */
  isUnfinished: boolean
  link: string | undefined
  /** Undefined also if it can't be read. */
  pull: PullState | undefined
}>

/**
 * Who left a state. After some attempts, a re-run is a run like any other, as after an earlier run.
 * [memory.rerun.waits] [memory.rerun.reported]
 */
export function whoLeft(
  { run, state, jobId, link, fingerprint }: StoredState,
  runId: string,
): Situation['by'] {
  if (run !== runId || jobId === '' || NOTHING_SENT.includes(state)) return 'earlier run'
  if (!isFinalOutcome(state)) return 'unfinished attempt'
  const isReported = state === 'pr-opened' && link !== undefined && fingerprint !== ''
  return isReported ? 'reported attempt' : 'earlier run'
}

/** Whoever closed it said no; anything but a push, or the clock, asks anew. [memory.run.closed] */
const OTHERWISE = 'start the workflow by anything but a push to this pull request, or a schedule.'

export type Decision = Readonly<
  /** `reason` is a sentence. */
  | { kind: 'wait'; reason: string }
  | { kind: 'skip'; skip: Skip }
  /** Why the job can't be continued, as the end of a sentence. */
  | { kind: 'create'; reason: string }
  | { kind: 'message' }
>

/**
 * What a docs job was sent is not paid for again, and whoever closed its pull request wants none.
 * [memory.run.continues] [paid.push.merged] [paid.schedule.unchanged]
 */
export function decide(situation: Situation): Decision {
  const { by, unasked, isNews, job, isUnfinished, link, pull } = situation
  const isOver = pull === 'merged' || pull === 'closed'
  const unusable =
    job === undefined
      ? 'no longer exists'
      : job === 'not requested'
        ? undefined
        : reasonNotContinuable(job)
  if (by === 'unfinished attempt' && job !== undefined) {
    const reason = "This is a re-run, and an earlier attempt didn't see its docs job finish."
    return { kind: 'wait', reason }
  }
  if (by === 'reported attempt' && unusable === undefined && !isOver) {
    const reason = 'This is a re-run, and its docs job has opened a pull request.'
    return { kind: 'wait', reason }
  }
  const isAsked = isNews || unasked === undefined
  // Its docs are there, or not wanted, whatever became of the job since, unless it failed.
  const isDone = !isAsked && !(typeof job === 'object' && job.status === 'failed')
  if (pull === 'closed' && (isDone || unasked === 'own')) {
    const skip = {
      title: 'the docs pull request was closed',
      reason: `the docs pull request ${link} was closed without a merge`,
      advice: `To get docs after all, reopen it, or ${OTHERWISE}`,
    }
    return { kind: 'skip', skip }
  }
  // What the agent wrote last may have missed the merge: then it is asked for again.
  if (pull === 'merged' && isDone && !isUnfinished) {
    const skip = {
      title: 'the docs pull request was merged',
      reason: `this run has nothing new for the docs job, and the docs pull request ${link} was merged`,
      advice: `To get docs all the same, ${OTHERWISE}`,
    }
    return { kind: 'skip', skip }
  }
  if (unusable !== undefined) return { kind: 'create', reason: unusable }
  if (isOver) return { kind: 'create', reason: `has a pull request that was ${pull}` }
  return isAsked
    ? { kind: 'message' }
    : { kind: 'wait', reason: 'This run has nothing new for the docs job.' }
}
