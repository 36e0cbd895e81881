// Texts from outside in logs and Markdown, with random texts. fast-check prints the seed of a failure.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { escapeCommandLines, escapeCommands, inlineCode, oneLine, quote } from '../../src/text/escape.js'
import { INVISIBLE_TEXT, texts } from './arbitraries.js'

/** The characters that .NET's TrimStart removes (learn.microsoft.com, Char.IsWhiteSpace). */
const BLANKS = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*/

/** As actions/runner reads a line (src/Runner.Common/ActionCommand.cs), whatever the command's name is. */
function isCommand(line: string): boolean {
  const trimmed = line.replace(BLANKS, '')
  const isNew = trimmed.startsWith('::') && trimmed.indexOf('::', 2) >= 0
  const old = line.indexOf('##[')
  return isNew || (old >= 0 && line.indexOf(']', old) >= 0)
}

/** As .NET's StreamReader.ReadLine. */
const readLines = (text: string): string[] => text.split(/\r\n|\r|\n/)

describe('commands', () => {
  test('the reader of commands here reads them, and escaped they are none', () => {
    const blanks = [...'\t\v\f\r \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000']
    const texts = ['x ##[error]y', '###[error]y', 'a\r::set-output name=a::x', ' \t \u3000::a b=c::']
    for (const text of [...texts, ...blanks.map((blank) => `${blank}::error::x`)]) {
      expect(readLines(text).some(isCommand)).toBe(true)
      expect([escapeCommands(text), ...escapeCommandLines(text)].some(isCommand)).toBe(false)
    }
    for (const line of ['', 'x::error::y', ':: error', '##[error', '\u200b::x::'])
      expect(isCommand(line)).toBe(false)
  })

  test('no text is a command, or one more line, once it is escaped', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const lines = escapeCommandLines(text)
        expect(lines).toHaveLength(readLines(text).length)
        for (const line of [escapeCommands(text), ...lines]) {
          expect(readLines(line)).toHaveLength(1)
          expect(isCommand(line)).toBe(false)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

test('a text on one line has no invisible character', () => {
  fc.assert(
    fc.property(texts, (text) => {
      for (const shown of [oneLine(text), quote(text), inlineCode(text)])
        expect(shown).not.toMatch(INVISIBLE_TEXT)
    }),
  )
})
