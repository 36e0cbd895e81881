/** What changed since the last release: which of the earlier ones that is, and where to compare. */

import { getPath, getString } from '../../event/payload.js'
import { asking, type GitHub, type GitHubRepo, readPages } from '../../github/client.js'
import { compareCommits, type Listing } from './compare.js'
import { readParts } from './parts.js'
import { type Changes, unknownChanges } from './types.js'

/** How many releases are compared, at most. */
const TRIES = 10

/** How many pages of releases are read, at most. */
const RELEASE_PAGES = 10

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
  const { items } = await readPages(RELEASE_PAGES, (page) =>
    repo.github.repos.listReleases({
      ...asking(repo, 'listing the releases', {
        needs: 'contents: read',
        instead: 'If since says where to begin, this list is not needed.',
        early: true,
        expects: Array.isArray,
      }),
      ...page,
    }),
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
