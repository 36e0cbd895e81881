/** A 404 is believed when it is repeated: a gateway says it once, and the job goes on. */

import { describe, expect, test } from '@jest/globals'
import { type Ended, runAgainst } from '../support/action.js'
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
  type ScriptedService,
} from '../support/service.js'
import { until } from '../support/time.js'

const page: Handler = (response) =>
  void response.writeHead(404, { 'content-type': 'text/html' }).end('<html><h1>404 Not Found</h1></html>')
const text: Handler = (response) =>
  void response.writeHead(404, { 'content-type': 'text/plain' }).end('default backend - 404')
const own: Handler = json(404, { error: 'Job not found' })

const STRAYS = [
  ['a page of a gateway', page],
  ['plain text', text],
  ["the service's own error", own],
] as const

/** Status requests get a 404 for this long after the first of them, then the others in turn. */
function visibleAfter(milliseconds: number, ...then: Handler[]): Handler {
  let firstAt: number | undefined
  let visible = 0
  return (response, request) => {
    firstAt ??= request.at
    if (request.at - firstAt < milliseconds) return own(response, request)
    then[Math.min(visible++, then.length - 1)]?.(response, request)
  }
}

const WAIT = { prompt: '', 'job-id': 'job-1' }

/** How many status requests got no job, and the time between the first and the last of them. */
function repeated(service: ScriptedService, from = 0): { count: number; spanMs: number } {
  const polls = service.polls().slice(from)
  return { count: polls.length, spanMs: (polls.at(-1)?.at ?? 0) - (polls[0]?.at ?? 0) }
}

/** Asked again for about 10 s, with at most 4 more requests. */
function expectBelieved(service: ScriptedService, from = 0): void {
  const { count, spanMs } = repeated(service, from)
  expect(count).toBeGreaterThanOrEqual(2)
  expect(count).toBeLessThanOrEqual(5)
  expect(spanMs).toBeGreaterThan(5_000)
}

/** What any error with an accepted job says: which it is, that it may run, and how to wait for it. */
function expectNamed({ commands, summary }: Ended): void {
  const [error = ''] = commands('error')
  for (const read of [error, summary.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))]) {
    expect(read).toMatch(/job-id: job-1/)
    expect(read).toMatch(/may (?:still )?be running|was active when last seen/i)
  }
}

describe('one 404 for a remembered job that is unfinished makes no second job', () => {
  test.concurrent.each(STRAYS)('on the status request: %s', (_, stray) =>
    onPullRequest(
      { posts: [created, active], polls: [stray, active, completed] },
      async ({ start, step, creates, messages }) => {
        await start()
        const { outputs, log } = await step()
        expect(creates()).toHaveLength(1)
        expect(messages()).toHaveLength(1)
        expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1', reused: 'true' })
        expect(log).not.toMatch(/no longer exists/i)
      },
    ),
  )

  test.concurrent.each(STRAYS)('on the message: %s', (_, stray) =>
    onPullRequest(
      { posts: [created, stray, active], polls: [active, active, completed] },
      async ({ start, step, creates }) => {
        await start()
        const { outputs, log } = await step()
        expect(creates()).toHaveLength(1)
        expect(outputs['job-id']).toBe('job-1')
        expect(log).not.toMatch(/no longer exists/i)
      },
    ),
  )

  test.concurrent('that becomes visible late', () =>
    onPullRequest(
      { posts: [created, active], polls: [visibleAfter(6_000, active, completed)] },
      async ({ start, step, creates, messages }) => {
        await start()
        const { outputs } = await step()
        expect(creates()).toHaveLength(1)
        expect(messages()).toHaveLength(1)
        expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1', reused: 'true' })
      },
    ))

  test.concurrent('that a re-run just after a cancel waits for', () =>
    onPullRequest(
      { posts: [created], polls: [visibleAfter(6_000, active, completed)] },
      async ({ step, service }) => {
        const first = await step(
          { 'poll-interval-seconds': '60' },
          {
            meanwhile: async ({ lines, signal }) => {
              await until(() => lines.some((line) => /job-1/.test(line)))
              signal('SIGINT')
            },
          },
        )
        expect(first.outputs).toMatchObject({ outcome: 'cancelled', 'job-id': 'job-1' })
        const { outputs } = await step({}, { env: { GITHUB_RUN_ATTEMPT: '2' } })
        expect(service.posts()).toHaveLength(1)
        expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1', reused: 'true' })
      },
    ))
})

describe('a 404 that is repeated is believed', () => {
  test.concurrent('of a remembered job: a new one is created', () =>
    onPullRequest(
      { posts: [created, json(201, job({ id: 'job-2', status: 'completed', prLink: LINK }))], polls: [own] },
      async ({ start, step, creates, service }) => {
        await start()
        const { outputs } = await step()
        expect(creates()).toHaveLength(2)
        expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-2', reused: 'false' })
        expectBelieved(service)
      },
    ))

  test.concurrent('on the message to a remembered job, if a status request says the same', () =>
    onPullRequest(
      {
        posts: [json(201, opened), own, json(201, job({ id: 'job-2', status: 'completed', prLink: LINK }))],
        polls: [completed, own],
      },
      async ({ start, step, creates, messages, service, world }) => {
        world.github.addRepository('your-org/docs').addPull({ number: 17 })
        await start()
        const { outputs } = await step()
        expect(messages()).toHaveLength(1)
        expect(service.polls().length).toBeGreaterThan(1)
        expect(creates()).toHaveLength(2)
        expect(promptOf(creates()[1] as never)).toContain(LINK)
        expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-2', reused: 'false' })
      },
    ))

  test.concurrent('of a job that was given', async () => {
    const { outputs, exitCode, service, commands } = await runAgainst({ polls: [own] }, WAIT)
    expect(outputs).toMatchObject({
      outcome: 'error',
      'error-code': 'not-found',
      reused: 'false',
      status: '',
    })
    expect(exitCode).toBe(1)
    expectBelieved(service)
    expect(commands('error')[0]).toMatch(/project-id/)
    expect(commands('error')[0]).not.toMatch(/running/)
  })

  test.concurrent('of a job that this step has seen, which is named with how to wait for it', async () => {
    const script = { posts: [active], polls: [active, own] }
    const ended = await runAgainst(script, { prompt: 'Go', 'job-id': 'job-1' })
    expect(ended.outputs).toMatchObject({
      outcome: 'error',
      'error-code': 'not-found',
      'job-id': 'job-1',
      status: 'active',
    })
    expectBelieved(ended.service, 1)
    expectNamed(ended)
  })
})

describe('one 404 does not end a step that waits', () => {
  test.concurrent.each(STRAYS)('for a job that was given: %s', async (_, stray) => {
    const { outputs, service } = await runAgainst({ polls: [stray, completed] }, WAIT)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1', reused: 'true' })
    expect(service.polls()).toHaveLength(2)
  })

  test.concurrent('for a job that was given, and checks once', async () => {
    const { outputs } = await runAgainst({ polls: [page, active] }, { ...WAIT, wait: 'false' })
    expect(outputs).toMatchObject({ outcome: 'started', status: 'active' })
  })

  test.concurrent.each(STRAYS)('for its own job, after it was seen active: %s', async (_, stray) => {
    const script = { posts: [active], polls: [active, stray, completed] }
    const { outputs, service } = await runAgainst(script, { prompt: 'Go', 'job-id': 'job-1' })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1' })
    expect(service.polls()).toHaveLength(3)
  })
})
