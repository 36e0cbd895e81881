/** An agent service that misbehaves as planned, written on bare sockets, and that remembers what it may have accepted. */

import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext, TLSSocket } from 'node:tls'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Certificate } from '../support/certificate.js'
import { startListening } from '../support/listening.js'
import { job, paddedJob } from '../support/service.js'
import type { Trigger } from './plan.js'
import type { Exchange, ResponsePlan, ServicePlan } from './service-plan.js'

/** One request, from its first byte on. Times are of `performance.now()`. */
export class Entry {
  readonly startedAt = performance.now()
  /** Undecoded. */
  path = ''
  headers = ''
  body = ''
  /** The whole request has arrived. */
  complete = false
  exchange: Exchange | undefined
  /** The id of the job in the response. */
  jobId = ''
  /** When the last byte of a whole response was handed to the system; undefined if it never was. */
  respondedAt: number | undefined

  constructor(public method = '') {}
}

interface ServiceOptions {
  readonly plan: ServicePlan
  readonly host: string
  readonly tls: Certificate | undefined
  readonly count: (what: Trigger) => void
  readonly log: (line: string) => void
}

/** What a path names. */
const ROUTE = /\/v2\/agent\/[^/]+\/job(?:\/([^/]+)(\/message)?)?$/

export function jobIdIn({ path }: Pick<Entry, 'path'>): string {
  return decodeURIComponent(ROUTE.exec(path)?.[1] ?? '')
}

/** A request that broke at its first byte may be either. */
export const isCreate = ({ method, path }: Entry): boolean => method === 'POST' && path.endsWith('/job')

export const isMessage = ({ path }: Pick<Entry, 'path'>): boolean => path.endsWith('/message')

