/** Finds what changed since the last release. */

import { getString } from '../event/payload.js'
import { about, readPages, type Source } from '../github/client.js'
import { compare, exists, type FoundChanges, missingList, unknownChanges } from './compare.js'

/** How many releases are compared, at most. */
const TRIES = 10

/** GitHub lists no more than 10,000 releases; far fewer are read. */
const MAX_PAGES = 10

/** What is being released. */
export interface Released {
  readonly tag: string
  readonly preRelease: boolean
  /** In ISO 8601; empty if it is not published yet: then every published release came before it. */
  readonly publishedAt: string
  /** The commit. */
  readonly head: string
}

interface Release {
  readonly tag_name: string
  readonly draft: boolean
  readonly prerelease: boolean
  readonly published_at: string | null
}

const RANGE = 'the commits since the previous release'

/**
 * Compares with the newest published release whose tag is an ancestor. Releases with the same prefix in their tag come
 * first: a repository may release several packages.
 *
 * @throws ActionError `github`
 */
export async function sinceLastRelease(source: Source, released: Released): Promise<FoundChanges> {
  const { head } = released
  const candidates = selectCandidates(await listReleases(source), released)
  let headExists = false
  for (const { tag_name: tag } of candidates) {
    const comparison = await compare(source, { base: tag, head, range: RANGE })
    // Identical: another package's release, or another name for this one.
    if (comparison.relation === 'ahead') return { ...comparison.changes, previousRelease: tag }
    if (comparison.relation === 'unknown') {
      return missingList(RANGE)
    }
    // The tag was deleted, or nothing can be read: asked once.
    if (comparison.relation === 'not found' && !headExists) {
      headExists = await exists(source, head)
      if (!headExists) throw comparison.error
    }
  }
  return unknownChanges('There is no earlier release to compare with.')
}

async function listReleases(source: Source): Promise<readonly Release[]> {
  const common = about(source, 'listing the releases', 'contents: read', Array.isArray)
  const { items: releases } = await readPages(MAX_PAGES, (page) =>
    source.github.repos.listReleases({ ...common, ...page }),
  )
  return releases.filter((release) => getString(release, 'tag_name') !== '')
}

/** The releases that may be the one before, the likeliest first. */
function selectCandidates(
  releases: readonly Release[],
  { tag, preRelease, publishedAt }: Released,
): Release[] {
  const time = ({ published_at }: Release): number => Date.parse(published_at ?? '')
  const before = publishedAt === '' ? Number.POSITIVE_INFINITY : Date.parse(publishedAt)
  const prefix = prefixOf(tag)
  const rank = (release: Release): number => (prefixOf(release.tag_name) === prefix ? 0 : 1)
  return releases
    .filter((release) => release.tag_name !== tag && !release.draft && time(release) < before)
    .filter((release) => preRelease || !release.prerelease)
    .sort((one, other) => rank(one) - rank(other) || time(other) - time(one))
    .slice(0, TRIES)
}

/** What comes before the version in a tag: `v` in `v1.2.3`, `cli@` in `cli@2.0.0`. */
function prefixOf(tag: string): string {
  return /^(.*?)\d+\.\d+/.exec(tag)?.[1] ?? tag.replace(/\d+$/, '')
}

/** Whether a tag's version is one of a pre-release, as in `v2.0.0-rc.1` (semver.org, 9). */
export function isPreReleaseTag(tag: string): boolean {
  return /\d+\.\d+\.\d+-/.test(tag)
}
