/** A GitHub that keeps state and pages, on a real socket: what the action uses of its REST API, and faults on demand. */

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAnswers } from './github-answers.js'
import {
  type Call,
  ENDPOINTS,
  type Endpoint,
  errorBody,
  notFound,
  type Page,
  type Permission,
  Refusal,
} from './github-endpoints.js'
import { createRepository, type Repository, type RepositoryState } from './github-state.js'

export { file, type Repository, sha } from './github-state.js'

const BODY_LIMIT = 1024 * 1024
const REQUEST_LIMIT = 10_000
// Ids have long passed 2^31 (and 2^32 for comments).
const FIRST_ID = 5_000_000_001

type Access = 'none' | 'read' | 'write'
export type Permissions = Record<Permission, Access>
export type Need = `${Permission}: ${'read' | 'write'}`

export interface Options {
  /** The one that is accepted (default `ghs_token`). */
  readonly token?: string
  /** Whom the token speaks for (default `github-actions[bot]`). */
  readonly login?: string
  /** What the token may do; left out: everything that the endpoints here need. */
  readonly permissions?: Partial<Permissions>
  /** In front of every path, such as `/api/v3` of GitHub Enterprise Server. */
  readonly prefix?: string
  /** The wall clock, for the times of comments. */
  readonly now?: () => Date
}

/** A request as it came. */
export interface Received {
  readonly method: string
  /** With the query, undecoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Parsed where it is JSON. */
  body: unknown
  /** Milliseconds since the start. */
  readonly at: number
  /** The least permission it needs; undefined where there is no such endpoint. */
  readonly needs: Need | undefined
  /** What was answered; `none` where nothing was (yet). */
  status: number | 'none' | 'reset' | 'cut'
}

/** What goes wrong with the next requests that match. */
export interface Fault {
  readonly method?: string
  /** Matched against the path with its query. */
  readonly path?: RegExp
  /** How many times (default 1; `Infinity` for always). */
  times?: number
  /** Whether the request takes effect all the same. Cut and slow ones always do. */
  readonly takesEffect?: boolean
  readonly answer: FaultAnswer | 'silence' | 'reset' | 'cut' | { readonly delayMs: number }
}

/** A text is sent as it is, anything else as JSON. */
interface FaultAnswer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

export interface GitHub {
  /** For GITHUB_API_URL. */
  readonly url: string
  readonly requests: Received[]
  /** Those that may have changed something. */
  readonly writes: () => Received[]
  /** Waits until so many requests have come in. */
  readonly received: (count: number) => Promise<void>
  readonly permissions: Permissions
  /**
   * How a read without permission is refused in a private repository: as if there were none, or by name. GitHub is seen
   * to do either.
   */
  deniedRead: 404 | 403
  /** By full name. */
  readonly repositories: Map<string, Repository>
  readonly addRepository: (
    fullName: string,
    fields?: { readonly private?: boolean; readonly foreign?: boolean },
  ) => Repository
  /** The first that matches is used. */
  readonly faults: Fault[]
  readonly close: () => Promise<void>
}

/** The texts are GitHub's own: docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api. */
export function primaryLimit(resetSeconds: number, status: 403 | 429 = 403): FaultAnswer {
  return {
    status,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetSeconds) },
    body: errorBody(
      status,
      'API rate limit exceeded for installation ID 12345678.',
      '/overview/rate-limits-for-the-rest-api',
    ),
  }
}

export function secondaryLimit(retryAfterSeconds: number, status: 403 | 429 = 403): FaultAnswer {
  return {
    status,
    headers: { 'retry-after': String(retryAfterSeconds) },
    body: errorBody(
      status,
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      '/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits',
    ),
  }
}

/** A page for people in place of JSON. */
export function htmlPage(status = 502): FaultAnswer {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: '<!DOCTYPE html>\n<title>Unicorn! &middot; GitHub</title>\n<p>This page is taking too long to load.</p>\n',
  }
}

