/** A GitHub on a real socket that stores what it is sent: the part of its REST API that the action uses, and faults. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as readAll } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { ENDPOINTS, type Need, notFound, type Permission, Refusal } from './github-endpoints.js'
import { Repository, type Visibility } from './github-state.js'
import { startListening } from './listening.js'

export type { Need } from './github-endpoints.js'
export { file, type Repository, sha } from './github-state.js'

const REQUEST_LIMIT = 10_000
// Real ids are above 2^32.
const FIRST_ID = 5_000_000_001

/** Only recipes need these; the action doesn't. */
type OfRecipes = 'statuses' | 'deployments'
type Granted = 'none' | 'read' | 'write'
/** Every token may read metadata. */
export type Permissions = Record<Exclude<Permission, 'metadata' | OfRecipes>, Granted> &
  Partial<Record<OfRecipes, Granted>>

/** What a test may change meanwhile. */
interface Access {
  readonly permissions: Permissions
  /**
   * How a read without permission is refused in a private repository: as not found, or as forbidden. GitHub has been seen
   * to do either.
   */
  deniedRead: 404 | 403
}

/** A token for other repositories than the run's. */
export interface OtherToken {
  readonly repositories: readonly string[]
  readonly permissions: Partial<Permissions>
}

export interface Options {
  /** The run's own (default `ghs_token`). */
  readonly token?: string
  /** It is a person's, not the job's own. */
  readonly personal?: boolean
  /** By their texts. */
  readonly otherTokens?: Readonly<Record<string, OtherToken>>
  /** What the token may do. Default: all that the endpoints need. */
  readonly permissions?: Partial<Permissions>
  /** Called with each request, before it is answered. */
  readonly onRequest?: (request: Received) => void
  /** Called with each request that was answered, or not. */
  readonly onAnswer?: (request: Received) => void
  /** Its repositories were renamed: each request is redirected to one that names the repository by a number. */
  readonly renamed?: boolean
  /** Answers are compressed for those who ask for that. */
  readonly compresses?: boolean
  /** Its API is of a version from 2026-03-10 on, which does not say which commit merged a pull request. */
  readonly omitsMerges?: boolean
  /** When an idle connection is closed (default: 60 s), in milliseconds. */
  readonly keepAliveMs?: number
  /** In front of every path, such as `/api/v3` of GitHub Enterprise Server; a pattern if there are several. */
  readonly prefix?: string | RegExp
}

/** A request as it came. */
export interface Received {
  readonly method: string
  /** With the query, not decoded. */
  readonly path: string
  /** What stood in front of it, if the prefix is a pattern. */
  readonly prefix: string
  /** When it came, of `performance.now()`. */
  readonly at: number
  readonly headers: IncomingHttpHeaders
  /** Parsed if it is JSON. */
  body: unknown
  /** The minimal permission; undefined if there is no such endpoint. */
  readonly needs: Need | undefined
  /** What was answered; `none` if nothing was (yet). */
  status: number | 'none' | 'reset' | 'cut off'
  /** The body of the answer. */
  answered: string
  /** It was carried out, whatever was answered. */
  tookEffect: boolean
}

/** What goes wrong with the next requests that match. */
export interface Fault {
  readonly method?: string
  /** Matched against the path with its query. */
  readonly path?: RegExp
  /** Matched against what stands in front of it. */
  readonly prefix?: RegExp
  /** How many times (default 1; `Infinity` for always). */
  times?: number
  /** The request takes effect all the same. One that is cut off or delayed always does. */
  readonly takesEffect?: boolean
  readonly answer: FaultAnswer | 'silence' | 'reset' | 'cut off' | { readonly delayMs: number }
}

/** A text is sent as it is, anything else as JSON. */
export interface FaultAnswer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

export type GitHub = Awaited<ReturnType<typeof startGitHub>>

/** The texts are GitHub's own: docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api. */
export const primaryLimit = (resetSeconds: number, status: 403 | 429 = 403): FaultAnswer => ({
  status,
  headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetSeconds) },
  body: { message: 'API rate limit exceeded for installation ID 12345678.' },
})

export const secondaryLimit = (retryAfterSeconds: number): FaultAnswer => ({
  status: 403,
  headers: { 'retry-after': String(retryAfterSeconds) },
  body: {
    message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
  },
})

export const refusal = (status: number, message: string): FaultAnswer => ({ status, body: { message } })

/** A page for people instead of JSON. */
export const BAD_GATEWAY: FaultAnswer = {
  status: 502,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html>\n<title>Unicorn! &middot; GitHub</title>\n<p>This page is taking too long to load.</p>\n',
}

/** An endpoint, and what a path names there. */
type Found = NonNullable<ReturnType<typeof findEndpoint>>

