/** Compares two commits: the files and commits between them, or why these can't be known. */

import type { Commit } from '../event/event.js'
import { getArray, getSha, getString } from '../event/payload.js'
import { type GitHub, type GitHubRepo, requestParams } from '../github/client.js'
import { type GitHubError, isMissing, succeeds } from '../github/errors.js'
import { shortSha } from '../text/format.js'
import type { ChangedFile, Changes } from './files.js'

/**
 * The maximum number of files in a comparison
 * (docs.github.com/en/rest/commits/commits#compare-two-commits).
 */
const COMPARE_LIMIT = 300

/**
 * The maximum number of files of a pull request or a commit
 * (docs.github.com/en/rest/pulls/pulls#list-pull-requests-files), and how many are asked for at
 * once: from 20,000 lines on, the rest of a response has no diffs
 * (github.com/orgs/community/discussions/213491).
 */
export const FILES_LIMIT = 3000
export const FILES_PAGE = 50

/** Its commits per page; the first page has the files. */
const COMMITS_PAGE = 100

export function unknownChanges(note: string, skips?: Changes['skips']): Changes {
  return { files: [], truncated: false, unknown: true, note, range: 'unknown', skips }
}

/** What is said of a run that has nothing to compare with. */
export const NEXT_BEGINS = {
  advice:
    'The next run begins here. For earlier changes, set since to a tag, a branch or a commit.',
}

export function noChanges(range: string): Changes {
  return { files: [], truncated: false, range, empty: true }
}

type ApiComparison = Awaited<ReturnType<GitHub['repos']['compareCommitsWithBasehead']>>['data']

const RELATIONS = ['ahead', 'identical', 'behind', 'diverged']

type Comparison = Readonly<
  | { relation: ApiComparison['status']; changes: Changes }
  /** One of the two does not exist, or the token can't read the repository. */
  | { relation: 'not found'; error: GitHubError }
  | { relation: 'unrelated' }
>

/** @throws ActionError `github` */
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
    const files = (data.files ?? []).map(toFile)
    const truncated = files.length >= COMPARE_LIMIT
    const empty = relation === 'identical' && files.length === 0
    const changes = { files, truncated, empty, range, commits: toCommits(data) }
    const isCut = truncated || lacksDiffs(files)
    return { relation, changes: isCut ? { ...changes, halves: halve(data, head) } : changes }
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown
    return isUnrelated(thrown)
      ? { relation: 'unrelated' }
      : { relation: 'not found', error: thrown }
  }
}

/** GitHub's words: "No common ancestor between v1 and v2." */
function isUnrelated({ message }: Error): boolean {
  return /no common ancestor/i.test(message)
}

/** Whether it was so long that the files at its end have none. */
function lacksDiffs(files: readonly ChangedFile[]): boolean {
  const lines = files.reduce((sum, { patch = '' }) => sum + patch.split('\n').length, 0)
  return lines > 10_000 && !files.at(-1)?.patch
}

/**
 * Where it begins, a commit in its middle, and where it ends. What changed up to the middle and
 * from there on adds up only if the middle comes from where the comparison begins.
 */
function halve(data: ApiComparison, head: string): readonly string[] {
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
  return [base, middle ?? base, head]
}

/** @throws ActionError `github` */
export async function changesBetween(
  repo: GitHubRepo,
  base: string,
  head: string,
  { mayBeBehind = false }: { mayBeBehind?: boolean } = {},
): Promise<Changes> {
  const range = `the commits ${shortSha(base)}..${shortSha(head)}`
  if (base === head) return noChanges(range)
  const comparison = await compareCommits(repo, { base, head, range })
  switch (comparison.relation) {
    case 'ahead':
    case 'identical':
      return comparison.changes
    case 'behind':
    case 'diverged':
      if (mayBeBehind && comparison.relation === 'behind') return noChanges(range)
      return { ...comparison.changes, unknown: true, note: REWRITTEN }
    case 'unrelated':
      return unknownChanges(
        `Commits ${shortSha(base)} and ${shortSha(head)} have no history in common.`,
      )
    case 'not found':
      if (!(await canReadCommit(repo, head))) throw comparison.error
      return unknownChanges(
        `GitHub finds nothing to compare with: commit ${shortSha(base)} may be gone.`,
      )
  }
}

/**
 * The comparison starts at the last common commit: what the removed commits changed is not in it.
 */
const REWRITTEN = 'History was rewritten: commits removed from it are not listed.'

/** Whether a commit that certainly exists can be read: if not, the permission is missing. */
export function canReadCommit(repo: GitHubRepo, commit_sha: string): Promise<boolean> {
  const common = requestParams(repo, `reading commit ${shortSha(commit_sha)}`, 'contents: read')
  return succeeds(repo.github.git.getCommit({ ...common, commit_sha }))
}

type ApiFile = Awaited<ReturnType<GitHub['pulls']['listFiles']>>['data'][number]

/** Only an empty list proves that nothing changed: another answer says nothing. */
export function isFileList(data: unknown): boolean {
  return Array.isArray(data) && data.every((file) => getString(file, 'filename') !== '')
}

export function toFile(file: ApiFile): ChangedFile {
  const { filename: path, status, additions, deletions } = file
  const [previousPath = '', patch = '', sha = ''] = ['previous_filename', 'patch', 'sha'].map(
    (name) => getString(file, name),
  )
  return {
    path,
    status,
    additions,
    deletions,
    ...(previousPath !== '' && { previousPath }),
    ...(patch === '' ? { sha } : { patch }),
  }
}

function toCommits({ commits, total_commits }: ApiComparison): Required<Changes>['commits'] {
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
