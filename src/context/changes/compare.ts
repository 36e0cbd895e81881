/** Compares two commits: the files and commits between them, and where to halve what GitHub cut. */

import type { Commit } from '../../event/event.js'
import { getArray, getSha, getString } from '../../event/payload.js'
import {
  asking,
  type Gift,
  type GitHubRepo,
  type ReadPage,
  readPages,
} from '../../github/client.js'
import { GitHubError, succeeds } from '../../github/errors.js'
import type { ApiComparison, ApiFile } from '../../github/types.js'
import { quote } from '../../text/escape.js'
import type { ChangedFile, CommitList, Halves, ListedChanges, Range } from './types.js'

/** Files of a comparison, at most (docs.github.com/en/rest/commits/commits#compare-two-commits). */
const COMPARE_LIMIT = 300

/**
 * The maximum number of files of a pull request or a commit
 * (docs.github.com/en/rest/pulls/pulls#list-pull-requests-files), and how many are asked for at
 * once: from 20,000 lines on, the rest of a response has no diffs
 * (github.com/orgs/community/discussions/213491).
 */
const FILES_LIMIT = 3000
const FILES_PAGE = 50

const RELATIONS = ['ahead', 'identical', 'behind', 'diverged']

type Comparison = Readonly<
  | { kind: ApiComparison['status']; changes: ListedChanges }
  /** `missing`: one of the two does not exist, or the token can't read the repository. */
  | { kind: 'missing' | 'unrelated'; error: GitHubError }
>

/**
 * A commit that was pushed a moment ago may not be found yet, so a 404 isn't believed at once.
 *
 * @param about stands in the changes
 * @param isRelation only the relation counts: the files are on the first page alone
 * (docs.github.com/en/rest/commits/commits#compare-two-commits)
 * @throws ActionError `github`
 */
export async function compareCommits(
  repo: GitHubRepo,
  { base, head, ...about }: Readonly<{ base: string; head: string }> & Range,
  gift?: Gift,
  isRelation = false,
): Promise<Comparison> {
  try {
    const { data } = await repo.github.repos.compareCommitsWithBasehead({
      ...asking(repo, `comparing ${about.range}`, {
        needs: 'contents: read',
        ofFiles: true,
        early: true,
        expects: ({ status, files }) =>
          RELATIONS.includes(String(status)) && (isRelation || isFileList(files)),
        gift,
      }),
      basehead: `${base}...${head}`,
      // So many commits a page has at most; the first page has the files.
      ...(isRelation ? { per_page: 1, page: 2 } : { per_page: 100 }),
    })
    const { files, isCut } = toFiles(data.files, repo)
    const truncated = files.length >= COMPARE_LIMIT
    // These are what a push, a release or a night has brought.
    const changes = {
      kind: 'listed',
      files,
      truncated,
      commits: [toCommits(data)],
      halves: truncated || isCut ? halve(data, head) : undefined,
      ...about,
    } as const
    return { kind: data.status, changes }
  } catch (thrown) {
    if (thrown instanceof GitHubError && (thrown.kind === 'missing' || thrown.kind === 'unrelated'))
      return { kind: thrown.kind, error: thrown }
    throw thrown
  }
}

/**
 * Finds where to halve a comparison. What changed up to the middle and from there on adds up only
 * if the middle descends from where the comparison begins: undefined if no commit in between is
 * known to. [range.cut.parts]
 */
function halve(data: ApiComparison, head: string): Halves | undefined {
  const base = getSha(data, 'merge_base_commit.sha')
  // A way follows first parents, so it never runs along a branch that was merged. It begins at the
  // base, or at a commit that has the base by another parent.
  const ways = new Map<string, readonly string[]>([[base, [base]]])
  for (const commit of getArray(data, 'commits')) {
    const parents = getArray(commit, 'parents').map((parent) => getSha(parent, 'sha'))
    const way = ways.get(parents[0] ?? '') ?? ['']
    const sha = getSha(commit, 'sha')
    if (parents.some((parent) => ways.has(parent))) ways.set(sha, [...way, sha])
  }
  const way = ways.get(head)
  // If the head isn't listed, the longest way counts.
  const ends = [...ways.values()].sort((one, other) => other.length - one.length)
  const middle = way === undefined ? ends[0]?.at(-1) : way[(way.length - 1) >> 1]
  if (base === '' || !middle || (middle === base && way === undefined)) return undefined
  return { base, middle: middle === base ? head : middle, head }
}

