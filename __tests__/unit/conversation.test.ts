/** Which pull request or issue the comment is on. */

import { describe, expect, test } from '@jest/globals'
import { parseEvent, type RunEvent } from '../../src/event/event.js'
import { findConversation } from '../../src/memory/conversation.js'

describe('the comment is on [range.number.either]', () => {
  const event = (fields: object): RunEvent => ({ ...parseEvent('push', undefined), ...fields })
  const PULL = { number: 7, author: '', fromFork: false }
  const ONLY_PULL = 'pull-requests: write'
  const EITHER = 'issues: write or pull-requests: write'
  test.each([
    [
      'the pull request of the event, as an issue',
      { pullRequest: PULL },
      'issue',
      undefined,
      [7, ONLY_PULL],
    ],
    ['that pull request, by its number', { pullRequest: PULL }, 'issue', 7, [7, ONLY_PULL]],
    ['another one, or an issue', { pullRequest: PULL }, 'pull-request', 8, [8, EITHER]],
    ['the issue of the event', { issue: 9 }, 'run', undefined, [9, 'issues: write']],
    ['that issue, by its number', { issue: 9 }, 'pull-request', 9, [9, 'issues: write']],
    ['an issue or a pull request, whatever the scope', {}, 'pull-request', 8, [8, EITHER]],
    ['an issue or a pull request', {}, 'issue', 8, [8, EITHER]],
    ['nothing', {}, 'run', undefined, []],
    ['nothing, as the scope has no issues', { issue: 9 }, 'pull-request', undefined, []],
  ] as const)('%s', (_, fields, scope, number, expected) => {
    const conversation = findConversation(event(fields), scope, number, false)
    expect(
      conversation === undefined ? [] : [conversation.number, conversation.permission],
    ).toEqual(expected)
  })

  test('the pull request that a push has merged, which is no issue', () => {
    expect(findConversation(event({}), 'pull-request', 8, true)).toEqual({
      kind: 'pull request',
      number: 8,
      permission: ONLY_PULL,
    })
  })
})
