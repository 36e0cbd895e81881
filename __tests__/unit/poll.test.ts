// Following a job: when it is looked at, when an end is believed, when a trouble ends the wait.
import { describe, expect, test } from '@jest/globals'
import { follow, finalPollMarginMs, pollDelay, SETTLE_MS, createFreshnessCheck, type Wait } from '../../src/run/poll.js'
import {
  after,
  endOfPromise,
  forever,
  gives,
  hangs,
  job,
  LINK,
  type Line,
  lost,
  MINUTE,
  noJob,
  refused,
  times,
  unsent,
  world,
} from './scripted-run.js'

interface Options extends Partial<Pick<Wait, 'after' | 'once' | 'pollIntervalMs'>> {
  timeoutMs?: number
  random?: number
  cancelAt?: number
}

const CREATED: Wait['after'] = { kind: 'create', at: 0 }
const messaged = (answer = 'active', fields = {}): Wait['after'] => ({
  kind: 'message',
  at: 0,
  answer: job(answer, fields),
})

async function following(lines: Iterable<Line>, options: Options = {}) {
  const { timeoutMs = 30 * MINUTE, random = 0, cancelAt = Number.POSITIVE_INFINITY, ...more } = options
  const around = world(lines, { timeoutMs, random, cancelAt, jobId: 'job-1' })
  const { service, ports, clock } = around
  const wait: Wait = {
    jobId: 'job-1',
    after: { kind: 'nothing' },
    once: false,
    pollIntervalMs: undefined,
    timeoutMs,
    ...more,
  }
  const end = await endOfPromise(follow(wait, service, ports))
  return { ...around, end, endedAt: clock.now(), at: times(around) }
}

const DEADLINE = { value: { kind: 'deadline' } }
const ended = (status: string) => ({ value: { kind: 'ended', status } })

describe('the schedule', () => {
  test.each([
    [0, 5000],
    [49_999, 5000],
    [50_000, 5000],
    [60_000, 6000],
    [119_000, 11_900],
    [120_000, 12_000],
    [86_400_000, 12_000],
  ])('after %d ms the next look is %d ms away', (elapsed, pause) => {
    expect(pollDelay(elapsed, undefined)).toBe(pause)
  })

  test.each([100, 10_000, 3_600_000])('a fixed interval of %d ms stays', (interval) => {
    expect(pollDelay(0, interval)).toBe(interval)
    expect(pollDelay(86_400_000, interval)).toBe(interval)
  })

  test('a job that is only waited for is looked at at once, then ever more rarely', async () => {
    const { at } = await following(forever(gives('active')))
    expect(at.slice(0, 13)).toEqual([
      0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 40_000, 45_000, 50_000, 55_000, 60_500,
    ])
    const gaps = at.slice(1, -1).map((moment, index) => Math.round(moment - (at[index] ?? 0)))
    expect(Math.max(...gaps)).toBe(12_000)
    expect(gaps).toEqual(gaps.toSorted((a, b) => a - b))
  })

  test('a job that was just created is looked at after 5 s', async () => {
    const { at, end } = await following([gives('active'), gives('completed')], { after: CREATED })
    expect(at).toEqual([5000, 10_000])
    expect(end).toEqual(ended('completed'))
  })

  test('a fixed interval holds', async () => {
    const { at } = await following([...Array(4).fill(gives('active')), gives('failed')], {
      pollIntervalMs: 2000,
    })
    expect(at).toEqual([0, 2000, 4000, 6000, 8000])
  })
})

