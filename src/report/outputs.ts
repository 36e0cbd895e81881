/** The outputs. Pure. */

import { parsePullRequest } from '../agent/job.js'
import { type StepFacts, sentIn, statusIn } from '../run/facts.js'
import { errorOf } from '../run/result.js'
import type { Redact } from '../text/redact.js'

/**
 * Every output that is known, and its value: two are not known until the end. [output.job-id] A run
 * that sends nothing reports what is remembered. [output.remembered]
 */
export function collectOutputs(facts: StepFacts, redact: Redact): Readonly<Record<string, string>> {
  const { jobId, recordedId, result, seen, previousLink } = facts
  const sent = sentIn(facts)
  const sendsNothing = result?.outcome === 'dry-run' || result?.outcome === 'skipped'
  const link = seen?.job.link ?? (sendsNothing ? previousLink : undefined)
  const { number = '', repository = '' } = parsePullRequest(link) ?? {}
  return {
    // A remembered docs job doesn't count while one is in flight that may replace it.
    'job-id': redact(jobId || (sent === 'nothing' ? recordedId : ''), true),
    status: statusIn(facts) ?? '',
    'pr-link': link ?? '',
    'pr-number': number,
    'pr-repository': repository,
    ...(result && { outcome: result.outcome, 'error-code': errorOf(result)?.code ?? '' }),
    sent,
  }
}
