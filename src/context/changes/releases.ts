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
  const own = parse(tag, isPreRelease)
  // `v1` or `v1.2`; `2026-01-15` stays where it is.
  const isMoving = own.numbers.split(/\D/).length < 3
  const candidates = releases.flatMap((release) => {
    const { tag_name: before, draft, prerelease, published_at } = release
    const version = parse(before, prerelease)
    const isUnder = isMoving && before.startsWith(`${tag}.`)
    const isLower = version.prefix === own.prefix && (isUnder || compare(version, own) < 0)
    const time = Date.parse(String(published_at))
    const isLater = !isUnder && time >= Date.parse(publishedAt)
    if (draft || isLater || before === tag || (prerelease && !isPreRelease)) return []
    const isOther = isPreRelease || version.numbers !== own.numbers
    const mayRepeat = isLower || own.numbers === ''
    const isRepeated = mayRepeat && isOther && !tag.startsWith(`${before}.`)
    // Nobody knows how old a mere tag is.
    return isLower || time > 0 ? { before, isLower, isRepeated, time, version } : []
  })
  return candidates.sort(
    (one, other) =>
      Number(other.isLower) - Number(one.isLower) ||
      (one.isLower && compare(other.version, one.version)) ||
      other.time - one.time,
  )
}

type Version = ReturnType<typeof parse>

/**
 * What comes before the version (`cli@` in `cli@2.0.0`; a `v` says nothing), its text, and its
 * numbers alone: `2.0.0` in `2.0.0.Final`, `2026-01-15.1`, `2_0_44` in `rel_2_0_44`.
 */
function parse(tag: string, prerelease: boolean) {
  const [, prefix = '', text = '', numbers = ''] =
    /^(.*?)v?((\d+(?:[._-]\d+)+).*)/.exec(tag) ?? /^(.*?)v?((\d*))$/.exec(tag) ?? []
  return { prefix, text, numbers, isPreRelease: prerelease || PRE_RELEASE.test(text) }
}

/**
 * As in `2.0.0-rc.1` (semver.org, 9), `2.0.0rc1` (packaging.python.org), `2.0.0-M1`. What else
 * stands behind the numbers may mend them: `2.4.6-p1`, `2.4.6-hotfix.1`.
 */
const PRE_RELEASE =
  /^[\d._-]+(?:[abm]\d|rc|cr|alpha|beta|dev|pre|canary|next|nightly|snapshot|test)/i

/** A collator that is made on loading would cost each run on a pull request 12 %. */
const compareTexts = (one: string, other: string): number =>
  one.localeCompare(other, 'en', { numeric: true })

/** By numbers; a pre-release comes before the release, and what mends that behind it. */
function compare(one: Version, other: Version): number {
  return (
    compareTexts(one.numbers, other.numbers) ||
    Number(other.isPreRelease) - Number(one.isPreRelease) ||
    compareTexts(one.text, other.text)
  )
}

export function isPreReleaseTag(tag: string): boolean {
  return parse(tag, false).isPreRelease
}
