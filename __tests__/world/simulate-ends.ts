/**
 * Prints how runs end in the simulation, a line for each plan: nothing if that depends on how fast things are, because then
 * a process may end in another way.
 */

import { endOf } from './end.js'
import { createPlan } from './plan.js'
import { simulatePlan } from './simulate-plan.js'

/** Quick worlds and slow ones; in each, what is sent at the same time arrives in another order. */
const PACES = [
  { travelMs: [0.1, 1], startupMs: 50, signalMs: 0 },
  { travelMs: [0.1, 5], startupMs: 200, signalMs: 1 },
  { travelMs: [1, 10], startupMs: 500, signalMs: 3 },
  { travelMs: [1, 20], startupMs: 800, signalMs: 30 },
  { travelMs: [5, 40], startupMs: 1_500, signalMs: 60 },
] as const

const [first = 1, runs = 1] = process.argv.slice(2).map(Number)
for (let seed = first; seed < first + runs; seed++) {
  const plan = createPlan(seed, { isReal: true })
  const ends: string[] = []
  // Twice, because each draws its delays anew.
  for (const [index, { travelMs, ...pace }] of [...PACES, ...PACES].entries()) {
    const network = { travelMs, parts: 1, single: false }
    const record = await simulatePlan({ ...plan, network }, { ...pace, seed: seed + index })
    ends.push(JSON.stringify(endOf(record)))
  }
  const isAlike = new Set(ends).size === 1
  process.stdout.write(`${JSON.stringify({ seed, end: isAlike ? JSON.parse(ends[0] ?? '') : null })}\n`)
}
process.exit(0)
