/**
 * Random runs in the simulated world: the same each time, so that a red one is the fault of the
 * change.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { scaled } from '../support/time.js'

const RUNS = ['--runs', '10000', '--seed', '358999606']

test(
  'every random run keeps every rule',
  async () => {
    const child = spawn(process.execPath, ['build/__tests__/world/simulate.js', ...RUNS])
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
