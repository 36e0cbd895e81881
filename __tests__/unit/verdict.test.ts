// The decision table of what is sent again, row by row, and how long the pauses are.
import { describe, expect, test } from '@jest/globals'
import type { Reply } from '../../src/agent/client.js'
import {
  delay,
  judgePoll,
  judgeSubmit,
  type PollVerdict,
  type Post,
  type SubmitVerdict,
  retryAfter,
  MAX_INVALID_RESPONSES,
  UNREACHABLE_MS,
  VISIBILITY_GRACE_MS,
  resultUnknown,
} from '../../src/agent/verdict.js'
import { gives, lost, noJob, refused, unsent } from './scripted-run.js'

const NOW = new Date('2025-03-01T12:00:00Z')
const CREATE: Post = { kind: 'create' }
const MESSAGE: Post = { kind: 'message', jobId: 'job-1' }
const posted = (post: Post, reply: Reply) => judgeSubmit(post, reply, NOW)
const looked = (reply: Reply, context: { sinceCreateMs?: number; strange?: number } = {}) =>
  judgePoll(
    reply,
    { jobId: 'job-1', sinceCreateMs: context.sinceCreateMs, strange: context.strange ?? 0 },
    NOW,
  )

/** A verdict in short: what is next, and the code of the error that it ends with. */
function short(verdict: SubmitVerdict | PollVerdict): string {
  return 'error' in verdict ? `${verdict.next} ${verdict.error.code}` : verdict.next
}

const refusedFor = (refusal: 'certificate' | 'proxy-authentication'): Reply =>
  ({ ...unsent, refusal }) as Reply
const stopped = (sent: boolean): Reply => ({ kind: 'stopped', sent })

describe('a create, a message and a look that met', () => {
  test.each([
    ['no connection', unsent, 'again network', 'again network', 'again'],
    ['a bad certificate', refusedFor('certificate'), 'fail network', 'fail network', 'fail network'],
    ['a proxy’s 407', refusedFor('proxy-authentication'), 'fail network', 'fail network', 'fail network'],
    ['a request cut after it was sent', lost, 'fail create-unknown', 'fail create-unknown', 'again'],
    ['a success without a job', noJob, 'fail contract', 'taken', 'again'],
    ['an active job', gives('active'), 'taken', 'taken', 'see'],
    ['a completed job', gives('completed'), 'taken', 'taken', 'see'],
    ['a job with a status that is not in the list', gives('queued'), 'taken', 'taken', 'see'],
    ['the end of its time, sent', stopped(true), 'stopped', 'stopped', 'stopped'],
    ['the end of its time, not sent', stopped(false), 'stopped', 'stopped', 'stopped'],
  ])('%s', (_, reply, create, message, look) => {
    expect(short(posted(CREATE, reply))).toBe(create)
    expect(short(posted(MESSAGE, reply))).toBe(message)
    expect(short(looked(reply))).toBe(look)
  })

  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const SPECIAL = [400, 401, 403, 404, 409, 429]
  const ROWS: [statuses: number[], create: string, message: string, look: string][] = [
    [range(300, 399), 'fail contract', 'fail contract', 'fail contract'],
    [[400], 'fail rejected', 'fail rejected', 'fail rejected'],
    [[401, 403], 'fail auth', 'fail auth', 'fail auth'],
    [[404], 'fail not-found', 'fail not-found', 'fail not-found'],
    [[409], 'fail rejected', 'again rejected', 'fail rejected'],
    [[429], 'again rate-limited', 'again rate-limited', 'again'],
    [
      range(402, 499).filter((status) => !SPECIAL.includes(status)),
      'fail rejected',
      'fail rejected',
      'fail rejected',
    ],
    [range(500, 599), 'fail create-unknown', 'fail create-unknown', 'again'],
  ]

  test('the statuses 300 to 599, each in one row', () => {
    expect(ROWS.flatMap(([statuses]) => statuses).toSorted()).toEqual(range(300, 599))
  })

  describe.each([
    ['without Retry-After', undefined],
    ['with Retry-After', '7'],
  ])('%s', (_, header) => {
    test.each(ROWS.flatMap(([statuses, ...row]) => statuses.map((status) => [status, ...row] as const)))(
      '%d',
      (status, create, message, look) => {
        expect(short(posted(CREATE, refused(status, header)))).toBe(create)
        expect(short(posted(MESSAGE, refused(status, header)))).toBe(message)
        expect(short(looked(refused(status, header)))).toBe(look)
      },
    )
  })
})

