// Polling: when the job is polled, when a final status is trusted, what ends it. Which errors are
// retried at all is in verdict.test.ts.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import type { Job } from '../../src/agent/job.js'
import {
  finalPollMarginMs,
  type PollOptions,
  pollDelay,
  pollUntilDone,
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
  type ScriptedOptions,
  type ScriptedResult,
  settle,
} from './scripted-run.js'

type Script = Iterable<ScriptedResult>
type Fields = Parameters<typeof job>[1]
type Options = Partial<PollOptions> & ScriptedOptions

const created = (at = 0): Options => ({ startAt: at, precededBy: { kind: 'create', at } })
/** A message was sent; `known` is the job before it, or in the response to it. */
const messaged = (known: Job | undefined, at = 0): Options => ({
  startAt: at,
  precededBy: { kind: 'message', at, job: known },
})

async function poll(script: Script, { timeoutMs = 30 * MINUTE, ...more }: Options = {}) {
  const responded = (more.precededBy?.kind ?? 'nothing') !== 'nothing'
  const given = { timeoutMs, random: 0.5, jobId: 'job-1', responded, ...more }
  const run = createScriptedRun(script, given)
  const options: PollOptions = {
    jobId: 'job-1',
    precededBy: { kind: 'nothing' },
    once: false,
    pollIntervalMs: undefined,
    timeoutMs,
    ...more,
  }
  const { value, code, error } = await settle(pollUntilDone(options, run.tools))
  const status = value?.status ?? `still ${value?.rawStatus}`
  const end =
    code ?? (value === undefined ? 'deadline' : status === 'active' ? 'still active' : status)
  const seconds = callTimes(run).map((at) => at / 1000)
  return { ...run, error, end, story: `${seconds.join(' ')}: ${end}`, endedAt: run.clock.now() }
}

const active = jobResult('active')
const completed = jobResult('completed')
/** The end of the job from before a message. */
const stale = jobResult('completed', { prLink: LINK })
const times = (count: number, result: ScriptedResult): ScriptedResult[] => Array(count).fill(result)
const missing = errorResponse(404)
/** A 404, like every refusal, is believed when it is repeated. */
const gone = times(4, missing)
/** What gateways put between two good answers. */
const PAGES = [errorResponse(403), errorResponse(301), noJob]

test.each([
  [0, 5000],
  [50_000, 5000],
  [60_000, 6000],
  [120_000, 12_000],
  [86_400_000, 12_000],
])(
  'after %d ms the next poll is %d ms away, ±10 %%, unless it is fixed [poll.interval]',
  (elapsedMs, middle) => {
    const delay = (random: number) => Math.round(pollDelay(elapsedMs, undefined, random))
    expect([0, 0.25, 0.5, 1].map(delay)).toEqual(
      [0.9, 0.95, 1, 1.1].map((part) => Math.round(middle * part)),
    )
    for (const random of [0, 0.5, 1]) expect(pollDelay(elapsedMs, 100, random)).toBe(100)
  },
)

test.each([
  [6000, 300],
  [40_000, 2000],
  [30 * MINUTE, 2000],
])('with a limit of %d ms the final poll is %d ms before it [poll.last]', (timeoutMs, margin) => {
  expect(finalPollMarginMs(timeoutMs)).toBe(margin)
})

// Each story: the seconds at which the job was polled, and how that ended.
test('what cancels the step keeps nothing of polling that is over [net.deadline]', async () => {
  const { cancel } = await poll([completed])
  expect(getEventListeners(cancel.signal, 'abort')).toHaveLength(1) // The step's own deadline.
})

