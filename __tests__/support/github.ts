/**
 * A GitHub on a real socket that stores what it is sent: the part of its REST API that the action
 * uses, and faults.
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { text as readAll } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { answerProblems, isDescribed, requestProblems, type Version } from './github-api.js'
import {
  type Answer,
  ENDPOINTS,
  type Need,
  notFound,
  type Permission,
  Refusal,
} from './github-endpoints.js'
import { ACCEPTED } from './github-permissions.js'
import { Repository, type Visibility } from './github-state.js'
import { startListening } from './listening.js'

export type { Need } from './github-endpoints.js'
export { file, type Repository, sha } from './github-state.js'

const REQUEST_LIMIT = 10_000
// Real ids are above 2^32.
const FIRST_ID = 5_000_000_001

/** Only recipes need these; the action doesn't. */
type OfRecipes = 'checks' | 'statuses' | 'deployments'
type Granted = 'none' | 'read' | 'write'
/** Every token may read metadata. */
export type Permissions = Record<Exclude<Permission, 'metadata' | OfRecipes>, Granted> &
  Partial<Record<OfRecipes, Granted>>

/** What a test may change meanwhile. */
interface Access {
  readonly permissions: Permissions
  /**
   * How a read without permission is refused in a private repository: as not found, or as
   * forbidden. GitHub has been seen to do either.
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
  /** By their texts. */
  readonly otherTokens?: Readonly<Record<string, OtherToken>>
  /** What the token may do. Default: all that the endpoints need. */
  readonly permissions?: Partial<Permissions>
  /** Called with each request, before it is answered. */
  readonly onRequest?: (request: Received) => void
  /** Called with each request that was answered, or not. */
  readonly onAnswer?: (request: Received) => void
  /**
   * Its repositories were renamed: each request is redirected to one that names the repository by a
   * number.
   */
  readonly renamed?: boolean
  /** Answers are compressed for those who ask for that. */
  readonly compresses?: boolean
  /**
   * The version of its API: what it takes and answers is held to GitHub's own description of that.
   */
  readonly version?: Version
  /** Whether it holds them to that (default true); it takes a tenth of a simulated run. */
  readonly checks?: boolean
  /** When an idle connection is closed (default: 60 s), in milliseconds. */
  readonly keepAliveMs?: number
  /**
   * In front of every path, such as `/api/v3` of GitHub Enterprise Server; a pattern if there are
   * several.
   */
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
  /** As GitHub describes it, such as `GET /pulls/{pull_number}`. */
  readonly endpoint: string | undefined
  /** The minimal permission; undefined if there is no such endpoint. */
  readonly needs: Need | undefined
  /** What was answered; `none` if nothing was (yet). */
  status: number | 'none' | 'reset' | 'cut off'
  /** The body of the answer. */
  answered: string
  /** It was carried out, whatever was answered. */
  tookEffect: boolean
  /**
   * What GitHub's own description doesn't know of the request, and of the answer unless that is a
   * fault.
   */
  readonly problems: string[]
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
export type FaultAnswer = Answer & { readonly status: number }

/**
 * The texts are GitHub's own:
 * docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api.
 */
export const primaryLimit = (resetSeconds: number, status: 403 | 429 = 403): FaultAnswer => ({
  status,
  headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetSeconds) },
  body: { message: 'API rate limit exceeded for installation ID 12345678.' },
})

export const secondaryLimit = (retryAfterSeconds: number): FaultAnswer => ({
  status: 403,
  headers: { 'retry-after': String(retryAfterSeconds) },
  body: {
    message:
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
  },
})

export const refusal = (status: number, message: string): FaultAnswer => ({
  status,
  body: { message },
})

/** A page for people instead of JSON. */
export const BAD_GATEWAY: FaultAnswer = {
  status: 502,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html>\n<title>Unicorn! &middot; GitHub</title>\n<p>This page is taking too long to load.</p>\n',
}

/** An endpoint, and what a path names there. */
type Found = NonNullable<ReturnType<typeof findEndpoint>>

/**
 * By their methods, and the patterns of their paths. A ref and a range of them can have slashes.
 */
