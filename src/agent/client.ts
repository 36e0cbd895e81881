/** The agent service: its three endpoints, its responses, and its own message if it refuses. */

import { inspect } from 'node:util'
import { getPath, getString } from '../event/payload.js'
import type { Deadline } from '../net/deadline.js'
import {
  createHttpClient,
  type HttpRequest,
  type HttpResponse,
  type HttpResult,
} from '../net/http.js'
import { type NetworkSettings, proxyFor } from '../net/proxy.js'
import { isForeign, summarizePage } from '../text/error-page.js'
import { oneLine, quote, truncate } from '../text/escape.js'
import type { Redact } from '../text/redact.js'
import { isId, isStatus, type Job, safeLink } from './job.js'

export type ServiceResult = Readonly<
  | { kind: 'job'; job: Job }
  /** A complete 2xx response without a job. A web page is not the service's. */
  | { kind: 'no-job'; description: string; isPage: boolean }
  /** A complete response that refuses, fails or redirects. */
  | {
      kind: 'error-response'
      status: number
      description: string
      retryAfter: string | undefined
      /** Something on the way has answered, not the service. */
      isForeign: boolean
      /** It says what is wrong as the service does. */
      hasError: boolean
    }
  | Exclude<HttpResult, HttpResponse>
>

export type SubmitRequest = Readonly<{ kind: 'create' } | { kind: 'message'; jobId: string }>

/** Each method sends one request; whether and when it is retried is decided elsewhere. */
export type AgentService = ReturnType<typeof createAgentService>

type AgentServiceOptions = Readonly<{
  baseUrl: string
  projectId: string
  apiKey: string
  redact: Redact
  deadline: Deadline
  network: NetworkSettings
  now: () => number
  debug: (line: string) => void
}>

/**
 * [secret.key.where]
 *
 * @throws ActionError `network` if the proxy variables are invalid
 */
export function createAgentService(options: AgentServiceOptions) {
  const base = new URL(options.baseUrl)
  // [input.base-url]
  const prefix = base.pathname.replace(/\/$/, '')
  const { deadline, network } = options
  const client = createHttpClient({
    // [net.tls.verified]
    ...network,
    // [secret.key.where]
    origin: base.origin,
    // [net.proxy]
    proxy: proxyFor(base, network),
  })
  // [input.base-url] [input.id]
  const jobs = `${prefix}/v2/agent/${encodeURIComponent(options.projectId)}/job`
  // [secret.key.where] [net.limits] [net.user-agent]
  const headers = {
    // [net.limits]
    accept: 'application/json',
    'accept-encoding': 'identity',
    // [secret.key.where]
    authorization: `Bearer ${options.apiKey}`,
    // [net.user-agent]
    'user-agent': 'agent-job-action',
  }

  // [send.unconnected] [poll.dead-address]
  let hasResponded = false
  // [send.never-twice]
  const send = async (request: HttpRequest, until: Deadline): Promise<ServiceResult> => {
    const startedAt = options.now()
    const result = await client.send(request, until)
    // [send.unconnected] [poll.dead-address]
    hasResponded ||= result.kind === 'response'
    // [report.log.lines]
    const outcome =
      result.kind === 'response' ? `${result.status}${options.redact(idOf(result))}` : result.kind
    // [report.log.lines]
    options.debug(
      `${request.method} ${request.path} ${outcome} ${Math.round(options.now() - startedAt)} ms`,
    )
    // [send.job.required]
    return result.kind === 'response' ? parseResponse(result, options.redact) : result
  }
  // [input.id]
  const pathOf = (jobId: string): string => `${jobs}/${encodeURIComponent(jobId)}`

  return {
    /**
     * `POST /v2/agent/{projectId}/job`, or `POST /v2/agent/{projectId}/job/{id}/message`.
     * [send.never-twice]
     */
    submit: (request: SubmitRequest, prompt: string) =>
      send(
        {
          method: 'POST',
          // [input.task] [input.id]
          path: request.kind === 'create' ? jobs : `${pathOf(request.jobId)}/message`,
          // [input.task] [secret.key.where]
          headers: { ...headers, 'content-type': 'application/json' },
          // [input.task]
          body: JSON.stringify({ prompt }),
        },
        // [net.deadline] [cancel.in-flight]
        deadline,
      ),
    /** `GET /v2/agent/{projectId}/job/{id}` [poll.retry] */
    getJob: (jobId: string, until: Deadline) =>
      // [secret.key.where] [input.id]
      send({ method: 'GET', path: pathOf(jobId), headers }, until),
    /** Whether the service has responded to any of these. [send.unconnected] [poll.dead-address] */
    hasResponded: () => hasResponded,
    // [poll.last]
    close: client.close,
  }
}

