/**
 * Measures the action against its alternatives: `npm run bench -- --help`. A run of all parts also writes its figures
 * into docs/development/performance.md.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir, type } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { measureIdle } from './idle.mjs'
import { replaceSections, withoutCharts } from './markdown.mjs'
import { measureMemory } from './memory.mjs'
import { simulatePolling } from './polling.mjs'
import { measureScale } from './scale.mjs'
import { startBench, version } from './setup.mjs'
import { measureSize } from './size.mjs'
import { measureTimes } from './times.mjs'

const PAGE = 'docs/development/performance.md'
const PARTS = ['times', 'size', 'memory', 'polling', 'scale', 'idle']
const DEFAULT_ROUNDS = 31
const HELP = `npm run bench -- [--rounds N] [--only PART,PART]
  --rounds N   how often each command is timed (default: ${DEFAULT_ROUNDS})
  --only ...   some of ${PARTS.join(', ')}; nothing is written to ${PAGE} then`

/** @returns {{ rounds: number, parts: string[] }} */
function readOptions() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: String(DEFAULT_ROUNDS) },
      only: { type: 'string', default: PARTS.join() },
      help: { type: 'boolean', default: false },
    },
  })
  const [rounds, parts] = [Number(values.rounds), values.only.split(',')]
  const isValid = Number.isSafeInteger(rounds) && rounds > 0 && parts.every((part) => PARTS.includes(part))
  if (values.help || !isValid) {
    console.log(HELP)
    process.exit(values.help ? 0 : 2)
  }
  return { rounds, parts }
}

/** @param {number} rounds */
function describeConditions(rounds) {
  const programs = [
    `Node ${process.version.slice(1)}`,
    version('curl')?.split(' ').slice(0, 2).join(' '),
    version('jq'),
  ]
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} with \`npm run bench\`, ${rounds} rounds:`,
    `${cpus().length} cores of ${cpus()[0]?.model.trim()}, ${type()} ${release().replace(/-.*/, '')},`,
    `${programs.filter(Boolean).join(', ')}. Load average before the run: ${loadavg()[0]?.toFixed(1)}.`,
  ].join('\n')
}

/**
 * @param {number} rounds
 * @param {string[]} parts
 * @returns {Promise<Record<string, string>>} the sections of the page
 */
async function measureParts(rounds, parts) {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-'))
  try {
    const bench = await startBench(folder)
    /** @type {Record<string, () => Promise<Record<string, string>> | Record<string, string>>} */
    const measures = {
      times: () => measureTimes(bench, rounds),
      size: () => measureSize(bench),
      memory: () => measureMemory(bench),
      polling: simulatePolling,
      scale: measureScale,
      idle: () => measureIdle(bench),
    }
    const sections = {}
    for (const [part, measure] of Object.entries(measures)) {
      if (!parts.includes(part)) continue
      console.error(`Measuring ${part} ...`)
      Object.assign(sections, await measure())
    }
    await bench.close()
    return sections
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { rounds, parts } = readOptions()
const isComplete = PARTS.every((part) => parts.includes(part))
const conditions = describeConditions(rounds)
const sections = { conditions, ...(await measureParts(rounds, parts)) }
for (const [name, text] of Object.entries(sections)) console.log(`\n[${name}]\n${withoutCharts(text)}`)
if (isComplete) {
  writeFileSync(PAGE, replaceSections(readFileSync(PAGE, 'utf8'), sections))
  console.log(`\nWrote these figures and their charts to ${PAGE}.`)
}
