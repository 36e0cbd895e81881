/** What is read from the event's payload, whatever it contains, and why a run gets no secrets. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  emptyEvent,
  explainMissingSecrets,
  type RunEnvironment,
  readEvent,
  workflowPath,
} from '../../src/event/event.js'
import { newFolder } from '../support/folder.js'

const folder = newFolder('event')

let files = 0
function read(eventName: string, payload: unknown) {
  const eventPath = join(folder, `${files++}.json`)
  writeFileSync(eventPath, typeof payload === 'string' ? payload : JSON.stringify(payload))
  return readEvent({ eventName, eventPath } as RunEnvironment)
}

const readFrom = (eventName: string, eventPath: string) =>
  readEvent({ eventName, eventPath } as RunEnvironment)

const SHA = 'a'.repeat(40)
const OTHER_SHA = 'b'.repeat(40)
const PULL = {
  number: 7,
  title: 'T',
  body: null,
  user: { login: 'octocat' },
  html_url: 'https://github.com/your-org/docs/pull/7',
  base: { ref: 'main' },
  head: { ref: 'change', label: 'your-org:change', sha: SHA },
}

test('an empty event has nothing but its name', () => {
  expect(emptyEvent('push')).toEqual({ name: 'push', action: '', sender: '', headSha: '' })
})

describe('what only some events have', () => {
  const fields = (name: string, payload: object) => {
    const { issue, release, mergeGroup, precedingRun } = read(name, payload)
    return { issue, release, mergeGroup, precedingRun }
  }
  const ISSUE = { issue: { number: 5 } }
  const RELEASE = { release: { tag_name: 'v1', prerelease: true, published_at: '2025-03-01T12:00:00Z' } }
  const MERGE_GROUP = { merge_group: { base_sha: SHA, head_sha: OTHER_SHA } }
  const WORKFLOW_RUN = {
    workflow_run: {
      event: 'push',
      actor: { login: 'hubot' },
      head_repository: { full_name: 'your-org/docs' },
    },
  }

  test.each([
    ['issues', ISSUE, { issue: 5 }],
    ['issue_comment', { issue: { number: 5, pull_request: {} } }, {}],
    ['issues', { issue: {} }, {}],
    ['release', RELEASE, { release: { tag: 'v1', preRelease: true, publishedAt: '2025-03-01T12:00:00Z' } }],
    ['release', {}, { release: { tag: '', preRelease: false, publishedAt: '' } }],
    ['merge_group', MERGE_GROUP, { mergeGroup: { base: SHA, head: OTHER_SHA } }],
    [
      'workflow_run',
      WORKFLOW_RUN,
      { precedingRun: { event: 'push', actor: 'hubot', headRepository: 'your-org/docs' } },
    ],
    ['push', { ...RELEASE, ...MERGE_GROUP, ...WORKFLOW_RUN }, {}],
  ])('%s with %j has %j', (name, payload, expected) => {
    expect(fields(name, payload)).toEqual(expected)
  })
})

describe('the head', () => {
  test.each([
    'pull_request.head.sha',
    'merge_group.head_sha',
    'workflow_run.head_sha',
    'check_suite.head_sha',
    'check_run.head_sha',
  ])('is at %s', (path) => {
    const payload = path.split('.').reduceRight<unknown>((inside, name) => ({ [name]: inside }), SHA)
    expect(read('an event', payload).headSha).toBe(SHA)
  })

  test('is at sha of a status, and of nothing else', () => {
    expect(read('status', { sha: SHA }).headSha).toBe(SHA)
    expect(read('an event', { sha: SHA }).headSha).toBe('')
  })

  test('is the first that the payload names', () => {
    const payload = {
      merge_group: { head_sha: '' },
      check_suite: { head_sha: SHA },
      check_run: { head_sha: OTHER_SHA },
    }
    expect(read('an event', payload).headSha).toBe(SHA)
  })

  test.each(['main', `${SHA} `, ` ${SHA}`, SHA.slice(1)])('is no other text: %j', (head_sha) => {
    expect(read('check_run', { check_run: { head_sha } }).headSha).toBe('')
  })
})

describe('a pull request', () => {
  test('is read from its own events', () => {
    const event = read('pull_request', { action: 'opened', pull_request: PULL, sender: { login: 'hubot' } })
    expect(event).toEqual({
      ...emptyEvent('pull_request'),
      action: 'opened',
      sender: 'hubot',
      headSha: SHA,
      pullRequest: {
        number: 7,
        author: 'octocat',
        fromFork: false,
      },
      payload: { action: 'opened', pull_request: PULL, sender: { login: 'hubot' } },
    })
  })

  test('is read with the lowest number', () => {
    expect(read('pull_request', { pull_request: { ...PULL, number: 1 } }).pullRequest?.number).toBe(1)
  })

  test('is read with the author of the comment on it', () => {
    const issue = { number: 7, pull_request: {}, user: { login: 'octocat' } }
    const event = read('issue_comment', { action: 'created', issue, comment: { user: { login: 'hubot' } } })
    expect(event.commentAuthor).toBe('hubot')
    expect(event.headSha).toBe('')
    expect(event.pullRequest).toMatchObject({ author: 'octocat', fromFork: false })
  })

  test('is read with the author of the review of it', () => {
    const author = (review: object) =>
      read('pull_request_review', { pull_request: PULL, review }).commentAuthor
    expect(author({ user: { login: 'hubot' } })).toBe('hubot')
    expect(author({ user: null })).toBe('')
    expect(read('pull_request', { pull_request: PULL }).commentAuthor).toBeUndefined()
  })

  test.each([
    ['in the same repository', { full_name: 'your-org/docs' }, false],
    ['in a fork', { full_name: 'someone/docs' }, true],
    ['in a repository that was deleted', null, true],
    ['not in the payload', undefined, false],
  ])('with a head %s', (_, repo, fromFork) => {
    const pull = { ...PULL, head: { repo }, base: { repo: { full_name: 'your-org/docs' } } }
    expect(read('pull_request', { pull_request: pull }).pullRequest).toMatchObject({ fromFork })
  })

  test('is from a fork if neither repository has a name', () => {
    const pull = { ...PULL, head: { repo: {} }, base: { repo: {} } }
    expect(read('pull_request', { pull_request: pull }).pullRequest).toMatchObject({ fromFork: true })
  })

  test('is read from a comment on it, but not from a comment on an issue', () => {
    const issue = { number: 7, user: { login: 'octocat' }, pull_request: { url: 'x' } }
    expect(read('issue_comment', { issue }).pullRequest).toMatchObject({ number: 7, author: 'octocat' })
    expect(
      read('issue_comment', { issue: { ...issue, pull_request: undefined } }).pullRequest,
    ).toBeUndefined()
  })

  test.each([undefined, '7', 0, -1, 1.5, null, 2 ** 60, {}])('with the number %j is ignored', (number) => {
    expect(read('pull_request', { pull_request: { ...PULL, number } }).pullRequest).toBeUndefined()
  })

  test.each([{}, null, [], 'x', 7])('is not in the payload %j', (payload) => {
    const event = read('pull_request', JSON.stringify(payload))
    expect(event.pullRequest).toBeUndefined()
    expect(event.problem).toBeUndefined()
  })
})

describe('a push', () => {
  test('is read with its commits', () => {
    const commits = [
      { id: SHA, author: { username: 'octocat', name: 'Mona' }, message: 'M' },
      { id: 'no SHA', author: {} },
      null,
    ]
    const payload = {
      before: SHA,
      after: OTHER_SHA,
      sender: { login: 's' },
      commits,
      head_commit: { id: SHA },
    }
    expect(read('push', payload)).toMatchObject({
      sender: 's',
      push: {
        before: SHA,
        after: OTHER_SHA,
        headCommit: SHA,
        commits: [
          { sha: SHA, author: 'octocat', authorName: 'Mona', message: 'M' },
          { sha: '', author: '', authorName: '', message: '' },
          { sha: '', author: '', authorName: '', message: '' },
        ],
      },
    })
  })

  test.each(['main', `${SHA}\n# Heading`, `x${SHA}`, SHA.slice(1), 'a', ''])(
    'takes no other text for a commit: %j',
    (before) => {
      expect(read('push', { before, after: SHA }).push).toMatchObject({ before: '', after: SHA })
    },
  )

  test('takes a SHA-256 for a commit', () => {
    expect(read('push', { before: 'a'.repeat(64) }).push).toMatchObject({ before: 'a'.repeat(64) })
  })

  test('without commits has an empty list of them', () => {
    expect(read('push', { commits: 'x' }).push).toMatchObject({ before: '', commits: [] })
  })

  test('is in no other event', () => {
    expect(read('release', { before: 'b', after: 'a' }).push).toBeUndefined()
  })
})

test.each([
  ['{', /GITHUB_EVENT_PATH.*is not JSON/],
  ['', /is not JSON/],
])('the payload %j is a problem', (payload, message) => {
  expect(read('push', payload)).toMatchObject({
    name: 'push',
    push: undefined,
    problem: expect.stringMatching(message),
  })
})

test('a payload that does not exist is a problem', () => {
  const path = join(folder, 'none')
  expect(readFrom('push', path)).toEqual(
    emptyEvent(
      'push',
      `the event payload (GITHUB_EVENT_PATH, ${JSON.stringify(path)}) can't be read: ENOENT`,
    ),
  )
})

test.each([
  ['your-org/docs/.github/workflows/docs.yml@refs/heads/main', '.github/workflows/docs.yml'],
  ['your-org/docs/.github/workflows/docs.yml@refs/pull/7/merge', '.github/workflows/docs.yml'],
  ['your-org/docs/.github/workflows/a@b.yml@refs/tags/v1', '.github/workflows/a@b.yml'],
  ['', ''],
])('the path of the workflow %j is %j', (workflowRef, path) => {
  expect(workflowPath({ workflowRef } as RunEnvironment)).toBe(path)
})

describe('missing secrets', () => {
  const explain = (name: string, payload: unknown, actor = 'octocat') =>
    explainMissingSecrets(read(name, payload), actor)
  const pull = (repository: unknown) => ({
    pull_request: {
      ...PULL,
      head: { repo: repository },
      base: { repo: { full_name: 'your-org/docs' } },
    },
  })
  const SAME_REPOSITORY = pull({ full_name: 'your-org/docs' })
  const FORK = pull({ full_name: 'someone/docs' })
  const DELETED = pull(null)

  test.each([
    ['pull_request', 'a fork', FORK],
    ['pull_request', 'a fork that was deleted', DELETED],
    ['pull_request_review', 'a fork', FORK],
    ['pull_request_review_comment', 'a fork', FORK],
  ])('in a %s from %s are explained by the fork', (name, _, payload) => {
    expect(explain(name, payload)).toMatch(/fork.*no secrets.*if: /)
  })

  test.each([['pull_request'], ['push']])(
    'in a %s by Dependabot are explained by that, fork or not',
    (name) => {
      for (const payload of [FORK, SAME_REPOSITORY]) {
        expect(explain(name, payload, 'dependabot[bot]')).toBe(
          'This run was triggered by Dependabot, which gets Dependabot secrets but no Actions secrets. ' +
            "Add the key to the repository's Dependabot secrets too, or skip the step: " +
            "if: github.actor != 'dependabot[bot]'.",
        )
      }
    },
  )

  test.each([
    ['pull_request', 'the same repository', SAME_REPOSITORY],
    ['push', 'a payload without a pull request', {}],
    ['push', 'a pull request from a fork in its payload', FORK],
    ['pull_request_target', 'a fork', FORK],
    ['future_pull_request', 'a fork', FORK],
    ['schedule', 'nothing', {}],
    ['workflow_dispatch', 'nothing', {}],
    ['issue_comment', 'nothing', {}],
    ['pull_request', 'no pull request in the payload', {}],
    ['pull_request', 'a payload that is not JSON', '{'],
    ['pull_request', 'a payload that is null', 'null'],
    ['pull_request', 'a head without a repository', { pull_request: { ...PULL, head: {}, base: {} } }],
  ])('in a %s with %s are not explained', (name, _, payload) => {
    expect(explain(name, payload)).toBeUndefined()
  })

  test('are not explained if the payload does not exist', () => {
    expect(explainMissingSecrets(readFrom('pull_request', join(folder, 'none')), '')).toBeUndefined()
    expect(explainMissingSecrets(readFrom('pull_request', ''), '')).toBeUndefined()
  })
})
