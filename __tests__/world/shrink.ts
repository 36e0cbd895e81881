/**
 * Makes the plan of a run that breaks a rule as small as it can be while it breaks the same rule.
 */

import { simulatePlan } from './execute.js'
import type { Plan } from './plan.js'
import { violations } from './rules.js'

/** So many runs are enough to see what matters. */
const MOST_RUNS = 400

export async function shrink(plan: Plan, rule: string): Promise<Plan> {
  let smallest = plan
  let rest = smallerPlans(smallest)
  for (let runs = 0; runs < MOST_RUNS; runs++) {
    const { value: smaller } = rest.next()
    if (smaller === undefined) break
    const record = await simulatePlan(smaller).catch(() => undefined)
    if (!record || !violations(record).some((found) => found.rule === rule)) continue
    smallest = smaller
    rest = smallerPlans(smallest)
  }
  return smallest
}

/** What a plan may have fewer of. */
const FEWER = ['steps', 'inputs', 'actions', 'faults', 'failing', 'others', 'posts', 'gets']

function* smallerPlans(plan: Plan): Generator<Plan, undefined> {
  yield { ...plan, network: { travelMs: [1, 1], parts: 1 } }
  yield* smaller(plan) as Generator<Plan>
}

/** Without an item of a list, or without an input, the last first. */
function* smaller(value: unknown, name = ''): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value).reverse()) {
    const { [key]: _, ...others } = value as Record<string, unknown>
    const isList = Array.isArray(value)
    if (FEWER.includes(name)) yield isList ? Object.values(others) : others
    for (const less of smaller(part, isList ? '' : key))
      yield isList ? value.with(Number(key), less) : { ...value, [key]: less }
  }
}
