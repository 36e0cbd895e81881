/**
 * Decides what a run does with the docs job that is remembered. Pure: docs/behaviour.md has the
 * table.
 */

import { type Job, reasonNotContinuable } from '../agent/job.js'
import type { SkipReason } from '../run/result.js'
import type { DocsPull } from './docs-pull.js'

export type Situation = Readonly<{
  /** Who left the job: an earlier run, or an earlier attempt of this one. */
  by: 'earlier run' | 'unfinished attempt' | 'reported attempt'
  /** A push to a pull request. `own`: the docs are its alone; `other`: they are an issue's. */
  push: 'own' | 'other' | undefined
  /** The run would send what the job doesn't have yet. */
  isNews: boolean
  /** Undefined if it no longer exists. */
  job: Job | 'not requested' | undefined
  link: string
  pull: DocsPull['state'] | undefined
}>

const OTHERWISE = 'start the workflow by anything but a push to this pull request.'

export type Decision = Readonly<
  /** `reason` is a sentence. */
  | { does: 'wait'; reason: string }
  | ({ does: 'skip' } & SkipReason)
  /** Why the job can't be continued, as the end of a sentence. */
  | { does: 'create'; reason: string }
  | { does: 'message' }
>

/**
 * What a docs job was sent is not paid for again, and whoever closed its pull request wants none.
 */
export function decide({ by, push, isNews, job, link, pull }: Situation): Decision {
  const isOver = pull === 'merged' || pull === 'closed'
  const notUsable = reasonNotUsable(job)
  if (by === 'unfinished attempt' && job !== undefined) {
    const reason = "This is a re-run, and an earlier attempt didn't see its docs job finish."
    return { does: 'wait', reason }
  }
  if (by === 'reported attempt' && notUsable === '' && !isOver) {
    return { does: 'wait', reason: 'This is a re-run, and its docs job has opened a pull request.' }
  }
  const isAsked = isNews || push === undefined
  // Its docs are there, or not wanted, whatever became of the job since, unless it failed.
  const isDone = !isAsked && !(typeof job === 'object' && job.status === 'failed')
  if (pull === 'closed' && (isDone || push === 'own')) {
    return {
      does: 'skip',
      title: 'the docs pull request was closed',
      reason: `the docs pull request ${link} was closed without a merge`,
      advice: `To get docs after all, reopen it, or ${OTHERWISE}`,
    }
  }
  if (pull === 'merged' && isDone) {
    return {
      does: 'skip',
      title: 'the docs pull request was merged',
      reason: `this push has nothing new for the docs job, and the docs pull request ${link} was merged`,
      advice: `To get docs all the same, ${OTHERWISE}`,
    }
  }
  if (!isAsked && notUsable === '')
    return { does: 'wait', reason: 'This push has nothing new for the docs job.' }
  const reason = notUsable || (isOver ? `has a pull request that was ${pull}` : '')
  return reason === '' ? { does: 'message' } : { does: 'create', reason }
}

function reasonNotUsable(job: Situation['job']): string {
  if (job === undefined) return 'no longer exists'
  return job === 'not requested' ? '' : reasonNotContinuable(job)
}
