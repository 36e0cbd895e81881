/**
 * Random runs in the simulated world: the same each time, so that a red one is the fault of the
 * change.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { scaled } from '../support/time.js'

/** 10,000 runs, on two cores. */
const RUNS = 5_000
const FIRST_SEEDS = [358_999_606, 358_999_606 + RUNS]

test.concurrent.each(FIRST_SEEDS)(
  'every random run keeps every rule, from seed %i',
  async (seed) => {
    const options = ['--runs', String(RUNS), '--seed', String(seed)]
    const child = spawn(process.execPath, ['build/__tests__/world/simulate.js', ...options])
    const [said, problems, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    expect({ code, said: code === 0 ? '' : said, problems }).toEqual({
      code: 0,
      said: '',
      problems: '',
    })
  },
  scaled(600_000),
)
