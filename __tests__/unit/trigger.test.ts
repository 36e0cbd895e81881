/** What the prompt says has happened, for the events that people use. */

import { describe, expect, test } from '@jest/globals'
import type { Changes } from '../../src/context/files.js'
import { describeTrigger } from '../../src/context/trigger.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'

const RUN = { repository: 'your-org/docs', ref: 'refs/heads/main', sha: 'c'.repeat(40) } as RunEnvironment
const SHA = 'a1b2c3d'.padEnd(40, '0')

function facts(name: string, payload: object, changes?: Changes): Record<string, string> {
  const trigger = describeTrigger(RUN, parseEvent(name, payload), changes)
  expect(trigger.summary).toBe(`Triggered by ${name}.`)
  for (const fact of trigger.facts)
    expect(fact).toEqual({ name: expect.stringMatching(/./), value: expect.stringMatching(/./) })
  return Object.fromEntries(trigger.facts.map(({ name, value }) => [name, value]))
}

const issue = {
  number: 7,
  title: 'T',
  user: { login: 'mona' },
  state: 'open',
  labels: [{ name: 'docs' }, { name: 'good first issue' }],
  html_url: 'https://github.com/your-org/docs/issues/7',
  body: ' Body\n',
}
const ISSUE = {
  number: '7',
  title: 'T',
  author: 'mona',
  state: 'open',
  labels: 'docs, good first issue',
  link: issue.html_url,
  body: 'Body',
}
const sender = { login: 'octocat' }

test('the action is a fact like any other: whoever sends a repository_dispatch chooses it', () => {
  const type = 'x\n\n# Heading\n\nDo this.'
  expect(facts('repository_dispatch', { action: type, client_payload: { page: 'a' }, sender })).toEqual({
    ref: RUN.ref,
    commit: RUN.sha,
    type,
    payload: '{\n  "page": "a"\n}',
    sender: 'octocat',
  })
})

test('what is empty is no fact', () => {
  const { facts } = describeTrigger({ ...RUN, ref: '' }, parseEvent('push', {}))
  expect(facts).toEqual([{ name: 'commit', value: RUN.sha }])
})

test('of an issue: number, title, author, state, labels, link, body, and the label that was added', () => {
  expect(facts('issues', { action: 'labeled', issue, label: { name: 'docs' }, sender })).toEqual({
    action: 'labeled',
    sender: 'octocat',
    ...ISSUE,
    label: 'docs',
  })
})

test('of a comment: the issue, who wrote what, and where', () => {
  const comment = { user: { login: 'writer' }, body: 'Nice', html_url: 'https://github.com/x#1' }
  expect(facts('issue_comment', { action: 'created', issue, comment, sender })).toMatchObject({
    ...ISSUE,
    'comment by': 'writer',
    comment: 'Nice',
    'comment link': comment.html_url,
  })
})

describe('of a pull request', () => {
  const pull_request = {
    ...issue,
    draft: true,
    merged: false,
    base: { ref: 'main' },
    head: { ref: 'change', label: 'your-org:change' },
  }

  test('draft, merged, labels, base and head too, and no ref', () => {
    expect(facts('pull_request', { action: 'opened', pull_request })).toEqual({
      action: 'opened',
      ...ISSUE,
      draft: 'true',
      merged: 'false',
      base: 'main',
      head: 'your-org:change',
    })
  })

  test('its review: state, author and text', () => {
    const review = { user: { login: 'writer' }, state: 'approved', body: 'Fine' }
    expect(facts('pull_request_review', { pull_request, review })).toMatchObject({
      'review by': 'writer',
      'review state': 'approved',
      review: 'Fine',
    })
  })

  test.each([
    [{ line: 12 }, '12'],
    [{ line: null, original_line: 9 }, '9'],
  ])('a comment on its code: file and line %j', (place, line) => {
    const comment = { user: { login: 'writer' }, path: 'src/a b.ts', body: 'Why?', ...place }
    expect(facts('pull_request_review_comment', { pull_request, comment })).toMatchObject({
      file: 'src/a b.ts',
      line,
      comment: 'Why?',
    })
  })
})

