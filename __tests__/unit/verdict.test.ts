// The decision table: which requests are retried, row by row.
import { describe, expect, test } from '@jest/globals'
import type { ServiceResult } from '../../src/agent/client.js'
import { MAX_INVALID_RESPONSES, type SubmitRequest } from '../../src/agent/problems.js'
import {
  isResponse,
  judgePoll,
  judgeSubmit,
  type PollVerdict,
  type SubmitVerdict,
  UNREACHABLE_MS,
  VISIBILITY_GRACE_MS,
} from '../../src/agent/verdict.js'
import { errorResponse, jobResult, noJob, noResponse, notSent } from './scripted-run.js'

const NOW = new Date('2025-03-01T12:00:00Z')
const CREATE: SubmitRequest = { kind: 'create' }
const MESSAGE: SubmitRequest = { kind: 'message', jobId: 'job-1' }
const judge = (request: SubmitRequest, result: ServiceResult) =>
  judgeSubmit(request, result, { date: NOW, posted: false })
const poll = (result: ServiceResult, context: { sinceCreateMs?: number; invalidResponses?: number } = {}) =>
  judgePoll(result, { jobId: 'job-1', sinceCreateMs: undefined, invalidResponses: 0, ...context }, NOW)

/** A verdict in short: what is next, and the code of the error it ends with. */
function summarize(verdict: SubmitVerdict | PollVerdict): string {
  return 'error' in verdict ? `${verdict.next} ${verdict.error.code}` : verdict.next
}

const permanent = (reason: 'server-certificate' | 'proxy-authentication'): ServiceResult =>
  ({ ...notSent, permanent: reason }) as ServiceResult
const aborted = (sent: boolean): ServiceResult => ({ kind: 'aborted', sent })

describe('a create request, a message and a status request that got', () => {
  test.each([
    ['no connection', notSent, 'retry network', 'retry network', 'retry'],
    ['a bad certificate', permanent('server-certificate'), 'fail network', 'fail network', 'fail network'],
    ['a 407 from a proxy', permanent('proxy-authentication'), 'fail network', 'fail network', 'fail network'],
    ['no complete response', noResponse, 'fail create-unknown', 'fail create-unknown', 'retry'],
    ['a success without a job', noJob, 'fail contract', 'accepted', 'retry'],
    ['an active job', jobResult('active'), 'accepted', 'accepted', 'job'],
    ['a completed job', jobResult('completed'), 'accepted', 'accepted', 'job'],
    ['a job with an undocumented status', jobResult('queued'), 'accepted', 'accepted', 'job'],
    ['aborted after they were sent', aborted(true), 'aborted', 'aborted', 'aborted'],
    ['aborted before they were sent', aborted(false), 'aborted', 'aborted', 'aborted'],
  ])('%s', (_, result, create, message, status) => {
    expect(summarize(judge(CREATE, result))).toBe(create)
    expect(summarize(judge(MESSAGE, result))).toBe(message)
    expect(summarize(poll(result))).toBe(status)
  })

  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const SPECIAL = [400, 401, 403, 404, 408, 409, 425, 429]
  const ROWS: [statuses: number[], create: string, message: string, poll: string][] = [
    [range(300, 399), 'fail contract', 'fail contract', 'fail contract'],
    [[400], 'fail rejected', 'fail rejected', 'fail rejected'],
    [[401, 403], 'fail auth', 'fail auth', 'fail auth'],
    [[404], 'fail not-found', 'fail not-found', 'fail not-found'],
    [[409], 'fail rejected', 'retry rejected', 'fail rejected'],
    [[408, 425], 'fail rejected', 'fail rejected', 'retry'],
    [[429], 'retry rate-limited', 'retry rate-limited', 'retry'],
    [
      range(402, 499).filter((status) => !SPECIAL.includes(status)),
      'fail rejected',
      'fail rejected',
      'fail rejected',
    ],
    [range(500, 599), 'fail create-unknown', 'fail create-unknown', 'retry'],
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
      (status, create, message, getJob) => {
        expect(summarize(judge(CREATE, errorResponse(status, header)))).toBe(create)
        expect(summarize(judge(MESSAGE, errorResponse(status, header)))).toBe(message)
        expect(summarize(poll(errorResponse(status, header)))).toBe(getJob)
      },
    )
  })
})

