/** An agent service that misbehaves as planned, written on bare sockets, and that remembers what it may have accepted. */

import { createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Certificate } from '../support/certificate.js'
import { startListening } from '../support/listening.js'
import type { Exchange, ResponsePlan, ServicePlan } from './service-plan.js'

/** One request, from its first byte on. Times are of `performance.now()`. */
export interface Entry {
  readonly startedAt: number
  method: string
  /** Undecoded. */
  path: string
  headers: string
  body: string
  /** The whole request has arrived. */
  complete: boolean
  exchange: Exchange | undefined
  /** The id of the job in the response. */
  jobId: string
  /** When the last byte of a whole response was handed to the system; undefined if it never was. */
  respondedAt: number | undefined
}

export interface MisbehavingService {
  readonly port: number
  readonly entries: readonly Entry[]
  readonly close: () => Promise<void>
}

export interface ServiceOptions {
  readonly plan: ServicePlan
  readonly host: string
  readonly tls: Certificate | undefined
  readonly onEntry: (kind: 'request' | 'post' | 'get' | 'response') => void
  readonly log: (line: string) => void
}

/** @param begin the first bytes, if they are all that is ever read */
function newEntry(begin?: Buffer): Entry {
  return {
    startedAt: performance.now(),
    method: begin?.subarray(0, 4).toString().trim() ?? '',
    path: '',
    headers: '',
    body: '',
    complete: false,
    exchange: undefined,
    jobId: '',
    respondedAt: undefined,
  }
}

/** What a path names. */
const ROUTE = /\/v2\/agent\/[^/]+\/job(?:\/([^/]+)(\/message)?)?$/

export function jobIdIn({ path }: Pick<Entry, 'path'>): string {
  return decodeURIComponent(ROUTE.exec(path)?.[1] ?? '')
}

/** A request that broke at its first byte may be either. */
export const isCreate = ({ method, path }: Pick<Entry, 'method' | 'path'>): boolean =>
  method === 'POST' && path.endsWith('/job')

export const isMessage = ({ path }: Pick<Entry, 'path'>): boolean => path.endsWith('/message')

