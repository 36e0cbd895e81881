/** A service that follows a script, on a real socket: each request gets the next answer of its list. */

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

export interface Received {
  readonly method: string
  /** As it came, undecoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Milliseconds since the service started. */
  readonly at: number
  /** Counts the connections from 1. */
  readonly connection: number
}

/** Answers a request, or does something worse. */
export type Answer = (response: ServerResponse, request: Received) => void

export interface Script {
  /** For the POSTs in turn; the last one again and again. */
  readonly posts?: readonly Answer[]
  /** For the GETs in turn; the last one again and again. */
  readonly looks?: readonly Answer[]
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly host?: string
  /** How long an idle connection is kept, in milliseconds. */
  readonly keepAliveMs?: number
}

export interface ScriptedService {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  readonly posts: () => Received[]
  readonly looks: () => Received[]
  /** Waits until so many requests have come in. */
  readonly requests: (count: number) => Promise<void>
  readonly connections: () => number
  readonly close: () => Promise<void>
}

export async function startService(script: Script): Promise<ScriptedService> {
  const { posts = [], looks = [], host = '127.0.0.1' } = script
  const received: Received[] = []
  const numbers = new WeakMap<Socket, number>()
  const waiting: { count: number; resolve: () => void }[] = []
  const started = performance.now()
  let connections = 0

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request
    const at = performance.now() - started
    const body = (await request.toArray()).join('')
    const entry = { method, path, headers, body, at, connection: numbers.get(request.socket) ?? 0 }
    received.push(entry)
    for (const { count, resolve } of waiting) if (received.length >= count) resolve()
    const list = method === 'POST' ? posts : looks
    const nth = received.filter((other) => other.method === method).length
    const answer = list[Math.min(nth, list.length) - 1]
    if (answer === undefined) throw new Error(`The script has no answer to ${method} ${path}`)
    answer(response, entry)
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(request, response).catch((error: unknown) => json(500, { error: String(error) })(response))
  const server = script.tls ? createTlsServer(script.tls, listener) : createServer(listener)
  server.keepAliveTimeout = script.keepAliveMs ?? 60_000
  server.on(script.tls ? 'secureConnection' : 'connection', (socket) => numbers.set(socket, ++connections))
  server.on('tlsClientError', () => undefined)
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: `${script.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    received,
    posts: () => received.filter(({ method }) => method === 'POST'),
    looks: () => received.filter(({ method }) => method === 'GET'),
    requests: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    connections: () => connections,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A job as the service interface has it. */
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

export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

export const created = json(201, job())
export const active = json(200, job())
export const completed = json(200, opened)

/** An answer that comes later. */
export function later(milliseconds: number, answer: Answer): Answer {
  return (response, request) => void setTimeout(() => answer(response, request), milliseconds)
}

/** No answer at all; the connection stays. */
export const silence: Answer = () => undefined

/** The connection is reset in place of an answer. */
export const reset: Answer = (response) => void response.req.socket.resetAndDestroy()

/** The head of an answer and half of its body, then the end of the connection. */
export const cut: Answer = (response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"id": "job-1", "sta', () => response.req.socket.destroy())
}

/** An answer of so many bytes, without a length in its head. */
export function huge(status: number, bytes: number): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...opened, padding: 'x'.repeat(bytes) }))
  }
}

/** An answer with a job, of exactly so many bytes. */
export function exactly(status: number, bytes: number): Answer {
  const frame = JSON.stringify({ ...job(), padding: '' }).length
  return (response) =>
    response.writeHead(status).end(JSON.stringify({ ...job(), padding: 'x'.repeat(bytes - frame) }))
}
