// Polling: when the job is polled, when a final status is trusted, which errors end it.
import { describe, expect, test } from '@jest/globals'
import {
  createFreshnessCheck,
  finalPollMarginMs,
  type PollOptions,
  type PrecededBy,
  pollDelay,
  pollUntilDone,
  SETTLE_MS,
} from '../../src/run/poll.js'
import {
  callTimes,
  createScriptedRun,
  delayed,
  errorResponse,
  forever,
  hangs,
  job,
  jobResult,
  LINK,
  MINUTE,
  noJob,
  noResponse,
  notSent,
  type ScriptedResult,
  settle,
} from './scripted-run.js'

interface Options extends Partial<Pick<PollOptions, 'precededBy' | 'once' | 'pollIntervalMs'>> {
  timeoutMs?: number
  random?: number
  startAt?: number
  cancelAt?: number
}

const CREATED: PrecededBy = { kind: 'create', at: 0 }
/** A message was sent; `status` and `fields` are those of the job before it, or in the response to it. */
const messaged = (status = 'active', fields = {}): PrecededBy => ({
  kind: 'message',
  at: 0,
  job: job(status, fields),
})

async function poll(script: Iterable<ScriptedResult>, options: Options = {}) {
  const { timeoutMs = 30 * MINUTE, random, startAt, cancelAt, ...more } = options
  const run = createScriptedRun(script, { timeoutMs, random, startAt, cancelAt, jobId: 'job-1' })
  const { service, ports, clock } = run
  const pollOptions: PollOptions = {
    jobId: 'job-1',
    precededBy: { kind: 'nothing' },
    once: false,
    pollIntervalMs: undefined,
    timeoutMs,
    ...more,
  }
  const result = await settle(pollUntilDone(pollOptions, service, ports))
  return { ...run, result, endedAt: clock.now(), at: callTimes(run) }
}

const DEADLINE = { value: { kind: 'deadline' } }
const ended = (status: string) => ({
  value: { kind: 'ended', status, job: expect.objectContaining({ status }) },
})

const stillActive = (rawStatus: string) => ({
  value: { kind: 'active', job: expect.objectContaining({ rawStatus }) },
})

