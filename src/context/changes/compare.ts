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
import { type GitHubError, isMissing, succeeds } from '../../github/errors.js'
import type { ApiComparison, ApiFile } from '../../github/types.js'
import { ActionError } from '../../text/errors.js'
import { quote } from '../../text/escape.js'
import type { ChangedFile, CommitList, ListedChanges, Range } from './types.js'

/** Files of a comparison, at most (docs.github.com/en/rest/commits/commits#compare-two-commits). */
const COMPARE_LIMIT = 300

/**
 * The maximum number of files of a pull request or a commit
 * (docs.github.com/en/rest/pulls/pulls#list-pull-requests-files), and how many are asked for at
 * once: from 20,000 lines on, the rest of a response has no diffs
 * (github.com/orgs/community/discussions/213491).
 */
const FILES_LIMIT = 3000
export const FILES_PAGE = 50

/** How many commits a page of a comparison has at most; the first page has the files. */
const COMMITS_PAGE = 100

const RELATIONS = ['ahead', 'identical', 'behind', 'diverged']

/** What a comparison lists; if GitHub cut it, where to halve it. */
export type Listing = Readonly<{ changes: ListedChanges; halves?: Halves | undefined }>

export type Comparison = Readonly<
  | ({ kind: 'ahead' | 'identical' | 'behind' | 'diverged' } & Listing)
  /** One of the two does not exist, or the token can't read the repository. */
  | { kind: 'not found'; error: GitHubError }
  | { kind: 'unrelated'; error: GitHubError }
>

/**
 * A commit that was pushed a moment ago may not be found yet, so a 404 isn't believed at once.
 *
 * @param about stands in the changes
 * @param options.isRelation only the relation counts: the files are on the first page alone
 * (docs.github.com/en/rest/commits/commits#compare-two-commits)
 * @throws ActionError `github`
 */
export async function compareCommits(
  repo: GitHubRepo,
  { base, head, ...about }: Readonly<{ base: string; head: string }> & Range,
  { gift, isRelation = false }: { gift?: Gift; isRelation?: boolean } = {},
): Promise<Comparison> {
  try {
    const { data } = await repo.github.repos.compareCommitsWithBasehead({
      ...asking(repo, `comparing ${about.range}`, {
        needs: 'contents: read',
        ofFiles: true,
        // An answer that two commits have no history in common is believed.
        early: (answer) => isMissing(answer) && !isUnrelated(answer),
        expects: ({ status = '', files }: { status?: string; files?: unknown }) =>
          RELATIONS.includes(status) && (isRelation || isFileList(files)),
        ...(gift && { gift }),
      }),
      basehead: `${base}...${head}`,
      ...(isRelation ? { per_page: 1, page: 2 } : { per_page: COMMITS_PAGE }),
    })
    const { files, isCut } = toFiles(data.files)
    const truncated = files.length >= COMPARE_LIMIT
    // These are what a push, a release or a night has brought.
    const changes = {
      kind: 'listed',
      files,
      truncated,
      commits: [toCommits(data)],
      ...about,
    } as const
    const halves = truncated || isCut ? halve(data, head) : undefined
    return { kind: data.status, changes, halves }
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown
    return { kind: isUnrelated(thrown) ? 'unrelated' : 'not found', error: thrown }
  }
}

/** GitHub's words: "No common ancestor between v1 and v2." */
function isUnrelated({ message }: Error): boolean {
  return /no common ancestor/i.test(message)
}

/**
 * The two halves of a range are `base..middle` and `middle..head`. If the middle is the head, the
 * range is one commit.
 */
type Halves = Readonly<{ base: string; middle: string; head: string }>

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
  const asked = asking(repo, `reading commit ${quote(ref)}`, { needs: 'contents: read' })
  return succeeds(repo.github.repos.getCommit({ ...asked, ref, per_page: 1 }))
}

/**
 * What can't be compared is believed to be gone only if it can't be read, either. [range.gone]
 *
 * @throws ActionError `github` if it is there
 */
export async function expectGone(
  repo: GitHubRepo,
  base: string,
  { range }: Range,
  cause: unknown,
): Promise<void> {
  if (!(await canReadCommit(repo, base))) return
  const message = `GitHub doesn't find ${range}, though it has both commits.`
  throw new ActionError('github', message, 'Re-run later.', { cause })
}

/** Only an empty list proves that nothing changed. [range.list.unknown] */
export function isFileList(data: unknown): boolean {
  return Array.isArray(data) && data.every((file: ApiFile) => getString(file, 'filename') !== '')
}

/** Git's object of a file without content, by SHA-1 or SHA-256. [context.omitted.empty] */
const EMPTY =
  /^(?:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391|473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813)$/

/** A page of files of which GitHub left out the last diffs. */
export type CutPage = Readonly<{ page: number; per_page: number; files: readonly ChangedFile[] }>

/** All files of a pull request or a commit, and the pages that GitHub cut. */
export async function readFiles(readPage: ReadPage<ApiFile>, maxPages = FILES_LIMIT / FILES_PAGE) {
  const cut: CutPage[] = []
  const { items: files, truncated } = await readPages(
    maxPages,
    async (page) => {
      const { data, headers } = await readPage(page)
      const { files, isCut } = toFiles(data)
      // It may begin again, by fewer items.
      if (page.page === 1) cut.length = 0
      if (isCut) cut.push({ ...page, files })
      return { data: files, headers }
    },
    FILES_PAGE,
  )
  return { files, truncated: truncated || files.length >= FILES_LIMIT, cut }
}

/**
 * The files of one response, and whether it was so long that those at its end have no diffs. GitHub
 * ends them at 20,000 lines; nobody has seen it end them at 1 MB, which its pages name, too.
 */
export function toFiles(list: readonly ApiFile[] = []) {
  const patches = list.map((file) => getString(file, 'patch'))
  const isEmpty = (index: number): boolean => EMPTY.test(getString(list[index], 'sha'))
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
      path,
      status,
      additions,
      deletions,
      previousPath: getString(file, 'previous_filename') || undefined,
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
      date: getString(commit, 'commit.committer.date'),
    }),
  )
  return { commits, complete: commits.length === data.total_commits }
}
