// The agent job service in small: its endpoints on loopback, with a clock of its own and faults on demand.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_SCENARIO, findScenario } from './scenarios.mjs'

/** @import { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */
/** @import { Fault, Service } from './scenarios.mjs' */

const BODY_LIMIT = 2 * 1024 * 1024
const REQUESTS_KEPT = 1000
const FIRST_PULL_REQUEST = 17
const ROUTE = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+)(\/message)?)?$/

/**
 * @typedef {object} Options
 * @property {string | Service} [scenario] a scenario's name, or a behaviour of one's own (default `pr-opened`)
 * @property {string} [apiKey] the bearer that is accepted (default: any)
 * @property {string} [prefix] in front of every path, such as `/gateway`
 * @property {number | undefined} [port] default 0: a free one
 * @property {string} [host] an IPv4 address or a name (default 127.0.0.1)
 * @property {number | undefined} [jobSeconds] how long a job is active, in seconds of the service's clock
 * @property {number | undefined} [speed] seconds of the service's clock in a real second (default 1)
 * @property {() => number} [now] the real clock, in milliseconds
 * @property {(request: LoggedRequest) => void} [onRequest] called before a request is answered, or when it was cut
 */

/**
 * A request as it came. `at` is in real milliseconds since the start; `path` is not decoded; `status` is the one answered,
 * `reset` for a connection that was reset on purpose, `none` where no answer went out (yet).
 * @typedef {object} LoggedRequest
 * @property {number} at
 * @property {string} method
 * @property {string} path
 * @property {IncomingMessage['headers']} headers
 * @property {string} body
 * @property {number | 'reset' | 'none'} status
 * @property {string} [jobId]
 */

/**
 * A job as the service keeps it. Times are in milliseconds of the service's clock.
 * @typedef {object} Job
 * @property {string} id
 * @property {string} projectId
 * @property {number} createdAt
 * @property {number} activeSince
 * @property {number} pullRequest the number of the pull request it would open
 * @property {string[]} prompts every instruction it was given
 */

/**
 * @typedef {object} Emulator
 * @property {string} url the base address, with the prefix
 * @property {LoggedRequest[]} requests the last 1000, oldest first
 * @property {Map<string, Job>} jobs by id
 * @property {() => Promise<void>} close ends every connection
 */

/** @typedef {{ kind: 'create' | 'message' | 'poll', projectId: string, id: string }} Route */
/** @typedef {{ status: number, headers?: OutgoingHttpHeaders, body: unknown } | 'reset'} Answer */

/** A request that is turned down: the status, and the text of `{"error": text}`. */
class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} text
   */
  constructor(status, text) {
    super(text)
    this.status = status
  }
}

/**
 * Starts the service.
 * @param {Options} [options]
 * @returns {Promise<Emulator>}
 * @throws {RangeError} the scenario is unknown
 * @throws {Error} the port is taken, or the host is not one of this machine
 */
