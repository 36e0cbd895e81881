/** Who brought the run about: every kind of event, by its payload alone. */

import { describe, expect, test } from '@jest/globals'
import type { RunEvent } from '../../src/event/event.js'
import { skipAuthors } from '../../src/event/skip-authors.js'

const AUTHORS = new Set(['mintlify[bot]', 'other-bot'])
const NOTHING: RunEvent = {
  name: '',
  action: '',
  pullRequest: undefined,
  push: undefined,
  comment: undefined,
  fault: undefined,
}

const pull = (name: string, author: string): RunEvent => ({
  ...NOTHING,
  name,
  pullRequest: { number: 1, title: '', body: '', author, url: '', base: '', head: '' },
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

const skips = (event: RunEvent, authors = AUTHORS): boolean => checkSkipAuthors(event, authors).skip !== undefined

describe('a pull request', () => {
  test.each(['pull_request', 'pull_request_target', 'pull_request_review'])(
    '(%s) by one of them is skipped',
    (name) => {
      expect(skips(pull(name, 'mintlify[bot]'))).toBe(true)
      expect(skips(pull(name, 'Mintlify[Bot]'))).toBe(true)
      expect(skips(pull(name, 'octocat'))).toBe(false)
      expect(skips(pull(name, 'mintlify'))).toBe(false)
      expect(skips(pull(name, ''))).toBe(false)
      expect(skips(pull(name, 'mintlify[bot]'), new Set())).toBe(false)
    },
  )

  test('that somebody commented on is still theirs', () => {
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
  ])('%#', (event, skip, unlessMerges) => {
    const verdict = checkSkipAuthors(event, AUTHORS)
    expect(verdict.skip !== undefined).toBe(skip)
    if (verdict.skip === undefined) expect(verdict.unlessMerges).toEqual(unlessMerges)
  })
})

test.each(['schedule', 'workflow_dispatch', 'release', ''])('the event %j is by nobody', (name) => {
  expect(skips({ ...NOTHING, name })).toBe(false)
})
