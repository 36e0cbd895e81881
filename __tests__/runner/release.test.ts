/**
 * Runs the release workflow, unchanged, with a real runner. A bare repository replaces GitHub's, a fake `gh` keeps releases
 * in a folder, and other people's actions have stand-ins. The checks and the build that it calls are stubs.
 */

import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { newFolder } from '../support/folder.js'
import { Releasable } from '../support/repositories.js'
import { act } from './act.js'

const MINUTES = 60_000
const WORKFLOW = '.github/workflows/release.yml'
const HOST = 'one/action'
const NAME = 'agent-job-action-1.2.3'

/**
 * Keeps releases in the folder that FAKE_GH names. As on GitHub, publishing a draft creates its tag at its target, a tag
 * that exists stays where it is (the target is unused then), and a ref that exists can't be created (422).
 */
const GH = `#!/usr/bin/env node
import { execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
const state = process.env.FAKE_GH
const [group, verb, tag, ...rest] = process.argv.slice(2)
appendFileSync(state + '/calls', process.argv.slice(2).join(' ') + '\\n')
if (!process.env.GH_TOKEN) throw new Error('gh has no token')
const folder = state + '/releases/' + tag
const value = (flag) => process.argv[process.argv.indexOf(flag) + 1]
const read = () => JSON.parse(readFileSync(folder + '/release.json', 'utf8'))
const write = (release) => writeFileSync(folder + '/release.json', JSON.stringify(release))
const git = (...args) => execFileSync('git', ['-C', process.env.FAKE_ORIGIN, ...args], { stdio: 'pipe', encoding: 'utf8' })
const commitOf = (ref) => {
  try { return git('rev-parse', '--quiet', '--verify', ref).trim() } catch { return undefined }
}
const fail = (words) => { console.error(words); process.exit(1) }
if (group === 'auth' && verb === 'setup-git') process.exit()
if (group === 'api') {
  const [, path = ''] = /^repos\\/one\\/action\\/git\\/(.*)$/.exec(verb) ?? []
  const field = (name) => process.argv.find((word) => word.startsWith(name + '='))?.slice(name.length + 1)
  if (path === 'refs') {
    if (commitOf(field('ref'))) fail('gh: Reference already exists (HTTP 422)')
    git('update-ref', field('ref'), field('sha'), '')
    process.exit()
  }
  if (!path.startsWith('ref/tags/') || value('--jq') !== '.object.sha') throw new Error('unknown')
  console.log(commitOf('refs/' + path.slice(4)) ?? fail('gh: Not Found (HTTP 404)'))
  process.exit()
}
if (group !== 'release') throw new Error('unknown')
if (verb === 'view') {
  if (!existsSync(folder)) fail('release not found')
  console.log(read().draft)
} else if (verb === 'delete') {
  rmSync(folder, { recursive: true })
} else if (verb === 'create') {
  if (existsSync(folder)) fail('a release with the same tag name already exists: ' + tag)
  if (rest.includes('--verify-tag') && !commitOf('refs/tags/' + tag))
    fail("tag " + tag + " doesn't exist in the repo, aborting due to --verify-tag flag")
  mkdirSync(folder, { recursive: true })
  const files = rest.filter((word) => word.startsWith('agent-job-action-'))
  for (const file of files) copyFileSync(file, folder + '/' + file)
  write({
    draft: rest.includes('--draft'), target: rest.includes('--target') ? value('--target') : 'main',
    title: value('--title'),
    notes: readFileSync(value('--notes-file'), 'utf8'), files,
  })
} else if (verb === 'edit' && rest[0] === '--draft=false') {
  const { draft, ...release } = read()
  if (!draft) throw new Error('it is published already')
  if (!commitOf('refs/tags/' + tag)) git('update-ref', 'refs/tags/' + tag, release.target, '')
  const { target, ...others } = release
  write({ ...others, commit: commitOf('refs/tags/' + tag), draft: false, flags: rest.slice(1) })
} else throw new Error('unknown')
`

/** The actions of others that the workflow uses, by name. */
const STAND_INS: Record<string, string> = {
  'actions/setup-node': 'true',
  'actions/upload-artifact':
    'mkdir -p "$FAKE_GH/artifacts" && cp -r "$INPUT_PATH" "$FAKE_GH/artifacts/$INPUT_NAME"',
  // The first step between the jobs: what happens while the approval waits happens here.
  'actions/download-artifact':
    '[ ! -e "$FAKE_GH/waiting" ] || sh -e "$FAKE_GH/waiting" && cp -r "$FAKE_GH/artifacts/$INPUT_NAME" "$INPUT_PATH"',
  'actions/attest':
    'echo "$INPUT_SUBJECT" > "$FAKE_GH/subjects" && echo "{}" > "$FAKE_GH/bundle.json" && echo "bundle-path=$FAKE_GH/bundle.json" >> "$GITHUB_OUTPUT"',
}
const standIn = (script: string): string => `name: Stand-in
description: Stands in for an action.
inputs: { name: {}, path: {}, node-version: {}, package-manager-cache: {}, if-no-files-found: {}, subject-path: {} }
outputs: { bundle-path: { value: "\${{ steps.run.outputs.bundle-path }}" } }
runs:
  using: composite
  steps:
    - id: run
      shell: bash
      env:
        INPUT_NAME: \${{ inputs.name }}
        INPUT_PATH: \${{ inputs.path }}
        INPUT_SUBJECT: \${{ inputs.subject-path }}
      run: ${JSON.stringify(script)}
`

