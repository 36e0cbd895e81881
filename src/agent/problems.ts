/** What the user reads if the service refuses, or can't be reached. */

import { ActionError, type ErrorCode, explainFailure } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import type { ServiceResult } from './client.js'
import { ASK_NETWORK, LOOK_FIRST } from './result-unknown.js'

/** A sign-in page isn't the service's answer: a docs job may exist, or not. [send.no-job] */
export function createdWithoutJob(response: NoJob): ActionError {
  return new ActionError(
    'contract',
    `The response to the create request contains ${noJob(response)}. A docs job may exist.`,
    response.isPage ? `${ASK_NETWORK} ${LOOK_FIRST}` : `${LOOK_FIRST} ${CHECK_SERVICE}`,
  )
}

const CHECK_SERVICE = 'Check that base-url is the URL of an agent service.'

type NoJob = Extract<ServiceResult, { kind: 'no-job' }>

export function noJob({ description, isPage }: NoJob): string {
  const what = isPage ? 'a web page' : 'no docs job with a valid id and a status'
  return `${what} (${description})`
}

export function missingJob(
  jobId: string,
  seen: boolean,
  contained: string,
  isPage = false,
): ActionError {
  return new ActionError(
    'contract',
    `The service's last answers don't show docs job ${quote(jobId)}: the last one contains ${contained}.`,
    isPage ? ASK_NETWORK : seen ? '' : CHECK_SERVICE,
  )
}

export function cannotConnect({
  reason,
  permanent,
  cause,
}: Extract<ServiceResult, { kind: 'not-sent' }>): ActionError {
  const [
    text = "the service can't be reached",
    advice = 'Check base-url, the proxy variables and the network.',
  ] = permanent === undefined ? [] : explainFailure(permanent, 'the service')
  const check = permanent?.startsWith('server') ? 'Check base-url. ' : ''
  const message = `${text.replace(/^t/, 'T')}: ${reason}.`
  return new ActionError('network', message, check + advice, { cause })
}

const REQUEST_NAMES = {
  create: 'create request',
  message: 'message',
  poll: 'status request',
}

/** The request that was refused; `seen`: the service has returned this job to this step. */
type RefusedRequest = Readonly<{ kind: keyof typeof REQUEST_NAMES; seen?: boolean }>

type ErrorResponse = Extract<ServiceResult, { kind: 'error-response' }>

/** The response is complete and refuses: nothing was accepted. */
export class Refusal extends ActionError {
  constructor(
    readonly response: ErrorResponse,
    code: ErrorCode,
    message: string,
    advice: string,
    readonly request: RefusedRequest['kind'],
  ) {
    super(code, message, advice)
  }
}

/**
 * What a refusal means, and what helps: nothing was accepted, and no retry mends it.
 * [send.refused.final] One that is too long is told as that, whoever says so.
 * [send.refused.too-long]
 */
export function createRefusal(response: ErrorResponse, { kind, seen }: RefusedRequest): Refusal {
  const { status, isForeign, hasError, description } = response
  const request = REQUEST_NAMES[kind]
  const refuse = (code: ErrorCode, advice: string, text = `The service refused the ${request}`) =>
    new Refusal(response, code, `${text} (${description}).`, advice, kind)
  if (status < 400) {
    const advice =
      'The key is never sent to another address. If that is a sign-in page or the like, ask whoever runs the network. If the service has moved to a URL you trust, set base-url to it, without /v2/agent and what follows.'
    return refuse('contract', advice, `The service redirected the ${request}`)
  }
  if (status === 413) {
    const text = `The ${request} is too long for the service, or for what is in front of it`
    return refuse('rejected', 'Shorten the prompt, or send `context: event`.', text)
  }
  // A firewall knows neither whose key it is nor whether a docs job is gone.
  if (isForeign && ![409, 429].includes(status))
    return refuse('rejected', ASK_FIREWALL, `A firewall or a proxy has refused the ${request}`)
  const gateway = hasError ? '' : ASK_GATEWAY
  switch (status) {
    case 401: {
      // What is remembered was signed with the old key.
      const advice =
        "Check that api-key is the right key and hasn't expired. If you replace it and use job-scope, set previous-api-key to the old one, unless it leaked: else open docs pull requests aren't continued. After a leak, see SECURITY.md of this action."
      // After a status request, a re-run may start another docs job.
      return refuse('auth', joinSentences(advice, kind === 'poll' ? '' : 'Then re-run.', gateway))
    }
    case 403:
      return refuse('auth', joinSentences(CHECK_ACCESS, gateway))
    case 404:
      return refuse('not-found', kind === 'create' ? CHECK_PROJECT : seen ? WAS_THERE : CHECK_JOB)
    case 429:
      return refuse('rate-limited', CHECK_LIMIT)
  }
  if (status === 409 && kind === 'message') return refuse('rejected', WAIT_FOR_JOB)
  return refuse('rejected', kind === 'poll' ? LOOK_THERE : FIX_IT)
}

const ASK_GATEWAY =
  'If there is a gateway or a firewall in front of the service, ask whoever runs it: some refuse code in a request, or a long one.'

const ASK_FIREWALL =
  'Check base-url. If it is right, ask whoever runs the firewall: some refuse code in a request, or a long one, others the addresses of data centres. That says nothing about the key.'

/** The source is Mintlify's pages on the Agent API, API keys and usage. */
const CHECK_ACCESS =
  "Check the key: it has to be for this project, and it must allow the runner's IP address. A key that is limited to reading can't send anything. Check also that the plan includes the agent."
// This says what Mintlify documents, and no more.
const CHECK_LIMIT =
  'Re-run later, or start runs less often. Mintlify documents a limit of 100 uses per project per hour.'

const CHECK_PROJECT = 'Check project-id and base-url, and that the key is for this project.'
const CHECK_JOB = 'Check job-id, project-id and base-url.'
const WAS_THERE = 'The service has returned this docs job before: it may have been deleted.'
const WAIT_FOR_JOB =
  'The docs job may have been busy, or have ended. Wait for the docs job, or start a new docs job.'
const LOOK_THERE = "See the service's dashboard for the docs job's status, if it lists docs jobs."
const FIX_IT =
  'Fix the problem that the service reports, then re-run, or start a new run if you changed the workflow file.'
