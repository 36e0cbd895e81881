/** Compares two commits: the files and commits between them, and where to halve what GitHub cut. */

import type { Commit } from '../event/event.js'
import { getArray, getSha, getString } from '../event/payload.js'
import { type GitHub, type GitHubRepo, requestParams } from '../github/client.js'
import { type GitHubError, isMissing, succeeds } from '../github/errors.js'
import { shortSha } from '../text/format.js'
import type { ChangedFile, CommitList, ListedChanges } from './files.js'

/**
 * The maximum number of files in a comparison
 * (docs.github.com/en/rest/commits/commits#compare-two-commits). [range.cut.parts]
 */
const COMPARE_LIMIT = 300

/**
 * The maximum number of files of a pull request or a commit
 * (docs.github.com/en/rest/pulls/pulls#list-pull-requests-files), and how many are asked for at
 * once: from 20,000 lines on, the rest of a response has no diffs
 * (github.com/orgs/community/discussions/213491). [range.pull-request]
 */
export const FILES_LIMIT = 3000
// [range.pull-request]
export const FILES_PAGE = 50

/** Its commits per page; the first page has the files. [context.facts.commits] */
const COMMITS_PAGE = 100

type ApiComparison = Awaited<ReturnType<GitHub['repos']['compareCommitsWithBasehead']>>['data']

// [range.list.unknown]
const RELATIONS = ['ahead', 'identical', 'behind', 'diverged']

/** What a comparison lists; if GitHub cut it, where to halve it. */
export type Listing = Readonly<{ changes: ListedChanges; halves?: Halves | undefined }>

export type Comparison = Readonly<
  | ({ relation: 'ahead' | 'behind' | 'diverged' } & Listing)
  | { relation: 'identical' }
  /** One of the two does not exist, or the token can't read the repository. */
  | { relation: 'not found'; error: GitHubError }
  | { relation: 'unrelated' }
>

/**
 * [range.cut.parts] [range.gone]
 *
 * @param mayBeGone a 404 is believed at once
 * @throws ActionError `github`
 */
export async function compareCommits(
  repo: GitHubRepo,
  {
    base,
    head,
    range,
    mayBeGone = false,
  }: { base: string; head: string; range: string; mayBeGone?: boolean },
): Promise<Comparison> {
  const isEarly = (answer: unknown) => !mayBeGone && isMissing(answer) && !isUnrelated(answer)
  const hasFiles = ({ status = '', files }: { status?: string; files?: unknown }) =>
    RELATIONS.includes(status) && isFileList(files)
  try {
    const { data } = await repo.github.repos.compareCommitsWithBasehead({
      ...requestParams(
        { ...repo, ofFiles: true, isEarly },
        `comparing ${range}`,
        'contents: read',
        hasFiles,
      ),
      basehead: `${base}...${head}`,
      per_page: COMMITS_PAGE,
    })
    const { status: relation } = data
    if (relation === 'identical') return { relation }
    const { files, isCut } = toFiles(data.files)
    const truncated = files.length >= COMPARE_LIMIT
    const changes = { kind: 'listed', files, truncated, range, commits: toCommits(data) } as const
    return { relation, changes, halves: truncated || isCut ? halve(data, head) : undefined }
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown
    return isUnrelated(thrown)
      ? { relation: 'unrelated' }
      : { relation: 'not found', error: thrown }
  }
}

/** GitHub's words: "No common ancestor between v1 and v2." [range.gone] */
function isUnrelated({ message }: Error): boolean {
  return /no common ancestor/i.test(message)
}

/**
 * The two halves of a range are `base..middle` and `middle..head`. If the middle is the head, the
 * range is one commit.
 */
type Halves = Readonly<{ base: string; middle: string; head: string }>

/**
 * What changed up to the middle and from there on adds up only if the middle comes from where the
 * comparison begins. Undefined if no commit between is known to. [range.cut.parts]
 */
