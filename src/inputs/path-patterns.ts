/**
 * Decides which changed files count, using patterns that mean the same as in `on.push.paths`.
 *
 * Whoever opens a pull request chooses the names of its files, and a regular expression that
 * backtracks can be made to run for minutes by a name. So the patterns have a matcher of their own:
 * its time grows with the length of the pattern times the length of the path, whatever they are.
 */

import { InvalidInput } from './values.js'

/**
 * Likely slips: GitHub's paths start at the root and end in a file, so the first three can never
 * match one. The others would take a file with an odd name; for such a file, escape the character.
 * And what GitHub's patterns have besides wildcards, which few use. [context.paths.slips]
 */
const SLIPS: readonly (readonly [slip: RegExp, problem: string])[] = [
  [/^$/, '"!" must be followed by a pattern to exclude'],
  [/^\//, 'remove the first "/": patterns already start at the root of the repository'],
  [
    /\/\/|(?:^|\/)\.\.?(?:\/|$)/,
    'no path contains "./", "../" or "//"; start with a file or folder, or "**"',
  ],
  [/\/$/, 'a pattern matches files, not folders: write "/**" at the end for everything inside'],
  [/^\s/, 'remove the blank after "!"; write "\\ " for a name that starts with one'],
  [/^(["']).*\1,?$/, 'remove the quotes; write "\\" before a quote that is part of a name'],
  [
    /^- /,
    'write one pattern per line, without "- "; write "\\- " for a name that starts like that',
  ],
  [
    /(?<!\\)[{}?+[]/,
    'only "*" and "**" are wildcards; write one line for each alternative, or "\\" before a character that is part of a name',
  ],
  [
    /(?<!\\),(?:\s|$)|\*[,;|\s]|\*[^*]*\.\w+[,;|\s][^*]*\*/,
    'write one pattern per line, or "\\" before a comma, a blank, ";" or "|" that is part of a name',
  ],
  [
    /(?<!\\)\\(?![ -/:-@[-`{-~])/,
    '"\\" is only for punctuation and blanks in a name; separate folders with "/"',
  ],
]

/** A comment begins as in YAML, where such lists often have some. [context.paths.comment] */
const COMMENT = /(?:^|\s)#.*/

/** One pattern: the tokens that a path has to match from start to end. */
type PathPattern = Readonly<{
  text: string
  excludes: boolean
  tokens: readonly Token[]
}>

// A token is a character that is matched once, or a wildcard, which matches any number of
// characters: `*` no slash, and `**` any. `**` with its `/` is one token, because the page says
// that `**/README.md` matches `README.md` too. It ends where a segment starts: the page says "in a
// `docs` directory" of `**/docs/**` and "with the prefix `migrate-`" of `**/migrate-*.sql`.
type Token = string | Readonly<{ wildcard: string }>

/** A wildcard, or a character, which may be escaped. */
const ELEMENT = /(\*\*\/|\*\*|\*)|\\?([\s\S])/gu

/**
 * The rules are those of the filter pattern cheat sheet
 * (docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet).
 * [context.paths.page]
 *
 * @param folders if there are some, such as `owner/name/`, each file is in one of them [code.names]
 * @throws InvalidInput at the first line that can't be a pattern, or that no file can match.
 */
export function parsePathPatterns(
  text: string,
  folders: readonly string[] = [],
): readonly PathPattern[] {
  // A problem names the line as an editor counts it.
  return text.split(/\r\n|\r|\n/).flatMap((line, index) => {
    // A pattern is a line without its comment, trimmed.
    const pattern = line.replace(COMMENT, '').trim().normalize('NFC')
    return pattern === '' ? [] : parseLine(index + 1, pattern, folders)
  })
}

function parseLine(number: number, text: string, folders: readonly string[]): PathPattern {
  const excludes = text.startsWith('!')
  const pattern = excludes ? text.slice(1) : text
  const tokens = [...pattern.matchAll(ELEMENT)].map(
    ([, wildcard, character = '']): Token => (wildcard ? { wildcard } : character),
  )
  const isInside = (folder: string) =>
    tokens.some((_, index) => matches(tokens.slice(0, index + 1), folder))
  const slip = SLIPS.find(([mistake]) => mistake.test(pattern))?.[1]
  const isOutside = !excludes && folders.length > 0 && !folders.some(isInside)
  const outside = `it matches no file of code-repositories; begin as in "${folders[0]}src/**", or with "**/"`
  const problem = slip ?? (isOutside && outside)
  if (problem)
    throw new InvalidInput((got) => `invalid pattern ${got}, line ${number}: ${problem}.`, text)
  return { text, excludes, tokens }
}

/**
 * Whether a changed file counts: the last pattern that matches its path decides. If none does, it
 * counts if there are only patterns with `!`, or none at all.
 */
export function matchesPatterns(patterns: readonly PathPattern[], path: string): boolean {
  const last = patterns.findLast(({ tokens }) => matches(tokens, path))
  return last === undefined ? patterns.every((pattern) => pattern.excludes) : !last.excludes
}

/**
 * The first pattern that names a folder of one of these files, and so nothing that is inside;
 * unless a line for that is there, too. [context.paths.folder]
 */
export function findFolder(
  patterns: readonly PathPattern[],
  paths: readonly string[],
): string | undefined {
  const lines = patterns.map(({ text }) => text)
  const folder = patterns.filter(endsInName).find(({ text, tokens }) => {
    const inside = [...tokens, '/', { wildcard: '**' }]
    return !lines.includes(`${text}/**`) && paths.some((path) => matches(inside, path))
  })
  return folder?.text
}

/** Whether a pattern ends in a name, not in a wildcard: `*.d` may be meant for files. */
function endsInName({ tokens }: PathPattern): boolean {
  const last = tokens.findLast((token) => token === '/' || typeof token !== 'string')
  return typeof last !== 'object' || last.wildcard === '**/'
}

/**
 * Matches the whole path, one character after the other. `reached[i]` says whether the characters
 * so far can be matched by the tokens before token `i`. [text.cheap]
 */
function matches(tokens: readonly Token[], path: string): boolean {
  let reached = skipWildcards(tokens, [true], true)
  for (const character of path) {
    const next: boolean[] = []
    tokens.forEach((token, index) => {
      if (!reached[index]) return
      if (token === character) next[index + 1] = true
      if (typeof token !== 'string' && (token.wildcard !== '*' || character !== '/'))
        next[index] = true
    })
    // This is for speed alone: 3,000 names take 24 ms in place of 382.
    if (next.length === 0) return false
    reached = skipWildcards(tokens, next, character === '/')
  }
  return reached[tokens.length] === true
}

/** Adds the tokens that are reached if wildcards end here. */
function skipWildcards(
  tokens: readonly Token[],
  reached: boolean[],
  startsSegment: boolean,
): boolean[] {
  tokens.forEach((token, index) => {
    if (reached[index] && typeof token !== 'string' && (startsSegment || token.wildcard !== '**/'))
      reached[index + 1] = true
  })
  return reached
}
