/** The agent service: its three endpoints, its responses, and its own message if it refuses. */

import { inspect } from 'node:util'
import { madeAt, parseRetryAfter } from '../net/backoff.js'
import type { Clock, Deadline } from '../net/deadline.js'
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
import { parseJson, safeLink } from '../text/safe.js'
import { isStatus, type Job } from './job.js'
import { errorSchema, jobSchema } from './schemas.js'

export type ServiceResult = Readonly<
  | { kind: 'job'; job: Job }
  /** A complete 2xx response without a job. A web page is not the service's. */
  | { kind: 'no-job'; description: string; isPage: boolean }
  /** The response is complete; it refuses, fails or redirects. */
  | {
      kind: 'error-response'
      status: number
      description: string
      retryAfterMs: number | undefined
      /** Something on the way has answered, not the service. */
      isForeign: boolean
      /** It says what is wrong as the service does. */
      hasError: boolean
    }
  | Exclude<HttpResult, HttpResponse>
>

export type SubmitRequest = Readonly<{ kind: 'create' } | { kind: 'message'; jobId: string }>

/** Each request is sent once; whether and when it is retried is decided elsewhere. */
export interface AgentService {
  /** `POST /v2/agent/{projectId}/job`, or `POST /v2/agent/{projectId}/job/{id}/message` */
  submit(request: SubmitRequest, prompt: string): Promise<ServiceResult>
  /** `GET /v2/agent/{projectId}/job/{id}` */
  getJob(jobId: string, until: Deadline): Promise<ServiceResult>
  /** Tells whether the service has responded to any of these. */
  hasResponded(): boolean
  close(): void
}

type AgentServiceOptions = Readonly<{
  baseUrl: string
  projectId: string
  apiKey: string
  redact: Redact
  deadline: Deadline
  network: NetworkSettings
  clock: Clock
  debug: (line: string) => void
}>

/**
 * Opens the service. The key goes to the base URL alone, and stands in no URL. [secret.key.where]
 *
 * @throws ActionError `network` if the proxy variables are invalid
 */
export function createAgentService(options: AgentServiceOptions): AgentService {
  const base = new URL(options.baseUrl)
  const prefix = base.pathname.replace(/\/$/, '')
  const { clock, deadline, network } = options
  const client = createHttpClient({
    ...network,
    origin: base.origin,
    proxy: proxyFor(base, network),
  })
  const jobs = `${prefix}/v2/agent/${encodeURIComponent(options.projectId)}/job`
  const headers = {
    accept: 'application/json',
    // If it were compressed, a small answer could become a large one.
    'accept-encoding': 'identity',
    authorization: `Bearer ${options.apiKey}`,
    'user-agent': 'agent-job-action',
  }

  let hasResponded = false
  const ask = async (request: HttpRequest, until: Deadline): Promise<ServiceResult> => {
    const startedAt = clock.now()
    const result = await client.send(request, until)
    hasResponded ||= result.kind === 'response'
    const outcome =
      result.kind === 'response' ? `${result.status}${options.redact(idOf(result))}` : result.kind
    options.debug(
      `${request.method} ${request.path} ${outcome} ${Math.round(clock.now() - startedAt)} ms`,
    )
    return result.kind === 'response' ? parseResponse(result, options) : result
  }
  const pathOf = (jobId: string) => `${jobs}/${encodeURIComponent(jobId)}`

  return {
    submit: (request, prompt) =>
      ask(
        {
          method: 'POST',
          path: request.kind === 'create' ? jobs : `${pathOf(request.jobId)}/message`,
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ prompt }),
        },
        deadline,
      ),
    getJob: (jobId, until) => ask({ method: 'GET', path: pathOf(jobId), headers }, until),
    hasResponded: () => hasResponded,
    close: client.close,
  }
}

/** The id by which the service knows the request, for a question to support. [report.log.lines] */
function idOf({ headers }: HttpResponse): string {
  const id = headers['x-request-id'] ?? headers['cf-ray'] ?? ''
  return /^[\w.:-]{1,100}$/.test(id) ? ` (${id})` : ''
}

/** How much of a response's text is redacted, in characters: more takes long. [text.cheap] */
const TEXT_LIMIT = 64 * 1024

function parseResponse(
  response: HttpResponse,
  { redact, clock }: AgentServiceOptions,
): ServiceResult {
  const { status: httpStatus, headers, body } = response
  const received = parseJson(body)
  const foreign = isForeign(httpStatus, headers['content-type'], body)
  if (httpStatus < 200 || httpStatus > 299) {
    const hasError = Boolean(Object(received).error)
    return {
      kind: 'error-response',
      status: httpStatus,
      description: describeResponse(response, redact),
      retryAfterMs: parseRetryAfter(headers['retry-after'], madeAt(headers, clock)),
      // Its own 404 says what isn't there: a gateway that has lost its route ends no docs job.
      isForeign: foreign || (httpStatus === 404 && !hasError),
      hasError,
    }
  }
  const job = jobSchema.safeParse(received).data
  if (job === undefined)
    return { kind: 'no-job', description: describeResponse(response, redact), isPage: foreign }
  const { id, status } = job
  const link = job.prLink ?? ''
  // The whole link is searched: in the part that is passed on, half a key would not be found.
  const isClean = link.length <= TEXT_LIMIT && redact(link, true) === link
  return {
    kind: 'job',
    job: {
      id,
      rawStatus: truncate(redact(status.slice(0, TEXT_LIMIT)), 80),
      status: isStatus(status) ? status : undefined,
      link: isClean ? safeLink(link) : undefined,
      received: job,
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
  // A body of white space alone says nothing.
  const message = truncate(oneLine(truncate(summarizePage(text), 4000)), 500)
  const said =
    message === ''
      ? ` with ${body === '' ? 'an empty' : 'an unreadable'} response`
      : `: ${quote(message)}`
  return status + said + (location && `, Location ${quote(location)}`)
}

/** What is wrong often stands beside the error, as details, errors or message. */
function describeBody(body: string): string {
  const received = parseJson(body)
  const { error: said, message } = errorSchema.parse(received)
  const error = said || message
  if (error === '') return body
  const fields = Object.entries(received as object)
  const more = Object.fromEntries(fields.filter(([, value]) => value !== error))
  if (Object.keys(more).length === 0) return error
  const all = { depth: 4, breakLength: Infinity, maxStringLength: Infinity }
  return `${error} ${inspect(more, all)}`
}