describe('a post', () => {
  test('that is taken gives the job, and a message also without one', () => {
    expect(posted(CREATE, gives('active'))).toMatchObject({ job: { id: 'job-1' } })
    expect(posted(MESSAGE, gives('active'))).toMatchObject({ job: { id: 'job-1' } })
    expect(posted(MESSAGE, noJob)).toEqual({ next: 'taken', job: undefined })
  })

  test.each([CREATE, MESSAGE])('%j that was ended is unknown only where it was sent', (post) => {
    expect(posted(post, stopped(true))).toMatchObject({ unknown: { code: 'create-unknown' } })
    expect(posted(post, stopped(false))).toEqual({ next: 'stopped', unknown: undefined })
  })

  test('knows a service that answered from one that never did', () => {
    expect(posted(CREATE, unsent)).toMatchObject({ answered: false })
    expect(posted(CREATE, refused(429))).toMatchObject({ answered: true })
    expect(posted(MESSAGE, refused(409))).toMatchObject({ answered: true })
  })

  test.each([
    ['12', 12_000],
    ['Sat, 01 Mar 2025 12:01:00 GMT', 60_000],
    ['soon', undefined],
    [undefined, undefined],
  ])('waits as long as Retry-After %s says', (header, retryAfterMs) => {
    expect(posted(CREATE, refused(429, header))).toMatchObject({ pause: { retryAfterMs } })
    expect(posted(MESSAGE, refused(409, header))).toMatchObject({ pause: { retryAfterMs } })
  })
})

describe('a look', () => {
  test.each([
    [0, 'again'],
    [1000, 'again'],
    [VISIBILITY_GRACE_MS, 'again'],
    [VISIBILITY_GRACE_MS + 1, 'fail not-found'],
    [undefined, 'fail not-found'],
  ])('that meets a 404 %p ms after a create: %s', (sinceCreateMs, verdict) => {
    expect(short(looked(refused(404), sinceCreateMs === undefined ? {} : { sinceCreateMs }))).toBe(verdict)
  })

  test.each([400, 401, 403, 409, 410, 301])('that meets a %d right after a create is final', (status) => {
    expect(looked(refused(status), { sinceCreateMs: 0 }).next).toBe('fail')
  })

  test.each([
    [0, 'again'],
    [1, 'again'],
    [2, 'fail contract'],
  ])('that shows no job after %d that did not either: %s', (strange, verdict) => {
    expect(short(looked(noJob, { strange }))).toBe(verdict)
  })

  test.each([
    [refused(503, '40'), 40_000],
    [refused(429, '40'), 40_000],
    [refused(500), undefined],
    [lost, undefined],
    [unsent, undefined],
    [noJob, undefined],
  ])('that meets %j waits for %s ms', (reply, retryAfterMs) => {
    expect(looked(reply)).toMatchObject({ pause: { retryAfterMs } })
  })
})

test('the limits are those of the contract', () => {
  expect({ VISIBILITY_GRACE_MS, MAX_INVALID_RESPONSES, UNREACHABLE_MS }).toEqual({
    UNSEEN_MS: 30_000,
    STRANGE_LIMIT: 3,
    UNREACHABLE_MS: 120_000,
  })
})