export async function startMisbehavingService(options: ServiceOptions): Promise<MisbehavingService> {
  const { plan, host, tls, log } = options
  const entries: Entry[] = []
  const timers = new Set<NodeJS.Timeout>()
  const counts = { POST: 0, GET: 0 }
  let connections = 0
  let created = 0
  let visibleAt = 0

  const wait = (milliseconds: number): Promise<void> =>
    milliseconds <= 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          const timer = setTimeout(() => {
            timers.delete(timer)
            resolve()
          }, milliseconds)
          timers.add(timer)
        })

  const nextExchange = (method: string): Exchange => {
    const list = method === 'POST' ? plan.posts : plan.gets
    const nth = counts[method === 'POST' ? 'POST' : 'GET']++
    return list[Math.min(nth, list.length - 1)] as Exchange
  }

  const end = (socket: Socket, raw: Socket, how: Exchange['how']): void => {
    if (how === 'reset') raw.resetAndDestroy()
    else if (how === 'close') socket.end()
  }

  /** Serves one request; resolves with what is left in the buffer, or undefined if the connection is of no more use. */
  const serve = async (socket: Socket, raw: Socket, reader: Reader): Promise<boolean> => {
    if (!(await reader.until(() => reader.buffer.length > 0))) return false
    const entry = newEntry()
    entries.push(entry)
    await reader.until(() => reader.buffer.length >= 4)
    entry.method = reader.buffer.subarray(0, 4).toString().trim()
    let exchange = nextExchange(entry.method)
    entry.exchange = exchange
    options.onEntry('request')
    options.onEntry(entry.method === 'POST' ? 'post' : 'get')
    log(`${entry.method} begins: ${describeExchange(exchange)}`)
    if (exchange.breaksAt === 'first-byte') {
      end(socket, raw, exchange.how)
      return false
    }
    if (!(await readRequest(reader, entry))) return false
    log(`${entry.method} ${entry.path} with ${entry.body.length} characters`)
    if (entry.method === 'GET' && performance.now() < visibleAt) {
      exchange = { ...exchange, response: plan.invisible.response }
      entry.exchange = exchange
      log('The job is not visible yet.')
    }
    await wait(exchange.delayMs)
    if (exchange.breaksAt === 'request') {
      end(socket, raw, exchange.how)
      return false
    }
    entry.jobId = jobIdIn(entry) || `made.${++created}`
    const { bytes, endsWithConnection } = render(exchange.response, entry.jobId)
    if (isCreate(entry)) visibleAt = performance.now() + plan.invisible.forMs
    const whole = exchange.breaksAt === 'never'
    const sent = whole ? bytes : bytes.subarray(0, Math.floor((bytes.length - 1) * exchange.fraction))
    if (!(await write(socket, sent, exchange.response, wait))) return false
    if (!whole) {
      end(socket, raw, exchange.how)
      log('The response breaks.')
      return false
    }
    if (endsWithConnection) {
      if (exchange.response.afterwards === 'reset') {
        raw.resetAndDestroy() // Nobody can tell that it was whole.
        return false
      }
      await new Promise<void>((resolve) => socket.end(resolve))
    }
    if (socket.destroyed && !endsWithConnection) return false
    entry.respondedAt = performance.now()
    options.onEntry('response')
    log(`${exchange.response.status} is sent.`)
    switch (exchange.response.afterwards) {
      case 'reset':
        await wait(20)
        raw.resetAndDestroy()
        return false
      case 'close':
        socket.end()
        return false
      case 'garbage':
        socket.write('garbage\r\n\r\n')
        return true
      case 'keep':
        return !endsWithConnection
    }
  }

  const onConnection = async (raw: Socket): Promise<void> => {
    raw.on('error', () => undefined)
    const behaviour = plan.connections[connections++] ?? 'ok'
    log(`Connection ${connections}: ${behaviour}`)
    if (behaviour === 'reset') raw.resetAndDestroy()
    if (behaviour === 'close') raw.destroy()
    if (behaviour === 'hang' && tls === undefined) raw.once('data', (chunk) => entries.push(newEntry(chunk)))
    if (behaviour !== 'ok') return
    const socket =
      tls === undefined
        ? raw
        : new TLSSocket(raw, { isServer: true, secureContext: createSecureContext(tls) })
    socket.on('error', () => undefined)
    const reader = new Reader(socket)
    while (await serve(socket, raw, reader));
  }

  const server = createServer((socket) => void onConnection(socket))
  server.on('error', (error) => log(String(error)))
  const { port, close } = await startListening(server, host)
  if (plan.startsAfterMs > 0) {
    await close()
    void wait(plan.startsAfterMs).then(() => server.listen(port, host, () => log('The service listens.')))
  }
  return {
    port,
    entries,
    close: async () => {
      for (const timer of timers) clearTimeout(timer)
      await close()
    },
  }
}

/** The bytes that have come in and are not used yet. */
class Reader {
  buffer = Buffer.alloc(0)
  #ended = false
  #wake: () => void = () => undefined