const PATTERNS = ENDPOINTS.map((endpoint) => {
  const names = [...endpoint[1].matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const source = endpoint[1]
    .replaceAll(/\{(?:ref|basehead)\}/g, '(.+)')
    .replaceAll(/\{\w+\}/g, '([^/]+)')
  return { endpoint, names, method: endpoint[0], pattern: new RegExp(`^${source}$`) }
})

function findEndpoint(repositories: ReadonlyMap<string, Repository>, method: string, path: string) {
  const { pathname, searchParams: query } = new URL(path, 'http://localhost')
  const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(pathname) ?? []
  const found = PATTERNS.find((one) => one.method === method && one.pattern.test(rest))
  if (!found) return undefined
  const { endpoint, names, pattern } = found
  const ids = pattern.exec(rest)?.slice(1).map(decodeURIComponent) ?? []
  const repo = repositories.get(name.toLowerCase())
  const needs = typeof endpoint[2] === 'function' ? endpoint[2](repo, ids[0] ?? '') : endpoint[2]
  const named = Object.fromEntries(names.map((one, index) => [one, ids[index] ?? '']))
  return {
    answer: endpoint[3],
    endpoint: `${method} ${endpoint[1]}`,
    needs,
    repo,
    ids,
    path: named,
    query,
  }
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
function checkHeaders(
  { headers }: Received,
  { token = 'ghs_token', otherTokens = {} }: Options,
): string {
  const [, given = ''] = /^(?:token|bearer) (\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (!headers['user-agent']) throw new Refusal(403, 'Request forbidden by administrative rules.')
  if (given !== token && otherTokens[given] === undefined) throw new Refusal(401, 'Bad credentials')
  return given
}

/** An answer, ready to be sent. */
type Sent = ReturnType<typeof toSent>

let answered = 0

/**
 * With what GitHub sends with every answer
 * (docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
function toSent({ status, headers = {}, body }: FaultAnswer) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const id = (answered++).toString(16).toUpperCase().padStart(4, '0')
  const own = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'x-github-media-type': 'github.v3; format=json',
    'x-github-request-id': `${id}:12A34B:56C78D:9E01F2:6740A1B2`,
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4987',
    'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 1800),
    'x-ratelimit-resource': 'core',
    'x-ratelimit-used': '13',
  }
  return { status, headers: { ...own, ...headers }, text, body }
}

/**
 * GitHub changes what many endpoints answer in the next version of its API (2026-03-10,
 * docs.github.com/en/rest/about-the-rest-api/breaking-changes): whoever names no version there is
 * told, and here anywhere. The link is the one in public logs
 * (github.com/mattpolzin/harmony/issues/281).
 */
const DEPRECATED = {
  deprecation: 'Tue, 10 Mar 2026 00:00:00 GMT',
  sunset: 'Fri, 10 Mar 2028 00:00:00 GMT',
  link: '<https://docs.github.com/en/rest/about-the-rest-api/api-versions>; rel="deprecation"; type="text/html"',
}

/** Which permission suffices, and whether the version that answers will go. */
function headersOf(
  request: Received,
  found: Found | undefined,
  version: Version,
): Record<string, string> {
  if (!found) return {}
  const isOld = request.headers['x-github-api-version'] === undefined && version === '2022-11-28'
  const accepted = ACCEPTED[found.endpoint]
  return {
    ...(accepted && { 'x-accepted-github-permissions': accepted }),
    'x-github-api-version-selected': version.startsWith('ghes') ? '2022-11-28' : version,
    date: new Date().toUTCString(),
    ...(isOld && DEPRECATED),
  }
}

/** Answers as GitHub does if all goes well. */
function answer(
  request: Received,
  found: Found | undefined,
  access: Access,
  options: Options,
): Sent {
  const { version = '2022-11-28' } = options
  const common = headersOf(request, found, version)
  try {
    const token = checkHeaders(request, options)
    if (!found) throw notFound()
    const other = options.otherTokens?.[token]
    const repo = allowed(found, access, other)
    const { status = 200, headers, body } = found.answer({ ...found, repo, body: request.body })
    const links = [headers?.link, common.link].filter(Boolean).join(', ')
    const omit = (name: string, value: unknown) => (name === 'merge_commit_sha' ? undefined : value)
    return toSent({
      status,
      headers: { ...common, ...headers, ...(links !== '' && { link: links }) },
      body: version === '2026-03-10' ? JSON.parse(JSON.stringify(body, omit)) : body,
    })
  } catch (error) {
    const status = error instanceof Refusal ? error.status : 500
    const message = error instanceof Error ? error.message : String(error)
    return toSent({ status, headers: common, body: { message } })
  }
}
function takeFault(
  faults: readonly Fault[],
  { method, path, prefix }: Received,
): Fault | undefined {
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
  const body =
    compresses && entry.headers['accept-encoding'] === 'gzip' ? gzipSync(text) : undefined
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
  const { prefix = '', permissions, version = '2022-11-28', checks = true } = options
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
      ...permissions,
    },
    deniedRead: 404,
  }
  const timers = new Set<NodeJS.Timeout>()
  let id = FIRST_ID

  const receive = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<[Received, Found | undefined]> => {
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
      endpoint: found?.endpoint,
      needs: found?.needs,
      status: 'none',
      answered: '',
      tookEffect: false,
      problems: [],
    }
    requests.push(entry)
    response.once('close', () => options.onAnswer?.(entry))
    entry.body = await readBody(request)
    if (checks && found && isDescribed(found.endpoint))
      entry.problems.push(...requestProblems({ ...found, version, body: entry.body }))
    options.onRequest?.(entry)
    return [entry, found]
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (requests.length >= REQUEST_LIMIT) return void request.socket.destroy()
    const [entry, found] = await receive(request, response)
    const fault = takeFault(faults, entry)
    const usual = (): Sent => {
      const sent = answer(entry, found, access, options)
      if (checks && found && isDescribed(found.endpoint))
        entry.problems.push(...answerProblems({ ...found, version }, sent.status, sent.body))
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
      if (location !== path)
        return void response.writeHead(method === 'GET' ? 301 : 307, { location }).end()
    }
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
    /**
     * @throws Error if something was asked or answered that GitHub's own description doesn't know
     */
    close: async () => {
      for (const timer of timers) clearTimeout(timer)
      await close()
      const problems = new Set(requests.flatMap((request) => request.problems))
      if (problems.size > 0)
        throw new Error(`GitHub describes it otherwise:\n${[...problems].join('\n')}`)
    },
  })
}
