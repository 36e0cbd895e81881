// What the user reads if the service refuses a request, can't be reached, or leaves its result unknown.
import { describe, expect, test } from '@jest/globals'
import type { ServiceResult } from '../../src/agent/client.js'
import { resultUnknown, type SubmitRequest } from '../../src/agent/problems.js'
import { judgeSubmit } from '../../src/agent/verdict.js'
import { errorResponse, noJob, noResponse, notSent } from './scripted-run.js'

const NOW = new Date('2025-03-01T12:00:00Z')
const CREATE: SubmitRequest = { kind: 'create' }
const MESSAGE: SubmitRequest = { kind: 'message', jobId: 'job-1' }

/** The error's message and advice, as the annotation shows them. */
const text = (request: SubmitRequest, result: ServiceResult): string => {
  const verdict = judgeSubmit(request, result, NOW)
  return 'error' in verdict ? `${verdict.error.message} ${verdict.error.advice}` : ''
}

const permanent = (reason: 'certificate' | 'proxy-authentication'): ServiceResult =>
  ({ ...notSent, permanent: reason }) as ServiceResult

test.each([400, 401, 403, 404, 409, 418, 429, 500, 503])("a %d shows the service's message", (status) => {
  expect(text(CREATE, errorResponse(status))).toContain(`${status}: its message`)
  expect(text(MESSAGE, errorResponse(status))).toContain(`${status}: its message`)
})

test.each([
  ['no complete response', noResponse],
  ['a 503', errorResponse(503)],
  ['a success without a job', noJob],
])(
  'a create request that got %s: a job may exist, where to look, and that it was not retried',
  (_, result) => {
    expect(text(CREATE, result)).toMatch(/A job may exist\..*was not retried.*dashboard/)
  },
)

test.each([
  ['no complete response', noResponse],
  ['a 503', errorResponse(503)],
])('a message that got %s: which job may be working on it, and that it was not retried', (_, result) => {
  expect(text(MESSAGE, result)).toMatch(/"job-1".*may be working on it.*was not retried/)
})

test.each([
  [notSent, /can't be reached: connect ECONNREFUSED.*Nothing was sent/],
  [permanent('certificate'), /certificate is not trusted.*Nothing was sent.*NODE_EXTRA_CA_CERTS/],
  [permanent('proxy-authentication'), /proxy.*Nothing was sent.*HTTPS_PROXY/],
  [errorResponse(302), /redirected.*never sent to another address/],
  [errorResponse(401), /api-key/],
  [errorResponse(403), /project-id.*allow-list/],
  [errorResponse(404), /project-id and base-url/],
  [errorResponse(429), /100 uses/],
])('%j comes with advice', (result, advice) => {
  expect(text(CREATE, result)).toMatch(advice)
})

describe('resultUnknown', () => {
  test('keeps the reason and the cause', () => {
    const cause = new Error('x')
    expect(resultUnknown(CREATE, 'the step ended', cause)).toMatchObject({ code: 'create-unknown', cause })
    expect(resultUnknown(MESSAGE, 'the step ended').message).toContain('the step ended')
  })
})
