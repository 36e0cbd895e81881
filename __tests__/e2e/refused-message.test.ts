/** A message that is refused by a remembered job: one that has ended is replaced, any other answer is final. */

import { describe, expect, test } from '@jest/globals'
import { runAgainst } from '../support/action.js'
import { onPullRequest, promptOf, type Remembering } from '../support/remembered.js'
import { active, completed, created, type Handler, job, json, LINK, opened } from '../support/service.js'

const WORDS = 'The session has ended and takes no more messages.'
const refuse = (status: number, headers: Record<string, string> = {}): Handler =>
  json(status, { error: WORDS }, headers)

const OTHER_LINK = 'https://github.com/your-org/docs/pull/18'
const another = json(201, job({ id: 'job-2', status: 'completed', prLink: OTHER_LINK }))

/** A first step whose job opened a pull request, which is still open. */
async function openedBefore({ world, step }: Remembering): Promise<void> {
  world.github.addRepository('your-org/docs').addPull({ number: 17 })
  expect((await step()).outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1' })
}

const ended = json(201, opened)

describe('a remembered job that has ended and refuses the message is replaced', () => {
  test.concurrent.each([400, 402, 405, 410, 413, 422, 423, 451])('with %s', (status) =>
    onPullRequest({ posts: [ended, refuse(status), another], polls: [completed] }, async (remembering) => {
      await openedBefore(remembering)
      const { outputs, exitCode, log } = await remembering.step()
      expect(remembering.messages()).toHaveLength(1)
      expect(remembering.creates()).toHaveLength(2)
      expect(promptOf(remembering.creates()[1] as never)).toContain(LINK)
      expect(outputs).toMatchObject({
        outcome: 'pr-opened',
        'job-id': 'job-2',
        reused: 'false',
        'pr-link': OTHER_LINK,
      })
      expect(exitCode).toBe(0)
      expect(log).toContain(WORDS)
      expect(log).toContain(String(status))
    }),
  )

  test.concurrent('with 409, after three tries', () =>
    onPullRequest(
      { posts: [ended, refuse(409), refuse(409), refuse(409), another], polls: [completed] },
      async (remembering) => {
        await openedBefore(remembering)
        const { outputs, log } = await remembering.step()
        expect(remembering.messages()).toHaveLength(3)
        expect(remembering.creates()).toHaveLength(2)
        expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-2', reused: 'false' })
        expect(log).toContain(WORDS)
      },
    ))

  test.concurrent('and the comment has the new job, and no word of one that may exist', () =>
    onPullRequest({ posts: [ended, refuse(400), another], polls: [completed] }, async (remembering) => {
      await openedBefore(remembering)
      await remembering.step()
      const comments = remembering.world.comments()
      expect(comments).toHaveLength(1)
      expect(comments[0]).toContain('job-2')
      expect(comments[0]).not.toMatch(/may exist/)
    }))

  test.concurrent('without naming a pull request that is not known to be open', () =>
    onPullRequest({ posts: [ended, refuse(400), another], polls: [completed] }, async (remembering) => {
      expect((await remembering.step()).outputs.outcome).toBe('pr-opened')
      await remembering.step()
      expect(remembering.creates()).toHaveLength(2)
      expect(promptOf(remembering.creates()[1] as never)).not.toContain(LINK)
    }))
})

describe('no second job is created', () => {
  const LATER = { 'retry-after': '86400' }
  test.concurrent.each<[number, Record<string, string>, string]>([
    [401, {}, 'auth'],
    [403, {}, 'auth'],
    [408, {}, 'rejected'],
    [425, {}, 'rejected'],
    [429, LATER, 'rate-limited'],
    [500, {}, 'create-unknown'],
    [503, LATER, 'create-unknown'],
  ])('for a job that has ended, after %s', (status, headers, code) =>
    onPullRequest(
      { posts: [ended, refuse(status, headers), another], polls: [completed] },
      async (remembering) => {
        await openedBefore(remembering)
        const { outputs } = await remembering.step()
        expect(outputs).toMatchObject({ outcome: 'error', 'error-code': code, 'job-id': 'job-1' })
        expect(remembering.service.posts()).toHaveLength(2)
      },
    ),
  )

  test.concurrent.each<[number, Record<string, string>]>([
    [400, {}],
    [409, LATER],
    [422, {}],
  ])('for a job that is active, after %s', (status, headers) =>
    onPullRequest(
      { posts: [created, refuse(status, headers), another], polls: [active] },
      async ({ start, step, service }) => {
        await start()
        const { outputs } = await step()
        expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'rejected', 'job-id': 'job-1' })
        expect(service.posts()).toHaveLength(2)
      },
    ),
  )

  test.concurrent.each([400, 410, 422])('for a job that was given, after %s', async (status) => {
    const script = { posts: [refuse(status), another], polls: [completed] }
    const { outputs, service } = await runAgainst(script, { prompt: 'Go', 'job-id': 'job-1' })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'rejected', 'job-id': 'job-1' })
    expect(service.posts()).toHaveLength(1)
  })
})
