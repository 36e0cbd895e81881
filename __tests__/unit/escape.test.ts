/**
 * What is shown: nothing in a text from outside that a log or Markdown acts on; lengths of time and
 * numbers in words.
 */

import { describe, expect, test } from '@jest/globals'
import { summarizePage } from '../../src/text/error-page.js'
import {
  escapeCommandLines,
  escapeCommands,
  inlineCode,
  oneLine,
  quote,
  truncate,
} from '../../src/text/escape.js'
import { formatCount, formatDuration } from '../../src/text/format.js'
import { scaled } from '../support/time.js'

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc…'],
  ['ab😀', 4, 'ab😀'],
  ['ab😀c', 3, 'ab\ufffd…'],
])('truncate: %j to %d characters is %j [text.one-line]', (text, limit, truncated) => {
  expect(truncate(text, limit)).toBe(truncated)
})

test.each([
  ['a\nb', 'a b'],
  ['a\r\n\t  b', 'a b'],
  ['  a  ', 'a'],
  ['\n\n', ''],
  ['a\u0000b\u001bc', 'a\\u{0}b\\u{1b}c'],
  ['a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
  ['a\u202eb\u{e0041}c', 'a\\u{202e}b\\u{e0041}c'],
  ['a\u061cb\u200bc\u2060d\ufeffe\u00adf', 'a\\u{61c}b\\u{200b}c\\u{2060}d\\u{feff}e\\u{ad}f'],
  ['a\ud83db\udc00', 'a\\u{d83d}b\\u{dc00}'],
  ['👩\u200d💻 für 日本', '👩\u200d💻 für 日本'],
])('oneLine: %j is %j [text.one-line]', (text, line) => {
  expect(oneLine(text)).toBe(line)
})

describe('escapeCommands [text.command]', () => {
  test.each([
    ['::error::x', '\\::error::x'],
    [' \u3000::error::x', ' \u3000\\::error::x'],
    ['##[error]x ##[error]y', '##\\[error]x ##\\[error]y'],
    ['a\rb', 'a\\u{d}b'],
    ['a\nb', 'a\\u{a}b'],
    ['a\u202eb', 'a\\u{202e}b'],
    ['a\tb', 'a  b'],
  ])('shows %j as %j', (line, shown) => {
    expect(escapeCommands(line)).toBe(shown)
  })

  const HARMLESS = 'abcXYZ 012 .,;!?()]{}#\'"`<>|é😀'
  test.each(['', 'std::vector', ':a', '[x]', '## [x]', '    indented', HARMLESS])(
    'leaves %j as it is',
    (line) => {
      expect(escapeCommands(line)).toBe(line)
    },
  )
})

test('escapeCommandLines starts each line with a bar, whatever ends the line [text.command]', () => {
  expect(escapeCommandLines('a\r::error::x\n\n##[error]y\r\n  b')).toEqual([
    '| a',
    '| ::error::x',
    '| ',
    '| ##\\[error]y',
    '|   b',
  ])
})

test('quote shows a text on one line, and truncates nothing, so that a key in it is found whole [text.one-line]', () => {
  expect(quote('')).toBe('""')
  expect(quote('a\n  b\u202e')).toBe('"a b\\u{202e}"')
  expect(quote('k'.repeat(100_000))).toHaveLength(100_002)
})

/**
 * What a reader sees if the Markdown is a single code span in a line or a table cell; undefined if
 * it is more.
 */
function shownAsCode(markdown: string): string | undefined {
  const [, plain] = /^`([^`|<>&[\]\\\n\r]+)`$/.exec(markdown) ?? []
  if (plain !== undefined) return plain
  const [, html] = /^<code>([^`|<>\n\r]*)<\/code>$/.exec(markdown) ?? []
  if (html === undefined || /[!-/:-@[-`{-~]/.test(html.replace(/&#\d+;/g, ''))) return undefined
  return html.replace(/&#(\d+);/g, (_, point) => String.fromCharCode(Number(point)))
}

describe('inlineCode [text.markdown]', () => {
  test.each(['https://agent.example.com/prefix', '@octocat and #12', '404: No such job (yet)!'])(
    'writes the plain text %j as a code span',
    (text) => {
      expect(inlineCode(text)).toBe(`\`${text}\``)
    },
  )

  test.each([
    'a ` @octocat',
    'a | b',
    'a\\',
    'x</code><script>alert(1)</script>',
    '[x](javascript:alert(1))',
    '<!-- x',
    '&lt;b&gt; &#64;',
    '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    'a\n\n# b\n| c |\rd\u2028e\u202ef',
  ])('shows %j on one line, and only as code', (text) => {
    expect(shownAsCode(inlineCode(text))).toBe(oneLine(text))
  })
})

test.each([
  [0, '0 ms'],
  [999.9, '999 ms'],
  [1000, '1 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [61_000, '1 min 1 s'],
  [3_599_999, '59 min 59 s'],
  [3_600_000, '1 h'],
  [7_559_999, '2 h 5 min'],
  [3_599_999_999, '999 h 59 min'],
  [3_600_000_000, 'over 1,000 h'],
  [Number.NaN, 'over 1,000 h'],
])('formatDuration: %d ms is %s [report.words]', (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words)
})

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [999, '999 files'],
  [1001, '1,001 files'],
  [1_234_567, '1,234,567 files'],
])('formatCount writes %d as %s [report.words]', (value, words) => {
  expect(formatCount(value, 'file')).toBe(words)
})

test.each([
  ['No page: a < b > c.', 'No page: a < b > c.'],
  ['<!DOCTYPE html><title>Unicorn!</title><p>Too slow. Try later.</p>', 'Unicorn!'],
  ['\n<html><head><title>503</title><style>p {}</style></head><h1>503 Busy', '503'],
  ['<!-- Dear employee, <b>look</b>. --><p>Not found, v1.2.3 here</p>', 'Not found, v1.2.3 here'],
  ['<title>Maintenance</title><script>let a = 1. ', 'Maintenance'],
  ['<p></p>', ''],
  [
    '<h1>Checking your browser</h1>\n<p>Please <b>wait</b>.</p>',
    'Checking your browser Please wait .',
  ],
  ['<body><svg><title>Logo</title></svg><h1>Down</h1>', 'Down'],
  ['<title></title><p>It is down. Later.</p>', 'It is down. Later.'],
])('summarizePage tells %j as %j [text.page]', (text, words) => {
  expect(summarizePage(text)).toBe(words)
})

test('summarizePage takes no longer for a page that never closes what it opens [text.page]', () => {
  const startedAt = performance.now()
  for (const part of ['<title', '<!--', '<script>', '<head', '<', 'a. '])
    summarizePage(`<p>${part.repeat(20_000)}`)
  expect(performance.now() - startedAt).toBeLessThan(scaled(500))
})
