/**
 * Runs plans with the bundle, as processes over real sockets: each must end as it did in the simulation.
 * `npm run simulate:compare -- --runs 300 --seed 1`
 */

import { spawn } from 'node:child_process'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { endOf, type RunEnd } from './end.js'
import { runPlan } from './execute.js'
import { createPlan } from './plan.js'
import { runProcess } from './step.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '6' },
    bundle: { type: 'string', default: 'build/dist/index.js' },
    node: { type: 'string', default: process.execPath },
  },
})
const bundle = path.resolve(values.bundle)

interface Simulated {
  readonly seed: number
  /** Null if it depends on how fast things are. */
  readonly end: RunEnd | null
}

const simulated = await simulate()
const comparable = simulated.filter(({ end }) => end !== null)
const different: number[] = []
let next = 0
const work = async (): Promise<void> => {
  while (next < comparable.length) await compare(comparable[next++] as Simulated)
}
await Promise.all(Array.from({ length: Number(values.jobs) }, work))
const skipped = simulated.length - comparable.length
console.log(`${skipped} plans end in a way that depends on times, and were left out.`)
const which = different.length > 0 ? `: seeds ${different.join(', ')}` : ''
console.log(`${comparable.length} runs, ${different.length} ended otherwise${which}`)
process.exitCode = different.length === 0 && comparable.length > 0 ? 0 : 1

/** In a process of its own, because it replaces time and network. */
async function simulate(): Promise<Simulated[]> {
  const script = path.join(import.meta.dirname, 'simulate-ends.js')
  const child = spawn(process.execPath, [script, values.seed, values.runs], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = (await readAll(child.stdout)).trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Simulated)
}

async function compare({ seed, end }: Simulated): Promise<void> {
  const record = await runPlan(createPlan(seed, { isReal: true }), {
    run: (options) => runProcess(options, { bundle, node: values.node }),
    certificate: undefined,
    tell: () => undefined,
  })
  const real = JSON.parse(JSON.stringify(endOf(record)))
  if (isDeepStrictEqual(real, end)) return
  different.push(seed)
  console.log(`Seed ${seed}:`)
  for (const line of differences(end, real)) console.log(`  ${line}`)
}

/** The values that differ, with where they are. */
function differences(simulated: unknown, real: unknown, where = ''): string[] {
  if (isDeepStrictEqual(simulated, real)) return []
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
  if (!isObject(simulated) || !isObject(real))
    return [`${where}: simulated ${JSON.stringify(simulated)}, real ${JSON.stringify(real)}`]
  const names = new Set([...Object.keys(simulated), ...Object.keys(real)])
  return [...names].flatMap((name) =>
    differences(simulated[name as never], real[name as never], `${where}/${name}`),
  )
}
