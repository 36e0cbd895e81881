// Every scenario against the built action, by the command that a person uses: each ends as its table says.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { scenarios as all } from '../../emulator/scenarios.mjs'
import { POSIX } from '../support/platform.js'

const START = fileURLToPath(new URL('../../emulator/start.mjs', import.meta.url))
const SLOWEST_MS = 30_000

/** One needs a signal that the step can catch. */
const scenarios = Object.fromEntries(Object.entries(all).filter(([, { step }]) => POSIX || !step.cancel))

/** All at once, since most of their time is waiting. */
const runs = new Map(Object.keys(scenarios).map((name) => [name, start(name)]))

function start(name: string) {
  return new Promise<{ code: unknown; stdout: string }>((resolve) => {
    execFile(process.execPath, [START, '--scenario', name], (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    )
  })
}

/** What the runs said in one output. */
function valuesOf(output: string, stdout: string) {
  return [...stdout.matchAll(new RegExp(`^ {2}${output} *(.*)$`, 'gm'))].map(([, value]) => value)
}

test.each(Object.entries(scenarios))(
  '%s ends as it says',
  async (name, { step: { exitCode, outcome, errorCode, pullRequest = ['by hand'] } }) => {
    const { code, stdout = '' } = (await runs.get(name)) ?? {}
    expect(valuesOf('outcome', stdout)).toEqual(pullRequest.map(() => outcome))
    expect(valuesOf('error-code', stdout)).toEqual(pullRequest.map(() => errorCode))
    expect(stdout).not.toMatch(/mint_emulated_key|ghs_emulated_token/)
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
  ['a create and then a message, on a pull request', 'pull-request', 2, 2],
])(
  'sends %s',
  async (_, name, posts, leastGets) => {
    const { stdout = '' } = (await runs.get(name)) ?? {}
    const [, seenPosts, seenGets] = /the service saw .* \((\d+) POST, (\d+) GET\)/.exec(stdout) ?? []
    expect(Number(seenPosts)).toBe(posts)
    if (leastGets === 0) expect(Number(seenGets)).toBe(0)
    else expect(Number(seenGets)).toBeGreaterThanOrEqual(leastGets)
  },
  SLOWEST_MS,
)

test(
  'pull-request has one job and one comment, shown at each change',
  async () => {
    const { stdout = '' } = (await runs.get('pull-request')) ?? {}
    const headings = /^━━ .*|^ {2}┌── .*|^[A-Z]\w+$/gm
    const comment = (version: number) => `  ┌── Comment 1001, edited: version ${version}`
    expect(stdout.match(headings)).toEqual([
      'Step',
      '━━ Run 1 of 2: event pull_request, opened ━━',
      'Log',
      '  ┌── Comment 1001, written',
      ...[2, 3, 4].map(comment),
      'Outputs',
      'Summary',
      '━━ Run 2 of 2: event pull_request, synchronize ━━',
      'Log',
      ...[5, 6, 7].map(comment),
      'Outputs',
      'Summary',
    ])
    const boxes = [...stdout.matchAll(/^ {2}┌── .*\n((?: {2}│.*\n)+) {2}└──$/gm)].map(([, text]) => text)
    expect(boxes).toHaveLength(7)
    expect(boxes[1]).toMatch(/^ {2}│ \(the same text\)\n {2}│\n {2}│ <!-- agent-job-action:1… --> \(hidden/)
    for (const end of [boxes[3], boxes[6]]) {
      expect(end).toContain('[`your-org/docs#17`](<https://github.com/your-org/docs/pull/17>)')
    }
    expect(boxes[6]).toContain('/actions/runs/2>')
    expect(new Set(valuesOf('job-id', stdout)).size).toBe(1)
    expect(valuesOf('reused', stdout)).toEqual(['false', 'true'])
    expect(stdout).toContain('\n    github-token: ***\n')
    expect(stdout).toMatch(/; GitHub saw \d+ requests \(1 POST, 6 PATCH, \d+ GET\)\.\n$/)
  },
  SLOWEST_MS,
)
