// Emulates the agent service on loopback, with jobs that run faster than real ones and with
// injectable faults.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createJobs } from './jobs.mjs'
import { DEFAULT_SCENARIO, findScenario, JOB_SECONDS } from './scenarios.mjs'

/** @import { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */
/** @import { Jobs } from './jobs.mjs' */
/** @import { Fault, Service } from './scenarios.mjs' */

const ROUTE = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+)(\/message)?)?$/

/**
 * @typedef {object} Options
 * @property {string | Service} [scenario] a scenario's name, or a custom behaviour (default
 * `pr-opened`)
 * @property {number | undefined} [port] default 0: any free port
 * @property {number | undefined} [jobSeconds] how long a job takes at speed 1 (default: set by the
 * scenario)
 * @property {number | undefined} [speed] how many times faster jobs run (default 1)
 * @property {() => number} [now] the clock, in milliseconds since 1970
 * @property {string | undefined} [repository] that the pull requests are in
 * @property {(request: LoggedRequest) => void} [onRequest] called before the response, or when the
 * client disconnects
 */

/**
 * A request as it was received.
 * @typedef {object} LoggedRequest
 * @property {number} at milliseconds since the start
 * @property {string} method
 * @property {string} path not decoded
 * @property {IncomingMessage['headers']} headers
 * @property {string} body
 * @property {number | 'reset' | 'none'} status of the response; `reset` for a connection that was
 * reset on purpose,
 *   `none` if no response was sent (yet)
 * @property {unknown} responseBody undefined if no response was sent (yet)
 * @property {Fault} fault the injected fault; empty for an ordinary response
 * @property {string} [jobId]
 */

/** @typedef {Awaited<ReturnType<typeof startEmulator>>} Emulator */
/** @typedef {{ kind: 'create' | 'message' | 'poll', projectId: string, id: string }} Route */
/**
 * @typedef {{ status: number, headers?: OutgoingHttpHeaders, body: unknown } | 'reset'}
 * HttpResponse
 */

/** Becomes a response with this status and the body `{"error": message}`. */
class HttpError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/**
 * Starts the service.
 * @param {Options} [options]
 * @throws {RangeError} the scenario is unknown
 * @throws {Error} the port is in use
 */
