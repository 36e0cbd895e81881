/**
 * The patterns of `context-paths`: GitHub's own examples, the rules that follow from them, and what
 * is rejected.
 */

import { describe, expect, test } from '@jest/globals'
import { findFolder, matchesPatterns, parsePathPatterns } from '../../src/inputs/path-patterns.js'
import { InvalidInput } from '../../src/inputs/values.js'
import { scaled } from '../support/time.js'

/** The patterns, one on a line, the paths that count, and those that don't. */
type Row = readonly [patterns: string, counted: readonly string[], ignored: readonly string[]]

function check([patterns, counted, ignored]: Row): void {
  const parsed = parsePathPatterns(patterns)
  expect(counted.filter((path) => !matchesPatterns(parsed, path))).toEqual([])
  expect(ignored.filter((path) => matchesPatterns(parsed, path))).toEqual([])
}

/** A row for each line that has bars: the patterns | the paths that count | those that don't. */
function rowsOf(table: string): [string, Row][] {
  const words = (text = ''): string[] => text.split(' ').filter((word) => word !== '')
  return table.split('\n').flatMap((line): [string, Row][] => {
    const [patterns = '', counted, ignored] = line.split('|')
    if (counted === undefined) return []
    return [[patterns.trim(), [words(patterns).join('\n'), words(counted), words(ignored)]]]
  })
}

/** The patterns and what they match are the page's own; the paths that don't count were added. */
const PAGE = `
Special characters
  Octo*                            | Octocat Octo         | Octo/cat octocat

Branches and tags
  feature/*                        | feature/my-branch    | feature/a/b feature my/feature/a
  feature/**                       | feature/beta-a/my-branch feature/your-branch | feature features/a
  feature/**                       | feature/mona/the/octocat |
  main releases/mona-the-octocat   | main releases/mona-the-octocat | releases main/a
  *feature                         | mona-feature feature ver-10-feature | features a/feature

File paths
  *                                | README.md server.rb  | docs/README.md
  **                               | all/the/files.md README.md |
  **.js                            | index.js js/index.js src/js/app.js | index.jsx js/indexjs
  docs/*                           | docs/README.md docs/file.txt | docs/mona/octocat.txt docs a/docs/file.txt
  docs/**                          | docs/README.md docs/mona/octocat.txt | docs docs.md a/docs/README.md
  docs/**/*.md                     | docs/README.md docs/mona/hello-world.md docs/a/markdown/file.md |
  docs/**/*.md                     |                      | docs/mona/octocat.txt README.md docs.md docsREADME.md
  **/docs/**                       | docs/hello.md dir/docs/my-file.txt space/docs/plan/space.doc | docs dir/docs
  **/docs/**                       |                      | dir/mydocs/a mydocs/a docsx/a
  **/README.md                     | README.md js/README.md a/b/README.md | NOTREADME.md js/NOTREADME.md
  **/*src/**                       | a/src/app.js my-src/code/js/app.js src/a | source/app.js a/src src
  **/*-post.md                     | my-post.md path/their-post.md | path/post.md my-post.mdx
  **/migrate-*.sql                 | migrate-10909.sql db/migrate-v1.0.sql db/sept/migrate-v1.sql | db/migrate-v1.0.txt
  **/migrate-*.sql                 |                      | remigrate-1.sql migrate-1/a.sql
  *.md !README.md                  | hello.md             | README.md docs/hello.md
  *.md !README.md README*          | hello.md README.md README.doc | docs/README.md

Including and excluding
  releases/** !releases/**-alpha   | releases/10 releases/beta/mona | releases/10-alpha releases/beta/3-alpha main
`

const RULES = String.raw`
A pattern matches the whole path, from the root; case matters; files that start with a dot are files
  docs                             | docs                 | docs/x a/docs docs2 doc
  *.MD                             | a.MD                 | a.md
  *                                | .gitignore           | .github/a.yml

**/ matches any number of whole folders; after other characters up to a slash
  a/**/b                           | a/b a/x/b a/x/y/b a/x/b/b | ab a/xb a/b/x xa/b
  **/**/a                          | a x/a x/y/z/a        | xa x/ya
  **/a/**/b                        | a/b x/a/b a/x/b x/a/y/a/b | xa/b a/xb b
  ****/a                           | a x/y/a              | xa
  src**/x.go                       | src/x.go srca/x.go src/a/b/x.go srca/b/x.go | srcx.go srcax.go sr/x.go

** without a slash matches any characters, or none; * those within a segment
  a**b                             | ab a/b axb ax/yb     | a b abx xab
  docs**                           | docs docs2 docs/a/b  | a/docs
  ***                              | a a/b                |
  **x**                            | x a/x x/a a/axa/a    | a a/b
  a/*/b                            | a/x/b a/.x/b         | a/b a/x/y/b
  *a*b*                            | ab xaxbx aab aabb    | ba a/b a
  a*                               | a aa                 | a/

A backslash escapes punctuation; every other character matches itself
  a\*                              | a*                   | a ab a\*
  a\? \+ \[x] x\]                  | a? + [x] x]          | a x
  \!a                              | !a                   | a \!a b
  a\\b                             | a\b                  | ab a\\b a/b
  c\/d e\.f                        | c/d e.f              | cd exf
  \**                              | * *a                 | a */a
  a! a]                            | a! a]                | a
  \{a,b\}.go (a&b)$^               | {a,b}.go (a&b)$^     | a.go a b

Later lines win; if all patterns have !, everything else counts
  a/** !a/b/** a/b/c/** !a/b/c/d   | a/x a/b/c/x          | a/b/x a/b/c/d x
  !a *                             | a b                  | x/y
  !a b                             | b                    | a c
  !docs/**                         | a docs src/docs/a    | docs/a
  !**                              |                      | a a/b .a
  !!a                              | a b                  | !a
`

