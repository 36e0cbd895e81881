/**
 * A service that follows a script, on a real socket: each request gets the next response of its
 * list.
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { startListening } from './listening.js'

export interface Received {
  readonly method: string
  /** As it was sent, not decoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Milliseconds since the service started. */
  readonly at: number
  /** Counts the connections from 1. */
  readonly connection: number
}

/** Answers a request, or does something worse. */
export type Handler = (response: ServerResponse, request: Received) => void

export interface Script {
  /** For the POSTs, in turn; the last one is repeated. */
  readonly posts?: readonly Handler[]
  /** For the GETs, in turn; the last one is repeated. */
  readonly polls?: readonly Handler[]
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly host?: string
}

export type ScriptedService = Awaited<ReturnType<typeof startService>>

export async function startService(script: Script) {
  const { posts = [], polls = [], host = '127.0.0.1' } = script
  const received: Received[] = []
  const numbers = new WeakMap<Socket, number>()
  const started = performance.now()
  let connections = 0

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request
    const at = performance.now() - started
    const body = await readAll(request)
    const entry = { method, path, headers, body, at, connection: numbers.get(request.socket) ?? 0 }
    received.push(entry)
    const list = method === 'POST' ? posts : polls
    const nth = received.filter((other) => other.method === method).length
    const handler = list[Math.min(nth, list.length) - 1]
    if (handler === undefined) throw new Error(`The script has no response to ${method} ${path}`)
    handler(response, entry)
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(request, response).catch((error: unknown) =>
      json(500, { error: String(error) })(response),
    )
  const server = script.tls ? createTlsServer(script.tls, listener) : createServer(listener)
  server.keepAliveTimeout = 60_000
  server.on(script.tls ? 'secureConnection' : 'connection', (socket) =>
    numbers.set(socket, ++connections),
  )
  server.on('tlsClientError', () => undefined)
  const { port, close } = await startListening(server, host)

  return {
    url: `${script.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    received,
    posts: () => received.filter(({ method }) => method === 'POST'),
    polls: () => received.filter(({ method }) => method === 'GET'),
    connections: () => connections,
    close,
  }
}

/** A job, with all fields of the service's interface. */
export function job(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'job-1',
    status: 'active',
    source: { repository: 'your-org/docs', ref: 'main' },
    model: 'some-model',
    prLink: null,
    createdAt: '2026-01-02T03:04:05.000Z',
    archivedAt: null,
    ...fields,
  }
}

export const LINK = 'https://github.com/your-org/docs/pull/17'

/** A job that completed with a pull request. */
export const opened = job({ status: 'completed', prLink: LINK })

export function json(status: number, body: unknown, headers: Record<string, string> = {}) {
  return (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

export const created = json(201, job())
export const active = json(200, job())
export const completed = json(200, opened)

/** A response that comes later. */
export function later(milliseconds: number, handler: Handler): Handler {
  return (response, request) => void setTimeout(() => handler(response, request), milliseconds)
}

/** No response at all; the connection stays open. */
export const silence: Handler = () => undefined

/** The connection is reset instead of a response. */
export const reset: Handler = (response) => void response.req.socket.resetAndDestroy()

/** The head of a response and half of its body, then the end of the connection. */
export const cutOff: Handler = (response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"id": "job-1", "sta', () => response.req.socket.destroy())
}

/** A job as JSON of exactly this many bytes. */
function paddedJob(bytes: number, fields: Record<string, unknown> = {}): string {
  const withPadding = (length: number): string =>
    JSON.stringify(job({ ...fields, padding: 'x'.repeat(length) }))
  return withPadding(bytes - withPadding(0).length)
}

/** A response with a job, of exactly this many bytes, without a content-length. */
export function sized(
  status: number,
  bytes: number,
  fields: Record<string, unknown> = {},
): Handler {
  return (response) => response.writeHead(status).end(paddedJob(bytes, fields))
}