function findEndpoint(repositories: ReadonlyMap<string, Repository>, method: string, path: string) {
  const { pathname, searchParams: query } = new URL(path, 'http://localhost')
  const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(pathname) ?? []
  const endpoint = ENDPOINTS.find(([verb, pattern]) => verb === method && pattern.test(rest))
  if (!endpoint) return undefined
  const ids = endpoint[1].exec(rest)?.slice(1).map(decodeURIComponent) ?? []
  const repo = repositories.get(name.toLowerCase())
  const needs = typeof endpoint[2] === 'function' ? endpoint[2](repo, ids[0] ?? '') : endpoint[2]
  return { endpoint, needs, repo, ids, query, rest }
}

/** The repository, if the token may do this there: what is public can be read with any token. */
function allowed(
  { needs, repo }: Found,
  { permissions, deniedRead }: Access,
  other?: OtherToken,
): Repository {
  const [permission, access] = needs.split(': ') as [Permission, 'read' | 'write']
  if (!repo) throw notFound()
  const isMember = other ? other.repositories.includes(repo.full_name) : !repo.visibility.foreign
  if (!isMember && repo.visibility.private) throw notFound()
  const given =
    permission === 'metadata' ? 'read' : ((other?.permissions ?? permissions)[permission] ?? 'none')
  const granted = isMember ? given : 'none'
  if (granted === 'write' || granted === access || (access === 'read' && !repo.visibility.private))
    return repo
  throw access === 'read' && deniedRead === 404
    ? notFound()
    : new Refusal(403, 'Resource not accessible by integration')
}

/** The token of a request, which has to be a known one. */
function checkHeaders({ headers }: Received, { token = 'ghs_token', otherTokens = {} }: Options): string {
  const [, given = ''] = /^(?:token|bearer) (\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (!headers['user-agent']) throw new Refusal(403, 'Request forbidden by administrative rules.')
  if (given !== token && otherTokens[given] === undefined) throw new Refusal(401, 'Bad credentials')
  return given
}

/** GitHub ignores a parameter that it does not know; a test has to fail. */
function checkQuery({ endpoint: [, , , , parameters = []], query }: Found): void {
  const unknown = [...query.keys()].find((name) => !['per_page', 'page', ...parameters].includes(name))
  if (unknown !== undefined) throw new Refusal(400, `The tests' GitHub knows no parameter ${unknown} here`)
}

/** An answer, ready to be sent. */
type Sent = ReturnType<typeof toSent>

function toSent({ status, headers = {}, body }: FaultAnswer) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const own = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'x-ratelimit-remaining': '4987',
  }
  return { status, headers: { ...own, ...headers }, text }
}

/**
 * What GitHub changes in the next version of its API
 * (docs.github.com/en/rest/about-the-rest-api/breaking-changes, 2026-03-10): whoever names no version is told.
 */
const CHANGED =
  /^(?:|\/issues\/\d+|\/pulls|\/pulls\/\d+|\/commits\/[^/]+\/pulls|\/actions\/workflows\/[^/]+\/runs)$/
const DEPRECATED = {
  deprecation: 'Tue, 10 Mar 2026 00:00:00 GMT',
  sunset: 'Fri, 10 Mar 2028 00:00:00 GMT',
}

/** Answers as GitHub does if all goes well. */
function answer(request: Received, found: Found | undefined, access: Access, options: Options): Sent {
  try {
    const token = checkHeaders(request, options)
    if (!found) throw notFound()
    const other = options.otherTokens?.[token]
    const repo = allowed(found, access, other)
    checkQuery(found)
    const call = {
      repo,
      login: 'github-actions[bot]',
      personal: other !== undefined || options.personal === true,
      ids: found.ids,
      query: found.query,
      body: request.body,
    }
    const { headers, body, ...rest } = found.endpoint[3](call)
    const isOld = request.headers['x-github-api-version'] === undefined && CHANGED.test(found.rest)
    const omit = (name: string, value: unknown) => (name === 'merge_commit_sha' ? undefined : value)
    return toSent({
      ...{ status: 200, ...rest, headers: { ...headers, ...(isOld && DEPRECATED) } },
      body: options.omitsMerges ? JSON.parse(JSON.stringify(body, omit)) : body,
    })
  } catch (error) {
    const status = error instanceof Refusal ? error.status : 500
    return toSent({ status, body: { message: error instanceof Error ? error.message : String(error) } })
  }
}

