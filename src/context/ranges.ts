/**
 * What changed between two commits, and where a range begins that no payload names: at the last
 * release, at the last successful run, or at what `since` names.
 */

import { type RunEnvironment, withoutRef } from '../event/event.js'
import { getPath, getSha, getString } from '../event/payload.js'
import { type GitHub, type GitHubRepo, readPages, requestParams } from '../github/client.js'
import { isMissing } from '../github/errors.js'
import { ActionError } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { formatInteger, shortSha } from '../text/format.js'
import { canReadCommit, compareCommits, type Listing } from './compare.js'
import type { Changes } from './files.js'
import { readParts } from './parts.js'

// [range.list.unknown] [context.paths.no-list] [range.others]
export function unknownChanges(reason: string): Changes {
  return { kind: 'unknown', reason }
}

/**
 * [range.push]
 *
 * @param base where the range begins: a commit, or what the input `since` names (`isNamed`), which
 * may be a tag or a branch, behind this commit, or on a line of its own
 * @param options.mayBeBehind then nothing is new
 * @throws ActionError `github`
 */
export async function changesBetween(
  repo: GitHubRepo,
  base: string,
  head: string,
  { isNamed = false, mayBeBehind = isNamed }: { isNamed?: boolean; mayBeBehind?: boolean } = {},
): Promise<Changes> {
  const commits = `the commits ${shortSha(base)}..${shortSha(head)}`
  // [range.since]
  const range = isNamed ? 'the commits since the one named in the input since' : commits
  // [skip.schedule.no-commits]
  const none = { kind: 'none', range } as const
  if (base === head) return none
  // [range.push]
  const comparison = await compareCommits(repo, { base, head, range })
  const { relation } = comparison
  switch (relation) {
    // [range.cut.parts]
    case 'ahead':
      return readParts(repo, comparison)
    // [skip.schedule.no-commits]
    case 'identical':
      return none
    // [range.rewritten]
    case 'behind':
    case 'diverged': {
      // [range.schedule.rerun]
      if (mayBeBehind && relation === 'behind') return none
      // [range.cut.parts]
      const changes = await readParts(repo, comparison)
      // [range.rewritten]
      return isNamed ? changes : { ...changes, gap: REWRITTEN }
    }
    // [range.gone]
    case 'unrelated': {
      const both = isNamed
        ? 'what since names and this commit'
        : `commits ${shortSha(base)} and ${shortSha(head)}`
      return unknownChanges(`${both} have no history in common`)
    }
    // [range.gone]
    case 'not found': {
      const { error: cause } = comparison
      // If that commit can't be read, the permission is missing. [github.permission.named]
      if (!(await canReadCommit(repo, head))) throw cause
      // [range.gone]
      if (await canReadCommit(repo, base)) {
        const message = `GitHub doesn't find ${range}, though it has both commits.`
        throw new ActionError('github', message, 'Re-run later.', { cause })
      }
      if (!isNamed)
        return {
          kind: 'unknown',
          reason: `GitHub finds nothing to compare with: commit ${shortSha(base)} may be gone`,
          unexpected: true,
        }
      // [range.since.unknown]
      throw new ActionError(
        'github',
        `since: there is no tag, branch or commit ${quote(base)} in this repository.`,
        // [report.advice.followed]
        'Check the name, and that the tag or branch was pushed.',
        { cause },
      )
    }
  }
}

/**
 * The comparison starts at the last common commit: what the removed commits changed is not in it.
 * [range.rewritten]
 */
const REWRITTEN = 'History was rewritten: commits removed from it are not listed.'

/** How many releases are compared, at most. [range.release.package] */
const TRIES = 10

/**
 * How many pages of releases and of runs are read, at most.
 * [range.release.ancestor] [range.schedule.stale-search] [range.schedule.unlisted]
 */
const PAGES = 10

type Released = Readonly<{
  tag: string
  head: string
  /** The payload's. Else GitHub's list may have it. */
  release: unknown
  /** Somebody asks for docs of it, whether or not there have been some. */
  isByHand: boolean
}>

type Release = Awaited<ReturnType<GitHub['repos']['listReleases']>>['data'][number]

// [range.release.ancestor]
const SINCE_RELEASE = 'the commits since the previous release'

/**
 * Compares with the newest published release whose tag is an ancestor, lower versions with the same
 * prefix first: a repository may release several packages, and keep several versions. If each
 * version has a branch of its own, none is an ancestor: then the changes begin where the newest of
 * them parted. There are none since a lower version that is the same commit, which is released
 * again, unless somebody asks for docs of it. [range.release.ancestor]
 *
 * @throws ActionError `github`
 */