describe('polling', () => {
  const every = (seconds: number): Options => ({ pollIntervalMs: seconds * 1000 })
  const another = jobResult('completed', { id: 'job-2' })
  const once = { once: true }
  test.each<[string, Script, Options, story: string]>([
    [
      'a job that is only waited for is polled at once, and its end is trusted [poll.interval] [poll.stale-end]',
      [active, completed],
      {},
      '0 5: completed',
    ],
    [
      'a job that was created is polled after a delay [poll.interval]',
      [active, completed],
      created(60_000),
      '65 70: completed',
    ],
    [
      'the polls get rarer after a minute [poll.interval]',
      forever(active),
      { timeoutMs: 70_000 },
      '0 5 10 15 20 25 30 35 40 45 50 55 60.5 66.55 68: deadline',
    ],
    [
      'a last poll comes before the deadline [poll.last]',
      forever(active),
      every(3600),
      '0 1798: deadline',
    ],
    [
      'a long interval leaves the last poll alone [poll.last]',
      forever(active),
      { ...created(), ...every(3600) },
      '1798: deadline',
    ],
    [
      'a poll that is due with the last one is not made twice [poll.last]',
      forever(active),
      { timeoutMs: 12_000, ...every(5.7) },
      '0 5.7 11.4: deadline',
    ],
    [
      'the last poll is made also if there is time for no other [poll.last]',
      [completed],
      { ...created(), timeoutMs: 1000 },
      '0.95: completed',
    ],
    [
      'the last poll is made also if another one hangs [poll.last]',
      [active, hangs(true), completed],
      {},
      '0 5 1798: completed',
    ],
    ['a job that is only checked is polled once [poll.once]', [active], once, '0: still active'],
    [
      'a job that is only checked may have an undocumented status [poll.once]',
      [jobResult('queued')],
      once,
      '0: still queued',
    ],
    [
      'a job that is only checked is polled until it is seen [poll.retry]',
      [noResponse, errorResponse(503), noJob, active],
      once,
      '0 5 10 13.4: still active',
    ],
    [
      'a job is polled until four answers say that it is gone [poll.refused]',
      [active, ...gone],
      {},
      '0 5 8.4 11.8 15.2: not-found',
    ],
    [
      'a job that is gone is polled again soon, whatever the interval [poll.refused]',
      gone,
      every(600),
      '0 3.4 6.8 10.2: not-found',
    ],
    [
      'a job is gone only after four such answers in a row [poll.refused]',
      [active, ...times(3, missing), active, ...times(3, missing), noResponse, ...gone],
      every(1),
      '0 1 4.4 7.8 11.2 12.2 15.6 19 22.4 28.4 31.8 35.2 38.6: not-found',
    ],
    [
      'four refusals in a row are believed, whatever they say [poll.refused]',
      [active, ...PAGES, errorResponse(400)],
      {},
      '0 5 8.4 11.8 15.2: rejected',
    ],
    [
      'gateways that refuse for a moment end nothing [poll.refused]',
      [active, ...PAGES, completed],
      {},
      '0 5 8.4 11.8 15.2: completed',
    ],
    [
      'a new job is polled until it is visible [poll.new-job.grace]',
      [missing, completed],
      created(),
      '5 10: completed',
    ],
    [
      'a new job has 30 s to become visible [poll.new-job.grace]',
      forever(missing),
      { ...created(40_000), ...every(6) },
      '46 52 58 64 70 82 85.4 88.8 92.2: not-found',
    ],
    [
      'the service decides when to retry [poll.retry]',
      [errorResponse(503, 45_000), completed],
      { random: 0 },
      '0 45: completed',
    ],
    [
      'the service makes no retry earlier [poll.retry]',
      [errorResponse(429, 1_000), completed],
      {},
      '0 5: completed',
    ],
    [
      'retries get rarer [poll.retry]',
      times(9, errorResponse(500)),
      { random: 1, ...every(2), timeoutMs: 100_000 },
      '0 2 4 8 16 32 62 92 98: deadline',
    ],
    [
      'retries begin anew once the job was seen [poll.retry]',
      [...times(5, noResponse), active, noResponse, completed],
      { random: 1, ...every(2) },
      '0 2 4 8 16 32 34 36: completed',
    ],
    [
      'four answers without the job end the polling [poll.refused]',
      [noJob, another, noJob, noJob],
      {},
      '0 3.4 6.8 10.2: contract',
    ],
    [
      'three answers without the job end nothing [poll.refused]',
      [noJob, another, noJob, active, noJob, noJob, noJob, notSent, noJob, completed],
      every(30),
      '0 3.4 6.8 10.2 40.2 43.6 47 50.4 80.4 83.8: completed',
    ],
  ])('%s', async (_, script, options, story) => {
    expect((await poll(script, options)).story).toBe(story)
  })
})

