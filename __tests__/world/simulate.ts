/**
 * Draws runs from a seed, and checks what must hold for each: `npm run simulate -- --runs 1000
 * --seed 1`. A run that breaks a rule is made as small as it can be, and told.
 */

import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type RunRecord, simulatePlan } from './execute.js'
import { readOutputs } from './facts.js'
import { createPlan, type Plan } from './plan.js'
import { violations } from './rules.js'
import { shrink } from './shrink.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    /** Tells every run. */
    verbose: { type: 'boolean', default: false },
    /** Ends at the first run that breaks a rule. */
    'fail-fast': { type: 'boolean', default: false },
    /** Says what the table of texts tells of, and no step did. */
    texts: { type: 'boolean', default: false },
  },
})

/** After so many runs, everything that is used is loaded and compiled. */
const WARMED_UP = 200
/** After so many, a long simulation says how far it is, and that it keeps no memory. */
const PROGRESS = 20_000
/** So many of the runs that break a rule are told in full; after so many, it ends. */
const [MOST_TOLD, MOST_FAILED] = [3, 10]
const print = (text: string): void => void process.stdout.write(`${text}\n`)

const digest = createHash('sha256')
/** How the steps ended shows whether the plans reach everything. */
const outcomes = new Map<string, number>()
const failed: number[] = []
const [runs, first] = [Number(values.runs), Number(values.seed)]
const sequences = values.texts ? (await import('./sequences.js')).recordSequences() : undefined
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const before = process.cpuUsage()
let finished = 0
for (let seed = first; seed < first + runs; seed++) {
  await runSeed(seed)
  if (++finished === WARMED_UP || finished % PROGRESS === 0) print(`${finished} runs, ${heap()}`)
  if (failed.length >= (values['fail-fast'] ? 1 : MOST_FAILED)) break
}
const { user, system } = process.cpuUsage(before)
print(
  [...outcomes]
    .sort()
    .map(([name, count]) => `${count} ${name}`)
    .join(', '),
)
print(`${((user + system) / 1_000 / finished).toFixed(1)} ms of CPU a run, ${heap()}`)
print(
  `${finished} runs, ${failed.length} failed${failed.length > 0 ? `: seeds ${failed.join(', ')}` : ''}`,
)
if (sequences !== undefined) print(`not seen: ${sequences.missing().join('; ')}`)
print(`digest ${digest.digest('hex')}`)
process.exit(failed.length > 0 ? 1 : 0)

/** After a garbage collection. */
function heap(): string {
  collectGarbage()
  return `heap ${Math.round(process.memoryUsage().heapUsed / 2 ** 20)} MB`
}

async function runSeed(seed: number): Promise<void> {
  const plan = createPlan(seed)
  const record = await simulatePlan(plan, values.verbose ? tell : undefined)
  addTo(digest, record)
  for (const { outputFile } of record.steps) {
    const { outcome = 'nothing', 'error-code': code = '' } = readOutputs(outputFile)
    const name = `${outcome} ${code}`.trim()
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
  }
  const found = violations(record)
  if (found.length === 0) return
  failed.push(seed)
  print(`Seed ${seed}:`)
  for (const { rule, step, text } of found) print(`  step ${step}: ${rule}: ${text}`)
  if (values['fail-fast'] || failed.length > MOST_TOLD) return
  await tellSmallest(plan, found[0]?.rule ?? '')
}

/** Everything that the steps wrote. */
function addTo(hash: ReturnType<typeof createHash>, { steps, comments }: RunRecord): void {
  const all = steps.map(({ stdout, outputFile, summary, exitCode, entries, githubRequests }) => {
    const requests = [...entries, ...githubRequests].map(({ method, path, body }) => [
      method,
      path,
      body,
    ])
    return [stdout.replace(/^::debug::\s+at .*\n/gm, ''), outputFile, summary, exitCode, requests]
  })
  // Where the program and its files are, and from which line an error comes, is this machine's.
  hash.update(JSON.stringify([all, comments]).replace(/\/[^" `]*\/world-\w+\//g, '/'))
}

async function tellSmallest(plan: Plan, rule: string): Promise<void> {
  const smallest = await shrink(plan, rule)
  print(`  "${rule}" is broken by this as well:`)
  for (const [index, step] of smallest.steps.entries())
    print(`  step ${index + 1}: ${JSON.stringify(step)}`)
  await simulatePlan(smallest, tell)
}

function tell(at: number, who: string, what: string): void {
  const isDetail = !values.verbose && /^writes ::(?:debug|add-mask)::/.test(what)
  if (!isDetail)
    print(`  ${at.toFixed(1).padStart(10)} ms: ${who} ${what.slice(0, values.verbose ? 500 : 200)}`)
}
