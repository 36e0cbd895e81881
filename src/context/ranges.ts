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

/** There is no list of what changed, for this reason, a clause. */
export function unknownChanges(reason: string): Changes {
  return { kind: 'unknown', reason }
}

/**
 * What changed from one commit to another; or why GitHub can't tell. [range.gone]
 *
 * @param base where the range begins: a commit, or what the input `since` names (`isNamed`), which
 * may be a tag or a branch, behind this commit, or on a line of its own
 * @param options.mayBeBehind nothing is new if `head` is an ancestor of `base`
 * @throws ActionError `github`, also if nobody knows the name: a docs job about the wrong commits
 * would be paid [range.since.unknown]
 */
export async function changesBetween(
  repo: GitHubRepo,
  base: string,
  head: string,
  { isNamed = false, mayBeBehind = isNamed }: { isNamed?: boolean; mayBeBehind?: boolean } = {},
): Promise<Changes> {
  const commits = `the commits ${shortSha(base)}..${shortSha(head)}`
  const range = isNamed ? 'the commits since the one named in the input since' : commits
  const none = { kind: 'none', range } as const
  if (base === head) return none
  const comparison = await compareCommits(repo, { base, head, range })
  const { relation } = comparison
  switch (relation) {
    case 'ahead':
      return readParts(repo, comparison)
    case 'identical':
      return none
    case 'behind':
    case 'diverged': {
      if (mayBeBehind && relation === 'behind') return none
      const changes = await readParts(repo, comparison)
      return isNamed ? changes : { ...changes, gap: REWRITTEN }
    }
    case 'unrelated': {
      const both = isNamed
        ? 'what since names and this commit'
        : `commits ${shortSha(base)} and ${shortSha(head)}`
      return unknownChanges(`${both} have no history in common`)
    }
    case 'not found': {
      const { error: cause } = comparison
      // The head certainly exists: if it can't be read, the permission is missing.
      if (!(await canReadCommit(repo, head))) throw cause
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
      throw new ActionError(
        'github',
        `since: there is no tag, branch or commit ${quote(base)} in this repository.`,
        'Check the name, and that the tag or branch was pushed.',
        { cause },
      )
    }
  }
}

/** A comparison starts at the last common commit. [range.rewritten] */
const REWRITTEN = 'History was rewritten: commits removed from it are not listed.'

/** How many releases are compared, at most. */
const TRIES = 10

/** How many pages of releases and of runs are read, at most. */
const PAGES = 10

type Released = Readonly<{
  tag: string
  head: string
  /** The payload's; undefined if the run is not about a release: GitHub's list may have it. */
  release: unknown
  /** Somebody asks for docs of this release, whether or not there are docs of its commit. */
  isByHand: boolean
}>

type Release = Awaited<ReturnType<GitHub['repos']['listReleases']>>['data'][number]

const SINCE_RELEASE = 'the commits since the previous release'

/**
 * What changed since the newest published release whose tag is an ancestor, lower versions with the
 * same prefix first: a repository may release several packages, and keep several versions. If each
 * version has a branch of its own, no tag is an ancestor: the changes then begin where the newest
 * of these branches parted. A release of the same commit as a lower version has no changes, unless
 * somebody asks for its docs by hand. [range.release.ancestor] [range.release.parted]
 *
 * @throws ActionError `github`
 */
export async function sinceLastRelease(
  repo: GitHubRepo,
  { tag, head, release, isByHand }: Released,
): Promise<Changes> {
  const mode = { ...repo, isEarly: isMissing }
  const common = requestParams(mode, 'listing the releases', 'contents: read', Array.isArray)
  const { items } = await readPages(PAGES, (page) =>
    repo.github.repos.listReleases({ ...common, ...page }),
  )
  const own = release ?? items.find((one) => one.tag_name === tag)
  const isPreRelease = (getPath(own, 'prerelease') ?? isPreReleaseTag(tag)) === true
  const candidates = findCandidates(items, tag, isPreRelease, getString(own, 'published_at'))
  let parted: Listing | undefined
  let same: Changes | undefined
  for (const { tag_name: before } of candidates) {
    const about = { range: SINCE_RELEASE, previousRelease: before }
    const comparison = await compareCommits(repo, { ...about, base: before, head })
    const { relation } = comparison
    if (relation === 'ahead') return readParts(repo, comparison)
    if (!isLower(before, tag)) continue
    if (relation === 'diverged') parted ??= comparison
    // A final release is news after its candidate.
    const isOther = isPreRelease || versionOf(before) !== versionOf(tag)
    if (relation === 'identical' && isOther && !moves(before, tag) && !moves(tag, before)) {
      same ??= { kind: 'none', ...about }
      if (!isByHand) return same
    }
  }
  if (parted !== undefined) return readParts(repo, parted)
  return same ?? unknownChanges('there is no earlier release to compare with')
}

/** A tag such as `v1` moves on, so it is a name for `v1.2.3`, too. [skip.release.same-commit] */
function moves(tag: string, release: string): boolean {
  return release.startsWith(`${tag}.`)
}

/**
 * The releases that may be the one before, the likeliest first: no draft, none that came later, a
 * pre-release only before a pre-release; lower versions of the same package first.
 * [range.release.package] [range.release.pre-release]
 */