/** An action that can be released as `version`, with the workflow, and with what it calls. */
function withWorkflow(version: string): Releasable {
  const clone = new Releasable(version)
  clone.commit({
    [WORKFLOW]: readFileSync(WORKFLOW, 'utf8'),
    '.ci/run': '#!/bin/sh\nnpm ci && echo checked-all\n',
    '.gitattributes':
      '* export-ignore\n/action.yml -export-ignore\n/dist -export-ignore\n/dist/** -export-ignore\n',
    'scripts/sbom.mjs': readFileSync('scripts/sbom.mjs', 'utf8'),
    'scripts/packages.mjs': readFileSync('scripts/packages.mjs', 'utf8'),
    'make.mjs': `${readFileSync(clone.path('make.mjs'), 'utf8')}if (step === 'bundle') cpSync('source', 'build/ncc', { recursive: true })\n`,
  })
  chmodSync(clone.path('.ci/run'), 0o755)
  clone.push()
  return clone
}

interface Published {
  readonly ran: Awaited<ReturnType<typeof act>>
  readonly calls: readonly string[]
  readonly state: string
  readonly release: () => Record<string, unknown>
}

const dispatch = (clone: Releasable, inputs: Inputs): Promise<Published> =>
  run(clone, newHome(inputs), inputs.version)

interface Inputs {
  readonly version: string
  readonly 'dry-run'?: 'false'
}

/** A folder with the event, in which GitHub writes every input as a string, the fake gh and its state. */
function newHome(inputs: Inputs): string {
  const home = newFolder('release')
  for (const folder of ['bin', 'gh']) mkdirSync(path.join(home, folder))
  writeFileSync(path.join(home, 'package.json'), '{"type":"module"}')
  writeFileSync(path.join(home, 'bin/gh'), GH, { mode: 0o755 })
  writeFileSync(path.join(home, 'event.json'), JSON.stringify({ inputs: { 'dry-run': 'true', ...inputs } }))
  return home
}

async function run(clone: Releasable, home: string, version: string): Promise<Published> {
  const state = path.join(home, 'gh')
  // act names the repository by its origin. Git is told to find that one in the folder.
  clone.git('remote', 'set-url', 'origin', `https://github.com/${HOST}`)
  const git = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.file://${clone.origin.folder}.insteadOf`,
    GIT_CONFIG_VALUE_0: `https://github.com/${HOST}`,
  }
  const env = { ...git, FAKE_GH: state, FAKE_ORIGIN: clone.origin.folder, GIT_CONFIG_GLOBAL: '/dev/null' }
  const ran = await act(
    [
      'workflow_dispatch',
      ...['--eventpath', path.join(home, 'event.json'), '--workflows', WORKFLOW, '--json'],
      ...['--platform', 'ubuntu-latest=-self-hosted', '--no-cache-server'],
      ...['--action-cache-path', path.join(home, 'cache'), '--secret', 'GITHUB_TOKEN=ghs_release'],
      ...standIns(home).flatMap((option) => ['--local-repository', option]),
      ...Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ],
    { cwd: clone.folder, home, bin: path.join(home, 'bin') },
  )
  expect(ran.leftover).toEqual([])
  const calls = path.join(state, 'calls')
  return {
    ran,
    state,
    calls: existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [],
    release: () =>
      JSON.parse(readFileSync(path.join(state, 'releases', `v${version}`, 'release.json'), 'utf8')),
  }
}

/** The actions that the workflow names, but checkout, which act answers itself. */
function standIns(home: string): string[] {
  const text = readFileSync(WORKFLOW, 'utf8')
  const used = [...new Set([...text.matchAll(/uses: (\S+)@(\S+)/g)].map(([, name, ref]) => `${name}@${ref}`))]
  return used
    .filter((uses) => !uses.startsWith('actions/checkout@'))
    .map((uses) => {
      const [name = ''] = uses.split('@')
      const script = STAND_INS[name]
      if (script === undefined) throw new Error(`There is no stand-in for ${name}.`)
      const folder = path.join(home, name)
      mkdirSync(folder, { recursive: true })
      writeFileSync(path.join(folder, 'action.yml'), standIn(script))
      return `${uses}=${folder}`
    })
}