/** Those with white space or other characters that a table has no room for. */
const ODD: readonly Row[] = [
  ['a|b', ['a|b'], ['a', 'b', 'ab']],
  ['😀*a', ['😀a', '😀xa'], ['\ud83da', '\ude00a']],
  ['a\\ b\n\\# c', ['a b', '# c'], ['ab', 'c']],
  ['# all\na # b\n#c', ['a'], ['# all', 'a # b', '#c']],
  ['# but these\n!a\t# b', ['b', 'a # b'], ['a']],
  ['c#.md # b', ['c#.md'], ['c', 'c#.md # b']],
  ['naïve 😀.md', ['naïve 😀.md'], ['naive 😀.md', 'naïve \ud83d.md']],
  ['*', ['a\nb', 'a b', '\t', '"\'`', '😀', '\r\n', '\u2028', '\ud800', '\\'], ['a\n/b']],
  ['**/*.md', ['a\nb/c\nd.md', '\n.md', '😀/ .md'], ['a.md\n']],
  ['**', ['\n', 'a\n/\nb'], []],
  // Lines are trimmed, and blank ones skipped.
  ['\n  docs/a\t\n   \n\n\r', ['docs/a'], ['', '  docs/a', 'docs/a\t']],
  ['a\r\nb\rc', ['a', 'b', 'c'], ['a\r', 'b\rc']],
  ['\n !a \n', ['b'], ['a']],
]

test.each(rowsOf(PAGE))("%s matches what GitHub's page shows [context.paths.page]", (_, row) =>
  check(row),
)

describe('the rules [context.paths.page]', () => {
  test.each(rowsOf(RULES))('let %s match its own', (_, row) => check(row))

  const rule = ([pattern]: Row) =>
    / #|^#/.test(pattern) ? '[context.paths.comment]' : '[context.paths.page]'
  test.each(ODD.map((row) => [row, rule(row)] as const))('let %j match its own %s', (row) =>
    check(row),
  )

  test('without patterns, everything counts', () => {
    expect(parsePathPatterns('\n\n \n')).toEqual([])
    expect(matchesPatterns([], 'any/thing')).toBe(true)
  })
})

describe('which pattern is the name of a folder, of the files [context.paths.folder]', () => {
  const files = ['src/a.ts', 'a/internal/b/c.ts']
  test.each([
    ['src', 'src'],
    ['**\n!**/internal', '!**/internal'],
    ['src/**\na/internal', 'a/internal'],
    ['*/internal/b', '*/internal/b'],
    ['src\n!src/**', 'src'],
    // The line that the folder's name stands for.
    ['src\nsrc/**', undefined],
    ['!**/internal/**\n!**/internal', undefined],
    ['src/**\n!internal/**\n**/c.ts', undefined],
    // The name of another folder, and what may be meant for files.
    ['internal\nrc\nb\nsrc/a.ts', undefined],
    ['*\nsr*\n*c\nsrc**\na/*\na/**', undefined],
  ])('of %j is %s', (text, folder) => {
    expect(findFolder(parsePathPatterns(text), files)).toBe(folder)
  })
})

const problem = (text: string): unknown => {
  try {
    return parsePathPatterns(text)
  } catch (thrown) {
    if (!(thrown instanceof InvalidInput)) throw thrown
    const [, message = '', line] =
      /^invalid pattern GOT, (line (\d+): .*)\.$/s.exec(thrown.describe('GOT')) ?? []
    return { message, line: Number(line), pattern: thrown.shown }
  }
}

const ALTERNATIVES =
  /^line 1: only "\*" and "\*\*" are wildcards; write one line for each alternative, or "\\" before a character that is part of a name$/
const NO_DOTS =
  /no path contains "\.\/", "\.\.\/" or "\/\/"; start with a file or folder, or "\*\*"$/
const QUOTES = /remove the quotes; write "\\" before a quote that is part of a name$/
const BACKSLASH =
  /^line 1: "\\" is only for punctuation and blanks in a name; separate folders with "\/"$/