describe('at the deadline [poll.last]', () => {
  test.each<[string, Script, Options?]>([
    ['no connection after a message', forever(notSent), messaged(undefined)],
    ['polls that hang', [active, hangs(true), hangs(true)]],
    ['a Retry-After that is longer', forever(errorResponse(503, 1e23))],
    ['one 404, then nothing', [missing, ...times(1000, noResponse)]],
  ])(
    'a job is timed-out if the service responded once: %s [output.timed-out]',
    async (_, script, options = {}) => {
      const { end, endedAt } = await poll(script, options)
      expect(end).toBe('deadline')
      expect(endedAt).toBeGreaterThanOrEqual(30 * MINUTE - 2000)
      expect(endedAt).toBeLessThanOrEqual(30 * MINUTE)
    },
  )

  test.each<[string, Script, Options, story: string]>([
    ['was given and never seen', times(2, missing), {}, '0 2.85: deadline'],
    ['was seen by this step', [active, missing], { pollIntervalMs: 2000 }, '0 2 2.85: deadline'],
    [
      'was created by this step',
      [missing],
      { ...created(), pollIntervalMs: 2000 },
      '2 2.85: deadline',
    ],
    ['got a message of this step', times(2, missing), messaged(undefined), '2.85: deadline'],
  ])(
    'an unrepeated 404 is not believed, of a job that %s [poll.refused]',
    async (_, script, options, story) => {
      const polled = await poll([...script, ...times(2, missing)], { ...options, timeoutMs: 3000 })
      expect(polled.story).toBe(story)
    },
  )

  const frozen = { frozenMs: 31 * MINUTE }
  const cutOff = delayed(MINUTE, { kind: 'aborted', sent: false })
  test.each<[string, Script, Options, end: string]>([
    ['which tells its end', [completed], { ...created(), ...frozen }, 'completed'],
    ['which tells no end', [active], { ...created(), ...frozen }, 'deadline'],
    ['which is its only one', [completed], { startAt: 31 * MINUTE }, 'completed'],
    ['which is the first answer', [errorResponse(503), completed], frozen, 'completed'],
    ['which says that there is no such job', [errorResponse(503), missing], frozen, 'deadline'],
    ['after one that was cut off', [cutOff, completed], created(30 * MINUTE - 3000), 'completed'],
  ])(
    'a process that was frozen makes one last poll, %s [poll.last]',
    async (_, script, options, end) => {
      // All its timers are due at once: the deadline's may be called after the one that it awaits.
      for (const wakesFirst of [false, true]) {
        const { calls, ...polled } = await poll(script, { ...options, wakesFirst })
        expect(polled.end).toBe(end)
        expect(calls).toHaveLength([...script].length)
        expect(calls.at(-1)).toMatchObject({ limitMs: 2000 })
        expect(calls.at(-1)?.at).toBeGreaterThanOrEqual(30 * MINUTE)
      }
    },
  )

  test('the response to a request that comes after the deadline is the last one', async () => {
    for (const options of [created(31 * MINUTE), messaged(undefined, 31 * MINUTE)]) {
      const { end, calls } = await poll([], options)
      expect([end, calls]).toEqual(['deadline', []])
    }
  })

  test('every other poll ends in time for the last one, which ends at the deadline [poll.last]', async () => {
    const { calls } = await poll(forever(active), { pollIntervalMs: 20_000, timeoutMs: MINUTE })
    expect(calls.map(({ limitMs }) => limitMs)).toEqual([58_000, 38_000, 18_000, 2000])
  })

  test('the last poll has a connection of its own', async () => {
    const { calls, closes } = await poll(forever(active), { timeoutMs: MINUTE })
    expect(closes).toEqual([calls.length - 1])
  })

  test('a process that was frozen makes no last poll after a cancel [cancel.first]', async () => {
    const { end, calls } = await poll([], { ...created(), ...frozen, cancelAt: 10_000 })
    expect([end, calls]).toEqual(['cancelled', []])
  })

  test.each<[string, Script, message: string, advice: string]>([
    [
      'no connection',
      forever(notSent),
      'The service never answered a status request for docs job "job-1": connect ECONNREFUSED.',
      'Check base-url, the proxy variables and the network.',
    ],
    [
      'a hanging request',
      forever(hangs(true)),
      'The service never answered a status request for docs job "job-1".',
      'Check base-url, the proxy variables and the network.',
    ],
  ])(
    'a service that never responds is a network error: %s [poll.dead-address] [poll.refused]',
    async (_, script, message, advice) => {
      const { end, error } = await poll(script, { timeoutMs: MINUTE })
      expect(end).toBe('network')
      expect(error).toMatchObject({ message, advice })
    },
  )
})

