/**
 * Runs the workflows of a release, unchanged, by a real runner. A bare repository replaces
 * GitHub's, and the test keeps its releases and artifacts. The checks and the build that they call
 * are stubs. What `check` refuses, and when v1 moves, is tested with the script:
 * sweeps/release.test.ts.
 */

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { text } from '../support/files.js'
import { newFolder } from '../support/folder.js'
import { Clone, ENV, Releasable } from '../support/repositories.js'
import { act, expectSuccess } from './act.js'
import { type Call, startGh } from './gh.js'

jest.setTimeout(5 * 60_000)

const WORKFLOWS = ['release.yml', 'major.yml'].map((name) => `.github/workflows/${name}`)
const HOST = 'one/action'
const ALL = ['verify', 'approve', 'draft']

/** Every action of others stands for a call of `gh`, with its name and inputs. */
const standIn = (name: string): string => `name: Stand-in
description: Stands in for ${name}.
inputs: { name: {}, path: {}, node-version: {}, package-manager-cache: {}, if-no-files-found: {}, subject-path: {} }
outputs: { bundle-path: { value: "\${{ steps.call.outputs.bundle-path }}" } }
runs:
  using: composite
  steps:
    - id: call
      shell: bash
      env:
        INPUTS: \${{ toJSON(inputs) }}
      run: |
        path=$(gh action ${name} "$INPUTS")
        echo "bundle-path=$path" >> "$GITHUB_OUTPUT"
`

/**
 * A hook that holds GitHub's rule for a workflow's token: it may create or move no ref to a commit
 * whose workflows differ from those of every branch (GitHub's changelog, 2023-11-02, "Enforcing
 * workflow scope when creating a release").
 */
const WORKFLOW_RULE = `#!/bin/sh
[ "$GITHUB_ACTIONS" = true ] || exit 0
for branch in $(git for-each-ref --format='%(refname)' refs/heads); do
  git diff --quiet "$3" "$branch" -- .github/workflows && exit 0
done
echo 'Resource not accessible by integration' >&2
exit 1
`

/** An action that can be released as `version`, with the workflows, and with what they call. */
function releasable(version = '1.2.3'): Releasable {
  const clone = new Releasable(version)
  writeFileSync(clone.origin.path('hooks/update'), WORKFLOW_RULE, { mode: 0o755 })
  clone.push({
    ...Object.fromEntries(WORKFLOWS.map((file) => [file, text(file)])),
    '.ci/run': '#!/bin/sh\nnpm ci && echo checked-all\n',
    '.gitattributes':
      '* export-ignore\n/action.yml -export-ignore\n/dist -export-ignore\n/dist/** -export-ignore\n',
    'scripts/sbom.mjs': text('scripts/sbom.mjs'),
    'scripts/packages.mjs': text('scripts/packages.mjs'),
  })
  chmodSync(clone.path('.ci/run'), 0o755)
  clone.push()
  return clone
}

/** What GitHub keeps beside the repository. */
class Kept {
  readonly calls: string[] = []
  readonly artifacts = newFolder('artifacts')
  /** The notes and assets of the release, by file. */
  readonly files: Record<string, string | Buffer> = {}
  attested = ''
  /** What GitHub says of the release that an earlier attempt left: whether it is a draft. */
  isDraft: boolean | undefined

  /** @param meanwhile what happens between the two jobs */
  constructor(
    readonly clone: Releasable,
    readonly meanwhile: (kept: Kept) => void,
  ) {}

  gh({ args, token, cwd }: Call): string {
    const [group, verb = '', rest = ''] = args
    if (group === 'action') return this.action(verb, JSON.parse(rest), cwd)
    this.calls.push(args.join(' '))
    if (!token) throw new Error('no token')
    if (group === 'api') return this.api(args)
    const command = `${group} ${verb}`
    if (command === 'release view') {
      if (this.isDraft === undefined) throw new Error('release not found')
      return `${this.isDraft}`
    }
    if (command === 'release create')
      for (const file of args.filter((word) => /^(?:notes\.md|agent-job-action-.*)$/.test(word)))
        this.files[file] = readFileSync(path.join(cwd, file))
    else if (!['auth setup-git', 'release delete'].includes(command)) throw new Error('unknown')
    return ''
  }

