/** scripts/release.mjs: what it refuses to release, and what it moves. */

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { newFolder } from '../support/folder.js'
import { posixDescribe as describe } from '../support/platform.js'
import { type Clone, ENV, Releasable } from '../support/repositories.js'

/** The environment without the variable that tells the script where it runs. */
const { GITHUB_REPOSITORY, ...USUAL } = ENV

function release(clone: Clone, args: readonly string[], env: Record<string, string> = {}) {
  const script = clone.path('scripts/release.mjs')
  const options = { encoding: 'utf8', env: { ...USUAL, ...env } } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], options)
  return { status, stdout, stderr }
}

/** The last line of what was said, and that it was a refusal. */
function refusal(clone: Clone, args: readonly string[], env: Record<string, string> = {}): string {
  const { status, stderr } = release(clone, args, env)
  expect({ status, stack: /\n\s+at /.test(stderr) }).toEqual({ status: 1, stack: false })
  return stderr.trimEnd().split('\n').at(-1) ?? ''
}

/** A file with another text in it, to be committed. */
function edited(clone: Clone, file: string, from: string, to: string): Record<string, string> {
  const before = readFileSync(clone.path(file), 'utf8')
  expect(before).toContain(from)
  return { [file]: before.replace(from, to) }
}

/** In two parts, so that set-host.mjs does not replace it here. */
const PLACEHOLDER = ['your-org', 'agent-job-action'].join('/')
const DIRTY = 'The working tree is not clean: commit or stash the changes.'
const BEHIND =
  'HEAD is not the head of main at origin. Nothing was released: run it on main as it is now.'

type Refused = readonly [
  what: string,
  prepare: (clone: Releasable) => unknown,
  words: string | RegExp,
  version?: string,
]

const REFUSED: readonly Refused[] = [
  [
    'the placeholder',
    (clone) => clone.push(edited(clone, 'package.json', 'github:one/', 'github:your-org/')),
    'The action has no host yet: run `node scripts/set-host.mjs OWNER/REPO`.',
  ],
  [
    'the placeholder that a later change brought back',
    (clone) => clone.push({ 'a.md': `uses: ${PLACEHOLDER}@v1\n`, 'b.md': `${PLACEHOLDER}\n` }),
    `${PLACEHOLDER} is still in a.md, b.md: replace it with one/action.`,
  ],
  [
    'code owners that are nobody',
    (clone) => clone.push({ '.github/CODEOWNERS': '* @your-org/maintainers\n' }),
    '.github/CODEOWNERS names nobody yet: replace @your-org/maintainers.',
  ],
  [
    'a relative link in the README',
    (clone) =>
      clone.push({
        'README.md': 'See [there](https://github.com/one/action) and [here](docs/here.md).\n',
      }),
    'README.md has relative links, which lead nowhere on the Marketplace: name the host in them.',
  ],
  ['a changed file', (clone) => clone.write('action.yml', 'name: Two\n'), DIRTY],
  [
    'another version in package.json',
    (clone) => clone.push(edited(clone, 'package.json', '"1.2.3"', '"1.2.4"')),
    'package.json is at 1.2.4 and package-lock.json at 1.2.3, not at 1.2.3.',
  ],
  [
    'another version in package-lock.json',
    (clone) => clone.push(edited(clone, 'package-lock.json', '"1.2.3"', '"1.2.2"')),
    'package.json is at 1.2.3 and package-lock.json at 1.2.2, not at 1.2.3.',
  ],
  ['a commit that is not at origin', (clone) => clone.commit(), BEHIND],
  [
    'a commit that main has left behind',
    (clone) => {
      clone.push()
      clone.git('checkout', '--quiet', 'HEAD~1')
    },
    BEHIND,
  ],
  [
    'an origin that can not be read',
    (clone) => clone.git('remote', 'set-url', 'origin', '../gone'),
    '`git ls-remote origin refs/heads/main refs/tags/v*` ended with 128.',
  ],
  [
    'a tag at another commit',
    (clone) => {
      clone.tag('v1.2.3')
      clone.push()
    },
    /^The tag v1\.2\.3 is at [\da-f]{40} already: a version is released once\.$/,
  ],
  [
    'a version that is lower than a release',
    (clone) => clone.tag('v1.10.0'),
    '1.2.3 is not higher than 1.10.0, which is released already.',
  ],
  [
    'a candidate of a version that is released',
    (clone) => clone.tag('v1.2.3'),
    '1.2.3-rc.1 is not higher than 1.2.3, which is released already.',
    '1.2.3-rc.1',
  ],
  [
    'a missing section',
    (clone) => clone.push(edited(clone, 'CHANGELOG.md', '## 1.2.3 ', '## 1.2.30 ')),
    'CHANGELOG.md has no section 1.2.3.',
  ],
  [
    'a build that fails in its first step, with a clean tree',
    (clone) => clone.write('broken-compile', ''),
    'The build failed: `npm run compile` ended with 127.',
  ],
  [
    'a dist with another file, one less, and one that is stale',
    (clone) =>
      clone.push({ 'dist/sub/more.js': '', 'source/sub/three.js': '', 'source/index.js': 'One\n' }),
    'dist is not what a clean build gives: index.js, sub/more.js, sub/three.js differs. Run `npm run build`.',
  ],
]

