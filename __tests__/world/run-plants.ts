/**
 * Plants each bug in a copy of the compiled code, and shows what the simulation notices: `npm run
 * plants`.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { PLANTS, type Plant, plantIn } from './plants.js'

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
  },
  /** Words in the names of the plants. */
  allowPositionals: true,
})

/** Everything that a run needs; `node_modules` is found above it. */
const PARTS = ['src', 'emulator', '__tests__/world', '__tests__/support', '__tests__/github']
const FOLDER = path.resolve('build/plants')

const plants = PLANTS.filter(({ name }) => positionals.every((word) => name.includes(word)))
const copies = plants.map(copyWith)
const unplanted = copyWith(undefined)
let missed = 0
try {
  const { seed, rule } = await simulate(unplanted)
  const { seed: night } = plants.some(isOfNights) ? await nights(unplanted) : { seed }
  if (seed !== undefined || night !== undefined)
    throw new Error(`The code without a plant breaks a rule in seed ${seed ?? night}: ${rule}`)
  let next = 0
  const work = async (): Promise<void> => {
    while (next < plants.length) {
      const index = next++
      const live = isOfNights(plants[index]) ? nights : simulate
      const { seed, runs, rule } = await live(copies[index] as string)
      if (seed === undefined) missed++
      const noticed = seed === undefined ? 'NOT NOTICED' : `after ${runs}`.padEnd(11)
      console.log(`${noticed} ${plants[index]?.name}: ${rule}`)
    }
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work))
} finally {
  rmSync(FOLDER, { recursive: true, force: true })
}
console.log(`${plants.length} plants, ${missed} not noticed within ${values.runs} runs`)
process.exitCode = missed === 0 ? 0 : 1

function copyWith(plant: Plant | undefined, index = -1): string {
  const copy = path.join(FOLDER, String(index))
  for (const part of PARTS)
    cpSync(path.join('build', part), path.join(copy, part), { recursive: true })
  if (plant !== undefined) plantIn(path.join(copy, 'src'), plant)
  return copy
}

/** Whether nights with other repositories have to notice it. */
function isOfNights(plant: Plant | undefined): boolean {
  return plant?.name.includes('[code.') === true
}

/** The first weeks of nights that are red, told as `simulate` tells a seed. */
async function nights(copy: string) {
  const tests = path.join(copy, '__tests__/github')
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--roots', tests]
  const setup = path.join(copy, '__tests__/support/timeout.js')
  const options = ['--setupFilesAfterEnv', setup, '--', 'other-nights']
  const child = spawn(process.execPath, [...jest, ...options])
  const [said] = await Promise.all([readAll(child.stderr), once(child, 'close')])
  const [, seed] = /● .*seed (\d+)/.exec(said) ?? []
  if (!/^Tests: /m.test(said)) throw new Error(`A plant has to run:\n${said}`)
  return { seed, runs: seed, rule: 'each push is in the prompt of one good run' }
}

/** The first seed that breaks a rule, after how many runs, and the rule. */
async function simulate(copy: string) {
  const simulation = path.join(copy, '__tests__/world/simulate.js')
  const options = ['--runs', values.runs, '--seed', values.seed, '--fail-fast']
  const child = spawn(process.execPath, [simulation, ...options])
  const [said, problems] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'close'),
  ])
  const [, seed] = /^Seed (\d+):/m.exec(said) ?? []
  const [, rule = ''] = /^ {2}step \d+: (.*?): /m.exec(said) ?? []
  const [, runs] = /^(\d+) runs, \d+ failed/m.exec(said) ?? []
  if (runs === undefined) throw new Error(`A plant has to run:\n${said}${problems}`)
  return { seed, runs, rule }
}