/**
 * Whether GitHub has a commit: if it certainly exists and can't be read, the permission is missing.
 *
 * @param ref its name, or that of a tag or a branch
 */
export function canReadCommit(repo: GitHubRepo, ref: string): Promise<boolean> {
  return succeeds(
    repo.github.repos.getCommit({
      ...asking(repo, `reading commit ${quote(ref)}`, { needs: 'contents: read' }),
      ref,
      per_page: 1,
    }),
  )
}

/** Only an empty list proves that nothing changed. [range.list.unknown] */
export function isFileList(data: unknown): boolean {
  return Array.isArray(data) && data.every((file: ApiFile) => getString(file, 'filename') !== '')
}

/** Git's object of a file without content, by SHA-1 or SHA-256. [context.omitted.empty] */
const EMPTY =
  /^(?:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391|473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813)$/

/** All files of a pull request or a commit. */
export async function readFiles(
  readPage: ReadPage<ApiFile>,
  repo: GitHubRepo,
  maxPages = FILES_LIMIT / FILES_PAGE,
) {
  const { items: files, truncated } = await readPages(
    maxPages,
    async (page) => {
      const { data, headers } = await readPage(page)
      return { data: toFiles(data, repo).files, headers }
    },
    FILES_PAGE,
  )
  return { files, truncated: truncated || files.length >= FILES_LIMIT }
}

/**
 * The files of one response, and whether it was so long that those at its end have no diffs. GitHub
 * ends them at 20,000 lines; nobody has seen it end them at 1 MB, which its pages name, too.
 */
export function toFiles(list: readonly ApiFile[] = [], { repository, elsewhere }: GitHubRepo) {
  // Of another repository than the run's, the names of files begin with its name.
  const folder = elsewhere ? `${repository}/` : ''
  const patches = list.map((file) => getString(file, 'patch'))
  // One that was emptied has a diff.
  const isEmpty = (index: number) =>
    list[index]?.status !== 'modified' && EMPTY.test(getString(list[index], 'sha'))
  const all = patches.join('\n')
  const isLong = all.length > 500_000 || all.split('\n').length > 10_000
  // The last file alone decides: a picture among others takes no request.
  const isCut = isLong && patches.at(-1) === '' && !isEmpty(list.length - 1)
  const end = isCut ? patches.findLastIndex((patch) => patch !== '') : list.length
  const files = list.map((file, index): ChangedFile => {
    const { filename: path, status, additions, deletions } = file
    const patch = patches[index] || undefined
    // A file that was only renamed has no diff, and nothing of it is left out.
    const isMoved = index < end && status === 'renamed' && additions + deletions === 0
    const isWhole = isMoved || (additions + deletions === 0 && isEmpty(index))
    return {
      path: folder + path,
      status,
      additions,
      deletions,
      previousPath: file.previous_filename ? folder + file.previous_filename : undefined,
      sha: patch === undefined ? getString(file, 'sha') : undefined,
      patch: isWhole ? '' : patch,
    }
  })
  return { files, isCut }
}

function toCommits(data: ApiComparison): CommitList {
  const commits = getArray(data, 'commits').map(
    (commit): Commit => ({
      sha: getSha(commit, 'sha'),
      author: getString(commit, 'author.login'),
      authorName: getString(commit, 'commit.author.name'),
      message: getString(commit, 'commit.message'),
      isMerge: getArray(commit, 'parents').length > 1,
    }),
  )
  return { commits, complete: commits.length === data.total_commits }
}