export async function sinceLastRelease(
  repo: GitHubRepo,
  { tag, head, release, isByHand }: Released,
): Promise<Changes> {
  // [github.early]
  const mode = { ...repo, isEarly: isMissing }
  // [github.permission.named]
  const common = requestParams(mode, 'listing the releases', 'contents: read', Array.isArray)
  // [range.release.ancestor]
  const { items } = await readPages(PAGES, (page) =>
    repo.github.repos.listReleases({ ...common, ...page }),
  )
  // [range.release.pre-release]
  const own = release ?? items.find((one) => one.tag_name === tag)
  const isPreRelease = (getPath(own, 'prerelease') ?? isPreReleaseTag(tag)) === true
  // [range.release.ancestor]
  const candidates = findCandidates(items, tag, isPreRelease, getString(own, 'published_at'))
  // [range.release.parted]
  let parted: Listing | undefined
  // [skip.release.same-commit]
  let same: Changes | undefined
  // [range.release.ancestor]
  for (const { tag_name: before } of candidates) {
    // [range.release.ancestor]
    const about = { range: SINCE_RELEASE, previousRelease: before }
    const comparison = await compareCommits(repo, { ...about, base: before, head })
    const { relation } = comparison
    if (relation === 'ahead') return readParts(repo, comparison)
    // [range.release.parted]
    if (!isLower(before, tag)) continue
    if (relation === 'diverged') parted ??= comparison
    // A final release is news after its candidate. [skip.release.same-commit]
    const isOther = isPreRelease || versionOf(before) !== versionOf(tag)
    if (relation === 'identical' && isOther && !moves(before, tag) && !moves(tag, before)) {
      same ??= { kind: 'none', ...about }
      if (!isByHand) return same
    }
  }
  // [range.release.parted]
  if (parted !== undefined) return readParts(repo, parted)
  // By hand, none but those of the same commit [skip.release.same-commit], or none at all.
  // [range.release.parted]
  return same ?? unknownChanges('there is no earlier release to compare with')
}

/**
 * A tag such as `v1` moves on with each release, so it is another name for `v1.2.3`.
 * [skip.release.same-commit]
 */
function moves(tag: string, release: string): boolean {
  return release.startsWith(`${tag}.`)
}

/**
 * The releases that may be the one before, the likeliest first. [range.release.ancestor]
 */
function findCandidates(
  releases: readonly Release[],
  tag: string,
  isPreRelease: boolean,
  publishedAt: string,
): readonly Release[] {
  const time = ({ published_at }: Release): number => Date.parse(String(published_at))
  const before = publishedAt === '' ? Number.POSITIVE_INFINITY : Date.parse(publishedAt)
  // [range.release.package]
  const rank = (release: Release): number => (isLower(release.tag_name, tag) ? 0 : 1)
  // No draft, none that came later [range.release.ancestor], a pre-release only before one
  // [range.release.pre-release], and lower versions first. [range.release.package]
  return releases
    .filter((release) => !['', tag].includes(getString(release, 'tag_name')) && !release.draft)
    .filter((release) => time(release) < before || moves(tag, release.tag_name))
    .filter((release) => isPreRelease || !release.prerelease)
    .sort((one, other) => rank(one) - rank(other) || time(other) - time(one))
    .slice(0, TRIES)
}

/**
 * What comes before the version in a tag: `v` in `v1.2.3`, `cli@` in `cli@2.0.0`.
 * [range.release.package]
 */
function prefixOf(tag: string): string {
  return /^(.*?)\d+\.\d+/.exec(tag)?.[1] ?? tag.replace(/\d+$/, '')
}

/** The numbers alone: `2.0.0` in `2.0.0.Final`. [skip.release.same-commit] */
function versionOf(tag: string): string {
  return /\d+(?:\.\d+)+/.exec(tag)?.[0] ?? tag
}

/**
 * The versions that a tag such as `v1` has named are, too.
 * [range.release.package] [range.release.parted]
 */
function isLower(tag: string, than: string): boolean {
  const isBefore = tag.localeCompare(than, 'en', { numeric: true }) < 0 || moves(than, tag)
  return prefixOf(tag) === prefixOf(than) && isBefore
}

/**
 * Whether a tag's version is one of a pre-release, as in `v2.0.0-rc.1` (semver.org, 9) or in
 * `2.0.0rc1` (packaging.python.org, version specifiers). [range.release.pre-release]
 */
function isPreReleaseTag(tag: string): boolean {
  return /\d\.\d+-|\d(?:a|b|rc)\d/.test(tag)
}

/** The events whose runs have seen what was on the branch. [range.schedule.last-success] */
const RUN_EVENTS = ['schedule', 'workflow_dispatch', 'push']

/**
 * Since the head of this workflow's last successful run on this branch.
 *
 * Its head repository has to be this one: a fork's run on its own branch of that name must not
 * count. On a re-run, that run may be later than this one: then its commits are a part of this
 * branch's future, and nothing is new. [range.schedule.last-success]
 *
 * @throws ActionError `github`
 */