describe('check', () => {
  test.each(REFUSED)('refuses %s', (_, prepare, words, version = '1.2.3') => {
    const clone = new Releasable(version)
    prepare(clone)
    expect(refusal(clone, ['check', version])).toEqual(
      typeof words === 'string' ? words : expect.stringMatching(words),
    )
  })

  test('refuses another repository than the documents name', () => {
    expect(
      refusal(new Releasable('1.2.3'), ['check', '1.2.3'], { GITHUB_REPOSITORY: 'two/fork' }),
    ).toBe(
      'The documents name one/action as the host, but this is two/fork: run scripts/set-host.mjs.',
    )
  })

  test('accepts what can be released, and changes nothing', () => {
    const clone = new Releasable('1.2.3')
    const { status, stdout } = release(clone, ['check', '1.2.3'], {
      GITHUB_REPOSITORY: 'One/Action',
    })
    const said = `v1.2.3 can be released from ${clone.git('rev-parse', 'HEAD')}.`
    expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([0, said])
    expect(clone.git('status', '--porcelain')).toBe('')
    expect(clone.tags()).toEqual({})
  })

  test.each<[what: string, before: string[]]>([
    ['lower releases and candidates', ['v1.2.2', 'v1.2.3-rc.1', 'v1.3.0-rc.1', 'v1', 'v0.9.9']],
    ['what an earlier attempt left: its tag at this commit', ['v1.2.3']],
  ])('accepts %s', (_, before) => {
    const clone = new Releasable('1.2.3')
    clone.tag(...before)
    expect(release(clone, ['check', '1.2.3']).status).toBe(0)
  })
})

describe('current', () => {
  test('refuses once main has moved on, unless the tag is here', () => {
    const clone = new Releasable('1.2.3')
    expect(release(clone, ['current', '1.2.3'])).toEqual({ status: 0, stdout: '', stderr: '' })
    clone.push()
    clone.git('checkout', '--quiet', 'HEAD~1')
    expect(refusal(clone, ['current', '1.2.3'])).toBe(BEHIND)
    clone.tag('v1.2.3')
    expect(release(clone, ['current', '1.2.3']).status).toBe(0)
  })
})

describe('what does not depend on the repository', () => {
  const clone = new Releasable('1.2.3')

  test('refuses a version that is none, in every command', () => {
    const versions = ['', 'v1.2.3', '1.2', '1.02.3', '1.2.3+4', '1.2.3-', '1.2.3\n', '$(id)']
    const calls = [
      ...versions.map((version) => ['check', version]),
      ...['current', 'notes', 'major'].map((command) => [command, 'v1.2.3']),
    ]
    for (const [command = '', version = ''] of calls)
      expect(refusal(clone, [command, version])).toBe(
        `Expected a version such as 1.2.3 or 1.2.3-rc.1, got ${JSON.stringify(version)}.`,
      )
  })

  test('refuses other commands', () => {
    for (const command of ['', 'publish', 'constructor'])
      expect(refusal(clone, [command, '1.2.3'])).toBe(
        'Expected check, current, notes or major, and a version.',
      )
  })

  test.each([
    ['1.2.3', '### Added\n\n- A new thing.\n'],
    ['1.2.2', '- An old thing.\n'],
  ])('notes prints the section of %s', (version, section) => {
    expect(release(clone, ['notes', version])).toEqual({ status: 0, stdout: section, stderr: '' })
  })

  test.each([
    ['1.2.1', 'The section 1.2.1 of CHANGELOG.md is empty.'],
    ['1.2.0', 'The section 1.2.0 of CHANGELOG.md has no date: expected "## 1.2.0 - YYYY-MM-DD".'],
  ])('notes refuses %s', (version, words) => {
    expect(refusal(clone, ['notes', version])).toBe(words)
  })
})

