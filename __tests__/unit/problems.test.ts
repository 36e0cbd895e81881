// What the user reads if the service refuses a request, can't be reached, or leaves its result unknown.
import { describe, expect, test } from '@jest/globals'
import type { ServiceResult } from '../../src/agent/client.js'
import {
  cannotConnect,
  createdWithoutJob,
  missingJob,
  rejected,
  resultUnknown,
  type SubmitRequest,
} from '../../src/agent/problems.js'
import { judgeSubmit } from '../../src/agent/verdict.js'
import { errorResponse, noJob, noResponse, notSent } from './scripted-run.js'

const TRUST_ADVICE =
  "If you use a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file in the step's env: " +
  'certificates are always verified.'
const NOW = new Date('2025-03-01T12:00:00Z')
const CREATE: SubmitRequest = { kind: 'create' }
const MESSAGE: SubmitRequest = { kind: 'message', jobId: 'job-1' }

/** The error's message and advice, as the annotation shows them. */
const text = (request: SubmitRequest, result: ServiceResult): string => {
  const verdict = judgeSubmit(request, result, { date: NOW, posted: false })
  return 'error' in verdict ? `${verdict.error.message} ${verdict.error.advice}` : ''
}

const permanent = (reason: 'server-certificate' | 'proxy-authentication'): ServiceResult =>
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
  [permanent('server-certificate'), /certificate is not trusted.*Nothing was sent.*NODE_EXTRA_CA_CERTS/],
  [permanent('proxy-authentication'), /proxy.*Nothing was sent.*HTTPS_PROXY/],
  [errorResponse(302), /redirected.*never sent to another address/],
  [errorResponse(401), /api-key/],
  [errorResponse(403), /organisation.*reading.*IP address.*plan/],
  [errorResponse(404), /project-id and base-url/],
  [errorResponse(429), /100 uses/],
])('%j comes with advice', (result, advice) => {
  expect(text(CREATE, result)).toMatch(advice)
})

