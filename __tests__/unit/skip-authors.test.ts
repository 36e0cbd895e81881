/** Which authors cause a run to be skipped, based on each kind of event's payload alone. */

import { describe, expect, test } from '@jest/globals'
import type { RunEvent } from '../../src/event/event.js'
import { checkSkipAuthors } from '../../src/event/skip-authors.js'

const AUTHORS = new Set(['mintlify[bot]', 'other-bot'])
const NOTHING: RunEvent = {
  name: '',
  action: '',
  pullRequest: undefined,
  push: undefined,
  comment: undefined,
  problem: undefined,
}

const pull = (name: string, author: string): RunEvent => ({
  ...NOTHING,
  name,
  pullRequest: { number: 1, title: '', body: '', author, url: '', base: '', head: '', fromFork: false },
})
const push = (sender: string, ...authors: string[]): RunEvent => ({
  ...NOTHING,
  name: 'push',
  push: {
    before: '',
    after: '',
    sender,
    commits: authors.map((author, nth) => ({ sha: `c${nth}`, author, message: '' })),
  },
})

const skips = (event: RunEvent, authors = AUTHORS): boolean =>
  checkSkipAuthors(event, authors).reason !== undefined

test.each([
  [
    'a listed pull request',
    pull('pull_request', 'Mintlify[bot]'),
    'the pull request is by Mintlify[bot]',
    [],
  ],
  ['another pull request', pull('pull_request', 'octocat'), undefined, []],
  ['a push by a listed sender', push('Mintlify[bot]', 'octocat'), 'the push is by Mintlify[bot]', []],
  [
    'a push with only listed commits',
    push('octocat', 'other-bot'),
    'every commit in the push is by one of skip-authors',
    [],
  ],
  ['a push with some listed commits', push('octocat', 'octocat', 'other-bot', ''), undefined, ['c0', 'c2']],
  ['another push', push('octocat', 'octocat'), undefined, []],
  ['a push without commits', push('octocat'), undefined, []],
  ['neither', NOTHING, undefined, []],
])('the whole decision on %s', (_, event, reason, commitsToCheck) => {
  expect(checkSkipAuthors(event, AUTHORS)).toEqual({ reason, commitsToCheck })
})

describe('a pull request', () => {
  test.each(['pull_request', 'pull_request_target', 'pull_request_review'])(
    '(%s) is skipped if its author is listed',
    (name) => {
      expect(skips(pull(name, 'mintlify[bot]'))).toBe(true)
      expect(skips(pull(name, 'Mintlify[Bot]'))).toBe(true)
      expect(skips(pull(name, 'octocat'))).toBe(false)
      expect(skips(pull(name, 'mintlify'))).toBe(false)
      expect(skips(pull(name, ''))).toBe(false)
      expect(skips(pull(name, 'mintlify[bot]'), new Set())).toBe(false)
    },
  )

  test('is skipped even if somebody else commented on it', () => {
    expect(skips(pull('issue_comment', 'mintlify[bot]'))).toBe(true)
  })
})

describe('a push', () => {
  test.each([
    [push('mintlify[bot]', 'octocat'), true, []],
    [push('octocat', 'mintlify[bot]', 'OTHER-BOT'), true, []],
    [push('octocat'), false, []],
    [push('octocat', 'octocat'), false, []],
    [push('octocat', ''), false, []],
    [push('octocat', 'mintlify[bot]', 'octocat', ''), false, ['c1', 'c2']],
    [push('', 'octocat'), false, []],
  ])('%#', (event, skipped, commitsToCheck) => {
    const decision = checkSkipAuthors(event, AUTHORS)
    expect(decision.reason !== undefined).toBe(skipped)
    expect(decision.commitsToCheck).toEqual(commitsToCheck)
  })
})

test.each(['schedule', 'workflow_dispatch', 'release', ''])('the event %j has no author', (name) => {
  expect(skips({ ...NOTHING, name })).toBe(false)
})
