/** Time and connections: how long to wait, until when, which proxy, and V8's flag. */

import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { parseRetryAfter, retryDelay } from '../../src/net/backoff.js'
import { createDeadline, waitForAbort } from '../../src/net/deadline.js'
import { proxyFor as findProxy, proxyVariable } from '../../src/net/proxy.js'
import { FakeClock } from './fake-clock.js'

describe('Retry-After [send.limited]', () => {
  const NOW = new Date('2025-03-01T12:00:00Z')

  test.each([
    ['0', 0],
    [' 5 ', 5000],
    ['1.25', 1250],
    ['Sat, 01 Mar 2025 12:00:30 GMT', 30_000],
    ['Saturday, 01-Mar-25 12:00:30 GMT', 30_000],
    ['Sat, 01 Mar 2025 07:00:30 -0500', 30_000],
    ['Sat, 01 Mar 2025 11:59:59 GMT', 0],
  ])('%j is %d ms', (header, milliseconds) => {
    expect(parseRetryAfter(header, NOW)).toBe(milliseconds)
  })

  test('of more digits than a number has is longer than any deadline', () => {
    expect(parseRetryAfter('9'.repeat(400), NOW)).toBe(Number.POSITIVE_INFINITY)
  })

  test.each([
    ...[undefined, ' ', '1e3', '0x10', '1.5 s', 'soon', 'Infinity'],
    '1 Sat, 01 Mar 2025 12:00:30 GMT',
    'Sat, 99 Mar 2025 99:99:99 GMT',
  ])('%j is neither seconds nor an HTTP date', (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined()
  })
})

describe('the wait before a retry [send.limited]', () => {
  const delays = (retryAfterMs: number | undefined, attempts: number) =>
    [0, 0.5, 1].map((random) => retryDelay({ retryAfterMs, capMs: 10_000 }, attempts, random))

  test.each([
    [1, 500, 1000],
    [4, 4000, 8000],
    [5, 5000, 10_000],
    [2000, 5000, 10_000],
  ])('after attempt %d is %d to %d ms, up to the cap', (attempts, minDelayMs, maxDelayMs) => {
    const expected = [minDelayMs, (minDelayMs + maxDelayMs) / 2, maxDelayMs].map((delayMs) => ({
      minDelayMs,
      delayMs,
    }))
    expect(delays(undefined, attempts)).toEqual(expected)
    expect(delays(0, attempts)).toEqual(expected)
  })

  test.each([
    [1, 1000],
    [600_000, 600_000],
  ])('if asked for %d ms is at least %d ms, up to a quarter more', (retryAfterMs, minDelayMs) => {
    const expected = [1, 1.125, 1.25].map((factor) => ({
      minDelayMs,
      delayMs: minDelayMs * factor,
    }))
    for (const attempts of [1, 7]) expect(delays(retryAfterMs, attempts)).toEqual(expected)
  })
})

describe('a deadline [net.deadline]', () => {
  const never = new AbortController().signal

  test.each([
    ['is ahead', Infinity, 4999, [false, false, 1]],
    ['has passed', Infinity, 5000, [true, false, 0]],
    ['has long passed', Infinity, 9000, [true, false, 0]],
    ['was cancelled', 1000, 1000, [true, true, 4000]],
    ['was cancelled and has passed', 1000, 9000, [true, true, 0]],
    ['was cancelled only after it had passed', 6000, 6000, [true, false, 0]],
    ['was cancelled at once', 0, 0, [true, true, 5000]],
    ['was cancelled at once and has passed', 0, 9000, [true, true, 0]],
  ])(
    'of 5 s knows that it %s: cancelled at %d ms, seen at %d ms',
    async (_, cancelAt, now, expected) => {
      const clock = new FakeClock()
      const cancel = new AbortController()
      if (cancelAt === 0) cancel.abort()
      const deadline = createDeadline(5000, cancel.signal, clock)
      if (cancelAt > 0) await clock.sleep(Math.min(cancelAt, now), never)
      if (cancelAt <= now) cancel.abort() // Which takes effect at once.
      if (cancelAt < now) await clock.sleep(now - cancelAt, never)
      expect([deadline.signal.aborted, deadline.cancelled(), deadline.remainingMs()]).toEqual(
        expected,
      )
    },
  )
})

