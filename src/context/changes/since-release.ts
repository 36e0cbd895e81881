/** What changed since the last release: which of the earlier ones that is, and where to compare. */

import { getPath, getString } from '../../event/payload.js'
import { asking, type GitHubRepo, readPages } from '../../github/client.js'
import { isMissing, isWithheld } from '../../github/errors.js'
import { ActionError } from '../../text/errors.js'
import { compareCommits, expectGone } from './compare.js'
import { withParts } from './parts.js'
import {
  findCandidates,
  haveSameNumbers,
  isPreReleaseTag,
  moves,
  type Release,
} from './releases.js'
import { type Changes, unknownChanges } from './types.js'

/**
 * How many that may be the one before are asked for, at most, and how often GitHub is. Of the same
 * commit, behind or gone, none is the one before. [range.release.tries]
 */
const [TRIES, MAX_REQUESTS] = [10, 50]

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
 * @throws ActionError `github`, also if a release is there but can't be compared with
 */
export async function sinceLastRelease(
  repo: GitHubRepo,
  { tag, head, release, isByHand }: Released,
): Promise<Changes> {
  const items = await readReleases(repo, tag, release)
  const own: unknown = release ?? items.find((one) => one.tag_name === tag)
  const isPreRelease = (getPath(own, 'prerelease') ?? isPreReleaseTag(tag)) === true
  const publishedAt = getString(own, 'published_at')
  const gift = { requests: MAX_REQUESTS }
  let gap: string | undefined
  let same: Changes | undefined
  let tries = 0
  let isFixed = false
  for (const { tag: before, isLower } of findCandidates(items, {
    tag,
    isPreRelease,
    publishedAt,
  })) {
    // A tag `v1` is `v1.2.3`, or comes after it; else, none of these came before it.
    const isUnder = moves(tag, before)
    if (tries === TRIES || (isUnder && isFixed)) continue
    const about = { range: SINCE_RELEASE, previousRelease: before }
    const asked = { ...about, base: before, head }
    const comparison = isLower
      ? await compareCommits(repo, asked)
      : await compareCommits(repo, asked, { gift, isRelation: true }).catch(ifWithheld)
    const relation = comparison?.kind
    if (comparison?.kind === 'not found') await expectGone(repo, before, about, comparison.error)
    if (relation === undefined) gap = PASSED_OVER
    const hasParted = relation === 'diverged' && isLower && !isUnder
    if (relation === 'ahead' || hasParted) {
      const chosen = isLower ? comparison : await compareCommits(repo, asked)
      if (chosen !== undefined && 'changes' in chosen)
        return { ...withParts(repo, chosen), ...(gap && { gap }) }
    }
    if (isUnder) isFixed = relation === 'behind' || relation === 'diverged'
    if (relation === 'diverged' || relation === undefined) tries++
    // A final release is news after its candidate.
    const isOther = isPreRelease || !haveSameNumbers(before, tag)
    if (relation === 'identical' && isLower && isOther && !moves(before, tag)) {
      same ??= { kind: 'none', ...about }
      if (!isByHand) return same
    }
  }
  const reason = gap ? 'GitHub could not compare with the earlier releases' : NO_RELEASE
  return same ?? (isByHand ? { kind: 'first', reason } : unknownChanges(reason))
}

const NO_RELEASE = 'there is no earlier release to compare with'

function ifWithheld(thrown: unknown): undefined {
  if (!isWithheld(thrown)) throw thrown
}

/**
 * GitHub's releases, or its tags if there are none. A list without the release that the event
 * proves is late. [range.release.late] [range.release.tags]
 */
async function readReleases(
  repo: GitHubRepo,
  tag: string,
  release: unknown,
): Promise<readonly Release[]> {
  const lacksOwn = (list: readonly Release[]): boolean =>
    release !== undefined && !list.some((one) => getString(one, 'tag_name') === tag)
  const isLate = (page: { page: number; per_page: number }, answer: unknown): boolean => {
    if (page.page > 1 || !Array.isArray(answer) || !lacksOwn(answer)) return false
    // The newest come first, by the time of their commit.
    const last = getString(answer.at(-1), 'created_at')
    return answer.length < page.per_page || getString(release, 'created_at') > last
  }
  const asked = {
    needs: 'contents: read',
    instead: 'If since says where to begin, this list is not needed.',
  }
  const { items } = await readPages(RELEASE_PAGES, (page) =>
    repo.github.repos.listReleases({
      ...asking(repo, 'listing the releases', {
        ...asked,
        early: (answer) => isMissing(answer) || isLate(page, answer),
        expects: Array.isArray,
      }),
      ...page,
    }),
  )
  if (lacksOwn(items)) {
    const message = "GitHub's list of releases lacks the one that this run is about."
    throw new ActionError('github', message, 'Re-run later, or set since.')
  }
  if (items.some(({ draft }) => !draft)) return items
  const tags = await readPages(RELEASE_PAGES, (page) =>
    repo.github.repos.listTags({
      ...asking(repo, 'listing the tags', { ...asked, expects: Array.isArray }),
      ...page,
    }),
  )
  return tags.items.map(({ name }) => ({ tag_name: name, prerelease: isPreReleaseTag(name) }))
}