/** The jobs of which a step ran. */
const jobs = ({ ran }: Published): string[] => [...new Set(ran.steps.map(({ job }) => job))]

/** The steps that failed, in a run that did. Not by what they said: act can lose the last words of such a step. */
function failed({ ran }: Published): string[] {
  expect(ran.succeeded).toBe(false)
  return ran.steps.flatMap(({ name, result }) => (result === 'failure' ? name.replace(/^Main /, '') : []))
}

function expectSuccess({ ran }: Published): void {
  expect({ succeeded: ran.succeeded, log: ran.succeeded ? '' : ran.log }).toEqual({
    succeeded: true,
    log: '',
  })
}

test.concurrent(
  'a dry run verifies, shows the notes, and writes nothing',
  async () => {
    const clone = withWorkflow('1.2.3')
    const published = await dispatch(clone, { version: '1.2.3' })
    expectSuccess(published)
    expect(jobs(published)).toEqual(['verify'])
    expect(published.ran.printed).toContain('checked-all\n')
    expect(published.ran.printed).toContain('v1.2.3 can be released from ')
    expect(published.ran.summaries.join('')).toBe('## 1.2.3\n\n### Added\n\n- A new thing.\n')
    expect(published.calls).toEqual(['auth setup-git'])
    const assets = readdirSync(path.join(published.state, 'artifacts/assets')).sort()
    expect(assets).toEqual(['readable.tar.gz', 'sbom.json'])
    expect(clone.tags()).toEqual({})
  },
  5 * MINUTES,
)

test.concurrent(
  'a release is drafted with its assets, then published, and v1 moves to it',
  async () => {
    const clone = withWorkflow('1.2.3')
    clone.tag('v1.2.2', 'v1')
    const old = clone.git('rev-parse', 'HEAD')
    const head = clone.push({ 'README.md': 'Not in the archive.\n' })
    const published = await dispatch(clone, { version: '1.2.3', 'dry-run': 'false' })
    expectSuccess(published)
    expect(jobs(published)).toEqual(['verify', 'publish', 'major'])

    const assets = ['.tar.gz', '-readable.tar.gz', '-sbom.cdx.json', '-attestation.sigstore.json']
    expect(published.calls.filter((call) => call !== 'auth setup-git')).toEqual([
      `api repos/one/action/git/refs --silent --raw-field ref=refs/tags/v1.2.3 --raw-field sha=${head}`,
      'release view v1.2.3 --json isDraft --jq .isDraft',
      `release create v1.2.3 --draft --verify-tag --title v1.2.3 --notes-file notes.md ${assets.map((end) => NAME + end).join(' ')}`,
      'release edit v1.2.3 --draft=false --latest',
    ])
    expect(published.release()).toEqual({
      draft: false,
      commit: head,
      title: 'v1.2.3',
      notes: '### Added\n\n- A new thing.\n',
      files: assets.map((end) => NAME + end),
      flags: ['--latest'],
    })
    expect(clone.tags()).toEqual({ 'v1.2.2': old, 'v1.2.3': head, v1: head })

    const folder = path.join(published.state, 'releases/v1.2.3')
    const listed = (file: string): string[] =>
      execFileSync('tar', ['tzf', path.join(folder, file)], { encoding: 'utf8' })
        .split('\n')
        .filter((name) => name !== '' && !name.endsWith('/'))
        .sort()
    expect(listed(`${NAME}.tar.gz`)).toEqual(
      ['action.yml', 'dist/index.js', 'dist/sub/two.js'].map((file) => `${NAME}/${file}`),
    )
    expect(listed(`${NAME}-readable.tar.gz`)).toEqual(['ncc/index.js', 'ncc/sub/two.js'])
    const sbom = JSON.parse(readFileSync(path.join(folder, `${NAME}-sbom.cdx.json`), 'utf8'))
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { version: '1.2.3' } } })
    expect(readFileSync(path.join(folder, `${NAME}-attestation.sigstore.json`), 'utf8')).toBe('{}\n')
    expect(readFileSync(path.join(published.state, 'subjects'), 'utf8').trim().split('\n')).toEqual([
      'action.yml',
      'dist/**',
      `${NAME}.tar.gz`,
    ])
  },
  5 * MINUTES,
)

test.concurrent(
  'a pre-release is published with its flags, and v1 stays',
  async () => {
    const version = '1.2.3-rc.1'
    const clone = withWorkflow(version)
    clone.tag('v1')
    const old = clone.git('rev-parse', 'HEAD')
    const changelog = readFileSync(clone.path('CHANGELOG.md'), 'utf8').replace('## 1.2.3 ', `## ${version} `)
    const head = clone.push({ 'CHANGELOG.md': changelog })
    const published = await dispatch(clone, { version, 'dry-run': 'false' })
    expectSuccess(published)
    const flags = ['--prerelease', '--latest=false']
    expect(published.release()).toMatchObject({ draft: false, commit: head, flags })
    expect(clone.tags()).toEqual({ v1: old, [`v${version}`]: head })
    expect(published.ran.printed).toContain('v1 stays where it is: ')
  },
  5 * MINUTES,
)

