/** Ranges that GitHub cuts are read in parts: every diff is found, for few requests. */

import { describe, expect, test } from '@jest/globals'
import type { ListedChanges } from '../../src/context/files.js'
import { changesBetween } from '../../src/context/ranges.js'
import type { GitHubRepo } from '../../src/github/client.js'
import { GitHubError } from '../../src/github/errors.js'
import type { Clock } from '../../src/net/deadline.js'

interface File {
  readonly filename: string
  readonly patch: string
  readonly previous_filename?: string
  readonly status?: string
}
interface Commit {
  readonly sha: string
  readonly parents: readonly string[]
  readonly files: readonly File[]
}

const headers = { 'content-type': 'application/json' }
const failure = (status: number, message: string) =>
  new GitHubError(
    { doing: 'comparing', needs: 'contents: read', ofFiles: true },
    { status, response: { headers }, message },
    { clock: { date: () => new Date(0) } as Clock, redact: (text) => text, fromFork: false },
  )

const sha = (nth: number): string => nth.toString(16).padStart(40, '0')

/** Each commit after the one before it, from `sha(1)` on. */
const inLine = (...commits: readonly (readonly File[])[]): Commit[] =>
  commits.map((files, nth) => ({ sha: sha(nth + 1), parents: [sha(nth)], files }))

/**
 * The files of one response: after 20,000 lines, or a number of characters, none has a diff, nor
 * the number of its lines.
 */
function cut(files: readonly File[], characters: number) {
  let [lines, length] = [0, 0]
  return files.map(({ patch, status = 'modified', ...file }) => {
    lines += patch === '' ? 0 : patch.split('\n').length
    length += patch.length
    const isSent = lines <= 20_000 && length <= characters && patch !== ''
    const counts = { additions: +isSent, deletions: 0 }
    return { ...file, sha: 'b', status, ...counts, ...(isSent && { patch }) }
  })
}

/** What changed, as GitHub lists it: each file once, by the alphabet. */
function changedBy(commits: readonly Commit[]): File[] {
  const files = new Map<string, File>()
  // A merge lists what its branch changed.
  for (const file of commits.flatMap(({ files, parents }) => (parents.length > 1 ? [] : files))) {
    const name = file.previous_filename ?? file.filename
    const before = files.get(name)
    files.delete(name)
    files.set(file.filename, before ? { ...file, patch: `${before.patch}\n${file.patch}` } : file)
  }
  return [...files.values()].sort((one, other) => (one.filename < other.filename ? -1 : 1))
}

/**
 * A range from `sha(0)` to its last commit.
 *
 * @param lost the comparison of two commits that GitHub doesn't find
 * @param refused one that it has no list of
 * @param commitFiles how many files it lists of a commit
 * @param unlisted a file that the whole range leaves as it was
 * @param characters how long the diffs of a response are
 */
function createRange(
  history: readonly Commit[],
  {
    lost = '',
    refused = '',
    commitFiles = 3000,
    unlisted = '',
    characters = Number.POSITIVE_INFINITY,
  } = {},
) {
  const known = new Map(history.map((commit) => [commit.sha, commit]))
  const head = history.at(-1)?.sha ?? ''
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next = [from]; next.length > 0; ) {
      const at = next.pop() ?? ''
      const commit = known.get(at)
      if (commit === undefined || seen.has(at)) continue
      seen.add(at)
      next.push(...commit.parents)
    }
    return seen
  }
  const asked: string[] = []
  const repos = {
    compareCommitsWithBasehead: async ({ basehead }: { basehead: string }) => {
      asked.push(basehead)
      if (basehead === lost) throw failure(404, 'Not Found')
      if (basehead === refused)
        throw failure(500, 'Sorry, this diff is taking too long to generate.')
      const [base = '', to = ''] = basehead.split('...')
      const [before, after] = [reach(base), reach(to)]
      const commits = history.filter((one) => after.has(one.sha) && !before.has(one.sha))
      const isWhole = commits.length === history.length
      const changed = changedBy(commits).filter((one) => !isWhole || one.filename !== unlisted)
      const listed = commits.slice(0, 100).map((one) => ({
        sha: one.sha,
        parents: one.parents.map((parent) => ({ sha: parent })),
      }))
      const ofRange = { merge_base_commit: { sha: base }, total_commits: commits.length }
      const files = cut(changed.slice(0, 300), characters)
      return { data: { status: 'ahead', files, commits: listed, ...ofRange }, headers: {} }
    },
    getCommit: async ({ ref, page, per_page }: { ref: string; page: number; per_page: number }) => {
      asked.push(`${ref} ${page}`)
      const files = known.get(ref)?.files.slice(0, commitFiles) ?? []
      const ofPage = files.slice((page - 1) * per_page, page * per_page)
      return { data: { files: cut(ofPage, characters) }, headers: {} }
    },
  }
  const repo = { github: { repos }, repository: 'octo/repo' } as unknown as GitHubRepo
  const read = async () => (await changesBetween(repo, sha(0), head)) as ListedChanges
  return { read, asked }
}

