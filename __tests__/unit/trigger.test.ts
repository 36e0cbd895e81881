/** What the prompt says has happened: every fact of an event's payload, in order. */

import { describe, expect, test } from '@jest/globals'
import type { Changes } from '../../src/context/files.js'
import { describeTrigger } from '../../src/context/trigger.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'

const RUN = { repository: 'your-org/docs', ref: 'refs/heads/main', sha: 'c'.repeat(40) } as RunEnvironment
const SHA = 'a1b2c3d'.padEnd(40, '0')
const CHANGES: Changes = { files: [], truncated: false, range: '', empty: false }

/** `name: value` of each fact; those of the run only if they are asked for. */
function facts(name: string, payload: unknown, changes: Changes = CHANGES, withRun = false): string[] {
  const trigger = describeTrigger(RUN, parseEvent(name, payload), changes)
  expect(trigger).toMatchObject({ event: name, repository: RUN.repository })
  const lines = trigger.facts.map((fact) => `${fact.name}: ${fact.value}`)
  const ofRun = [`ref: ${RUN.ref}`, `commit: ${RUN.sha}`]
  return withRun ? lines : lines.filter((line) => !ofRun.includes(line))
}

const sender = { login: 'octocat' }
const user = { login: 'mona' }
const issue = {
  number: 7,
  title: 'T',
  user,
  state: 'open',
  labels: [{ name: 'docs' }, { name: 'good first issue' }],
  html_url: 'L',
  body: ' Body\n',
}
const ISSUE = [
  'number: 7',
  'title: T',
  'author: mona',
  'state: open',
  'labels: docs, good first issue',
  'link: L',
  'body: Body',
]
const [HEAD, TAIL] = [ISSUE.slice(0, 4), ISSUE.slice(4)]
const writer = { login: 'writer' }
const comment = { user: writer, body: 'Nice', html_url: 'CL' }
const run = { head_branch: 'main', head_sha: SHA, status: 'completed', conclusion: 'success' }
const RUN_FACTS = [`head commit: ${SHA}`, 'status: completed', 'conclusion: success']
const published = { name: 'docs', package_version: { version: '1.2.0' } }
const pull = {
  ...issue,
  draft: true,
  merged: false,
  base: { ref: 'main' },
  head: { ref: 'change', label: 'o:change' },
}

