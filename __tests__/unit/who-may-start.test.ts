/** Whose permission counts, for each event. */

import { describe, expect, test } from '@jest/globals'
import { whoNeedsAccess } from '../../src/access/who-may-start.js'
import { parseEvent } from '../../src/event/event.js'

const RUN = { repository: 'your-org/docs', actor: 'actor' }
const by = (login: string | null) => (login === null ? null : { login })

const asked = (name: string, payload: object, allowed: readonly string[] = []): string[] =>
  whoNeedsAccess(parseEvent(name, payload), RUN, new Set(allowed)).map(({ login }) => login)

const sender = by('octocat')
const pull = (head: unknown) => ({
  pull_request: {
    number: 1,
    user: by('author'),
    head: { repo: head },
    base: { repo: { full_name: 'your-org/docs' } },
  },
  sender,
})
const HERE = pull({ full_name: 'your-org/docs' })
const FORK = pull({ full_name: 'someone/docs' })

test.each([
  'push',
  'create',
  'delete',
  'release',
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'merge_group',
])('a %s asks nobody: it takes write access', (name) => {
  expect(asked(name, { sender, comment: { user: by('writer') } })).toEqual([])
})

describe('a pull request', () => {
  test('from this repository asks nobody', () => expect(asked('pull_request', HERE)).toEqual([]))

  // GitHub names the head of every pull request, and says null for a fork that was deleted.
  test('that nothing says is from a fork asks nobody', () => {
    expect(asked('pull_request', { pull_request: { number: 1 }, sender })).toEqual([])
  })

  test.each([
    ['a fork', FORK],
    ['a fork that was deleted', pull(null)],
    ['nowhere', { sender }],
  ])('from %s asks the sender', (_, payload) => {
    expect(asked('pull_request', payload)).toEqual(['octocat'])
  })

  test.each(['pull_request_target', 'pull_request_review', 'pull_request_review_comment'])(
    'by its event %s asks the sender, from this repository or not',
    (name) => {
      expect(asked(name, HERE)).toEqual(['octocat'])
      expect(asked(name, FORK)).toEqual(['octocat'])
    },
  )
})

describe('a comment or a review', () => {
  test.each(['issue_comment', 'pull_request_review', 'discussion_comment', 'commit_comment'])(
    '(%s) asks the sender and its author, each once',
    (name) => {
      const field = name.endsWith('review') ? 'review' : 'comment'
      expect(asked(name, { [field]: { user: by('writer') }, sender })).toEqual(['octocat', 'writer'])
      expect(asked(name, { [field]: { user: by('Octocat') }, sender })).toEqual(['octocat'])
    },
  )

  test('of an account that is gone can be asked of nobody', () => {
    expect(asked('issue_comment', { comment: { user: null }, sender })).toEqual(['octocat', ''])
  })
})

describe('a workflow_run', () => {
  const followed = (event: string, repository = 'Your-Org/docs') => ({
    workflow_run: { event, actor: by('first'), head_repository: { full_name: repository } },
    sender,
  })

  test.each(['push', 'schedule', 'workflow_dispatch', 'release', 'pull_request'])(
    'after a %s in this repository asks nobody',
    (event) => expect(asked('workflow_run', followed(event))).toEqual([]),
  )

  test.each([
    ['a pull request from a fork', followed('pull_request', 'someone/docs')],
    ['a push to a fork', followed('push', 'someone/docs')],
    ['a pull_request_target', followed('pull_request_target')],
    ['an issue_comment', followed('issue_comment')],
    ['a workflow_run', followed('workflow_run')],
    ['an event of the future', followed('future')],
  ])('after %s asks whoever triggered that run', (_, payload) => {
    expect(asked('workflow_run', payload)).toEqual(['first'])
  })

  test('without anything about the run before can be asked of nobody', () => {
    expect(asked('workflow_run', { sender })).toEqual([''])
  })
})

test('each is named with what they did', () => {
  const people = (name: string, payload: object, allowed: readonly string[] = []) =>
    whoNeedsAccess(parseEvent(name, payload), RUN, new Set(allowed))
  const comment = { comment: { user: by('writer') }, sender }
  expect(people('issue_comment', comment)).toEqual([
    { login: 'octocat', did: 'triggered this run' },
    { login: 'writer', did: 'wrote the comment or review' },
  ])
  expect(people('workflow_run', { workflow_run: { actor: by('first') } })).toEqual([
    { login: 'first', did: 'triggered the run before this one' },
  ])
  expect(people('issue_comment', comment, ['*'])).toEqual([])
})

test('outside of a workflow run, where no event is named, nobody is asked', () => {
  expect(asked('', { sender })).toEqual([])
})

test.each(['issues', 'discussion', 'fork', 'watch', 'check_suite', 'status', 'an event of the future'])(
  'any other event (%s) asks the sender',
  (name) => expect(asked(name, { sender })).toEqual(['octocat']),
)

test('without a sender, the actor is asked', () => {
  expect(asked('issues', {})).toEqual(['actor'])
  expect(
    whoNeedsAccess({ ...parseEvent('issues', undefined), problem: 'unreadable' }, RUN, new Set()),
  ).toMatchObject([{ login: 'actor' }])
})

describe('allow-users', () => {
  const comment = { comment: { user: by('Writer[bot]') }, sender }

  test.each([
    [[], ['octocat', 'Writer[bot]']],
    [['octocat'], ['Writer[bot]']],
    [['writer[bot]'], ['octocat']],
    [['writer'], ['octocat', 'Writer[bot]']],
    [['octocat', 'writer[bot]'], []],
    [['*'], []],
  ])('%j leaves %j to be asked', (allowed, rest) => {
    expect(asked('issue_comment', comment, allowed)).toEqual(rest)
  })

  test('does not stand for an account that is gone', () => {
    expect(asked('issue_comment', { comment: { user: null }, sender }, ['octocat'])).toEqual([''])
  })
})
