// Sending a create or a message: how often, when, and what is known where it ends without an answer.
import { describe, expect, test } from '@jest/globals'
import type { Post } from '../../src/agent/verdict.js'
import { send } from '../../src/run/send.js'
import {
  after,
  cancelledThen,
  endOfPromise,
  forever,
  gives,
  hangs,
  type Line,
  lost,
  MINUTE,
  noJob,
  refused,
  times,
  unsent,
  world,
} from './scripted-run.js'

const CREATE: Post = { kind: 'create' }
const MESSAGE: Post = { kind: 'message', jobId: 'job-1' }

async function sending(post: Post, lines: Iterable<Line>, options: Parameters<typeof world>[1] = {}) {
  const around = world(lines, options)
  const { service, ports, clock } = around
  const end = await endOfPromise(send(post, 'Do it', service, ports))
  return { ...around, end, endedAt: clock.now() }
}

test.each([
  [CREATE, { what: 'create', at: 0, prompt: 'Do it' }],
  [MESSAGE, { what: 'message', at: 0, jobId: 'job-1', prompt: 'Do it' }],
])('%j that is taken is sent once', async (post, call) => {
  const { calls, end } = await sending(post, [gives('active')])
  expect(calls).toEqual([call])
  expect(end.value).toMatchObject({ id: 'job-1', status: 'active' })
})

