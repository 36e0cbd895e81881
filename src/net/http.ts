/** One HTTP request to one origin, and exactly how far it got: that decides whether it may be retried. */

import type { Dispatcher } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import { createConnector, describeError, type PermanentFailure, permanentFailure } from './connect.js'
import type { Deadline } from './deadline.js'

/** The largest response body that is read, in bytes. */
export const MAX_RESPONSE_BYTES = 1024 * 1024

/** Time limits of a request, in milliseconds. */
export const LIMITS = {
  /** Until the first byte of the request can be sent: DNS, TCP, proxy, TLS. */
  connect: 10_000,
  POST: 60_000,
  GET: 30_000,
  /** How long the response to a POST is waited for after a cancel: only the response has the job's id. */
  cancelledPost: 5_000,
} as const

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** From the root, encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type HttpResult =
  /** A complete response, whatever it says. */
  | { readonly kind: 'response'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** Not one byte of the request left this machine. */
  | {
      readonly kind: 'not-sent'
      readonly reason: string
      readonly permanent: PermanentFailure | undefined
      readonly cause: unknown
    }
  /** Sent, at least in part, without a complete response. */
  | { readonly kind: 'no-response'; readonly reason: string; readonly cause: unknown }
  /** The deadline or a cancel ended it first. */
  | { readonly kind: 'aborted'; readonly sent: boolean }

/** Response headers by lower-case name; only the first value of a repeated one. */
export type Headers = Readonly<Record<string, string | undefined>>

export interface HttpClient {
  send(request: HttpRequest): Promise<HttpResult>
  /** Closes every connection immediately. */
  close(): void
}

/**
 * Creates a client for one origin.
 *
 * A POST always uses a new connection: a server may close a kept-alive one just as the request is sent, and then there
 * is no way to know whether it was read (RFC 9112, 9.3.1). The GETs that follow reuse that connection, which is kept for
 * longer than any usual poll interval.
 *
 * Deadline and cancellation are not left to undici, because some of its waits can't be aborted from inside: they destroy
 * its client.
 *
 * @param origin `https://host:port`
 * @param deadline ends every request
 * @param proxy the proxy for this origin, if any
 */
export function createHttpClient(origin: string, deadline: Deadline, proxy: URL | undefined): HttpClient {
  let connection: Connection | undefined

  const close = (): void => {
    connection?.destroy()
    connection = undefined
  }
  const send = async (request: HttpRequest): Promise<HttpResult> => {
    if (request.method === 'POST') close()
    connection ??= openConnection(origin, proxy)
    const result = await exchange(connection.client, request, deadline)
    if (result.kind !== 'response') close()
    return result
  }
  return { send, close }
}

interface Connection {
  readonly client: Client
  destroy(): void
}

function openConnection(origin: string, proxy: URL | undefined): Connection {
  const { connect, abort } = createConnector(buildConnector({}), proxy)
  const client = new Client(origin, {
    connect,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 65_000,
    keepAliveMaxTimeout: 3_600_000,
    pipelining: 1,
  })
  const destroy = (): void => {
    abort()
    void client.destroy()
  }
  return { client, destroy }
}

const TOO_LARGE = 'the response is larger than 1 MiB'

/** Sends one request and settles once: with a response, an error, or the end of its time. */
function exchange(client: Client, request: HttpRequest, deadline: Deadline): Promise<HttpResult> {
  return new Promise((resolve) => {
    const reader = new ResponseReader()
    let sent = false
    let timer: NodeJS.Timeout | undefined

    const settle = (result: HttpResult): void => {
      clearTimeout(timer)
      deadline.signal.removeEventListener('abort', onAbort)
      resolve(result)
    }
    const fail = (reason: string, cause: unknown): void =>
      settle(
        sent
          ? { kind: 'no-response', reason, cause }
          : { kind: 'not-sent', reason, permanent: permanentFailure(cause), cause },
      )
    const setTimer = (milliseconds: number, end: () => void): void => {
      clearTimeout(timer)
      timer = setTimeout(end, milliseconds)
    }
    const onAbort = (): void => {
      const end = (): void => settle({ kind: 'aborted', sent })
      const remainingMs = deadline.remainingMs()
      if (request.method === 'POST' && sent && deadline.cancelled() && remainingMs > 0) {
        setTimer(Math.min(LIMITS.cancelledPost, remainingMs), end)
      } else {
        end()
      }
    }

    if (deadline.signal.aborted) return resolve({ kind: 'aborted', sent: false })
    deadline.signal.addEventListener('abort', onAbort)
    setTimer(LIMITS.connect, () => fail(`no connection within ${LIMITS.connect / 1000} s`, undefined))

    client.dispatch(
      { method: request.method, path: request.path, headers: request.headers, body: request.body ?? null },
      {
        // undici calls this directly before it writes the request to the socket.
        onRequestStart() {
          sent = true
          const limit = LIMITS[request.method]
          setTimer(limit, () => fail(`no complete response within ${limit / 1000} s`, undefined))
        },
        onResponseStart(_controller, status, headers) {
          if (!reader.start(status, headers)) fail(TOO_LARGE, undefined)
        },
        onResponseData(_controller, chunk) {
          if (!reader.add(chunk)) fail(TOO_LARGE, undefined)
        },
        onResponseEnd() {
          settle(reader.result())
        },
        onResponseError(_controller, error) {
          fail(describeError(error), error)
        },
      } satisfies Dispatcher.DispatchHandler,
    )
  })
}

/** Collects a response, up to the limit. */
class ResponseReader {
  #status = 0
  #headers: Headers = {}
  #chunks: Buffer[] = []
  #length = 0

  /**
   * Also called for 1xx responses other than 100 and 101, which undici rejects; the final response replaces them.
   *
   * @returns false if a body over the limit is announced
   */
  start(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
    this.#status = status
    this.#headers = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        Array.isArray(value) ? value[0] : value,
      ]),
    )
    const hasBody = status >= 200 && status !== 204 && status !== 304 // RFC 9112, 6.3
    return !(hasBody && Number(this.#headers['content-length']) > MAX_RESPONSE_BYTES)
  }

  /** @returns whether the body is still within the limit */
  add(chunk: Buffer): boolean {
    this.#length += chunk.length
    if (this.#length > MAX_RESPONSE_BYTES) return false
    this.#chunks.push(chunk)
    return true
  }

  result(): HttpResult {
    const body = new TextDecoder().decode(Buffer.concat(this.#chunks))
    return { kind: 'response', status: this.#status, headers: this.#headers, body }
  }
}
