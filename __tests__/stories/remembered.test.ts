/**
 * A remembered job that the service does not find, or that refuses the message. A gateway says 404
 * once, and the job goes on; a second job costs money. unit/run has a row for each status,
 * unit/decide one for each memory, and unit/poll has the times.
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
  reset,
  type Script,
} from '../support/service.js'

const missing = json(404, { error: 'Job not found' })
const gone = json(410, { error: 'The job has ended and takes no more messages.' })

const REUSED = { outcome: 'pr-opened', 'job-id': 'job-1', sent: 'message' }
const REPLACED = { outcome: 'pr-opened', 'job-id': 'job-2', sent: 'job' }
const another = json(201, job({ id: 'job-2', status: 'completed', prLink: `${LINK}0` }))
const ended = json(201, opened)

describe('an active job that is not found for a moment keeps its work [memory.run.continues]', () => {
  const polls = [missing, missing, missing, active, active, completed]
  test.each<[string, Script]>([
    ['three times, when asked for', { posts: [created, active], polls }],
    [
      'once, by the message',
      { posts: [created, missing, active], polls: [active, ...polls.slice(3)] },
    ],
  ])('%s', (_, script) =>
    onPullRequest(script, async ({ start, step, creates }) => {
      await start()
      const { outputs, log } = await step()
      expect(creates()).toHaveLength(1)
      expect(outputs).toMatchObject(REUSED)
      expect(log).not.toMatch(/no longer exists/i)
    }),
  )
})

const ENDED = 'has ended and takes no more messages'

test.each<[string, refusal: Handler, continues: boolean, says: string]>([
  [ENDED, gone, true, ENDED],
  [
    'is not found by the message, nor when asked for [send.message.gone]',
    missing,
    true,
    'no longer exists',
  ],
  [
    'has ended, and whose pull request is not known to be open [memory.run.open-pull]',
    gone,
    false,
    ENDED,
  ],
  [
    'is not found, whatever the shape of its error',
    json(404, { error: { code: 'not_found', message: 'Job not found' } }),
    true,
    'no longer exists',
  ],
])(
  'a job that %s is replaced, in the same comment [send.message.ended] [memory.rerun.unknown]',
  (_, refusal, continues, says) =>
    onPullRequest(
      {
        posts: [ended, refusal, another],
        polls: [completed, refusal === gone ? missing : refusal],
      },
      async ({ world, step, creates, messages }) => {
        if (continues) world.github.addRepository('your-org/docs').addPull({ number: 17 })
        await step()
        const { outputs, exitCode, log } = await step()
        expect([creates().length, messages().length, exitCode]).toEqual([2, 1, 0])
        expect(creates().map((create) => promptOf(create).includes(LINK))).toEqual([
          false,
          continues,
        ])
        expect(outputs).toMatchObject({ ...REPLACED, 'pr-link': `${LINK}0` })
        expect(log).toContain(says)
        expect(world.comments()).toEqual([expect.stringContaining('job-2')])
        expect(world.comments()[0]).not.toContain('may exist')
      },
    ),
)

/** Of a gateway whose service is replaced just then, for example. */
const page =
  (status: number): Handler =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'text/html' })
      .end('<title>This deployment cannot be found</title>')

/** A gateway's own answer to a route that it has lost for a moment. */
const ROUTE = { message: 'no Route matched with those values' }

