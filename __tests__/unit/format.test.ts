/** Lengths of time and numbers, in words. */

import { describe, expect, test } from '@jest/globals'
import { formatCount, formatDuration, formatInteger, joinSentences, shortSha } from '../../src/format.js'

describe('formatDuration', () => {
  test.each([
    [0, '0 ms'],
    [0.9, '0 ms'],
    [850, '850 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [999.9, '999 ms'],
    [1999, '1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [61_000, '1 min 1 s'],
    [200_000, '3 min 20 s'],
    [3_599_000, '59 min 59 s'],
    [3_599_999, '59 min 59 s'],
    [3_600_000, '1 h'],
    [7_500_000, '2 h 5 min'],
    [7_559_999, '2 h 5 min'],
    [86_400_000, '24 h'],
    [3_599_999_999, '999 h 59 min'],
    [3_600_000_000, 'over 1,000 h'],
    [Number.POSITIVE_INFINITY, 'over 1,000 h'],
    [Number.NaN, 'over 1,000 h'],
  ])('%d ms is %s', (milliseconds, words) => {
    expect(formatDuration(milliseconds)).toBe(words)
  })
})

describe('formatInteger', () => {
  test.each([0, 7, 100, 999, 1000, 12_345, 123_456, 1_048_576, 1_234_567_890])(
    '%d has thousands separators',
    (value) => {
      expect(formatInteger(value)).toBe(value.toLocaleString('en'))
    },
  )
})

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [2, '2 files'],
  [1001, '1,001 files'],
])('formatCount writes %d as %s', (value, words) => {
  expect(formatCount(value, 'file')).toBe(words)
})

test('joinSentences leaves out what is empty', () => {
  expect(joinSentences('', 'One.', '', 'Two.')).toBe('One. Two.')
  expect(joinSentences('', '')).toBe('')
})

test('shortSha is the start of a SHA', () => {
  expect(shortSha('0123456789abcdef0123456789abcdef01234567')).toBe('0123456')
})
