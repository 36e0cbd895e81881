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
const failure = { status: 404, response: { headers }, message: 'Not Found' }
const NOT_FOUND = new GitHubError({ doing: 'comparing', needs: 'contents: read' }, failure, {
  clock: { date: () => new Date(0) } as Clock,
  redact: (text) => text,
  fromFork: false,
})

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
    const before = files.get(file.filename)
    files.set(file.filename, before ? { ...file, patch: `${before.patch}\n${file.patch}` } : file)
  }
  return [...files.values()].sort((one, other) => (one.filename < other.filename ? -1 : 1))
}

/** @param lost the comparison of two commits that GitHub doesn't find */
function createRepo(history: History, lost = '') {
  const asked: string[] = []
  const repos = {
    compareCommitsWithBasehead: ({ basehead }: { basehead: string }) => {
      asked.push(basehead)
      if (basehead === lost) return Promise.reject(NOT_FOUND)
      const [from = 0, to = 0] = basehead.split('...').map(nthOf)
      const commits = Array.from({ length: to - from }, (_, index) => ({
        sha: sha(from + index + 1),
        parents: [{ sha: sha(from + index) }],
      }))
      const files = cut(between(history, from, to).slice(0, 300))
      const listed = { commits: commits.slice(0, 100), total_commits: commits.length }
      const data = { status: 'ahead', files, merge_base_commit: { sha: sha(from) }, ...listed }
      return Promise.resolve({ data, headers: {} })
    },
    getCommit: ({ ref, page, per_page }: { ref: string; page: number; per_page: number }) => {
      asked.push(`${ref} ${page}`)
      const files = history[nthOf(ref) - 1]?.slice(0, 3000) ?? []
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

test('of a part that GitHub does not find, the rest of the range says that files are missing', async () => {
  const history = [many(100, 0, 150), many(100, 100, 150), many(9, 500)]
  const { read, asked } = createRepo(history, `${sha(2)}...${sha(3)}`)
  const changes = await read()
  expect(asked.length).toBeGreaterThan(1)
  expect(changes.files).toHaveLength(200)
  expect(changes.truncated).toBe(true)
})

test('what is not cut takes one request, and the largest range a bounded number', async () => {
  const small = createRepo([many(30), many(200, 30)])
  await small.read()
  expect(small.asked).toHaveLength(1)
  const huge = createRepo(Array.from({ length: 200 }, (_, nth) => many(400, nth * 400)))
  expect((await huge.read()).truncated).toBe(true)
  expect(huge.asked.length).toBeLessThan(140)
})
