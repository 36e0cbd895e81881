/** Which releases may be the one before another, by their tags and dates alone. Pure. */

/** A release as GitHub lists it. Others wrote its tag. */
export type Release = Readonly<{
  tag_name: string
  draft?: boolean
  prerelease: boolean
  /** Missing if it is but a tag. */
  published_at?: string | null
}>

/**
 * The releases that may be the one before, the likeliest first: lower versions of the same package
 * from the highest down, as the newest may mend an older line; then others, the newest first. No
 * draft, none that came later, a pre-release only before a pre-release. [range.release.package]
 * [range.release.pre-release] If one that is `isRepeated` has the same commit, nothing is new: not
 * if a final release has its candidate's, or `v1` is where `v1.2.3` is. [skip.release.same-commit]
 *
 * @param publishedAt empty if the tag has no release
 */
export function findCandidates(
  releases: readonly Release[],
  tag: string,
  isPreRelease: boolean,
  publishedAt: string,
) {
  const own = parse(tag)
  const candidates = releases.flatMap((release) => {
    const { tag_name: before, draft, prerelease, published_at } = release
    const { prefix, numbers } = parse(before)
    const isUnder = before.startsWith(`${tag}.`)
    const isLower = prefix === own.prefix && (isUnder || compareTags(before, tag) < 0)
    const time = Date.parse(String(published_at))
    const isLater = !isUnder && time >= Date.parse(publishedAt)
    if (draft || isLater || before === tag || (prerelease && !isPreRelease)) return []
    const isOther = isPreRelease || numbers !== own.numbers
    const isRepeated = isLower && isOther && !tag.startsWith(`${before}.`)
    // Nobody knows how old a mere tag is.
    return isLower || time > 0 ? { before, isLower, isRepeated, time } : []
  })
  return candidates.sort(
    (one, other) =>
      Number(other.isLower) - Number(one.isLower) ||
      (one.isLower && compareTags(other.before, one.before)) ||
      other.time - one.time,
  )
}

/**
 * What comes before the version (`cli@` in `cli@2.0.0`; a `v` says nothing), and its numbers alone:
 * `2.0.0` in `2.0.0.Final`. In `rel_2_0_44`, `_` parts them.
 */
function parse(tag: string) {
  const [, prefix = '', numbers = ''] =
    /^(.*?)v?(\d+(?:\.\d+)+)/.exec(tag) ??
    /^(.*?)v?(\d+(?:[_-]\d+)+)/.exec(tag) ??
    /^(.*?)v?(\d*)$/.exec(tag) ??
    []
  return { prefix, numbers }
}

const { compare } = new Intl.Collator('en', { numeric: true })

/** By numbers; a pre-release comes before the release. */
function compareTags(one: string, other: string): number {
  return (
    compare(parse(one).numbers, parse(other).numbers) ||
    Number(isPreReleaseTag(other)) - Number(isPreReleaseTag(one)) ||
    compare(one, other)
  )
}

/** As in `v2.0.0-rc.1` (semver.org, 9), or `2.0.0rc1` (packaging.python.org). */
export function isPreReleaseTag(tag: string): boolean {
  return /\d[._]\d+-|\d(?:a|b|rc)\d/.test(tag)
}