  /**
   * As on GitHub, a ref that exists can't be created, nor one that the rule forbids to a workflow's
   * token.
   */
  api([, where = '', ...options]: readonly string[]): string {
    const [, name = ''] = /^repos\/one\/action\/git\/(.*)$/.exec(where) ?? []
    const field = (name: string): string =>
      options.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
    const tags = this.clone.tags()
    if (name === 'refs') {
      if (field('ref').replace('refs/tags/', '') in tags)
        throw new Error('HTTP 422: Reference already exists')
      const push = ['push', '--quiet', '.', `${field('sha')}:${field('ref')}`]
      const env = { ...ENV, GITHUB_ACTIONS: 'true' }
      return execFileSync('git', push, {
        cwd: this.clone.origin.folder,
        env,
        encoding: 'utf8',
        stdio: 'pipe',
      })
    }
    const commit = tags[name.replace(/^ref\/tags\//, '')]
    if (!commit || options.join(' ') !== '--jq .object.sha') throw new Error('HTTP 404')
    return commit
  }

  action(name: string, inputs: Record<string, string>, cwd: string): string {
    const folder = path.join(cwd, inputs.path ?? '')
    const artifact = path.join(this.artifacts, inputs.name ?? '')
    if (name === 'actions/upload-artifact') cpSync(folder, artifact, { recursive: true })
    else if (name === 'actions/download-artifact') {
      this.meanwhile(this)
      cpSync(artifact, folder, { recursive: true, verbatimSymlinks: true })
    } else if (name === 'actions/attest') {
      this.attested = inputs['subject-path'] ?? ''
      writeFileSync(path.join(this.artifacts, 'bundle.json'), '{}\n')
      return path.join(this.artifacts, 'bundle.json')
    } else if (name !== 'actions/setup-node') throw new Error(`There is no stand-in for ${name}.`)
    return ''
  }
}

/** Runs release.yml, with everything as a string, as GitHub writes inputs into the event. */
const release = (clone: Releasable, version: string, meanwhile?: (kept: Kept) => void) =>
  run(clone, { inputs: { 'dry-run': 'false', version } }, meanwhile)

/** Runs what follows when a maintainer publishes the release. */
const publish = (clone: Releasable, version: string) =>
  run(clone, { action: 'published', release: { tag_name: `v${version}` } })

async function run(
  clone: Releasable,
  payload: object,
  meanwhile: (kept: Kept) => void = () => undefined,
) {
  const home = newFolder('release')
  const kept = new Kept(clone, meanwhile)
  const gh = await startGh(path.join(home, 'bin'), (call) => kept.gh(call))
  // act names the repository by its origin. Git is told to find that one in the folder.
  clone.git('remote', 'set-url', 'origin', `https://github.com/${HOST}`)
  const git = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.file://${clone.origin.folder}.insteadOf`,
    GIT_CONFIG_VALUE_0: `https://github.com/${HOST}`,
  }
  const isRelease = 'release' in payload
  const ran = await act({
    repository: clone.folder,
    workflow: isRelease ? 'major.yml' : 'release.yml',
    event: isRelease ? 'release' : 'workflow_dispatch',
    payload,
    home,
    repositories: standIns(home),
    env: { ...git, ...gh.env },
    secrets: { GITHUB_TOKEN: 'ghs_release' },
  })
  await gh.close()
  expect(ran.leftover).toEqual([])
  const jobs = [...new Set(ran.steps.map(({ job }) => job))]
  // Not by what they said: act can lose the last words of a step that fails.
  const failed = ran.steps.flatMap(({ name, result }) =>
    result === 'failure' ? name.replace(/^Main /, '') : [],
  )
  const calls = kept.calls.filter((call) => call !== 'auth setup-git')
  return { ...ran, jobs, failed, calls, kept }
}

/** The actions that the workflows name, but checkout, which act answers itself. */
function standIns(home: string): Record<string, string> {
  const texts = WORKFLOWS.map((file) => text(file)).join('')
  const used = texts.matchAll(/uses: ((?!actions\/checkout@)(\S+)@\S+)/g)
  const folders = [...used].map(([, uses = '', name = '']) => {
    const folder = path.join(home, name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'action.yml'), standIn(name))
    return [uses, folder]
  })
  return Object.fromEntries(folders)
}

