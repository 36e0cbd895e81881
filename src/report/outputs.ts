/** The outputs. Pure. */

import { parsePullRequest } from '../agent/job.js'
import { type StepFacts, sentIn, statusIn } from '../run/facts.js'
import { errorOf } from '../run/result.js'
import type { Redact } from '../text/redact.js'

/** Every output that is known, and its value: two are not known until the end. [output.job-id] */
export function collectOutputs(facts: StepFacts, redact: Redact): Readonly<Record<string, string>> {
  const { jobId, recordedId, result, seen, previousLink } = facts
  // [output.sent]
  const sent = sentIn(facts)
  // A run that sends nothing reports what is remembered. [output.remembered]
  const sendsNothing = result?.outcome === 'dry-run' || result?.outcome === 'skipped'
  // [output.pr-link]
  const link = seen?.job.link ?? (sendsNothing ? previousLink : undefined)
  // [output.pr-number]
  const { number = '', repository = '' } = parsePullRequest(link) ?? {}
  return {
    // [output.job-id] [secret.redacted]
    'job-id': redact(jobId || (sent === 'nothing' ? recordedId : ''), true),
    // [output.status]
    status: statusIn(facts) ?? '',
    // [output.pr-link]
    'pr-link': link ?? '',
    // [output.pr-number]
    'pr-number': number,
    'pr-repository': repository,
    // [output.outcome] [output.error-code]
    ...(result && { outcome: result.outcome, 'error-code': errorOf(result)?.code ?? '' }),
    // [output.sent]
    sent,
  }
}