function findCandidates(
  releases: readonly Release[],
  tag: string,
  isPreRelease: boolean,
  publishedAt: string,
): readonly Release[] {
  const time = ({ published_at }: Release): number => Date.parse(String(published_at))
  const before = publishedAt === '' ? Number.POSITIVE_INFINITY : Date.parse(publishedAt)
  const rank = (release: Release): number => (isLower(release.tag_name, tag) ? 0 : 1)
  return releases
    .filter((release) => !['', tag].includes(getString(release, 'tag_name')) && !release.draft)
    .filter((release) => time(release) < before || moves(tag, release.tag_name))
    .filter((release) => isPreRelease || !release.prerelease)
    .sort((one, other) => rank(one) - rank(other) || time(other) - time(one))
    .slice(0, TRIES)
}

/** What comes before the version in a tag: `v` in `v1.2.3`, `cli@` in `cli@2.0.0`. */
function prefixOf(tag: string): string {
  return /^(.*?)\d+\.\d+/.exec(tag)?.[1] ?? tag.replace(/\d+$/, '')
}

/** The numbers alone: `2.0.0` in `2.0.0.Final`. */
function versionOf(tag: string): string {
  return /\d+(?:\.\d+)+/.exec(tag)?.[0] ?? tag
}

/** Whether a tag is a lower version of the same package; one that `v1` had is lower than it. */
function isLower(tag: string, than: string): boolean {
  const isBefore = tag.localeCompare(than, 'en', { numeric: true }) < 0 || moves(than, tag)
  return prefixOf(tag) === prefixOf(than) && isBefore
}

/** As in `v2.0.0-rc.1` (semver.org, 9), or `2.0.0rc1` (packaging.python.org). */
function isPreReleaseTag(tag: string): boolean {
  return /\d\.\d+-|\d(?:a|b|rc)\d/.test(tag)
}

/** The events whose runs have seen what was on the branch. [range.schedule.last-success] */
const RUN_EVENTS = ['schedule', 'workflow_dispatch', 'push']

/**
 * What changed since the head of this workflow's last successful run on this branch. If GitHub
 * lists too few runs to tell, the step ends: green, it would lose what came before.
 * [range.schedule.unlisted]
 *
 * On a re-run, that run may be later than this one: then its commits are a part of this branch's
 * future, and nothing is new. [range.schedule.rerun]
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
    const mayBeBehind = last.id > Number(environment.runId)
    return changesBetween(repo, last.head_sha, environment.sha, { mayBeBehind })
  }
  const isListed = runNumber <= count
  const runs = `${formatInteger(count)} of the ${formatInteger(runNumber)} runs of ${workflow}`
  const reason = isListed
    ? 'there is no earlier successful run of this workflow on this branch to compare with'
    : `GitHub lists ${runs}, and none that succeeded on this branch`
  if (isListed || eventName !== 'schedule') return { kind: 'first', reason }
  // If this run ended green, the next one would begin here, and what came before would be lost.
  throw new ActionError(
    'github',
    `${reason}.`,
    'Start the workflow by hand once, with since: without it, earlier changes are not sent. If runs are deleted, keep one that succeeded.',
  )
}

/**
 * The last run that counts, and how many runs up to this one GitHub lists.
 *
 * GitHub's filters are a search, which was stale or empty for days
 * (github.com/dawidd6/action-download-artifact/issues/147): the list without filters is read until
 * it has a run that counts; the filters are used only for what is behind its last page.
 * [range.schedule.stale-search]
 */
async function findLastRun(
  environment: RunEnvironment,
  workflow_id: string,
  branch: string,
  repo: GitHubRepo,
) {
  const doing = `listing the earlier runs of ${workflow_id}`
  const hasRuns = ({ workflow_runs }: { workflow_runs?: unknown }) => Array.isArray(workflow_runs)
  const mode = { ...repo, isEarly: isMissing }
  const common = requestParams(mode, doing, 'actions: read', hasRuns)
  const list = async (params: object) => {
    const asked = { ...common, workflow_id, ...params }
    const { data, headers } = await repo.github.actions.listWorkflowRuns(asked)
    return { data: data.workflow_runs, headers }
  }
  const { eventName, repository, runId } = environment
  /**
   * Whether a run succeeded, and had what was on the branch then: a fork's branch may have the same
   * name. [range.schedule.fork] Schedules run on the default branch, whatever it was called.
   * [range.schedule.renamed]
   */
  const isMark = (run: unknown): boolean => {
    const event = getString(run, 'event')
    const isScheduled = [event, eventName].every((name) => name === 'schedule')
    return (
      String(getPath(run, 'id')) !== runId &&
      RUN_EVENTS.includes(event) &&
      getString(run, 'conclusion') === 'success' &&
      (isScheduled || getString(run, 'head_branch') === branch) &&
      getString(run, 'head_repository.full_name').toLowerCase() === repository.toLowerCase() &&
      getSha(run, 'head_sha') !== ''
    )
  }
  const { items, truncated } = await readPages(PAGES, async (page) => {
    const { data, headers } = await list({ exclude_pull_requests: true, ...page })
    // No page behind a run that counts is needed: this one is made the last.
    return { data, headers: data.some(isMark) ? { link: '' } : headers }
  })
  const search = (event: string) => list({ event, branch, status: 'success', per_page: 20 })
  const found = truncated ? await Promise.all(RUN_EVENTS.map(search)) : []
  const [last] = [...items, ...found.flatMap(({ data }) => data)]
    .filter(isMark)
    .sort((one, other) => other.id - one.id)
  const ids = items.map(({ id }) => id).filter((id) => id <= Number(runId))
  return { last, count: new Set(ids).size }
}
