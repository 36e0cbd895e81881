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
  ['an empty one', '', 3, ''],
  ['one that is just as long', 'abc', 3, 'abc'],
  ['one that is longer', 'abcd', 3, 'abc…'],
  ['one with an emoji at its end', 'ab😀', 4, 'ab😀'],
  ['one with an emoji at the cut', 'ab😀c', 3, 'ab\ufffd…'],
])(
  'a text is cut between characters, and marked: %s [text.one-line]',
  (_, text, limit, truncated) => {
    expect(truncate(text, limit)).toBe(truncated)
  },
)

test.each([
  ['lines', 'a\nb', 'a b'],
  ['white space of all kinds', 'a\r\n\t  b', 'a b'],
  ['blanks at its ends', '  a  ', 'a'],
  ['nothing but line ends', '\n\n', ''],
  ['controls', 'a\u0000b\u001bc', 'a\\u{0}b\\u{1b}c'],
  ['line separators', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
  ['what reorders or tags', 'a\u202eb\u{e0041}c', 'a\\u{202e}b\\u{e0041}c'],
  [
    'what is invisible',
    'a\u061cb\u200bc\u2060d\ufeffe\u00adf',
    'a\\u{61c}b\\u{200b}c\\u{2060}d\\u{feff}e\\u{ad}f',
  ],
  ['halves of characters', 'a\ud83db\udc00', 'a\\u{d83d}b\\u{dc00}'],
  ['emoji and letters, as they are', '👩\u200d💻 für \ue000 日本', '👩\u200d💻 für \ue000 日本'],
])(
  'a text stands on one line, and what nobody sees is shown: %s [text.one-line]',
  (_, text, line) => {
    expect(oneLine(text)).toBe(line)
  },
)

describe('a line of the log [text.command]', () => {
  test.each([
    ['a command', '::error::x', '\\::error::x'],
    ['a command behind blanks', ' \u3000::error::x', ' \u3000\\::error::x'],
    ['commands of the old form', '##[error]x ##[error]y', '##\\[error]x ##\\[error]y'],
    ['a carriage return', 'a\rb', 'a\\u{d}b'],
    ['a line end', 'a\nb', 'a\\u{a}b'],
    ['what reorders', 'a\u202eb', 'a\\u{202e}b'],
    ['a tab', 'a\tb', 'a  b'],
  ])('shows what it is: %s', (_, line, shown) => {
    expect(escapeCommands(line)).toBe(shown)
  })

  const HARMLESS = 'abcXYZ 012 .,;!?()]{}#\'"`<>|é😀'
  test.each(['', 'std::vector', ':a', '[x]', '## [x]', '    indented', HARMLESS])(
    'leaves a line without a command as it is: %j',
    (line) => {
      expect(escapeCommands(line)).toBe(line)
    },
  )
})

test('each line of a text starts with a bar, whatever ends the line [text.command]', () => {
  expect(escapeCommandLines('a\r::error::x\n\n##[error]y\r\n  b')).toEqual([
    '| a',
    '| ::error::x',
    '| ',
    '| ##\\[error]y',
    '|   b',
  ])
})

test('a quoted text stands on one line, and nothing is cut, so that a key in it is found whole [text.one-line]', () => {
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

describe('text from outside in Markdown [text.markdown]', () => {
  test.each(['https://agent.example.com/prefix', '@octocat and #12', '404: No such job (yet)!'])(
    'is a code span for a plain text: %j',
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
  ])('shows a text that could end it on one line, and only as code: %j', (text) => {
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
])(
  'a length of time is told in words, rounded down: %d ms is %s [report.words]',
  (milliseconds, words) => {
    expect(formatDuration(milliseconds)).toBe(words)
  },
)

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [999, '999 files'],
  [1001, '1,001 files'],
  [1_234_567, '1,234,567 files'],
])(
  'a number has thousands separators, and its noun a plural: %d is %s [report.words]',
  (value, words) => {
    expect(formatCount(value, 'file')).toBe(words)
  },
)

test.each([
  ['No page: a < b > c.', 'No page: a < b > c.'],
  ['<!DOCTYPE html><title>Unicorn!</title><p>Too slow. Try later.</p>', 'Unicorn!'],
  ['\n<html><head><title>503</title><style>p {}</style></head><h1>503 Busy', '503'],
  ['<style>\np {}\n</style><!--\n<b>look</b>\n--><h1>Down</h1><!-- by us', 'Down'],
  ['<!-- Dear employee, <b>look</b>. --><p>Not found, v1.2.3 here</p>', 'Not found, v1.2.3 here'],
  ['<P>Maintenance</P><SCRIPT>let a = 1. ', 'Maintenance'],
  ['<?xml version="1.0"?><p></p>', ''],
  [
    '<h1>Checking your browser</h1>\n<p>Please <b>wait</b>.</p>',
    'Checking your browser Please wait .',
  ],
  ['<body><svg><title>Logo</title></svg><TITLE>Down</TITLE><p>Wait', 'Down'],
  ['<title></title><p>It is down. Later.</p>', 'It is down. Later.'],
])('a page is told by its title, or its words: %j [text.page]', (text, words) => {
  expect(summarizePage(text)).toBe(words)
})

test('a page that never closes what it opens takes no longer to tell [text.cheap]', () => {
  const startedAt = performance.now()
  for (const part of ['<title', '<!--', '<script>', '<head', '<', 'a. '])
    summarizePage(`<p>${part.repeat(20_000)}`)
  expect(performance.now() - startedAt).toBeLessThan(scaled(500))
})