function takeFault(faults: readonly Fault[], { method, path, prefix }: Received): Fault | undefined {
  const fault = faults.find(
    (entry) =>
      (entry.times ?? 1) > 0 &&
      (entry.method ?? method) === method &&
      (entry.path?.test(path) ?? true) &&
      (entry.prefix?.test(prefix) ?? true),
  )
  if (fault) fault.times = (fault.times ?? 1) - 1
  return fault
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const text = await readAll(request)
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

function send(
  response: ServerResponse,
  entry: Received,
  { status, headers, text }: Sent,
  compresses = false,
): void {
  if (response.destroyed) return
  entry.status = status
  entry.answered = text
  const body = compresses && entry.headers['accept-encoding'] === 'gzip' ? gzipSync(text) : undefined
  const length = body && { 'content-encoding': 'gzip', 'content-length': String(body.length) }
  response.writeHead(status, { ...headers, ...length }).end(body ?? text)
}

/** The head and half of the body, then the end of the connection. */
function cutOff(response: ServerResponse, entry: Received, { status, headers, text }: Sent): void {
  entry.status = 'cut off'
  response.writeHead(status, headers)
  response.write(text.slice(0, text.length / 2) || ' ', () => response.req.socket.destroy())
}

export async function startGitHub(options: Options = {}) {
  const { prefix = '', permissions } = options
  const repositories = new Map<string, Repository>()
  const requests: Received[] = []
  /** The first that matches is used. */
  const faults: Fault[] = []
  const access: Access = {
    permissions: {
      issues: 'write',
      pull_requests: 'write',
      contents: 'read',
      actions: 'read',
      checks: 'write',
      ...permissions,
    },
    deniedRead: 404,
  }
  const timers = new Set<NodeJS.Timeout>()
  const received = new WeakMap<IncomingMessage, Received>()
  let id = FIRST_ID

  const receive = async (request: IncomingMessage): Promise<[Received, Found | undefined]> => {
    const { method = '', headers, url: path = '' } = request
    const [own = ''] = typeof prefix === 'string' ? [prefix] : (prefix.exec(path) ?? [])
    const below = path.startsWith(`${own}/`) ? path.slice(own.length) : ''
    const found = findEndpoint(repositories, method, below)
    const entry: Received = {
      method,
      ...(typeof prefix === 'string' ? { path, prefix: '' } : { path: below, prefix: own }),
      at: performance.now(),
      headers,
      body: undefined,
      needs: found?.needs,
      status: 'none',
      answered: '',
      tookEffect: false,
    }
    requests.push(entry)
    received.set(request, entry)
    entry.body = await readBody(request)
    options.onRequest?.(entry)
    return [entry, found]
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (requests.length >= REQUEST_LIMIT) return void request.socket.destroy()
    const [entry, found] = await receive(request)
    const fault = takeFault(faults, entry)
    const usual = (): Sent => {
      const sent = answer(entry, found, access, options)
      entry.tookEffect = sent.status < 300
      return sent
    }
    if (!fault) return send(response, entry, usual(), options.compresses)
    const what = fault.answer
    if (what === 'cut off') return cutOff(response, entry, usual())
    if (fault.takesEffect) usual()
    if (what === 'silence') return
    if (what === 'reset') {
      entry.status = 'reset'
      request.socket.resetAndDestroy()
    } else if ('status' in what) send(response, entry, toSent(what))
    else timers.add(setTimeout(send, what.delayMs, response, entry, usual()))
  }

  const server = createServer((request, response) => {
    response.sendDate = false
    if (options.renamed) {
      const { method, url: path = '' } = request
      const location = path.replace(/\/repos\/([^/]+)\/([^/?]+)/, '/repositories/$1+$2')
      request.url = path.replace(/\/repositories\/([^/]+)\+([^/?]+)/, '/repos/$1/$2')
      if (location !== path) return void response.writeHead(method === 'GET' ? 301 : 307, { location }).end()
    }
    response.once('close', () => {
      const entry = received.get(request)
      if (entry) options.onAnswer?.(entry)
    })
    // If the sender has given up, there is nobody to answer.
    handle(request, response).catch(() => request.socket.destroy())
  })
  let connections = 0
  server.on('connection', () => connections++)
  server.keepAliveTimeout = options.keepAliveMs ?? 60_000
  const { port, close } = await startListening(server)

  return Object.assign(access, {
    /** For GITHUB_API_URL. */
    url: `http://127.0.0.1:${port}${typeof prefix === 'string' ? prefix : ''}`,
    requests,
    connections: () => connections,
    /** The requests that may have changed something. */
    writes: () => requests.filter(({ method }) => method !== 'GET'),
    addRepository: (full_name: string, visibility: Visibility = {}) => {
      const repo = new Repository(full_name, visibility, () => id++)
      repositories.set(full_name.toLowerCase(), repo)
      return repo
    },
    faults,
    close: async () => {
      for (const timer of timers) clearTimeout(timer)
      await close()
    },
  })
}
