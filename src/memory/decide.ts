/**
 * Decides what a run does with the docs job that is remembered. Pure: docs/behaviour.md has the
 * table.
 */

import { type Job, reasonNotContinuable } from '../agent/job.js'
import type { SkipReason } from '../run/result.js'
import type { DocsPull } from './docs-pull.js'

export interface Facts {
  /** Who left the job: an earlier run, or an earlier attempt of this one. */
  readonly by: 'earlier run' | 'unfinished attempt' | 'reported attempt'
  /** A push to a pull request. `own`: the docs are its alone; `other`: they are an issue's. */
  readonly push: 'own' | 'other' | undefined
  /** The run would send what the job doesn't have yet. */
  readonly isNews: boolean
  /** Undefined if it no longer exists. */
  readonly job: Job | 'not requested' | undefined
  readonly link: string
  readonly pull: DocsPull['state'] | undefined
}

export type Decision =
  /** `reason` is a sentence. */
  | { readonly does: 'wait'; readonly reason: string }
  | ({ readonly does: 'skip' } & SkipReason)
  /** Why the job can't be continued, as the end of a sentence. */
  | { readonly does: 'create'; readonly reason: string }
  | { readonly does: 'message' }

/**
 * What a docs job was sent is not paid for again, and whoever closed its pull request wants none.
 */
export function decide({ by, push, isNews, job, link, pull }: Facts): Decision {
  const isOver = pull === 'merged' || pull === 'closed'
  const notUsable = reasonNotUsable(job)
  if (by === 'unfinished attempt' && job !== undefined) {
    const reason = "This is a re-run, and an earlier attempt didn't see its docs job finish."
    return { does: 'wait', reason }
  }
  if (by === 'reported attempt' && notUsable === '' && !isOver) {
    const orClose = push || pull !== 'open' ? '' : ', or close that pull request'
    const reason =
      'This is a re-run, and its docs job has opened a pull request. ' +
      `To ask for docs again, start a new run${orClose}.`
    return { does: 'wait', reason }
  }
  if (push === 'own' && pull === 'closed') {
    return {
      does: 'skip',
      reason: `the docs pull request ${link} was closed without a merge`,
      advice:
        'To get docs after all, reopen it, or trigger the workflow other than by a push to this pull request.',
    }
  }
  if (push && !isNews && notUsable === '') {
    return { does: 'wait', reason: 'The docs job was already sent what this run would send.' }
  }
  const reason = notUsable || (isOver ? `has a pull request that was ${pull}` : '')
  return reason === '' ? { does: 'message' } : { does: 'create', reason }
}

function reasonNotUsable(job: Facts['job']): string {
  if (job === undefined) return 'no longer exists'
  return job === 'not requested' ? '' : reasonNotContinuable(job)
}