describe('what is rejected [context.paths.slips]', () => {
  const rejected = (patterns: string, message: RegExp) =>
    patterns.split(' ').map((pattern): [string, RegExp] => [pattern, message])

  test.each([
    ...rejected('!', /^line 1: "!" must be followed by a pattern to exclude$/),
    ...rejected('?a +a !?a *.jsx? v[12] docs/[a a+ **/*.{md,mdx} !{a,b}/c docs/}', ALTERNATIVES),
    ...rejected('a\\ docs\\readme.md \\0 \\é', BACKSLASH),
  ])('is %s', (text, message) => {
    expect(problem(text)).toEqual(
      expect.objectContaining({ message: expect.stringMatching(message) }),
    )
  })

  test.each([
    ['/docs/**', /remove the first "\/": patterns already start at the root of the repository$/],
    ['./docs/**', NO_DOTS],
    ['../docs/**', NO_DOTS],
    ...rejected('src//** src/./x src/../lib/** . .. src/..', NO_DOTS),
    [
      'docs/',
      /a pattern matches files, not folders: write "\/\*\*" at the end for everything inside$/,
    ],
    ['"docs/**"', QUOTES],
    ["!'docs/**'", QUOTES],
    [
      '- docs/**',
      /write one pattern per line, without "- "; write "\\- " for a name that starts like that$/,
    ],
    ...[
      'docs/**, src/**',
      'docs/**,',
      'docs/**,src/**',
      'docs/** src/**',
      '*.md,*.mdx',
      '**/*.md,**/*.mdx',
      'docs/*.md docs/*.mdx',
      'docs/*.md\tdocs/*.mdx',
      'src/**;lib',
      'src/*|lib',
      'src/*.ts;lib/*.ts',
      'src/*.ts|lib/*.ts',
      'a\\,*.md,*.mdx',
    ].map((text): [string, RegExp] => [
      text,
      /write one pattern per line, or "\\" before a comma, a blank, ";" or "\|" that is part of a name$/,
    ]),
    ['"docs/**",', QUOTES],
    ['! a', /remove the blank after "!"; write "\\ " for a name that starts with one$/],
  ])('is %s, a likely slip that could never match [context.paths.slips]', (text, message) => {
    const expected = { line: 2, pattern: text, message: expect.stringMatching(message) }
    expect(problem(`src/**\r\n${text}`)).toMatchObject(expected)
  })

  test.each([
    '\\"a"',
    '\\- a',
    'a\\, b',
    'a\\,',
    'a,b',
    '-a',
    "a'",
    '.a/b',
    'a./b',
    'a../b',
    '"a"b',
    'a\\{',
    '\\#a',
  ])('is not %s, which names a file', (text) => {
    expect(matchesPatterns(parsePathPatterns(text), text.replace('\\', ''))).toBe(true)
  })

  test.each([
    ['My Docs/**', 'My Docs/a'],
    ['**/My Docs/**', 'a/My Docs/b'],
    ['*\\,*\\;*\\|*', 'a,b;c|d'],
  ])('is not %s, where a name has what is between patterns', (text, name) => {
    expect(matchesPatterns(parsePathPatterns(text), name)).toBe(true)
  })

  test('has an error with the line, counted from 1, and the pattern as written', () => {
    expect(problem('docs/**\n\n  !😀[x  \n[y')).toMatchObject({ line: 3, pattern: '!😀[x' })
  })

  test.each(['[\u001b]::error::x', 'a\\\u202e', '\u0007['])(
    'has an error without text from the line: %j',
    (text) => {
      expect((problem(text) as { message: string }).message).toMatch(/^line 1: [ -~]+$/)
      expect((problem(text) as { message: string }).message).not.toContain('::')
    },
  )
})

describe('the longest patterns and paths are matched without backtracking [text.cheap]', () => {
  const path = 'a'.repeat(4_000)
  const folders = 'a/'.repeat(2_000)
  test.each([
    ['a*a*a*…b', `${'a*'.repeat(499)}b`, path, false],
    ['*a*a*a…', '*a'.repeat(499), path, true],
    ['**a**a…b', `${'**a'.repeat(333)}b`, path, false],
    ['**/**/…x', `${'**/'.repeat(333)}x`, folders, false],
    ['**/*/**/*/…x', `${'**/*/'.repeat(199)}x`, folders, false],
    ['**/a/**/a/…', `${'**/a/'.repeat(199)}**`, folders, true],
    ['******…x', `${'*'.repeat(999)}x`, path, false],
  ])('as %s is', (_, pattern, against, expected) => {
    matchesPatterns(parsePathPatterns('*'), 'warm')
    const start = performance.now()
    expect(matchesPatterns(parsePathPatterns(pattern), against)).toBe(expected)
    // A matcher that backtracks takes years.
    expect(performance.now() - start).toBeLessThan(scaled(5_000))
  })
})
