/**
 * The key is redacted in every spelling, and nothing else is; the simulation has random keys,
 * escaped at random.
 */

import { inspect } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { createRedactor, hideService } from '../../src/text/redact.js'

describe('redaction [secret.redacted]', () => {
  const KEY = 'mint_a/b+c."k\\z=[1](2)*$^?{3}|&<~'

  test.each([
    ['as it is', 'see mint_a/b', 'see ***'],
    ['escaped', 'see mint\\u005fa%2fb', 'see ***'],
    ['after a whole one', `${KEY} mint_a/b+c`, '*** ***'],
    ['after a part of it that starts it again', 'mint_a/mint_a/b+', 'mint_a/***'],
    ['of fewer bytes, which says nothing', 'see mint_a/', 'see mint_a/'],
    ['in the middle', 'see mint_a/b+… in the log', 'see ***… in the log'],
  ])('replaces the start of a cut-off key, unless the text is whole: %s', (_, text, redacted) => {
    const redact = createRedactor(KEY)
    expect(redact(text)).toBe(redacted)
    expect(redact(text, true)).toBe(text.replace(KEY, '***'))
  })

  test('the start of every key of a kind is replaced only with some of what follows it', () => {
    const redact = createRedactor('github_pat_11ABCDEFG0', 'mint_dsc_1234')
    expect(redact('github_pages, mint_dsc_…, github_pat_11AB…')).toBe(
      'github_pages, mint_dsc_…, ***…',
    )
  })

  const code = (character: string): string => character.charCodeAt(0).toString(16)
  const percent = (character: string): string => `%${code(character)}`
  const entity = (character: string): string => `&#x${code(character)};`
  test.each([
    ['percent-encoded', percent],
    ['a decimal entity', (character: string) => `&#${character.charCodeAt(0)};`],
    ['a hexadecimal entity', entity],
    [
      'a named entity',
      (character: string) => ({ '&': '&amp;', '<': '&lt;' })[character] ?? character,
    ],
    ['as in a JSON string', (character: string) => JSON.stringify(character).slice(1, -1)],
    ['\\u in a JSON string', (character: string) => `\\u00${code(character)}`],
    ['percent-encoded twice', (character: string) => encodeURIComponent(percent(character))],
    ['a percent-encoded entity', (character: string) => encodeURIComponent(entity(character))],
    [
      'percent-encoded in entities',
      (character: string) => [...percent(character)].map(entity).join(''),
    ],
  ])('replaces the start of a key that is cut off inside of an escape: %s', (_, write) => {
    const redact = createRedactor(KEY)
    const written = [...KEY].map(write)
    for (const [index, character] of written.entries()) {
      if (index < 8) continue
      const before = `see ${written.slice(0, index).join('')}`
      const cuts = Array.from(character, (_, length) => before + character.slice(0, length))
      // What is left of an escape may stay.
      for (const text of cuts) expect([text, redact(text).slice(0, 7)]).toEqual([text, 'see ***'])
    }
  })

  test.each([
    ['with a named entity', '<a>&"\'', '&lt;a&gt;&amp;&quot;&apos;', '***'],
    ['beyond U+FFFF', 'k😀', 'k&#128512;', '***'],
    ['with the last character', 'k\u{10ffff}', 'k&#1114111;', '***'],
    ['with a capital X and digits in both cases', 'kJK', 'k&#X4a;&#x4B;', '***'],
    ['whose name means something to JavaScript', 'ktoString', 'k&toString;', 'k&toString;'],
    ['beyond Unicode', 'k', '&#1114112;&#x110000;', '&#1114112;&#x110000;'],
    ['that has no end', 'kk', '&#107&#107', '&#107&#107'],
    ['that is empty', 'kk', '&;&#;&#x;k', '&;&#;&#x;k'],
    ['that ends too late', 'kk', '&#000000107;k', '&#000000107;k'],
    ['with a sign', 'kk', '&#+107;k&# 107;k', '&#+107;k&# 107;k'],
    ['escaped twice', 'k+k', 'k%26%2343%3Bk', '***'],
    ['without its ampersand', 'k', 'a#107;', 'a#107;'],
    ['with more in front of the number', 'k', '&a#107;', '&a#107;'],
    ['with more behind the number', 'k', '&#107x;', '&#107x;'],
    ['that is in the key itself, beside an escaped quote', '&lt;"', '&lt;\\"', '***'],
  ])('decodes an entity %s', (_, key, text, redacted) => {
    expect(createRedactor(key)(text)).toBe(redacted)
  })

  test.each([
    ['with an escape in it, escaped in another way', 'a%6b"c', 'a%6b\\"c', '***'],
    ['with a backslash in it, percent-encoded', 'a\\"b', 'a\\"%62', '***'],
    ['escaped in two ways, each of which hides the other', '\\"k%41', '%5c"k\\u002541', '***'],
    ['behind a percent sign that escapes nothing', 'kkk', '%kk%6b', '%***'],
    ['escaped as JSON four times', 'a"b', `a${'\\'.repeat(15)}"b`, '***'],
    ['percent-encoded four times', 'ab', '%25252561b', '***'],
    ['in two ways, twice', 'ab', '%26#97;\\u005cu0062', '***'],
    ['with a capital U', 'kk', '\\U006b\\U006B', '***'],
    ['beside other letters', 'kk', 'für kk 日本', 'für *** 日本'],
    ['with the first character beyond U+FFFF', 'k\u{10000}k', 'k\\ud800\\udc00k', '***'],
    ['with the last character', 'k\u{10ffff}k', 'k\\udbff\\udfffk', '***'],
    ['before half a character', 'kk', '\\u006b\\u006b\\udc00', '***\\udc00'],
    [
      'with a character beyond the halves, before half a one',
      'k\ue000',
      'k\\ue000\\udc00',
      '***\\udc00',
    ],
    ['after half a character', 'kkk', '\\ud800\\u006bkk', '\\ud800***'],
    ['after half a character, beyond the halves', '\ue000kk', '\\ud800\\ue000kk', '\\ud800***'],
    ['that overlaps itself', 'abab', 'xababab', 'x***'],
  ])('replaces a key %s', (_, key, text, redacted) => {
    expect(createRedactor(key)(text)).toBe(redacted)
  })

  test.each([
    ['what the key would match as a pattern', '.*[ab](a)|^a?$', 'a'],
    ['a part that is too short', 'mint_key', 'mint_ke'],
    ['another case', 'mint_key', 'MINT_KEY'],
    ['a percent sign that escapes nothing', 'mint_key', 'mint%6zkey'],
    ['an escape that JSON has not', 'mint_key', 'mint\\x005fkey'],
    ['half a character', 'mint_key', 'half a character: \ud83d'],
    ['a half without its backslash', 'k😀', 'k\\ud83d/ude00'],
    ['a half that is none', 'k😀', 'k\\ud83d\\xde00'],
    ['a percent sign apart from its digits', 'abc', '% aX62c'],
  ])('leaves what is not the key as it is: %s', (_, key, text) => {
    expect(createRedactor(key)(text)).toBe(text)
  })

  test('replaces each of several keys', () => {
    const redact = createRedactor('mint_key', '', 'ghs_token')
    expect(redact('ghs_token, mint_key, mint_keyghs_token')).toBe('***, ***, ******')
  })
})