describe('major', () => {
  /** Releases 1.2.3 from a new commit, with these tags at the one before. */
  function released(
    version: string,
    ...before: readonly string[]
  ): Releasable & { readonly old: string } {
    const clone = new Releasable('1.2.3')
    clone.tag(...before)
    const old = clone.git('rev-parse', 'HEAD')
    clone.push()
    clone.tag(`v${version}`)
    return Object.assign(clone, { old })
  }

  test.each<[what: string, version: string, before: string[], stays: string]>([
    ['moves v1 the first time', '1.2.3', [], ''],
    [
      'passes over other majors and pre-releases',
      '1.2.3',
      ['v1.2.2', 'v1', 'v2.0.0', 'v2', 'v1.3.0-rc.1'],
      '',
    ],
    ['never moves v1 backwards', '1.2.3', ['v1.3.0', 'v1'], '1.3.0 is higher'],
    ['leaves v1 for a pre-release', '1.2.3-rc.1', ['v1.2.2', 'v1'], '1.2.3-rc.1 is a pre-release'],
  ])('%s', (_, version, before, stays) => {
    const clone = released(version, ...before)
    const head = clone.git('rev-parse', 'HEAD')
    const said = stays ? `v1 stays where it is: ${stays}.\n` : `v1 is at ${head}.\n`
    expect(release(clone, ['major', version])).toMatchObject({ status: 0, stdout: said })
    const old = Object.fromEntries(before.map((tag) => [tag, clone.old]))
    expect(clone.tags()).toEqual({ ...old, [`v${version}`]: head, ...(!stays && { v1: head }) })
  })

  test('replaces an annotated tag, and accepts an annotated tag of the release', () => {
    const clone = new Releasable('1.2.3')
    for (const tag of ['v1', 'v1.2.3']) clone.git('tag', '--annotate', '--message', tag, tag)
    clone.git('push', '--quiet', 'origin', '--tags')
    expect(release(clone, ['major', '1.2.3']).status).toBe(0)
    expect(clone.tags().v1).toBe(clone.git('rev-parse', 'HEAD'))
  })

  test('refuses if the release is not there, or at another commit', () => {
    const clone = new Releasable('1.2.3')
    const head = clone.git('rev-parse', 'HEAD')
    expect(refusal(clone, ['major', '1.2.3'])).toBe(
      `v1.2.3 is at no commit at origin, expected HEAD, ${head}.`,
    )
    clone.tag('v1.2.3')
    const later = clone.commit()
    expect(refusal(clone, ['major', '1.2.3'])).toBe(
      `v1.2.3 is at ${head} at origin, expected HEAD, ${later}.`,
    )
    expect(Object.keys(clone.tags())).toEqual(['v1.2.3'])
  })

  test('refuses if somebody else moves v1 at the same time [house.release.major]', () => {
    const clone = released('1.2.3', 'v1.2.2', 'v1')
    const theirs = clone.git('commit-tree', 'HEAD^{tree}', '-m', 'Theirs')
    clone.git('push', '--quiet', 'origin', `${theirs}:refs/heads/theirs`)
    // A git that lets them be faster: after the refs were read, and before it pushes.
    const bin = newFolder('bin')
    const move = `git -C '${clone.origin.folder}' update-ref refs/tags/v1 ${theirs}`
    const path = process.env.PATH ?? ''
    const script = `#!/bin/sh\nPATH='${path}'\n[ "$1" = push ] && ${move}\nexec git "$@"\n`
    writeFileSync(`${bin}/git`, script, { mode: 0o755 })
    expect(refusal(clone, ['major', '1.2.3'], { PATH: `${bin}:${path}` })).toMatch(
      /^v1 was not moved: `git push` ended with 1\. /,
    )
    expect(clone.tags().v1).toBe(theirs)
  })
})

test('it imports nothing but Node, since the jobs that may write run it', () => {
  const source = readFileSync('scripts/release.mjs', 'utf8')
  const imports = [...source.matchAll(/(?:from|import\(|require\() ?'([^']+)'/g)].map(
    ([, name = '']) => name,
  )
  expect(imports.length).toBeGreaterThan(2)
  for (const name of imports) expect(builtinModules).toContain(name.replace(/^node:/, ''))
})

describe('the workflows', () => {
  const [{ jobs }, major] = ['release', 'major'].map((name) =>
    parse(readFileSync(`.github/workflows/${name}.yml`, 'utf8')),
  )
  const scriptOf = (job: { steps: { run?: string }[] }): string =>
    job.steps.map(({ run = '' }) => run).join('\n')

  test('runs no code of packages in the jobs that may write [house.release]', () => {
    for (const { run = '', uses = '' } of [...jobs.draft.steps, ...major.jobs.major.steps]) {
      expect(run).not.toMatch(/\b(?:npm|npx|\.ci)\b/)
      expect(run.match(/\bnode \S+/g) ?? []).toEqual(
        run.match(/\bnode scripts\/release\.mjs/g) ?? [],
      )
      expect(uses).toMatch(/^(?:|actions\/(?:checkout|download-artifact|attest)@.*)$/)
    }
  })

  test('publishes from the commit all that users run, and takes only the rest from the job before', () => {
    const steps: { uses?: string; with?: object }[] = jobs.draft.steps
    const downloads = steps.filter(({ uses = '' }) => uses.includes('download-artifact'))
    expect(downloads.map((step) => step.with)).toEqual([{ name: 'assets', path: 'assets' }])
    const script = scriptOf(jobs.draft)
    expect(script.match(/\bassets\/\S+/g)).toEqual(['assets/readable.tar.gz', 'assets/sbom.json'])
    expect(script).toMatch(/^git archive .* HEAD$/m)
    // Nothing else is put in place of what was checked out.
    expect(script.match(/\b(?:mv|cp|tar|unzip|ln|rsync|curl) .*/g)).toEqual([
      'mv assets/readable.tar.gz "$name-readable.tar.gz"',
      'mv assets/sbom.json "$name-sbom.cdx.json"',
      'cp "$BUNDLE" "$name-attestation.sigstore.json"',
    ])
  })
})
