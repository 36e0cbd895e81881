/** Which authors cause a run to be skipped, based on each kind of event's payload alone. */

import { describe, expect, test } from '@jest/globals'
import { checkSkipAuthors } from '../../src/access/skip-authors.js'
import { parseEvent } from '../../src/event/event.js'

const AUTHORS = new Set(['mintlify[bot]', 'other-bot'])

const by = (login: string) => ({ login })
const decide = (name: string, payload: object, authors = AUTHORS) =>
  checkSkipAuthors(parseEvent(name, payload), authors)
const skips = (name: string, payload: object, authors = AUTHORS): boolean =>
  decide(name, payload, authors).reason !== undefined
const pull = (author: string, sender = 'octocat') => ({
  pull_request: { number: 1, user: by(author) },
  sender: by(sender),
})

test.each([
  ['a pull request', 'pull_request', pull('Mintlify[bot]'), 'the pull request is by Mintlify[bot]'],
  ['a push', 'push', { sender: by('Mintlify[bot]') }, 'the push is by Mintlify[bot]'],
  [
    'commits',
    'push',
    { sender: by('octocat'), commits: [{ author: { username: 'other-bot' } }] },
    'every commit in the push is by one of skip-authors',
  ],
  [
    'a comment',
    'issue_comment',
    { sender: by('octocat'), comment: { user: by('other-bot') } },
    'the comment or review is by other-bot',
  ],
  ['anything else', 'issues', { sender: by('other-bot') }, 'this issues event was caused by other-bot'],
])('says that %s is by one of them', (_, name, payload, reason) => {
  expect(decide(name, payload)).toEqual({ reason, commitsToCheck: [] })
})

describe('a pull request', () => {
  test.each(['pull_request', 'pull_request_target'])('(%s) is skipped if its author is listed', (name) => {
    expect(skips(name, pull('mintlify[bot]'))).toBe(true)
    expect(skips(name, pull('Mintlify[Bot]'))).toBe(true)
    expect(skips(name, pull('octocat'))).toBe(false)
    expect(skips(name, pull('mintlify'))).toBe(false)
    expect(skips(name, pull(''))).toBe(false)
    expect(skips(name, pull('mintlify[bot]'), new Set())).toBe(false)
  })

  test("is skipped if it is a person's and was pushed to by one of them", () => {
    expect(decide('pull_request', pull('octocat', 'mintlify[bot]')).reason).toBe(
      'this pull_request event was caused by mintlify[bot]',
    )
    expect(skips('pull_request', pull('octocat', 'Mintlify[Bot]'))).toBe(true)
  })
})

describe('a comment or a review', () => {
  const issue = { number: 1, user: by('mintlify[bot]'), pull_request: {} }

  test.each([
    ['issue_comment', { issue, comment: { user: by('octocat') } }],
    ['pull_request_review', { ...pull('mintlify[bot]'), review: { user: by('octocat') } }],
    ['pull_request_review_comment', { ...pull('mintlify[bot]'), comment: { user: by('octocat') } }],
  ])("(%s) by a person on a listed author's pull request is not skipped", (name, payload) => {
    expect(skips(name, { ...payload, sender: by('octocat') })).toBe(false)
  })

  test.each([
    ['issue_comment', { issue: { ...issue, user: by('octocat') }, comment: { user: by('Mintlify[bot]') } }],
    ['pull_request_review', { ...pull('octocat'), review: { user: by('mintlify[bot]') } }],
    ['pull_request_review_comment', { ...pull('octocat'), comment: { user: by('mintlify[bot]') } }],
    ['discussion_comment', { discussion: { number: 1 }, comment: { user: by('mintlify[bot]') } }],
  ])('(%s) by a listed author is skipped, whoever edited or removed it', (name, payload) => {
    expect(skips(name, { ...payload, sender: by('octocat') })).toBe(true)
    expect(skips(name, { ...payload, sender: by('mintlify[bot]') })).toBe(true)
  })

  test('of an account that is gone is not skipped', () => {
    expect(skips('issue_comment', { issue, comment: { user: null }, sender: by('octocat') })).toBe(false)
  })
})

describe('a push', () => {
  const push = (sender: string, ...authors: string[]) => ({
    sender: by(sender),
    commits: authors.map((username, nth) => ({ id: String(nth).repeat(40), author: { username } })),
  })

  test.each([
    [push('mintlify[bot]', 'octocat'), true, []],
    [push('octocat', 'mintlify[bot]', 'OTHER-BOT'), true, []],
    [push('octocat'), false, []],
    [push('octocat', 'octocat'), false, []],
    [push('octocat', ''), false, []],
    [push('octocat', 'mintlify[bot]', 'octocat', ''), false, ['1'.repeat(40), '2'.repeat(40)]],
    [push('', 'octocat'), false, []],
  ])('%#', (payload, skipped, commitsToCheck) => {
    const decision = decide('push', payload)
    expect(decision.reason !== undefined).toBe(skipped)
    expect(decision.commitsToCheck).toEqual(commitsToCheck)
  })

  test('of 2,048 commits and more is not skipped: the payload may not list them all', () => {
    const authors = (count: number): string[] => Array(count).fill('mintlify[bot]')
    expect(skips('push', push('octocat', ...authors(2047)))).toBe(true)
    expect(decide('push', push('octocat', ...authors(2048)))).toEqual({
      reason: undefined,
      commitsToCheck: [],
    })
  })
})

test.each(['schedule', 'workflow_dispatch', 'release', ''])('the event %j has no author', (name) => {
  expect(skips(name, {})).toBe(false)
})

test.each(['issues', 'release', 'workflow_run', 'an event of the future'])(
  'the event %j is skipped if its sender is listed',
  (name) => {
    expect(skips(name, { sender: by('mintlify[bot]') })).toBe(true)
    expect(skips(name, { sender: by('octocat') })).toBe(false)
  },
)