const assetsOf = (version: string): string[] =>
  ['.tar.gz', '-readable.tar.gz', '-sbom.cdx.json', '-attestation.sigstore.json'].map(
    (end) => `agent-job-action-${version}${end}`,
  )

/** The calls that draft a release, perhaps after an attempt that left its tag and a draft. */
function drafting(version: string, commit: string, prerelease: boolean, again = false): string[] {
  const [git, tag] = [`repos/${HOST}/git`, `v${version}`]
  const assets = assetsOf(version).join(' ')
  return [
    `api ${git}/refs --silent --raw-field ref=refs/tags/${tag} --raw-field sha=${commit}`,
    ...(again ? [`api ${git}/ref/tags/${tag} --jq .object.sha`] : []),
    `release view ${tag} --json isDraft --jq .isDraft`,
    ...(again ? [`release delete ${tag} --yes`] : []),
    `release create ${tag} --draft --verify-tag --prerelease=${prerelease} --title ${tag} --notes-file notes.md ${assets}`,
  ]
}

test.concurrent('a dry run verifies, shows the notes, and writes nothing [house.release]', async () => {
  const clone = releasable()
  const ran = await run(clone, { inputs: { 'dry-run': 'true', version: '1.2.3' } })
  expectSuccess(ran)
  expect(ran.jobs).toEqual(['verify'])
  expect(ran.printed).toContain('checked-all\n')
  expect(ran.printed).toContain('v1.2.3 can be released from ')
  expect(ran.summaries.join('')).toBe('## 1.2.3\n\n### Added\n\n- A new thing.\n')
  expect(ran.calls).toEqual([])
  expect(readdirSync(path.join(ran.kept.artifacts, 'assets')).sort()).toEqual([
    'readable.tar.gz',
    'sbom.json',
  ])
  expect(clone.tags()).toEqual({})
})

test.concurrent('a release is tagged, attested and drafted with its assets; once published, v1 moves to it [house.release] [house.release.major]', async () => {
  const clone = releasable()
  clone.tag('v1.2.2', 'v1')
  const { v1: old } = clone.tags()
  const head = clone.push({ 'README.md': 'Not in the archive.\n' })
  const ran = await release(clone, '1.2.3')
  expectSuccess(ran)
  expect(ran.jobs).toEqual(ALL)

  expect(ran.calls).toEqual(drafting('1.2.3', head, false))
  expect(ran.summaries.join('')).toContain(`[releases page](https://github.com/${HOST}/releases)`)
  expect(clone.tags()).toEqual({ 'v1.2.2': old, 'v1.2.3': head, v1: old })
  expectSuccess(await publish(clone, '1.2.3'))
  expect(clone.tags()).toEqual({ 'v1.2.2': old, 'v1.2.3': head, v1: head })

  const { files, attested } = ran.kept
  expect(`${files['notes.md']}`).toBe('### Added\n\n- A new thing.\n')
  const [archive, readable, sbom, attestation] = assetsOf('1.2.3').map((file) => files[file] ?? '')
  const listed = (input: Buffer | string = ''): string[] =>
    execFileSync('tar', ['tz'], { input, encoding: 'utf8' })
      .split('\n')
      .filter((file) => /[^/]$/.test(file))
      .sort()
  const name = 'agent-job-action-1.2.3'
  const inArchive = ['action.yml', 'dist/index.js', 'dist/sub/two.js']
  expect(listed(archive)).toEqual(inArchive.map((file) => `${name}/${file}`))
  expect(listed(readable)).toEqual(['ncc/index.js', 'ncc/sub/two.js'])
  const component = { version: '1.2.3' }
  expect(JSON.parse(`${sbom}`)).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component } })
  expect(`${attestation}`).toBe('{}\n')
  expect(attested.trim().split('\n')).toEqual([
    'action.yml',
    'dist/**',
    'emulator/**',
    `${name}.tar.gz`,
  ])
})