const many = (count: number, first = 0, lines = 1): File[] =>
  Array.from({ length: count }, (_, nth) => ({
    filename: `src/${String(first + nth).padStart(5, '0')}.ts`,
    patch: Array.from({ length: lines }, (_, line) => `+${first + nth} ${line}`).join('\n'),
  }))

const patchesOf = ({ files }: ListedChanges) =>
  new Map(files.map(({ path, patch }) => [path, patch]))

describe('every diff of a range is found, [range.cut.parts]', () => {
  const tens = (commits: number, files: number) =>
    inLine(...Array.from({ length: commits }, (_, nth) => many(files, nth * files)))
  const wide = (count: number, first = 0) =>
    many(count, first).map((one) => ({ ...one, patch: '+'.padEnd(8000, 'x') }))
  test.each<[string, Commit[], requests: number, characters: number]>([
    ['of 1,000 files in ten commits', tens(10, 100), 15, Infinity],
    [
      'of more lines than a response has',
      inLine(many(100, 0, 150), many(100, 100, 150), many(9, 500)),
      5,
      Infinity,
    ],
    ['of more characters, if these count', inLine(wide(90), wide(90, 90)), 5, 1_000_000],
    ['of one commit with 1,000 files', inLine(many(1000)), 22, Infinity],
    ['of one with too many lines', inLine(many(90, 0, 390)), 4, Infinity],
    ['of 250 commits', tens(250, 2), 5, Infinity],
  ])('%s', async (_, history, requests, characters) => {
    const { read, asked } = createRange(history, { characters })
    const changes = await read()
    const patches = patchesOf(changes)
    const lost = changedBy(history).filter((one) => patches.get(one.filename) !== one.patch)
    expect(lost).toEqual([])
    expect(changes.truncated).toBe(false)
    expect(asked.length).toBeLessThanOrEqual(requests)
  })
})

test('a file that two parts change has both diffs, the older one first [range.cut.joined]', async () => {
  const one = { filename: 'src/00000.ts', patch: '+again' }
  const { read } = createRange(inLine(many(200), [...many(200, 200), one]))
  expect(patchesOf(await read()).get('src/00000.ts')).toBe('+0 0\n+again')
})

test.each([
  ['a change', '+moved', '+0 0\n+moved'],
  ['no change', '', '+0 0'],
])(
  'a file that is renamed with %s keeps the diff that it had before [range.cut.joined]',
  async (_, patch, whole) => {
    const names = { filename: 'src/new.ts', previous_filename: 'src/00000.ts' }
    const moved = { ...names, status: 'renamed', patch }
    const { read } = createRange(inLine(many(200), [...many(200, 200), moved]))
    const patches = patchesOf(await read())
    expect(patches.get('src/new.ts')).toBe(whole)
    expect(patches.has('src/00000.ts')).toBe(false)
  },
)