const signIn: Handler = (response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Sign in</title>')

test.each<[string, Script]>([
  ['is not found, when asked for', { posts: [ended], polls: [page(404)] }],
  ['is not found, by the message', { posts: [ended, page(404)], polls: [completed] }],
  ['has ended, by the message', { posts: [ended, page(410)], polls: [completed] }],
  ['is not found, by its JSON', { posts: [ended], polls: [json(404, ROUTE)] }],
])(
  'a job of which only a gateway says that it %s is not replaced [send.refused.foreign]',
  (_, script) =>
    onPullRequest(script, async ({ step, creates }) => {
      await step()
      const { outputs, commands } = await step()
      expect([outputs['error-code'], creates().length]).toEqual(['rejected', 1])
      expect(commands('error')[0]).toMatch(/This deployment cannot be found|no Route matched/)
    }),
)

test('a re-run that can not ask for the job starts none in its place, and says how to wait for it [memory.run.continues] [report.true] [output.timed-out]', () =>
  onPullRequest(
    { posts: [created], polls: [active, json(503, { error: 'maintenance' })] },
    async ({ world, step, creates }) => {
      const attempt = (nth: string) =>
        step({ 'timeout-minutes': '1' }, { env: { GITHUB_RUN_ATTEMPT: nth } })
      expect((await attempt('1')).outputs.outcome).toBe('timed-out')
      expect(await attempt('2')).toMatchObject({
        outputs: { 'error-code': 'network' },
        log: expect.stringMatching(
          /Timed out while checking the earlier docs job\..* Re-run later, or raise timeout-minutes\./,
        ),
      })
      expect(creates()).toHaveLength(1)
      expect(world.comments()[0]).toContain(
        'Docs job `job-1` may still have been running. To wait for the docs job, run a step with `job-id: job-1`',
      )
    },
  ))

test('nobody is told that a re-run finds the job if the key was refused [report.advice.rerun]', () =>
  onPullRequest(
    { posts: [created], polls: [active, json(401, { error: 'API key expired' })] },
    async ({ world, step }) => {
      expect((await step()).outputs['error-code']).toBe('auth')
      expect(world.comments()[0]).toContain('run a step with `job-id: job-1`')
    },
  ))

test('a job in whose place none was started stays in the outputs [output.job-id]', () =>
  onPullRequest(
    { posts: [ended, json(401, { error: 'No' })], polls: [completed] },
    async ({ world, step }) => {
      const docs = world.github.addRepository('your-org/docs').addPull({ number: 17 })
      await step()
      Object.assign(docs, { state: 'closed', merged: true })
      const { outputs } = await step({ prompt: 'More.' })
      expect(outputs).toMatchObject({ 'job-id': 'job-1', 'error-code': 'auth', sent: 'nothing' })
    },
  ))

test('no other job is created once the comment was refused for good [send.placeholder.first]', () =>
  onPullRequest({ posts: [ended, gone], polls: [completed] }, async ({ world, step, creates }) => {
    await step()
    world.github.faults.push({
      method: 'PATCH',
      answer: { status: 403, body: { message: 'Locked' } },
    })
    const { outputs } = await step()
    expect([outputs['error-code'], creates().length]).toEqual(['github', 1])
  }))

test('a message that a web page answers may be lost: the next push sends its changes again [send.no-job]', () =>
  onPullRequest(
    { posts: [ended, signIn, ended], polls: [completed] },
    async ({ step, messages }) => {
      const inputs = { context: 'event', wait: 'false' }
      await step(inputs)
      const news = { ...inputs, prompt: 'More.' }
      expect((await step(news)).outputs['error-code']).toBe('create-unknown')
      expect((await step(news)).outputs.sent).toBe('message')
      expect(messages()).toHaveLength(2)
    },
  ))

test('a message that may be lost is told to each re-run, until the end of the job is [memory.rerun.unknown]', () =>
  onPullRequest(
    { posts: [created, reset, active], polls: [active, active, active, completed] },
    async ({ world, start, step, messages }) => {
      await start()
      const attempt = async (nth: number, wait: string) => {
        const env = { GITHUB_RUN_ID: '201', GITHUB_RUN_ATTEMPT: String(nth) }
        const { outputs, log } = await step({ wait }, { env })
        return [outputs.outcome, log.includes('The result of the last message is unknown')]
      }
      // That it is sent is stored; as if killed then, its result is not.
      const { faults } = world.github
      faults.push({ method: 'PATCH', answer: { delayMs: 1 } })
      faults.push({ method: 'PATCH', answer: { status: 403, body: {} }, times: 9 })
      expect(await attempt(1, 'true')).toEqual(['error', false])
      faults.length = 0
      expect(await attempt(2, 'false')).toEqual(['started', true])
      expect(await attempt(3, 'true')).toEqual(['pr-opened', true])
      expect(messages()).toHaveLength(1)
      expect(await attempt(4, 'false')).toEqual(['started', false])
      expect(messages()).toHaveLength(2)
    },
  ))
