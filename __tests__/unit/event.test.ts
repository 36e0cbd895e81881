/** What is read from the event's payload, whatever it contains, and why a run gets no secrets. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  explainMissingSecrets,
  isCodeOpen,
  parseEvent,
  pushedCommits,
  type RunEnvironment,
  readEvent,
} from '../../src/event/event.js'
import { getArray, getPath, getSha, getString } from '../../src/event/payload.js'
import { newFolder } from '../support/folder.js'

const folder = newFolder('event')

const SHA = 'a'.repeat(40)

const NOTHING = {
  action: '',
  sender: '',
  pullRequest: undefined,
  issue: undefined,
  authors: [],
  problem: undefined,
}

describe('the file [github.event]', () => {
  const read = (content: string | undefined) => {
    const eventPath = content === undefined ? folder : join(folder, 'event.json')
    if (content !== undefined) writeFileSync(eventPath, content)
    return { eventPath, event: readEvent({ eventName: 'push', eventPath } as RunEnvironment) }
  }

  test('is read as JSON', () => {
    const payload = { action: 'opened', sender: { login: 'größe' } }
    const { event } = read(JSON.stringify(payload))
    expect(event).toEqual({ ...NOTHING, name: 'push', action: 'opened', sender: 'größe', payload })
  })

  test.each([
    ['{', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    [undefined, 'EISDIR'],
  ])('with the content %j is a problem [github.event] [merge.unreadable]', (content, reason) => {
    const { event, eventPath } = read(content)
    const problem = `the event payload (GITHUB_EVENT_PATH, ${JSON.stringify(eventPath)}) can't be read: ${reason}`
    expect(event).toEqual({ ...NOTHING, name: 'push', problem })
  })
})

test.each([null, 7, { action: 1, sender: 'x', issue: null, pull_request: [], comment: null }])(
  'the payload %j says nothing [github.event]',
  (payload) => {
    const event = parseEvent('pull_request', payload)
    expect(event).toEqual({ ...NOTHING, name: 'pull_request', payload })
    expect(pushedCommits(parseEvent('push', payload))).toEqual([])
  },
)

describe('values of a payload [github.event]', () => {
  test('have a path that the compiler checks, if the type is known', () => {
    type Run = { id: number; head?: { repo: { name: string } | null }; jobs: { name: string }[] }
    const run: Run = { id: 7, jobs: [{ name: 'docs' }] }
    expect(getPath(run, 'id')).toBe(7)
    expect(getString(run, 'head.repo.name')).toBe('')
    expect(getArray(run, 'jobs').map((job) => getString(job, 'name'))).toEqual(['docs'])
    // @ts-expect-error
    expect(getString(run, 'head.repo.nam')).toBe('')
    // @ts-expect-error
    expect(getArray(run, 'jobs').map((job) => getString(job, 'nam'))).toEqual([''])
  })

  test('are only what the payload itself has', () => {
    expect(getPath({ a: { b: 0 } }, 'a.b')).toBe(0)
    const payload: unknown = { a: { b: 'x' } }
    for (const path of ['a.c', 'a.b.c', 'toString', 'a.constructor.name'])
      expect(getPath(payload, path)).toBeUndefined()
    expect(getPath({ a: null }, 'a')).toBeUndefined()
    expect(getPath({ a: { b: null } }, 'a.b')).toBeUndefined()
  })

  test('are of the type that is asked for', () => {
    expect(getString({ a: 'x' }, 'a')).toBe('x')
    expect(getString({ a: 7 }, 'a')).toBe('')
    expect(getArray({ a: [1] }, 'a')).toEqual([1])
    expect(getArray({ a: 'x' }, 'a')).toEqual([])
  })

  test('are commits if they have the form of their names', () => {
    const read = (text: string) => getSha({ sha: text }, 'sha')
    const hex = '0123456789abcdef'
    for (const text of [`${hex}${hex}01234567`, hex.repeat(4)]) expect(read(text)).toBe(text)
    const others = [
      'main',
      `${SHA}\n# Heading`,
      `x${SHA}`,
      SHA.slice(1),
      `${SHA}a`,
      `${'a'.repeat(64)}a`,
    ]
    expect(others.map(read).join('')).toBe('')
  })
})

describe('a pull request or an issue [github.event]', () => {
  const read = (payload: object) => {
    const { pullRequest, issue, authors } = parseEvent('a', payload)
    return { pullRequest, issue, authors }
  }
  const user = { login: 'octocat' }
  const pull_request = { number: 7, user }
  const pullRequest = { number: 7, author: 'octocat', fromFork: undefined }
  const review = { user: { login: 'hubot' } }

  const onPull = { issue: { ...pull_request, pull_request: {} } }
  const authors = ['hubot']
  test.each<[string, object, object]>([
    [
      'a comment on a pull request [access.events.others]',
      { ...onPull, comment: review },
      { pullRequest, authors },
    ],
    [
      'a comment on an issue [access.events.others]',
      { issue: { number: 1 }, comment: review },
      { issue: 1, authors },
    ],
    ['a review [access.events.others]', { pull_request, review }, { pullRequest, authors }],
    ['no review, which some servers send as null', { pull_request, review: null }, { pullRequest }],
    [
      'an answer [access.events.others]',
      { discussion: {}, answer: review, comment: { user } },
      { authors: ['octocat', 'hubot'] },
    ],
    [
      'an account that is gone [access.events.others]',
      { pull_request, review: { user: null } },
      { pullRequest, authors: [''] },
    ],
  ])('is read, with its author, from %s [github.event]', (_, payload, expected) => {
    expect(read(payload)).toEqual({ authors: [], ...expected })
  })

  test.each(['7', 0, 1.5, null, 2 ** 60])('is ignored with the number %j', (number) => {
    expect(read({ pull_request: { ...pull_request, number } })).toEqual({ authors: [] })
    expect(read({ issue: { number } })).toEqual({ authors: [] })
  })

  test.each([
    ['is from this repository', { full_name: 'your-org/docs' }, false],
    ['is from a fork', { full_name: 'someone/docs' }, true],
    ['is from a fork that was deleted', null, true],
    ['is from a fork if no repository has a name', {}, true, {}],
  ])('%s [input.key.empty]', (_, repo, fromFork, base = { full_name: 'your-org/docs' }) => {
    const pull = { ...pull_request, head: { repo }, base: { repo: base } }
    expect(read({ pull_request: pull })).toMatchObject({ pullRequest: { fromFork } })
  })
})

test('the commits are those of a push, each with what it says [github.event] [skip.authors.push] [context.facts.commits]', () => {
  const commits = [
    { id: SHA, author: { username: 'octocat', name: 'Mona' }, message: 'M' },
    { id: 'no SHA', author: {} },
    null,
  ]
  const nothing = { sha: '', author: '', authorName: '', message: '' }
  expect(pushedCommits(parseEvent('push', { commits }))).toEqual([
    { sha: SHA, author: 'octocat', authorName: 'Mona', message: 'M' },
    nothing,
    nothing,
  ])
  expect(pushedCommits(parseEvent('release', { commits }))).toEqual([])
})

test.each<[string, object, boolean]>([
  ['a comment on an open one', { issue: { number: 7, state: 'open', pull_request: {} } }, true],
  ['one that was merged', { pull_request: { number: 7, state: 'closed' } }, false],
  ['a comment on that', { issue: { number: 7, state: 'closed', pull_request: {} } }, false],
  ['an issue', { issue: { number: 7, state: 'open' } }, false],
])(
  'whether a run on %s has code that waits to be merged is read [report.review]',
  (_, payload, isOpen) => {
    expect(isCodeOpen(parseEvent('a', payload))).toBe(isOpen)
  },
)

describe('missing secrets [input.key.empty]', () => {
  const ofFork = (event: string): string =>
    'This pull request comes from a fork, and such runs get no secrets. ' +
    `Skip the step for forks: \`if: github.event_name != '${event}' || github.event.pull_request.head.repo.full_name == github.repository\`. To get docs for one, let a maintainer comment \`/docs\` (the recipe command.yml), or send it after the merge (on-merge.yml).`
  const DEPENDABOT =
    'This run was triggered by Dependabot, which gets Dependabot secrets but no Actions secrets. ' +
    "Add the key to the repository's Dependabot secrets too, or skip the step: " +
    "`if: github.actor != 'dependabot[bot]'`."

  test.each([
    ['pull_request', true, 'octocat', ofFork('pull_request')],
    ['pull_request_review', true, 'octocat', ofFork('pull_request_review')],
    ['pull_request_review_comment', true, 'octocat', ofFork('pull_request_review_comment')],
    ['pull_request', true, 'dependabot[bot]', DEPENDABOT],
    ['workflow_dispatch', undefined, 'dependabot[bot]', DEPENDABOT],
    ['pull_request', false, 'octocat', undefined],
    ['pull_request', undefined, 'octocat', undefined],
    ['pull_request_target', true, 'octocat', undefined],
    ['pull_request_reviewer', true, 'octocat', undefined],
    ['future_pull_request', true, 'octocat', undefined],
  ])('of a %s (from a fork: %j) by %s are explained', (name, fromFork, actor, text) => {
    const pullRequest =
      fromFork === undefined ? undefined : { number: 7, author: 'octocat', fromFork }
    expect(explainMissingSecrets({ ...parseEvent(name, {}), pullRequest }, actor)).toBe(text)
  })
})
