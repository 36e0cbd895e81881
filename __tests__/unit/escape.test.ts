/** Text from outside: the key is redacted in every spelling, and nothing remains that a log or Markdown acts on. */

import { inspect } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { escapeCommandLines, escapeCommands, inlineCode, oneLine, quote, truncate } from '../../src/escape.js'
import { createRedactor } from '../../src/redact.js'

const hex = (character: string): string => character.charCodeAt(0).toString(16)
const percent = (text: string): string => text.replace(/[\s\S]/g, (c) => `%${hex(c).padStart(2, '0')}`)
const unicode = (text: string): string => text.replace(/[\s\S]/g, (c) => `\\u${hex(c).padStart(4, '0')}`)

describe('createRedactor', () => {
  const KEY = 'mint_a/b+c."k\\z=[1](2)*$^?{3}|&<~'

  test.each([
    ['as it is', KEY],
    ['percent-encoded as in a URL', encodeURIComponent(KEY)],
    ['percent-encoded in lower case', encodeURIComponent(KEY).toLowerCase()],
    ['with every character percent-encoded, upper case', percent(KEY).toUpperCase()],
    ['with every character percent-encoded, lower case', percent(KEY)],
    ['partly percent-encoded', percent(KEY.slice(0, 9)) + KEY.slice(9)],
    ['as a JSON string', JSON.stringify(KEY).slice(1, -1)],
    ['as a JSON string with the slash escaped', JSON.stringify(KEY).slice(1, -1).replace('/', '\\/')],
    ['with every character as \\u, lower case', unicode(KEY)],
    [
      'with every character as \\u, upper case digits',
      unicode(KEY).replace(/[a-f]/g, (c) => c.toUpperCase()),
    ],
    ['as HTML', KEY.replace(/[&<"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '"': '&quot;' })[c] ?? '')],
    ['with every character as a decimal entity', KEY.replace(/[\s\S]/g, (c) => `&#${c.charCodeAt(0)};`)],
    ['with every character as a hexadecimal entity', KEY.replace(/[\s\S]/g, (c) => `&#x${hex(c)};`)],
    ['partly escaped as in JSON', unicode(KEY.slice(0, 5)) + KEY.slice(5)],
    ['in a mix of spellings', percent(KEY[0] ?? '') + unicode(KEY[1] ?? '') + KEY.slice(2)],
  ])('replaces each occurrence of a key %s', (_, spelling) => {
    expect(createRedactor(KEY)(`a ${spelling} b ${spelling} c`)).toBe('a *** b *** c')
    expect(createRedactor(KEY)(spelling)).toBe('***')
  })

  test.each([
    ['as it is', 'see mint_a/b', 'see ***'],
    ['escaped', 'see mint\\u005fa%2fb', 'see ***'],
    ['after a whole one', `${KEY} mint_a/b+c`, '*** ***'],
    ['after a part of it that starts it again', 'mint_a/mint_a/b+', 'mint_a/***'],
    ['of fewer bytes, which says nothing', 'see mint_a/', 'see mint_a/'],
    ['but is not cut off', 'mint_a/b.', 'mint_a/b.'],
  ])(
    'replaces the start of a key at the end of a text, which may have been cut off: %s',
    (_, text, redacted) => {
      expect(createRedactor(KEY)(text)).toBe(redacted)
    },
  )

  test.each([
    ['see mint_a/b', 'see ***'],
    ['see mint_a/b+', 'see ***'],
    [`${KEY} mint_a/b`, '*** ***'],
  ])('leaves the start of a key at the end of a text that is whole: %j', (text, cutOff) => {
    const redact = createRedactor(KEY)
    expect(redact(text)).toBe(cutOff)
    expect(redact(text, true)).toBe(text.replace(KEY, '***'))
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
    ['with an emoji', 'k😀', '\\u006b\\ud83d\\ude00', '***'],
    ['with the first character beyond U+FFFF', 'k\u{10000}k', 'k\\ud800\\udc00k', '***'],
    ['with the last character', 'k\u{10ffff}k', 'k\\udbff\\udfffk', '***'],
    ['before half a character', 'kk', '\\u006b\\u006b\\udc00', '***\\udc00'],
    ['with a character beyond the halves, before half a one', 'k\ue000', 'k\\ue000\\udc00', '***\\udc00'],
    ['after half a character', 'kkk', '\\ud800\\u006bkk', '\\ud800***'],
    ['after half a character, beyond the halves', '\ue000kk', '\\ud800\\ue000kk', '\\ud800***'],
    ['after a part of it', 'aaab', 'aaaab', 'a***'],
    ['after a longer part of it', 'aabaac', 'aabaabaac', 'aab***'],
    ['before a part of it', 'aabaac', 'aabaacbaac', '***baac'],
    ['that overlaps itself', 'abab', 'xababab', 'x***'],
    ['before the end of it', 'aab', 'aabab', '***ab'],
    ['before one with another first character', 'aab', 'aab cab', '*** cab'],
  ])('replaces a key %s', (_, key, text, redacted) => {
    expect(createRedactor(key)(text)).toBe(redacted)
  })

  test.each([
    ['a.b', 'axb'],
    ['a*b', 'aab'],
    ['a+', 'aa'],
    ['[ab]', 'a'],
    ['(a)', 'a'],
    ['a|b', 'a'],
    ['^a$', 'a'],
    ['a?b', 'b'],
    ['\\d', '7'],
    ['mint_key', 'mint_ke'],
    ['mint_key', 'MINT_KEY'],
    ['mint_key', 'mint%6zkey'],
    ['mint_key', 'mint\\x005fkey'],
    ['mint_key', 'half a character: \ud83d'],
    ['k😀', 'k\\ud83d/ude00'],
    ['k😀', 'k\\ud83d\\xde00'],
    ['abc', 'xbc'],
    ['abc', 'abbc'],
    ['abc', '% aX62c'],
    ['abc', 'a bc'],
  ])('with the key %s does not change %s', (key, text) => {
    expect(createRedactor(key)(text)).toBe(text)
  })

  test('changes nothing with an empty key', () => {
    expect(createRedactor('')('any text')).toBe('any text')
  })

  test('replaces each of several keys', () => {
    const redact = createRedactor('mint_key', '', 'ghs_token')
    expect(redact('a mint_key b')).toBe('a *** b')
    expect(redact('a ghs_token b')).toBe('a *** b')
    expect(redact('ghs_token, mint_key')).toBe('***, ***')
  })
})

describe('truncate', () => {
  test.each([
    ['', 3, ''],
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc…'],
    ['ab😀', 4, 'ab😀'],
    ['ab😀c', 3, 'ab\ufffd…'],
  ])('%j to %d characters is %j', (text, limit, truncated) => {
    expect(truncate(text, limit)).toBe(truncated)
    expect(truncate(text, limit).isWellFormed()).toBe(true)
  })
})

/** Every character that could break a line, move the cursor or change the reading direction. */
const CONTROLS = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  ...[0x2028, 0x2029, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
  ...[0xe0001, 0xe0041, 0xe007f],
].map((code) => String.fromCodePoint(code))

describe('oneLine', () => {
  test.each([
    ['a\nb', 'a b'],
    ['a\r\n\t  b', 'a b'],
    ['  a  ', 'a'],
    ['\n\n', ''],
    ['a\u202eb', 'a\\u{202e}b'],
    ['a\u001b[31mb', 'a\\u{1b}[31mb'],
    ['a\u0000b', 'a\\u{0}b'],
    ['a\u{e0041}b', 'a\\u{e0041}b'],
    ['a\u061cb\u200bc\u2060d\ufeffe\u00adf', 'a\\u{61c}b\\u{200b}c\\u{2060}d\\u{feff}e\\u{ad}f'],
    ['👩\u200d💻', '👩\u200d💻'],
    ['für 日本 😀', 'für 日本 😀'],
  ])('%j is %j', (text, line) => {
    expect(oneLine(text)).toBe(line)
  })

  test('keeps no character that breaks a line, moves the cursor or changes the reading direction', () => {
    const line = oneLine(CONTROLS.map((character) => `a${character}b`).join(''))
    expect(CONTROLS.filter((character) => character !== ' ' && line.includes(character))).toEqual([])
  })
})

/** Whether the runner would run a command in this (actions/runner, src/Runner.Common/ActionCommand.cs). */
function isCommand(output: string): boolean {
  // .NET's line reader ends a line at CR, LF or both; TrimStart removes these characters.
  const BLANK = /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/
  return output
    .split(/\r\n|\r|\n/)
    .some((line) => /^::.*::/.test(line.replace(BLANK, '')) || /##\[[^\]]*\]/.test(line))
}

const BLANKS = [
  0x09, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f,
]
const COMMANDS = [
  '::error::x',
  '::add-mask::x',
  '::stop-commands::x',
  '::set-output name=a::x',
  '##[error]x',
  'text ##[add-path]/tmp',
  '###[error]x',
  'a\r::error::x',
  ...[...BLANKS, 0x3000].map((code) => `${String.fromCodePoint(code)}::error::x`),
  ' \t \u3000::error::x',
]

describe('escapeCommands', () => {
  test.each(COMMANDS.map((line) => [line]))('%j is a command, and no longer one once escaped', (line) => {
    expect(isCommand(line)).toBe(true)
    expect(isCommand(escapeCommands(line))).toBe(false)
  })

  test.each([
    ['::error::x', '\\::error::x'],
    ['  ::error::x', '  \\::error::x'],
    ['##[error]x ##[error]y', '##\\[error]x ##\\[error]y'],
    ['a\rb', 'a\\u{d}b'],
    ['a\nb', 'a\\u{a}b'],
    ['a\u202eb', 'a\\u{202e}b'],
    ['a\tb', 'a  b'],
  ])('shows %j as %j', (line, shown) => {
    expect(escapeCommands(line)).toBe(shown)
  })

  test.each([
    '',
    'a :: b',
    'Job "x" is active.',
    'std::vector',
    ':a',
    '[x]',
    '## [x]',
    'für 日本 😀',
    '    indented',
  ])('leaves %j unchanged', (line) => {
    expect(escapeCommands(line)).toBe(line)
  })

  test('keeps no character that breaks a line, moves the cursor or changes the reading direction', () => {
    const line = escapeCommands(CONTROLS.join('a'))
    expect(CONTROLS.filter((character) => line.includes(character))).toEqual([])
  })
})

describe('escapeCommandLines', () => {
  test('starts each line with a bar, whatever ends the line', () => {
    expect(escapeCommandLines('a\r::error::x\n\n##[error]y\r\n  b')).toEqual([
      '| a',
      '| ::error::x',
      '| ',
      '| ##\\[error]y',
      '|   b',
    ])
  })

  test('leaves no commands', () => {
    expect(escapeCommandLines(COMMANDS.join('\n')).some(isCommand)).toBe(false)
  })
})

test.each([
  ['a', '"a"'],
  ['', '""'],
  ['a\n  b', '"a b"'],
  ['a\u202eb', '"a\\u{202e}b"'],
])('quote shows %j on one line as %s', (text, quoted) => {
  expect(quote(text)).toBe(quoted)
})

test('quote truncates nothing, so that a key in it is found whole', () => {
  expect(quote('k'.repeat(100_000))).toHaveLength(100_002)
})

/** What a reader sees if the Markdown is a single code span in a line or a table cell; undefined if it is more. */
function shownAsCode(markdown: string): string | undefined {
  const [, plain] = /^`([^`|<>&\n\r]+)`$/.exec(markdown) ?? []
  if (plain !== undefined) return plain
  const [, html] = /^<code>([^`|<>\n\r]*)<\/code>$/.exec(markdown) ?? []
  if (html === undefined || /[!-/:-@[-`{-~]/.test(html.replace(/&#\d+;/g, ''))) return undefined
  return html.replace(/&#(\d+);/g, (_, point) => String.fromCharCode(Number(point)))
}

describe('inlineCode', () => {
  test.each([
    'agent_01HX-9.z',
    'https://agent.example.com/prefix',
    '@octocat and #12',
    'job-id: job-1',
    '404: No such job (yet)!',
  ])('writes the plain text %j as a code span', (text) => {
    expect(inlineCode(text)).toBe(`\`${text}\``)
  })

  test.each([
    ['a backtick', 'a ` @octocat'],
    ['two backticks', '``x``'],
    ['a table break', 'a | b'],
    ['an escaped table break', 'a \\| b'],
    ['an HTML element', '<img src=x onerror=alert(1)>'],
    ['the end of the code element', 'x</code><script>alert(1)</script>'],
    ['a link with a script', '[x](javascript:alert(1))'],
    ['an image', '![x](https://evil.example/pixel)'],
    ['emphasis', '**b** *i* _u_'],
    ['strikethrough', '~~x~~'],
    ['a formula', '$x$ $`y`$'],
    ['a comment', '<!-- x'],
    ['a mention', '@octocat'],
    ['a mention with markup', '@octocat `hi`'],
    ['an issue link', 'your-org/docs#12'],
    ['a URL', 'https://evil.example <hi>'],
    ['a footnote', '[^1]'],
    ['a backslash', 'a\\'],
    ['an entity', '&lt;b&gt; &#64;'],
    ['all ASCII punctuation', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
    ['text in other scripts', 'für 日本 😀'],
  ])('shows %s as it is, and only as code', (_, text) => {
    expect(shownAsCode(inlineCode(text))).toBe(text)
  })

  test.each([
    ['lines', 'a\n\n# b\n| c |'],
    ['a CR', 'a\rb'],
    ['line separators', 'a\u2028b\u2029c'],
    ['reversed text', 'a\u202eb'],
  ])('shows %s on one line, without invisible characters', (_, text) => {
    expect(shownAsCode(inlineCode(text))).toBe(oneLine(text))
    expect(inlineCode(text)).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u)
  })
})

test('the key is redacted in a debug line that shows an error with a response in JSON', () => {
  const key = `mint_a'b"c\`d\\e/f\\'g`
  const redact = createRedactor(key)
  for (const data of [key, JSON.stringify({ error: key })]) {
    expect(redact(inspect({ data }))).not.toMatch(/mint_a|\\'g/)
  }
})
