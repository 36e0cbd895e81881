/** Ranges that GitHub cuts are read in parts: every diff is found, for few requests. */

import { describe, expect, test } from '@jest/globals'
import { compareCommits } from '../../src/context/compare.js'
import type { Changes } from '../../src/context/files.js'
import { readParts } from '../../src/context/parts.js'
import type { GitHubRepo } from '../../src/github/client.js'
import { GitHubError } from '../../src/github/errors.js'
import type { Clock } from '../../src/net/deadline.js'

interface File {
  readonly filename: string
  readonly patch: string
  readonly previous_filename?: string
}
/** What each commit changes; the first has none before it. */
type History = readonly (readonly File[])[]

const headers = { 'content-type': 'application/json' }
const failure = (status: number, message: string) =>
  new GitHubError(
    { doing: 'comparing', needs: 'contents: read', ofFiles: true },
    { status, response: { headers }, message },
    { clock: { date: () => new Date(0) } as Clock, redact: (text) => text, fromFork: false },
  )

const sha = (nth: number): string => nth.toString(16).padStart(40, '0')
const nthOf = (name = ''): number => Number.parseInt(name, 16)

/** The files of one response: after 20,000 lines none has a diff, nor the number of its lines. */
function cut(files: readonly File[]) {
  let lines = 0
  return files.map(({ patch, ...file }) => {
    lines += patch.split('\n').length
    const isSent = lines <= 20_000
    const status = file.previous_filename ? 'renamed' : 'modified'
    return { ...file, sha: 'b', status, additions: +isSent, deletions: 0, ...(isSent && { patch }) }
  })
}

/** What changed between two commits, as GitHub lists it: each file once, by the alphabet. */
function between(history: History, from: number, to: number): File[] {
  const files = new Map<string, File>()
  for (const file of history.slice(from, to).flat()) {
    const name = file.previous_filename ?? file.filename
    const before = files.get(name)
    files.delete(name)
    files.set(file.filename, before ? { ...file, patch: `${before.patch}\n${file.patch}` } : file)
  }
  return [...files.values()].sort((one, other) => (one.filename < other.filename ? -1 : 1))
}

/**
 * @param lost the comparison of two commits that GitHub doesn't find
 * @param refused one that it has no list of
 * @param commitFiles how many files it lists of a commit
 * @param unlisted a file that the whole history leaves as it was
 */
function createRepo(
  history: History,
  { lost = '', refused = '', commitFiles = 3000, unlisted = '' } = {},
) {
  const asked: string[] = []
  const repos = {
    compareCommitsWithBasehead: ({ basehead }: { basehead: string }) => {
      asked.push(basehead)
      if (basehead === lost) return Promise.reject(failure(404, 'Not Found'))
      if (basehead === refused)
        return Promise.reject(failure(500, 'Sorry, this diff is taking too long to generate.'))
      const [from = 0, to = 0] = basehead.split('...').map(nthOf)
      const commits = Array.from({ length: to - from }, (_, index) => ({
        sha: sha(from + index + 1),
        parents: [{ sha: sha(from + index) }],
      }))
      const isWhole = from === 0 && to === history.length
      const changed = between(history, from, to)
      const left = changed.filter(({ filename }) => !isWhole || filename !== unlisted)
      const files = cut(left.slice(0, 300))
      const listed = { commits: commits.slice(0, 100), total_commits: commits.length }
      const data = { status: 'ahead', files, merge_base_commit: { sha: sha(from) }, ...listed }
      return Promise.resolve({ data, headers: {} })
    },
    getCommit: ({ ref, page, per_page }: { ref: string; page: number; per_page: number }) => {
      asked.push(`${ref} ${page}`)
      const files = history[nthOf(ref) - 1]?.slice(0, commitFiles) ?? []
      const ofPage = cut(files.slice((page - 1) * per_page, page * per_page))
      return Promise.resolve({ data: { files: ofPage }, headers: {} })
    },
  }
  const repo = { github: { repos }, repository: 'octo/repo' } as unknown as GitHubRepo
  const read = async (): Promise<Changes> => {
    const range = { base: sha(0), head: sha(history.length), range: 'the commits' }
    const comparison = await compareCommits(repo, range)
    if (!('changes' in comparison)) throw new Error(comparison.relation)
    return await readParts(repo, comparison.changes)
  }
  return { read, asked }
}