export async function sinceLastSuccess(
  environment: RunEnvironment,
  repo: GitHubRepo,
): Promise<Changes> {
  const workflow = withoutRef(environment.workflowRef).replace(/.*\//, '')
  const branch = environment.ref.replace(/^refs\/heads\//, '')
  if (branch === environment.ref)
    return unknownChanges('this run is not on a branch, so there is no earlier run to compare with')
  if (workflow === '') return unknownChanges("can't tell which workflow this run belongs to")
  const { last, count } = await findLastRun(environment, workflow, branch, repo)
  const { eventName, runNumber } = environment
  if (last !== undefined) {
    // [range.schedule.rerun]
    const mayBeBehind = last.id > Number(environment.runId)
    // [range.schedule.last-success] [range.schedule.rerun]
    return changesBetween(repo, last.head_sha, environment.sha, { mayBeBehind })
  }
  // [range.schedule.unlisted]
  const isListed = runNumber <= count
  const runs = `${formatInteger(count)} of the ${formatInteger(runNumber)} runs of ${workflow}`
  // [skip.nothing-to-compare] [range.schedule.unlisted]
  const reason = isListed
    ? 'there is no earlier successful run of this workflow on this branch to compare with'
    : `GitHub lists ${runs}, and none that succeeded on this branch`
  // [skip.nothing-to-compare] [range.schedule.unlisted]
  if (isListed || eventName !== 'schedule') return { kind: 'first', reason }
  // Green, this run would be where the next one begins. [range.schedule.unlisted]
  throw new ActionError(
    'github',
    `${reason}.`,
    'Start the workflow by hand once, with since: without it, earlier changes are not sent. If runs are deleted, keep one that succeeded.',
  )
}

/**
 * GitHub's filters are a search, which was stale or empty for days
 * (github.com/dawidd6/action-download-artifact/issues/147): the list without them is read until it
 * has a run that counts, and they are asked only for what is behind its last page. `count` is of
 * the runs up to this one. [range.schedule.stale-search]
 */
async function findLastRun(
  environment: RunEnvironment,
  workflow_id: string,
  branch: string,
  repo: GitHubRepo,
) {
  // [github.permission.named]
  const doing = `listing the earlier runs of ${workflow_id}`
  // [github.shape]
  const hasRuns = ({ workflow_runs }: { workflow_runs?: unknown }) => Array.isArray(workflow_runs)
  // [github.early]
  const mode = { ...repo, isEarly: isMissing }
  // [github.permission.named]
  const common = requestParams(mode, doing, 'actions: read', hasRuns)
  // [range.schedule.stale-search]
  const list = async (params: object) => {
    const asked = { ...common, workflow_id, ...params }
    const { data, headers } = await repo.github.actions.listWorkflowRuns(asked)
    return { data: data.workflow_runs, headers }
  }
  // Whether it has seen what was on the branch. [range.schedule.last-success]
  const { eventName, repository, runId } = environment
  const isMark = (run: unknown): boolean => {
    const event = getString(run, 'event')
    // These run on the default branch, whatever it was called then. [range.schedule.renamed]
    const isScheduled = [event, eventName].every((name) => name === 'schedule')
    // [range.schedule.last-success]
    return (
      String(getPath(run, 'id')) !== runId &&
      RUN_EVENTS.includes(event) &&
      getString(run, 'conclusion') === 'success' &&
      // [range.schedule.renamed]
      (isScheduled || getString(run, 'head_branch') === branch) &&
      // [range.schedule.fork]
      getString(run, 'head_repository.full_name').toLowerCase() === repository.toLowerCase() &&
      // [github.event]
      getSha(run, 'head_sha') !== ''
    )
  }
  // [range.schedule.stale-search]
  const { items, truncated } = await readPages(PAGES, async (page) => {
    const { data, headers } = await list({ exclude_pull_requests: true, ...page })
    // Behind a run that counts, no page is needed.
    return { data, headers: data.some(isMark) ? { link: '' } : headers }
  })
  // [range.schedule.stale-search] [range.schedule.unlisted]
  const search = (event: string) => list({ event, branch, status: 'success', per_page: 20 })
  const found = truncated ? await Promise.all(RUN_EVENTS.map(search)) : []
  const [last] = [...items, ...found.flatMap(({ data }) => data)]
    // [range.schedule.last-success]
    .filter(isMark)
    .sort((one, other) => other.id - one.id)
  const ids = items
    // [range.schedule.unlisted]
    .map(({ id }) => id)
    .filter((id) => id <= Number(runId))
  // [range.schedule.unlisted]
  return { last, count: new Set(ids).size }
}
