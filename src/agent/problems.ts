/** What the user reads if the service refuses a request, can't be reached, or leaves its result unknown. */

import { ActionError, type ErrorCode } from '../errors.js'
import { quote } from '../escape.js'
import type { ServiceResult, SubmitRequest } from './client.js'

/** How many complete responses in a row may lack a job before polling fails. */
export const MAX_INVALID_RESPONSES = 3

const WHERE_TO_LOOK =
  "Before you start a new run, check the agent's jobs in the service's dashboard and the open pull requests in the docs repository"

/** Sent, but its result is unknown. */
export function resultUnknown(request: SubmitRequest, reason: string, cause?: unknown): ActionError {
  return request.kind === 'create'
    ? new ActionError(
        'create-unknown',
        `The create request was sent, but its result is unknown: ${reason}. A job may exist.`,
        `The request was not retried: that could create a second job. ${WHERE_TO_LOOK}; ` +
          'to wait for a job you find there, run a step with its job-id and no prompt.',
        { cause },
      )
    : new ActionError(
        'create-unknown',
        `The message to job ${quote(request.jobId)} was sent, but its result is unknown: ${reason}. ` +
          'The job may be working on it.',
        'The message was not retried: the job might then do the work twice. To check on the job, run a step with ' +
          'this job-id and no prompt.',
        { cause },
      )
}

export function createdWithoutJob(description: string): ActionError {
  return new ActionError(
    'contract',
    `The create request succeeded, but the response contains no job (${description}). A job may exist.`,
    `The request was not retried. ${WHERE_TO_LOOK}, and check that base-url is the URL of an agent service.`,
  )
}

export function missingJob(jobId: string, description: string): ActionError {
  return new ActionError(
    'contract',
    `The service returned ${MAX_INVALID_RESPONSES} successful responses in a row without job ${quote(jobId)}: ` +
      `the last one contains ${description}.`,
    'Check that base-url is the URL of an agent service.',
  )
}

/** What to do about a certificate. A step passes NODE_EXTRA_CA_CERTS to Node only if it is in the step's own `env`. */
const TRUST_ADVICE =
  "If you use a private certificate authority, set NODE_EXTRA_CA_CERTS in the step's env to its certificate file. " +
  "Verification can't be turned off."

/**
 * The request was not sent, because there was no connection.
 *
 * @param posted another request has already left this machine
 */
export function cannotConnect(
  { reason, permanent, cause }: Extract<ServiceResult, { kind: 'not-sent' }>,
  posted: boolean,
): ActionError {
  const networkError = (message: string, advice: string): ActionError =>
    new ActionError('network', `${message}: ${reason}.${posted ? '' : ' Nothing was sent.'}`, advice, {
      cause,
    })
  switch (permanent) {
    case 'server-certificate':
      return networkError("The service's certificate is not trusted", `Check base-url. ${TRUST_ADVICE}`)
    case 'proxy-certificate':
      return networkError("The proxy's certificate is not trusted", `Check HTTPS_PROXY. ${TRUST_ADVICE}`)
    case 'proxy-authentication':
      return networkError(
        'The proxy rejected the credentials',
        'Set the user name and password in HTTPS_PROXY (http://user:password@host:port), or list the service in NO_PROXY.',
      )
    case undefined:
      return networkError(
        "The service can't be reached",
        'Check base-url, the proxy variables and the network.',
      )
  }
}

/** What was requested, for the text. */
const REQUESTS = { create: 'create request', message: 'message', poll: 'status request' } as const

/** The request that was refused; `seen`: the service has returned this job to this step. */
type RefusedRequest =
  | { readonly kind: 'create' | 'message' }
  | { readonly kind: 'poll'; readonly seen: boolean }

/** A complete response that refuses: nothing was accepted. */
export class Refusal extends ActionError {
  constructor(
    /** The HTTP status. */
    readonly status: number,
    code: ErrorCode,
    message: string,
    advice: string,
  ) {
    super(code, message, advice)
  }
}

/** The error for a complete response that refuses. */
export function rejected(
  { status, description }: Extract<ServiceResult, { kind: 'error-response' }>,
  refused: RefusedRequest,
): Refusal {
  const request = REQUESTS[refused.kind]
  if (status < 400) {
    const text = `The service redirected the ${request} (${description}).`
    const advice =
      'The key is never sent to another address. If the service has moved to a URL you trust, set base-url to it.'
    return new Refusal(status, 'contract', text, advice)
  }
  const text = `The service refused the ${request} (${description}).`
  const [code, advice] = adviceFor(status, refused)
  return new Refusal(status, code, text, advice)
}

function adviceFor(status: number, refused: RefusedRequest): readonly [ErrorCode, string] {
  const { kind } = refused
  switch (status) {
    case 401:
      return [
        'auth',
        "Check that api-key is an admin key (mint_…, not mint_dsc_… or mint_us_…) and hasn't expired.",
      ]
    case 403: {
      const mayWrite = kind === 'poll' ? '' : ", isn't limited to reading,"
      return [
        'auth',
        `Check that the key belongs to the project's organisation${mayWrite} and allows the runner's IP address. ` +
          'Check that the plan includes the agent.',
      ]
    }
    case 404:
      if (kind === 'create') return ['not-found', 'Check project-id and base-url.']
      return [
        'not-found',
        kind === 'poll' && refused.seen
          ? "The service has returned this job before: check the agent's jobs in its dashboard."
          : 'Check job-id, project-id and base-url.',
      ]
    case 409:
      if (kind !== 'message') break
      return ['rejected', 'The job may be busy, or have ended. Wait for it first, or start a new job.']
    case 429:
      return [
        'rate-limited',
        'The documented limit is 100 uses per project per hour. Run the workflow later, or less often.',
      ]
  }
  return [
    'rejected',
    kind === 'poll'
      ? "See the service's dashboard for the job's status."
      : 'Fix the problem that the service reports, then start a new run.',
  ]
}
