/** Draws runs from a seed, and checks what must hold for each: `npm run simulate -- --runs 1000 --seed 1`. */

import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type RunRecord, runPlan } from './execute.js'
import { readOutputs } from './facts.js'
import { createPlan, type Plan } from './plan.js'
import { RULES, violations } from './rules.js'
// First: it replaces what the others use.
import { beginRun, prepareSteps, simulateStep, time } from './simulation.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    /** The names of rules that are left out, or words in them. */
    except: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    verbose: { type: 'boolean', default: false },
  },
})

/** The service's; GitHub's comes after it. */
const FIRST_PORT = 20_000
const MOST_STEPS = 8
const print = (text: string): void => void writeSync(1, `${text}\n`)
const cpu0 = process.cpuUsage()

await prepareSteps(MOST_STEPS)
const digest = createHash('sha256')
const outcomes = new Map<string, number>()
const failed: number[] = []
const except = Object.keys(RULES).filter((name) => values.except.some((word) => name.includes(word)))
const [runs, first] = [Number(values.runs), Number(values.seed)]
for (let seed = first; seed < first + runs; seed++) {
  const record = await simulate(createPlan(seed), (who, what) => {
    if (values.verbose) print(`${time.now.toFixed(1).padStart(10)} ${who} ${what}`)
  })
  for (const step of record.steps) {
    const { outcome = 'nothing', 'error-code': code = '' } = readOutputs(step.outputFile)
    const name = `${outcome} ${code}`.trim()
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    // Where the program is, and from which line an error comes, is this machine's.
    const log = step.stdout.replace(/^::debug::\s+at .*\n/gm, '')
    digest.update(JSON.stringify([log, step.outputFile, step.summary, step.exitCode]))
  }
  digest.update(JSON.stringify([record.comments, record.checks]))
  const found = violations(record, except)
  if (found.length === 0) continue
  failed.push(seed)
  print(
    `Seed ${seed}:\n${found.map(({ rule, step, text }) => `  step ${step}: ${rule}: ${text}`).join('\n')}`,
  )
}
const { user, system } = process.cpuUsage(cpu0)
print(
  [...outcomes]
    .sort()
    .map(([name, count]) => `${count} ${name}`)
    .join(', '),
)
print(`${((user + system) / 1000 / runs).toFixed(1)} ms of CPU a run`)
print(`${runs} runs, ${failed.length} failed${failed.length > 0 ? `: seeds ${failed.join(', ')}` : ''}`)
print(`digest ${digest.digest('hex')}`)
process.exit(failed.length > 0 ? 1 : 0)

async function simulate(plan: Plan, tell: (who: string, what: string) => void): Promise<RunRecord> {
  const { service, github } = plan.connecting
  beginRun({
    seed: plan.seed,
    network: plan.network,
    connecting: (port, nth) => (port === FIRST_PORT ? service : github)[nth - 1] ?? 'open',
  })
  const ended: { record?: RunRecord; thrown?: unknown } = {}
  runPlan(plan, { run: simulateStep, certificate: undefined, tell }).then(
    (record) => Object.assign(ended, { record }),
    (thrown) => Object.assign(ended, { thrown }),
  )
  await time.run(() => ended.record !== undefined || ended.thrown !== undefined)
  if (ended.record === undefined) throw ended.thrown ?? new Error(`Seed ${plan.seed}: a step never ends`)
  return ended.record
}