describe('with one reply for ever', () => {
  const ONCE = 1
  const MANY = 2
  test.each([
    ['a cut request', lost, ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 500', refused(500), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 502', refused(502), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 503', refused(503), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 503 with Retry-After', refused(503, '1'), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a 400', refused(400), ONCE, 'rejected', ONCE, 'rejected'],
    ['a 401', refused(401), ONCE, 'auth', ONCE, 'auth'],
    ['a 403', refused(403), ONCE, 'auth', ONCE, 'auth'],
    ['a 404', refused(404), ONCE, 'not-found', ONCE, 'not-found'],
    ['a 408', refused(408, '1'), ONCE, 'rejected', ONCE, 'rejected'],
    ['a 409', refused(409), ONCE, 'rejected', MANY, 'rejected'],
    ['a 429', refused(429), MANY, 'rate-limited', MANY, 'rate-limited'],
    ['a 307', refused(307), ONCE, 'contract', ONCE, 'contract'],
    ['no job', noJob, ONCE, 'contract', ONCE, undefined],
    ['no connection', unsent, MANY, 'network', MANY, 'network'],
    ['a hanging request', hangs(true), ONCE, 'create-unknown', ONCE, 'create-unknown'],
    ['a hanging connection', hangs(false), ONCE, 'network', ONCE, 'network'],
  ])('%s', async (_, line, creates, createCode, messages, messageCode) => {
    for (const [post, posts, code] of [
      [CREATE, creates, createCode],
      [MESSAGE, messages, messageCode],
    ] as const) {
      const { calls, end } = await sending(post, forever(line))
      expect(end).toEqual(code === undefined ? { value: undefined } : expect.objectContaining({ code }))
      expect(Math.min(calls.length, MANY)).toBe(posts)
    }
  })
})

describe('a service that is not reached', () => {
  test.each([
    [0, [0, 500, 1500, 3500, 7500, 12_500, 17_500]],
    [1, [0, 1000, 3000, 7000, 15_000, 25_000, 35_000]],
  ])('is tried again with growing pauses (random %d)', async (random, first) => {
    const { calls } = await sending(CREATE, forever(unsent), { random })
    expect(times({ calls }).slice(0, 7)).toEqual(first)
  })

  test.each([0, 1])('is given up within 2 minutes (random %d)', async (random) => {
    const { calls, end, endedAt } = await sending(CREATE, forever(unsent), { random })
    expect(end).toMatchObject({ code: 'network', message: expect.stringContaining('Nothing was sent') })
    expect(endedAt).toBeLessThan(120_000)
    expect(calls.at(-1)?.at).toBeGreaterThan(105_000)
  })

  test('is given up at a deadline that comes earlier', async () => {
    const { end, endedAt } = await sending(CREATE, forever(unsent), { timeoutMs: MINUTE })
    expect(end).toMatchObject({ code: 'network' })
    expect(endedAt).toBeLessThanOrEqual(MINUTE)
  })

  test('is given up after 2 minutes also where each try takes its time', async () => {
    const { end, endedAt } = await sending(CREATE, forever(after(10_000, unsent)))
    expect(end).toMatchObject({ code: 'network' })
    expect(endedAt).toBeLessThan(130_000)
  })

  test('is tried to the deadline where it did answer once', async () => {
    const { end, calls } = await sending(CREATE, [refused(429, '1'), ...Array(1000).fill(unsent)], {
      timeoutMs: 10 * MINUTE,
    })
    expect(end).toMatchObject({ code: 'network' })
    expect(calls.at(-1)?.at).toBeGreaterThan(9 * MINUTE)
  })

  test('gets the request as soon as it is there', async () => {
    const { calls, end } = await sending(CREATE, [unsent, unsent, gives('active')])
    expect(times({ calls })).toEqual([0, 500, 1500])
    expect(end.value).toMatchObject({ id: 'job-1' })
  })
})

describe('a service that asks to wait', () => {
  test.each([
    ['seconds', '90', 0, 90_000],
    ['seconds, with jitter on top', '90', 1, 112_500],
    ['a date', 'Sat, 01 Mar 2025 12:01:00 GMT', 0, 60_000],
    ['no time at all', '0', 0, 1000],
    ['a date that has passed', 'Sat, 01 Mar 2025 11:00:00 GMT', 0, 1000],
    ['nothing that is understood', 'soon', 0, 500],
  ])('for %s is obeyed', async (_, header, random, second) => {
    for (const post of [CREATE, MESSAGE]) {
      const { calls } = await sending(post, [refused(429, header), gives('active')], { random })
      expect(times({ calls })).toEqual([0, second])
    }
  })

  test.each([
    ['seconds', '1800'],
    ['a date', 'Sat, 01 Mar 2025 12:30:00 GMT'],
    ['a number without end', '9'.repeat(400)],
  ])('past the deadline, in %s, ends it at once', async (_, header) => {
    const { calls, end, endedAt } = await sending(CREATE, [refused(429, header)])
    expect(times({ calls })).toEqual([0])
    expect(endedAt).toBe(0)
    expect(end).toMatchObject({ code: 'rate-limited', message: expect.stringContaining('longer than') })
  })

  test('just before the deadline is asked again, without jitter where that would pass it', async () => {
    const { calls } = await sending(CREATE, [refused(429, '1799'), gives('active')], { random: 1 })
    expect(times({ calls })).toEqual([0, 1_799_000])
  })

  test('a busy job is asked again until it takes the message', async () => {
    const { calls, end } = await sending(MESSAGE, [refused(409), refused(409, '20'), gives('active')])
    expect(times({ calls })).toEqual([0, 500, 20_500])
    expect(end.value).toMatchObject({ id: 'job-1' })
  })

  test('the time never passes the deadline, and the pauses never pass their cap', async () => {
    for (const random of [0, 0.5, 1]) {
      const { calls, endedAt } = await sending(CREATE, forever(refused(429)), { random })
      expect(endedAt).toBeLessThanOrEqual(30 * MINUTE)
      const gaps = times({ calls }).map((at, index, all) => at - (all[index - 1] ?? at))
      expect(Math.max(...gaps)).toBeLessThanOrEqual(MINUTE)
      expect(calls.at(-1)?.at).toBeGreaterThanOrEqual(29 * MINUTE)
    }
  })
})

describe('at the deadline', () => {
  test.each([
    ['a request that was sent is unknown', [hangs(true)], 'create-unknown'],
    ['a request that was not sent is of the network', [hangs(false)], 'network'],
    ['what turned it down before is what is told: 429', [refused(429, '1'), hangs(false)], 'rate-limited'],
    ['but not where it was sent after that', [refused(429, '1'), hangs(true)], 'create-unknown'],
  ])('%s', async (_, lines, code) => {
    const { end, endedAt } = await sending(CREATE, lines, { timeoutMs: MINUTE })
    expect(end).toMatchObject({ code })
    expect(endedAt).toBe(MINUTE)
  })

  test('a busy job’s last word is what is told', async () => {
    const { end } = await sending(MESSAGE, [refused(409, '1'), hangs(false)], { timeoutMs: MINUTE })
    expect(end).toMatchObject({ code: 'rejected' })
  })
})

describe('a cancel', () => {
  test.each([
    ['while a request that was sent is on its way', [hangs(true)], 'create-unknown'],
    ['while a connection is made', [hangs(false)], undefined],
    ['while the request is cut', [cancelledThen(lost)], 'create-unknown'],
    ['before a 503', [cancelledThen(refused(503))], 'create-unknown'],
    ['before a 401', [cancelledThen(refused(401))], undefined],
    ['before a 429', [cancelledThen(refused(429))], undefined],
    ['before no connection', [cancelledThen(unsent)], undefined],
    ['in the pause after a 429', [refused(429, '600')], undefined],
    ['in the pause without a connection', forever(unsent), undefined],
  ])('%s', async (_, lines, code) => {
    for (const post of [CREATE, MESSAGE]) {
      const { end, endedAt } = await sending(post, lines, { cancelAt: 5000 })
      expect(end).toEqual({ cancelled: true, code })
      expect(endedAt).toBeLessThanOrEqual(5000)
    }
  })

  test.each([CREATE, MESSAGE])('does not lose the job that %j learned of', async (post) => {
    const { end } = await sending(post, [cancelledThen(gives('active'))])
    expect(end.value).toMatchObject({ id: 'job-1' })
  })
})

test('what stands in the outputs says at any moment whether something is on its way', async () => {
  const { published, said } = await sending(CREATE, [refused(429, '30'), gives('active')])
  expect(published.map(({ at, sending, calls }) => ({ at, sending, calls }))).toEqual([
    { at: 0, sending: true, calls: 0 },
    { at: 0, sending: false, calls: 1 },
    { at: 30_000, sending: true, calls: 1 },
  ])
  expect(said.log).toEqual([expect.stringMatching(/429: its words.*Trying again in 30 s/)])
})

test('where the outputs can not be written, nothing is sent', async () => {
  const { service, ports, calls } = world([])
  const publish = (): void => {
    throw new Error('no space left')
  }
  const end = await endOfPromise(send(CREATE, 'Do it', service, { ...ports, publish }))
  expect(end.message).toBe('no space left')
  expect(calls).toEqual([])
})
