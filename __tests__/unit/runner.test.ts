/**
 * What the adapter to the runner writes: redacted, without commands, never half; and what it reads.
 */

import { statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { newFolder } from '../support/folder.js'

const file = path.join(newFolder('summary'), 'summary.md')
/** The size of the summary after each call that may change it. */
const sizes: (number | undefined)[] = []

// A built-in module, whose functions do what they always do: what others see in between can't be
// seen in another way.
const fs = await import('node:fs')
type AnyFunction = (...args: unknown[]) => unknown
const watched = Object.fromEntries(
  Object.entries(fs)
    .filter(([name]) =>
      /^(?:open|write|append|truncate|ftruncate|rm|unlink|rename)\w*Sync$/.test(name),
    )
    .map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        const result = (call as AnyFunction)(...args)
        sizes.push(statSync(file, { throwIfNoEntry: false })?.size)
        return result
      },
    ]),
)
jest.unstable_mockModule('node:fs', () => ({ ...fs, ...watched, default: { ...fs, ...watched } }))
const runner = await import('../../src/runner.js')
const { clock, createReporter, nonce, onUncaughtException, promptRoots, runEnvironment } = runner

const { env } = process
beforeAll(() => {
  process.env = { ...env, GITHUB_STEP_SUMMARY: file }
})
afterAll(() => {
  process.env = env
})

test.each([
  ['1', true],
  ['', false],
])(
  'with RUNNER_DEBUG %j, whether a stack trace may be written is %j [report.annotation.one]',
  (value, isDebug) => {
    process.env.RUNNER_DEBUG = value
    expect(createReporter(String).isDebug).toBe(isDebug)
  },
)

describe('the reporter [text.command]', () => {
  const reporter = createReporter((text) => text.replaceAll('secret', '***'))
  let written = ''
  beforeEach(() => {
    written = ''
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written += text
      return true
    })
  })
  const writers: readonly (readonly [string, (text: string) => void, lines: number])[] = [
    ['log', (text) => reporter.log(text), 1],
    ['debug', (text) => reporter.debug(text), 2],
    ['warn', (text) => reporter.warn(text), 1],
    ['notice', (text) => reporter.notice(text), 1],
    ['error', (text) => reporter.error(text), 1],
    ['group', (text) => reporter.group('', text), 4],
    ['the title of a group', (text) => reporter.group(text, ''), 3],
  ]

  test.each(writers)(
    'redacts, and writes no command of others: %s [text.command] [secret.redacted]',
    (_, write, lines) => {
      write('a secret\n::error::b\r##[error]c')
      jest.restoreAllMocks()
      expect(written).toContain('a ***')
      expect(written).not.toContain('secret')
      expect(written).not.toMatch(/\r|##\[|^::error::b/m)
      expect(written.trimEnd().split('\n').length).toBeLessThanOrEqual(lines + 1)
    },
  )

  test.each([
    ['', ''],
    ['ab', '::add-mask::ab\n'],
    ['a b', '::add-mask::a b\n::add-mask::a%2520b\n'],
  ])('masks %j, also percent-encoded [secret.masked]', (secret, commands) => {
    runner.mask(secret)
    jest.restoreAllMocks()
    expect(written).toBe(commands)
  })

  test('folds a prompt, and nothing behind it [output.dry-run]', () => {
    reporter.group('The prompt', 'One\nline')
    jest.restoreAllMocks()
    expect(written).toBe('::group::The prompt\n| One\n| line\n::endgroup::\n')
  })

  test('cuts an error that GitHub would cut [report.annotation.one]', () => {
    reporter.error('x'.repeat(5_000))
    jest.restoreAllMocks()
    expect(written).toBe(`::error::${'x'.repeat(4_000)}…\n`)
  })
})

test('a summary that is rewritten is redacted, and never empty in between [report.summary]', () => {
  const reporter = createReporter((text) => text.replaceAll('secret', '***'))
  reporter.summary('A long first version with a secret.\n')
  expect(fs.readFileSync(file, 'utf8')).toBe('A long first version with a ***.\n')
  sizes.length = 0
  reporter.summary('Second ✅.\n')
  expect(sizes.length).toBeGreaterThan(1)
  expect(sizes.filter((size) => !size)).toEqual([])
  expect(fs.readFileSync(file, 'utf8')).toBe('Second ✅.\n')
})

