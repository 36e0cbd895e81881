/** Tells what the comment says, and what it stores. Pure. */

import { isFinalOutcome } from '../agent/job.js'
import { acceptedIn, hasJob, type StepFacts, statusIn } from '../run/facts.js'
import { errorOf } from '../run/result.js'
import type { StatusUpdate, Stored } from '../run/status-update.js'
import { createCommentText, createFirstText, type View } from './summary.js'

/**
 * What is written and stored now. A job ID that contains a key is left out: the marker's Base64
 * would hide the key from every redactor. [memory.marker.no-key]
 */
export function createUpdate(view: View): StatusUpdate {
  const { facts, redact, notes } = view
  const { jobId, seen, previousLink, request, result, docs } = facts
  // If the docs were merged too early, what was sent is to be sent again.
  const isKept = 'fingerprint' in request && docs.endedEarly !== 'merged'
  return {
    stored: {
      state: describeState(facts),
      jobId: redact(jobId, true) === jobId ? jobId : '',
      link: seen?.job.link ?? previousLink,
      fingerprint: (isKept && request.fingerprint) || '',
    },
    isJobSeen: seen !== undefined,
    created: acceptedIn(facts) === 'job',
    notes: redact(notes.join('\n')),
    // The log's masks don't apply to what GitHub shows.
    text: redact(createCommentText(view)),
    first: redact(createFirstText(view)),
    isEnd: result !== undefined,
  }
}

function describeState(facts: StepFacts): Stored['state'] {
  // What is asked for, the docs job that is remembered, and the end.
  const { request, jobId, result, docs } = facts
  const mayBeLost = request.kind === 'waiting' && request.messageMayBeLost
  if (mayBeLost && !isFinalOutcome(result?.outcome ?? '')) return 'unknown'
  if (result === undefined) {
    if (hasJob(facts)) return statusIn(facts) ?? 'active'
    // A re-run must send a message that was refused. A create request that
    // may be in flight again stays recorded.
    return request.kind === 'sending' || jobId === '' ? 'sending' : 'unsent'
  }
  // An end whose docs nobody has looked at is looked at by the next run.
  if (docs.isUnseen) return 'active'
  if (result.outcome !== 'error' && result.outcome !== 'cancelled') return result.outcome
  if (request.kind === 'unknown' || errorOf(result)?.code === 'create-unknown') return 'unknown'
  return hasJob(facts) ? result.outcome : 'unsent'
}