test('of a discussion: category and comment too', () => {
  const discussion = { ...issue, category: { name: 'Ideas' } }
  const comment = { user: { login: 'writer' }, body: 'Yes' }
  expect(facts('discussion_comment', { discussion, comment })).toMatchObject({
    ...ISSUE,
    category: 'Ideas',
    comment: 'Yes',
  })
})

test('of a release: tag, name and notes, and the release before it', () => {
  const release = {
    tag_name: 'v1.2.0',
    name: 'One two',
    body: '* Faster',
    prerelease: false,
    author: { login: 'mona' },
  }
  const changes = { files: [], truncated: false, range: '', previousRelease: 'v1.1.0' }
  expect(facts('release', { action: 'published', release }, changes)).toMatchObject({
    ref: RUN.ref,
    tag: 'v1.2.0',
    name: 'One two',
    notes: '* Faster',
    author: 'mona',
    'pre-release': 'false',
    'previous release': 'v1.1.0',
  })
})

test('of a workflow_dispatch: its inputs, and who pressed the button', () => {
  expect(facts('workflow_dispatch', { inputs: { page: 'a', words: 'x\ny' }, sender })).toMatchObject({
    inputs: '{\n  "page": "a",\n  "words": "x\\ny"\n}',
    sender: 'octocat',
  })
})

test('of a workflow_run: name, branch, conclusion', () => {
  const workflow_run = {
    name: 'CI',
    head_branch: 'main',
    conclusion: 'success',
    event: 'push',
    head_sha: SHA,
  }
  expect(facts('workflow_run', { workflow_run })).toMatchObject({
    workflow: 'CI',
    branch: 'main',
    conclusion: 'success',
    'event of the run': 'push',
  })
})

test.each([
  ['check_suite', { check_suite: { head_branch: 'main', conclusion: 'failure', app: { name: 'CI' } } }],
  [
    'check_run',
    { check_run: { check_suite: { head_branch: 'main' }, conclusion: 'failure', app: { name: 'CI' } } },
  ],
])('of a %s: app, branch, conclusion', (name, payload) => {
  expect(facts(name, payload)).toMatchObject({ app: 'CI', branch: 'main', conclusion: 'failure' })
})

test.each([
  ['schedule', { schedule: '0 3 * * *' }, { schedule: '0 3 * * *' }],
  ['create', { ref_type: 'tag', ref: 'v1' }, { 'type of ref': 'tag', 'ref name': 'v1' }],
  ['status', { context: 'ci', state: 'success' }, { 'status check': 'ci', state: 'success' }],
  ['gollum', { pages: [{ action: 'edited', title: 'Home' }] }, { pages: 'edited Home' }],
  ['fork', { forkee: { full_name: 'someone/docs' } }, { fork: 'someone/docs' }],
])('of a %s: what is at the top of its payload', (name, payload, expected) => {
  expect(facts(name, payload)).toMatchObject(expected)
})

const RUN_FIELDS = { head_branch: 'main', head_sha: SHA, status: 'completed', conclusion: 'success' }
const RUN_FACTS = { branch: 'main', 'head commit': SHA, status: 'completed', conclusion: 'success' }
const PACKAGE = { name: 'docs', package_version: { version: '1.2.0' } }

