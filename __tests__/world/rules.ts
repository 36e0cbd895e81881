/**
 * What must hold for every step, whatever it met. A rule yields a sentence for each time that it is
 * broken.
 */

import type { RunRecord } from './execute.js'
import { Facts } from './facts.js'
import { CHANGES_RULES } from './rules-changes.js'
import { ENDING_RULES } from './rules-ending.js'
import { GITHUB_RULES } from './rules-github.js'
import { PAID_RULES } from './rules-paid.js'
import { SENT_RULES } from './rules-sent.js'
import { SERVICE_RULES } from './rules-service.js'
import { TEXT_RULES } from './rules-text.js'
import { WELL_RULES } from './rules-well.js'

/** For one step, in the light of the whole run. */
export type Rule = (facts: Facts) => Iterable<string>

const RULES: Readonly<Record<string, Rule>> = {
  ...SERVICE_RULES,
  ...ENDING_RULES,
  ...CHANGES_RULES,
  ...GITHUB_RULES,
  ...PAID_RULES,
  ...SENT_RULES,
  ...TEXT_RULES,
  ...WELL_RULES,
}

/** The rules that a run breaks, in which steps, from 1, and how. */
export function violations(record: RunRecord) {
  const rules = Object.entries(RULES)
  return record.steps.flatMap((_, index) => {
    const facts = new Facts(record, index)
    return rules.flatMap(([rule, check]) =>
      [...new Set(check(facts))].map((text) => ({ rule, step: index + 1, text })),
    )
  })
}
