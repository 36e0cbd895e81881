/** Which release came before another, by the tags and dates of real projects. */

import { describe, expect, test } from '@jest/globals'
import { findCandidates, isPreReleaseTag } from '../../src/context/changes/releases.js'

/** Tags of public repositories, in the order in which they were made, with the days. */
const PROJECTS = {
  express: `4.19.2 2024-03-25, v5.0.0-beta.3 2024-03-25, 4.20.0 2024-09-10, v5.0.0 2024-09-10,
    4.21.2 2024-12-05, v5.1.0 2025-03-28, v5.0.1 2025-04-20, 4.22.0 2025-12-01, v5.2.0 2025-12-01,
    v4.22.1 2025-12-01`,
  urllib3: `2.0.4 2023-07-19, 2.2.1 2024-02-18, 2.2.2 2024-06-17, 1.26.19 2024-06-17,
    2.0.5 2024-07-09, 1.26.20 2024-08-29, 2.2.3 2024-09-12`,
  sqlalchemy: `rel_1_4_53 2024-07-29, rel_2_0_34 2024-09-04, rel_1_4_54 2024-09-05,
    rel_2_0_35 2024-09-16, rel_2_0_46 2026-01-21, rel_2_1_0b1 2026-01-21, rel_2_0_47 2026-02-24,
    rel_2_0_49 2026-04-03, rel_2_1_0b2 2026-04-16`,
  etcd: `v3.7.0-rc.0 2026-06-01, v3.8.0-alpha.0 2026-06-05, client/v2.305.32 2026-07-01,
    client/v3.5.32 2026-07-01, v3.5.32 2026-07-01, client/v3.6.13 2026-07-01, v3.6.13 2026-07-01,
    client/pkg/v3.7.0 2026-07-08, client/v3.7.0 2026-07-08, v3.7.0 2026-07-08,
    client/v2.305.33 2026-07-23, client/v3.5.33 2026-07-23, client/v3.6.14 2026-07-23,
    v3.6.14 2026-07-23, client/pkg/v3.7.1 2026-07-23`,
  prometheus: `v2.55.1 2024-11-06, v0.55.1 2024-11-06, v3.0.0-rc.1 2024-11-11, v3.0.0 2024-11-14,
    v0.300.0 2024-11-14, v3.5.4 2026-06-17, v0.305.4 2026-06-17, v3.5.5 2026-07-09,
    v0.305.5 2026-07-09, v3.13.2 2026-07-30, v0.313.2 2026-07-30, v3.14.0-rc.0 2026-08-11,
    v3.14.0 2026-08-17, v0.314.0 2026-08-17`,
  laravel: `v10.50.1 2026-02-15, v11.55.0 2026-07-14, v12.65.0 2026-08-05, v13.25.0 2026-08-11,
    v12.66.0 2026-08-11, v10.50.3 2026-08-12, v11.55.1 2026-08-12, v13.26.0 2026-08-18,
    v12.67.0 2026-08-18, v13.26.1 2026-08-18, v11.56.0 2026-08-20`,
  loki: `v3.5.11 2026-02-23, v3.6.7 2026-02-23, helm-loki-6.55.0 2026-03-11, v3.5.12 2026-03-11,
    operator/v0.10.0 2026-03-18, v3.6.8 2026-03-25, v3.7.0 2026-03-26, operator/v0.10.1 2026-04-16,
    helm-loki-7.0.0 2026-04-23`,
  jenkins: `jenkins-2.541.3 2026-03-16, jenkins-2.555 2026-03-17, jenkins-2.556 2026-03-24,
    jenkins-2.555.1-rc 2026-03-31, jenkins-2.559 2026-04-14, jenkins-2.555.1 2026-04-15,
    jenkins-2.560 2026-04-21, jenkins-2.555.2 2026-05-13`,
  'spring-boot': `v4.0.0-RC2 2025-11-06, v3.5.8 2025-11-20, v4.0.0 2025-11-20, v3.5.10 2026-01-22,
    v4.0.2 2026-01-22, v4.1.0-M1 2026-01-22, v3.5.11 2026-02-19, v4.0.3 2026-02-19,
    v4.1.0-M2 2026-02-19, v4.1.0-M4 2026-03-26, v4.0.6 2026-04-23, v4.1.0-RC1 2026-04-23`,
  rails: `v8.0.2 2025-03-12, v7.2.2.2 2025-08-13, v8.0.2.1 2025-08-13, v8.1.0.beta1 2025-09-04,
    v8.0.3 2025-09-22, v8.1.0.rc1 2025-10-15, v8.1.0 2025-10-22, v8.0.4 2025-10-28,
    v8.0.4.1 2026-03-23, v8.1.2.1 2026-03-23, v8.0.5 2026-03-24`,
  'ingress-nginx': `controller-v1.13.8 2026-03-09, helm-chart-4.13.8 2026-03-09,
    controller-v1.14.4 2026-03-09, helm-chart-4.14.4 2026-03-09, controller-v1.15.0 2026-03-09,
    helm-chart-4.15.0 2026-03-09, controller-v1.13.9 2026-03-19, helm-chart-4.13.9 2026-03-19`,
  changesets: `@changesets/parse@0.4.3 2026-03-03, @changesets/cli@2.31.0 2026-04-17,
    @changesets/parse@1.0.0-next.6 2026-06-24, @changesets/cli@2.31.1 2026-07-15,
    @changesets/cli@3.0.0-next.12 2026-08-10, @changesets/cli@3.0.0 2026-08-11,
    @changesets/parse@1.0.0 2026-08-11, @changesets/cli@3.0.1 2026-08-19`,
  openssh: `V_9_9_P1 2024-09-19, V_9_9_P2 2025-02-18, V_10_0_P1 2025-04-09, V_10_0_P2 2025-04-09,
    V_10_1_P1 2025-10-06`,
  'rust-analyzer': `2026-08-10 2026-08-09, 2026-08-10.1 2026-08-10, 2026-08-17 2026-08-16,
    2026-08-17.1 2026-08-16, 2026-08-17.2 2026-08-16`,
}

