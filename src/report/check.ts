/** The title, the conclusion and the details of a check run. Pure. */

import { type FailOn, failsStep, type Outcome } from '../agent/job.js'
import type { Conclusion } from '../status-update.js'
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
  const fails = failsStep(outcome, failOn)
  switch (outcome) {
    case 'pr-opened':
      return 'success'
    case 'cancelled':
    case 'skipped':
      return outcome
    case 'timed-out':
      return fails ? 'timed_out' : 'neutral'
    case 'no-changes':
    case 'failed':
    case 'archived':
    case 'error':
    case 'started':
    case 'dry-run':
      return fails ? 'failure' : 'neutral'
  }
}