describe('a create request or a message', () => {
  test('that is accepted returns the job, a message also without one', () => {
    expect(judge(CREATE, jobResult('active'))).toMatchObject({ job: { id: 'job-1' } })
    expect(judge(MESSAGE, jobResult('active'))).toMatchObject({ job: { id: 'job-1' } })
    expect(judge(MESSAGE, noJob)).toEqual({ next: 'accepted', job: undefined })
  })

  test.each([CREATE, MESSAGE])('%j that was aborted has an unknown result only if it was sent', (request) => {
    expect(judge(request, aborted(true))).toMatchObject({ unknown: { code: 'create-unknown' } })
    expect(judge(request, aborted(false))).toEqual({ next: 'aborted', unknown: undefined })
  })

  test.each([
    [noResponse, 'read ECONNRESET'],
    [errorResponse(503), 'the service responded 503: its message'],
    [aborted(true), 'the step ended before a response arrived'],
  ])('says why the result is unknown: %j', (result, reason) => {
    for (const request of [CREATE, MESSAGE]) {
      const verdict = judge(request, result)
      const unknown = 'unknown' in verdict ? verdict.unknown : undefined
      expect(unknown?.message).toContain(`its result is unknown: ${reason}. `)
      if (verdict.next === 'fail') expect(verdict.error).toBe(unknown)
    }
  })

  test('without a job in the response is an error if it is reported, and unknown if it is cancelled', () => {
    expect(judge(CREATE, noJob)).toMatchObject({
      next: 'fail',
      error: { code: 'contract', message: expect.stringContaining('(200: hello)') },
      unknown: {
        code: 'create-unknown',
        message: expect.stringContaining('is unknown: the response contains no job (200: hello). '),
      },
    })
  })

  test('that was refused has a known result', () => {
    for (const result of [errorResponse(401), errorResponse(302), permanent('server-certificate')]) {
      expect(judge(CREATE, result)).not.toHaveProperty('unknown')
    }
  })

  test('backs off for at most 10 s if there is no connection, for a minute if it is asked to', () => {
    expect(judge(CREATE, notSent)).toMatchObject({ backoff: { retryAfterMs: undefined, capMs: 10_000 } })
    expect(judge(CREATE, errorResponse(429))).toMatchObject({ backoff: { capMs: 60_000 } })
    expect(judge(MESSAGE, errorResponse(409))).toMatchObject({ backoff: { capMs: 60_000 } })
  })

  test('knows a service that responded from one that never did', () => {
    const responses = [jobResult('active'), { kind: 'no-job', description: '' } as const, errorResponse(503)]
    expect(responses.map(isResponse)).toEqual([true, true, true])
    expect([notSent, noResponse, { kind: 'aborted', sent: true } as const].map(isResponse)).toEqual([
      false,
      false,
      false,
    ])
  })

  test.each([
    ['12', 12_000],
    ['Sat, 01 Mar 2025 12:01:00 GMT', 60_000],
    ['soon', undefined],
    [undefined, undefined],
  ])('waits for as long as Retry-After: %s asks', (header, retryAfterMs) => {
    expect(judge(CREATE, errorResponse(429, header))).toMatchObject({ backoff: { retryAfterMs } })
    expect(judge(MESSAGE, errorResponse(409, header))).toMatchObject({ backoff: { retryAfterMs } })
  })
})

describe('a status request', () => {
  test.each([
    [0, 'retry'],
    [1000, 'retry'],
    [VISIBILITY_GRACE_MS, 'retry'],
    [VISIBILITY_GRACE_MS + 1, 'fail not-found'],
    [undefined, 'fail not-found'],
  ])('that got a 404 %p ms after a create request: %s', (sinceCreateMs, verdict) => {
    expect(summarize(poll(errorResponse(404), sinceCreateMs === undefined ? {} : { sinceCreateMs }))).toBe(
      verdict,
    )
  })

  test.each([400, 401, 403, 409, 410, 301])('that got a %d right after a create request fails', (status) => {
    expect(poll(errorResponse(status), { sinceCreateMs: 0 }).next).toBe('fail')
  })

  test.each([
    [0, 'retry'],
    [1, 'retry'],
    [2, 'fail contract'],
  ])('without a job in the response, after %d others: %s', (invalidResponses, verdict) => {
    expect(summarize(poll(noJob, { invalidResponses }))).toBe(verdict)
  })

  test.each([
    [errorResponse(503, '40'), 40_000],
    [errorResponse(429, '40'), 40_000],
    [errorResponse(500), undefined],
    [noResponse, undefined],
    [notSent, undefined],
    [noJob, undefined],
  ])('that got %j was asked to wait %s ms', (result, retryAfterMs) => {
    expect(poll(result)).toMatchObject({ backoff: { retryAfterMs, capMs: 30_000 } })
  })

  test.each([
    [errorResponse(503), 'the service responded 503: its message', false],
    [noResponse, 'read ECONNRESET', false],
    [notSent, 'connect ECONNREFUSED', false],
    [noJob, 'the response contains no job (200: hello)', true],
    [jobResult('active', { id: 'job-9' }), 'the response contains another job, "job-9"', true],
  ])('that got %j is retried because %s', (result, reason, invalid) => {
    expect(poll(result)).toMatchObject({ next: 'retry', reason, invalid })
  })

  test('that is never sent says nothing of the requests before it', () => {
    expect(poll(permanent('server-certificate'))).toMatchObject({
      error: { message: "The service's certificate is not trusted: connect ECONNREFUSED." },
    })
  })

  test('that is refused is called a status request', () => {
    expect(poll(errorResponse(403))).toMatchObject({
      error: { message: 'The service refused the status request (403: its message).' },
    })
  })

  test('names the job that three responses in a row did not contain', () => {
    expect(poll(noJob, { invalidResponses: 2 })).toMatchObject({
      error: { message: expect.stringContaining('"job-1": the last one contains no job (200: hello)') },
    })
  })
})

test('the limits are those of the contract', () => {
  expect({ VISIBILITY_GRACE_MS, MAX_INVALID_RESPONSES, UNREACHABLE_MS }).toEqual({
    VISIBILITY_GRACE_MS: 30_000,
    MAX_INVALID_RESPONSES: 3,
    UNREACHABLE_MS: 120_000,
  })
})

test('a message that is answered with another job was accepted, and its own job is polled', () => {
  expect(judge(MESSAGE, jobResult('active', { id: 'job-9' }))).toEqual({ next: 'accepted', job: undefined })
})