test.each([
  ['pull_request', { pull_request: { head: { ref: 'change' } } }, { head: 'change' }],
  [
    'discussion',
    { answer: { user: { login: 'writer' }, body: 'So' } },
    { 'answer by': 'writer', answer: 'So' },
  ],
  ['issues', { milestone: { title: 'Next' } }, { milestone: 'Next' }],
  ['commit_comment', { comment: { commit_id: SHA } }, { 'commented commit': SHA }],
  ['release', { release: { draft: true, html_url: 'L' } }, { draft: 'true', link: 'L' }],
  [
    'workflow_run',
    { workflow_run: { ...RUN_FIELDS, display_title: 'Fix', actor: { login: 'mona' }, html_url: 'L' } },
    { run: 'Fix', actor: 'mona', ...RUN_FACTS, link: 'L' },
  ],
  ['check_suite', { check_suite: RUN_FIELDS }, RUN_FACTS],
  [
    'check_run',
    {
      check_run: {
        ...RUN_FIELDS,
        check_suite: { head_branch: 'main' },
        name: 'lint',
        output: { title: 'Clean' },
        html_url: 'L',
      },
    },
    { check: 'lint', ...RUN_FACTS, result: 'Clean', link: 'L' },
  ],
  [
    'deployment',
    { deployment: { environment: 'production', ref: 'main', sha: SHA, task: 'deploy' } },
    { environment: 'production', 'deployed ref': 'main', 'deployed commit': SHA, task: 'deploy' },
  ],
  [
    'deployment_status',
    { deployment_status: { state: 'success', description: 'D', environment_url: 'E', target_url: 'T' } },
    { state: 'success', description: 'D', link: 'E' },
  ],
  ['deployment_status', { deployment_status: { environment_url: '', target_url: 'T' } }, { link: 'T' }],
  [
    'merge_group',
    { merge_group: { base_ref: 'main', head_ref: 'queue', head_sha: SHA, head_commit: { message: 'M' } } },
    { base: 'main', head: 'queue', 'head commit': SHA, message: 'M' },
  ],
  ['package', { package: PACKAGE }, { package: 'docs', version: '1.2.0' }],
  ['registry_package', { registry_package: PACKAGE }, { package: 'docs', version: '1.2.0' }],
  ['branch_protection_rule', { rule: { name: 'main' } }, { rule: 'main' }],
  ['delete', { ref_type: 'branch', ref: 'old' }, { 'type of ref': 'branch', 'ref name': 'old' }],
  [
    'status',
    { context: 'ci', state: 'success', description: 'D', sha: SHA, target_url: 'T' },
    { 'status check': 'ci', state: 'success', description: 'D', 'head commit': SHA, link: 'T' },
  ],
  // The same names at the top of another event say nothing.
  ['push', { ref_type: 'branch', context: 'ci', inputs: { a: 1 }, pages: [{ title: 'Home' }] }, {}],
  ['toString', { inputs: { a: 1 } }, {}],
  ['workflow_dispatch', { inputs: {} }, {}],
  ['gollum', { pages: [{ title: 'Home' }, { action: 'edited' }] }, { pages: 'Home, edited' }],
])('of a %s: all of %j', (name, payload, expected) => {
  const { ref, commit, ...rest } = facts(name, payload)
  expect(rest).toEqual(expected)
})

describe('commits', () => {
  const commit = (message: string, author: object) => ({ id: SHA, message, author })

  test("each one's first line and author, by login or else by name", () => {
    const commits = [
      commit('First\r\n\nMore', { username: 'mona', name: 'Mona' }),
      commit('\nSecond', { name: 'Lisa' }),
      commit('Third', {}),
    ]
    expect(facts('push', { before: SHA, after: SHA, commits }).commits).toBe(
      'a1b2c3d First (mona)\na1b2c3d Second (Lisa)\na1b2c3d Third (unknown author)',
    )
  })

  test('of other events are those of the range', () => {
    const commits = [{ sha: SHA, author: 'mona', authorName: '', message: 'Found' }]
    const changes = { files: [], truncated: false, range: '', commits: { commits, complete: true } }
    expect(facts('schedule', {}, changes).commits).toBe('a1b2c3d Found (mona)')
    expect(facts('push', { commits: [] }, changes).commits).toBe('a1b2c3d Found (mona)')
    const more = { ...changes, commits: { commits, complete: false } }
    expect(facts('schedule', {}, more)['commits (the first 1; there may be more)']).toBe(
      'a1b2c3d Found (mona)',
    )
  })

  test('2,048 in the payload of a push may not be all', () => {
    const commits = Array(2048).fill(commit('C', {}))
    expect(Object.keys(facts('push', { commits }))).toContain('commits (the first 2,048; there may be more)')
  })
})

test.each([null, [], 'x', 7, { issue: 'x', labels: {}, inputs: [], pages: [null] }])(
  'a payload that is none: %j',
  (payload) => {
    expect(facts('issues', payload as object)).toEqual({ ref: RUN.ref, commit: RUN.sha })
  },
)
