/** Which release came before another, by the tags and dates of real projects. */

import { describe, expect, test } from '@jest/globals'
import { findCandidates, isPreReleaseTag } from '../../src/context/changes/releases.js'

/**
 * Tags with the days they are from, as the projects' repositories have them, or a day later where
 * two of one day have an order.
 */
const PROJECTS = {
  express: `4.19.2 2024-03-25, v5.0.0 2024-09-09, 4.20.0 2024-09-10, 4.21.0 2024-09-11,
    4.21.2 2024-12-05, v5.1.0 2025-03-28, 4.22.0 2025-12-01, v5.2.0 2025-12-01, v4.22.1 2025-12-02,
    v5.2.1 2025-12-02, v4.22.2 2026-05-11`,
  urllib3: `2.2.1 2024-02-18, 2.2.2 2024-06-17, 1.26.19 2024-06-17, 2.0.5 2024-07-08,
    1.26.20 2024-08-29, 2.2.3 2024-09-12, 2.3.0 2024-12-22`,
  axios: `v0.28.0 2024-02-12, v1.6.8 2024-03-15, v0.28.1 2024-03-28, v1.7.0-beta.2 2024-05-19,
    v1.7.0 2024-05-20, v1.7.7 2024-08-31, v0.29.0 2024-11-21, v1.7.8 2024-11-25`,
  fastify: `v4.27.0 2024-05-07, v5.0.0-alpha.1 2024-05-08, v4.28.0 2024-06-14,
    v5.0.0-alpha.4 2024-09-03, v4.28.1 2024-06-29, v5.0.0 2024-09-17, v5.1.0 2024-10-31,
    v4.29.0 2024-12-04, v5.3.2 2025-04-18, v4.29.1 2025-04-28, v5.3.3 2025-05-13,
    v5.12.0 2026-08-13, v6.0.0-alpha.0 2026-08-11, v6.0.0-alpha.1 2026-08-14, v5.12.1 2026-08-18`,
  sqlalchemy: `rel_1_4_53 2024-07-29, rel_2_0_34 2024-09-04, rel_1_4_54 2024-09-05,
    rel_2_0_35 2024-09-16, rel_2_0_45 2025-12-09, rel_2_0_46 2026-01-20, rel_2_1_0b1 2026-01-21,
    rel_2_0_47 2026-02-24, rel_2_1_0b2 2026-04-16`,
  'opentelemetry-js': `v2.5.1 2026-02-12, experimental/v0.212.0 2026-02-12,
    experimental/v0.213.0 2026-03-03, v2.6.0 2026-03-03, api/v1.9.1 2026-03-25,
    experimental/v0.214.0 2026-03-25, v2.6.1 2026-03-25, semconv/v1.41.1 2026-05-12,
    experimental/v0.221.0 2026-07-21, semconv/v1.42.0 2026-07-06`,
  changesets: `@changesets/cli@2.31.0 2026-04-17, @changesets/cli@3.0.0-next.11 2026-08-03,
    @changesets/parse@1.0.0-next.10 2026-08-03, @changesets/cli@2.31.1 2026-07-15,
    @changesets/cli@3.0.0 2026-08-11, @changesets/parse@1.0.0 2026-08-11,
    @changesets/cli@3.0.1 2026-08-19`,
  checkout: `v4.2.2 2024-10-23, v4.3.0 2025-08-11, v5.0.0 2025-08-12, v5.0.1 2025-11-13,
    v4.3.1 2025-11-14, v6.0.0 2025-11-20, v6.0.3 2026-06-02, v7.0.0 2026-06-17, v6.1.0 2026-07-16,
    v5.1.0 2026-07-16, v4.4.0 2026-07-16`,
  // Some flags are forgotten.
  magento: `2.4.5 2022-08-09, 2.4.5-p1 2022-10-11, 2.4.6 2023-03-14, 2.4.6-p1 2023-06-13,
    2.4.6-p2 2023-08-08, 2.4.7-beta1 2023-10-10, 2.4.7 2024-04-09`,
  days: `2024-01-10 2024-01-10, 2024-01-10.2 2024-01-11, 2024-01-15 2024-01-15,
    2024-01-15.1 2024-01-16, 2024-01-16 2024-01-17`,
  calendar: `2024.01.10 2024-01-10, 2024.01.15 2024-01-15, 2024.01.15-1 2024-01-16,
    2024.01.16 2024-01-17`,
  revisions: `v1.2.2 2024-01-01, v1.2.3 2024-01-02, v1.2.3-1 2024-01-03,
    v1.2.3-hotfix.1 2024-01-04, v1.2.4 2024-01-05`,
  node: `v20.0.0 2024-01-01, v20.1.0 2024-01-02, v20.1.0-lts.1 2024-01-03, v20.2.0 2024-01-04`,
  forgotten: `v1.9.0 2024-01-01, v2.0.0-alpha 2024-01-02, v2.0.0-beta 2024-01-03,
    v2.0.0-rc.1 2024-01-04, v2.0.0 2024-01-05, v2.1.0-dev 2024-01-06,
    v2.1.0-next.1 2024-01-07, v2.1.0-preview 2024-01-08, v2.1.0 2024-01-09`,
  'loader-utils': `v1.4.0 2020-02-19, v2.0.0 2020-03-17, v3.0.0 2021-10-20, v3.1.0 2021-10-29,
    v2.0.1 2021-10-29, v3.2.0 2021-11-11, v2.0.3 2022-10-20, v1.4.1 2022-11-07, v3.2.1 2022-11-11,
    v2.0.4 2022-11-11, v1.4.2 2022-11-11`,
}

