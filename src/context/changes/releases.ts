/** Which releases may be the one before another, by their tags and dates alone. Pure. */

/** A release as GitHub lists it. Others wrote its tag. */
export type Release = Readonly<{
  tag_name: string
  draft?: boolean
  prerelease: boolean
  /** Missing if it is but a tag. */
  published_at?: string | null
}>

/** The release that is compared with those before it. */
export type Own = Readonly<{
  tag: string
  isPreRelease: boolean
  /** Empty if the tag has no release. */
  publishedAt: string
}>

/** `isLower`: of the same package, so that its branch may have parted. */
export type Candidate = Readonly<{ tag: string; isLower: boolean }>

/**
 * The releases that may be the one before, the likeliest first: lower versions of the same package
 * from the highest down, as the newest may mend an older line; then others, the newest first. No
 * draft, none that came later, a pre-release only before a pre-release. [range.release.package]
 * [range.release.pre-release]
 */
export function findCandidates(
  releases: readonly Release[],
  { tag, isPreRelease, publishedAt }: Own,
): readonly Candidate[] {
  const time = ({ published_at }: Release): number => Date.parse(String(published_at))
  const isLower = ({ tag_name }: Release): boolean =>
    parse(tag_name).prefix === parse(tag).prefix &&
    (moves(tag, tag_name) || compareVersions(tag_name, tag) < 0)
  const rank = (one: Release): number => (isLower(one) ? 0 : 1)
  return (
    releases
      .filter(({ tag_name, draft }) => !['', tag].includes(tag_name) && !draft)
      .filter((one) => moves(tag, one.tag_name) || !(time(one) >= Date.parse(publishedAt)))
      .filter((one) => isPreRelease || !one.prerelease)
      // Nobody knows how old a mere tag is.
      .filter((one) => isLower(one) || time(one) > 0)
      .sort(
        (one, other) =>
          rank(one) - rank(other) ||
          (isLower(one) && compareVersions(other.tag_name, one.tag_name)) ||
          time(other) - time(one),
      )
      .map((one) => ({ tag: one.tag_name, isLower: isLower(one) }))
  )
}

/** A tag such as `v1` moves on, so it is a name for `v1.2.3`, too. */
export function moves(tag: string, release: string): boolean {
  return release.startsWith(`${tag}.`)
}

/** Whether two tags differ in what stands beside the numbers, as a final one from its candidate. */
export function haveSameNumbers(tag: string, other: string): boolean {
  return parse(tag).numbers === parse(other).numbers
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

/** By numbers; a pre-release comes before the release. */
function compareVersions(one: string, other: string): number {
  const order = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true })
  return (
    order(parse(one).numbers, parse(other).numbers) ||
    Number(isPreReleaseTag(other)) - Number(isPreReleaseTag(one)) ||
    order(one, other)
  )
}

/** As in `v2.0.0-rc.1` (semver.org, 9), or `2.0.0rc1` (packaging.python.org). */
export function isPreReleaseTag(tag: string): boolean {
  return /\d[._]\d+-|\d(?:a|b|rc)\d/.test(tag)
}