describe('the exact words', () => {
  type ErrorResponse = Extract<ServiceResult, { kind: 'error-response' }>
  const REFUSED = {
    create: 'The service refused the create request (N: its message).',
    message: 'The service refused the message (N: its message).',
    poll: 'The service refused the status request (N: its message).',
  }
  const REDIRECTED = {
    create: 'The service redirected the create request (N: its message).',
    message: 'The service redirected the message (N: its message).',
    poll: 'The service redirected the status request (N: its message).',
  }
  const FIX_AND_RERUN = 'Fix what the service objects to, then run it again.'
  const MISSING_JOB = 'Check job-id, project-id and base-url.'
  const sameFor = (advice: string) => ({ create: advice, message: advice, poll: advice })

  test.each([
    [
      [300, 302, 399],
      'contract',
      REDIRECTED,
      sameFor(
        'The key is never sent to another address. If the service has moved to a URL you trust, set base-url to it.',
      ),
    ],
    [
      [401],
      'auth',
      REFUSED,
      sameFor("Check that api-key is an admin key (mint_…, not mint_dsc_… or mint_us_…) and hasn't expired."),
    ],
    [
      [403],
      'auth',
      REFUSED,
      {
        create:
          "Check that the key belongs to the project's organisation, isn't limited to reading, and allows the runner's IP address. Check that the plan includes the agent.",
        message:
          "Check that the key belongs to the project's organisation, isn't limited to reading, and allows the runner's IP address. Check that the plan includes the agent.",
        poll: "Check that the key belongs to the project's organisation and allows the runner's IP address. Check that the plan includes the agent.",
      },
    ],
    [
      [404],
      'not-found',
      REFUSED,
      { create: 'Check project-id and base-url.', message: MISSING_JOB, poll: MISSING_JOB },
    ],
    [
      [409],
      'rejected',
      REFUSED,
      { ...sameFor(FIX_AND_RERUN), message: 'The job is busy. Wait for it first, or raise timeout-minutes.' },
    ],
    [
      [429],
      'rate-limited',
      REFUSED,
      sameFor('The documented limit is 100 uses per project per hour. Run this later, or less often.'),
    ],
    [[400, 402, 418, 499], 'rejected', REFUSED, sameFor(FIX_AND_RERUN)],
  ])('of %j', (statuses, code, messages, advice) => {
    for (const status of statuses) {
      for (const kind of ['create', 'message', 'poll'] as const) {
        const message = messages[kind].replace('N', String(status))
        const response = errorResponse(status) as ErrorResponse
        expect(rejected(response, { kind })).toMatchObject({ code, message, advice: advice[kind] })
      }
    }
  })

  test.each([
    [
      undefined,
      "The service can't be reached: connect ECONNREFUSED. Nothing was sent.",
      'Check base-url, the proxy variables and the network, then run it again.',
    ],
    [
      'server-certificate',
      "The service's certificate is not trusted: connect ECONNREFUSED. Nothing was sent.",
      `Check base-url. ${TRUST_ADVICE}`,
    ],
    [
      'proxy-certificate',
      "The proxy's certificate is not trusted: connect ECONNREFUSED. Nothing was sent.",
      `Check HTTPS_PROXY. ${TRUST_ADVICE}`,
    ],
    [
      'proxy-authentication',
      'The proxy rejected the credentials: connect ECONNREFUSED. Nothing was sent.',
      'Set the user name and password in HTTPS_PROXY (http://user:password@host:port), or list the service in ' +
        'NO_PROXY.',
    ],
  ] as const)('of a connection that failed: %s', (reason, message, advice) => {
    const cause = new Error('x')
    const result = { kind: 'not-sent', reason: 'connect ECONNREFUSED', permanent: reason, cause } as const
    expect(cannotConnect(result, false)).toMatchObject({ code: 'network', message, advice, cause })
    // Not the first request: something may have been sent before.
    const later = message.replace(' Nothing was sent.', '')
    expect(cannotConnect(result, true)).toMatchObject({ code: 'network', message: later, advice, cause })
  })

  const WHERE_TO_LOOK =
    "Before you run this again, check the agent's jobs in the service's dashboard and the open pull requests in the " +
    'docs repository'

  test('of a create request with an unknown result', () => {
    expect(resultUnknown(CREATE, 'read ECONNRESET')).toMatchObject({
      code: 'create-unknown',
      message: 'The create request was sent, but its result is unknown: read ECONNRESET. A job may exist.',
      advice:
        `It was not retried, because that could create a second job. ${WHERE_TO_LOOK}; ` +
        'to wait for a job you find there, run a step with its job-id and no prompt.',
    })
  })

  test('of a message with an unknown result', () => {
    expect(resultUnknown(MESSAGE, 'read ECONNRESET')).toMatchObject({
      code: 'create-unknown',
      message:
        'The message to job "job-1" was sent, but its result is unknown: read ECONNRESET. ' +
        'The job may be working on it.',
      advice:
        'It was not retried, because the job might then do the work twice. To check on the job, run a step with ' +
        'this job-id and no prompt.',
    })
  })

  test('of responses without a job', () => {
    expect(createdWithoutJob('200: hello')).toMatchObject({
      code: 'contract',
      message:
        'The create request succeeded, but the response contains no job (200: hello). A job may exist.',
      advice: `It was not retried. ${WHERE_TO_LOOK}, and check that base-url is the URL of an agent service.`,
    })
    expect(missingJob('job-1', 'no job (200: hello)')).toMatchObject({
      code: 'contract',
      message:
        'The service returned 3 successful responses in a row without job "job-1": the last one contains no job ' +
        '(200: hello).',
      advice: 'Check that base-url is the URL of an agent service.',
    })
  })
})

describe('resultUnknown', () => {
  test('keeps the reason and the cause', () => {
    const cause = new Error('x')
    expect(resultUnknown(CREATE, 'the step ended', cause)).toMatchObject({ code: 'create-unknown', cause })
    expect(resultUnknown(MESSAGE, 'the step ended', cause)).toMatchObject({
      message: expect.stringContaining('the step ended'),
      cause,
    })
  })
})