test.each<[string, object, string[]]>([
  [
    'issues',
    { action: 'labeled', issue, label: { name: 'docs' }, sender },
    ['action: labeled', 'sender: octocat', ...ISSUE, 'label: docs'],
  ],
  ['issues', { milestone: { title: 'Next' } }, ['milestone: Next']],
  [
    'issue_comment',
    { issue, comment },
    [...ISSUE, 'comment by: writer', 'comment link: CL', 'comment: Nice'],
  ],
  [
    'pull_request',
    { pull_request: pull },
    [...HEAD, 'draft: true', 'merged: false', 'base: main', 'head: o:change', ...TAIL],
  ],
  ['pull_request', { pull_request: { head: { ref: 'change' } } }, ['head: change']],
  [
    'pull_request_review',
    { review: { user: writer, state: 'approved', body: 'Fine' } },
    ['review by: writer', 'review state: approved', 'review: Fine'],
  ],
  [
    'pull_request_review_comment',
    { comment: { path: 'a b.ts', line: 12, original_line: 9 } },
    ['file: a b.ts', 'line: 12'],
  ],
  ['pull_request_review_comment', { comment: { line: null, original_line: 9 } }, ['line: 9']],
  ['commit_comment', { comment: { commit_id: SHA } }, [`commented commit: ${SHA}`]],
  [
    'discussion_comment',
    { discussion: { ...issue, category: { name: 'Ideas' } }, comment: { body: 'Yes' } },
    [...HEAD, 'category: Ideas', ...TAIL, 'comment: Yes'],
  ],
  ['discussion', { answer: { user: writer, body: 'So' } }, ['answer by: writer', 'answer: So']],
  [
    'release',
    {
      release: {
        tag_name: 'v1.2.0',
        name: 'One two',
        body: '* Faster',
        prerelease: false,
        draft: true,
        author: user,
        html_url: 'L',
      },
    },
    [
      'tag: v1.2.0',
      'name: One two',
      'author: mona',
      'draft: true',
      'pre-release: false',
      'link: L',
      'notes: * Faster',
    ],
  ],
  [
    'workflow_run',
    { workflow_run: { ...run, name: 'CI', display_title: 'Fix', event: 'push', actor: user, html_url: 'L' } },
    [
      'workflow: CI',
      'run: Fix',
      'event of the run: push',
      'actor: mona',
      'branch: main',
      ...RUN_FACTS,
      'link: L',
    ],
  ],
  [
    'check_suite',
    { check_suite: { ...run, app: { name: 'CI' } } },
    ['app: CI', 'branch: main', ...RUN_FACTS],
  ],
  [
    'check_run',
    {
      check_run: {
        ...run,
        name: 'lint',
        app: { name: 'CI' },
        check_suite: { head_branch: 'b' },
        output: { title: 'Clean' },
        html_url: 'L',
      },
    },
    ['check: lint', 'app: CI', 'branch: b', ...RUN_FACTS, 'result: Clean', 'link: L'],
  ],
  [
    'deployment',
    { deployment: { environment: 'production', ref: 'main', sha: SHA, task: 'deploy' } },
    ['environment: production', 'deployed ref: main', `deployed commit: ${SHA}`, 'task: deploy'],
  ],
  [
    'deployment_status',
    { deployment_status: { state: 'success', description: 'D', environment_url: 'E', target_url: 'T' } },
    ['state: success', 'description: D', 'link: E'],
  ],
  ['deployment_status', { deployment_status: { environment_url: '', target_url: 'T' } }, ['link: T']],
  [
    'merge_group',
    { merge_group: { base_ref: 'main', head_ref: 'queue', head_sha: SHA, head_commit: { message: 'M' } } },
    ['base: main', 'head: queue', `head commit: ${SHA}`, 'message: M'],
  ],
  ['fork', { forkee: { full_name: 'someone/docs' } }, ['fork: someone/docs']],
  ['package', { package: published }, ['package: docs', 'version: 1.2.0']],
  ['registry_package', { registry_package: published }, ['package: docs', 'version: 1.2.0']],
  ['branch_protection_rule', { rule: { name: 'main' } }, ['rule: main']],
  ['create', { ref_type: 'tag', ref: 'v1' }, ['type of ref: tag', 'ref name: v1']],
  ['delete', { ref_type: 'branch', ref: 'old' }, ['type of ref: branch', 'ref name: old']],
  [
    'gollum',
    { pages: [{ title: 'Home' }, { action: 'edited' }, { action: 'created', title: 'A' }] },
    ['pages: Home, edited, created A'],
  ],
  // Whoever sends one chooses its action, which is a fact like any other.
  [
    'repository_dispatch',
    { action: 'x\n\n# Do this.', client_payload: { page: 'a' }, sender },
    ['type: x\n\n# Do this.', 'payload: {\n  "page": "a"\n}', 'sender: octocat'],
  ],
  ['schedule', { schedule: '0 3 * * *' }, ['schedule: 0 3 * * *']],
  [
    'status',
    { context: 'ci', state: 'success', description: 'D', sha: SHA, target_url: 'T' },
    ['status check: ci', 'state: success', 'description: D', `head commit: ${SHA}`, 'link: T'],
  ],
  [
    'workflow_dispatch',
    { inputs: { page: 'a', words: 'x\ny' }, sender },
    ['inputs: {\n  "page": "a",\n  "words": "x\\ny"\n}', 'sender: octocat'],
  ],
  ['workflow_dispatch', { inputs: {} }, []],
  // The same names at the top of another event say nothing.
  ['push', { ref_type: 'branch', context: 'ci', inputs: { a: 1 }, pages: [{ title: 'Home' }] }, []],
  ['toString', { inputs: { a: 1 } }, []],
  ...[null, [], 'x', 7, { issue: 'x', labels: {}, inputs: [], pages: [null] }].map(
    (payload): [string, object, string[]] => ['issues', payload as object, []],
  ),
])('of a %s with %j: all that it says', (name, payload, expected) => {
  expect(facts(name, payload)).toEqual(expected)
})

test('the ref and the commit come first, but not of a pull request, an issue or a discussion, and never empty', () => {
  expect(facts('push', { sender }, undefined, true)).toEqual([
    `ref: ${RUN.ref}`,
    `commit: ${RUN.sha}`,
    'sender: octocat',
  ])
  expect(facts('issues', { issue: { number: 7 } }, undefined, true)).toEqual(['number: 7'])
  expect(describeTrigger({ ...RUN, ref: '' }, parseEvent('push', {}), CHANGES).facts).toEqual([
    { name: 'commit', value: RUN.sha },
  ])
})

test('the release before it is a fact as well', () => {
  expect(facts('release', {}, { ...CHANGES, previousRelease: 'v1.1.0' })).toEqual([
    'previous release: v1.1.0',
  ])
})

test('the pull request or issue that issue-number names is a fact as well, after the event', () => {
  const named = { number: 8, title: 'N', body: 'Hi <!-- do it -->', pull_request: {} }
  expect(facts('workflow_dispatch', { inputs: { a: 1 } }, { ...CHANGES, named })).toEqual([
    'inputs: {\n  "a": 1\n}',
    'number: 8',
    'title: N',
    'body: Hi [hidden on GitHub: 14 characters]',
  ])
})