/** The tag, and those that may be before it, the likeliest first; others are in brackets. */
function candidates(list: string, tag: string, published = true): readonly string[] {
  const releases = list.split(/,\s+/).map((item) => {
    const [tag_name = '', day] = item.split(' ')
    const prerelease = isPreReleaseTag(tag_name)
    return { tag_name, prerelease, published_at: published ? `${day}T00:00:00Z` : null }
  })
  const publishedAt = releases.find(({ tag_name }) => tag_name === tag)?.published_at ?? ''
  return findCandidates(releases, tag, isPreReleaseTag(tag), publishedAt).map(
    ({ before, isLower }) => (isLower ? before : `(${before})`),
  )
}

describe('the release before another, of real projects [range.release.package]', () => {
  test.each<[project: keyof typeof PROJECTS, tag: string, before: string, why: string]>([
    ['express', 'v5.1.0', 'v5.0.0', 'three of 4.x are newer'],
    ['express', 'v5.2.0', 'v5.1.0', 'not what mends 4.21'],
    ['express', 'v4.22.1', '4.22.0', 'a `v` says nothing, and 5.2.0 is of the same day'],
    ['express', 'v4.22.2', 'v4.22.1', 'not 5.2.1, which is newer'],
    ['express', 'v5.0.0', '4.19.2', 'the first of a new line follows the highest there was'],
    ['urllib3', '2.2.3', '2.2.2', '1.26.20 and 2.0.5 are newer'],
    ['urllib3', '1.26.20', '1.26.19', 'not 2.0.5'],
    ['urllib3', '2.3.0', '2.2.3', 'the highest, which is the newest, too'],
    ['axios', 'v1.7.8', 'v1.7.7', 'v0.29.0 was four days ago'],
    ['axios', 'v0.29.0', 'v0.28.1', 'not v1.7.7'],
    ['axios', 'v1.7.0', 'v1.6.8', 'neither a beta nor v0.28.1'],
    ['fastify', 'v5.1.0', 'v5.0.0', 'of one line'],
    ['fastify', 'v4.29.0', 'v4.28.1', 'two of v5 are between'],
    ['fastify', 'v5.3.3', 'v5.3.2', 'v4.29.1 is newer'],
    ['fastify', 'v6.0.0-alpha.1', 'v6.0.0-alpha.0', 'before a pre-release, one counts'],
    ['fastify', 'v5.12.1', 'v5.12.0', 'an alpha of v6 is newer'],
    ['sqlalchemy', 'rel_2_0_35', 'rel_2_0_34', 'rel_1_4_54 is newer'],
    ['sqlalchemy', 'rel_1_4_54', 'rel_1_4_53', 'not rel_2_0_34'],
    ['sqlalchemy', 'rel_2_1_0b1', 'rel_2_0_46', 'the first beta of a branch'],
    ['sqlalchemy', 'rel_2_1_0b2', 'rel_2_1_0b1', 'rel_2_0_47 is newer'],
    ['sqlalchemy', 'rel_2_0_47', 'rel_2_0_46', 'not the beta'],
    ['opentelemetry-js', 'v2.6.1', 'v2.6.0', 'two packages are of the same day'],
    ['opentelemetry-js', 'experimental/v0.214.0', 'experimental/v0.213.0', 'of its package'],
    ['opentelemetry-js', 'semconv/v1.42.0', 'semconv/v1.41.1', 'of its package'],
    ['changesets', '@changesets/cli@3.0.1', '@changesets/cli@3.0.0', 'of its package'],
    ['changesets', '@changesets/cli@3.0.0', '@changesets/cli@2.31.1', 'no `next`'],
    ['checkout', 'v6.1.0', 'v6.0.3', 'v7.0.0 is newer'],
    ['checkout', 'v5.1.0', 'v5.0.1', 'v4.3.1 is newer'],
    ['checkout', 'v4.4.0', 'v4.3.1', 'the lowest of three of one day'],
    ['checkout', 'v6.0.0', 'v5.0.1', 'v4.3.1 is newer'],
    ['magento', '2.4.6', '2.4.5-p1', 'what mends one comes behind it'],
    ['magento', '2.4.6-p1', '2.4.6', 'it mends that'],
    ['magento', '2.4.6-p2', '2.4.6-p1', 'it mends that'],
    ['magento', '2.4.7', '2.4.6-p2', 'no beta'],
    ['days', '2024-01-15', '2024-01-10.2', 'the second of a day'],
    ['days', '2024-01-15.1', '2024-01-15', 'the first of that day'],
    ['days', '2024-01-16', '2024-01-15.1', 'the second of a day'],
    ['calendar', '2024.01.15-1', '2024.01.15', 'the first of that day'],
    ['calendar', '2024.01.16', '2024.01.15-1', 'the second of a day'],
    ['revisions', 'v1.2.3-1', 'v1.2.3', 'it revises that'],
    ['revisions', 'v1.2.3-hotfix.1', 'v1.2.3', 'it mends that'],
    ['node', 'v20.1.0-lts.1', 'v20.1.0', 'it is the same, for long'],
    ['node', 'v20.2.0', 'v20.1.0-lts.1', 'the last of the line'],
    ['forgotten', 'v2.0.0', 'v1.9.0', 'three are pre-releases by their words'],
    ['forgotten', 'v2.0.0-rc.1', 'v2.0.0-beta', 'before a pre-release, one counts'],
    ['forgotten', 'v2.1.0', 'v2.0.0', 'three are pre-releases by their words'],
    ['loader-utils', 'v3.1.0', 'v3.0.0', 'v2.0.1 is of the same day'],
    ['loader-utils', 'v2.0.3', 'v2.0.1', 'v3.2.0 is newer'],
    ['loader-utils', 'v3.2.1', 'v3.2.0', 'v1.4.1 is four days old'],
    ['loader-utils', 'v1.4.1', 'v1.4.0', 'five of v2 and v3 are newer'],
  ])('%s %s: %s, as %s', (project, tag, expected) => {
    expect(candidates(PROJECTS[project], tag)[0]).toBe(expected)
    // Whoever only tags has neither days nor what GitHub says of a pre-release.
    const tags = PROJECTS[project].split(/,\s+/)
    const until = tags.slice(0, tags.findIndex((item) => item.startsWith(`${tag} `)) + 1)
    if (until.some((item) => item.startsWith(`${expected} `)))
      expect(candidates(until.join(', '), tag, false)[0]).toBe(expected)
  })
})