test('the key is redacted in a debug line that shows an error with a response in JSON [secret.redacted]', () => {
  const key = `mint_a'b"c\`d\\e/f\\'g`
  const redact = createRedactor(key)
  for (const data of [key, JSON.stringify({ error: key })]) {
    expect(redact(inspect({ data }))).not.toMatch(/mint_a|\\'g/)
  }
})

describe('redaction of a long text [text.cheap]', () => {
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

/**
 * In milliseconds; unlike the time on the clock, it does not grow with what else the machine does.
 */
function cpuTime(call: () => void): number {
  const before = process.cpuUsage()
  call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test('each place that names the service or the project is hidden, and nothing else [report.comment.private]', () => {
  const service = { baseUrl: 'https://api.example/v1', projectId: 'a.b' }
  const text =
    '302 to "https://x.example", 201, Location "/a.b/job/1", 1234 to "c", "a.b" and "a.b, acb, a.b-c", a.b: "ENOTFOUND api.example"'
  expect(hideService(text, service, '')).toBe(
    '302 to another address, 201, Location "/***/job/1", 1234 to "c", "***" and "***, acb, a.b-c", a.b: "ENOTFOUND ***"',
  )
})

test("its address is hidden, but no word of the action's own, nor a docs job's id [report.comment.private]", () => {
  const service = { baseUrl: 'https://docs', projectId: 'acme' }
  const text =
    'To wait for docs job "acme:42", run a step with "job-id: acme:42": "connect ECONNREFUSED 127.0.0.1:9", "connect ECONNREFUSED ::1:9", "docs acme"'
  expect(hideService(text, service, 'acme:42')).toBe(
    'To wait for docs job "acme:42", run a step with "job-id: acme:42": "connect ECONNREFUSED ***:9", "connect ECONNREFUSED ***", "*** ***"',
  )
})