const many = (count: number, first = 0, lines = 1): File[] =>
  Array.from({ length: count }, (_, nth) => ({
    filename: `src/${String(first + nth).padStart(5, '0')}.ts`,
    patch: Array.from({ length: lines }, (_, line) => `+${first + nth} ${line}`).join('\n'),
  }))

const patchesOf = ({ files }: Pick<Changes, 'files'>) =>
  new Map([...files].map(({ path, patch }) => [path, patch]))

describe('every diff of a range is found,', () => {
  test.each<[string, History, number]>([
    [
      'of 1,000 files in ten commits',
      Array.from({ length: 10 }, (_, nth) => many(100, nth * 100)),
      15,
    ],
    [
      'of more lines than a response has',
      [many(100, 0, 150), many(100, 100, 150), many(9, 500)],
      5,
    ],
    ['of one commit with 1,000 files', [many(1000)], 22],
    ['of one with too many lines', [many(90, 0, 390)], 4],
    ['of 250 commits', Array.from({ length: 250 }, (_, nth) => many(2, nth * 2)), 5],
  ])('%s', async (_, history, requests) => {
    const { read, asked } = createRepo(history)
    const changes = await read()
    const all = between(history, 0, history.length)
    expect(patchesOf(changes)).toEqual(new Map(all.map(({ filename, patch }) => [filename, patch])))
    expect(changes.truncated).toBe(false)
    expect(asked.length).toBeLessThanOrEqual(requests)
  })
})

test('a file that two parts change has both diffs, the older one first', async () => {
  const one = { filename: 'src/00000.ts', patch: '+again' }
  const { read } = createRepo([many(200), [...many(200, 200), one]])
  expect(patchesOf(await read()).get('src/00000.ts')).toBe('+0 0\n+again')
})

test('a renamed file keeps the diff that it had before', async () => {
  const moved = { filename: 'src/new.ts', previous_filename: 'src/00000.ts', patch: '+moved' }
  const { read } = createRepo([many(200), [...many(200, 200), moved]])
  const patches = patchesOf(await read())
  expect(patches.get('src/new.ts')).toBe('+0 0\n+moved')
  expect(patches.has('src/00000.ts')).toBe(false)
})

test.each(['lost', 'refused'])(
  'of a part that is %s, the list of the whole is left',
  async (how) => {
    const files = createRepo([many(200), many(200, 200)], { [how]: `${sha(1)}...${sha(2)}` })
    const changes = await files.read()
    expect(files.asked.length).toBeGreaterThan(2)
    expect(changes.files).toHaveLength(300)
    expect(changes.truncated).toBe(true)
    const history = [many(100, 0, 150), many(100, 100, 150), many(9, 500)]
    const lines = createRepo(history, { [how]: `${sha(1)}...${sha(3)}` })
    const { files: listed, truncated } = await lines.read()
    expect(listed).toHaveLength(209)
    expect(truncated).toBe(false)
    expect(listed.filter(({ patch }) => patch)).toHaveLength(133)
  },
)

test('a commit whose list is shorter than that of the comparison leaves it as it was', async () => {
  const { read } = createRepo([many(320)], { commitFiles: 0 })
  const changes = await read()
  expect(changes.files).toHaveLength(300)
  expect(changes.truncated).toBe(true)
})