export async function startMisbehavingService({ plan, host, tls, count, log }: ServiceOptions) {
  const entries: Entry[] = []
  const closing = new AbortController()
  const counts = { post: 0, get: 0 }
  let connections = 0
  let created = 0
  let visibleAt = 0

  const wait = async (milliseconds: number): Promise<void> => {
    if (milliseconds > 0) await sleep(milliseconds, undefined, { signal: closing.signal })
  }

  const nextExchange = (method: 'post' | 'get'): Exchange => {
    const list = { post: plan.posts, get: plan.gets }[method]
    return list[Math.min(counts[method]++, list.length - 1)] as Exchange
  }

  /** Serves one request; resolves with whether the connection is of more use. */
  const serve = async (socket: Socket, raw: Socket, reader: Reader): Promise<boolean> => {
    const breakOff = (how: Exchange['how']): false => {
      if (how === 'reset') raw.resetAndDestroy()
      else if (how === 'close') socket.end()
      return false
    }
    if (!(await reader.until(() => reader.buffer.length > 0))) return false
    const entry = new Entry()
    entries.push(entry)
    await reader.until(() => reader.buffer.length >= 4)
    entry.method = methodIn(reader.buffer)
    const method = entry.method === 'POST' ? 'post' : 'get'
    let exchange = nextExchange(method)
    entry.exchange = exchange
    count('request')
    count(method)
    log(`${entry.method} begins: ${JSON.stringify(exchange).slice(0, 300)}`)
    if (exchange.breaksAt === 'first-byte') return breakOff(exchange.how)
    if (!(await readRequest(reader, entry))) return false
    log(`${entry.method} ${entry.path} with ${entry.body.length} characters`)
    if (entry.method === 'GET' && performance.now() < visibleAt) {
      exchange = { ...exchange, response: plan.invisible.response }
      entry.exchange = exchange
      log('The job is not visible yet.')
    }
    await wait(exchange.delayMs)
    if (exchange.breaksAt === 'request') return breakOff(exchange.how)
    const { response } = exchange
    entry.jobId = jobIdIn(entry) || `made.${++created}`
    const { bytes, endsWithConnection } = render(response, entry.jobId)
    if (isCreate(entry)) visibleAt = performance.now() + plan.invisible.forMs
    const isWhole = exchange.breaksAt === 'never'
    const sent = isWhole ? bytes : bytes.subarray(0, Math.floor((bytes.length - 1) * exchange.fraction))
    if (!(await write(socket, sent, response, wait))) return false
    if (!isWhole) {
      log('The response breaks.')
      return breakOff(exchange.how)
    }
    if (endsWithConnection) {
      if (response.afterwards === 'reset') return breakOff('reset') // Nobody can tell that it was whole.
      await new Promise<void>((resolve) => socket.end(resolve))
    } else if (socket.destroyed) return false
    entry.respondedAt = performance.now()
    count('response')
    log(`${response.status} is sent.`)
    switch (response.afterwards) {
      case 'reset':
        await wait(20)
        return breakOff('reset')
      case 'close':
        return breakOff('close')
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
    if (behaviour === 'hang' && tls === undefined)
      raw.once('data', (chunk) => entries.push(new Entry(methodIn(chunk))))
    if (behaviour !== 'ok') return
    const isServer = true
    const socket = tls ? new TLSSocket(raw, { isServer, secureContext: createSecureContext(tls) }) : raw
    socket.on('error', () => undefined)
    const reader = new Reader(socket)
    while (await serve(socket, raw, reader));
  }

  const server = createServer((socket) => {
    onConnection(socket).catch((thrown) => {
      if (!closing.signal.aborted) throw thrown
    })
  })
  server.on('error', (error) => log(String(error)))
  const { port, close } = await startListening(server, host)
  if (plan.startsAfterMs > 0) {
    await close()
    const listen = () => server.listen(port, host, () => log('The service listens.'))
    wait(plan.startsAfterMs).then(listen, () => undefined)
  }
  return {
    port,
    entries,
    close: (): Promise<void> => {
      closing.abort()
      return close()
    },
  }
}

/** Of a request of which there may be no more than its first bytes. */
const methodIn = (bytes: Buffer): string => bytes.subarray(0, 4).toString().trim()

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
    case 'job': {
      const { status, link: prLink, more } = body
      const archivedAt = status === 'archived' ? '2026-01-02T03:04:06.000Z' : null
      return JSON.stringify(job({ id: jobId, status, prLink, archivedAt, ...more }))
    }
    case 'other-job':
      return JSON.stringify({ id: body.id, status: body.status, prLink: null })
    case 'text':
      return body.text
    case 'huge':
      return paddedJob(body.bytes, { id: jobId })
  }
}

const ENCODERS = {
  identity: (body: Buffer) => body,
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
}

function render(response: ResponsePlan, jobId: string): { bytes: Buffer; endsWithConnection: boolean } {
  const { status, encoding, framing } = response
  const hasBody = status !== 204 && status !== 304
  const body = hasBody ? ENCODERS[encoding](Buffer.from(bodyText(response, jobId))) : Buffer.alloc(0)
  const framingHeader = {
    length: `content-length: ${body.length}`,
    chunked: 'transfer-encoding: chunked',
    close: 'connection: close',
  }[framing]
  const headers = [
    ...response.headers.map(([name, value]) => `${name}: ${value}`),
    ...(encoding === 'identity' ? [] : [`content-encoding: ${encoding}`]),
    ...(hasBody ? [framingHeader] : []),
  ]
  const informational = response.informational.map((code) => `HTTP/1.1 ${code} Early\r\nlink: </x>\r\n\r\n`)
  const head = `${informational.join('')}HTTP/1.1 ${status} Whatever\r\n${headers.join('\r\n')}\r\n\r\n`
  const content = body.toString('latin1')
  const framed = framing === 'chunked' && hasBody ? inChunks(content) : content
  return { bytes: Buffer.from(head + framed, 'latin1'), endsWithConnection: framing === 'close' && hasBody }
}

/** In three chunks, and the empty one that ends them. */
function inChunks(body: string): string {
  const size = Math.ceil(body.length / 3)
  const chunks = [0, 1, 2].map((nth) => body.slice(nth * size, (nth + 1) * size))
  return [...chunks.filter((chunk) => chunk !== ''), '']
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('')
}