describe('what may be the release before [range.release.package]', () => {
  test.each<[what: string, list: string, tag: string, expected: string[]]>([
    [
      'another package comes behind all of its own, the newest first',
      'core-v2.0.5 2026-01-01, core-v1.9.0 2026-01-02, ui-v9.9.9 2026-01-03, db-1.0 2026-01-04',
      'core-v2.1.0',
      ['core-v2.0.5', 'core-v1.9.0', '(db-1.0)', '(ui-v9.9.9)'],
    ],
    [
      'a higher version counts as another package',
      'v1.2.3 2026-01-01, v2.0.0 2026-01-02',
      'v1.2.4',
      ['v1.2.3', '(v2.0.0)'],
    ],
    [
      'the tenth comes behind the ninth',
      'k8s-9 2026-01-02, k8s-10 2026-01-01',
      'k8s-11',
      ['k8s-10', 'k8s-9'],
    ],
    [
      'a moving tag is each release under it, and comes before them',
      'v0.9 2026-01-01, v1 2026-01-02, v1.2.3 2026-01-03',
      'v1',
      ['v1.2.3', 'v0.9'],
    ],
    ['days count as versions', '2026-02-28 2026-02-28', '2026-03-01', ['2026-02-28']],
    [
      'what comes later does not count',
      'v1.0 2026-01-01, v1.1 2026-01-02, v1.0.9 2026-01-03',
      'v1.1',
      ['v1.0'],
    ],
  ])('%s', (_, list, tag, expected) => {
    expect(candidates(list, tag)).toEqual(expected)
  })

  test('of mere tags, none of another package: nobody knows how old it is', () => {
    expect(candidates('web-1.0 x, core-1.0 x', 'core-1.1', false)).toEqual(['core-1.0'])
  })
})
