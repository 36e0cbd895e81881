/** What changed since the last release: which of the earlier ones that is, and where to compare. */

import { getPath, getString } from '../../event/payload.js'
import { asking, type GitHubRepo, readPages, WITHOUT_LIST } from '../../github/client.js'
import { isWithheld } from '../../github/errors.js'
import type { ApiRelease } from '../../github/types.js'
import { ActionError } from '../../text/errors.js'
import { refuseIfThere } from './between.js'
import { compareCommits } from './compare.js'
import { MAX_REQUESTS } from './parts.js'
import { findCandidates, isPreReleaseTag, type Release } from './releases.js'
import { type Changes, unknownChanges } from './types.js'

/**
 * How many of other packages that may be the one before are asked for, at most: of the same commit,
 * behind or gone, none is. [range.release.tries]
 */
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

const SINCE_RELEASE = 'the commits since the previous release'

/** What isn't known to be older is passed over, so there may be less that is new. */
const PASSED_OVER = 'GitHub could not compare with some releases, which were passed over.'

/**
 * What changed since the release before: the highest lower version of the same package, whether its
 * tag is an ancestor or its branch parted (then since it parted); else the newest ancestor of
 * another package, of which GitHub is asked without a diff. A release of the same commit as a lower
 * version has no changes, unless somebody asks for its docs by hand. [range.release.ancestor]
 * [range.release.parted] [skip.release.same-commit]
 *
 * @throws ActionError `github`
 */
export async function sinceLastRelease(
  repo: GitHubRepo,
  { tag, head, release, isByHand }: Released,
): Promise<Changes> {
  const items = await readReleases(repo, tag, release)
  const own: unknown = release ?? items.find((one) => one.tag_name === tag)
  const isPreRelease = (getPath(own, 'prerelease') ?? isPreReleaseTag(tag)) === true
  const gift = { requests: MAX_REQUESTS }
  let gap: string | undefined
  let same: Changes | undefined
  let tries = 0
  const candidates = findCandidates(items, tag, isPreRelease, getString(own, 'published_at'))
  for (const { before, isLower, isRepeated } of candidates) {
    if (tries >= TRIES) break
    const about = { range: SINCE_RELEASE, previousRelease: before }
    const compared = { ...about, base: before, head }
    const compare = (isRelation: boolean) =>
      compareCommits(repo, compared, isRelation ? gift : undefined, isRelation)
    const comparison = await compare(!isLower).catch((thrown) => {
      if (isLower || !isWithheld(thrown)) throw thrown
      gap = PASSED_OVER
    })
    if (isLower && comparison?.kind === 'missing')
      await refuseIfThere(repo, before, SINCE_RELEASE, comparison.error)
    const { kind } = comparison ?? {}
    if (kind === 'ahead' || (kind === 'diverged' && isLower)) {
      const chosen = isLower ? comparison : await compare(false)
      if (chosen && 'changes' in chosen) return { ...chosen.changes, gap }
    }
    if (kind === 'diverged' || kind === undefined) tries++
    if (kind === 'identical' && isRepeated) {
      same ??= { kind: 'none', ...about }
      if (!isByHand) return same
    }
  }
  const reason = 'there is no earlier release to compare with'
  return same ?? (isByHand ? { kind: 'first', reason } : unknownChanges(reason))
}

/**
 * GitHub's releases, or its tags if there are no others. A list without the release that the event
 * proves is late. [range.release.late] [range.release.tags]
 */
async function readReleases(
  repo: GitHubRepo,
  tag: string,
  release: unknown,
): Promise<readonly Release[]> {
  const asked = { needs: 'contents: read', instead: WITHOUT_LIST }
  const { items } = await readPages(RELEASE_PAGES, async (page) => {
    // The newest come first, by the time of their commit: one that is not newer than the last of a
    // full page may be on the next.
    const lacksOwn = (list: readonly ApiRelease[]) =>
      page.page === 1 &&
      getString(release, 'tag_name') === tag &&
      list.every(({ tag_name }) => tag_name !== tag) &&
      (list.length < page.per_page ||
        getString(release, 'created_at') > getString(list.at(-1), 'created_at'))
    const answer = await repo.github.repos.listReleases({
      ...asking(repo, 'listing the releases', {
        ...asked,
        early: lacksOwn,
        expects: Array.isArray,
      }),
      ...page,
    })
    if (!lacksOwn(answer.data)) return answer
    const message = "GitHub's list of releases lacks the one that this run is about."
    throw new ActionError('github', message, 'Re-run later, or set since.')
  })
  if (items.some(({ draft, tag_name }) => !draft && tag_name !== tag)) return items
  const tags = await readPages(RELEASE_PAGES, (page) =>
    repo.github.repos.listTags({
      ...asking(repo, 'listing the tags', { ...asked, expects: Array.isArray }),
      ...page,
    }),
  )
  return tags.items.map(({ name }) => ({ tag_name: name, prerelease: isPreReleaseTag(name) }))
}
