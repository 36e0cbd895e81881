/** The simulation itself: it repeats what it did, and it notices what is wrong. */

import { execFile } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { OUTCOMES } from '../../src/agent/job.js'
import { DEFAULTS } from '../../src/inputs/inputs.js'
import { createPlan } from './plan.js'
import { filesWith, PLANTS } from './plants.js'

/** What it prints, whatever its exit code. */
function simulate(...options: readonly string[]): Promise<string[]> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['build/__tests__/world/simulate.js', ...options], (_, stdout) =>
      resolve(stdout.trim().split('\n')),
    )
  })
}

const digest = (lines: readonly string[]): string =>
  /^digest ([0-9a-f]{64})$/.exec(lines.at(-1) ?? '')?.[1] ?? 'none'

test('the same seed gives the same digest, and another one gives another', async () => {
  const runs = [1, 1, 2].map((seed) => simulate('--runs', '40', '--seed', String(seed)))
  const [one, again, other] = (await Promise.all(runs)).map(digest)
  expect(one).toMatch(/^[0-9a-f]{64}$/)
  expect(again).toBe(one)
  expect(other).not.toBe(one)
})

test('the plans reach every outcome, and every step keeps the rules', async () => {
  const lines = await simulate('--runs', '300', '--seed', '1')
  for (const outcome of [...OUTCOMES, 'error input', 'error github'])
    expect(lines.at(-4)).toMatch(new RegExp(`\\d ${outcome}\\b`))
  // The first of them, with the rule that it broke.
  expect(lines.at(-2) === '300 runs, 0 failed' ? [] : lines.slice(0, 12)).toEqual([])
})

test('the plans set every input', () => {
  const plans = Array.from({ length: 300 }, (_, seed) => createPlan(seed))
  const inputs = plans.flatMap(({ steps }) => steps.flatMap((step) => Object.keys(step.inputs)))
  const ofEveryStep = ['base-url', 'timeout-minutes']
  expect(new Set([...inputs, ...ofEveryStep])).toEqual(new Set(Object.keys(DEFAULTS)))
})

test('each plant has a name of its own, and a place in the code', () => {
  expect(new Set(PLANTS.map(({ name }) => name)).size).toBe(PLANTS.length)
  const lost = PLANTS.filter((plant) => filesWith('build/src', plant).length !== 1)
  expect(lost.map(({ name }) => name)).toEqual([])
})