export async function startEmulator(options = {}) {
  const { scenario = DEFAULT_SCENARIO, prefix = '', port = 0, host = '127.0.0.1', now = Date.now } = options
  const service = typeof scenario === 'string' ? findScenario(scenario).service : scenario
  const { speed = 1, jobSeconds = service.jobSeconds ?? 240, onRequest } = options
  const startedAt = now()
  const jobs = createJobs(service, jobSeconds * 1000, () => startedAt + (now() - startedAt) * speed)
  const handle = createHandler(service, jobs, prefix, options.apiKey)
  const closing = new AbortController()
  /** @type {LoggedRequest[]} */
  const requests = []

  const server = createServer(async (request, response) => {
    const entry = logEntry(request, now() - startedAt)
    requests.push(entry)
    if (requests.length > REQUESTS_KEPT) requests.shift()
    let isTold = false
    const tell = () => {
      if (!isTold) onRequest?.(entry)
      isTold = true
    }
    response.on('close', tell)
    send(response, entry, await handle(request, entry, closing.signal).catch(toAnswer), tell)
  })
  server.listen(port, host)
  await once(server, 'listening')

  /** @type {Promise<unknown> | undefined} */
  let closed
  return {
    url: `http://${host}:${/** @type {AddressInfo} */ (server.address()).port}${prefix}`,
    requests,
    jobs: jobs.all,
    async close() {
      closing.abort()
      closed ??= once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * The jobs and their states, which follow from the clock alone.
 * @param {Service} service
 * @param {number} jobMs how long a job is active
 * @param {() => number} clock the service's, in milliseconds
 */
function createJobs(service, jobMs, clock) {
  /** @type {Map<string, Job>} */
  const all = new Map()

  /** @type {(id: string, projectId: string, at: number, prompts: string[]) => Job} */
  const add = (id, projectId, at, prompts) => {
    const pullRequest = FIRST_PULL_REQUEST + all.size
    const job = { id, projectId, createdAt: at, activeSince: at, pullRequest, prompts }
    all.set(id, job)
    return job
  }
  for (const { id, projectId, ageSeconds } of service.seeds ?? []) {
    add(id, projectId, clock() - ageSeconds * 1000, [])
  }

  return {
    all,
    /** @type {(projectId: string, prompt: string) => Job} */
    create: (projectId, prompt) => add(jobId(all.size + 1), projectId, clock(), [prompt]),
    /** @type {(job: Job, prompt: string) => void} */
    message(job, prompt) {
      job.prompts.push(prompt)
      job.activeSince = clock()
    },
    /** @type {(job: Job) => Record<string, unknown>} */
    show(job) {
      const endsAt = job.activeSince + jobMs
      const status = clock() < endsAt ? 'active' : (service.ends ?? 'completed')
      const hasPullRequest = status === 'completed' && !service.changesNothing
      return {
        id: job.id,
        status,
        source: { repository: 'your-org/docs', ref: 'main' },
        model: 'emulated',
        prLink: hasPullRequest ? `https://github.com/your-org/docs/pull/${job.pullRequest}` : null,
        createdAt: new Date(job.createdAt).toISOString(),
        archivedAt: status === 'archived' ? new Date(endsAt).toISOString() : null,
      }
    },
  }
}

/** @param {number} number */
const jobId = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/**
 * @param {Service} service
 * @param {ReturnType<typeof createJobs>} jobs
 * @param {string} prefix
 * @param {string | undefined} apiKey
 * @returns {(request: IncomingMessage, entry: LoggedRequest, closing: AbortSignal) => Promise<Answer>}
 */
function createHandler(service, jobs, prefix, apiKey) {
  const seen = { create: 0, message: 0, poll: 0 }

  return async (request, entry, closing) => {
    const route = findRoute(entry, prefix)
    const fault = route ? faultAt(service[route.kind], seen[route.kind]++) : {}
    if (fault.reset === 'before') return 'reset'
    entry.body = await readBody(request)

    if (!route) throw new Refusal(404, 'No such endpoint')
    if (route.id) entry.jobId = route.id
    if (!isAuthorized(request, apiKey)) throw new Refusal(401, 'Missing or invalid API key')
    const prompt = route.kind === 'poll' ? '' : readPrompt(entry)
    const known = jobs.all.get(route.id)
    if (route.id && known?.projectId !== route.projectId) throw new Refusal(404, 'Job not found')
    if (fault.status) {
      return { status: fault.status, headers: fault.headers ?? {}, body: { error: fault.error } }
    }

    const job = known ?? jobs.create(route.projectId, prompt)
    if (route.kind === 'message') jobs.message(job, prompt)
    entry.jobId = job.id
    if (fault.reset === 'after') return 'reset'
    if (fault.delayMs) await sleep(fault.delayMs, undefined, { signal: closing })
    return { status: route.kind === 'create' ? 201 : 200, body: { ...jobs.show(job), ...fault.job } }
  }
}

/**
 * @param {LoggedRequest} request
 * @param {string} prefix
 * @returns {Route | undefined} undefined where there is no such endpoint
 */
function findRoute({ method, path }, prefix) {
  if (!path.startsWith(prefix)) return undefined
  const [, project, job, message] = ROUTE.exec(path.slice(prefix.length)) ?? []
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
 * @returns {string} empty where it is no id
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
 * @param {IncomingMessage} request
 * @param {string | undefined} apiKey
 */
function isAuthorized(request, apiKey) {
  const [, key] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
  return key !== undefined && (apiKey === undefined || key === apiKey)
}

/**
 * Reads to the end even what is too long, so that the answer always arrives.
 * @param {IncomingMessage} request
 */
async function readBody(request) {
  /** @type {Buffer[]} */
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= BODY_LIMIT) chunks.push(chunk)
  }
  if (size > BODY_LIMIT) throw new Refusal(413, `The body is over ${BODY_LIMIT} bytes`)
  return Buffer.concat(chunks).toString()
}

/**
 * @param {LoggedRequest} request
 * @returns {string} the prompt, never empty
 */
function readPrompt({ headers, body }) {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new Refusal(400, 'Content-Type must be application/json')
  }
  const prompt = parseJson(body)?.prompt
  if (typeof prompt !== 'string' || prompt === '') {
    throw new Refusal(400, 'prompt must be a string that is not empty')
  }
  return prompt
}

/** @param {string} text */
function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(400, 'The body is not JSON')
  }
}

/**
 * @param {IncomingMessage} request
 * @param {number} at
 * @returns {LoggedRequest}
 */
function logEntry(request, at) {
  const { method = '', url = '', headers } = request
  return { at, method, path: url, headers, body: '', status: 'none' }
}

/**
 * @param {unknown} error
 * @returns {Answer}
 */
function toAnswer(error) {
  const status = error instanceof Refusal ? error.status : 500
  return { status, body: { error: error instanceof Error ? error.message : String(error) } }
}

/**
 * @param {ServerResponse} response
 * @param {LoggedRequest} entry
 * @param {Answer} answer
 * @param {() => void} tell is called before anything goes out
 */
function send(response, entry, answer, tell) {
  const { socket } = response.req
  if (socket.destroyed) return
  entry.status = answer === 'reset' ? 'reset' : answer.status
  tell()
  if (answer === 'reset') {
    socket.resetAndDestroy()
    return
  }
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  response.end(JSON.stringify(answer.body))
}