describe('a service that never responded [poll.dead-address]', () => {
  test.each<[string, Script, Options]>([
    ['refuses every connection', forever(notSent), {}],
    ['resets every one, and is polled rarely', forever(noResponse), { pollIntervalMs: 3_600_000 }],
  ])('is polled for two minutes: it %s', async (_, script, options) => {
    for (const random of [0, 0.5, 1]) {
      const { end, endedAt } = await poll(script, { random, ...options })
      expect([end, endedAt]).toEqual(['network', 2 * MINUTE])
    }
  })

  test('is polled for two minutes, and no longer than one poll more, if it hangs', async () => {
    const { end, endedAt } = await poll(forever(delayed(30_000, noResponse)))
    expect([end, Math.floor(endedAt / MINUTE)]).toEqual(['network', 2])
  })

  test.each<[string, Script, Options]>([
    ['polls', [...Array(2).fill(delayed(3 * MINUTE, noResponse)), completed], {}],
    ['a wait', [noResponse, noResponse, completed], { frozenMs: 3 * MINUTE }],
  ])('is polled again if the process stood still in %s', async (_, script, options) => {
    expect((await poll(script, options)).end).toBe('completed')
  })
})

describe('after a message, a final status [poll.stale-end]', () => {
  const SETTLED = '5 10 15 20 25 30: completed'
  const archived = (archivedAt: unknown) => jobResult('archived', { archivedAt })
  const running = messaged(job('active'))
  const later = (at: number, timeoutMs: number) => ({ ...messaged(undefined, at), timeoutMs })
  const same = messaged(job('completed', { prLink: LINK }))

  test.each<[string, Script, Options, story: string]>([
    ['is trusted once it ran', [stale, stale, active, stale], running, '5 10 15 20: completed'],
    [
      'is trusted after an undocumented status',
      [jobResult('queued'), stale],
      running,
      '5 10: completed',
    ],
    ['is trusted if it becomes another', [stale, jobResult('failed')], running, '5 10: failed'],
    ['is trusted if its link changes', [completed, stale], running, '5 10: completed'],
    [
      'is trusted if its date changes',
      [archived(null), archived('2025-03-01')],
      running,
      '5 10: archived',
    ],
    ['is trusted if its link was another', [completed], same, '5: completed'],
    ['is trusted if it was another', [completed], messaged(job('failed')), '5: completed'],
    ['is trusted in the end if it was the same', forever(stale), same, SETTLED],
    ['is trusted in the end if the job was active', forever(stale), running, SETTLED],
    ['is trusted in the end if no job is known', forever(stale), messaged(undefined), SETTLED],
    [
      'is trusted no earlier because of an error',
      [stale, noResponse, stale, active, stale],
      same,
      '5 10 15 20 25: completed',
    ],
    [
      'settles for 30 s, also with a long interval',
      forever(stale),
      { ...same, pollIntervalMs: 20_000 },
      '20 30: completed',
    ],
    [
      'settles for 30 s after the message',
      forever(stale),
      later(10_000, 75_000),
      '15 20 25 30 35 40: completed',
    ],
    ['settles in half of a short limit', forever(stale), later(0, 20_000), '5 9.5: completed'],
    ['settles in half the rest', forever(stale), later(10_000, 31_000), '15 19.725: completed'],
    ['settles before the last poll', forever(stale), later(0, 3500), '3.325: completed'],
    ['settles in a second', forever(stale), later(3700, 6000), '5.7: completed'],
    ['does not settle in less than a second', forever(stale), later(3701, 6000), '5.7: deadline'],
  ])('%s', async (_, script, options, story) => {
    expect((await poll(script, options)).story).toBe(story)
  })

  const deep = (): unknown => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
  test.each<[string, Fields, Fields]>([
    ['the branch', { source: { ref: 'a' } }, { source: { ref: 'b' } }],
    ['a clock', { servedAt: 1 }, { servedAt: 2 }],
    ['a date that one of them lacks', {}, { archivedAt: null }],
    ['a field nested too deep to be compared', { deep: deep() }, { deep: deep() }],
  ])('is not another one because this differs: %s', async (_, one, other) => {
    for (const [known, now] of [
      [one, other],
      [other, one],
    ]) {
      const script = [jobResult('completed', known), ...times(5, jobResult('completed', now))]
      expect((await poll(script, messaged(job('completed', known)))).story).toBe(SETTLED)
    }
  })

  test('is told to debuggers alone if it may predate the message', async () => {
    const { lines, reported } = await poll([stale, active, stale], same)
    const debug = ['The docs job\'s status is "completed", which may predate the message.']
    expect(lines).toEqual({ log: [], debug, warn: [] })
    expect(reported).toEqual(['active', 'completed'])
  })
})