function halve(data: ApiComparison, head: string): Halves | undefined {
  const base = getSha(data, 'merge_base_commit.sha')
  const parents = new Map<string, readonly string[]>()
  for (const commit of getArray(data, 'commits')) {
    const own = getArray(commit, 'parents').map((parent) => getSha(parent, 'sha'))
    if (own.some((sha) => sha === base || parents.has(sha))) parents.set(getSha(commit, 'sha'), own)
  }
  const wayTo = (sha = ''): readonly string[] => {
    const own = parents.get(sha)
    return own === undefined ? [] : [...wayTo(own[0]), sha]
  }
  const isListed = parents.has(head)
  const ends = isListed ? [head] : [...parents.keys()]
  // By first parents, so not on a branch that was merged: the longest way, if its end isn't listed.
  const [way = []] = ends.map(wayTo).sort((one, other) => other.length - one.length)
  const isCommit = way.length === 1 && parents.get(head)?.[0] === base
  const middle = isListed && !isCommit ? way[(way.length >> 1) - 1] : way.at(-1)
  return base === '' || middle === undefined ? undefined : { base, middle, head }
}

/**
 * Whether a commit can be read: if it certainly exists and can't, the permission is missing.
 * [range.gone]
 */
export function canReadCommit(repo: GitHubRepo, commit_sha: string): Promise<boolean> {
  const common = requestParams(repo, `reading commit ${shortSha(commit_sha)}`, 'contents: read')
  return succeeds(repo.github.git.getCommit({ ...common, commit_sha }))
}

type ApiFile = Awaited<ReturnType<GitHub['pulls']['listFiles']>>['data'][number]

/**
 * Only an empty list proves that nothing changed: another answer says nothing.
 * [range.list.unknown]
 */
export function isFileList(data: unknown): boolean {
  return Array.isArray(data) && data.every((file) => getString(file, 'filename') !== '')
}

/**
 * The files of one response, and whether it was so long that those at its end have no diffs. GitHub
 * ends them at 20,000 lines; nobody has seen it end them at 1 MB, which its pages name, too.
 * [range.cut.parts]
 */
export function toFiles(list: readonly ApiFile[] = []): {
  readonly files: ChangedFile[]
  readonly isCut: boolean
} {
  const patches = list.map((file) => getString(file, 'patch'))
  const all = patches.join('\n')
  const isLong = all.length > 500_000 || all.split('\n').length > 10_000
  const isCut = isLong && patches.at(-1) === ''
  const end = isCut ? patches.findLastIndex((patch) => patch !== '') : list.length
  return { files: list.map((file, index) => toFile(file, index < end)), isCut }
}

/**
 * [paid.fingerprint.pinned]
 *
 * @param isRead GitHub hasn't ended the diffs before it
 */
function toFile(file: ApiFile, isRead: boolean): ChangedFile {
  const { filename: path, status, additions, deletions } = file
  const [previousPath = '', sent = '', sha = ''] = ['previous_filename', 'patch', 'sha'].map(
    (name) => getString(file, name),
  )
  const isMoved = isRead && status === 'renamed' && additions + deletions === 0
  return {
    path,
    status,
    additions,
    deletions,
    // [context.paths.renamed] [context.paths.excluded]
    ...(previousPath !== '' && { previousPath }),
    ...(sent === '' ? { sha, ...(isMoved && { patch: '' }) } : { patch: sent }),
  }
}

// [context.facts.commits] [skip.schedule.agents-own]
function toCommits({ commits, total_commits }: ApiComparison): CommitList {
  const listed = (Array.isArray(commits) ? commits : []).map(
    (commit): Commit => ({
      sha: getSha(commit, 'sha'),
      author: getString(commit, 'author.login'),
      authorName: getString(commit, 'commit.author.name'),
      message: getString(commit, 'commit.message'),
      isMerge: getArray(commit, 'parents').length > 1,
    }),
  )
  return { commits: listed, complete: listed.length === total_commits }
}
