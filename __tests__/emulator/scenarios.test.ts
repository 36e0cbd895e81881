// Every scenario with the built action, using the command that a person uses: each ends as its
// table says.
import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, jest, test } from '@jest/globals'
import { scenarios as all } from '../../emulator/scenarios.mjs'
import { POSIX } from '../support/platform.js'

const START = fileURLToPath(new URL('../../emulator/start.mjs', import.meta.url))
// The command reads it beside the bundle, which here is the fresh one.
copyFileSync('action.yml', 'build/action.yml')
// Each ends within seconds; this is for a machine that is busy with other things.
jest.setTimeout(240_000)
/** A docs job takes 2.4 s: longer than what delays a response. */
const FAST = ['--speed', '100', '--input', 'poll-interval-seconds=0.2']
/** More would slow down those whose step has a deadline. */
const AT_ONCE = 8

/** On Windows a step can't catch the signal that one of them sends. */
const scenarios = Object.fromEntries(
  Object.entries(all).filter(([, { step }]) => POSIX || !step.cancel),
)

/** They are started before the tests, since most of their time is waiting. */
const runs = startAll(Object.keys(scenarios))

function startAll(names: readonly string[]): Map<string, ReturnType<typeof start>> {
  const started = new Map<string, ReturnType<typeof start>>()
  for (const [index, name] of names.entries()) {
    const earlier = started.get(names[index - AT_ONCE] ?? '')
    started.set(name, earlier ? earlier.then(() => start(name)) : start(name))
  }
  return started
}

function start(name: string) {
  return new Promise<{ code: unknown; stdout: string }>((resolve) => {
    execFile(process.execPath, [START, '--scenario', name, ...FAST], (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    )
  })
}

/** The values of one output, one per run. */
function valuesOf(output: string, stdout: string) {
  return [...stdout.matchAll(new RegExp(`^ {2}${output} *(.*)$`, 'gm'))].map(([, value]) => value)
}

test.each(Object.entries(scenarios))(
  '%s ends as it says [house.emulator]',
  async (name, { step: { exitCode, outcome, errorCode, pullRequest = ['once'] } }) => {
    const { code, stdout = '' } = (await runs.get(name)) ?? {}
    expect(valuesOf('outcome', stdout)).toEqual(pullRequest.map(() => outcome))
    expect(valuesOf('error-code', stdout)).toEqual(pullRequest.map(() => errorCode))
    expect(stdout).not.toMatch(/mint_emulated_key|ghs_emulated_token/)
    expect(code).toBe(exitCode)
    // What the action writes may be longer, and its comment is shown as it is.
    const own = stdout.replace(/^(?:Log|Summary)\n(?:(?: .*)?\n)*/gm, '')
    expect(own.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

const stdoutOf = async (name: string): Promise<string> => (await runs.get(name))?.stdout ?? ''

test('the step, the log, the outputs, the summary and the requests are shown [house.emulator]', async () => {
  const shown = (await stdoutOf('started'))
    .replace(/:\d{4,5}\b/g, ':PORT')
    .replaceAll('\\', '/')
    .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{3}Z)?/g, 'DATE')
    .replace(/\b[\d.]+ m?s\b(?! there)/g, 'TIME')
  expect(shown).toMatchSnapshot()
})

const TOO_MANY = '429 Too many requests  ← injected'
const BUSY = '409 The job is busy  ← injected'
const UNAVAILABLE = '503 Service unavailable  ← injected'
const NOT_FOUND = '404 Job not found  ← injected'
const OLD = '200 completed  ← injected'
/** The responses to all POSTs, and to the first polls; there is none without one here. */
test.each<[string, posts: string[], polls: string[]]>([
  ['dry-run', [], []],
  ['bad-input', [], []],
  ['started', ['201 active'], []],
  ['attach', [], ['200 ']],
  ['rate-limited', [TOO_MANY, '201 active'], ['200 ']],
  ['busy', [BUSY, BUSY, '200 active'], ['200 ']],
  ['unavailable', [UNAVAILABLE], []],
  ['reset-before', ['connection reset  ← injected, before it was processed'], []],
  ['reset-after', ['connection reset  ← injected, after it was processed'], []],
  ['flaky-polls', ['201 active'], [UNAVAILABLE, 'connection reset  ← injected', '200 ']],
  ['late-job', ['201 active'], [NOT_FOUND, NOT_FOUND, '200 ']],
  ['unknown-status', ['201 active'], ['200 queued  ← injected']],
  ['slow', ['201 active  ← injected delay of 1.5 s'], ['  ← injected delay of 0.7 s']],
  ['stale', [OLD], [OLD, OLD, '200 ']],
  ['taken-back', ['201 active'], [OLD, '200 active  ← injected', '200 completed']],
  ['pull-request', ['201 active', '200 active'], ['200 ']],
  ['busy-since', ['201 active', BUSY, BUSY, BUSY, '200 active'], ['200 ']],
])('%s shows what it is about in its requests [house.emulator]', async (name, posts, polls) => {
  const stdout = await stdoutOf(name)
  const responses = (request: RegExp) =>
    [...stdout.matchAll(request)].map(([, response]) => response)
  const seen = responses(/ s {2}GET {2}\/job\/\{id\} +(.*)/g)
  expect(responses(/ s {2}POST \/job(?:\/\{id\}\/message)? +(.*)/g)).toEqual(posts)
  expect(seen.slice(0, polls.length || 1)).toEqual(
    polls.map((part) => expect.stringContaining(part)),
  )
})

test('pull-request has one job and one comment, which is shown at each change [house.emulator]', async () => {
  const stdout = await stdoutOf('pull-request')
  const headings = /^━━ .*|^ {2}┌── .*|^[A-Z][\w ]+$/gm
  expect(stdout.match(headings)).toMatchSnapshot()
  const boxes = [...stdout.matchAll(/^ {2}┌── .*\n((?: {2}│.*\n)+) {2}└──$/gm)].map(
    ([, text]) => text,
  )
  expect(boxes).toHaveLength(7)
  expect(boxes[0]).toContain('Asking an agent to write docs')
  expect(boxes[0]).not.toContain('agent-job-action:2')
  expect(boxes[1]).toContain('The request is being sent')
  expect(boxes[1]).toMatch(/ {2}│ <!-- agent-job-action:2… --> \(hidden;/)
  for (const end of [boxes[3], boxes[6]]) {
    expect(end).toContain('[`your-org/docs#17`](<https://github.com/your-org/docs/pull/17>)')
  }
  expect(boxes[6]).toContain('/actions/runs/2>')
  expect(new Set(valuesOf('job-id', stdout)).size).toBe(1)
  expect(valuesOf('sent', stdout)).toEqual(['job', 'message'])
  expect(stdout).toContain('\n    github-token: ***  # only for this demo\n')
  expect(stdout).toMatch(/;\nGitHub received \d+ requests \(1 POST, 6 PATCH, \d+ GET\)\.\n$/)
})