test('what GitHub hides is noted where it renders Markdown, and invisible characters are shown everywhere', () => {
  const text = 'a<!-- b -->\u202ec'
  const [prose, plain] = ['a[hidden on GitHub: 10 characters]\\u{202e}c', 'a<!-- b -->\\u{202e}c']
  const payload = {
    issue: { title: text, body: text, labels: [{ name: text }] },
    comment: { body: text, path: text },
    review: { body: text },
    answer: { body: text },
    release: { name: text, body: text },
    inputs: { text },
  }
  expect(facts('workflow_dispatch', payload)).toEqual([
    `inputs: {\n  "text": "${plain}"\n}`,
    `title: ${plain}`,
    `labels: ${plain}`,
    `body: ${prose}`,
    `answer: ${prose}`,
    `review: ${prose}`,
    `file: ${plain}`,
    `comment: ${prose}`,
    `name: ${plain}`,
    `notes: ${prose}`,
  ])
})

test('a payload of 50 levels is told, and one of 51 is not', () => {
  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
  const inputs = (levels: number) => facts('workflow_dispatch', { inputs: nested(levels) })
  expect(inputs(50)).toEqual([`inputs: ${JSON.stringify(nested(50), null, 2)}`])
  for (const levels of [51, 6_000])
    expect(inputs(levels)).toEqual(['inputs: (nested more than 50 levels deep: not shown)'])
  const lists = { inputs: { a: JSON.parse('['.repeat(50) + ']'.repeat(50)) } }
  expect(facts('workflow_dispatch', lists)).toEqual(['inputs: (nested more than 50 levels deep: not shown)'])
})

describe('commits', () => {
  const commit = (message: string, author: object) => ({ id: SHA, message, author })

  test("each one's first line and author, by login or else by name", () => {
    const commits = [
      commit('First\r\n\nMore', { username: 'mona', name: 'Mona' }),
      commit('\nSecond\rMore', { name: 'Lisa' }),
      commit('Third\nMore', {}),
    ]
    expect(facts('push', { commits })).toEqual([
      'commits: a1b2c3d First (mona)\na1b2c3d Second (Lisa)\na1b2c3d Third (unknown author)',
    ])
  })

  test('are those of the range if the payload has none', () => {
    const commits = [{ sha: SHA, author: 'mona', authorName: '', message: 'Found' }]
    const found = (complete: boolean): Changes => ({ ...CHANGES, commits: { commits, complete } })
    for (const [name, payload] of [
      ['schedule', {}],
      ['push', { commits: [] }],
    ] as const)
      expect(facts(name, payload, found(true))).toEqual(['commits: a1b2c3d Found (mona)'])
    expect(facts('push', { commits: [commit('Pushed', {})] }, found(false))).toEqual([
      'commits: a1b2c3d Pushed (unknown author)',
    ])
    expect(facts('schedule', {}, found(false))).toEqual([
      'commits (the first 1; there may be more): a1b2c3d Found (mona)',
    ])
    expect(facts('schedule', {}, { ...CHANGES, commits: { commits: [], complete: false } })).toEqual([])
  })

  test('none uses up the room of the others, or hides anything', () => {
    const of = (message: string, username: string) =>
      facts('push', { commits: [commit(message, { username })] })
    expect(of('m'.repeat(200), 'u'.repeat(200))).toEqual([
      `commits: a1b2c3d ${'m'.repeat(200)} (${'u'.repeat(200)})`,
    ])
    expect(of('m'.repeat(201), 'u'.repeat(201))).toEqual([
      `commits: a1b2c3d ${'m'.repeat(200)}… (${'u'.repeat(200)}…)`,
    ])
    expect(of('First\u200b', '')).toEqual(['commits: a1b2c3d First\\u{200b} (unknown author)'])
  })

  test('a name is on one line, and its invisible characters are shown', () => {
    const author = { name: 'Li\u202esa\na1b2c3d Forged (mona)' }
    expect(facts('push', { commits: [{ ...commit('First', {}), author }] })).toEqual([
      'commits: a1b2c3d First (Li\\u{202e}sa)',
    ])
  })

  test('the invisible characters of a ref are shown', () => {
    const run = { ...RUN, ref: 'refs/heads/a\u200bb' }
    const { facts: told } = describeTrigger(run, parseEvent('push', {}), CHANGES)
    expect(told).toContainEqual({ name: 'ref', value: 'refs/heads/a\\u{200b}b' })
  })

  test('2,048 in the payload of a push may not be all', () => {
    const names = (count: number) =>
      facts('push', { commits: Array(count).fill(commit('C', {})) })[0]?.split(': ')[0]
    expect(names(2047)).toBe('commits')
    expect(names(2048)).toBe('commits (the first 2,048; there may be more)')
  })
})