// What the check refuses is tested with the script: sweeps/release.test.ts.
test.concurrent.each<[string, string, (clone: Releasable) => unknown, string]>([
  [
    'dist is stale',
    '1.2.3',
    (clone) => clone.push({ 'source/index.js': 'another\n' }),
    'Check that this version may be released',
  ],
  [
    'the version holds commands',
    '1.2.3"; touch "$FAKE_GH/pwned"; echo $(touch $FAKE_GH/pwned) "',
    () => {},
    'Check that this version may be released',
  ],
  ['a check fails', '1.2.3', (clone) => clone.push({ '.ci/run': '#!/bin/sh\nexit 1\n' }), '.ci/run'],
])(
  'nothing is published if %s',
  async (_, version, prepare, step) => {
    const clone = withWorkflow('1.2.3')
    prepare(clone)
    const before = clone.tags()
    const published = await dispatch(clone, { version, 'dry-run': 'false' })
    expect(failed(published)).toEqual([step])
    expect(jobs(published)).toEqual(['verify'])
    expect(published.calls.filter((call) => call.startsWith('release'))).toEqual([])
    expect(existsSync(path.join(published.state, 'pwned'))).toBe(false)
    expect(clone.tags()).toEqual(before)
  },
  5 * MINUTES,
)

test.concurrent(
  'the run fails if the server refuses the major tag, after the release is published',
  async () => {
    const clone = withWorkflow('1.2.3')
    clone.tag('v1')
    const old = clone.git('rev-parse', 'HEAD')
    clone.push()
    const hook = '#!/bin/sh\n[ "$1" != refs/tags/v1 ] || { echo protected >&2; exit 1; }\n'
    writeFileSync(clone.origin.path('hooks/update'), hook, { mode: 0o755 })
    const published = await dispatch(clone, { version: '1.2.3', 'dry-run': 'false' })
    expect(failed(published)).toEqual([expect.stringContaining('release.mjs major')])
    expect(published.release()).toMatchObject({ draft: false })
    expect(clone.tags()).toEqual({ v1: old, 'v1.2.3': clone.git('rev-parse', 'HEAD') })
  },
  5 * MINUTES,
)

/** Releases 1.2.3. While the approval waits, this shell script runs, in the folder of the bare repository. */
async function meanwhile(script: string) {
  const clone = withWorkflow('1.2.3')
  const old = clone.git('rev-parse', 'HEAD')
  const head = clone.push()
  const home = newHome({ version: '1.2.3', 'dry-run': 'false' })
  writeFileSync(path.join(home, 'gh/waiting'), `OLD=${old} HEAD=${head}\ncd "$FAKE_ORIGIN"\n${script}\n`)
  return { clone, old, head, published: await run(clone, home, '1.2.3') }
}

test.concurrent(
  'a publish that failed is run again: its tag is at this commit, and its draft is replaced',
  async () => {
    const { clone, head, published } = await meanwhile(
      `git update-ref refs/tags/v1.2.3 "$HEAD"
      mkdir -p "$FAKE_GH/releases/v1.2.3"
      echo '{"draft":true}' > "$FAKE_GH/releases/v1.2.3/release.json"`,
    )
    expectSuccess(published)
    expect(published.calls).toContain('release delete v1.2.3 --yes')
    expect(published.release()).toMatchObject({ draft: false, commit: head })
    expect(clone.tags()).toEqual({ 'v1.2.3': head, v1: head })
  },
  5 * MINUTES,
)

test.concurrent.each<[string, string, Record<string, 'old'>, string]>([
  [
    'somebody pushes its tag at another commit',
    'git update-ref refs/tags/v1.2.3 "$OLD"',
    { 'v1.2.3': 'old' },
    'Draft, upload and publish',
  ],
  [
    'an asset is a link, which could lead to the token',
    'ln -sf /proc/self/environ "$FAKE_GH/artifacts/assets/sbom.json"',
    {},
    'Name the assets',
  ],
])(
  'nothing is published if, while the approval waits, %s',
  async (_, script, tags, step) => {
    const { clone, old, published } = await meanwhile(script)
    expect(jobs(published)).toEqual(['verify', 'publish'])
    expect(failed(published)).toEqual([step])
    expect(existsSync(path.join(published.state, 'releases'))).toBe(false)
    expect(clone.tags()).toEqual(Object.fromEntries(Object.keys(tags).map((tag) => [tag, old])))
  },
  5 * MINUTES,
)
