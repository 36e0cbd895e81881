// Sending a create request or a message: how often, when, and what is known if it ends without a response.
import { describe, expect, test } from '@jest/globals'
import type { ServiceResult } from '../../src/agent/client.js'
import type { SubmitRequest } from '../../src/agent/problems.js'
import type { Clock } from '../../src/net/deadline.js'
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

  test('is retried until the deadline if it responded earlier in the step', async () => {
    const run = createScriptedRun(forever(notSent), { timeoutMs: 10 * MINUTE })
    run.progress.responded = true
    const result = await settle(send(CREATE, 'Do it', run.service, run.ports))
    expect(result).toMatchObject({ code: 'network', message: expect.stringContaining('Nothing was sent.') })
    expect(run.calls.at(-1)?.at).toBeGreaterThan(9 * MINUTE)
  })

  test('says that nothing was sent only if nothing was', async () => {
    const run = createScriptedRun([errorResponse(404), ...Array(1000).fill(notSent)])
    const message = await settle(send(MESSAGE, 'Do it', run.service, run.ports))
    expect(message).toMatchObject({ code: 'not-found' })
    const create = await settle(send(CREATE, 'Do it', run.service, run.ports))
    expect(create.message).not.toContain('Nothing was sent')
    expect(run.lines.log.join()).not.toContain('Nothing was sent')
  })

  test('says so also if the time was over before it was reached', async () => {
    const run = createScriptedRun(forever(hangs(false)))
    run.progress.posted = true
    const { message } = await settle(send(CREATE, 'Do it', run.service, run.ports))
    expect(message).toBe('Timed out before connecting to the service.')
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
    ['0 seconds', '0', 0, 500],
    ['a date that has passed', 'Sat, 01 Mar 2025 11:00:00 GMT', 0, 500],
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
      message: expect.stringContaining('too long for the time left'),
    })
  })

  test('of 0 seconds is not blamed for the time that is left', async () => {
    const { result } = await submit(CREATE, forever(errorResponse(429, '0')), { timeoutMs: MINUTE })
    expect(result.message).toMatch(/ Tried \d+ times\.$/)
  })

  test('until just before the deadline is retried, without the jitter that would reach or pass it', async () => {
    for (const seconds of [1438.4, 1797]) {
      const script = [errorResponse(429, String(seconds)), jobResult('active')]
      const { calls } = await submit(CREATE, script, { random: 1 })
      expect(callTimes({ calls })).toEqual([0, seconds * 1000])
    }
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

describe('a retry that would be too late', () => {
  const advice = 'Check base-url, the proxy variables and the network, then run it again.'

  test.each([
    [400, 'Tried 1 time.', [0]],
    [2400, 'Tried 1 time.', [0]],
    [5000, 'Tried 3 times.', [0, 500, 1500]],
  ])(
    'within %d ms ends the step with the last error, and with how often it was tried',
    async (timeoutMs, tried, at) => {
      const cause = new Error('refused')
      const { calls, result } = await submit(CREATE, forever({ ...notSent, cause } as ServiceResult), {
        timeoutMs,
      })
      expect(callTimes({ calls })).toEqual(at)
      expect(result).toEqual({
        code: 'network',
        message: `The service can't be reached: connect ECONNREFUSED. Nothing was sent. ${tried}`,
        advice,
        cause,
      })
    },
  )

  test.each([
    ['5', 6999, [0]],
    ['5', 7001, [0, 5000]],
  ])('of a wait of %s s with %d ms left depends on 2 s for the response', async (header, timeoutMs, at) => {
    const script = [errorResponse(429, header), jobResult('active')]
    const { calls } = await submit(CREATE, script, { timeoutMs })
    expect(callTimes({ calls })).toEqual(at)
  })

  test('names the time that the service asks for', async () => {
    const { result } = await submit(CREATE, [errorResponse(429, '1800')])
    expect(result.message).toBe(
      'The service refused the create request (429: its message). ' +
        'It asks for a wait of 30 min, which is too long for the time left.',
    )
    expect(result.advice).toBe(
      'The documented limit is 100 uses per project per hour. Run this later, or less often.',
    )
  })

  test('is not sent if the wait ends after the deadline', async () => {
    const { service, ports, clock, calls } = createScriptedRun([errorResponse(429, '1')], {
      timeoutMs: MINUTE,
    })
    const never = new AbortController().signal
    const slowClock: Clock = {
      now: () => clock.now(),
      date: () => clock.date(),
      every: (milliseconds, call) => clock.every(milliseconds, call),
      sleep: (milliseconds) => clock.sleep(milliseconds + MINUTE, never),
    }
    const result = await settle(send(CREATE, 'Do it', service, { ...ports, clock: slowClock }))
    expect(result).toMatchObject({
      code: 'rate-limited',
      message: expect.stringContaining('asks for a wait of 1 s'),
    })
    expect(calls).toHaveLength(1)
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

test('the log says why a request is retried, and when, in whole seconds', async () => {
  const { lines } = await submit(CREATE, [notSent, errorResponse(429, '30'), jobResult('active')], {
    random: 0.1,
  })
  expect(lines.log).toEqual([
    "The service can't be reached: connect ECONNREFUSED. Nothing was sent. Retrying in 1 s.",
    'The service refused the create request (429: its message). Retrying in 31 s.',
  ])
})

test('a connection that hangs until the deadline is reported as such', async () => {
  const { result } = await submit(CREATE, [hangs(false)], { timeoutMs: MINUTE })
  expect(result).toMatchObject({
    message: 'Timed out before connecting to the service. Nothing was sent.',
    advice: 'Check base-url, the proxy variables and the network, or raise timeout-minutes.',
  })
})

test.each([
  ['no complete response', noResponse, true],
  ['a 503', errorResponse(503), true],
  ['no job', noJob, true],
  ['a hanging request', hangs(true), true],
  ['a hanging connection', hangs(false), false],
  ['a 401', errorResponse(401), false],
  ['a 307', errorResponse(307), false],
  ['a 429', errorResponse(429, '1800'), false],
])('after %s, whether the result is unknown', async (_, scripted, unknown) => {
  const { progress } = await submit(CREATE, [scripted])
  expect(progress.resultUnknown).toBe(unknown)
})

test('an error in the action while it sends leaves the result unknown', async () => {
  const cause = new Error('broken')
  const { result } = await submit(MESSAGE, [
    () => {
      throw cause
    },
  ])
  expect(result).toMatchObject({
    code: 'create-unknown',
    message:
      'The message to job "job-1" was sent, but its result is unknown: the action failed while sending it. ' +
      'The job may be working on it.',
    cause,
  })
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

test('nothing is tried once the deadline has passed, and the service is not to blame', async () => {
  const run = createScriptedRun([], { timeoutMs: MINUTE })
  await run.clock.sleep(MINUTE + 1, new AbortController().signal)
  const first = await settle(send(CREATE, 'Do it', run.service, run.ports))
  expect(first).toMatchObject({
    code: 'network',
    message: 'Timed out before the request could be sent. Nothing was sent.',
    advice: 'Raise timeout-minutes.',
  })
  run.progress.posted = true
  const { message } = await settle(send(CREATE, 'Do it', run.service, run.ports))
  expect(message).toBe('Timed out before the request could be sent.')
  expect(run.calls).toEqual([])
})
