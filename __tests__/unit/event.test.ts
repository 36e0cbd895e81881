/** The event's payload: what is read of it, whatever it is. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type RunEnvironment, readEvent } from '../../src/event/event.js'
import { newFolder } from '../support/folder.js'

const folder = newFolder('event')

let files = 0
function read(eventName: string, payload: unknown) {
  const eventPath = join(folder, `${files++}.json`)
  writeFileSync(eventPath, typeof payload === 'string' ? payload : JSON.stringify(payload))
  return readEvent({ eventName, eventPath } as RunEnvironment)
}

const PULL = {
  number: 7,
  title: 'T',
  body: null,
  user: { login: 'octocat' },
  html_url: 'https://github.com/your-org/docs/pull/7',
  base: { ref: 'main' },
  head: { ref: 'change', label: 'your-org:change' },
}

describe('a pull request', () => {
  test('is read from its own events', () => {
    expect(read('pull_request', { action: 'opened', pull_request: PULL })).toMatchObject({
      action: 'opened',
      fault: undefined,
      push: undefined,
      pullRequest: {
        number: 7,
        title: 'T',
        body: '',
        author: 'octocat',
        base: 'main',
        head: 'your-org:change',
      },
    })
  })

  test('is read from a comment on it, and not from one on an issue', () => {
    const issue = { number: 7, user: { login: 'octocat' }, pull_request: { url: 'x' } }
    expect(read('issue_comment', { issue }).pullRequest).toMatchObject({ number: 7, author: 'octocat' })
    expect(
      read('issue_comment', { issue: { ...issue, pull_request: undefined } }).pullRequest,
    ).toBeUndefined()
  })

  test.each([undefined, '7', 0, -1, 1.5, null, 2 ** 60, {}])('with the number %j is none', (number) => {
    expect(read('pull_request', { pull_request: { ...PULL, number } }).pullRequest).toBeUndefined()
  })

  test.each([{}, null, [], 'x', 7])('is not in the payload %j', (payload) => {
    const event = read('pull_request', JSON.stringify(payload))
    expect(event.pullRequest).toBeUndefined()
    expect(event.fault).toBeUndefined()
  })
})

describe('a push', () => {
  test('is read with its commits', () => {
    const commits = [
      { id: 'c1', author: { username: 'octocat' }, message: 'M' },
      { id: 'c2', author: {} },
      null,
    ]
    expect(read('push', { before: 'b', after: 'a', sender: { login: 's' }, commits }).push).toEqual({
      before: 'b',
      after: 'a',
      sender: 's',
      commits: [
        { sha: 'c1', author: 'octocat', message: 'M' },
        { sha: 'c2', author: '', message: '' },
        { sha: '', author: '', message: '' },
      ],
    })
  })

  test('without commits has none', () => {
    expect(read('push', { commits: 'x' }).push).toMatchObject({ before: '', commits: [] })
  })

  test('is in no other event', () => {
    expect(read('release', { before: 'b', after: 'a' }).push).toBeUndefined()
  })
})

test.each([
  ['{', /GITHUB_EVENT_PATH.*is not JSON/],
  ['', /is not JSON/],
])('the payload %j is a fault', (payload, says) => {
  expect(read('push', payload)).toMatchObject({
    name: 'push',
    push: undefined,
    fault: expect.stringMatching(says),
  })
})

test('a payload that is not there is a fault', () => {
  const event = readEvent({ eventName: 'push', eventPath: join(folder, 'none') } as RunEnvironment)
  expect(event.fault).toMatch(/ENOENT/)
})