describe('what a reader is told', () => {
  const told = (post: Post, reply: Reply): string => {
    const verdict = posted(post, reply)
    return 'error' in verdict ? `${verdict.error.message} ${verdict.error.advice}` : ''
  }

  test.each([400, 401, 403, 404, 409, 418, 429, 500, 503])('the service’s own words with a %d', (status) => {
    expect(told(CREATE, refused(status))).toContain(`${status}: its words`)
    expect(told(MESSAGE, refused(status))).toContain(`${status}: its words`)
  })

  test.each([
    ['a cut request', lost],
    ['a 503', refused(503)],
    ['a success without a job', noJob],
  ])(
    'that a job may exist after a create that met %s, where to look, that it was not sent again',
    (_, reply) => {
      expect(told(CREATE, reply)).toMatch(/A job may exist\..*not sent again.*dashboard/)
    },
  )

  test.each([
    ['a cut request', lost],
    ['a 503', refused(503)],
  ])('which job may be at work after a message that met %s', (_, reply) => {
    expect(told(MESSAGE, reply)).toMatch(/"job-1".*may be working on it.*not sent again/)
  })

  test.each([
    [unsent, /can't be reached: connect ECONNREFUSED.*Nothing was sent/],
    [refusedFor('certificate'), /certificate is not trusted.*Nothing was sent.*NODE_EXTRA_CA_CERTS/],
    [refusedFor('proxy-authentication'), /proxy.*Nothing was sent.*HTTPS_PROXY/],
    [refused(302), /redirect.*never sent elsewhere/],
    [refused(401), /api-key/],
    [refused(403), /project-id.*allow-list/],
    [refused(404), /project-id and base-url/],
    [refused(429), /100 creates/],
  ])('a hint for %j', (reply, hint) => {
    expect(told(CREATE, reply)).toMatch(hint)
  })

  test('the fate of a request that a fault of the step cut off', () => {
    const cause = new Error('x')
    expect(resultUnknown(CREATE, 'the step ended', cause)).toMatchObject({ code: 'create-unknown', cause })
    expect(resultUnknown(MESSAGE, 'the step ended').message).toContain('the step ended')
  })
})

describe('retryAfter', () => {
  test.each([
    ['0', 0],
    ['1', 1000],
    ['120', 120_000],
    [' 5 ', 5000],
    ['1.5', 1500],
    ['Sat, 01 Mar 2025 12:00:30 GMT', 30_000],
    ['Saturday, 01-Mar-25 12:00:30 GMT', 30_000],
    ['Sat, 01 Mar 2025 12:00:00 GMT', 0],
    ['Sat, 01 Mar 2025 11:59:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('%j is %d ms', (header, milliseconds) => {
    expect(retryAfter(header, NOW)).toBe(milliseconds)
  })

  test.each([
    undefined,
    '',
    ' ',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1 s',
    '1,5',
    '1, 2',
    '.',
    'soon',
    'NaN',
    'Infinity',
    'Sat, 99 Mar 2025 99:99:99 GMT',
    '2025-03-01T12:00:30Z',
    'March',
  ])('%j says nothing', (header) => {
    expect(retryAfter(header, NOW)).toBeUndefined()
  })

  test('a date of the oldest form is in GMT, wherever the runner is', () => {
    expect(retryAfter('Sat Mar  1 12:00:30 2025', NOW)).toBe(30_000)
  })

  test('a number that no clock can count is longer than every deadline', () => {
    expect(retryAfter('9'.repeat(400), NOW)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('delay', () => {
  const backOff = { retryAfterMs: undefined, capMs: 10_000 }

  test.each([
    [1, 500, 1000],
    [2, 1000, 2000],
    [3, 2000, 4000],
    [4, 4000, 8000],
    [5, 5000, 10_000],
    [6, 5000, 10_000],
    [2000, 5000, 10_000],
  ])('try %d backs off from %d to %d ms, up to the cap', (tries, least, most) => {
    expect(delay(backOff, tries, 0)).toEqual({ least, wait: least })
    expect(delay(backOff, tries, 1)).toEqual({ least, wait: most })
    expect(delay(backOff, tries, 0.5).wait).toBe((least + most) / 2)
  })

  test.each([
    [0, 1000],
    [1, 1000],
    [999, 1000],
    [1000, 1000],
    [60_000, 60_000],
    [600_000, 600_000],
  ])(
    'a service that asks for %d ms gets %d ms at least, and a quarter more at most',
    (retryAfterMs, least) => {
      for (const tries of [1, 7]) {
        expect(delay({ retryAfterMs, capMs: 10_000 }, tries, 0)).toEqual({ least, wait: least })
        expect(delay({ retryAfterMs, capMs: 10_000 }, tries, 1)).toEqual({ least, wait: least * 1.25 })
      }
    },
  )
})
