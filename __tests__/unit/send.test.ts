// Sending a create request or a message: how often, when, and what is known if it ends without a response.
import { describe, expect, test } from '@jest/globals'
import type { SubmitRequest } from '../../src/agent/problems.js'
import { send } from '../../src/run/send.js'
import {
  callTimes,
  cancelThen,
  createScriptedRun,
  delayed,
  errorResponse,
  forever,
  hangs,
  jobResult,
  MINUTE,
  noJob,
  noResponse,
  notSent,
  type ScriptedResult,
  settle,
} from './scripted-run.js'

const CREATE: SubmitRequest = { kind: 'create' }
const MESSAGE: SubmitRequest = { kind: 'message', jobId: 'job-1' }

async function submit(
  request: SubmitRequest,
  script: Iterable<ScriptedResult>,
  options: Parameters<typeof createScriptedRun>[1] = {},
) {
  const run = createScriptedRun(script, options)
  const { service, ports, clock } = run
  const result = await settle(send(request, 'Do it', service, ports))
  return { ...run, result, endedAt: clock.now() }
}

test.each([
  [CREATE, { kind: 'create', at: 0, prompt: 'Do it' }],
  [MESSAGE, { kind: 'message', at: 0, jobId: 'job-1', prompt: 'Do it' }],
])('%j that is accepted is sent once', async (request, call) => {
  const { calls, result } = await submit(request, [jobResult('active')])
  expect(calls).toEqual([call])
  expect(result.value).toMatchObject({ id: 'job-1', status: 'active' })
})

