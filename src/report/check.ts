/** The title, the conclusion and the details of a check run. Pure. */

import { type FailOn, failsStep, type Outcome } from '../agent/job.js'
import type { Conclusion } from '../run/ports.js'
import {
  createSummary,
  currentLink,
  pullRequestLink,
  runLink,
  shortName,
  title,
  type View,
} from './summary.js'

/** The result on one line. */
export function createTitle(view: View): string {
  const link = currentLink(view)
  return `${title(view)}${link === '' ? '' : `: ${shortName(link)}`}`
}

/** The links first, because GitHub lets a check's own link lead to the check; then the step summary. */
export function createCheckSummary(view: View): string {
  const links = [pullRequestLink(view), runLink(view)].filter((link) => link !== '')
  return `${links.join(' · ')}\n\n${createSummary(view)}`
}

/** A check is no verdict on the commit: it fails only if the step does. */
export function conclusionOf(outcome: Outcome, failOn?: ReadonlySet<FailOn>): Conclusion {
  if (outcome === 'pr-opened') return 'success'
  if (outcome === 'cancelled' || outcome === 'skipped') return outcome
  if (!failsStep(outcome, failOn)) return 'neutral'
  return outcome === 'timed-out' ? 'timed_out' : 'failure'
}