describe('the deadline', () => {
  test.each([
    [60, 3],
    [6000, 300],
    [MINUTE, 2000],
    [30 * MINUTE, 2000],
  ])('of %d ms has a last look %d ms before it', async (timeoutMs, margin) => {
    expect(finalPollMarginMs(timeoutMs)).toBe(margin)
    const { at, end } = await following(forever(gives('active')), { timeoutMs })
    expect(at.at(-1)).toBe(timeoutMs - margin)
    expect(end).toEqual(DEADLINE)
  })

  test.each([
    ['a fixed interval that is longer', { pollIntervalMs: 3_600_000 }, [0]],
    ['a fixed interval after a create', { pollIntervalMs: 3_600_000, after: CREATED }, []],
  ])('has its last look with %s', async (_, options, before) => {
    const { at, end } = await following(forever(gives('active')), options)
    expect(at).toEqual([...before, 30 * MINUTE - 2000])
    expect(end).toEqual(DEADLINE)
  })

  test('the last look counts', async () => {
    const { end } = await following([gives('active'), gives('completed')], { pollIntervalMs: 3_600_000 })
    expect(end).toEqual(ended('completed'))
  })

  test('a job that can be looked at only once is', async () => {
    const { at, end } = await following([gives('completed')], { after: CREATED, timeoutMs: 1000 })
    expect(at).toEqual([950])
    expect(end).toEqual(ended('completed'))
  })

  test('a look that hangs ends with it', async () => {
    const { end, endedAt } = await following([gives('active'), hangs(true)])
    expect(end).toEqual(DEADLINE)
    expect(endedAt).toBe(30 * MINUTE)
  })

  test.each([
    ['503s', refused(503)],
    ['cut answers', lost],
    ['no connection', unsent],
    ['a Retry-After that is longer', refused(503, '86400')],
  ])('after a create is timed-out, whatever the looks met: %s', async (_, line) => {
    const { end, endedAt } = await following(forever(line), { after: CREATED })
    expect(end).toEqual(DEADLINE)
    expect(endedAt).toBeGreaterThanOrEqual(30 * MINUTE - 2000)
    expect(endedAt).toBeLessThanOrEqual(30 * MINUTE)
  })
})

describe('a wait for a job that this step did not touch', () => {
  test.each([
    ['no connection', unsent],
    ['cut answers', lost],
    ['a hanging look', hangs(true)],
    ['a hanging connection', hangs(false)],
  ])('that never got an answer is of the network: %s', async (_, line) => {
    const { end } = await following(forever(line), { timeoutMs: MINUTE })
    expect(end).toMatchObject({ code: 'network', message: expect.stringContaining('"job-1"') })
  })

  test.each([
    ['503s', forever(refused(503))],
    ['429s', forever(refused(429))],
    ['one 503, then nothing', [refused(503), ...Array(1000).fill(unsent)]],
    ['one answer without a job, then nothing', [noJob, ...Array(1000).fill(lost)]],
    ['a job, then nothing', [gives('active'), ...Array(1000).fill(lost)]],
  ])('that got an answer is timed-out: %s', async (_, lines) => {
    expect((await following(lines)).end).toEqual(DEADLINE)
  })
})

describe('an end', () => {
  test.each(['completed', 'failed', 'archived'])(
    '%s is believed at once without a message',
    async (status) => {
      for (const options of [{}, { after: CREATED }, { once: true }]) {
        const { end, calls, seen } = await following([gives(status)], options)
        expect(end).toEqual(ended(status))
        expect(calls).toHaveLength(1)
        expect(seen).toEqual([status])
      }
    },
  )
})

