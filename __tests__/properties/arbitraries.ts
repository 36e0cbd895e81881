// Random texts and keys, with what is dangerous in them more often than chance would have it.

import fc from 'fast-check'

/** Controls, format characters but the joiner of emoji, and line separators. */
export const INVISIBLE_TEXT = /(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029]/u

const PIECES = [
  ...['::', '::error::', '::error file=a::', '##[', '##[error]', '%0A', '%3A', '\\u003a', '&#58;', '&amp;'],
  ...['\u001b[0m', '\ud800', '\udc00', '```', '<b>', '@a'],
  ...':#[] \t\r\n\v\f\u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u3000\ufeff\u200b\u202e\u00ad\0`|\\*_~a',
]

/** Any text, of random characters and of what is dangerous. */
export const texts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(''))

/** What a key may consist of: printable ASCII, with what escapes need more often. */
export const keys: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    { weight: 2, arbitrary: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) },
    { weight: 1, arbitrary: fc.constantFrom(...'\\"/%u0f5cC2') },
  ),
  minLength: 4,
  maxLength: 60,
})
