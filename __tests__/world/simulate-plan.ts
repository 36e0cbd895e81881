/** Runs a plan in the simulated world. */

import { type RunRecord, runPlan } from './execute.js'
import type { Plan } from './plan.js'
import { beginRun, prepareSteps, simulateStep, time } from './simulation.js'

/** The service's; GitHub's comes after it. */
const FIRST_PORT = 20_000
const MOST_STEPS = 8

await prepareSteps(MOST_STEPS)

/** Told what happens, as it happens: when, who, and what. */
export type Tell = (at: number, who: string, what: string) => void

/** @throws Error if a step never ends */
export async function simulatePlan(
  plan: Plan,
  { tell = () => undefined }: { readonly tell?: Tell } = {},
): Promise<RunRecord> {
  const { service, github } = plan.connecting
  beginRun({
    seed: plan.seed,
    network: plan.network,
    connecting: (port, nth) => (port === FIRST_PORT ? service : github)[nth - 1] ?? 'open',
  })
  const ended: { record?: RunRecord; thrown?: unknown } = {}
  runPlan(plan, {
    run: simulateStep,
    tell: (who, what) => tell(time.now, who, what),
  }).then(
    (record) => Object.assign(ended, { record }),
    (thrown) => Object.assign(ended, { thrown }),
  )
  await time.run(() => ended.record !== undefined || ended.thrown !== undefined)
  if (ended.record === undefined)
    throw ended.thrown ?? new Error(`Seed ${plan.seed}: a step never ends`)
  return ended.record
}