describe('after a message', () => {
  const stale = gives('completed', { prLink: LINK })

  test('a completed that is from before is not believed until the job was seen active', async () => {
    const { end, at, seen } = await following([stale, stale, gives('active'), stale], { after: messaged() })
    expect(end).toEqual(ended('completed'))
    expect(at).toEqual([5000, 10_000, 15_000, 20_000])
    expect(seen).toEqual(['active', 'completed'])
  })

  test.each([
    ['its link', { prLink: LINK }, { prLink: `${LINK}0` }],
    ['a link where there was none', {}, { prLink: LINK }],
    ['its branch', { source: { ref: 'a' } }, { source: { ref: 'b' } }],
    ['its model', { model: 'a' }, { model: 'b' }],
    ['the time of its creation', { createdAt: '2025-01-01' }, { createdAt: '2025-03-01' }],
    ['the time of its archiving', {}, { archivedAt: '2025-03-01' }],
  ])('an end whose object changed in %s is believed', async (_, before, now) => {
    const { end, at } = await following([gives('completed', before), gives('completed', now)], {
      after: messaged(),
    })
    expect(end).toEqual(ended('completed'))
    expect(at).toEqual([5000, 10_000])
  })

  test('an end of another kind is a changed object', async () => {
    const { end, at } = await following([stale, gives('failed')], { after: messaged() })
    expect(end).toEqual(ended('failed'))
    expect(at).toEqual([5000, 10_000])
  })

  test('an end that differs from the one in the answer to the message is believed at the first look', async () => {
    const { end, at } = await following([gives('completed', { prLink: LINK })], {
      after: messaged('completed'),
    })
    expect(end).toEqual(ended('completed'))
    expect(at).toEqual([5000])
  })

  test.each([
    ['answered active', messaged()],
    ['answered with the same end', messaged('completed', { prLink: LINK })],
    ['answered without a job', { kind: 'message', at: 0, answer: undefined }],
  ] as const)('an end that never changes is believed after the settle time (%s)', async (_, message) => {
    const { end, at, seen } = await following(forever(stale), { after: message })
    expect(end).toEqual(ended('completed'))
    expect(at).toEqual([5000, 10_000, 15_000, 20_000, 25_000, SETTLE_MS])
    expect(seen).toEqual(['completed'])
  })

  test('the settle time is at most 30 s, and is looked at with a long interval too', async () => {
    expect(SETTLE_MS).toBe(30_000)
    const { at, end } = await following(forever(stale), { after: messaged(), pollIntervalMs: 20_000 })
    expect(at).toEqual([20_000, 30_000])
    expect(end).toEqual(ended('completed'))
  })

  test.each([1000, 6000, 20_000, MINUTE])(
    'a short time of %d ms has room for an end to settle',
    async (timeoutMs) => {
      const { end, endedAt } = await following(forever(stale), { after: messaged(), timeoutMs })
      expect(end).toEqual(ended('completed'))
      expect(endedAt).toBeLessThan(timeoutMs)
      expect(endedAt).toBeGreaterThanOrEqual(Math.min(30_000, (timeoutMs - finalPollMarginMs(timeoutMs)) / 2))
    },
  )

  test('an end has room to settle before the last look, also where the message was taken late', async () => {
    const { end } = await following(forever(stale), { after: messaged(), timeoutMs: 3500 })
    expect(end).toEqual(ended('completed'))
  })

  const deep = (): unknown => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
  test.each([
    ['a new field', { revision: 2 }, { revision: 3 }, true],
    ['a field that only one of them has', {}, { revision: 3 }, false],
    ['a null that has become a link', { prLink: null }, { prLink: LINK }, true],
    ['a field that is nested too deep to be compared', { deep: deep() }, { deep: deep() }, false],
  ])('an end that differs in %s: a new one? %s', (_, before, now, isNew) => {
    const answer = job('completed', before)
    const trusts = createFreshnessCheck({ kind: 'message', at: 0, answer }, 30_000)
    expect(trusts(job('completed', now), 1000)).toBe(isNew)
  })

  test('a word that is not in the list shows that the job runs', async () => {
    const { end, at } = await following([gives('queued'), stale], { after: messaged() })
    expect(end).toEqual(ended('completed'))
    expect(at).toEqual([5000, 10_000])
  })

  test('a trouble between changes nothing', async () => {
    const { end, seen } = await following([stale, lost, stale, gives('active'), stale], { after: messaged() })
    expect(end).toEqual(ended('completed'))
    expect(seen).toEqual(['active', 'completed'])
  })

  test('a job that is gone is not waited for', async () => {
    const { end, calls } = await following([refused(404)], { after: messaged() })
    expect(end).toMatchObject({ code: 'not-found' })
    expect(calls).toHaveLength(1)
  })
})

describe('trustAfter', () => {
  const SETTLE = 30_000
  const completed = job('completed')
  const active = job('active')

  test.each([
    ['nothing', { kind: 'nothing' }],
    ['a create', CREATED],
  ] as const)('after %s believes everything', (_, before) => {
    expect(createFreshnessCheck(before, SETTLE)(completed, 0)).toBe(true)
  })

  test('an end counts from the settle time on, counted from the message', () => {
    const trusts = createFreshnessCheck({ kind: 'message', at: 1000, answer: active }, SETTLE)
    expect(trusts(completed, 1000)).toBe(false)
    expect(trusts(completed, 30_999)).toBe(false)
    expect(trusts(completed, 31_000)).toBe(true)
  })

  test('an active job counts, and any end after it', () => {
    const trusts = createFreshnessCheck(messaged('completed'), SETTLE)
    expect(trusts(active, 1)).toBe(true)
    expect(trusts(completed, 2)).toBe(true)
  })

  test('an active answer to the message proves nothing', () => {
    expect(createFreshnessCheck(messaged('active'), SETTLE)(completed, 1)).toBe(false)
  })

  test('a field that is null is as good as one that is missing', () => {
    const answer = { ...completed, received: { id: 'job-1', status: 'completed' } }
    const trusts = createFreshnessCheck({ kind: 'message', at: 0, answer }, SETTLE)
    expect(trusts(job('completed', { prLink: null, archivedAt: null }), 1)).toBe(false)
  })

  test('the order of fields says nothing', () => {
    const one = job('completed', { source: { repository: 'a', ref: 'b' }, model: 'm' })
    const other = job('completed', { model: 'm', source: { ref: 'b', repository: 'a' } })
    expect(createFreshnessCheck({ kind: 'message', at: 0, answer: one }, SETTLE)(other, 1)).toBe(false)
  })
})

