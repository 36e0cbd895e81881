/**
 * Runs the bundle against a service and a GitHub that misbehave at random, and checks what must hold for every run:
 * `npm run test:faults -- --runs 300 --seed 1`. Each run has a seed of its own; a run that fails is done again with
 * `--runs 1 --seed SEED --verbose`.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Certificate, certificateIn } from '../support/certificate.js'
import { runPlan } from './execute.js'
import { readOutputs } from './facts.js'
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
/** How the runs ended shows whether the plans reach everything. */
const outcomes = new Map<string, number>()
const failed: number[] = []
let finished = 0
let next = 0

const folder = await mkdtemp(path.join(tmpdir(), 'faults-'))
try {
  const certificate = await certificateIn(folder, ['service.test', 'localhost'])
  const startedAt = performance.now()
  console.log(`${runs} runs from seed ${seed} on.`)
  const work = async (): Promise<void> => {
    while (next < runs) {
      await runSeed(seed + next++, certificate)
      if (++finished % 100 > 0) continue
      const seconds = Math.round((performance.now() - startedAt) / 1000)
      console.log(`${finished} runs in ${seconds} s, ${failed.length} failed.`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(Number(values.jobs), runs) }, work))
} finally {
  await rm(folder, { recursive: true, force: true })
}
const counts = [...outcomes].sort().map(([name, count]) => `${count} ${name}`)
console.log(counts.join(', '))
const which = failed.length > 0 ? `: seeds ${failed.join(', ')}` : '.'
console.log(`${finished} runs, ${failed.length} failed${which}`)
process.exitCode = failed.length === 0 ? 0 : 1

async function runSeed(seed: number, certificate: Certificate): Promise<void> {
  const from = performance.now()
  const log = (line: string): void => {
    if (values.verbose) console.log(`${String(Math.round(performance.now() - from)).padStart(6)} ${line}`)
  }
  const plan = createPlan(seed)
  if (values.verbose) console.log(JSON.stringify(plan, null, 2))
  const record = await runPlan(plan, { bundle, node: values.node, certificate, startupMs, log })
  for (const { spawnedAt, firstOutputAt, outputFile } of record.steps) {
    if (firstOutputAt !== undefined) startupMs = Math.max(startupMs * 0.95, firstOutputAt - spawnedAt)
    const { outcome = 'nothing', 'error-code': code = '' } = readOutputs(outputFile)
    const name = `${outcome} ${code}`.trim()
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
  }
  const found = violations(record, startupMs)
  if (found.length === 0) return
  failed.push(seed)
  console.log(`Seed ${seed}:\n${found.map((text) => `  ${text}`).join('\n')}`)
}
