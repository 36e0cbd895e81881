/** What the comment and the check say, and what they store. Pure. */

import { type FailOn, failsStep, isFinalOutcome, type Outcome } from '../agent/job.js'
import type { Progress } from '../run/progress.js'
import { errorOf } from '../run/result.js'
import type { Conclusion, StatusUpdate, Stored } from '../run/status-update.js'
import { truncate } from '../text/escape.js'
import {
  createCommentText,
  createSummary,
  describeTitle,
  findCurrentLink,
  linkPullRequest,
  linkRun,
  shortenLink,
  type View,
} from './summary.js'

/** Of a check, in characters: a link that is no pull request's is shown whole. */
const TITLE_LIMIT = 200

/** The texts, redacted here: the log's masks don't apply to what GitHub shows. */
function textsOf(view: View): Pick<StatusUpdate, 'title' | 'comment' | 'summary'> {
  const { redact } = view
  const link = findCurrentLink(view)
  const title = `${describeTitle(view)}${link && `: ${shortenLink(link)}`}`
  return {
    title: truncate(redact(title), TITLE_LIMIT),
    comment: redact(createCommentText(view)),
    summary: redact(createCheckSummary(view)),
  }
}

/**
 * What is written and stored now. No job ID that contains a key: the marker's Base64 would hide it
 * from every redactor.
 */
export function createUpdate(view: View): StatusUpdate {
  const { progress, redact, inputs, sending, notes } = view
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
    ...textsOf(view),
    conclusion: result && conclusionOf(result.outcome, inputs.failOn),
  }
}

/**
 * What is stored before a create request: it must be correct if the run is killed while the request
 * is in flight.
 */
export function createPlaceholder(view: View): StatusUpdate {
  return { ...createUpdate({ ...view, sending: true }), beforeSending: textsOf(view) }
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

/**
 * The links first, because GitHub lets a check's own link lead to the check; then the step summary.
 */
function createCheckSummary(view: View): string {
  const links = [linkPullRequest(view), linkRun(view)].filter((link) => link !== '')
  return `${links.join(' · ')}\n\n${createSummary(view)}`
}

/** A check is no verdict on the commit: it fails only if the step does. */
function conclusionOf(outcome: Outcome, failOn: ReadonlySet<FailOn>): Conclusion {
  if (outcome === 'pr-opened') return 'success'
  if (outcome === 'cancelled' || outcome === 'skipped') return outcome
  if (!failsStep(outcome, failOn)) return 'neutral'
  return outcome === 'timed-out' ? 'timed_out' : 'failure'
}