describe('a trouble', () => {
  test.each([400, 401, 403, 409, 301])('that is final ends the wait: %d', async (status) => {
    const { end, calls } = await following([gives('active'), refused(status)])
    expect(end.code).toBeDefined()
    expect(calls).toHaveLength(2)
  })

  test('a 404 within 30 s of a create passes, later it is final', async () => {
    const early = await following([refused(404), refused(404), gives('completed')], { after: CREATED })
    expect(early.end).toEqual(ended('completed'))
    const late = await following(forever(refused(404)), { after: CREATED, pollIntervalMs: 15_000 })
    expect(late.at).toEqual([15_000, 30_000, 45_000])
    expect(late.end).toMatchObject({ code: 'not-found' })
  })

  test('three answers in a row without a job end it, two do not', async () => {
    const three = await following([noJob, noJob, noJob])
    expect(three.end).toMatchObject({ code: 'contract' })
    const broken = await following([
      noJob,
      noJob,
      gives('active'),
      noJob,
      noJob,
      lost,
      noJob,
      noJob,
      gives('failed'),
    ])
    expect(broken.end).toEqual(ended('failed'))
  })

  test('is waited out ever longer, never less than a poll, and forgotten after a good answer', async () => {
    const lines = [...Array(6).fill(refused(500)), gives('active'), refused(500), gives('completed')]
    const { at } = await following(lines, { random: 1, pollIntervalMs: 2000 })
    const gaps = at.slice(1).map((moment, index) => moment - (at[index] ?? 0))
    expect(gaps).toEqual([2000, 2000, 4000, 8000, 16_000, 30_000, 2000, 2000])
  })

  test.each([
    ['503', 503],
    ['429', 429],
  ])('of a %s with Retry-After is obeyed', async (_, status) => {
    const { at } = await following([refused(status, '45'), gives('completed')])
    expect(at).toEqual([0, 45_000])
    const short = await following([refused(status, '1'), gives('completed')])
    expect(short.at).toEqual([0, 5000])
  })

  test('is told once in the log for as long as it lasts', async () => {
    const { said } = await following([lost, lost, lost, gives('active'), refused(503), gives('completed')])
    expect(said.log).toHaveLength(2)
    expect(said.log[0]).toContain('ECONNRESET')
    expect(said.log[1]).toContain('503: its words')
    expect(said.debug).toHaveLength(2)
    expect(said.warn).toEqual([])
  })
})

test('a status that is not in the list is warned of once, and waited out', async () => {
  const { end, said } = await following([
    gives('queued'),
    gives('paused'),
    gives('queued'),
    gives('completed'),
  ])
  expect(end).toEqual(ended('completed'))
  expect(said.warn).toEqual([expect.stringContaining('"queued"')])
})

describe('one look', () => {
  test.each(['active', 'queued'])('at a job that is %s is enough', async (status) => {
    const { end, at } = await following([gives(status)], { once: true })
    expect(end).toEqual({ value: { kind: 'active' } })
    expect(at).toEqual([0])
  })

  test('is tried until it is answered', async () => {
    const { end, calls } = await following([lost, refused(503), noJob, gives('active')], { once: true })
    expect(end).toEqual({ value: { kind: 'active' } })
    expect(calls).toHaveLength(4)
  })

  test('at a job that is not there is final', async () => {
    expect((await following([refused(404)], { once: true })).end).toMatchObject({ code: 'not-found' })
  })
})

describe('a cancel', () => {
  test.each([
    ['between two looks', forever(gives('active')), {}],
    ['during a look', [gives('active'), hangs(true)], {}],
    ['during the first look', [hangs(false)], {}],
    ['before the first look', [], { after: CREATED, pollIntervalMs: 60_000 }],
    ['in a pause that the service asked for', [refused(503, '600')], {}],
    ['while an end settles', forever(gives('completed')), { after: messaged() }],
  ])('%s ends the wait at once', async (_, lines, options) => {
    const { end, endedAt } = await following(lines, { ...options, cancelAt: 7000 })
    expect(end).toEqual({ cancelled: true, code: undefined })
    expect(endedAt).toBe(7000)
  })

  test('does not hide an end that was just seen', async () => {
    const { end } = await following([after(6000, gives('completed'))], { cancelAt: 5000 })
    expect(end).toEqual(ended('completed'))
  })
})
