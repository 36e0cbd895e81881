/**
 * Which requests are retried, row by row. When is in send.test.ts and poll.test.ts, what the user
 * reads in texts.test.ts.
 */

import { describe, expect, test } from '@jest/globals'
import type { ServiceResult, SubmitRequest } from '../../src/agent/client.js'
import { Refusal } from '../../src/agent/problems.js'
import {
  judgePoll,
  judgeSubmit,
  type PollContext,
  type PollVerdict,
  refusesMessage,
  type SubmitContext,
  type SubmitVerdict,
} from '../../src/agent/verdict.js'
import { errorResponse, jobResult, noJob, noResponse, notSent } from './scripted-run.js'

const CREATE: SubmitRequest = { kind: 'create' }
const MESSAGE: SubmitRequest = { kind: 'message', jobId: 'job-1' }
const judge = (
  request: SubmitRequest,
  result: ServiceResult,
  context: Partial<SubmitContext> = {},
) =>
  judgeSubmit(request, result, {
    conflicts: 0,
    replaceable: false,
    ...context,
  })
const FIRST_POLL: PollContext = {
  jobId: 'job-1',
  seen: false,
  refusals: 0,
  sinceCreateMs: Infinity,
}
const poll = (result: ServiceResult, context: Partial<PollContext> = {}) =>
  judgePoll(result, { ...FIRST_POLL, ...context })

type Permanent = Extract<ServiceResult, { kind: 'not-sent' }>['permanent']
const failed = (permanent: Permanent) =>
  ({ ...notSent, permanent }) as Extract<ServiceResult, { kind: 'not-sent' }>
const aborted = (sent: boolean): ServiceResult => ({ kind: 'aborted', sent })
const anotherJob = jobResult('active', { id: 'job-1.job-1' })

/**
 * A verdict in short: what is next, the code of the error it ends with, and whether the result is
 * unknown.
 */
function summarize(verdict: SubmitVerdict | PollVerdict): string {
  const code = 'error' in verdict ? verdict.error.code : ''
  const unknown =
    'unknown' in verdict && verdict.unknown?.code !== code ? verdict.unknown?.code : ''
  const look = 'isDoubted' in verdict && verdict.isDoubted ? 'look' : verdict.kind
  return [look, code, unknown].filter(Boolean).join(' ')
}

const verdicts = (result: ServiceResult) =>
  [judge(CREATE, result), judge(MESSAGE, result), poll(result, { refusals: 3 })].map(summarize)

/** The status request is the fourth in a row that is refused. */
describe('a create request, a message and a status request [send.never-twice]', () => {
  test.each([
    ['no connection [send.unconnected]', notSent, 'retry network', 'retry network', 'retry'],
    [
      'a bad certificate [send.certificate.final]',
      failed('server-certificate'),
      'fail network',
      'fail network',
      'fail network',
    ],
    [
      'no complete response [send.unknown] [poll.retry]',
      noResponse,
      'fail create-unknown',
      'fail create-unknown',
      'retry',
    ],
    [
      'a success without a job [send.no-job] [poll.refused]',
      noJob,
      'fail contract create-unknown',
      'accepted',
      'fail contract',
    ],
    ['a job [send.job.required]', jobResult('active'), 'accepted', 'accepted', 'job'],
    [
      'another job [send.no-job] [poll.refused]',
      anotherJob,
      'accepted',
      'accepted',
      'fail contract',
    ],
    [
      'an end after they were sent [send.unknown] [net.deadline]',
      aborted(true),
      'aborted create-unknown',
      'aborted create-unknown',
      'aborted',
    ],
    [
      'an end before they were sent [send.unknown] [net.deadline]',
      aborted(false),
      'aborted',
      'aborted',
      'aborted',
    ],
  ])('are judged after %s', (_, result, ...expected) => {
    expect(verdicts(result)).toEqual(expected)
  })

  /** The statuses in a text such as `401 403` or `500-599`. */
  const expand = (ranges: string): number[] =>
    ranges.split(' ').flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, nth) => from + nth)
    })

  test.each([
    ['300-302', '[send.refused.final]', 'fail contract', 'fail contract', 'fail contract'],
    ['303', '[send.unknown]', 'fail create-unknown', 'fail create-unknown', 'fail contract'],
    ['304-399', '[send.refused.final]', 'fail contract', 'fail contract', 'fail contract'],
    ['400', '[send.refused.final]', 'fail rejected', 'fail rejected', 'fail rejected'],
    ['401 403', '[send.refused.final]', 'fail auth', 'fail auth', 'fail auth'],
    ['404', '[send.refused.final]', 'fail not-found', 'fail not-found', 'fail not-found'],
    ['409', '[send.limited]', 'fail rejected', 'retry rejected', 'fail rejected'],
    ['408 425', '[send.refused.final] [poll.retry]', 'fail rejected', 'fail rejected', 'retry'],
    ['429', '[send.limited] [poll.retry]', 'retry rate-limited', 'retry rate-limited', 'retry'],
    [
      '402 405-407 410-424 426-428 430-499',
      '[send.refused.final]',
      'fail rejected',
      'fail rejected',
      'fail rejected',
    ],
    [
      '500-999',
      '[send.unknown] [poll.retry]',
      'fail create-unknown',
      'fail create-unknown',
      'retry',
    ],
  ])('are judged after %s, with Retry-After or without %s', (statuses, _, ...expected) => {
    for (const status of expand(statuses))
      for (const retryAfterMs of [undefined, 7_000])
        expect([status, ...verdicts(errorResponse(status, retryAfterMs))]).toEqual([
          status,
          ...expected,
        ])
  })
})

