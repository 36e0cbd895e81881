/**
 * Decides which changed files count, using patterns that mean the same as in `on.push.paths`.
 *
 * Whoever opens a pull request chooses the names of its files, and a regular expression that
 * backtracks can be made to run for minutes by a name. So the patterns have a matcher of their own:
 * its time grows with the length of the pattern times the length of the path, whatever they are.
 */

import { InvalidInput } from './values.js'

/** The maximum number of patterns, and of characters in one. */
const LIMIT = 1000

/**
 * Likely slips: GitHub's paths start at the root and end in a file, so the first three can never
 * match one. The others would take a file with an odd name; for such a file, escape the character.
 */
const SLIPS: readonly (readonly [slip: RegExp, problem: string])[] = [
  [/^\//, 'remove the first "/": patterns already start at the root of the repository'],
  [
    /\/\/|(?:^|\/)\.\.?(?:\/|$)/,
    'no path contains "./", "../" or "//"; start with a file or folder',
  ],
  [/\/$/, 'a pattern matches files, not folders: write "/**" at the end for everything inside'],
  [/^\s/, 'remove the blank after "!"; write "\\ " for a name that starts with one'],
  [/^(["']).*\1,?$/, 'remove the quotes; write "\\" before a quote that is part of a name'],
  [
    /^- /,
    'write one pattern per line, without "- "; write "\\- " for a name that starts like that',
  ],
  [
    /(?<!\\)[{}]/,
    'braces are plain characters here; write one line for each alternative, or "\\{" for a brace in a name',
  ],
  [
    /(?<!\\),(?:\s|$)|\*[,\s]/,
    'write one pattern per line, without commas, or "\\," for a comma in a name',
  ],
]

/** As in YAML, where such lists often have some. */
const COMMENT = /(?:^|\s)#.*/

/** One pattern: the tokens that a path has to match from start to end. */
export interface PathPattern {
  readonly excludes: boolean
  readonly tokens: readonly Token[]
  /**
   * Texts that every matching path contains. Most paths lack one of them, and that is faster to
   * check.
   */
  readonly contained: readonly string[]
}

/** One element of a pattern: which characters it matches, and how often. */
interface Token {
  readonly accepts: (character: string) => boolean
  /** It may match more than one character. */
  readonly repeats: boolean
  /** It may match none: always, or only where a segment starts. */
  readonly optional: boolean | 'at a segment'
  /** The character, if it is one that is matched once. */
  readonly literal?: string
}

/**
 * The rules are those of the filter pattern cheat sheet
 * (docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet).
 *
 * @throws InvalidInput at the first line that can't be a pattern.
 */
export function parsePathPatterns(text: string): readonly PathPattern[] {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.replace(COMMENT, '').trim() }))
    .filter((line) => line.text !== '')
  const extra = lines[LIMIT]
  if (extra !== undefined) {
    throw invalidLine(extra.number, extra.text, 'too many patterns; the maximum is 1,000')
  }
  return lines.map((line) => parseLine(line.number, line.text))
}

/**
 * Whether a changed file counts: the last pattern that matches its path decides. If none does, it
 * counts if there are only patterns with `!`, or none at all.
 */
export function matchesPatterns(patterns: readonly PathPattern[], path: string): boolean {
  const last = patterns.findLast(
    ({ tokens, contained }) =>
      contained.every((text) => path.includes(text)) && matchesWhole(tokens, [...path]),
  )
  return last === undefined ? patterns.every((pattern) => pattern.excludes) : !last.excludes
}

/**
 * Matches one character of the path after the other. `reached[i]` says whether the characters so
 * far can be matched by the tokens before token `i`.
 */
function matchesWhole(tokens: readonly Token[], path: readonly string[]): boolean {
  let reached = skipOptional(tokens, [true], true)
  for (const character of path) {
    const next: boolean[] = []
    tokens.forEach(({ accepts, repeats, optional }, index) => {
      if (!reached[index] || !accepts(character)) return
      if (repeats) next[index] = true
      if (!repeats || optional === false) next[index + 1] = true
    })
    if (next.length === 0) return false
    reached = skipOptional(tokens, next, character === '/')
  }
  return reached[tokens.length] === true
}

/** Adds the tokens that are reached by letting optional ones match nothing. */
function skipOptional(
  tokens: readonly Token[],
  reached: boolean[],
  startsSegment: boolean,
): boolean[] {
  tokens.forEach(({ optional }, index) => {
    if (reached[index] && (optional === 'at a segment' ? startsSegment : optional))
      reached[index + 1] = true
  })
  return reached
}

// `**` with its `/` is one token, because the page says that `**/README.md` matches `README.md`
// too. It ends where a segment starts: the page says "in a `docs` directory" of `**/docs/**` and
// "with the prefix `migrate-`" of `**/migrate-*.sql`.
const WILDCARDS: Readonly<Record<string, Token>> = {
  '*': { accepts: (character) => character !== '/', repeats: true, optional: true },
  '**': { accepts: () => true, repeats: true, optional: true },
  '**/': { accepts: () => true, repeats: true, optional: 'at a segment' },
}

/**
 * A wildcard; or an escaped character, a set or any other character, and its quantifier; or what
 * can't stand there.
 */
const ELEMENT = /(\*\*\/|\*\*|\*)|(?:\\([ -/:-@[-`{-~])|\[([^\]]*)\]|([^?+[\\]))([?+])?|[\s\S]/gu

/** @param problem what is wrong with the line, and what to write instead */
function invalidLine(number: number, text: string, problem: string): InvalidInput {
  return new InvalidInput((got) => `invalid pattern ${got}, line ${number}: ${problem}.`, text)
}

function parseLine(number: number, text: string): PathPattern {
  const fail = (problem: string) => invalidLine(number, text, problem)
  if ([...text].length > LIMIT) throw fail('too long; the maximum is 1,000 characters')
  if (text === '!') throw fail('"!" must be followed by a pattern to exclude')
  const excludes = text.startsWith('!')
  const pattern = excludes ? text.slice(1) : text
  const slip = SLIPS.find(([mistake]) => mistake.test(pattern))
  if (slip !== undefined) throw fail(slip[1])
  const tokens = [...pattern.matchAll(ELEMENT)].map((match): Token => {
    const [element, wildcard = '', escaped, set, plain, quantifier] = match
    const literal = escaped ?? plain
    const accepts =
      literal === undefined ? acceptSet(set) : (character: string) => character === literal
    if (WILDCARDS[wildcard] !== undefined) return WILDCARDS[wildcard]
    const position = [...pattern.slice(0, match.index)].length + (excludes ? 2 : 1)
    if (accepts === undefined) throw fail(describeMistake(element, `at character ${position}`))
    if (quantifier === undefined && literal !== undefined)
      return { accepts, repeats: false, optional: false, literal }
    return { accepts, repeats: quantifier === '+', optional: quantifier === '?' }
  })
  return { excludes, tokens, contained: fixedTexts(tokens) }
}

/** Undefined unless it is a set of letters and digits, in which each range ascends. */
function acceptSet(set: string | undefined): Token['accepts'] | undefined {
  if (set === undefined || !/^(?:[a-z](?:-[a-z])?|[A-Z](?:-[A-Z])?|\d(?:-\d)?)+$/.test(set))
    return undefined
  if ([...set.matchAll(/(.)-(.)/g)].some(([, first = '', last = '']) => first > last))
    return undefined
  const pattern = new RegExp(`[${set}]`)
  return (character) => pattern.test(character)
}

/** What is wrong with an element that can't stand where it does. */
function describeMistake(element: string, position: string): string {
  if (element === '[')
    return `"[" ${position} is not closed with "]"; write "\\[" for a literal one`
  if (element === '\\') {
    return `"\\" ${position} escapes nothing; only punctuation and spaces can be escaped; write "\\\\" for a literal backslash, and separate folders with "/"`
  }
  if (element.startsWith('[')) {
    return `the [] ${position} is empty or contains other characters; use letters a-z and A-Z, digits and ascending ranges, such as [0-9a-z]`
  }
  return `"${element}" ${position} has nothing to repeat; put a character or [] before it, or write "\\${element}" for a literal one`
}

/** The single characters that match once, joined where one follows the other. */
function fixedTexts(tokens: readonly Token[]): string[] {
  const texts = ['']
  for (const { literal } of tokens) {
    if (literal === undefined) texts.push('')
    else texts.push(texts.pop() + literal)
  }
  return texts.filter((text) => text !== '')
}