/** GitHub's links name the repository by its id. */
function linkHeader(address: string, query: URLSearchParams, { number, last }: Page): Record<string, string> {
  const pages = {
    ...(number > 1 && { prev: Math.min(number - 1, last) }),
    ...(number < last && { next: number + 1, last }),
    ...(number > last && { last }),
    ...(number > 1 && { first: 1 }),
  }
  const links = Object.entries(pages).map(([rel, page]) => {
    const parameters = new URLSearchParams(query)
    parameters.set('page', String(page))
    return `<${address}?${parameters}>; rel="${rel}"`
  })
  return links.length > 0 ? { link: links.join(', ') } : {}
}

/** An endpoint, and what its path names. */
interface Found {
  readonly endpoint: Endpoint
  readonly repo: Repository | undefined
  readonly ids: readonly string[]
  readonly rest: string
  readonly query: URLSearchParams
}

function findEndpoint(repositories: Iterable<Repository>, method: string, path: string): Found | undefined {
  const { pathname, searchParams: query } = new URL(`http://localhost${path}`)
  const [, name, id, rest = ''] =
    /^\/(?:repos\/([^/]+\/[^/]+)|repositories\/(\d+))(\/.*)$/.exec(pathname) ?? []
  const endpoint = ENDPOINTS.find(([verb, pattern]) => verb === method && pattern.test(rest))
  if (!endpoint) return undefined
  const repo = [...repositories].find((entry) =>
    name ? entry.full_name.toLowerCase() === decode(name).toLowerCase() : entry.id === Number(id),
  )
  const ids = endpoint[1].exec(rest)?.slice(1).map(decode) ?? []
  return { endpoint, repo, ids, rest, query }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The repository, where the token may: what is public can be read with any. */
function allowed({ endpoint: [, , [permission, access]], repo }: Found, github: GitHub): Repository {
  if (!repo || (repo.foreign && repo.private)) throw notFound()
  const granted = repo.foreign ? 'none' : github.permissions[permission]
  if (granted === 'write' || granted === access || (access === 'read' && !repo.private)) return repo
  const hidden = access === 'read' && github.deniedRead === 404
  throw hidden ? notFound() : new Refusal(403, 'Resource not accessible by integration')
}

/** What holds for every request, whatever it asks for. */
function checkRequest({ headers }: Received, token: string): void {
  const [, given] = /^(?:token|bearer) (\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (!headers['user-agent']) {
    throw new Refusal(
      403,
      'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
    )
  }
  if (given !== token) throw new Refusal(401, 'Bad credentials')
  if (!/json|\*\/\*/.test(headers.accept ?? '*/*')) throw new Refusal(415, "Unsupported 'Accept' header")
}

/** GitHub ignores a parameter that it doesn't know; a test has to hear of it. */
function checkQuery({ endpoint: [, , , , , parameters = []], query }: Found): void {
  const unknown = [...query.keys()].find((name) => !['per_page', 'page', ...parameters].includes(name))
  if (unknown !== undefined) throw new Refusal(400, `The tests' GitHub knows no parameter ${unknown} here`)
}

/** A repository that is only named, such as a pull request's fork. */
const unlisted = (full_name: string): RepositoryState => ({ id: FIRST_ID - 1, full_name, private: false })

/** What stays the same from call to call. */
type Side = Pick<Call, 'answers' | 'login' | 'now' | 'find'> & { readonly token: string }

/** An answer, ready to be sent. */
interface Sent {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

function sent({ status, headers = {}, body }: Omit<FaultAnswer, 'body'> & { readonly body?: unknown }): Sent {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  const length = { 'content-length': String(Buffer.byteLength(text)) }
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4987',
      ...(status !== 204 && length),
      ...headers,
    },
    text,
  }
}

/** Answers as GitHub would if all went well. */
function answer(request: Received, found: Found | undefined, github: GitHub, side: Side): Sent {
  const [, , [, , accepted], docs] = found?.endpoint ?? [undefined, undefined, [], '']
  const headers = { ...(accepted !== undefined && { 'x-accepted-github-permissions': accepted }) }
  try {
    checkRequest(request, side.token)
    if (!found) throw notFound()
    const repo = allowed(found, github)
    checkQuery(found)
    const { status = 200, body, page } = found.endpoint[4]({ ...side, ...found, repo, body: request.body })
    const address = `${github.url}/repositories/${repo.id}${found.rest}`
    return sent({
      status,
      headers: { ...headers, ...(page && linkHeader(address, found.query, page)) },
      body,
    })
  } catch (error) {
    if (!(error instanceof Refusal)) return sent({ status: 500, body: { message: String(error) } })
    const { status, message, errors } = error
    return sent({ status, headers, body: errorBody(status, message, status === 401 ? '' : docs, errors) })
  }
}

function takeFault(faults: readonly Fault[], { method, path }: Received): Fault | undefined {
  const fault = faults.find(
    (entry) =>
      (entry.times ?? 1) > 0 && (entry.method ?? method) === method && (entry.path?.test(path) ?? true),
  )
  if (fault) fault.times = (fault.times ?? 1) - 1
  return fault
}

/** Reads to the end even what is too long, so that the answer always arrives. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) if (text.length <= BODY_LIMIT) text += chunk
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

function send(response: ServerResponse, entry: Received, { status, headers, text }: Sent): void {
  if (response.destroyed) return
  entry.status = status
  response.writeHead(status, headers).end(text)
}

/** The head and half of the body, then the end of the connection. */
function cut(response: ServerResponse, entry: Received, { status, headers, text }: Sent): void {
  entry.status = 'cut'
  response.writeHead(status, headers)
  response.write(text.slice(0, text.length / 2) || ' ', () => response.req.socket.destroy())
}

export async function startGitHub(options: Options = {}): Promise<GitHub> {
  const { token = 'ghs_token', login = 'github-actions[bot]', prefix = '', now = () => new Date() } = options
  const started = performance.now()
  const waiting: { count: number; resolve: () => void }[] = []
  const timers = new Set<NodeJS.Timeout>()
  let id = FIRST_ID
  const nextId = (): number => id++
  const find: Call['find'] = (fullName) =>
    fullName === null ? null : (github.repositories.get(fullName) ?? unlisted(fullName))

  const receive = async (request: IncomingMessage): Promise<[Received, Found | undefined]> => {
    const { method = '', headers, url: path = '' } = request
    const below = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : ''
    const found = findEndpoint(github.repositories.values(), method, below)
    const [permission, access] = found?.endpoint[2] ?? []
    const needs: Need | undefined = permission && access && `${permission}: ${access}`
    const at = performance.now() - started
    const entry: Received = { method, path, headers, body: undefined, at, needs, status: 'none' }
    github.requests.push(entry)
    entry.body = await readBody(request)
    for (const { count, resolve } of waiting) if (github.requests.length >= count) resolve()
    return [entry, found]
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (github.requests.length >= REQUEST_LIMIT) return void request.socket.destroy()
    const [entry, found] = await receive(request)
    const fault = takeFault(github.faults, entry)
    const usual = (): Sent => answer(entry, found, github, side)
    if (!fault) return send(response, entry, usual())
    const what = fault.answer
    if (what === 'cut') return cut(response, entry, usual())
    if (fault.takesEffect) usual()
    if (what === 'silence') return
    if (what === 'reset') {
      entry.status = 'reset'
      request.socket.resetAndDestroy()
    } else if ('status' in what) send(response, entry, sent(what))
    else timers.add(setTimeout(send, what.delayMs, response, entry, usual()))
  }

  const server = createServer((request, response) => {
    // A request that its sender gave up has nobody to be answered.
    handle(request, response).catch(() => request.socket.destroy())
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}${prefix}`
  const side: Side = { answers: createAnswers(url, 'https://github.com'), login, now, find, token }

  const github: GitHub = {
    url,
    requests: [],
    writes: () => github.requests.filter(({ method }) => method !== 'GET'),
    received: (count) =>
      new Promise((resolve) => {
        if (github.requests.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    permissions: {
      issues: 'write',
      pull_requests: 'write',
      contents: 'read',
      actions: 'read',
      ...options.permissions,
    },
    deniedRead: 404,
    repositories: new Map(),
    addRepository: (full_name, { private: hidden = false, foreign = false } = {}) => {
      const repo = createRepository({ id: nextId(), full_name, private: hidden, foreign }, nextId, now)
      github.repositories.set(full_name, repo)
      return repo
    },
    faults: [],
    close: async () => {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return github
}