test.concurrent('a run that failed can be repeated, here of a release candidate [house.release]', async () => {
  const version = '1.2.3-rc.1'
  const clone = releasable(version)
  const head = clone.push()
  // The first attempt left its tag, at this commit, and a draft. By now, main has another workflow.
  clone.tag(`v${version}`)
  const ran = await release(clone, version, (kept) => {
    kept.isDraft = true
    mergeWorkflow(clone)
  })
  expectSuccess(ran)
  expect(ran.calls).toEqual(drafting(version, head, true, true))
})

test.concurrent('a release that is published already is left as it is [house.release]', async () => {
  const clone = releasable()
  clone.tag('v1.2.3')
  const ran = await release(clone, '1.2.3', (kept) => {
    kept.isDraft = false
  })
  expectSuccess(ran)
  expect(ran.calls.filter((call) => /^release (?!view)/.test(call))).toEqual([])
})

test.concurrent('v1 stays if main has got another workflow before the release is published: a failure [house.release.major]', async () => {
  const clone = releasable()
  clone.tag('v1.2.3')
  mergeWorkflow(clone)
  const tags = clone.tags()
  const ran = await publish(clone, '1.2.3')
  expect([ran.succeeded, ran.failed]).toEqual([
    false,
    [expect.stringContaining('gh auth setup-git')],
  ])
  expect(clone.tags()).toEqual(tags)
})

/** Somebody merges a change of the workflows. The clone of the release stays where it is. */
function mergeWorkflow(clone: Releasable): void {
  const other = new Clone(newFolder('other'))
  other.git('clone', '--quiet', clone.origin.folder, '.')
  other.commit({ '.github/workflows/other.yml': 'name: Other\n' })
  other.git('push', '--quiet', 'origin', 'HEAD:main')
}

interface Stopped {
  readonly version?: string
  readonly prepare?: (clone: Releasable) => unknown
  /** Between the two jobs. */
  readonly meanwhile?: (kept: Kept) => void
  /** The step that fails. */
  readonly step: string
}

const STOPPED: Readonly<Record<string, Stopped>> = {
  'a check fails': {
    prepare: (clone) => clone.push({ '.ci/run': '#!/bin/sh\nexit 1\n' }),
    step: '.ci/run',
  },
  'the version holds commands': {
    version: '1.2.3"; gh pwned; echo $(gh pwned) "',
    step: 'Check that this version may be released',
  },
  'somebody pushes its tag at another commit in the meantime': {
    meanwhile: ({ clone }) => clone.origin.git('update-ref', 'refs/tags/v1.2.3', 'main~1'),
    step: 'Tag',
  },
  'somebody merges a change of the workflows in the meantime': {
    meanwhile: ({ clone }) => mergeWorkflow(clone),
    step: 'Tag',
  },
  'an asset is a link, which could lead to the token': {
    meanwhile: ({ artifacts }) => {
      unlinkSync(path.join(artifacts, 'assets/sbom.json'))
      symlinkSync('/proc/self/environ', path.join(artifacts, 'assets/sbom.json'))
    },
    step: 'Name the assets',
  },
}

test.concurrent.each(Object.entries(STOPPED))(
  'nothing is tagged, attested or drafted if %s [house.release]',
  async (_, stopped) => {
    const { version = '1.2.3', prepare, meanwhile, step } = stopped
    const clone = releasable()
    prepare?.(clone)
    let tags = clone.tags()
    const ran = await release(clone, version, (kept) => {
      meanwhile?.(kept)
      tags = clone.tags()
    })
    expect([ran.succeeded, ran.failed]).toEqual([false, [step]])
    expect(ran.jobs).toEqual(meanwhile ? ALL : ['verify'])
    expect([ran.calls, ran.kept.attested]).toEqual([[], ''])
    expect(clone.tags()).toEqual(tags)
  },
)
