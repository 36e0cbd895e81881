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
 * Opens the service. The key goes to the base URL alone, and stands in no URL. [secret.key.where]
 *
 * @throws ActionError `network` if the proxy variables are invalid
 */
export function createAgentService(options: AgentServiceOptions) {
  const base = new URL(options.baseUrl)
  const prefix = base.pathname.replace(/\/$/, '')
  const { deadline, network } = options
  const client = createHttpClient({
    ...network,
    origin: base.origin,
    proxy: proxyFor(base, network),
  })
  const jobs = `${prefix}/v2/agent/${encodeURIComponent(options.projectId)}/job`
  const headers = {
    accept: 'application/json',
    // Compressed, a small answer could become a large one.
    'accept-encoding': 'identity',
    authorization: `Bearer ${options.apiKey}`,
    'user-agent': 'agent-job-action',
  }

  let hasResponded = false
  const ask = async (request: HttpRequest, until: Deadline): Promise<ServiceResult> => {
    const startedAt = options.now()
    const result = await client.send(request, until)
    hasResponded ||= result.kind === 'response'
    const outcome =
      result.kind === 'response' ? `${result.status}${options.redact(idOf(result))}` : result.kind
    options.debug(
      `${request.method} ${request.path} ${outcome} ${Math.round(options.now() - startedAt)} ms`,
    )
    return result.kind === 'response' ? parseResponse(result, options.redact) : result
  }
  const pathOf = (jobId: string): string => `${jobs}/${encodeURIComponent(jobId)}`

  return {
    /** `POST /v2/agent/{projectId}/job`, or `POST /v2/agent/{projectId}/job/{id}/message` */
    submit: (request: SubmitRequest, prompt: string) =>
      ask(
        {
          method: 'POST',
          path: request.kind === 'create' ? jobs : `${pathOf(request.jobId)}/message`,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ prompt }),
        },
        deadline,
      ),
    /** `GET /v2/agent/{projectId}/job/{id}` */
    getJob: (jobId: string, until: Deadline) =>
      ask({ method: 'GET', path: pathOf(jobId), headers }, until),
    /** Whether the service has responded to any of these. */
    hasResponded: () => hasResponded,
    close: client.close,
  }
}

/** What the service knows the request by: for a question to support. [report.log.lines] */
function idOf({ headers }: HttpResponse): string {
  const id = headers['x-request-id'] ?? headers['cf-ray'] ?? ''
  return /^[\w.:-]{1,100}$/.test(id) ? ` (${id})` : ''
}

/** The API declares no field as required: `id` and `status` are. [send.job.required] */
export const JOB_FIELDS = ['id', 'status', 'prLink'] as const

/** Of a text in a response, in characters: it takes long to redact more. [text.cheap] */
const TEXT_LIMIT = 64 * 1024

function parseResponse(response: HttpResponse, redact: Redact): ServiceResult {
  const { status: httpStatus, headers, body } = response
  const received = parseJson(body)
  const foreign = isForeign(httpStatus, headers['content-type'], body)
  if (httpStatus < 200 || httpStatus > 299) {
    const hasError = getString(received, 'error') !== ''
    return {
      kind: 'error-response',
      status: httpStatus,
      description: describeResponse(response, redact),
      retryAfter: headers['retry-after'],
      // Its own 404 says what isn't there: a gateway that has lost its route ends no docs job.
      isForeign: foreign || (httpStatus === 404 && !hasError),
      hasError,
    }
  }
  const [id, status, prLink] = JOB_FIELDS.map((name) => getPath(received, name))
  if (typeof id !== 'string' || !isId(id) || typeof status !== 'string')
    return { kind: 'no-job', description: describeResponse(response, redact), isPage: foreign }
  // The whole link: in the part that is passed on, half a key would not be found.
  const isClean =
    typeof prLink === 'string' && prLink.length <= TEXT_LIMIT && redact(prLink, true) === prLink
  return {
    kind: 'job',
    job: {
      id,
      rawStatus: truncate(redact(status.slice(0, TEXT_LIMIT)), 80),
      status: isStatus(status) ? status : undefined,
      link: isClean ? safeLink(prLink) : undefined,
      received: received as Job['received'],
    },
  }
}

function describeResponse({ status, headers, body }: HttpResponse, redact: Redact): string {
  const location = truncate(redact(headers.location ?? ''), 200)
  if (status >= 300 && status <= 399) {
    return location === ''
      ? `${status} without a Location header`
      : `${status} to ${quote(location)}`
  }
  // The redactor finds a key that is cut off here, but not one that has lost what looks like a tag.
  const text = redact(describeBody(body).slice(0, TEXT_LIMIT))
  // White space alone is no words.
  const message = truncate(oneLine(truncate(summarizePage(text), 4000)), 500)
  const said =
    message === ''
      ? ` with ${body === '' ? 'an empty' : 'an unreadable'} response`
      : `: ${quote(message)}`
  return status + said + (location && `, Location ${quote(location)}`)
}

/**
 * What is wrong often stands beside the error, as details, errors or message; a gateway's refusal
 * may have the message alone, such as Amazon's `{"message": "Forbidden"}`.
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
