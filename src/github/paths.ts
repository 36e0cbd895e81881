/** Tells which changed files count, by patterns that mean what they mean in `on.push.paths`. */

/** The most patterns there may be, and the most characters of one. */
const LIMIT = 1000

/** What `[]` takes, each in the order of its ranges. */
const ALPHABETS = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789']

/** What `\` makes plain: the marks of ASCII, and the space. */
const MARK = /^[ -/:-@[-`{-~]$/

/** A line that can't be a pattern. The message has the line's number and no text from outside. */
export class PathPatternError extends Error {
  override readonly name = 'PathPatternError'

  /**
   * @param line its number, the first is 1
   * @param pattern the line as it was written, trimmed
   * @param fault what is wrong with it, and what to write
   */
  constructor(
    readonly line: number,
    readonly pattern: string,
    fault: string,
  ) {
    super(`line ${line}: ${fault}`)
  }
}

/**
 * One pattern, as an automaton with a state before each step and one behind the last.
 *
 * Each number is a set of states, one bit a state: nothing is tried twice, whatever the pattern and the path.
 */
export interface PathPattern {
  readonly excludes: boolean
  /** Where a character that the pattern names is taken. */
  readonly named: ReadonlyMap<string, bigint>
  /** Where every character is taken: `**`. */
  readonly any: bigint
  /** Where every character but `/` is taken: `*`. */
  readonly within: bigint
  /** Left for the next one by the character that was taken. */
  readonly moves: bigint
  /** Kept by the character that was taken. */
  readonly stays: bigint
  /** Left for the next one without a character. */
  readonly skips: bigint
  /** Left for the next one without a character, where a segment of the path starts. */
  readonly skipsToSegment: bigint
  readonly end: bigint
}

/** A step of a pattern: the characters it names, if it does, and how often it takes one. */
interface Step {
  readonly named: readonly string[]
  readonly often: 'once' | '?' | '+' | '*' | '**' | '**/'
}

interface Line {
  readonly number: number
  readonly text: string
  readonly characters: readonly string[]
}

/**
 * Reads patterns, one a line. Lines are trimmed and blank ones skipped; there are no comments.
 *
 * The rules are those of the filter pattern cheat sheet
 * (docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet).
 *
 * @throws PathPatternError at the first line that can't be a pattern.
 */
export function parsePaths(text: string): readonly PathPattern[] {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '')
  const extra = lines[LIMIT]
  if (extra !== undefined) {
    throw new PathPatternError(extra.number, extra.text, 'is one too many; takes at most 1,000 patterns')
  }
  return lines.map((line) => parseLine({ ...line, characters: [...line.text] }))
}

/**
 * Whether a changed file counts: the last pattern that matches its path says so. Where none does, it counts if there
 * are only patterns with `!`, or none at all.
 *
 * @param path from the root of the repository, with `/` and no `/` at the start.
 */
export function matches(patterns: readonly PathPattern[], path: string): boolean {
  const characters = [...path]
  const last = patterns.findLast((pattern) => isWhole(pattern, characters))
  return last === undefined ? patterns.every((pattern) => pattern.excludes) : !last.excludes
}

function isWhole(pattern: PathPattern, path: readonly string[]): boolean {
  let states = skipOn(1n, pattern.skips | pattern.skipsToSegment)
  for (const character of path) {
    const taken = states & takers(pattern, character)
    if (taken === 0n) return false
    const skips = character === '/' ? pattern.skips | pattern.skipsToSegment : pattern.skips
    states = skipOn(((taken & pattern.moves) << 1n) | (taken & pattern.stays), skips)
  }
  return (states & pattern.end) !== 0n
}

function takers(pattern: PathPattern, character: string): bigint {
  const wild = character === '/' ? pattern.any : pattern.any | pattern.within
  return wild | (pattern.named.get(character) ?? 0n)
}

/**
 * Adds the states that skipping leads to.
 *
 * The sum carries from the lowest state in each row of skipping ones to the one behind the row: what it changed is what
 * can be reached.
 */
function skipOn(states: bigint, skips: bigint): bigint {
  return states | (((states & skips) + skips) ^ skips)
}

function parseLine(line: Line): PathPattern {
  if (line.characters.length > LIMIT) throw faultOf(line, 'is too long; takes at most 1,000 characters')
  if (line.text === '!') throw faultOf(line, '"!" has nothing after it; takes a pattern to exclude')
  const excludes = line.text.startsWith('!')
  const steps: Step[] = []
  for (let at = excludes ? 1 : 0; at < line.characters.length; ) {
    const [step, next] = readStep(line, at)
    steps.push(step)
    at = next
  }
  return { excludes, ...automaton(steps) }
}

/** Reads the step at a place, and where the next one starts. */
function readStep(line: Line, at: number): [Step, number] {
  const wild = readWild(line.characters, at)
  if (wild !== undefined) return [{ named: [], often: wild }, at + wild.length]
  const [named, next] = readNamed(line, at)
  const mark = line.characters[next]
  return mark === '?' || mark === '+' ? [{ named, often: mark }, next + 1] : [{ named, often: 'once' }, next]
}

// `**` with its `/` is one step, for the page's `**/README.md` matches `README.md` too. It ends where a segment starts,
// for the page says "in a `docs` directory" of `**/docs/**` and "with the prefix `migrate-`" of `**/migrate-*.sql`.
function readWild(characters: readonly string[], at: number): '*' | '**' | '**/' | undefined {
  if (characters[at] !== '*') return undefined
  if (characters[at + 1] !== '*') return '*'
  return characters[at + 2] === '/' ? '**/' : '**'
}

/** Reads the character at a place, or all of a `[]`. */
function readNamed(line: Line, at: number): [readonly string[], number] {
  const character = line.characters[at] ?? ''
  if (character === '?' || character === '+') {
    const advice = `takes a character or [] before it; a plain one is "\\${character}"`
    throw faultOf(line, `"${character}" at character ${at + 1} has none to repeat; ${advice}`)
  }
  if (character === '[') return readBrackets(line, at)
  if (character !== '\\') return [[character], at + 1]
  const escaped = line.characters[at + 1] ?? ''
  if (MARK.test(escaped)) return [[escaped], at + 2]
  const advice = 'takes a mark or a space after it; a plain one is "\\\\", and folders end in "/"'
  throw faultOf(line, `"\\" at character ${at + 1} makes nothing plain; ${advice}`)
}

function readBrackets(line: Line, start: number): [readonly string[], number] {
  const end = line.characters.indexOf(']', start)
  if (end === -1) {
    throw faultOf(line, `"[" at character ${start + 1} has no "]" after it; a plain one is "\\["`)
  }
  const ranges = readRanges(line.characters.slice(start + 1, end))
  if (ranges.length > 0 && !ranges.includes('')) return [[...ranges.join('')], end + 1]
  const advice = 'takes letters of a-z and A-Z, digits, and ranges of these that rise, such as [0-9a-z]'
  throw faultOf(line, `the [] at character ${start + 1} has something else or nothing in it; ${advice}`)
}

function readRanges(inside: readonly string[]): string[] {
  const ranges: string[] = []
  for (let at = 0; at < inside.length; ) {
    const length = inside[at + 1] === '-' && at + 2 < inside.length ? 3 : 1
    ranges.push(rangeOf(inside[at] ?? '', inside[at + length - 1] ?? ''))
    at += length
  }
  return ranges
}

/** The characters from one to another of the same alphabet; none where that is no range. */
function rangeOf(first: string, last: string): string {
  const alphabet = ALPHABETS.find((each) => each.includes(first)) ?? ''
  return alphabet.slice(alphabet.indexOf(first), alphabet.indexOf(last) + 1)
}

function automaton(steps: readonly Step[]): Omit<PathPattern, 'excludes'> {
  return {
    named: namedBy(steps),
    any: setOf(steps, ['**', '**/']),
    within: setOf(steps, ['*']),
    moves: setOf(steps, ['once', '?', '+']),
    stays: setOf(steps, ['+', '*', '**', '**/']),
    skips: setOf(steps, ['?', '*', '**']),
    skipsToSegment: setOf(steps, ['**/']),
    end: 1n << BigInt(steps.length),
  }
}

function namedBy(steps: readonly Step[]): ReadonlyMap<string, bigint> {
  const named = new Map<string, bigint>()
  steps.forEach((step, state) => {
    for (const character of step.named) {
      named.set(character, (named.get(character) ?? 0n) | (1n << BigInt(state)))
    }
  })
  return named
}

function setOf(steps: readonly Step[], often: readonly Step['often'][]): bigint {
  const states = steps.map((step, state) => (often.includes(step.often) ? 1n << BigInt(state) : 0n))
  return states.reduce((all, each) => all | each, 0n)
}

function faultOf(line: Line, fault: string): PathPatternError {
  return new PathPatternError(line.number, line.text, fault)
}
