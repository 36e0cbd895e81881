// Redaction and escaping, with random texts and keys. fast-check prints the seed of a failure.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { escapeCommandLines, escapeCommands, inlineCode, oneLine, quote, truncate } from '../../src/escape.js'
import { createRedactor } from '../../src/redact.js'
import { INVISIBLE_TEXT, keys, texts } from './arbitraries.js'

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
  test('the reader of commands here reads them', () => {
    for (const line of ['::error::x', ' \u3000::a b=c::', 'x ##[error]y', '\u0085::x::']) {
      expect(isCommand(line)).toBe(true)
    }
    for (const line of ['', 'x::error::y', ':: error', '##[error', '\u200b::x::'])
      expect(isCommand(line)).toBe(false)
  })

  test('no text is a command, or more than one line, once it is escaped', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const lines = readLines(escapeCommands(text))
        expect(lines).toHaveLength(1)
        expect(lines.filter(isCommand)).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })

  test('no line of a longer text is a command', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const lines = escapeCommandLines(text)
        expect(lines).toHaveLength(readLines(text).length)
        for (const line of lines) {
          expect(readLines(line)).toHaveLength(1)
          expect(isCommand(line)).toBe(false)
        }
      }),
    )
  })

  test('what holds nothing dangerous stays as it is', () => {
    const harmless = fc.string({ unit: fc.constantFrom(...'abc XYZ 012 .,;!?()[]{}#\'"`<>|é😀') })
    fc.assert(
      fc.property(harmless, (text) => {
        fc.pre(!text.includes('##['))
        expect(escapeCommands(text)).toBe(text)
      }),
    )
  })
})

describe('texts on one line', () => {
  test('have no invisible character', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const shown of [oneLine(text), quote(text), inlineCode(text)])
          expect(shown).not.toMatch(INVISIBLE_TEXT)
      }),
    )
  })

  test('are never cut inside of a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-composite' }), fc.nat(20), (text, limit) => {
        const short = truncate(text, limit)
        expect(short.isWellFormed()).toBe(true)
        expect(short.length).toBeLessThanOrEqual(Math.max(text.length, limit + 1))
        if (text.length > limit) expect(short.at(-1)).toBe('…')
        else expect(short).toBe(text)
      }),
    )
  })
})

/** How a character may be written. One that starts an escape is always escaped, or nobody could tell what is one. */
type Escaper = (character: string, choice: number) => string

const hex = (character: string, digits: number): string =>
  character.charCodeAt(0).toString(16).padStart(digits, '0')
const percent: Escaper = (character, choice) => {
  if (choice === 0 && character !== '%') return character
  return `%${choice === 1 ? hex(character, 2).toUpperCase() : hex(character, 2)}`
}
const backslash: Escaper = (character, choice) => {
  if (choice === 0 && character !== '\\') return character
  if ('\\"/'.includes(character) && choice < 2) return `\\${character}`
  return `\\u${hex(character, 4)}`
}
const mixed: Escaper = (character, choice) => {
  if (choice === 0 && character !== '\\' && character !== '%') return character
  return choice === 1 ? percent(character, 1) : backslash(character, 2)
}
const plain: Escaper = (character) => character

/** A key, and how it is written: escaped once or twice, each character in a way of its own. */
const writtenKeys = fc
  .record({
    key: keys,
    escapers: fc.array(fc.constantFrom(plain, percent, backslash, mixed), { maxLength: 2 }),
    choices: fc.array(fc.nat(2), { minLength: 1, maxLength: 50 }),
  })
  .map(({ key, escapers, choices }) => {
    let written = key
    for (const escaper of escapers) {
      const characters = [...written]
      written = characters.map((each, at) => escaper(each, choices[at % choices.length] ?? 0)).join('')
    }
    return { key, written }
  })

describe('redaction', () => {
  test('finds the key in any form, and changes nothing else', () => {
    // Words that are in no key and can't be a part of an escape.
    const around = fc.string({ unit: fc.constantFrom(...'¡¿ äöü\n😀') })
    fc.assert(
      fc.property(writtenKeys, around, around, ({ key, written }, before, after) => {
        expect(createRedactor(key)(`${before}${written}${after}`)).toBe(`${before}***${after}`)
      }),
      { numRuns: 2000 },
    )
  })

  test('leaves no key, whatever stands around it', () => {
    fc.assert(
      fc.property(writtenKeys, texts, texts, ({ key, written }, before, after) => {
        const redacted = createRedactor(key)(`${before} ${written} ${after}`)
        expect(redacted).not.toContain(key)
        expect(redacted).not.toContain(written)
      }),
    )
  })

  test('finds each of two keys', () => {
    fc.assert(
      fc.property(keys, keys, fc.boolean(), (one, other, together) => {
        const text = together ? `${one}${other}` : `${one} ${other}`
        const redacted = createRedactor(one, '', other)(text)
        expect(redacted).not.toContain(one)
        expect(redacted).not.toContain(other)
      }),
    )
  })

  test('leaves a text without the key as it is', () => {
    fc.assert(
      fc.property(keys, texts, (key, text) => {
        fc.pre(!text.includes(key[0] ?? '') && !/[%\\]/.test(text) && text.isWellFormed())
        expect(createRedactor(key)(text)).toBe(text)
      }),
    )
  })

  test('needs no key', () => {
    fc.assert(fc.property(texts, (text) => expect(createRedactor('', '')(text)).toBe(text)))
  })

  test('keeps JSON readable that holds the key in its texts', () => {
    fc.assert(
      fc.property(keys, fc.dictionary(fc.string(), fc.string()), fc.string(), (key, object, name) => {
        const json = JSON.stringify({ ...object, [name]: `<${key}>`, [key]: name })
        // A key that is part of JSON's own marks takes them with it; then the output is left out.
        fc.pre(/[a-z]{4}/i.test(key))
        const redacted = createRedactor(key)(json)
        expect(redacted).not.toContain(key)
        expect(JSON.parse(redacted)[name] ?? '***').toContain('***')
      }),
    )
  })

  const UNKIND: [string, (length: number) => string][] = [
    ['backslashes', (length) => '\\'.repeat(length)],
    ['quotes', (length) => '"'.repeat(length)],
    ['percent signs', (length) => '%'.repeat(length)],
    ['escaped percent signs', (length) => '%25'.repeat(length / 3)],
    ['backslashes and quotes', (length) => '\\"'.repeat(length / 2)],
    ['one letter', (length) => 'a'.repeat(length)],
    ['one letter, and another at the end', (length) => `${'a'.repeat(length - 1)}b`],
    ['escapes of JSON', (length) => '\\u005c'.repeat(length / 6)],
  ]
  // Each with itself, and with the one after it.
  const rows = UNKIND.flatMap(([keyName, makeKey], index) =>
    [...UNKIND, ...UNKIND]
      .slice(index, index + 2)
      .map(([textName, makeText]) => ({ keyName, makeKey, textName, makeText })),
  )
  test.each(rows)(
    'takes linear time for a key of $keyName in a text of $textName',
    ({ makeKey, makeText }) => {
      const time = (size: number): number => {
        const redact = createRedactor(makeKey(size / 10))
        const text = makeText(size)
        return Math.min(...[1, 2, 3].map(() => cpuTime(() => redact(text))))
      }
      const size = 12_000
      time(size) // Compiles it.
      // Linear is 4, quadratic is 16.
      expect(time(4 * size)).toBeLessThan(10 * Math.max(time(size), 1))
    },
  )
})

/** In milliseconds; unlike the time on the clock, it does not grow with what else the machine does. */
function cpuTime(call: () => void): number {
  const before = process.cpuUsage()
  call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