/** The tag, and those that may be before it, the likeliest first; others are in brackets. */
function candidates(list: string, tag: string, published = true): readonly string[] {
  const releases = list.split(/,\s+/).map((item, nth) => {
    const [tag_name = '', day] = item.split(' ')
    const published_at = published ? `${day}T00:00:${`${nth}`.padStart(2, '0')}Z` : null
    return { tag_name, prerelease: isPreReleaseTag(tag_name), published_at }
  })
  const publishedAt = releases.find(({ tag_name }) => tag_name === tag)?.published_at ?? ''
  return findCandidates(releases, tag, isPreReleaseTag(tag), publishedAt).map(
    ({ before, isLower }) => (isLower ? before : `(${before})`),
  )
}

describe('the release before another, of real projects [range.release.package]', () => {
  test.each<[project: keyof typeof PROJECTS, tag: string, before: string, why: string]>([
    ['express', 'v5.0.0', '4.20.0', 'the first of a new line follows the highest there was'],
    ['express', 'v5.1.0', 'v5.0.0', '4.21.2 is newer'],
    ['express', 'v4.22.1', '4.22.0', 'a `v` says nothing, and v5.2.0 is of the same day'],
    ['urllib3', '2.2.3', '2.2.2', '1.26.20 and 2.0.5 are newer'],
    ['urllib3', '1.26.20', '1.26.19', '2.0.5 is newer'],
    ['sqlalchemy', 'rel_2_0_35', 'rel_2_0_34', 'rel_1_4_54 is newer'],
    ['sqlalchemy', 'rel_2_1_0b1', 'rel_2_0_46', 'it is the first beta of a line'],
    ['sqlalchemy', 'rel_2_1_0b2', 'rel_2_1_0b1', 'two of rel_2_0 are newer'],
    ['etcd', 'v3.7.0', 'v3.6.13', 'its candidate does not count, nor the alpha of v3.8'],
    ['etcd', 'client/v2.305.33', 'client/v2.305.32', 'two lines have one prefix'],
    ['etcd', 'client/pkg/v3.7.1', 'client/pkg/v3.7.0', 'client/ is another package'],
    ['prometheus', 'v3.0.0', 'v2.55.1', 'v0.55.1 is newer, and a candidate does not count'],
    ['prometheus', 'v0.314.0', 'v0.313.2', 'two lines of versions have one prefix'],
    ['prometheus', 'v3.14.0-rc.0', 'v3.13.2', 'the first candidate follows the last final one'],
    ['laravel', 'v11.56.0', 'v11.55.1', 'v12.67.0 and v13.26.1 are newer'],
    ['loki', 'v3.5.12', 'v3.5.11', 'v3.6.7 is newer'],
    ['loki', 'helm-loki-7.0.0', 'helm-loki-6.55.0', 'six of other packages are newer'],
    ['jenkins', 'jenkins-2.555.1', 'jenkins-2.555', 'it keeps that week for long'],
    ['jenkins', 'jenkins-2.560', 'jenkins-2.559', 'jenkins-2.555.1 is newer'],
    ['spring-boot', 'v4.0.0', 'v3.5.8', 'its candidate does not count'],
    ['spring-boot', 'v4.1.0-M2', 'v4.1.0-M1', 'v4.0.3 is newer'],
    ['spring-boot', 'v4.1.0-RC1', 'v4.1.0-M4', 'v4.0.6 is of the same minute'],
    ['rails', 'v8.0.2.1', 'v8.0.2', 'v7.2.2.2 is newer'],
    ['rails', 'v8.1.0', 'v8.0.3', 'neither its candidate nor its beta counts'],
    ['rails', 'v8.1.0.rc1', 'v8.1.0.beta1', 'v8.0.3 is newer'],
    ['ingress-nginx', 'controller-v1.13.9', 'controller-v1.13.8', 'two lines, and a chart'],
    ['changesets', '@changesets/cli@3.0.0', '@changesets/cli@2.31.1', 'no `next` counts'],
    ['changesets', '@changesets/parse@1.0.0', '@changesets/parse@0.4.3', 'of its package'],
    ['openssh', 'V_9_9_P2', 'V_9_9_P1', 'it mends that'],
    ['openssh', 'V_10_0_P1', 'V_9_9_P2', 'the tenth comes behind the ninth'],
    ['rust-analyzer', '2026-08-17', '2026-08-10.1', 'the second of a week'],
    ['rust-analyzer', '2026-08-17.2', '2026-08-17.1', 'three are of one minute'],
  ])('%s %s: %s, as %s', (project, tag, expected) => {
    expect(candidates(PROJECTS[project], tag)[0]).toBe(expected)
    // Whoever only tags has neither days nor what GitHub says of a pre-release.
    const tags = PROJECTS[project].split(/,\s+/)
    const until = tags.slice(0, tags.findIndex((item) => item.startsWith(`${tag} `)) + 1)
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
      'what stands behind the numbers mends them',
      '1.2 2026-01-01, 1.2-1 2026-01-02, 1.2-hotfix.1 2026-01-03, 1.2-lts.1 2026-01-04',
      '1.3',
      ['1.2-1', '1.2-lts.1', '1.2-hotfix.1', '1.2'],
    ],
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
