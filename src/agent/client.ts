/** The agent service: its three endpoints, the shape of its answers, and its own words where it refuses. */

import * as z from 'zod/mini'
import { clip, oneLine, quote, type Redact } from '../escape.js'
import type { Stop } from '../net/deadline.js'
import { type HttpRequest, type HttpResult, httpClient } from '../net/http.js'
import { type ProxyVariables, proxyFor } from '../net/proxy.js'
import { isId, isStatus, type Job, safeLink } from './job.js'

type Answer = Extract<HttpResult, { kind: 'answer' }>

/** What became of one request, in the service's terms. */
export type Reply =
  | { readonly kind: 'job'; readonly job: Job }
  /** A complete 2xx answer that holds no job. */
  | { readonly kind: 'no-job'; readonly words: string }
  /** A complete answer that refuses, fails or points elsewhere. */
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly words: string
      /** The header as it came. */
      readonly retryAfter: string | undefined
    }
  | Exclude<HttpResult, Answer>

/** One request each: whether and when it is sent again is decided elsewhere. */
export interface Service {
  /** Creates a job (service interface, 4.1). */
  create(prompt: string): Promise<Reply>
  /** Sends a follow-up message to a job (service interface, 4.2). */
  message(jobId: string, prompt: string): Promise<Reply>
  /** Gets a job: `GET /v2/agent/{projectId}/job/{id}`. */
  look(jobId: string): Promise<Reply>
  close(): void
}

export interface ServiceOptions {
  readonly baseUrl: string
  readonly projectId: string
  readonly apiKey: string
  readonly redact: Redact
  readonly stop: Stop
  readonly proxies: ProxyVariables
  /** The milliseconds that requests take are read off it. */
  readonly now: () => number
  readonly debug: (line: string) => void
}

/**
 * Connects to the service; nothing is sent yet.
 *
 * @throws ActionError `network` where the proxy variables hold no proxy
 */
export function agentService(options: ServiceOptions): Service {
  const base = new URL(options.baseUrl)
  const prefix = base.pathname.replace(/\/+$/, '')
  const client = httpClient(base.origin, options.stop, proxyFor(base, options.proxies))
  const jobs = `${prefix}/v2/agent/${encodeURIComponent(options.projectId)}/job`
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    authorization: `Bearer ${options.apiKey}`,
    'user-agent': 'agent-job-action',
  }

  const send = async (request: HttpRequest): Promise<Reply> => {
    const start = options.now()
    const result = await client.send(request)
    const outcome = result.kind === 'answer' ? result.status : result.kind
    options.debug(`${request.method} ${request.path} ${outcome} ${Math.round(options.now() - start)} ms`)
    return result.kind === 'answer' ? read(result, options.redact) : result
  }
  const post = (path: string, prompt: string): Promise<Reply> =>
    send({
      method: 'POST',
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt }),
    })

  return {
    create: (prompt) => post(jobs, prompt),
    message: (jobId, prompt) => post(`${jobs}/${encodeURIComponent(jobId)}/message`, prompt),
    look: (jobId) => send({ method: 'GET', path: `${jobs}/${encodeURIComponent(jobId)}`, headers }),
    close: client.close,
  }
}

/** No field is declared required: `id` and `status` are demanded, `prLink` is taken where it is a text. */
const jobSchema = z.object({
  id: z.string().check(z.refine(isId)),
  status: z.string(),
  prLink: z.catch(z.string(), ''),
})

const errorSchema = z.object({ error: z.string() })

function read(answer: Answer, redact: Redact): Reply {
  if (answer.status < 200 || answer.status > 299) {
    const retryAfter = answer.headers['retry-after']
    return { kind: 'refused', status: answer.status, words: wordsOf(answer, redact), retryAfter }
  }
  const received = parseJson(answer.body)
  const parsed = jobSchema.safeParse(received)
  if (!parsed.success) return { kind: 'no-job', words: wordsOf(answer, redact) }
  const { id, status, prLink } = parsed.data
  const link = redact(prLink) === prLink ? safeLink(prLink) : ''
  return {
    kind: 'job',
    job: {
      id,
      word: clip(redact(status), 80),
      status: isStatus(status) ? status : undefined,
      link,
      linkRefused: prLink !== '' && link === '',
      received,
    },
  }
}

/** The answer in words: its status, and what the service says with it. The key is taken out before they are cut. */
function wordsOf(answer: Answer, redact: Redact): string {
  const { status, headers, body } = answer
  if (status >= 300 && status <= 399) {
    const location = clip(redact(headers.location ?? ''), 200)
    return location === '' ? `${status}, without an address` : `${status}, to ${quote(location)}`
  }
  const parsed = errorSchema.safeParse(parseJson(body))
  const text = clip(redact(parsed.success ? parsed.data.error : body), 4000)
  const words = clip(oneLine(parsed.success ? text : withoutTags(text)), 500)
  return words === '' ? `${status}, without a word` : `${status}: ${words}`
}

/** What an HTML page says, as gateways answer in front of a service. */
function withoutTags(text: string): string {
  return text.replace(/<(style|script|head)\b.*?<\/\1>/gis, ' ').replace(/<[^>]*>/g, ' ')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
