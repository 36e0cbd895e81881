/** How projects name and publish releases, and which one before each release is compared with. */

import { expect } from '@jest/globals'
import { file, sha } from '../support/github.js'
import { type RunOptions, worldTest } from '../support/pull-request.js'

const HEAD = sha('head of the release')

/** The tag is published as a release, or pushed. */
const events = (tag: string): RunOptions[] => {
  const release = { tag_name: tag, prerelease: /-(?:rc|beta)/.test(tag) }
  const env = { GITHUB_REF: `refs/tags/${tag}`, GITHUB_SHA: HEAD }
  const range = { before: '0'.repeat(40), after: HEAD, head_commit: { id: HEAD }, commits: [] }
  const published = { ...release, published_at: '2026-03-01T00:00:00Z' }
  return [
    { event: 'release', payload: { action: 'published', release: published }, env },
    { event: 'push', payload: range, env },
  ]
}

/** Earlier ones, the oldest first: `~` is no ancestor, `?` is a pre-release. */
worldTest.each<[habit: string, before: string, tag: string, since: string]>([
  ['one line of versions [range.release.ancestor]', 'v1.0.0 v1.1.0', 'v1.2.0', 'v1.1.0'],
  ['numbers that grow [range.release.ancestor]', 'v1.9.0 v1.10.0', 'v1.11.0', 'v1.10.0'],
  [
    'a mend of an old version, on its branch [range.release.parted]',
    '~v1.2.2 ~v1.2.3 ~v2.0.0',
    'v1.2.4',
    'v1.2.3',
  ],
  ['the first of a new branch [range.release.parted]', '~v1.2.3 ~v2.0.0', 'v2.1.0', 'v2.0.0'],
  [
    'an old version that is kept in one line [range.release.package]',
    'v1.2.3 ~v2.0.0',
    'v1.2.4',
    'v1.2.3',
  ],
  [
    'a final one after its candidates [range.release.pre-release]',
    'v1.1.0 ?v1.1.1-rc.1 ?v1.2.0-rc.1',
    'v1.2.0',
    'v1.1.0',
  ],
  [
    'a candidate after another [range.release.pre-release]',
    'v1.1.0 ?v1.2.0-rc.1',
    'v1.2.0-rc.2',
    'v1.2.0-rc.1',
  ],
  ['a candidate after a final one [range.release.pre-release]', 'v1.1.0', 'v1.2.0-beta', 'v1.1.0'],
  ['packages, by @ [range.release.package]', 'cli@1.0.0 core@4.0.0', 'cli@1.1.0', 'cli@1.0.0'],
  [
    'packages with a scope [range.release.package]',
    '@a/cli@1.0.0 @a/core@4.0.0',
    '@a/cli@1.1.0',
    '@a/cli@1.0.0',
  ],
  [
    'packages, by a folder [range.release.package] [range.tag]',
    'cli/v9.0.0 core/v4.0.0',
    'cli/v10.0.0',
    'cli/v9.0.0',
  ],
  [
    'packages, by a hyphen [range.release.package]',
    'core-v1.1.0 ?core-v1.1.1-rc.1',
    'core-v1.2.0',
    'core-v1.1.0',
  ],
  ['charts [range.release.package]', 'api-1.9.0 web-3.0.0', 'api-1.10.0', 'api-1.9.0'],
  [
    'a package that is new [range.release.package]',
    'cli@1.0.0 core@4.0.0',
    'web@0.1.0',
    'core@4.0.0',
  ],
  ['months [range.release.ancestor]', '2026.9.30 2026.10.1', '2026.11.1', '2026.10.1'],
  ['days [range.release.ancestor]', '2026-02-27 2026-02-28', '2026-03-01', '2026-02-28'],
  ['builds [range.release.package]', 'k8s-8 k8s-9 web-3', 'k8s-10', 'k8s-9'],
  [
    'words behind the version [range.release.package]',
    '2.0.0.Final 2.1.0.Final',
    '2.2.0.Final',
    '2.1.0.Final',
  ],
])('%s', async (world, _, before, tag, since) => {
  before.split(' ').forEach((word, nth) => {
    const name = word.replace(/^[~?]/, '')
    const published = `2026-02-${String(nth + 10)}T00:00:00Z`
    world.repository.addRelease(name, published, { prerelease: word.startsWith('?') })
    const status = word.startsWith('~') ? 'diverged' : 'ahead'
    world.repository.addComparison(sha(name), HEAD, { files: [file(`since/${name}`)], status })
  })
  for (const run of events(tag)) await world.step({ context: 'event' }, run)
  const found = world.prompts().map((prompt) => /since\/(.*)/.exec(prompt)?.[1])
  expect(found).toEqual([since, since])
})
