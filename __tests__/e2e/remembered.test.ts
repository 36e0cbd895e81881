/**
 * A remembered job that the service does not find, or that refuses the message. A gateway says 404 once, and the job goes
 * on; a second job costs money. unit/run has a row for each status, and unit/poll has the times.
 */

import { describe, expect, test } from '@jest/globals'
import { onPullRequest, promptOf } from '../support/remembered.js'
import {
  active,
  completed,
  created,
  type Handler,
  job,
  json,
  LINK,
  opened,
  type Script,
} from '../support/service.js'
import { until } from '../support/time.js'

const own = json(404, { error: 'Job not found' })
const page: Handler = (response) =>
  response.writeHead(404, { 'content-type': 'text/html' }).end('<html><h1>404 Not Found</h1></html>')
const text: Handler = (response) =>
  response.writeHead(404, { 'content-type': 'text/plain' }).end('default backend - 404')

const REUSED = { outcome: 'pr-opened', 'job-id': 'job-1', reused: 'true' }
const REPLACED = { outcome: 'pr-opened', 'job-id': 'job-2', reused: 'false' }
const another = json(201, job({ id: 'job-2', status: 'completed', prLink: `${LINK}0` }))
const ended = json(201, opened)

const WORDS = 'The session has ended and takes no more messages.'
const refuse = (status: number, headers?: Record<string, string>): Handler =>
  json(status, { error: WORDS }, headers)

describe('an active job that is not found for a moment keeps its work', () => {
  test.each<[string, Script]>([
    ['once, when asked for', { posts: [created, active], polls: [page, active, active, completed] }],
    [
      'three times, when asked for',
      { posts: [created, active], polls: [own, own, own, active, active, completed] },
    ],
    ['once, by the message', { posts: [created, text, active], polls: [active, active, active, completed] }],
  ])('%s', (_, script) =>
    onPullRequest(script, async ({ start, step, creates }) => {
      await start()
      const { outputs, log } = await step()
      expect(creates()).toHaveLength(1)
      expect(outputs).toMatchObject(REUSED)
      expect(log).not.toMatch(/no longer exists/i)
    }),
  )

  test('by a re-run just after a cancel', () =>
    onPullRequest({ posts: [created], polls: [own, own, active, completed] }, async ({ step, service }) => {
      const first = await step(
        { 'poll-interval-seconds': '600' },
        {
          meanwhile: async ({ lines, cancel }) => {
            await until(() => lines.some((line) => /job-1/.test(line)))
            cancel()
          },
        },
      )
      expect(first.outputs).toMatchObject({ outcome: 'cancelled', 'job-id': 'job-1' })
      const { outputs } = await step({}, { env: { GITHUB_RUN_ATTEMPT: '2' } })
      expect(service.posts()).toHaveLength(1)
      expect(outputs).toMatchObject(REUSED)
    }))
})

describe('a job is replaced', () => {
  test('if it is not found, four times in a row', () =>
    onPullRequest({ posts: [created, another], polls: [own] }, async ({ start, step, creates, service }) => {
      await start()
      const { outputs } = await step()
      expect(creates()).toHaveLength(2)
      expect(service.polls()).toHaveLength(4)
      expect(outputs).toMatchObject(REPLACED)
    }))

  test.each<[string, tries: number, says: string, Script]>([
    [
      'is not found by the message, nor when asked for',
      1,
      'no longer exists',
      { posts: [ended, refuse(404), another], polls: [completed, own] },
    ],
    [
      'has ended and refuses the message',
      1,
      WORDS,
      { posts: [ended, refuse(410), another], polls: [completed] },
    ],
    [
      'has ended and is busy three times',
      3,
      WORDS,
      { posts: [ended, refuse(409), refuse(409), refuse(409), another], polls: [completed] },
    ],
  ])('if it %s; the new one continues its pull request', (_, tries, says, script) =>
    onPullRequest(script, async ({ world, step, creates, messages }) => {
      world.github.addRepository('your-org/docs').addPull({ number: 17 })
      expect((await step()).outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1' })
      const { outputs, exitCode, log } = await step()
      expect(messages()).toHaveLength(tries)
      expect(creates()).toHaveLength(2)
      expect(promptOf(creates()[1] as never)).toContain(LINK)
      expect(outputs).toMatchObject({ ...REPLACED, 'pr-link': `${LINK}0` })
      expect(exitCode).toBe(0)
      expect(log).toContain(says)
      const [comment = '', ...others] = world.comments()
      expect(others).toEqual([])
      expect(comment).toContain('job-2')
      expect(comment).not.toMatch(/may exist/)
    }),
  )

  test('and its pull request is not named if it is not known to be open', () =>
    onPullRequest({ posts: [ended, refuse(400), another], polls: [completed] }, async ({ step, creates }) => {
      await step()
      await step()
      expect(creates()).toHaveLength(2)
      expect(promptOf(creates()[1] as never)).not.toContain(LINK)
    }))
})

describe('no second job is created', () => {
  const LATER = { 'retry-after': '86400' }
  test.each<[string, Script, code: string]>([
    ['has ended, after 401', { posts: [ended, refuse(401), another], polls: [completed] }, 'auth'],
    [
      'has ended, after 429',
      { posts: [ended, refuse(429, LATER), another], polls: [completed] },
      'rate-limited',
    ],
    [
      'has ended, after 503',
      { posts: [ended, refuse(503, LATER), another], polls: [completed] },
      'create-unknown',
    ],
    ['is active, after 422', { posts: [created, refuse(422), another], polls: [active] }, 'rejected'],
    ['is active, after 409', { posts: [created, refuse(409, LATER), another], polls: [active] }, 'rejected'],
  ])('for a job that %s', (_, script, code) =>
    onPullRequest(script, async ({ start, step, service }) => {
      await start()
      const { outputs } = await step()
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': code, 'job-id': 'job-1' })
      expect(service.posts()).toHaveLength(2)
    }),
  )
})
