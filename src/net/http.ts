/** One HTTP request to one origin, and exactly how far it got: that decides whether it may be sent again. */

import type { Dispatcher } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import { connector, type Refusal, refusalOf, wordsOf } from './connect.js'
import type { Stop } from './deadline.js'

/** The largest answer that is read, in bytes. */
export const ANSWER_LIMIT = 1024 * 1024

/** How long the parts of a request may take, in milliseconds. */
export const LIMITS = {
  /** Until the first byte of the request can leave: address look-up, TCP, proxy, TLS. */
  connect: 10_000,
  POST: 60_000,
  GET: 30_000,
  /** How long the answer to a POST is waited for after a cancel: it alone tells the job's id. */
  cancelledPost: 5_000,
} as const

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** From the root, encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** What became of a request. */
export type HttpResult =
  /** A whole answer, whatever it says. */
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** Not one byte of the request left this machine's side of the connection. */
  | {
      readonly kind: 'unsent'
      readonly reason: string
      readonly refusal: Refusal | undefined
      readonly cause: unknown
    }
  /** Sent, at least in part, and no whole answer came. */
  | { readonly kind: 'lost'; readonly reason: string; readonly cause: unknown }
  /** The deadline or a cancel ended it first. */
  | { readonly kind: 'stopped'; readonly sent: boolean }

/** Headers of an answer by their lower-case name; a repeated one has its first value. */
export type Headers = Readonly<Record<string, string | undefined>>

export interface HttpClient {
  send(request: HttpRequest): Promise<HttpResult>
  /** Ends every connection at once. */
  close(): void
}

/**
 * Makes a client for one origin.
 *
 * A POST always opens a connection of its own: on a kept one the server may close at the very moment the request
 * leaves, and nobody could tell whether it was read (RFC 9112, 9.3.1). The GETs that follow share that connection,
 * kept for longer than any usual poll interval.
 *
 * Neither a deadline nor a cancel is left to undici: they destroy its client from outside.
 *
 * @param origin `https://host:port`
 * @param stop ends every request
 * @param proxy the proxy for this origin, if any
 */
export function httpClient(origin: string, stop: Stop, proxy: URL | undefined): HttpClient {
  let connection: Connection | undefined

  const connected = (): Connection => {
    connection ??= openConnection(origin, proxy)
    return connection
  }
  const close = (): void => {
    connection?.destroy()
    connection = undefined
  }
  const send = async (request: HttpRequest): Promise<HttpResult> => {
    if (request.method === 'POST') close()
    const result = await exchange(connected(), request, stop)
    if (result.kind !== 'answer') close()
    return result
  }
  return { send, close }
}

const TOO_LONG = 'an answer of more than 1 MiB'

interface Connection {
  readonly client: Client
  /** Where the answers are read to, one after the other: a new buffer for each long one would add up. */
  bytes: Buffer
  destroy(): void
}

function openConnection(origin: string, proxy: URL | undefined): Connection {
  const { connect, cancel } = connector(buildConnector({}), proxy)
  const client = new Client(origin, {
    connect,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 65_000,
    keepAliveMaxTimeout: 3_600_000,
    pipelining: 1,
  })
  const destroy = (): void => {
    cancel()
    void client.destroy()
  }
  return { client, bytes: Buffer.alloc(1024), destroy }
}

/** Sends one request and settles once: with an answer, a fault, the end of its time, or a stop. */
function exchange(connection: Connection, request: HttpRequest, stop: Stop): Promise<HttpResult> {
  return new Promise((resolve) => {
    const answer = new AnswerReader(connection)
    let sent = false
    let timer: NodeJS.Timeout | undefined

    const settle = (result: HttpResult): void => {
      clearTimeout(timer)
      stop.signal.removeEventListener('abort', onStop)
      resolve(result)
    }
    const fail = (reason: string, cause: unknown): void =>
      settle(
        sent ? { kind: 'lost', reason, cause } : { kind: 'unsent', reason, refusal: refusalOf(cause), cause },
      )
    const within = (milliseconds: number, end: () => void): void => {
      clearTimeout(timer)
      timer = setTimeout(end, milliseconds)
    }
    const onStop = (): void => {
      const end = (): void => settle({ kind: 'stopped', sent })
      const left = stop.remainingMs()
      if (request.method === 'POST' && sent && stop.cancelled() && left > 0) {
        within(Math.min(LIMITS.cancelledPost, left), end)
      } else {
        end()
      }
    }

    if (stop.signal.aborted) return resolve({ kind: 'stopped', sent: false })
    stop.signal.addEventListener('abort', onStop)
    within(LIMITS.connect, () => fail(`no connection within ${LIMITS.connect / 1000} s`, undefined))

    connection.client.dispatch(
      { method: request.method, path: request.path, headers: request.headers, body: request.body ?? null },
      {
        // undici calls this directly before it writes the request to the socket.
        onRequestStart() {
          sent = true
          const limit = LIMITS[request.method]
          within(limit, () => fail(`no whole answer within ${limit / 1000} s`, undefined))
        },
        onResponseStart(_controller, status, headers) {
          if (!answer.start(status, headers)) fail(TOO_LONG, undefined)
        },
        onResponseData(_controller, chunk) {
          if (!answer.add(chunk)) fail(TOO_LONG, undefined)
        },
        onResponseEnd() {
          settle(answer.result())
        },
        onResponseError(_controller, error) {
          fail(wordsOf(error), error)
        },
      } satisfies Dispatcher.DispatchHandler,
    )
  })
}

/** Collects an answer, up to the limit, in the connection's buffer: a service may send it byte by byte. */
class AnswerReader {
  #status = 0
  #headers: Headers = {}
  #length = 0
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Also called for informational answers but 100 and 101, of which undici takes none; the final one replaces them.
   *
   * @returns false where a body is announced that is over the limit
   */
  start(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
    this.#status = status
    this.#headers = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        Array.isArray(value) ? value[0] : value,
      ]),
    )
    const length = Number(this.#headers['content-length'])
    if (length <= ANSWER_LIMIT) this.#fit(length)
    const hasBody = status >= 200 && status !== 204 && status !== 304 // RFC 9112, 6.3
    return !(hasBody && length > ANSWER_LIMIT)
  }

  /** Whether the answer is still within the limit. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length
    if (length > ANSWER_LIMIT) return false
    if (length > this.#connection.bytes.length) this.#fit(Math.min(ANSWER_LIMIT, length * 2))
    chunk.copy(this.#connection.bytes, this.#length)
    this.#length = length
    return true
  }

  result(): HttpResult {
    const body = new TextDecoder().decode(this.#connection.bytes.subarray(0, this.#length))
    return { kind: 'answer', status: this.#status, headers: this.#headers, body }
  }

  /** Makes room for so many bytes. */
  #fit(length: number): void {
    const { bytes } = this.#connection
    if (length <= bytes.length) return
    this.#connection.bytes = Buffer.allocUnsafeSlow(length)
    bytes.copy(this.#connection.bytes, 0, 0, this.#length)
  }
}