test('a nonce is one that nobody can guess: 128 bits, and another one each time [context.fence.data]', () => {
  const nonces = Array.from({ length: 100 }, () => nonce())
  expect(new Set(nonces).size).toBe(nonces.length)
  for (const one of nonces) expect(one).toMatch(/^[\da-f]{32}$/)
})

test('a run is what the variables of the runner say [github.event] [memory.identity]', () => {
  const variables =
    'EVENT_NAME EVENT_PATH ACTOR REPOSITORY REF SHA RUN_ID RUN_ATTEMPT RUN_NUMBER WORKFLOW_REF WORKFLOW JOB ACTION API_URL SERVER_URL'
  process.env = Object.fromEntries(
    variables.split(' ').map((name, index) => [`GITHUB_${name}`, `${index}`]),
  )
  expect(runEnvironment()).toEqual({
    eventName: '0',
    eventPath: '1',
    actor: '2',
    repository: '3',
    ref: '4',
    sha: '5',
    runId: '6',
    runAttempt: 7,
    runNumber: 8,
    workflowRef: '9',
    workflow: '10',
    job: '11',
    step: '12',
    apiUrl: '13',
    serverUrl: '14',
  })
})

test('by default, a run is the first attempt, on github.com [secret.key.where] [memory.identity.same-attempt]', () => {
  process.env = {}
  expect(runEnvironment()).toMatchObject({
    runAttempt: 1,
    apiUrl: 'https://api.github.com',
    serverUrl: 'https://github.com',
  })
})

test('the inputs are trimmed [input.values], and what else is given is known by its name [input.misspelt]', () => {
  process.env = { INPUT_PROMPT: ' Go ', 'input_api-kee': 'k', INPUTS: 'none' }
  expect(runner.rawInputs()).toMatchObject({ prompt: 'Go', 'api-key': '' })
  expect(runner.givenInputs()).toEqual({ PROMPT: ' Go ', 'api-kee': 'k' })
})

test.each([
  ['0', true],
  ['1', false],
])(
  'NODE_TLS_REJECT_UNAUTHORIZED=%s is told (%j), and counts for no connection [net.tls.verified]',
  (value, unverifiedTlsRequested) => {
    process.env = { NODE_TLS_REJECT_UNAUTHORIZED: value, HTTPS_PROXY: 'http://proxy' }
    const settings = { proxy: 'http://proxy', unverifiedTlsRequested }
    expect(runner.readNetworkSettings()).toEqual(settings)
    expect(process.env).toEqual({ HTTPS_PROXY: 'http://proxy' })
  },
)

test('a process fails unless it says how it ended [output.exit-code]', () => {
  const ignore = () => undefined
  onUncaughtException(ignore)
  expect(process.exitCode).toBe(1)
  process.exitCode = undefined
  process.removeListener('uncaughtException', ignore)
})

test('the clock wakes on a signal [net.deadline], and repeats nothing after its end [report.log.lines]', async () => {
  await clock.sleep(2 ** 31 - 1, AbortSignal.abort())
  const calls = await new Promise<number>((resolve) => {
    let calls = 0
    const end = clock.every(1, () => {
      if (calls++ === 0) setTimeout(() => resolve(calls), 20)
      end()
    })
  })
  expect(calls).toBe(1)
})

test.each([
  [{}, { workspace: process.cwd(), temp: '' }],
  [{ GITHUB_WORKSPACE: '' }, { workspace: process.cwd(), temp: '' }],
  [
    { GITHUB_WORKSPACE: '/w', RUNNER_TEMP: '/t' },
    { workspace: '/w', temp: '/t' },
  ],
])(
  'files are of the workspace or the folder for temporary files; with %j: %j [input.file.inside]',
  (variables, roots) => {
    process.env = variables
    expect(promptRoots()).toEqual(roots)
  },
)
