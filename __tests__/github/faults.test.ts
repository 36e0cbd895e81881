/**
 * GitHub fails: a request that decides is retried, then ends the step; one that only informs is a
 * warning.
 */

import { describe, expect, test } from '@jest/globals'
import { BAD_GATEWAY } from '../support/github.js'
import { posixDescribe } from '../support/platform.js'
import {
  deadlineAfter,
  expectJob,
  inRealWorld,
  slowTest,
  worldTest,
} from '../support/pull-request.js'
import { soonAfter, until } from '../support/time.js'

const SCOPE = { 'job-scope': 'pull-request' }
const COMMENTS = /\/issues\/\d+\/comments/
const ALWAYS = { times: Number.POSITIVE_INFINITY }
/** For what fails all the time. */
const DEADLINE_MS = 1_000
/** After a cancel the comment has up to 3 s, on top of the second for outputs and summary. */
const COMMENT_MS = 4_000

describe('a temporary error of a request that decides [github.decides.retried]', () => {
  worldTest('is retried', async (world) => {
    for (const method of ['GET', 'POST', 'PATCH'])
      world.github.faults.push({ method, path: /\/comments/, answer: BAD_GATEWAY })
    expectJob(await world.step(SCOPE))
    expect(world.posts()).toHaveLength(1)
    expect(world.comments()).toHaveLength(1)
  })

  worldTest(
    'an unanswered placeholder is written once, and in no other comment [memory.one-comment.no-twin]',
    async (world) => {
      world.repository.addComment(world.number, { author: 'octocat', body: 'Nice!' })
      world.github.faults.push({
        method: 'POST',
        path: COMMENTS,
        answer: 'reset',
        takesEffect: true,
      })
      // The comments are read before it, and to find what was written: the first answer to that
      // counts as none.
      world.github.faults.push({ method: 'GET', path: COMMENTS, answer: { delayMs: 1 } })
      world.github.faults.push({ method: 'GET', path: COMMENTS, answer: BAD_GATEWAY })
      const { outputs, log } = await world.step(SCOPE)
      expect(outputs.outcome).toBe('pr-opened')
      expect(log).not.toContain("can't be verified")
      expect(world.comments()).toEqual(['Nice!', expect.stringContaining('✅')])
      expect(world.github.writes().filter(({ method }) => method === 'POST')).toHaveLength(1)
    },
  )
})

worldTest(
  'a placeholder whose edit the answer does not show stops the create [send.placeholder.first] [github.shape]',
  async (world) => {
    world.github.faults.push({ ...ALWAYS, method: 'PATCH', answer: { status: 200, body: {} } })
    const { outputs } = await world.step({ ...SCOPE, ...deadlineAfter(DEADLINE_MS) })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    expect(world.emulator.requests).toEqual([])
  },
)

worldTest(
  'a comment whose text is of another kind is none of the step [memory.marker.signed] [github.shape]',
  async (world) => {
    const answer = { status: 200, body: [{ id: 1, body: 2 }] }
    world.github.faults.push({ path: /issues\/1\/comments/, method: 'GET', answer })
    const { outputs } = await world.step(SCOPE)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
  },
)

worldTest.each([
  ['is gone', { status: 410, body: { message: 'This issue was deleted' } }],
  ['may not be shown', { status: 451, body: { message: 'Unavailable' } }],
  ['is on another server', { status: 301, headers: { location: 'http://other.test/' }, body: {} }],
])(
  'context that GitHub refuses for good, because it %s, ends the step: nothing is sent [github.context.refused]',
  async (world, _, answer) => {
    world.github.faults.push({ ...ALWAYS, path: /files/, answer })
    const { outputs } = await world.step({ context: 'diff' })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    expect(world.emulator.requests).toEqual([])
  },
)

slowTest(
  'a cancel of a run that only comments is reported in a comment, too [memory.silent]',
  async (world) => {
    const meanwhile = async ({ cancel }: { cancel: () => void }) => {
      await until(() => world.emulator.requests.length > 0)
      cancel()
    }
    const { outputs, commands } = await world.step({ comment: 'true' }, { meanwhile })
    expect(outputs.outcome).toBe('cancelled')
    expect(commands('warning')).toEqual([])
    expect(world.comments()).toEqual([expect.stringContaining('🛑')])
  },
)

worldTest(
  'an event whose file is missing is an error if it decides, else not [github.event]',
  async (world) => {
    const env = { GITHUB_EVENT_PATH: '/nowhere/event.json' }
    const scoped = await world.step(SCOPE, { env })
    expect(scoped.outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    expect(scoped.commands('error')[0]).toMatch(/GITHUB_EVENT_PATH.*ENOENT/)
    const plain = await world.step({ 'allow-users': '*' }, { env })
    expectJob(plain)
  },
)

posixDescribe('a process ends [cancel.first]', () => {
  test.concurrent.each(['GET', 'POST'])(
    'on a signal while GitHub does not respond to %s, and nothing is sent',
    (method) =>
      inRealWorld({}, async (world) => {
        world.github.faults.push({ ...ALWAYS, method, path: COMMENTS, answer: 'silence' })
        const { outputs, exitCode, sinceSignalMs } = await world.runBundle(SCOPE, {
          meanwhile: async ({ signal }) => {
            await until(() => world.github.requests.some((request) => request.method === method))
            signal('SIGINT')
          },
        })
        expect(sinceSignalMs).toBeLessThan(soonAfter(COMMENT_MS))
        expect(outputs).toMatchObject({ outcome: 'cancelled', 'error-code': '', 'job-id': '' })
        expect(exitCode).toBe(1)
        expect(world.emulator.requests).toEqual([])
      }),
  )

  test.concurrent('in time after a signal if GitHub does not respond to the edits [cancel.first]', () =>
    inRealWorld({ emulator: { speed: 1 } }, async (world) => {
      const { outputs, sinceSignalMs } = await world.runBundle(SCOPE, {
        meanwhile: async ({ signal }) => {
          await world.answered(5)
          world.github.faults.push({ ...ALWAYS, method: 'PATCH', answer: 'silence' })
          signal('SIGINT')
        },
      })
      expect(sinceSignalMs).toBeLessThan(soonAfter(COMMENT_MS))
      expect(outputs).toMatchObject({ outcome: 'cancelled', status: 'active' })
      expect(world.comments()).toEqual([expect.stringContaining('Waiting for the docs job')])
    }))
})