test('a final poll that comes early confirms no 404 [poll.refused]', async () => {
  const { story } = await poll([active, ...gone], { timeoutMs: 13_000 })
  expect(story).toBe('0 5 8.4 11.8 12.35: deadline')
})

test('404s before and after a poll without a response are not in a row [poll.refused]', async () => {
  const script = [...times(3, missing), hangs(true), missing]
  const { story } = await poll(script, { ...messaged(undefined), timeoutMs: 17_000 })
  expect(story).toBe('5 8.4 11.8 15.2 16.15: deadline')
})

test('if the last poll shows what may predate the message, that is known [poll.stale-end] [report.true]', async () => {
  const options = { ...messaged(job('completed', { prLink: LINK })), timeoutMs: 2_000 }
  const { facts } = await poll([stale, stale], options)
  expect(facts().notSeen?.reason).toBe(
    'the last response said "completed", which may predate the message',
  )
})

test.each<[string, Script, Options]>([
  ['was seen', [active, missing], {}],
  ['got a message', [missing], messaged(undefined)],
])(
  'if the last poll of a job that %s is refused, what helps is known [poll.refused]',
  async (_, script, options) => {
    const { facts } = await poll(script, { timeoutMs: 2_000, ...options })
    expect(facts().notSeen?.advice).toContain('it may have been deleted')
  },
)

test('a poll counts as missed until it is answered [report.true]', async () => {
  const missed: string[] = []
  const answer: ScriptedResult = ({ facts }) => {
    missed.push(facts().notSeen?.reason ?? '')
    return jobResult('active')
  }
  const { facts } = await poll([answer, answer], { timeoutMs: 2_000 })
  expect(missed).toEqual(Array(2).fill('the last status request got no response'))
  expect(facts().notSeen).toBeUndefined()
})

test('an error is logged once for as long as it lasts [report.log.lines]', async () => {
  const { lines } = await poll([...times(3, noResponse), active, errorResponse(503), completed])
  const broken = "Couldn't get the docs job's status: read ECONNRESET. Retrying."
  expect(lines).toEqual({
    log: [
      broken,
      "Couldn't get the docs job's status: the service responded 503: its message. Retrying.",
    ],
    debug: [broken, broken],
    warn: [],
  })
})

test('an error of the last poll is not retried, and the log does not say so [poll.last] [report.log.lines]', async () => {
  const { lines } = await poll([active, errorResponse(503)], { timeoutMs: 2_000 })
  expect(lines.log).toEqual([
    "Couldn't get the docs job's status: the service responded 503: its message.",
  ])
})

test('an undocumented status causes one warning, and polling continues [poll.status.undocumented]', async () => {
  const { end, lines } = await poll([jobResult('queued'), jobResult('paused'), completed])
  expect(end).toBe('completed')
  expect(lines.warn).toEqual(['Undocumented status "queued": the docs job counts as active.'])
})
