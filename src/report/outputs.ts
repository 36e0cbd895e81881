/** The outputs. Pure. */

import { parsePullRequest } from '../agent/job.js'
import type { Progress } from '../run/progress.js'
import { errorOf } from '../run/result.js'
import type { Redact } from '../text/redact.js'

interface OutputFacts {
  readonly progress: Progress
  readonly redact: Redact
  /** The pull request's link that later steps may have, or empty. */
  readonly link: string
}

/** Every output, and its value: undefined until it is known. */
const OUTPUTS = {
  'job-id': ({ progress, redact }) => redact(progress.jobId, true),
  status: ({ progress }) => progress.status ?? '',
  'pr-link': ({ link }) => link,
  'pr-number': ({ link }) => parsePullRequest(link).number,
  'pr-repository': ({ link }) => parsePullRequest(link).repository,
  outcome: ({ progress }) => progress.result?.outcome,
  'error-code': ({ progress: { result } }) => result && (errorOf(result)?.code ?? ''),
  sent: ({ progress }) => progress.sent,
} satisfies Record<string, (facts: OutputFacts) => string | undefined>

export type Output = keyof typeof OUTPUTS
export const OUTPUT_NAMES = Object.keys(OUTPUTS) as Output[]

export function collectOutputs(
  progress: Progress,
  redact: Redact,
): Partial<Record<Output, string>> {
  const { result, job, previousLink } = progress
  // A run that sends nothing reports what is remembered.
  const sendsNothing = result?.outcome === 'dry-run' || result?.outcome === 'skipped'
  const facts = { progress, redact, link: job?.link ?? (sendsNothing ? previousLink : '') }
  const values = OUTPUT_NAMES.map((name) => [name, OUTPUTS[name](facts)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}