/**
 * What the service, or the network before it, knows the request by: for a question to support.
 * [report.log.lines]
 */
function idOf({ headers }: HttpResponse): string {
  const id = headers['x-request-id'] ?? headers['cf-ray'] ?? ''
  return /^[\w.:-]{1,100}$/.test(id) ? ` (${id})` : ''
}

/**
 * What is read of a job. The API declares no field as required: `id` and `status` are needed here.
 * [send.job.required]
 */
export const JOB_FIELDS = ['id', 'status', 'prLink'] as const

/** Of a text in a response, in characters: it takes long to redact more. [text.cheap] */
const TEXT_LIMIT = 64 * 1024

// [send.job.required]
function parseResponse(response: HttpResponse, redact: Redact): ServiceResult {
  const { status: httpStatus, headers, body } = response
  const received = parseJson(body)
  // [send.refused.foreign]
  const foreign = isForeign(httpStatus, headers['content-type'], body)
  // [send.refused.final]
  if (httpStatus < 200 || httpStatus > 299) {
    return {
      kind: 'error-response',
      status: httpStatus,
      description: describeResponse(response, redact),
      // [send.limited]
      retryAfter: headers['retry-after'],
      // [send.refused.foreign]
      isForeign: foreign,
      hasError: getString(received, 'error') !== '',
    }
  }
  // [send.job.required]
  const [id, status, prLink] = JOB_FIELDS.map((name) => getPath(received, name))
  // [send.no-job]
  if (typeof id !== 'string' || !isId(id) || typeof status !== 'string')
    return { kind: 'no-job', description: describeResponse(response, redact), isPage: foreign }
  // The whole link: in the part that is passed on, half a key would not be found.
  // [secret.redacted]
  const isClean =
    typeof prLink === 'string' && prLink.length <= TEXT_LIMIT && redact(prLink, true) === prLink
  // [send.job.required]
  return {
    kind: 'job',
    job: {
      id,
      // [secret.redacted] [poll.status.undocumented]
      rawStatus: truncate(redact(status.slice(0, TEXT_LIMIT)), 80),
      // [output.status]
      status: isStatus(status) ? status : undefined,
      // [output.pr-link]
      link: isClean ? safeLink(prLink) : undefined,
      // [poll.stale-end]
      received: received as Job['received'],
    },
  }
}

// [send.refused.final]
function describeResponse({ status, headers, body }: HttpResponse, redact: Redact): string {
  // [send.no-job]
  const location = truncate(redact(headers.location ?? ''), 200)
  // [send.refused.final]
  if (status >= 300 && status <= 399) {
    return location === ''
      ? `${status} without a Location header`
      : `${status} to ${quote(location)}`
  }
  // The redactor finds a key that is cut off here, but not one that has lost what looks like a tag.
  // [secret.redacted] [text.cheap]
  const text = redact(describeBody(body).slice(0, TEXT_LIMIT))
  // White space alone is no words. [text.page] [send.refused.final]
  const message = truncate(oneLine(truncate(summarizePage(text), 4000)), 500)
  // [send.refused.final]
  const said =
    message === ''
      ? ` with ${body === '' ? 'an empty' : 'an unreadable'} response`
      : `: ${quote(message)}`
  // [send.no-job]
  return status + said + (location && `, Location ${quote(location)}`)
}

/**
 * What is wrong often stands beside the error, as details, errors or message; a gateway's refusal
 * may have the message alone, such as Amazon's `{"message": "Forbidden"}`. [send.refused.final]
 */
function describeBody(body: string): string {
  const received = parseJson(body)
  const error = getString(received, 'error') || getString(received, 'message')
  if (error === '') return body
  const fields = Object.entries(received as object)
  const more = Object.fromEntries(fields.filter(([, value]) => value !== error))
  if (Object.keys(more).length === 0) return error
  const all = { depth: 4, breakLength: Infinity, maxStringLength: Infinity }
  return `${error} ${inspect(more, all)}`
}

// [send.job.required]
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
