/** Steps that wait don't poll in step: the adaptive interval is spread, a fixed one is kept. */

import { describe, expect, test } from '@jest/globals'
import { pollDelay } from '../../src/run/poll.js'

const spread = (elapsedMs: number, fixedMs?: number): number[] =>
  [0, 0.25, 0.5, 0.75, 1].map((random) => pollDelay(elapsedMs, fixedMs, random)).sort((a, b) => a - b)

describe('an adaptive interval is spread by 10 % either way', () => {
  test.each([
    [0, 5_000],
    [50_000, 5_000],
    [90_000, 9_000],
    [120_000, 12_000],
    [3_600_000, 12_000],
  ])('%s ms after the start, around %s ms', (elapsedMs, middle) => {
    const delays = spread(elapsedMs)
    expect(delays[0]).toBeCloseTo(middle * 0.9)
    expect(delays[2]).toBeCloseTo(middle)
    expect(delays[4]).toBeCloseTo(middle * 1.1)
    expect(new Set(delays.map(Math.round)).size).toBe(delays.length)
  })
})

test.each([100, 5_000, 3_600_000])('a fixed interval of %s ms is kept', (fixedMs) => {
  expect(spread(60_000, fixedMs)).toEqual(Array(5).fill(fixedMs))
})