test('a deadline that is ended keeps nothing [net.deadline]', async () => {
  const [clock, cancel] = [new FakeClock(), new AbortController()]
  const deadline = createDeadline(5000, cancel.signal, clock)
  deadline.end()
  expect(getEventListeners(cancel.signal, 'abort')).toEqual([])
  await clock.sleep(6000, new AbortController().signal)
  expect(deadline.signal.aborted).toBe(false)
})

test.each(['aborted', 'cancelled'])(
  'a deadline that is %s listens no more [net.deadline]',
  (how) => {
    const cancel = new AbortController()
    const { abort } = createDeadline(5000, cancel.signal, new FakeClock())
    if (how === 'aborted') abort('')
    else cancel.abort()
    expect(getEventListeners(cancel.signal, 'abort')).toEqual([])
  },
)

test('whoever waits for a signal that is aborted already goes on [net.deadline]', async () => {
  expect(await waitForAbort(AbortSignal.abort())).toBeUndefined()
})

describe('the proxy [net.proxy]', () => {
  const SERVICE = new URL('https://api.example.com/v1')
  const PROXY = 'http://proxy:1'
  const proxyFor = (url: URL, proxy: string) =>
    findProxy(url, { proxy, unverifiedTlsRequested: false })

  afterEach(() => {
    delete process.env.NO_PROXY
  })

  const ALL = { HTTP_PROXY: 'a', http_proxy: 'b', HTTPS_PROXY: 'c', NO_PROXY: 'e' }
  test.each([
    [{ ...ALL, https_proxy: 'd' }, 'd'],
    [ALL, 'c'],
    [{ HTTPS_PROXY: ' \t', HTTP_PROXY: 'a', http_proxy: ' b\n' }, 'b'],
    [{ HTTP_PROXY: 'a' }, 'a'],
    [{ PATH: 'a', MY_HTTPS_PROXY: 'b' }, ''],
  ])('is read from %j: %j', (environment, value) => {
    expect(proxyVariable(environment)).toBe(value)
  })

  test.each([
    ['', undefined],
    ['https://user:pass@proxy.example.com', 'https://user:pass@proxy.example.com/'],
    ['proxy.example.com:3128', 'http://proxy.example.com:3128/'],
  ])('with the variable %j is %s', (value, proxy) => {
    expect(proxyFor(SERVICE, value)?.href).toBe(proxy)
  })

  test('is none for loopback, and for a host in NO_PROXY whatever the variable is', () => {
    process.env.NO_PROXY = 'example.com'
    for (const value of [PROXY, 'socks5://proxy:1'])
      expect(proxyFor(SERVICE, value)).toBeUndefined()
    expect(proxyFor(new URL('https://example.org'), PROXY)?.host).toBe('proxy:1')
    expect(proxyFor(new URL('http://127.0.0.1:8080'), PROXY)).toBeUndefined()
  })

  test.each(['socks5://proxy:1', 'xhttp://proxy:1', 'httpsx://proxy:1', 'a b'])(
    'can not be %j, which ends the step rather than bypassing it',
    (value) => {
      expect(() => proxyFor(SERVICE, value)).toThrow(
        expect.objectContaining({
          code: 'network',
          message: 'HTTPS_PROXY (or HTTP_PROXY) is not a valid HTTP proxy URL.',
          advice:
            'Use http://host:port or http://user:password@host:port, or list the host in NO_PROXY.',
        }),
      )
    },
  )
})

describe("V8's flag", () => {
  const setFlagsFromString = jest.fn<(flags: string) => void>()
  // A built-in module, not one of the project's: a flag can be set, but neither read back nor
  // reset.
  jest.unstable_mockModule('node:v8', () => ({ setFlagsFromString }))
  const major = process.versions.node.split('.')[0] ?? ''
  const using = /using: node(\d+)/.exec(readFileSync('action.yml', 'utf8'))?.[1]

  test.each<[string | undefined, boolean]>([
    ...['20.0.0', `${using}.0.0`].map((version): [string, boolean] => [version, true]),
    ...['', '2.0.0', '19.9.0', '22.12.0', '240.1.0'].map((version): [string, boolean] => [
      version,
      false,
    ]),
    // The running version.
    [undefined, ['20', '24'].includes(major)],
  ])('on Node %s, it is set: %j [net.cheap]', async (version, isSet) => {
    setFlagsFromString.mockClear()
    const { skipWasmOptimization } = await import('../../src/net/v8.js')
    skipWasmOptimization(version)
    expect(setFlagsFromString.mock.calls).toEqual(
      isSet ? [['--wasm-tiering-budget=1000000000']] : [],
    )
  })
})