test('the list of the whole leads: no file that was changed back, and its own diffs', async () => {
  const back = { filename: 'src/back.ts', patch: '+came' }
  const { read } = createRepo(
    [
      [...many(120, 0, 150), back],
      [...many(1, 0, 150), { ...back, patch: '-went' }],
      many(60, 200, 150),
    ],
    { unlisted: 'src/back.ts' },
  )
  const changes = await read()
  expect(changes.truncated).toBe(false)
  expect(changes.files).toHaveLength(180)
  expect(patchesOf(changes).has('src/back.ts')).toBe(false)
  expect(changes.files.every(({ patch }) => patch)).toBe(true)
})

/** Branches of some commits each, merged with merge commits: `0 -> b1 b2 -> m1 -> ...`. */
function merged(branches: number, commits: number) {
  const nodes: { sha: string; parents: string[]; files: File[] }[] = []
  let [main, nth] = [sha(0), 0]
  for (let branch = 0; branch < branches; branch++) {
    let tip = main
    const files: File[] = []
    for (let one = 0; one < commits; one++) {
      const own = many(20, nth++ * 20)
      files.push(...own)
      nodes.push({ sha: sha(1000 + nth), parents: [tip], files: own })
      tip = sha(1000 + nth)
    }
    nodes.push({ sha: sha(5000 + branch), parents: [main, tip], files })
    main = sha(5000 + branch)
  }
  return { nodes, head: main }
}

test.each([20, 21, 22, 30])(
  '%d merged branches of three commits are found whole',
  async (count) => {
    const { nodes, head } = merged(count, 3)
    const known = new Map(nodes.map((node) => [node.sha, node]))
    const reach = (from: string): Set<string> => {
      const seen = new Set<string>()
      const next = [from]
      for (let at = next.pop(); at !== undefined; at = next.pop()) {
        const node = known.get(at)
        if (node === undefined || seen.has(at)) continue
        seen.add(at)
        next.push(...node.parents)
      }
      return seen
    }
    const repos = {
      compareCommitsWithBasehead: ({ basehead }: { basehead: string }) => {
        const [base = '', to = ''] = basehead.split('...')
        const before = reach(base)
        const commits = nodes.filter((node) => reach(to).has(node.sha) && !before.has(node.sha))
        const all = commits
          .filter(({ parents }) => parents.length === 1)
          .flatMap(({ files }) => files)
        const sorted = [...all].sort((one, other) => (one.filename < other.filename ? -1 : 1))
        const listed = commits.slice(0, 100).map((node) => ({
          sha: node.sha,
          parents: node.parents.map((parent) => ({ sha: parent })),
        }))
        const ofRange = { merge_base_commit: { sha: base }, commits: listed }
        const data = { status: 'ahead', files: cut(sorted.slice(0, 300)), ...ofRange }
        return Promise.resolve({ data, headers: {} })
      },
      getCommit: ({ ref, page, per_page }: { ref: string; page: number; per_page: number }) => {
        const files = known.get(ref)?.files ?? []
        const ofPage = cut(files.slice((page - 1) * per_page, page * per_page))
        return Promise.resolve({ data: { files: ofPage }, headers: {} })
      },
    }
    const repo = { github: { repos }, repository: 'octo/repo' } as unknown as GitHubRepo
    const comparison = await compareCommits(repo, { base: sha(0), head, range: 'the commits' })
    if (!('changes' in comparison)) throw new Error(comparison.relation)
    const changes = await readParts(repo, comparison.changes)
    expect(changes.truncated).toBe(false)
    expect(changes.files).toHaveLength(count * 60)
  },
)

test('what is not cut takes one request, and the largest range a bounded number', async () => {
  const small = createRepo([many(30), many(200, 30)])
  await small.read()
  expect(small.asked).toHaveLength(1)
  const huge = createRepo(Array.from({ length: 200 }, (_, nth) => many(400, nth * 400)))
  expect((await huge.read()).truncated).toBe(true)
  expect(huge.asked.length).toBeLessThan(140)
})
