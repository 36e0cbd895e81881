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

/** What the table of texts tells of, and these runs are too few for. */
const RARE = [
  'continuing +link, cancelled',
  'continuing +link, dry-run',
  'continuing +link, sending job, accepted job active, cancelled',
  'continuing +link, sending job, accepted job active, timed-out',
  'continuing +link, sending job, cancelled create-unknown',
  'continuing +link, sending job, error create-unknown',
  'continuing +link, sending message, accepted message active, timed-out',
  'continuing +link, sending message, accepted message, seen completed, no-changes',
  'continuing +link, sending message, not sent',
  'continuing +link, sending message, not sent, cancelled',
  'continuing +link, sending message, refused, error auth',
  'sending job, accepted job active +link, error auth',
  'sending job, accepted job active +link, not-seen, cancelled',
  'sending job, accepted job active, error not-found',
  'sending job, accepted job completed +link, cancelled',
  'sending job, accepted job failed, cancelled',
  'sending job, accepted job failed, error internal',
  'sending job, accepted job undocumented, cancelled',
  'sending job, accepted job undocumented, timed-out',
  'sending job, error create-unknown',
  'sending job, refused, error network',
  'sending job, refused, not sent, cancelled',
  'sending message, accepted message archived, cancelled',
  'sending message, accepted message archived, started',
  'sending message, accepted message, error auth',
  'sending message, accepted message, error not-found',
  'sending message, accepted message, seen archived, archived',
  'sending message, cancelled create-unknown',
  'sending message, error create-unknown',
  'waiting, error auth',
  'waiting, seen active, error not-found',
  'waiting, seen failed, cancelled',
]

test(
  'every random run keeps every rule, and what the table of texts tells of does happen',
  async () => {
    const said = await Promise.all(FIRST_SEEDS.map(simulate))
    const [first = [], second = []] = said.map(
      (one) => /^not seen: (.*)$/m.exec(one)?.[1]?.split('; ') ?? [one],
    )
    const missing = first.filter((one) => second.includes(one))
    expect(missing.filter((one) => !RARE.includes(one))).toEqual([])
  },
  scaled(600_000),
)

/** @returns what it printed, if every rule was kept */
async function simulate(seed: number): Promise<string> {
  const options = ['--runs', String(RUNS), '--seed', String(seed), '--texts']
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
  return said
}
