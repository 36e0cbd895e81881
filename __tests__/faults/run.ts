/**
 * Runs the bundle against a service and a GitHub that misbehave at random, and checks what must hold for every run:
 * `npm run test:faults -- --runs 300 --seed 1`. Each run has a seed of its own; a run that fails is done again with
 * `--runs 1 --seed SEED --verbose`.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { certificateIn } from '../support/certificate.js'
import { type RunRecord, runPlan } from './execute.js'
import { violations } from './invariants.js'
import { createPlan } from './plan.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    jobs: { type: 'string', default: '8' },
    bundle: { type: 'string', default: 'build/dist/index.js' },
    node: { type: 'string', default: process.execPath },
    verbose: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
const seed = Number(values.seed)
const bundle = path.resolve(values.bundle)

/** The time from the start of a process to its first line, as a moving maximum. */
let startupMs = 500
const outcomes = new Map<string, number>()
const failed: number[] = []
let finished = 0
let next = 0

const folder = await mkdtemp(path.join(tmpdir(), 'faults-'))
try {
  const certificate = await certificateIn(folder, ['service.test', 'localhost'])
  const startedAt = performance.now()
  console.log(`${runs} runs from seed ${seed} on.`)
  const work = async (slot: number): Promise<void> => {
    while (next < runs) {
      const own = seed + next++
      const log: string[] = []
      const from = performance.now()
      const write = (line: string): void => {
        const text = `${String(Math.round(performance.now() - from)).padStart(6)} ${line}`
        if (values.verbose) console.log(text)
        else log.push(text)
      }
      const plan = createPlan(own)
      if (values.verbose) console.log(JSON.stringify(plan, null, 2))
      // The address changes from run to run, so that nothing of an earlier one can get in.
      const host = `127.77.${1 + slot}.${1 + (own % 250)}`
      const record = await runPlan(plan, {
        bundle,
        node: values.node,
        host,
        certificate,
        startupMs,
        log: write,
      })
      note(record)
      const found = violations(record, { startupMs })
      finished++
      if (found.length > 0) {
        failed.push(own)
        console.log(`Seed ${own}:\n${found.map((text) => `  ${text}`).join('\n')}`)
      }
      if (finished % 100 === 0) {
        const seconds = Math.round((performance.now() - startedAt) / 1000)
        console.log(`${finished} runs in ${seconds} s, ${failed.length} failed.`)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(Number(values.jobs), runs) }, (_, slot) => work(slot)))
} finally {
  await rm(folder, { recursive: true, force: true })
}
console.log(
  [...outcomes]
    .sort()
    .map(([name, count]) => `${count} ${name}`)
    .join(', '),
)
console.log(
  `${finished} runs, ${failed.length} failed${failed.length > 0 ? `: seeds ${failed.join(', ')}` : '.'}`,
)
process.exitCode = failed.length === 0 ? 0 : 1

/** How the runs ended shows whether the plans reach everything. */
function note({ steps }: RunRecord): void {
  for (const { spawnedAt, firstOutputAt, outputFile } of steps) {
    if (firstOutputAt !== undefined) startupMs = Math.max(startupMs * 0.95, firstOutputAt - spawnedAt)
    const word = (name: string): string =>
      new RegExp(`^${name}<<.*\\n(.*)$`, 'gm').exec(
        outputFile.slice(outputFile.lastIndexOf(`${name}<<`)),
      )?.[1] ?? ''
    const name = `${word('outcome')} ${word('error-code')}`.trim() || 'nothing'
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
  }
}
