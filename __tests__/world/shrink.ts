/** Makes the plan of a run that breaks a rule as small as it can be while it breaks the same rule. */

import type { Plan, StepPlan } from './plan.js'
import { violations } from './rules.js'
import type { Exchange } from './service-plan.js'
import { simulatePlan } from './simulate-plan.js'

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
      if (runs >= MOST_RUNS) break
      if (JSON.stringify(smaller) === JSON.stringify(smallest) || !(await breaks(smaller))) continue
      smallest = smaller
      isSmaller = true
      break
    }
  }
  return smallest
}

/** What is a little less, the most first. */
function* smallerPlans(plan: Plan): Generator<Plan> {
  for (const steps of without(plan.steps)) if (isFilled(steps)) yield { ...plan, steps }
  yield { ...plan, proxy: undefined }
  yield { ...plan, connecting: { service: [], github: [] } }
  yield { ...plan, network: { travelMs: [1, 1], parts: 1, single: false } }
  // What the service says last is what a day goes well with.
  if (plan.theme !== 'well') yield* smallerServices(plan)
  yield* smallerGitHubs(plan)
  for (const [index, step] of plan.steps.entries())
    for (const smaller of smallerSteps(step)) yield { ...plan, steps: replaced(plan.steps, index, smaller) }
}

function* smallerServices(plan: Plan): Generator<Plan> {
  const { service } = plan
  const using = (less: Partial<Plan['service']>): Plan => ({ ...plan, service: { ...service, ...less } })
  yield using({ invisible: { ...service.invisible, forMs: 0 } })
  yield using({ idleMs: undefined })
  yield using({ activeForMs: 0 })
  for (const name of ['posts', 'gets'] as const) {
    for (const exchanges of without<Exchange>(service[name]))
      if (isFilled(exchanges)) yield using({ [name]: exchanges })
    for (const [index, exchange] of service[name].entries())
      for (const simple of simpleExchanges(exchange))
        yield using({ [name]: replaced<Exchange>(service[name], index, simple) })
  }
}

function* simpleExchanges(exchange: Exchange): Generator<Exchange> {
  const { response } = exchange
  yield { ...exchange, delayMs: 0, pauseMs: 0, breaksAt: 'never' }
  yield { ...exchange, delayMs: 0, pauseMs: 0 }
  const plain = { hasEarlyHints: false, afterwards: 'keep', framing: 'length' } as const
  yield { ...exchange, response: { ...response, ...plain } }
  yield { ...exchange, response: { ...response, headers: [] } }
  if (response.status >= 300) yield { ...exchange, response: { ...response, body: '' } }
}

function* smallerGitHubs(plan: Plan): Generator<Plan> {
  const { github } = plan
  if (github === undefined) return
  const using = (less: Partial<typeof github>): Plan => ({ ...plan, github: { ...github, ...less } })
  yield using({ faults: [], healthy: true })
  for (const faults of without(github.faults)) yield using({ faults })
  yield using({ others: [] })
  yield using({ lagMs: 0 })
  yield using({ keepAliveMs: 60_000 })
  yield using({ pages: 'usual', copies: false })
  yield using({ title: 'Title', body: '', file: 'docs/a.md', patch: '+new' })
}

/** What a step can't do without. */
const NEEDED = ['api-key', 'project-id', 'github-token', 'prompt', 'job-id', 'skip-authors']

function* smallerSteps(step: StepPlan): Generator<StepPlan> {
  for (const actions of without(step.actions)) yield { ...step, actions }
  for (const name of Object.keys(step.inputs)) {
    if (NEEDED.includes(name)) continue
    const { [name]: _, ...inputs } = step.inputs
    yield { ...step, inputs }
  }
  if (step.inputs.prompt) yield { ...step, inputs: { ...step.inputs, prompt: 'Update the docs.' } }
  yield { ...step, starts: { after: 'end', delayMs: 0 } }
  const { event } = step
  yield { ...step, event: { ...event, name: 'workflow_dispatch', sender: 'writer', author: 'writer' } }
  yield { ...step, event: { ...event, sender: 'writer', author: 'writer' } }
}

/** The list without one of its items. */
function* without<T>(items: readonly T[]): Generator<T[]> {
  for (let index = items.length - 1; index >= 0; index--) yield items.filter((_, other) => other !== index)
}

function replaced<T>(items: readonly T[], at: number, item: T): [T, ...T[]] {
  return items.map((other, index) => (index === at ? item : other)) as [T, ...T[]]
}

const isFilled = <T>(items: readonly T[]): items is [T, ...T[]] => items.length > 0
