// Every scenario against the built action, by the command that a person uses: each ends as its table says.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { scenarios } from '../../emulator/scenarios.mjs'

const START = fileURLToPath(new URL('../../emulator/start.mjs', import.meta.url))
const SLOWEST_MS = 30_000

/** All at once, since most of their time is waiting. */
const runs = new Map(Object.keys(scenarios).map((name) => [name, start(name)]))

function start(name: string) {
  return new Promise<{ code: unknown; stdout: string }>((resolve) => {
    execFile(process.execPath, [START, '--scenario', name], (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    )
  })
}

test.each(Object.entries(scenarios))(
  '%s ends as it says',
  async (name, { step: { exitCode, outcome, errorCode } }) => {
    const { code, stdout = '' } = (await runs.get(name)) ?? {}
    expect(stdout).toMatch(new RegExp(`^ {2}outcome +${outcome}$`, 'm'))
    expect(stdout).toMatch(new RegExp(`^ {2}error-code *${errorCode}$`, 'm'))
    expect(stdout).not.toContain('mint_emulated_key')
    expect(code).toBe(exitCode)
  },
  SLOWEST_MS,
)

test.each([
  ['nothing in a dry run', 'dry-run', 0, 0],
  ['nothing with bad input', 'bad-input', 0, 0],
  ['a create, and does not look, without a wait', 'started', 1, 0],
  ['no create for a job that runs', 'attach', 0, 1],
  ['a create that was turned down again', 'rate-limited', 2, 1],
  ['a message to a busy job again', 'busy', 3, 1],
  ['a create that met a 503 once', 'unavailable', 1, 0],
  ['a create that was cut once', 'reset-after', 1, 0],
])(
  'sends %s',
  async (_, name, posts, leastGets) => {
    const { stdout = '' } = (await runs.get(name)) ?? {}
    const [, seenPosts, seenGets] = /\((\d+) POST, (\d+) GET\)\.\n$/.exec(stdout) ?? []
    expect(Number(seenPosts)).toBe(posts)
    if (leastGets === 0) expect(Number(seenGets)).toBe(0)
    else expect(Number(seenGets)).toBeGreaterThanOrEqual(leastGets)
  },
  SLOWEST_MS,
)