describe('a create request or a message [send.limited]', () => {
  test('that is accepted has the job, a message also without one, and never another [send.no-job]', () => {
    for (const request of [CREATE, MESSAGE])
      expect(judge(request, jobResult('active'))).toMatchObject({ job: { id: 'job-1' } })
    for (const result of [noJob, anotherJob])
      expect(judge(MESSAGE, result)).toEqual({ kind: 'accepted', job: undefined })
  })

  test.each([12_000, undefined])(
    'is retried after Retry-After (%s ms), else within a minute; within 10 s if there is no connection [send.limited] [send.unconnected]',
    (retryAfterMs) => {
      const backoff = { retryAfterMs, capMs: 60_000 }
      expect(judge(CREATE, errorResponse(429, retryAfterMs))).toMatchObject({ backoff })
      expect(judge(MESSAGE, errorResponse(409, retryAfterMs))).toMatchObject({ backoff })
      expect(judge(CREATE, notSent)).toMatchObject({
        backoff: { capMs: 10_000 },
      })
    },
  )
})

describe('a message to a job that a new one can replace [send.message.ended]', () => {
  const busy = (conflicts: number, replaceable: boolean) =>
    summarize(judge(MESSAGE, errorResponse(409, 7_000), { conflicts, replaceable }))

  test('is sent three times to a busy job; otherwise, and if it is only limited, as long as there is time', () => {
    expect([0, 1, 2, 3].map((conflicts) => busy(conflicts, true))).toEqual([
      'retry rejected',
      'retry rejected',
      'look rejected',
      'look rejected',
    ])
    expect(busy(100, false)).toBe('retry rejected')
    const limited = judge(MESSAGE, errorResponse(429), { conflicts: 100, replaceable: true })
    expect(summarize(limited)).toBe('retry rate-limited')
  })

  const everyStatus = Array.from({ length: 700 }, (_, index) => 300 + index)
  const NOT_ABOUT_THE_JOB = [401, 402, 403, 408, 413, 425, 429]
  test('is refused for good by each 4xx, but not by those that a new job would get as well', () => {
    const refused = everyStatus.filter((status) => {
      const verdict = judge(MESSAGE, errorResponse(status), { conflicts: 2, replaceable: true })
      const error = 'error' in verdict ? verdict.error : undefined
      expect(error instanceof Refusal ? error.response.status : status).toBe(status)
      return error instanceof Refusal && refusesMessage(error)
    })
    const expected = everyStatus.filter((status) => status >= 400 && status <= 499)
    expect(refused).toEqual(expected.filter((status) => !NOT_ABOUT_THE_JOB.includes(status)))
  })

  test.each<[string, ServiceResult]>([
    ['a request that was not sent', notSent],
    ['a 503', errorResponse(503)],
    [
      'a 404 that is not by the service',
      { ...errorResponse(404), isForeign: true } as ServiceResult,
    ],
  ])('is not refused by %s', (_, result) => {
    const verdict = judge(MESSAGE, result, { conflicts: 2, replaceable: true })
    const error = 'error' in verdict ? verdict.error : undefined
    expect(error instanceof Refusal && refusesMessage(error)).toBe(false)
  })
})

describe('a status request', () => {
  test.each([
    ['a refusal', errorResponse(404), 'the service responded 404: its message'],
    [
      'no job',
      noJob,
      'the response contains no docs job with a valid id and a status (200: hello)',
    ],
    ['another job', anotherJob, 'the response contains another docs job, "job-1.job-1"'],
  ])('that got %s is refused at the fourth [poll.refused]', (_, result, reason) => {
    const verdicts = [0, 1, 2, 3].map((refusals) => poll(result, { refusals }))
    expect(verdicts.map((verdict) => verdict.kind)).toEqual(['retry', 'retry', 'retry', 'fail'])
    expect(verdicts[0]).toMatchObject({ refusal: {}, reason })
  })

  test('that got a bad certificate is final at once [send.certificate.final]', () => {
    expect(poll(failed('server-certificate')).kind).toBe('fail')
  })

  test('that got a 404 right after a create request is repeated for 30 s, which is not counted [poll.new-job.grace]', () => {
    const missing = (sinceCreateMs: number) =>
      poll(errorResponse(404), { sinceCreateMs, refusals: 3 })
    expect(missing(30_000)).not.toHaveProperty('refusal')
    expect([missing(30_000).kind, missing(30_001).kind]).toEqual(['retry', 'fail'])
    expect(poll(errorResponse(403), { sinceCreateMs: 0, refusals: 3 }).kind).toBe('fail')
  })

  test.each([
    ['the service responded 503: its message', errorResponse(503, 40_000), 40_000],
    ['the service responded 408: its message', errorResponse(408), undefined],
    ['connect ECONNREFUSED', notSent, undefined],
  ])('is retried because %s, however often [poll.retry]', (reason, result, retryAfterMs) => {
    const retry = { kind: 'retry', reason, backoff: { retryAfterMs, capMs: 30_000 } }
    for (const refusals of [0, 3]) expect(poll(result, { refusals })).toEqual(retry)
  })
})