describe('the schedule', () => {
  test.each([
    [0, 5000],
    [49_999, 5000],
    [50_000, 5000],
    [60_000, 6000],
    [119_000, 11_900],
    [120_000, 12_000],
    [86_400_000, 12_000],
  ])('after %d ms the next poll is %d ms away', (elapsedMs, delayMs) => {
    expect(pollDelay(elapsedMs, undefined)).toBe(delayMs)
  })

  test.each([100, 10_000, 3_600_000])('a fixed interval of %d ms never changes', (interval) => {
    expect(pollDelay(0, interval)).toBe(interval)
    expect(pollDelay(86_400_000, interval)).toBe(interval)
  })

  test('a job that is only waited for is polled immediately, then less and less often', async () => {
    const { at } = await poll(forever(jobResult('active')))
    expect(at.slice(0, 13)).toEqual([
      0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 40_000, 45_000, 50_000, 55_000, 60_500,
    ])
    const gaps = at.slice(1, -1).map((moment, index) => Math.round(moment - (at[index] ?? 0)))
    expect(Math.max(...gaps)).toBe(12_000)
    expect(gaps).toEqual(gaps.toSorted((a, b) => a - b))
  })

  test('a job that was just created is polled after 5 s', async () => {
    const { at, result } = await poll([jobResult('active'), jobResult('completed')], { precededBy: CREATED })
    expect(at).toEqual([5000, 10_000])
    expect(result).toEqual(ended('completed'))
  })

  test('a wait that begins later in the step has the same schedule', async () => {
    const { at } = await poll(forever(jobResult('active')), {
      startAt: 40_000,
      precededBy: { kind: 'create', at: 40_000 },
    })
    const expected = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60.5].map(
      (seconds) => 40_000 + seconds * 1000,
    )
    expect(at.slice(0, 12)).toEqual(expected)
  })

  test('a fixed interval is kept', async () => {
    const { at } = await poll([...Array(4).fill(jobResult('active')), jobResult('failed')], {
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
  ])('of %d ms has a final poll %d ms before it', async (timeoutMs, margin) => {
    expect(finalPollMarginMs(timeoutMs)).toBe(margin)
    const { at, result } = await poll(forever(jobResult('active')), { timeoutMs })
    expect(at.at(-1)).toBe(timeoutMs - margin)
    expect(result).toEqual(DEADLINE)
  })

  test.each([
    ['a fixed interval that is longer', { pollIntervalMs: 3_600_000 }, [0]],
    ['a fixed interval after a create request', { pollIntervalMs: 3_600_000, precededBy: CREATED }, []],
  ])('has its final poll with %s', async (_, options, before) => {
    const { at, result } = await poll(forever(jobResult('active')), options)
    expect(at).toEqual([...before, 30 * MINUTE - 2000])
    expect(result).toEqual(DEADLINE)
  })

  test('has one final poll, also if the interval divides the time before it', async () => {
    const { at, result } = await poll(forever(jobResult('active')), {
      timeoutMs: 12_000,
      pollIntervalMs: 5700,
    })
    expect(at).toEqual([0, 5700, 11_400])
    expect(result).toEqual(DEADLINE)
  })

  test('the result of the final poll counts', async () => {
    const { result } = await poll([jobResult('active'), jobResult('completed')], {
      pollIntervalMs: 3_600_000,
    })
    expect(result).toEqual(ended('completed'))
  })

  test('a job is polled even if there is time for a single poll', async () => {
    const { at, result } = await poll([jobResult('completed')], { precededBy: CREATED, timeoutMs: 1000 })
    expect(at).toEqual([950])
    expect(result).toEqual(ended('completed'))
  })

  test('a poll that hangs ends with it', async () => {
    const { result, endedAt } = await poll([jobResult('active'), hangs(true)])
    expect(result).toEqual(DEADLINE)
    expect(endedAt).toBe(30 * MINUTE)
  })

  test.each([
    ['503s', errorResponse(503)],
    ['broken responses', noResponse],
    ['no connection', notSent],
    ['a Retry-After that is longer', errorResponse(503, '86400')],
  ])('after a create request means timed-out, whatever the polls got: %s', async (_, scripted) => {
    const { result, endedAt } = await poll(forever(scripted), { precededBy: CREATED })
    expect(result).toEqual(DEADLINE)
    expect(endedAt).toBeGreaterThanOrEqual(30 * MINUTE - 2000)
    expect(endedAt).toBeLessThanOrEqual(30 * MINUTE)
  })
})

describe('polling a job that this step did not touch', () => {
  test.each([
    ['no connection', notSent],
    ['broken responses', noResponse],
    ['a hanging request', hangs(true)],
    ['a hanging connection', hangs(false)],
  ])('without a response is a network error: %s', async (_, scripted) => {
    const { result } = await poll(forever(scripted), { timeoutMs: MINUTE })
    expect(result).toMatchObject({ code: 'network', message: expect.stringContaining('"job-1"') })
  })

  test.each([
    [
      'the last error',
      forever(notSent),
      'The service never answered a status request for job "job-1": connect ECONNREFUSED.',
    ],
    [
      'nothing more if there was no error',
      [hangs(true)],
      'Timed out before the service answered a status request for job "job-1".',
    ],
  ])('without a response is reported with %s', async (_, script, message) => {
    const { result } = await poll(script, { timeoutMs: MINUTE })
    expect(result).toMatchObject({
      message,
      advice:
        'Check base-url, the proxy variables and the network, or raise timeout-minutes, then run it again: ' +
        "checking the status doesn't affect the job.",
    })
  })

  test.each([
    ['503s', forever(errorResponse(503))],
    ['429s', forever(errorResponse(429))],
    ['one 503, then nothing', [errorResponse(503), ...Array(1000).fill(notSent)]],
    ['one response without a job, then nothing', [noJob, ...Array(1000).fill(noResponse)]],
    ['a job, then nothing', [jobResult('active'), ...Array(1000).fill(noResponse)]],
  ])('that got a response is timed-out: %s', async (_, script) => {
    expect((await poll(script)).result).toEqual(DEADLINE)
  })
})

describe('a final status', () => {
  test.each(['completed', 'failed', 'archived'])(
    '%s is trusted immediately if there was no message',
    async (status) => {
      for (const options of [{}, { precededBy: CREATED }, { once: true }]) {
        const { result, calls, reportedStatuses } = await poll([jobResult(status)], options)
        expect(result).toEqual(ended(status))
        expect(calls).toHaveLength(1)
        expect(reportedStatuses).toEqual([status])
      }
    },
  )
})

describe('a final status after a message', () => {
  const stale = jobResult('completed', { prLink: LINK })

  test('that predates it is not trusted until the job was seen active', async () => {
    const { result, at, reportedStatuses } = await poll([stale, stale, jobResult('active'), stale], {
      precededBy: messaged(),
    })
    expect(result).toEqual(ended('completed'))
    expect(at).toEqual([5000, 10_000, 15_000, 20_000])
    expect(reportedStatuses).toEqual(['active', 'completed'])
  })

  test.each([
    ['its link', { prLink: LINK }, { prLink: `${LINK}0` }],
    ['a link where there was none', {}, { prLink: LINK }],
    ['the time it was archived', { archivedAt: null }, { archivedAt: '2025-03-01' }],
  ])('in an object that differs in %s is trusted', async (_, before, now) => {
    const { result, at } = await poll([jobResult('completed', before), jobResult('completed', now)], {
      precededBy: messaged(),
    })
    expect(result).toEqual(ended('completed'))
    expect(at).toEqual([5000, 10_000])
  })

  test.each([
    ['its branch', { source: { ref: 'a' } }, { source: { ref: 'b' } }],
    ['its model', { model: 'a' }, { model: 'b' }],
    ['a date', { createdAt: '2025-01-01' }, { createdAt: '2025-01-01T00:00:00Z' }],
    ['a clock', { servedAt: 1 }, { servedAt: 2 }],
  ])('in an object that only differs in %s is not trusted before the settle time', async (_, before, now) => {
    const script = [jobResult('completed', before), ...Array(9).fill(jobResult('completed', now))]
    const { at } = await poll(script, { precededBy: messaged() })
    expect(at.at(-1)).toBe(SETTLE_MS)
  })

  test('that is another one means a changed object', async () => {
    const { result, at } = await poll([stale, jobResult('failed')], { precededBy: messaged() })
    expect(result).toEqual(ended('failed'))
    expect(at).toEqual([5000, 10_000])
  })

  test('that differs from the one in the response to the message is trusted at the first poll', async () => {
    const { result, at } = await poll([jobResult('completed', { prLink: LINK })], {
      precededBy: messaged('completed'),
    })
    expect(result).toEqual(ended('completed'))
    expect(at).toEqual([5000])
  })

  test.each([
    ['an active job', messaged()],
    ['the same final status', messaged('completed', { prLink: LINK })],
    ['no job', { kind: 'message', at: 0, job: undefined }],
  ] as const)(
    'that never changes is trusted after the settle time, with %s in the response to the message',
    async (_, precededBy) => {
      const { result, at, reportedStatuses } = await poll(forever(stale), { precededBy })
      expect(result).toEqual(ended('completed'))
      expect(at).toEqual([5000, 10_000, 15_000, 20_000, 25_000, SETTLE_MS])
      expect(reportedStatuses).toEqual(['completed'])
    },
  )

  test('settles for at most 30 s, and the job is polled then, even with a long interval', async () => {
    expect(SETTLE_MS).toBe(30_000)
    const { at, result } = await poll(forever(stale), { precededBy: messaged(), pollIntervalMs: 20_000 })
    expect(at).toEqual([20_000, 30_000])
    expect(result).toEqual(ended('completed'))
  })

  test.each([3000, 6000, 20_000, MINUTE])('settles in time with a time limit of %d ms', async (timeoutMs) => {
    const { result, endedAt } = await poll(forever(stale), { precededBy: messaged(), timeoutMs })
    expect(result).toEqual(ended('completed'))
    expect(endedAt).toBeLessThan(timeoutMs)
    expect(endedAt).toBeGreaterThanOrEqual(Math.min(30_000, (timeoutMs - finalPollMarginMs(timeoutMs)) / 2))
  })

  test('is not trusted if there was no time for a change', async () => {
    const options = { timeoutMs: 6000, startAt: 3701 }
    const precededBy: PrecededBy = { kind: 'message', at: 3701, job: job('active') }
    expect((await poll(forever(stale), { precededBy, ...options })).result).toEqual({
      value: { kind: 'deadline' },
    })
    const before = { ...options, startAt: 3700 }
    expect((await poll(forever(stale), { precededBy, ...before })).result).toEqual(ended('completed'))
  })

  test.each([
    [20_000, 0, [5000, 9500]],
    [50_000, 10_000, [15_000, 20_000, 25_000, 29_000]],
    [31_000, 10_000, [15_000, 19_725]],
  ])('settles in half of what a limit of %d ms leaves after %d ms', async (timeoutMs, startAt, times) => {
    const precededBy: PrecededBy = { kind: 'message', at: startAt, job: job('active') }
    const { at, result } = await poll(forever(stale), { precededBy, timeoutMs, startAt })
    expect(at).toEqual(times)
    expect(result).toEqual(ended('completed'))
  })

  test('shows that the service responds', async () => {
    const { progress } = await poll([stale], { once: true })
    expect(progress.responded).toBe(true)
  })

  test('that may predate it is logged for debugging alone', async () => {
    const { lines } = await poll([stale, jobResult('active'), stale], { precededBy: messaged() })
    expect(lines).toEqual({
      log: [],
      debug: ['The job\'s status is "completed", which may predate the message.'],
      warn: [],
    })
  })

  test('settles before the final poll, even if little time is left after the message', async () => {
    const { result } = await poll(forever(stale), { precededBy: messaged(), timeoutMs: 3500 })
    expect(result).toEqual(ended('completed'))
  })

  const deep = (): unknown => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
  test.each([
    ['a new value of a field that has nothing to do with the end', { revision: 2 }, { revision: 3 }, false],
    ['a field that only one of them has', {}, { revision: 3 }, false],
    ['a link that was null before', { prLink: null }, { prLink: LINK }, true],
    ['a field nested too deep to be compared', { deep: deep() }, { deep: deep() }, false],
  ])('that differs from the one before in %s: trusted immediately? %s', (_, before, now, trusted) => {
    const previous = job('completed', before)
    const isFresh = createFreshnessCheck({ kind: 'message', at: 0, job: previous }, 30_000)
    expect(isFresh(job('completed', now), 1000)).toBe(trusted)
  })

  test('counts after an undocumented status, which shows that the job is running', async () => {
    const { result, at } = await poll([jobResult('queued'), stale], { precededBy: messaged() })
    expect(result).toEqual(ended('completed'))
    expect(at).toEqual([5000, 10_000])
  })

  test('is not affected by errors in between', async () => {
    const { result, reportedStatuses } = await poll([stale, noResponse, stale, jobResult('active'), stale], {
      precededBy: messaged(),
    })
    expect(result).toEqual(ended('completed'))
    expect(reportedStatuses).toEqual(['active', 'completed'])
  })

  test('is not waited for if the job no longer exists', async () => {
    const { result, calls } = await poll([errorResponse(404)], { precededBy: messaged() })
    expect(result).toMatchObject({ code: 'not-found' })
    expect(calls).toHaveLength(1)
  })
})

describe('createFreshnessCheck', () => {
  const SETTLE = 30_000
  const completed = job('completed')
  const active = job('active')

  test.each([
    ['nothing', { kind: 'nothing' }],
    ['a create request', CREATED],
  ] as const)('after %s, trusts everything', (_, precededBy) => {
    expect(createFreshnessCheck(precededBy, SETTLE)(completed, 0)).toBe(true)
  })

  test('trusts a final status once the settle time has passed since the message', () => {
    const isFresh = createFreshnessCheck({ kind: 'message', at: 1000, job: active }, SETTLE)
    expect(isFresh(completed, 1000)).toBe(false)
    expect(isFresh(completed, 30_999)).toBe(false)
    expect(isFresh(completed, 31_000)).toBe(true)
  })

  test('trusts an active job, and any final status after it', () => {
    const isFresh = createFreshnessCheck(messaged('completed'), SETTLE)
    expect(isFresh(active, 1)).toBe(true)
    expect(isFresh(completed, 2)).toBe(true)
  })

  test('takes an active job in the response to the message as proof of nothing', () => {
    expect(createFreshnessCheck(messaged('active'), SETTLE)(completed, 1)).toBe(false)
  })

  test('trusts a final status that is another one than before', () => {
    expect(createFreshnessCheck(messaged('failed'), SETTLE)(completed, 1)).toBe(true)
  })

  test('ignores fields that are missing in one of the two', () => {
    const previous = { ...completed, received: { id: 'job-1', status: 'completed' } }
    const isFresh = createFreshnessCheck({ kind: 'message', at: 0, job: previous }, SETTLE)
    expect(isFresh(job('completed', { prLink: null, archivedAt: null }), 1)).toBe(false)
  })

  test('ignores the order of fields', () => {
    const one = job('completed', { source: { repository: 'a', ref: 'b' }, model: 'm' })
    const other = job('completed', { model: 'm', source: { ref: 'b', repository: 'a' } })
    expect(createFreshnessCheck({ kind: 'message', at: 0, job: one }, SETTLE)(other, 1)).toBe(false)
  })
})

describe('an error', () => {
  test.each([400, 401, 403, 409, 301])('that is permanent ends polling: %d', async (status) => {
    const { result, calls } = await poll([jobResult('active'), errorResponse(status)])
    expect(result.code).toBeDefined()
    expect(calls).toHaveLength(2)
  })

  test('404 is temporary within 30 s of a create request, later it is permanent', async () => {
    const early = await poll([errorResponse(404), errorResponse(404), jobResult('completed')], {
      precededBy: CREATED,
    })
    expect(early.result).toEqual(ended('completed'))
    const late = await poll(forever(errorResponse(404)), { precededBy: CREATED, pollIntervalMs: 15_000 })
    expect(late.at).toEqual([15_000, 30_000, 45_000])
    expect(late.result).toMatchObject({ code: 'not-found' })
    const startAt = 40_000
    const precededBy: PrecededBy = { kind: 'create', at: startAt }
    const later = await poll(forever(errorResponse(404)), { startAt, precededBy, pollIntervalMs: 15_000 })
    expect(later.at).toEqual([55_000, 70_000, 85_000])
  })

  test('takes three responses in a row with another job for an error, too', async () => {
    const other = jobResult('completed', { id: 'job-2', prLink: LINK })
    const { result, reportedStatuses } = await poll([other, noJob, other])
    expect(result).toMatchObject({
      code: 'contract',
      message: expect.stringContaining('another job, "job-2"'),
    })
    expect(reportedStatuses).toEqual([])
    const recovered = await poll([other, other, jobResult('failed')])
    expect(recovered.result).toEqual(ended('failed'))
  })

  test('ends polling after three responses in a row without a job, not after two', async () => {
    const three = await poll([noJob, noJob, noJob])
    expect(three.result).toMatchObject({ code: 'contract' })
    const broken = await poll([
      noJob,
      noJob,
      jobResult('active'),
      noJob,
      noJob,
      noResponse,
      noJob,
      noJob,
      jobResult('failed'),
    ])
    expect(broken.result).toEqual(ended('failed'))
  })

  test('is retried with backoff, at least a poll interval apart; a job resets the backoff', async () => {
    const script = [
      ...Array(6).fill(errorResponse(500)),
      jobResult('active'),
      errorResponse(500),
      jobResult('completed'),
    ]
    const { at } = await poll(script, { random: 1, pollIntervalMs: 2000 })
    const gaps = at.slice(1).map((moment, index) => moment - (at[index] ?? 0))
    expect(gaps).toEqual([2000, 2000, 4000, 8000, 16_000, 30_000, 2000, 2000])
  })

  test.each([
    ['503', 503],
    ['429', 429],
  ])('%s with Retry-After is retried when the service asks for it', async (_, status) => {
    const { at } = await poll([errorResponse(status, '45'), jobResult('completed')])
    expect(at).toEqual([0, 45_000])
    const short = await poll([errorResponse(status, '1'), jobResult('completed')])
    expect(short.at).toEqual([0, 5000])
  })

  test('is logged once for as long as it lasts', async () => {
    const { lines } = await poll([
      noResponse,
      noResponse,
      noResponse,
      jobResult('active'),
      errorResponse(503),
      jobResult('completed'),
    ])
    const broken = "Couldn't get the job's status: read ECONNRESET. Retrying."
    expect(lines).toEqual({
      log: [broken, "Couldn't get the job's status: the service responded 503: its message. Retrying."],
      debug: [broken, broken],
      warn: [],
    })
  })
})

test('an undocumented status causes one warning, and polling continues', async () => {
  const { result, lines } = await poll([
    jobResult('queued'),
    jobResult('paused'),
    jobResult('queued'),
    jobResult('completed'),
  ])
  expect(result).toEqual(ended('completed'))
  expect(lines.warn).toEqual(['Unknown job status "queued"; treating the job as still running.'])
})

describe('a single poll', () => {
  test.each(['active', 'queued'])('of a job that is %s is enough', async (status) => {
    const { result, at } = await poll([jobResult(status)], { once: true })
    expect(result).toEqual(stillActive(status))
    expect(at).toEqual([0])
  })

  test('is retried until it returns the job', async () => {
    const { result, calls } = await poll([noResponse, errorResponse(503), noJob, jobResult('active')], {
      once: true,
    })
    expect(result).toEqual(stillActive('active'))
    expect(calls).toHaveLength(4)
  })

  test('of a job that does not exist is final', async () => {
    expect((await poll([errorResponse(404)], { once: true })).result).toMatchObject({ code: 'not-found' })
  })
})

describe('a cancel', () => {
  test.each([
    ['between two polls', forever(jobResult('active')), {}],
    ['during a poll', [jobResult('active'), hangs(true)], {}],
    ['during the first poll', [hangs(false)], {}],
    ['before the first poll', [], { precededBy: CREATED, pollIntervalMs: 60_000 }],
    ['in a delay the service asked for', [errorResponse(503, '600')], {}],
    ['while a final status settles', forever(jobResult('completed')), { precededBy: messaged() }],
  ])('%s ends polling immediately', async (_, script, options) => {
    const { result, endedAt } = await poll(script, { ...options, cancelAt: 7000 })
    expect(result).toEqual({ cancelled: true, code: undefined })
    expect(endedAt).toBe(7000)
  })

  test('does not hide a final status that was just received', async () => {
    const { result } = await poll([delayed(6000, jobResult('completed'))], { cancelAt: 5000 })
    expect(result).toEqual(ended('completed'))
  })
})
