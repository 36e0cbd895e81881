/** Which pull request or issue the comment is on. */

import { describe, expect, test } from '@jest/globals'
import { parseEvent, type RunEvent } from '../../src/event/event.js'
import { findThread } from '../../src/memory/thread.js'

describe('the comment is on [range.number]', () => {
  const event = (fields: object): RunEvent => ({ ...parseEvent('push', undefined), ...fields })
  const PULL = { number: 7, author: '', fromFork: false }
  test.each([
    [
      'the pull request of the event [range.number.either]',
      { pullRequest: PULL },
      undefined,
      false,
      [7, 'pull request'],
    ],
    [
      'that pull request, by its number [range.number.either]',
      { pullRequest: PULL },
      7,
      false,
      [7, 'pull request'],
    ],
    [
      'another one, or an issue [range.number.either]',
      { pullRequest: PULL },
      8,
      false,
      [8, 'issue or pull request'],
    ],
    ['the issue of the event [range.number.either]', { issue: 9 }, undefined, false, [9, 'issue']],
    ['that issue, by its number [range.number.either]', { issue: 9 }, 9, false, [9, 'issue']],
    [
      'the pull request that a push has merged, which is no issue [merge.found]',
      {},
      8,
      true,
      [8, 'pull request'],
    ],
    ['nothing', {}, undefined, false, [undefined, undefined]],
  ] as const)('%s', (_, fields, number, isMerged, expected) => {
    const thread = findThread(event(fields), number, isMerged)
    expect([thread?.number, thread?.kind]).toEqual(expected)
  })
})
