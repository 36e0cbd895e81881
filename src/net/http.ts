/** One HTTP request to one origin, and how far it got: that decides whether it is retried. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import Client from 'undici/lib/dispatcher/client.js'
import type { PermanentFailure } from '../text/errors.js'
import { quote } from '../text/escape.js'
import {
  type ConnectorOptions,
  createConnector,
  describeError,
  permanentFailure,
} from './connect.js'
import { type Deadline, readArrived } from './deadline.js'

/** No larger response body is read; in bytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024

/** A request has these time limits, in milliseconds. [net.limits] */
const LIMITS = {
  /** Until the first byte of the request can be sent: DNS, TCP, proxy, TLS. */
  connect: 10_000,
  POST: 60_000,
  GET: 30_000,
  /**
   * How long the response to a POST is waited for after the deadline or a cancel: only the response
   * has the job's id. [cancel.in-flight]
   */
  finalPost: 5_000,
}

export type HttpRequest = Readonly<{
  method: 'GET' | 'POST'
  /** It starts at the root, and is encoded. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string
}>

/** The response is complete, whatever it says. */
export type HttpResponse = Readonly<{
  kind: 'response'
  status: number
  /** By lower-case name. A repeated header has its first value alone. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
}>

export type HttpResult = Readonly<
  | HttpResponse
  /** Not one byte of the request left this machine. */
  | {
      kind: 'not-sent'
      reason: string
      permanent: PermanentFailure | undefined
      cause: unknown
    }
  /** It was sent, at least in part, without a complete response. */
  | { kind: 'no-response'; reason: string; cause: unknown }
  /** Its deadline or a cancel ended it first. */
  | { kind: 'aborted'; sent: boolean }
>

interface HttpClientOptions extends ConnectorOptions {
  /** It is `https://host:port`. */
  readonly origin: string
}

/**
 * A POST always uses a new connection: a server may close a kept-alive one just as the request is
 * sent, and then there is no way to know whether it was read (RFC 9112, 9.3.1). The GETs that
 * follow reuse that connection, which is kept for longer than any usual poll interval.
 * [net.post.new-connection]
 *
 * Deadline and cancellation are not left to undici, because some of its waits can't be aborted from
 * inside: they destroy its client.
 */
export function createHttpClient(options: HttpClientOptions) {
  let connection: Connection | undefined
  const { proxy } = options
  const route = proxy === undefined ? '' : ` through the proxy ${proxy.host}`

  const close = (): void => {
    connection?.destroy()
    connection = undefined
  }
  const send = async (request: HttpRequest, deadline: Deadline): Promise<HttpResult> => {
    if (request.method === 'POST') close()
    connection ??= openConnection(options)
    // A request is sent once: its caller decides whether it may be sent again.
    const result = await exchange(connection.client, route, request, deadline)
    if (result.kind !== 'response') close()
    return result
  }
  return { send, close }
}

type Connection = Readonly<{ client: Client; destroy(): void }>

function openConnection({ origin, ...options }: HttpClientOptions): Connection {
  const { connect, abort } = createConnector(options)
  const client = new Client(origin, {
    connect,
    // The time of the whole exchange counts, not that of a pause.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 65_000,
    keepAliveMaxTimeout: 3_600_000,
    pipelining: 1,
  })
  return {
    // `destroy` ends this client.
    client,
    destroy() {
      // Else, a proxy may open the tunnel of a request that was given up.
      abort()
      // What is given up is read no further.
      void client.destroy()
    },
  }
}

const TOO_LARGE = 'the response is larger than 1 MiB'

/**
 * Sends one request and settles once: with a response, an error, or the end of its time.
 * [send.never-twice]
 *
 * @param route names the proxy, as the end of a sentence; or empty
 */
function exchange(
  client: Client,
  route: string,
  request: HttpRequest,
  { signal }: Deadline,
): Promise<HttpResult> {
  const { method, path, headers, body: text } = request
  return new Promise((resolve) => {
    const reader = createReader()
    let sent = false
    let settled = false
    let timer: NodeJS.Timeout | undefined

    const settle = (result: HttpResult): void => {
      settled = true
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(result)
    }
    const fail = (reason: string, cause?: unknown) =>
      settle(
        sent
          ? { kind: 'no-response', reason, cause }
          : { kind: 'not-sent', reason, permanent: permanentFailure(cause), cause },
      )
    const setTimer = (milliseconds: number, end: () => void): void => {
      clearTimeout(timer)
      const current = setTimeout(async () => {
        await readArrived()
        if (!settled && timer === current) end()
      }, milliseconds)
      timer = current
    }
    const onAbort = (): void => {
      const end = () => settle({ kind: 'aborted', sent })
      if (!sent) end()
      else setTimer(method === 'POST' ? LIMITS.finalPost : 0, end)
    }
    const onSent = (): void => {
      sent = true
      const limit = LIMITS[method]
      setTimer(limit, () => fail(`no complete response within ${limit / 1000} s`))
    }
    // undici writes the headers with the first part of the body: nothing is sent before that, and a
    // signal that has arrived stops it. [cancel.before-post]
    // It accepts any async iterable; its types don't.
    const createBody = async function* (text: string) {
      await readArrived() // A signal may have ended it.
      if (settled) throw new Error('aborted')
      onSent()
      yield Buffer.from(text)
    }

    if (signal.aborted) return resolve({ kind: 'aborted', sent: false })
    signal.addEventListener('abort', onAbort)
    setTimer(LIMITS.connect, () => fail(`no connection within ${LIMITS.connect / 1000} s${route}`))

    const length = text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }
    client.dispatch(
      {
        method,
        path,
        headers: { ...headers, ...length },
        body: text === undefined ? null : (createBody(text) as unknown as Readable),
      },
      {
        // undici calls this directly before it writes a request without a body.
        onRequestStart() {
          if (text === undefined) onSent()
        },
        onResponseStart(_controller, status, headers) {
          if (!reader.start(status, headers)) fail(TOO_LARGE)
        },
        onResponseData(_controller, chunk) {
          if (!reader.add(chunk)) fail(TOO_LARGE)
        },
        onResponseEnd() {
          settle(reader.result())
        },
        onResponseError(_controller, error) {
          fail(quote(describeError(error)), error)
        },
      } satisfies Dispatcher.DispatchHandler,
    )
  })
}

function createReader() {
  let head: Pick<HttpResponse, 'status' | 'headers'> = { status: 0, headers: {} }
  let headersLength = 0
  let length = 0
  const chunks: Buffer[] = []
  return {
    /**
     * Also called for 1xx responses other than 100 and 101, which undici rejects; the final
     * response replaces them. There is no limit to how many come first.
     *
     * @returns false if they are too large, or a body over the limit is announced
     */
    start(status: number, received: IncomingHttpHeaders): boolean {
      headersLength += JSON.stringify(received).length
      const headers = Object.fromEntries(
        Object.entries(received).map(([name, value]) => [name, [value].flat()[0]]),
      )
      head = { status, headers }
      const hasBody = status >= 200 && status !== 204 && status !== 304 // RFC 9112, 6.3
      const isTooLarge = hasBody && Number(headers['content-length']) > MAX_RESPONSE_BYTES
      return !isTooLarge && headersLength <= MAX_RESPONSE_BYTES
    },
    /** @returns whether the body is still within the limit */
    add(chunk: Buffer): boolean {
      length += chunk.length
      if (length > MAX_RESPONSE_BYTES) return false
      // A body that comes in pieces is joined.
      chunks.push(chunk)
      return true
    },
    result(): HttpResponse {
      return { kind: 'response', ...head, body: new TextDecoder().decode(Buffer.concat(chunks)) }
    },
  }
}