test('of a renamed file behind the last diff, nobody knows whether it is changed [range.cut.joined]', async () => {
  const moved = { filename: 'src/9.ts', previous_filename: 'a.ts', status: 'renamed', patch: '+1' }
  const lost = { commitFiles: 0 }
  const { files } = await createRange(inLine([...many(90, 0, 390), moved]), lost).read()
  expect(files.at(-1)?.patch).toBeUndefined()
  const short = await createRange(inLine([...many(9), { ...moved, patch: '' }])).read()
  expect(short.files.at(-1)).toMatchObject({ status: 'renamed', patch: '' })
})

test('a file that one part adds and another removes is no change [range.cut.joined]', async () => {
  const one = { filename: 'src/zz.ts', patch: '+1' }
  const [added, removed] = ['added', 'removed'].map((status) => ({ ...one, status }))
  const history = inLine([...many(200), added as File], [...many(200, 200), removed as File])
  const changes = await createRange(history, { unlisted: one.filename }).read()
  expect(changes.files).toHaveLength(400)
})

test.each(['lost', 'refused'])(
  'of a part that is %s, the list of the whole is left [range.cut.whole-leads]',
  async (how) => {
    const history = inLine(many(200), many(200, 200))
    const files = createRange(history, { [how]: `${sha(1)}...${sha(2)}` })
    expect(await files.read()).toMatchObject({ files: { length: 300 }, truncated: true })
    expect(files.asked.length).toBeGreaterThan(2)
    const long = inLine(many(100, 0, 150), many(100, 100, 150), many(9, 500))
    const lines = await createRange(long, { [how]: `${sha(1)}...${sha(3)}` }).read()
    expect(lines).toMatchObject({ files: { length: 209 }, truncated: false })
    expect(lines.files.filter(({ patch }) => patch)).toHaveLength(133)
  },
)

test('a commit whose list is shorter than that of the comparison leaves it as it was [range.cut.whole-leads]', async () => {
  const changes = await createRange(inLine(many(320)), { commitFiles: 0 }).read()
  expect(changes).toMatchObject({ files: { length: 300 }, truncated: true })
})

test('the list of the whole leads: no file that was changed back, and its own diffs [range.cut.whole-leads]', async () => {
  const back = { filename: 'src/back.ts', patch: '+came' }
  const history = inLine(
    [...many(120, 0, 150), back],
    [...many(1, 0, 150), { ...back, patch: '-went' }],
    many(60, 200, 150),
  )
  const changes = await createRange(history, { unlisted: 'src/back.ts' }).read()
  expect(changes).toMatchObject({ files: { length: 180 }, truncated: false })
  expect(patchesOf(changes).has('src/back.ts')).toBe(false)
  expect(changes.files.every(({ patch }) => patch)).toBe(true)
})

/** Branches of some commits each, merged with merge commits: `0 -> b1 b2 -> m1 -> ...`. */
function merged(branches: number, commits: number): Commit[] {
  const history: Commit[] = []
  let [main, nth] = [sha(0), 0]
  for (let branch = 0; branch < branches; branch++) {
    let tip = main
    const files: File[] = []
    for (let one = 0; one < commits; one++) {
      const own = many(20, nth++ * 20)
      files.push(...own)
      history.push({ sha: sha(1000 + nth), parents: [tip], files: own })
      tip = sha(1000 + nth)
    }
    history.push({ sha: sha(5000 + branch), parents: [main, tip], files })
    main = sha(5000 + branch)
  }
  return history
}

test.each([20, 21, 22, 30])(
  '%d merged branches of three commits are found whole [range.cut.requests]',
  async (count) => {
    const changes = await createRange(merged(count, 3)).read()
    expect(changes).toMatchObject({ files: { length: count * 60 }, truncated: false })
  },
)

test('what is not cut takes one request, and the largest range a bounded number [range.cut.requests]', async () => {
  const small = createRange(inLine(many(30), many(200, 30)))
  await small.read()
  expect(small.asked).toHaveLength(1)
  const huge = createRange(inLine(...Array.from({ length: 200 }, (_, nth) => many(400, nth * 400))))
  expect((await huge.read()).truncated).toBe(true)
  expect(huge.asked.length).toBeLessThanOrEqual(65)
})
