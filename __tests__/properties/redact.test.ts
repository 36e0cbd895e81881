// Redaction, with random texts and keys. fast-check prints the seed of a failure.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createRedactor } from '../../src/text/redact.js'
import { keys, texts } from './arbitraries.js'

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
const entity: Escaper = (character, choice) => {
  if (choice === 0 && character !== '&' && character !== '%') return character
  return choice === 1 ? `&#${character.charCodeAt(0)};` : `&#x${hex(character, 2)};`
}
const plain: Escaper = (character) => character

/** A key, and how it is written: escaped once or twice, each character in a way of its own. */
const writtenKeys = fc
  .record({
    key: keys,
    escapers: fc.array(fc.constantFrom(plain, percent, backslash, mixed, entity), { maxLength: 2 }),
    choices: fc.array(fc.nat(2), { minLength: 1, maxLength: 50 }),
  })
  .map(({ key, escapers, choices }) => {
    const respell = (text: string, escaper: Escaper): string =>
      [...text].map((each, at) => escaper(each, choices[at % choices.length] ?? 0)).join('')
    const write = (text: string): string => escapers.reduce(respell, text)
    return { key, write, written: write(key) }
  })

describe('redaction', () => {
  test('finds the key in any form, and changes nothing else', () => {
    // Words that are in no key and can't be a part of an escape.
    const around = fc.string({ unit: fc.constantFrom(...'¡¿ äöü\n😀') })
    fc.assert(
      fc.property(writtenKeys, around, around, ({ key, written }, before, after) => {
        const redacted = createRedactor(key)(`${before}${written} ${written}${after}`)
        expect(redacted).toBe(`${before}*** ***${after}`)
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

  test('finds the start of a key that is cut off anywhere, if it is long enough', () => {
    fc.assert(
      fc.property(writtenKeys, fc.nat(), ({ key, write, written }, at) => {
        fc.pre(key.length > 8)
        const start = write(key.slice(0, 8))
        const length = start.length + (at % (written.length - start.length))
        const redacted = createRedactor(key)(`see ${written.slice(0, length)}`)
        expect(redacted.slice(0, 7)).toBe('see ***') // What is left of an escape may stay.
      }),
      { numRuns: 1000 },
    )
  })

  test('leaves a text without the key as it is, and each text if there is no key', () => {
    fc.assert(
      fc.property(keys, texts, (key, text) => {
        expect(createRedactor('', '')(text)).toBe(text)
        fc.pre(!text.includes(key[0] ?? '') && !/[%\\]/.test(text) && text.isWellFormed())
        expect(createRedactor(key)(text)).toBe(text)
      }),
    )
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

  test.each([
    ['words', (length: number) => 'mint_key '.repeat(length / 9)],
    ['starts of the key', (length: number) => 'mint_a/b"c'.repeat(length / 10)],
    ['backslashes', (length: number) => '\\'.repeat(length)],
    ['percent signs', (length: number) => '%'.repeat(length)],
    ['entities without an end', (length: number) => '&#'.repeat(length / 2)],
    ['escapes of escapes', (length: number) => '\\u005c%255c&amp;'.repeat(length / 16)],
  ])('takes linear time for a text of %s', (_, makeText) => {
    const redact = createRedactor('mint_a/b"c\\d%e&f0123456789')
    const time = (size: number): number => {
      const text = makeText(size)
      return Math.min(...[1, 2, 3].map(() => cpuTime(() => redact(text))))
    }
    const size = 10_000
    time(size) // Compiles it.
    // Linear is 4, quadratic is 16.
    expect(time(4 * size)).toBeLessThan(10 * Math.max(time(size), 10))
  })
})

/** In milliseconds; unlike the time on the clock, it does not grow with what else the machine does. */
function cpuTime(call: () => void): number {
  const before = process.cpuUsage()
  call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