  constructor(socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.buffer = Buffer.concat([this.buffer, chunk])
      this.#wake()
    })
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#ended = true
        this.#wake()
      })
    }
  }

  /** Resolves with false if the connection ends first. */
  async until(isEnough: () => boolean): Promise<boolean> {
    while (!isEnough()) {
      if (this.#ended) return false
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return true
  }

  take(length: number): Buffer {
    const taken = this.buffer.subarray(0, length)
    this.buffer = this.buffer.subarray(length)
    return taken
  }
}

async function readRequest(reader: Reader, entry: Entry): Promise<boolean> {
  if (!(await reader.until(() => reader.buffer.includes('\r\n\r\n')))) return false
  const head = reader.take(reader.buffer.indexOf('\r\n\r\n') + 4).toString('latin1')
  const [first = '', ...lines] = head.split('\r\n')
  entry.path = first.split(' ')[1] ?? ''
  entry.headers = lines.join('\n')
  const length = Number(/^content-length: *(\d+)$/im.exec(entry.headers)?.[1] ?? 0)
  if (!(await reader.until(() => reader.buffer.length >= length))) return false
  entry.body = reader.take(length).toString()
  entry.complete = true
  return true
}

/** Writes in parts; resolves with false if nobody reads any more. */
async function write(
  socket: Socket,
  bytes: Buffer,
  { parts, pauseMs }: ResponsePlan,
  wait: (milliseconds: number) => Promise<void>,
): Promise<boolean> {
  const size = Math.max(1, Math.ceil(bytes.length / parts))
  for (let at = 0; at < bytes.length; at += size) {
    if (at > 0) await wait(pauseMs)
    if (socket.destroyed || !socket.writable) return false
    const failed = await new Promise<unknown>((resolve) =>
      socket.write(bytes.subarray(at, at + size), resolve),
    )
    if (failed) return false
  }
  return true
}

/** The body before it is compressed. */
export function bodyText({ body }: ResponsePlan, jobId: string): string {
  switch (body.kind) {
    case 'job':
      return JSON.stringify({
        id: jobId,
        status: body.status,
        source: { repository: 'https://github.com/your-org/docs', ref: 'main' },
        model: 'some-model',
        prLink: body.link,
        createdAt: '2026-01-02T03:04:05.000Z',
        archivedAt: body.status === 'archived' ? '2026-01-02T03:04:06.000Z' : null,
        ...body.more,
      })
    case 'other-job':
      return JSON.stringify({ id: body.id, status: body.status, prLink: null })
    case 'text':
      return body.text
    case 'huge':
      return JSON.stringify({ id: jobId, status: 'active', padding: '' }).replace(
        '""',
        `"${'x'.repeat(body.bytes - JSON.stringify({ id: jobId, status: 'active', padding: '' }).length)}"`,
      )
  }
}

function render(response: ResponsePlan, jobId: string): { bytes: Buffer; endsWithConnection: boolean } {
  const { status, encoding, framing } = response
  const hasNoBody = status === 204 || status === 304
  const body = hasNoBody ? Buffer.alloc(0) : compress(Buffer.from(bodyText(response, jobId)), encoding)
  const endsWithConnection = framing === 'close' && !hasNoBody
  const framingHeaders = hasNoBody
    ? []
    : framing === 'length'
      ? [`content-length: ${body.length}`]
      : framing === 'chunked'
        ? ['transfer-encoding: chunked']
        : ['connection: close']
  const headers = [
    ...response.headers.map(([name, value]) => `${name}: ${value}`),
    ...(encoding === 'identity' ? [] : [`content-encoding: ${encoding}`]),
    ...framingHeaders,
  ]
  const informational = response.informational.map((code) => `HTTP/1.1 ${code} Early\r\nlink: </x>\r\n\r\n`)
  const head = `${informational.join('')}HTTP/1.1 ${status} Whatever\r\n${headers.join('\r\n')}\r\n\r\n`
  const chunks = framing === 'chunked' && !hasNoBody ? chunked(body) : [body]
  return { bytes: Buffer.concat([Buffer.from(head, 'latin1'), ...chunks]), endsWithConnection }
}

function compress(body: Buffer, encoding: ResponsePlan['encoding']): Buffer {
  switch (encoding) {
    case 'identity':
      return body
    case 'gzip':
      return gzipSync(body)
    case 'deflate':
      return deflateSync(body)
    case 'br':
      return brotliCompressSync(body)
  }
}

function chunked(body: Buffer): Buffer[] {
  const size = Math.max(1, Math.ceil(body.length / 3))
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    chunks.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return [...chunks, Buffer.from('0\r\n\r\n')]
}

function describeExchange({ delayMs, breaksAt, how, fraction, response }: Exchange): string {
  const { status, body, framing, encoding, informational, parts, pauseMs, afterwards } = response
  const breaks = breaksAt === 'never' ? '' : `, ${how} at ${breaksAt} ${fraction.toFixed(2)}`
  return (
    `after ${delayMs} ms${breaks}: ${[...informational, status].join(' ')} ${JSON.stringify(body).slice(0, 200)} ` +
    `${framing} ${encoding} in ${parts} parts of ${pauseMs} ms, then ${afterwards}`
  )
}
