/**
 * Decides which changed files count, using patterns that mean the same as in `on.push.paths`.
 *
 * Whoever opens a pull request chooses the names of its files, and a regular expression that backtracks can be made to
 * run for minutes by a name. So the patterns have a matcher of their own: its time grows with the length of the pattern
 * times the length of the path, whatever they are.
 */

/** The maximum number of patterns, and of characters in one. */
const LIMIT = 1000

/** What `[]` may contain, each in the order of its ranges. */
const ALPHABETS = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789']

/** What `\` can escape: the punctuation of ASCII, and the space. */
const PUNCTUATION = /[ -/:-@[-`{-~]/

/**
 * Likely slips: GitHub's paths start at the root and end in a file, so the first three can never match one. The others
 * would take a file with an odd name; for such a file, escape the character.
 */
const SLIPS: readonly (readonly [slip: RegExp, problem: string])[] = [
  [/^\//, 'no path starts with "/"; patterns start at the root of the repository by themselves'],
  [/^\.\.?\//, 'no path contains "./" or "../"; start with the name of a file or folder'],
  [/\/$/, 'only files have changes, no folders; write "/**" at the end for everything inside'],
  [/^(["']).*\1,?$/, 'a pattern is written without quotes; write "\\" before a quote that is part of a name'],
  [/^- /, 'write one pattern per line, without "- "; write "\\- " for a name that starts like that'],
  [/(?<!\\),(?:\s|$)/, 'write one pattern per line, without commas; write "\\," for a comma in a name'],
]

/** The quantifiers that let a token match more than one character, and none at all. */
const REPEATED: readonly string[] = ['+', '*', '**', '**/']
const OPTIONAL: readonly string[] = ['?', '*', '**']

/** A line that can't be a pattern. The message has the line's number and no text from outside. */
export class PathPatternError extends Error {
  override readonly name = 'PathPatternError'

  /**
   * @param line its number, starting at 1
   * @param pattern the line as it was written, trimmed
   * @param problem what is wrong with it, and what to write instead
   */
  constructor(
    readonly line: number,
    readonly pattern: string,
    problem: string,
  ) {
    super(`line ${line}: ${problem}`)
  }
}

/** One pattern: the tokens that a path has to match from start to end. */
export interface PathPattern {
  readonly excludes: boolean
  readonly tokens: readonly Token[]
  /** Texts that every matching path contains. Most paths lack one of them, and that is faster to check. */
  readonly contained: readonly string[]
}

/** A character, a set of characters, or a wildcard, and how often it matches. */
interface Token {
  /** The characters it matches; empty for a wildcard, which matches any (`*` any but `/`). */
  readonly literals: readonly string[]
  readonly quantifier: 'once' | '?' | '+' | '*' | '**' | '**/'
}

interface Line {
  readonly number: number
  readonly text: string
  readonly characters: readonly string[]
}

/**
 * Parses patterns, one per line. Lines are trimmed and blank ones skipped; there are no comments.
 *
 * The rules are those of the filter pattern cheat sheet
 * (docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet).
 *
 * @throws PathPatternError at the first line that can't be a pattern.
 */
export function parsePathPatterns(text: string): readonly PathPattern[] {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '')
  const extra = lines[LIMIT]
  if (extra !== undefined) {
    throw new PathPatternError(extra.number, extra.text, 'too many patterns; the maximum is 1,000')
  }
  return lines.map((line) => parseLine({ ...line, characters: [...line.text] }))
}

/**
 * Whether a changed file counts: the last pattern that matches its path decides. If none does, it counts if there are
 * only patterns with `!`, or none at all.
 *
 * @param path from the root of the repository, with `/` and no `/` at the start.
 */
export function matches(patterns: readonly PathPattern[], path: string): boolean {
  const last = patterns.findLast(
    ({ tokens, contained }) =>
      contained.every((text) => path.includes(text)) && matchesWhole(tokens, [...path]),
  )
  return last === undefined ? patterns.every((pattern) => pattern.excludes) : !last.excludes
}

/**
 * Matches one character of the path after the other. `reached[i]` says whether the characters so far can be matched by
 * the tokens before token `i`.
 */
function matchesWhole(tokens: readonly Token[], path: readonly string[]): boolean {
  let reached = skipOptional(tokens, [true], true)
  for (const character of path) {
    const next: boolean[] = []
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index]
      if (!reached[index] || token === undefined || !matchesCharacter(token, character)) continue
      if (REPEATED.includes(token.quantifier)) next[index] = true
      if (token.literals.length > 0) next[index + 1] = true
    }
    if (next.length === 0) return false
    reached = skipOptional(tokens, next, character === '/')
  }
  return reached[tokens.length] === true
}

function matchesCharacter({ literals, quantifier }: Token, character: string): boolean {
  if (literals.length > 0) return literals.includes(character)
  return quantifier !== '*' || character !== '/'
}

/** Adds the tokens that are reached by letting optional ones match nothing. */
function skipOptional(tokens: readonly Token[], reached: boolean[], startsSegment: boolean): boolean[] {
  tokens.forEach(({ quantifier }, index) => {
    if (!reached[index]) return
    if (OPTIONAL.includes(quantifier) || (quantifier === '**/' && startsSegment)) reached[index + 1] = true
  })
  return reached
}

function parseLine(line: Line): PathPattern {
  if (line.characters.length > LIMIT) throw patternError(line, 'too long; the maximum is 1,000 characters')
  if (line.text === '!') throw patternError(line, '"!" must be followed by a pattern to exclude')
  const excludes = line.text.startsWith('!')
  const slip = SLIPS.find(([pattern]) => pattern.test(excludes ? line.text.slice(1) : line.text))
  if (slip !== undefined) throw patternError(line, slip[1])
  const tokens: Token[] = []
  for (let at = excludes ? 1 : 0; at < line.characters.length; ) {
    const [token, next] = parseToken(line, at)
    tokens.push(token)
    at = next
  }
  return { excludes, tokens, contained: fixedTexts(tokens) }
}

/** The single characters that match once, joined where one follows the other. */
function fixedTexts(tokens: readonly Token[]): string[] {
  const texts = ['']
  for (const { literals, quantifier } of tokens) {
    if (quantifier === 'once' && literals.length === 1) texts.push(texts.pop() + (literals[0] ?? ''))
    else texts.push('')
  }
  return texts.filter((text) => text !== '')
}

/** Parses the token at a position; returns it and the position after it. */
function parseToken(line: Line, at: number): [Token, number] {
  const wildcard = parseWildcard(line.characters, at)
  if (wildcard !== undefined) return [{ literals: [], quantifier: wildcard }, at + wildcard.length]
  const [literals, next] = parseLiterals(line, at)
  const mark = line.characters[next]
  return mark === '?' || mark === '+'
    ? [{ literals, quantifier: mark }, next + 1]
    : [{ literals, quantifier: 'once' }, next]
}

// `**` with its `/` is one token, because the page says that `**/README.md` matches `README.md` too. It ends where a
// segment starts: the page says "in a `docs` directory" of `**/docs/**` and "with the prefix `migrate-`" of
// `**/migrate-*.sql`.
function parseWildcard(characters: readonly string[], at: number): '*' | '**' | '**/' | undefined {
  if (characters[at] !== '*') return undefined
  if (characters[at + 1] !== '*') return '*'
  return characters[at + 2] === '/' ? '**/' : '**'
}

/** Parses the character at a position, or all of a `[]`. */
function parseLiterals(line: Line, at: number): [readonly string[], number] {
  const character = line.characters[at] ?? ''
  const position = `at character ${at + 1}`
  if (character === '?' || character === '+') {
    const advice = `put a character or [] before it, or write "\\${character}" for a literal one`
    throw patternError(line, `"${character}" ${position} has nothing to repeat; ${advice}`)
  }
  if (character === '[') return parseBrackets(line, at)
  if (character !== '\\') return [[character], at + 1]
  const escaped = line.characters[at + 1] ?? ''
  if (PUNCTUATION.test(escaped)) return [[escaped], at + 2]
  const advice =
    'only punctuation and spaces can be escaped; write "\\\\" for a literal backslash, and separate folders with "/"'
  throw patternError(line, `"\\" ${position} escapes nothing; ${advice}`)
}

function parseBrackets(line: Line, start: number): [readonly string[], number] {
  const end = line.characters.indexOf(']', start)
  const position = `at character ${start + 1}`
  if (end === -1) {
    throw patternError(line, `"[" ${position} is not closed with "]"; write "\\[" for a literal one`)
  }
  const ranges = parseRanges(line.characters.slice(start + 1, end))
  if (ranges.length > 0 && !ranges.includes('')) return [[...ranges.join('')], end + 1]
  const advice = 'use letters a-z and A-Z, digits and ascending ranges, such as [0-9a-z]'
  throw patternError(line, `the [] ${position} is empty or contains other characters; ${advice}`)
}

function parseRanges(inside: readonly string[]): string[] {
  const ranges: string[] = []
  for (let at = 0; at < inside.length; ) {
    const length = inside[at + 1] === '-' && at + 2 < inside.length ? 3 : 1
    ranges.push(expandRange(inside[at] ?? '', inside[at + length - 1] ?? ''))
    at += length
  }
  return ranges
}

/** The characters from one to another of the same alphabet; empty if that is not an ascending range. */
function expandRange(first: string, last: string): string {
  const alphabet = ALPHABETS.find((each) => each.includes(first)) ?? ''
  return alphabet.slice(alphabet.indexOf(first), alphabet.indexOf(last) + 1)
}

function patternError(line: Line, problem: string): PathPatternError {
  return new PathPatternError(line.number, line.text, problem)
}