describe('with the same result every time', () => {
  const ONCE = 1
  const MANY = 2
  test.each([
    ['a broken response', noResponse, ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 500', errorResponse(500), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 502', errorResponse(502), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 503', errorResponse(503), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 503 with Retry-After', errorResponse(503, '1'), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 400', errorResponse(400), ONCE, 'rejected', ONCE, 'rejected'],
    ['a 401', errorResponse(401), ONCE, 'auth', ONCE, 'auth'],
    ['a 403', errorResponse(403), ONCE, 'auth', ONCE, 'auth'],
    ['a 404', errorResponse(404), ONCE, 'not-found', ONCE, 'not-found'],
    ['a 408', errorResponse(408, '1'), ONCE, 'rejected', ONCE, 'rejected'],
    ['a 409', errorResponse(409), ONCE, 'rejected', MANY, 'rejected'],
    ['a 429', errorResponse(429), MANY, 'rate-limited', MANY, 'rate-limited'],
    ['a 307', errorResponse(307), ONCE, 'contract', ONCE, 'contract'],
    ['no job', noJob, ONCE, 'contract', ONCE, undefined],
    ['no connection', notSent, MANY, 'network', MANY, 'network'],
    ['a hanging request', hangs(true), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a hanging connection', hangs(false), ONCE, 'network', ONCE, 'network'],
  ])('%s', async (_, scripted, creates, createCode, messages, messageCode) => {
    for (const [request, attempts, code] of [
      [CREATE, creates, createCode],
      [MESSAGE, messages, messageCode],
    ] as const) {
      const { calls, result } = await submit(request, forever(scripted))
      expect(result).toEqual(code === undefined ? { value: undefined } : expect.objectContaining({ code }))
      expect(Math.min(calls.length, MANY)).toBe(attempts)
    }
  })
})

describe("a service that can't be reached", () => {
  test.each([
    [0, [0, 500, 1500, 3500, 7500, 12_500, 17_500]],
    [1, [0, 1000, 3000, 7000, 15_000, 25_000, 35_000]],
  ])('is retried with exponential backoff (random %d)', async (random, first) => {
    const { calls } = await submit(CREATE, forever(notSent), { random })
    expect(callTimes({ calls }).slice(0, 7)).toEqual(first)
  })

  test.each([0, 1])('is given up within 2 minutes (random %d)', async (random) => {
    const { calls, result, endedAt } = await submit(CREATE, forever(notSent), { random })
    expect(result).toMatchObject({ code: 'network', message: expect.stringContaining('Nothing was sent') })
    expect(endedAt).toBeLessThan(120_000)
    expect(calls.at(-1)?.at).toBeGreaterThan(105_000)
  })

  test('is given up at an earlier deadline', async () => {
    const { result, endedAt } = await submit(CREATE, forever(notSent), { timeoutMs: MINUTE })
    expect(result).toMatchObject({ code: 'network' })
    expect(endedAt).toBeLessThanOrEqual(MINUTE)
  })

  test('is given up after 2 minutes, even if each attempt takes long', async () => {
    const { result, endedAt } = await submit(CREATE, forever(delayed(10_000, notSent)))
    expect(result).toMatchObject({ code: 'network' })
    expect(endedAt).toBeLessThan(130_000)
  })

  test('is retried until the deadline if it responded once', async () => {
    const { result, calls } = await submit(CREATE, [errorResponse(429, '1'), ...Array(1000).fill(notSent)], {
      timeoutMs: 10 * MINUTE,
    })
    expect(result).toMatchObject({ code: 'network' })
    expect(calls.at(-1)?.at).toBeGreaterThan(9 * MINUTE)
  })

  test('gets the request as soon as it can be reached', async () => {
    const { calls, result } = await submit(CREATE, [notSent, notSent, jobResult('active')])
    expect(callTimes({ calls })).toEqual([0, 500, 1500])
    expect(result.value).toMatchObject({ id: 'job-1' })
  })
})

describe('a service that asks for a wait', () => {
  test.each([
    ['seconds', '90', 0, 90_000],
    ['seconds, with jitter on top', '90', 1, 112_500],
    ['a date', 'Sat, 01 Mar 2025 12:01:00 GMT', 0, 60_000],
    ['0 seconds', '0', 0, 1000],
    ['a date that has passed', 'Sat, 01 Mar 2025 11:00:00 GMT', 0, 1000],
    ['nothing valid', 'soon', 0, 500],
  ])('of %s is retried then', async (_, header, random, retriedAt) => {
    for (const request of [CREATE, MESSAGE]) {
      const { calls } = await submit(request, [errorResponse(429, header), jobResult('active')], { random })
      expect(callTimes({ calls })).toEqual([0, retriedAt])
    }
  })

  test.each([
    ['seconds', '1800'],
    ['a date', 'Sat, 01 Mar 2025 12:30:00 GMT'],
    ['a number of 400 digits', '9'.repeat(400)],
  ])('past the deadline, in %s, ends the step immediately', async (_, header) => {
    const { calls, result, endedAt } = await submit(CREATE, [errorResponse(429, header)])
    expect(callTimes({ calls })).toEqual([0])
    expect(endedAt).toBe(0)
    expect(result).toMatchObject({
      code: 'rate-limited',
      message: expect.stringContaining('more than the step has left'),
    })
  })

  test('until just before the deadline is retried, without the jitter that would pass it', async () => {
    const { calls } = await submit(CREATE, [errorResponse(429, '1799'), jobResult('active')], { random: 1 })
    expect(callTimes({ calls })).toEqual([0, 1_799_000])
  })

  test('for a busy job is retried until it accepts the message', async () => {
    const { calls, result } = await submit(MESSAGE, [
      errorResponse(409),
      errorResponse(409, '20'),
      jobResult('active'),
    ])
    expect(callTimes({ calls })).toEqual([0, 500, 20_500])
    expect(result.value).toMatchObject({ id: 'job-1' })
  })

  test('never makes a step pass its deadline, nor a delay its cap', async () => {
    for (const random of [0, 0.5, 1]) {
      const { calls, endedAt } = await submit(CREATE, forever(errorResponse(429)), { random })
      expect(endedAt).toBeLessThanOrEqual(30 * MINUTE)
      const gaps = callTimes({ calls }).map((at, index, all) => at - (all[index - 1] ?? at))
      expect(Math.max(...gaps)).toBeLessThanOrEqual(MINUTE)
      expect(calls.at(-1)?.at).toBeGreaterThanOrEqual(29 * MINUTE)
    }
  })
})

describe('at the deadline', () => {
  test.each([
    ['the result of a request that was sent is unknown', [hangs(true)], 'create-unknown'],
    ['a request that was not sent is a network error', [hangs(false)], 'network'],
    [
      'the last error is reported if the retry was not sent: 429',
      [errorResponse(429, '1'), hangs(false)],
      'rate-limited',
    ],
    ['but not if the retry was sent', [errorResponse(429, '1'), hangs(true)], 'create-unknown'],
  ])('%s', async (_, script, code) => {
    const { result, endedAt } = await submit(CREATE, script, { timeoutMs: MINUTE })
    expect(result).toMatchObject({ code })
    expect(endedAt).toBe(MINUTE)
  })

  test('the last error is reported if the retry was not sent: 409', async () => {
    const { result } = await submit(MESSAGE, [errorResponse(409, '1'), hangs(false)], { timeoutMs: MINUTE })
    expect(result).toMatchObject({ code: 'rejected' })
  })
})

describe('a cancel', () => {
  test.each([
    ['while a request that was sent is in flight', [hangs(true)], 'create-unknown'],
    ['while connecting', [hangs(false)], undefined],
    ['before the response breaks off', [cancelThen(noResponse)], 'create-unknown'],
    ['before a 503', [cancelThen(errorResponse(503))], 'create-unknown'],
    ['before a 401', [cancelThen(errorResponse(401))], undefined],
    ['before a 429', [cancelThen(errorResponse(429))], undefined],
    ['before the connection fails', [cancelThen(notSent)], undefined],
    ['in the delay after a 429', [errorResponse(429, '600')], undefined],
    ['in the delay after a failed connection', forever(notSent), undefined],
  ])('%s', async (_, script, code) => {
    for (const request of [CREATE, MESSAGE]) {
      const { result, endedAt } = await submit(request, script, { cancelAt: 5000 })
      expect(result).toEqual({ cancelled: true, code })
      expect(endedAt).toBeLessThanOrEqual(5000)
    }
  })

  test.each([CREATE, MESSAGE])('does not lose the job in the response to %j', async (request) => {
    const { result } = await submit(request, [cancelThen(jobResult('active'))])
    expect(result.value).toMatchObject({ id: 'job-1' })
  })
})

test('the outputs say at any moment whether a request is in flight', async () => {
  const { published, lines } = await submit(CREATE, [errorResponse(429, '30'), jobResult('active')])
  expect(published.map(({ at, sending, calls }) => ({ at, sending, calls }))).toEqual([
    { at: 0, sending: true, calls: 0 },
    { at: 0, sending: false, calls: 1 },
    { at: 30_000, sending: true, calls: 1 },
  ])
  expect(lines.log).toEqual([expect.stringMatching(/429: its message.*Retrying in 30 s\.$/)])
})

test("if the outputs can't be written, nothing is sent", async () => {
  const { service, ports, calls } = createScriptedRun([])
  const publish = (): void => {
    throw new Error('no space left')
  }
  const result = await settle(send(CREATE, 'Do it', service, { ...ports, publish }))
  expect(result.message).toBe('no space left')
  expect(calls).toEqual([])
})
