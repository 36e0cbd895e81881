/** What the comment says, and what it stores. Pure. */

import { isFinalOutcome } from '../agent/job.js'
import { acceptedIn, hasJob, type StepFacts, statusIn } from '../run/facts.js'
import { errorOf } from '../run/result.js'
import type { StatusUpdate, Stored } from '../run/status-update.js'
import { createCommentText, createFirstText, type View } from './summary.js'

/**
 * What is written and stored now. No job ID that contains a key: the marker's Base64 would hide it
 * from every redactor. [memory.marker.no-key]
 */
export function createUpdate(view: View): StatusUpdate {
  const { facts, redact, notes } = view
  const { jobId, seen, previousLink, request, result, docs } = facts
  // What was merged too early is to be sent again. [docs.ended-early]
  const isKept = 'fingerprint' in request && docs.endedEarly !== 'merged'
  return {
    stored: {
      // [memory.rerun.waits] [memory.rerun.unknown] [memory.nothing-sent]
      state: describeState(facts),
      // [memory.marker.no-key] [memory.rerun.waits]
      jobId: redact(jobId, true) === jobId ? jobId : '',
      // [memory.run.open-pull]
      link: seen?.job.link ?? previousLink,
      // [paid.push.unchanged] [docs.ended-early] [memory.rerun.unknown]
      fingerprint: isKept ? request.fingerprint : '',
    },
    // [memory.silent]
    isJobSeen: seen !== undefined,
    // [memory.later-run]
    created: acceptedIn(facts) === 'job',
    // [secret.redacted] [report.summary]
    notes: redact(notes.join('\n')),
    // The log's masks don't apply to what GitHub shows. [secret.redacted] [report.comment.quiet]
    text: redact(createCommentText(view)),
    // [memory.first-text] [secret.redacted]
    first: redact(createFirstText(view)),
    // [memory.silent] [memory.edit.retried]
    isEnd: result !== undefined,
  }
}

// [memory.rerun.waits] [memory.rerun.unknown]
function describeState(facts: StepFacts): Stored['state'] {
  // What is asked for, the docs job that is remembered, and the end. [memory.rerun.waits]
  const { request, jobId, result } = facts
  // [memory.rerun.unknown]
  const mayBeLost = request.kind === 'waiting' && request.messageMayBeLost
  if (mayBeLost && !isFinalOutcome(result?.outcome ?? '')) return 'unknown'
  // [memory.rerun.waits]
  if (result === undefined) {
    if (hasJob(facts)) return statusIn(facts) ?? 'active'
    // A re-run must send a message that was refused. [memory.nothing-sent] A create request that
    // may be in flight again stays recorded. [memory.rerun.unknown]
    return request.kind === 'sending' || jobId === '' ? 'sending' : 'unsent'
  }
  // [memory.rerun.reported]
  if (result.outcome !== 'error' && result.outcome !== 'cancelled') return result.outcome
  // [memory.rerun.unknown]
  if (request.kind === 'unknown' || errorOf(result)?.code === 'create-unknown') return 'unknown'
  // [memory.rerun.waits] [memory.nothing-sent]
  return hasJob(facts) ? result.outcome : 'unsent'
}