export async function startEmulator(options = {}) {
  const { scenario = DEFAULT_SCENARIO, port = 0, now = Date.now } = options
  const service = typeof scenario === 'string' ? findScenario(scenario).service : scenario
  const {
    speed = 1,
    jobSeconds = service.jobSeconds ?? JOB_SECONDS,
    onRequest,
    repository,
  } = options
  const startedAt = now()
  const jobs = createJobs(service, { jobSeconds, speed, startedAt, repository })
  const handle = createHandler(service, jobs, now)
  const closing = new AbortController()
  /** @type {LoggedRequest[]} */
  const requests = []

  const server = createServer(async (request, response) => {
    const entry = createLogEntry(request, now() - startedAt)
    requests.push(entry)
    let isReported = false
    const report = () => {
      if (!isReported) onRequest?.(entry)
      isReported = true
    }
    response.on('close', report)
    send(
      response,
      entry,
      await handle(request, entry, closing.signal).catch(toErrorResponse),
      report,
    )
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  /** @type {Promise<unknown> | undefined} */
  let closed
  return {
    url: `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,
    /** How long a job takes at this speed. */
    jobSeconds: jobSeconds / speed,
    requests,
    jobs: jobs.byId,
    /** Ends every connection. */
    async close() {
      closing.abort()
      closed ??= once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * @param {Service} service
 * @param {Jobs} jobs
 * @param {() => number} now
 * @returns {(request: IncomingMessage, entry: LoggedRequest, closing: AbortSignal) =>
 * Promise<HttpResponse>}
 */
function createHandler(service, jobs, now) {
  const counts = { create: 0, message: 0, poll: 0 }

  return async (request, entry, closing) => {
    const route = findRoute(entry)
    const fault = route ? faultAt(service[route.kind], counts[route.kind]++) : {}
    if (route?.id) entry.jobId = route.id
    if (fault.reset === 'before') {
      entry.fault = fault
      return 'reset'
    }
    entry.body = await text(request)

    if (!route) throw new HttpError(404, 'No such endpoint')
    if (!/^Bearer \S+$/.test(request.headers.authorization ?? ''))
      throw new HttpError(401, 'Missing or invalid API key')
    if (service.projectIds?.includes(route.projectId) === false)
      throw new HttpError(404, 'Project not found')
    const prompt = route.kind === 'poll' ? '' : readPrompt(entry)
    entry.fault = fault
    const existing = jobs.byId.get(route.id) ?? jobs.recall(route.projectId, route.id)
    if (fault.status) {
      if (fault.others && existing) jobs.message(existing, fault.others, now())
      return { status: fault.status, headers: fault.headers ?? {}, body: { error: fault.error } }
    }
    if (route.id && existing?.projectId !== route.projectId)
      throw new HttpError(404, 'Job not found')

    const at = now()
    const job = existing ?? jobs.create(route.projectId, prompt, at)
    if (route.kind === 'message') jobs.message(job, prompt, at)
    entry.jobId = job.id
    if (fault.reset === 'after') return 'reset'
    if (fault.delayMs) await sleep(fault.delayMs, undefined, { signal: closing })
    return {
      status: route.kind === 'create' ? 201 : 200,
      body: { ...jobs.toJson(job, at), ...fault.job },
    }
  }
}

/**
 * @param {LoggedRequest} request
 * @returns {Route | undefined} undefined if there is no such endpoint
 */
function findRoute({ method, path }) {
  const [, project, job, message] = ROUTE.exec(path) ?? []
  const projectId = decodeId(project)
  const id = decodeId(job)
  if (!projectId || (job && !id)) return undefined
  if (method === 'POST' && !id) return { kind: 'create', projectId, id: '' }
  if (method === 'POST' && message) return { kind: 'message', projectId, id }
  if (method === 'GET' && id && !message) return { kind: 'poll', projectId, id }
  return undefined
}

/**
 * @param {string | undefined} segment of a path
 * @returns {string} empty if it is not a valid ID
 */
function decodeId(segment = '') {
  try {
    const id = decodeURIComponent(segment)
    return id === '.' || id === '..' ? '' : id
  } catch {
    return ''
  }
}

/**
 * @param {Fault[] | undefined} faults
 * @param {number} index of the request among those of its kind
 * @returns {Fault}
 */
function faultAt(faults = [], index) {
  let end = 0
  for (const fault of faults) {
    end += fault.times ?? 1
    if (index < end) return fault
  }
  return {}
}

/**
 * @param {LoggedRequest} request
 * @returns {string} the prompt, never empty
 */
function readPrompt({ headers, body }) {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new HttpError(400, 'Content-Type must be application/json')
  }
  const prompt = parseJson(body)?.prompt
  if (typeof prompt !== 'string' || prompt === '') {
    throw new HttpError(400, 'prompt must be a non-empty string')
  }
  return prompt
}

/** @param {string} text */
function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpError(400, 'The body is not valid JSON')
  }
}

/**
 * @param {IncomingMessage} request
 * @param {number} at
 * @returns {LoggedRequest}
 */
function createLogEntry(request, at) {
  const { method = '', url = '', headers } = request
  return {
    at,
    method,
    path: url,
    headers,
    body: '',
    status: 'none',
    responseBody: undefined,
    fault: {},
  }
}

/**
 * @param {unknown} error
 * @returns {HttpResponse}
 */
function toErrorResponse(error) {
  const status = error instanceof HttpError ? error.status : 500
  return { status, body: { error: error instanceof Error ? error.message : String(error) } }
}

/**
 * @param {ServerResponse} response
 * @param {LoggedRequest} entry
 * @param {HttpResponse} content
 * @param {() => void} report is called before anything is sent, so that the log is complete when
 * the client continues
 */
function send(response, entry, content, report) {
  const { socket } = response.req
  if (socket.destroyed) return
  if (content === 'reset') {
    entry.status = 'reset'
    report()
    socket.resetAndDestroy()
    return
  }
  entry.status = content.status
  entry.responseBody = content.body
  report()
  response.writeHead(content.status, { 'content-type': 'application/json', ...content.headers })
  response.end(JSON.stringify(content.body))
}
