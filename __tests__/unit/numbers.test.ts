import { expect, test } from '@jest/globals'
import { formatInteger } from '../../src/format.js'

test.each([0, 7, 100, 999, 1000, 12_345, 123_456, 1_048_576, 1_234_567_890])(
  '%d has its thousands apart',
  (value) => {
    expect(formatInteger(value)).toBe(value.toLocaleString('en'))
  },
)
