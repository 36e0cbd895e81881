/** What the comment says, and what it stores. Pure. */

import { isFinalOutcome } from '../agent/job.js'
import type { Progress } from '../run/progress.js'
import { errorOf } from '../run/result.js'
import type { StatusUpdate, Stored } from '../run/status-update.js'
import { createCommentText, createFirstText, type View } from './summary.js'

/**
 * What is written and stored now. No job ID that contains a key: the marker's Base64 would hide it
 * from every redactor.
 */
export function createUpdate(view: View): StatusUpdate {
  const { progress, redact, sending, notes } = view
  const { jobId, job, previousLink, hasJob, accepted, result, fingerprint } = progress
  return {
    stored: {
      state: describeState(progress, sending),
      jobId: redact(jobId, true) === jobId ? jobId : '',
      link: job?.link || previousLink,
      fingerprint: hasJob ? fingerprint : '',
    },
    isJobSeen: job !== undefined,
    created: accepted === 'job',
    notes: redact(notes.join('\n')),
    // The log's masks don't apply to what GitHub shows.
    text: redact(createCommentText(view)),
    first: result === undefined ? redact(createFirstText(view)) : undefined,
    isEnd: result !== undefined,
  }
}

/**
 * What is stored before a create request: it must be correct if the run is killed while the request
 * is in flight.
 */
export function createPlaceholder(view: View): StatusUpdate {
  return { ...createUpdate({ ...view, sending: true }), created: true }
}

function describeState(
  { status, hasJob, request, jobId, result, messageMayBeLost }: Progress,
  sending: boolean,
): Stored['state'] {
  if (messageMayBeLost && !isFinalOutcome(result?.outcome ?? '')) return 'unknown'
  if (result === undefined) {
    if (hasJob) return status ?? 'active'
    // A re-run must send a message that was refused. A create request that may be in flight again
    // stays recorded.
    return sending || jobId === '' ? 'sending' : 'unsent'
  }
  if (result.outcome !== 'error' && result.outcome !== 'cancelled') return result.outcome
  if (request === 'unknown' || errorOf(result)?.code === 'create-unknown') return 'unknown'
  return hasJob ? result.outcome : 'unsent'
}
