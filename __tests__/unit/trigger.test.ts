/** The description of what triggered the run, for the prompt. */

import { expect, test } from '@jest/globals'
import type { RunEnvironment, RunEvent } from '../../src/event/event.js'
import { describeTrigger } from '../../src/prompt/trigger.js'

const RUN = {
  repository: 'your-org/docs',
  ref: 'refs/heads/main',
  sha: 'abc1234def5678',
} as RunEnvironment
const EVENT: RunEvent = {
  name: 'schedule',
  action: '',
  pullRequest: undefined,
  push: undefined,
  comment: undefined,
  problem: undefined,
}
const PULL = {
  number: 7,
  title: 'T',
  body: 'B',
  author: 'octocat',
  url: 'https://github.com/your-org/docs/pull/7',
  base: 'main',
  head: 'your-org:change',
  fromFork: false,
}

const facts = (event: Partial<RunEvent>): string[] =>
  describeTrigger(RUN, { ...EVENT, ...event }).facts.map(({ name, value }) => `${name}: ${value}`)

test('has the event, its action and the repository', () => {
  expect(describeTrigger(RUN, EVENT)).toMatchObject({
    event: 'schedule',
    repository: 'your-org/docs',
    summary: 'Triggered by schedule.',
  })
  expect(describeTrigger(RUN, { ...EVENT, name: 'pull_request', action: 'opened' }).summary).toBe(
    'Triggered by pull_request (opened).',
  )
})

test('has the facts of a pull request, without empty ones', () => {
  expect(facts({ pullRequest: PULL })).toEqual([
    'number: 7',
    'title: T',
    'author: octocat',
    'link: https://github.com/your-org/docs/pull/7',
    'base: main',
    'head: your-org:change',
    'body: B',
  ])
  expect(facts({ pullRequest: { ...PULL, body: '', base: '', head: '' } })).toEqual([
    'number: 7',
    'title: T',
    'author: octocat',
    'link: https://github.com/your-org/docs/pull/7',
  ])
})

test('has the comment on a pull request', () => {
  const comment = { author: 'hubot', body: 'C' }
  expect(facts({ pullRequest: PULL, comment }).slice(-2)).toEqual(['comment by: hubot', 'comment: C'])
})

test('has the sender and the commits of a push', () => {
  const commits = [
    { sha: '1234567890abcdef', author: 'octocat', message: 'One\n\nMore' },
    { sha: 'fedcba0987654321', author: '', message: 'Two' },
  ]
  expect(facts({ name: 'push', push: { before: '', after: '', sender: 'octocat', commits } })).toEqual([
    'ref: refs/heads/main',
    'commit: abc1234def5678',
    'sender: octocat',
    'commits: 1234567 One\n\nMore\nfedcba0 Two',
  ])
})

test('has the commit of any other event', () => {
  expect(facts({})).toEqual(['ref: refs/heads/main', 'commit: abc1234def5678'])
})
