/**
 * Makes the plan of a run that breaks a rule as small as it can be while it breaks the same rule.
 */

import { simulatePlan } from './execute.js'
import type { Plan } from './plan.js'
import { violations } from './rules.js'

/** So many runs are enough to see what matters. */
const MOST_RUNS = 400

export async function shrink(plan: Plan, rule: string): Promise<Plan> {
  let runs = 0
  const breaks = async (smaller: Plan): Promise<boolean> => {
    runs++
    const record = await simulatePlan(smaller).catch(() => undefined)
    return record !== undefined && violations(record).some((found) => found.rule === rule)
  }
  let smallest = plan
  for (let isSmaller = true; isSmaller && runs < MOST_RUNS; ) {
    isSmaller = false
    for (const smaller of smallerPlans(smallest)) {
      if (JSON.stringify(smaller) === JSON.stringify(smallest)) continue
      if (runs >= MOST_RUNS) break
      if (!(await breaks(smaller as Plan))) continue
      smallest = smaller as Plan
      isSmaller = true
      break
    }
  }
  return smallest
}

/** What a run can't do without, and what is not simpler if it is less. */
const KEPT = [
  ...'seed theme key knownJob network invisible response runId attempt timeoutMs healthy unindexed'.split(
    ' ',
  ),
  ...'api-key project-id github-token prompt job-id skip-authors'.split(' '),
]
const NEVER_EMPTY = ['steps', 'posts', 'gets']
/** Instead of a text that is drawn. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{
    title: 'Title',
    body: '',
    file: 'docs/a.md',
    patch: '@@ -1 +1 @@\n-old\n+new',
    pages: 'usual',
  },
  sender: 'writer',
  author: 'writer',
  after: 'end',
  breaksAt: 'never',
  docsPull: 'open',
}

function* smallerPlans(plan: Plan): Generator<unknown> {
  yield { ...plan, network: { travelMs: [1, 1], parts: 1, single: false } }
  // What the service says last is what a day goes well with.
  const { service, ...others } = plan
  const from = plan.theme === 'well' ? others : plan
  for (const less of simpler(from)) yield { service, ...(less as object) }
}

/** What is a little less: a list or the inputs without an item, no delay, nothing that is rare. */
function* simpler(value: unknown, name = ''): Generator<unknown> {
  if (Array.isArray(value)) {
    const least = NEVER_EMPTY.includes(name) ? 1 : 0
    if (value.length > least)
      for (const index of [...value.keys()].reverse()) yield value.toSpliced(index, 1)
    for (const [index, item] of value.entries())
      for (const less of simpler(item, name)) yield value.with(index, less)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      if (KEPT.includes(key)) continue
      const { [key]: _, ...others } = value as Record<string, unknown>
      if (name === 'inputs') yield others
      else for (const less of simpler(part, key)) yield { ...value, [key]: less }
    }
  } else if (value === true) yield false
  else if (typeof value === 'number' && value > 0) yield 0
  else if (typeof value === 'string' && value !== (PLAIN[name] ?? value)) yield PLAIN[name]
}
