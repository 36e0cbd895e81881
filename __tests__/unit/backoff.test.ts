// How long to wait before a retry.
import { describe, expect, test } from '@jest/globals'
import { parseRetryAfter, retryDelay } from '../../src/net/backoff.js'

const NOW = new Date('2025-03-01T12:00:00Z')

describe('parseRetryAfter', () => {
  test.each([
    ['0', 0],
    ['1', 1000],
    ['120', 120_000],
    [' 5 ', 5000],
    ['1.5', 1500],
    ['1.25', 1250],
    ['Sat, 01 Mar 2025 12:00:30 GMT', 30_000],
    ['Saturday, 01-Mar-25 12:00:30 GMT', 30_000],
    ['Sat, 01 Mar 2025 07:00:30 -0500', 30_000],
    ['Sat, 01 Mar 2025 07:00:30 -05:00', 30_000],
    ['Sat, 01 Mar 2025 12:00:30 pm', 30_000],
    ['Sat, 01 Mar 2025 12:00:00 GMT', 0],
    ['Sat, 01 Mar 2025 11:59:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('%j is %d ms', (header, milliseconds) => {
    expect(parseRetryAfter(header, NOW)).toBe(milliseconds)
  })

  test.each([
    undefined,
    '',
    ' ',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1 s',
    '1.',
    '.5',
    '1.5 s',
    's 1.5',
    '- Sat, 01 Mar 2025 12:00:30 GMT',
    '1 Sat, 01 Mar 2025 12:00:30 GMT',
    'Sat, 01 Mar 2025',
    '1,5',
    '1, 2',
    '.',
    'soon',
    'NaN',
    'Infinity',
    'Sat, 99 Mar 2025 99:99:99 GMT',
    '2025-03-01T12:00:30Z',
    'March',
  ])('%j is neither seconds nor an HTTP date', (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined()
  })

  test('a date in the oldest format is in GMT, wherever the runner is', () => {
    expect(new Date(NOW).getTimezoneOffset()).not.toBe(0) // In UTC this test could not fail: see support/global-setup.ts.
    expect(parseRetryAfter('Sat Mar  1 12:00:30 2025', NOW)).toBe(30_000)
    expect(parseRetryAfter('Sat Mar 15 12:00:00 2025', NOW)).toBe(14 * 24 * 3_600_000)
  })

  test('a number too large to be represented is longer than any deadline', () => {
    expect(parseRetryAfter('9'.repeat(400), NOW)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('retryDelay', () => {
  const exponential = { retryAfterMs: undefined, capMs: 10_000 }

  test.each([
    [1, 500, 1000],
    [2, 1000, 2000],
    [3, 2000, 4000],
    [4, 4000, 8000],
    [5, 5000, 10_000],
    [6, 5000, 10_000],
    [2000, 5000, 10_000],
  ])('after attempt %d waits %d to %d ms, up to the cap', (attempts, minDelayMs, maxDelayMs) => {
    expect(retryDelay(exponential, attempts, 0)).toEqual({ minDelayMs, delayMs: minDelayMs })
    expect(retryDelay(exponential, attempts, 1)).toEqual({ minDelayMs, delayMs: maxDelayMs })
    expect(retryDelay(exponential, attempts, 0.5).delayMs).toBe((minDelayMs + maxDelayMs) / 2)
  })

  test.each([
    [1, 1000],
    [999, 1000],
    [1000, 1000],
    [60_000, 60_000],
    [600_000, 600_000],
  ])(
    'if the service asks for %d ms, waits at least %d ms, and up to a quarter more',
    (retryAfterMs, minDelayMs) => {
      for (const attempts of [1, 7]) {
        expect(retryDelay({ retryAfterMs, capMs: 10_000 }, attempts, 0)).toEqual({
          minDelayMs,
          delayMs: minDelayMs,
        })
        expect(retryDelay({ retryAfterMs, capMs: 10_000 }, attempts, 1)).toEqual({
          minDelayMs,
          delayMs: minDelayMs * 1.25,
        })
      }
    },
  )

  test('if the service asks for 0 ms, backs off as if it asked for nothing', () => {
    for (const attempts of [1, 2, 7]) {
      expect(retryDelay({ retryAfterMs: 0, capMs: 10_000 }, attempts, 0.5)).toEqual(
        retryDelay({ retryAfterMs: undefined, capMs: 10_000 }, attempts, 0.5),
      )
    }
  })
})
