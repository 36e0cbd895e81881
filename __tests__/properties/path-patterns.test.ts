// Path patterns against a matcher that is slow and obvious: a regular expression, for short patterns and paths.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { matchesPatterns, parsePathPatterns } from '../../src/inputs/path-patterns.js'
import { InvalidInput } from '../../src/inputs/values.js'

/** What a pattern is made of: a wildcard, or a character or a set of them that may repeat. */
const TOKEN = /(\*\*\/|\*\*|\*)|(\[[^\]]*\]|\\.|.)([?+]?)/gsu

/** The same meaning as a regular expression, which may take for ever for longer texts. */
function toRegExp(pattern: string): RegExp {
  const parts = [...pattern.matchAll(TOKEN)].map(([, wildcard, literal = '', quantifier = '']) => {
    switch (wildcard) {
      case '*':
        return '[^/]*'
      case '**':
        return '.*'
      case '**/':
        return '.*(?<=^|/)'
      default: {
        const isSet = literal.startsWith('[')
        const character = literal.startsWith('\\') ? literal.slice(1) : literal
        return `(?:${isSet ? literal : character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')})${quantifier}`
      }
    }
  })
  return new RegExp(`^(?:${parts.join('')})$`, 'su')
}

/** The last pattern that matches decides; if there are only exclusions, what none matches counts. */
function matchesSlowly(lines: readonly string[], path: string): boolean {
  const rules = lines.map((line) => ({
    excludes: line.startsWith('!'),
    matches: toRegExp(line.replace(/^!/, '')).test(path),
  }))
  return !(rules.findLast((rule) => rule.matches)?.excludes ?? !rules.every((rule) => rule.excludes))
}

const literals = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...'aab/.') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[ab]', '[a-c]', '[a-c0-2]', '\\*', '\\[', '\\!', '-', 'é', '😀', ' '),
  },
)
const parts = fc.oneof(
  { weight: 3, arbitrary: literals },
  { weight: 1, arbitrary: fc.tuple(literals, fc.constantFrom('?', '+')).map((pair) => pair.join('')) },
  { weight: 2, arbitrary: fc.constantFrom('*', '**', '**/', '/') },
)
const patterns = fc
  .tuple(fc.constantFrom('', '', '!'), fc.array(parts, { minLength: 1, maxLength: 7 }))
  .map(([mark, rest]) => mark + rest.join(''))
  .filter((pattern) => pattern === pattern.trim() && !/^!!/.test(pattern))
const paths = fc
  .string({ unit: fc.constantFrom(...'aab/.*[]!-é', '😀', ' '), minLength: 1, maxLength: 8 })
  .filter((path) => !path.startsWith('/'))

/** What is no pattern is refused; that is another test's matter. */
function parse(lines: readonly string[]): ReturnType<typeof parsePathPatterns> | undefined {
  try {
    return parsePathPatterns(lines.join('\n'))
  } catch (thrown) {
    if (thrown instanceof InvalidInput) return undefined
    throw thrown
  }
}

describe('path patterns', () => {
  test('match what the slow matcher matches', () => {
    let matched = 0
    fc.assert(
      fc.property(fc.array(patterns, { minLength: 1, maxLength: 4 }), paths, (lines, path) => {
        const parsed = parse(lines)
        fc.pre(parsed !== undefined)
        const expected = matchesSlowly(lines, path)
        if (expected) matched++
        expect(matchesPatterns(parsed, path)).toBe(expected)
      }),
      { numRuns: 6000 },
    )
    expect(matched).toBeGreaterThan(100) // Both answers are common enough to prove something.
  })

  test('any text is a list of patterns or an InvalidInput', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'*?+[]\\!/-., "a0\r\n\0é😀', '\ud800') }), (text) => {
        parse(text.split('\n'))
      }),
    )
  })
})
