/** The title, the conclusion and the details of a check run. Pure. */

import { type FailOn, failsStep, type Outcome } from '../agent/job.js'
import type { Conclusion } from '../run/ports.js'
import {
  createSummary,
  currentLink,
  pullRequestLink,
  runLink,
  type SummaryOptions,
  shortName,
  title,
} from './summary.js'

/** The result on one line. */
export function createTitle(options: SummaryOptions): string {
  const link = currentLink(options)
  return `${title(options)}${link === '' ? '' : `: ${shortName(link)}`}`
}

/** The links first, because GitHub lets a check's own link lead to the check; then the step summary. */
export function createCheckSummary(options: SummaryOptions): string {
  const links = [pullRequestLink(options), runLink(options)].filter((link) => link !== '')
  return `${links.join(' · ')}\n\n${createSummary(options)}`
}

/** A check is no verdict on the commit: it fails only if the step does. */
export function conclusionOf(outcome: Outcome, failOn: ReadonlySet<FailOn>): Conclusion {
  if (outcome === 'pr-opened') return 'success'
  if (outcome === 'cancelled' || outcome === 'skipped') return outcome
  if (!failsStep(outcome, failOn)) return 'neutral'
  return outcome === 'timed-out' ? 'timed_out' : 'failure'
}
