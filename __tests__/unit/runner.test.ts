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
const { clock, createReporter, nonce, onUncaughtException, promptRoots, runEnvironment } =
  await import('../../src/runner.js')

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
  reporter.summary('Second.\n')
  expect(sizes.length).toBeGreaterThan(1)
  expect(sizes.filter((size) => !size)).toEqual([])
  expect(fs.readFileSync(file, 'utf8')).toBe('Second.\n')
})

test('a nonce is one that nobody can guess: 128 bits, and another one each time [context.fence.data]', () => {
  const nonces = Array.from({ length: 100 }, () => nonce())
  expect(new Set(nonces).size).toBe(nonces.length)
  for (const one of nonces) expect(one).toMatch(/^[\da-f]{32}$/)
})

test('by default, a run is the first attempt, on github.com [secret.key.where] [memory.identity.same-attempt]', () => {
  process.env = {}
  expect(runEnvironment()).toMatchObject({
    runAttempt: 1,
    apiUrl: 'https://api.github.com',
    serverUrl: 'https://github.com',
  })
})

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

test.each(['', undefined])(
  'without a workspace (%j), files are of the current folder [input.file.inside]',
  (value) => {
    process.env.GITHUB_WORKSPACE = value
    if (value === undefined) delete process.env.GITHUB_WORKSPACE
    expect(promptRoots()).toEqual({ workspace: process.cwd(), temp: process.env.RUNNER_TEMP ?? '' })
  },
)
