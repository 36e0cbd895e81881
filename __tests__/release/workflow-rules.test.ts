/**
 * Every workflow of the README, the examples and the project keeps the rules of workflow-rules.ts.
 */

import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { filesLike, text } from '../support/files.js'
import { brokenByAction, brokenRules, pinsOf } from '../support/workflow-rules.js'
import { HOME, workflowFiles } from '../support/workflows.js'

const files = workflowFiles()
const notPinned = (name: string): string => `does not pin ${name} by a commit and name its version`
const PERSISTS = 'one persists the credentials of the checkout'
const inScript = (script: string): string => `one has an expression in a script: ${script}`

test('every workflow is found, and has a name of its own [house.workflows]', () => {
  const found = files.map(({ name }) => name)
  for (const start of [/^README\.md: /, /^examples\//, /^\.github\/workflows\//])
    expect(found).toContainEqual(expect.stringMatching(start))
  expect([...new Set(found)]).toEqual(found)
  for (const { text } of files) expect(parse(text)).toHaveProperty('name')
})

test.each(files)('$name keeps the rules [house.workflows]', (file) => {
  expect(brokenRules(file)).toEqual([])
})

test('a release is asked for, approved before anything may write, and moves v1 once published [house.release]', () => {
  const [{ on, jobs }, major] = ['release', 'major'].map((name) =>
    parse(text(`.github/workflows/${name}.yml`)),
  )
  expect(Object.keys(on)).toEqual(['workflow_dispatch'])
  expect(major.on).toEqual({ release: { types: ['published'] } })
  expect(jobs.approve.environment).toBe('release')
  const writing = Object.entries<{ permissions?: object; needs?: string }>(jobs).filter(
    ([, { permissions = {} }]) => Object.values(permissions).includes('write'),
  )
  expect(writing.map(([name, { needs }]) => [name, needs])).toEqual([['draft', 'approve']])
})

test('our actions pin what they use [house.workflows]', () => {
  const actions = filesLike(['*action.yml', '*action.yaml'])
  expect(actions).toEqual(expect.arrayContaining(['action.yml', 'emulator/action.yml']))
  expect(actions.flatMap((file) => brokenByAction(text(file)))).toEqual([])
  const written = [
    'uses: actions/setup@v4',
    '{ uses: actions/setup@v4 }',
    '"uses":\n        actions/setup@v4',
  ]
  for (const step of written)
    expect(brokenByAction(`runs:\n  using: composite\n  steps:\n    - ${step}\n`)).toEqual([
      notPinned('actions/setup'),
    ])
})

test('an action has one version in all workflows, and a commit one version [house.workflows]', () => {
  const pins = files.flatMap(({ text }) => pinsOf(text))
  expect(pins.length).toBeGreaterThan(10)
  const used = new Set(
    pins.map(({ name, ref, version }) => {
      const [owner, repository] = name.split('/')
      return `${owner}/${repository} ${ref} ${version}`
    }),
  )
  const repositories = [...used].map((one) => one.split(' ')[0])
  expect(repositories).toEqual([...new Set(repositories)])
})

describe('the rules [house.workflows]', () => {
  const NAME = '.github/workflows/sound.yml'
  const PIN = `actions/checkout@${'a'.repeat(40)} # v1.2.3`
  const SOUND = `name: Sound
on: [push, pull_request]
permissions: {}
jobs:
  one:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - uses: ${PIN}
        with:
          persist-credentials: false
      - uses: ./emulator
      - env:
          SHA: \${{ github.sha }}
        run: echo "$SHA"
`

  test.each([
    ['permissions: {}\n', '', 'grants permissions to every job'],
    ['permissions: {}\n', 'permissions: { contents: read }\n', 'grants permissions to every job'],
    ['permissions:\n      contents: read', 'permissions: write-all', 'one has write-all'],
    ['    timeout-minutes: 5\n', '', 'one has no time limit'],
    ['echo "$SHA"', 'echo "${{ github.sha }}"', inScript('echo "${{ github.sha }}"')],
    ['persist-credentials: false', 'fetch-depth: 1', PERSISTS],
    [PIN, 'actions/setup@v4', notPinned('actions/setup')],
    [PIN, `actions/setup@${'a'.repeat(40)}`, notPinned('actions/setup')],
    [PIN, `a/b/c@${'a'.repeat(39)} # v1.2.3`, notPinned('a/b/c')],
    [PIN, 'docker://alpine:3', notPinned('docker://alpine:3')],
    ['./emulator', `${HOME}@v1`, 'names the repository that it is in'],
    ['[push, pull_request]', '{ issue_comment: { types: [created] } }', 'runs on issue_comment'],
    ...'pull_request_target workflow_run issues discussion_comment fork watch an_event_of_tomorrow'
      .split(' ')
      .map((event) => ['[push, pull_request]', `[push, ${event}]`, `runs on ${event}`] as const),
    ['contents: read', 'contents: write', 'one may write contents'],
    ['contents: read', '{ checks: write }', 'one may write checks'],
    [
      'persist-credentials: false',
      "persist-credentials: false\n          script: core.info('${{ github.head_ref }}')",
      inScript("core.info('${{ github.head_ref }}')"),
    ],
    [
      'run: echo "$SHA"',
      'run: echo\n        shell: bash -c "${{ github.head_ref }}" {0}',
      inScript('bash -c "${{ github.head_ref }}" {0}'),
    ],
  ])('find what is wrong with %j as %j', (from, to, words) => {
    expect(SOUND).toContain(from)
    expect(brokenRules({ name: NAME, text: SOUND.replace(from, () => to) })).toEqual([words])
  })

  const copied = SOUND.replace('    timeout-minutes: 5\n', '').replace(
    './emulator',
    `${HOME}/emulator@v1`,
  )
  const called = copied.replace('permissions: {}\n', '')
  const COPIED = 'examples/sound.yml'

  test.each([
    [[], 'a sound workflow', NAME, SOUND],
    [[], 'one to copy, without a time limit, and with our major version', COPIED, copied],
    [
      [],
      'one that is only called, which leaves the permissions to its callers',
      COPIED,
      called.replace('[push, pull_request]', 'workflow_call'),
    ],
    [
      ['grants permissions to every job'],
      'one that is called, and runs by itself, too',
      COPIED,
      called.replace('[push, pull_request]', '[workflow_call, push]'),
    ],
  ])('find %j in %s', (broken, _, name, text) => {
    expect(brokenRules({ name, text })).toEqual(broken)
  })
})
