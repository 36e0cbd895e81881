/**
 * The agent service of a random run: it responds as planned, byte by byte, and remembers what it
 * may have accepted.
 */

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Handler, job, type Received, startService } from '../support/service.js'
import { FINAL_POST_MS } from './draw.js'
import type { Plan, Trigger } from './plan.js'
import {
  type Exchange,
  JOB_ID,
  MAX_BYTES,
  plainResponse,
  type ResponsePlan,
  UNBROKEN,
} from './service-plan.js'

/** One request. Times are of `performance.now()`. */
export interface Entry extends Received {
  /** Which step sent it, from 0. */
  readonly step: number
  readonly startedAt: number
  readonly exchange: Exchange
  /** The id of the job in the response. */
  readonly jobId: string
  /** When it was sent, and when its response has arrived at the latest. */
  readonly sentAt: number
  arrivedAt: number
  /** When the last byte of a whole response was handed to the system; undefined if it never was. */
  respondedAt: number | undefined
}

/** What a simulated socket knows of the bytes on their way. */
interface Travelling {
  receivedWasSentAt: number
  sentArrivesAt: number
}

/** The limits of a request, in milliseconds. */
export const REQUEST_MS = { POST: 60_000, GET: 30_000 }

interface ServiceOptions {
  plan: Plan
  deadlineOf: (step: number) => number
  count: (what: Trigger, step: number) => void
  /** The agent has got a message, or would have. */
  onMessage: () => void
  /** A request is to be sent again later. */
  onLimit: () => void
  tell: (who: string, what: string) => void
}

/** What a path names. */
const ROUTE = /\/v2\/agent\/[^/]+\/job(?:\/([^/]+)(\/message)?)?$/

export function jobIdIn({ path }: Pick<Received, 'path'>): string {
  return decodeURIComponent(ROUTE.exec(path)?.[1] ?? '')
}

export const isCreate = ({ method, path }: Received): boolean =>
  method === 'POST' && path.endsWith('/job')

export const isMessage = ({ path }: Pick<Received, 'path'>): boolean => path.endsWith('/message')

/** In front of every path: each step has a service of its own name. */
const STEP = /^\/step-(\d+)/

export const stepPrefix = (step: number): string => `/step-${step}`

export async function startPlannedService(options: ServiceOptions) {
  const { count, tell } = options
  const plan = options.plan.service
  /** How long bytes travel at most, to the next hop and from a proxy to the step. */
  const [, travelMs] = options.plan.network.travelMs
  const fromProxyMs = options.plan.proxy ? travelMs : 0
  const entries: Entry[] = []
  let created = 0
  let visibleAt = 0
  let activeUntil = 0

  const receive = (
    received: Received,
    planned: Exchange,
    { receivedWasSentAt }: Partial<Travelling>,
  ): Entry => {
    const startedAt = performance.now()
    const step = Number(STEP.exec(received.path)?.[1] ?? 0)
    const request = { ...received, path: received.path.replace(STEP, '') }
    const isHidden = request.method === 'GET' && startedAt < visibleAt
    const isActive = request.method === 'GET' && startedAt < activeUntil
    const exchange = isHidden
      ? { ...planned, response: plan.invisible.response }
      : isActive
        ? ACTIVE
        : planned
    const jobId = jobIdIn(request) || `made.${++created}`
    const sentAt = (receivedWasSentAt ?? startedAt) - fromProxyMs
    const entry = { ...request, step, startedAt, sentAt, exchange, jobId, ...never }
    entries.push(entry)
    const { method, path, body, connection } = request
    const length = method === 'POST' ? `, ${body.length} characters` : ''
    tell(
      `service`,
      `gets ${method} ${path} of step ${step + 1} on connection ${connection}${length}`,
    )
    count('request', step)
    count(method === 'POST' ? 'post' : 'get', step)
    return entry
  }

  const never = { respondedAt: undefined, arrivedAt: Number.POSITIVE_INFINITY }
  const respond = async (socket: Socket & Partial<Travelling>, entry: Entry): Promise<void> => {
    const { delayMs, breaksAt, fraction, pauseMs, how, response, atLimit } = entry.exchange
    const breakOff = (): void => {
      tell('service', `breaks ${entry.method} off: ${how}`)
      if (how === 'reset') socket.resetAndDestroy()
      else if (how !== 'hang') socket.end()
    }
    await pause(
      atLimit === undefined
        ? delayMs
        : limitOf(entry, atLimit, options.deadlineOf(entry.step)) -
            travelMs -
            fromProxyMs -
            performance.now(),
    )
    if (breaksAt === 'request') return breakOff()
    if (isCreate(entry)) {
      visibleAt = performance.now() + plan.invisible.forMs
      activeUntil = performance.now() + plan.activeForMs
    }
    const bytes = render(response, entry.jobId)
    const half = Math.floor((bytes.length - 1) * fraction)
    if (!(await write(socket, bytes.subarray(0, half)))) return
    await pause(pauseMs)
    if (breaksAt === 'response') return breakOff()
    if (!socket.writable) return
    const writing = write(socket, bytes.subarray(half))
    const onSent = (): void => {
      entry.respondedAt = performance.now()
      entry.arrivedAt = (socket.sentArrivesAt ?? entry.respondedAt) + fromProxyMs
    }
    // Whoever has read everything may end before the writer knows it.
    if (response.framing !== 'close') onSent()
    if (!(await writing)) {
      if (entry.arrivedAt > performance.now()) Object.assign(entry, never)
      return
    }
    if (response.framing === 'close' || response.afterwards === 'close')
      await new Promise<void>((resolve) => socket.end(resolve))
    if (response.framing === 'close') onSent()
    tell(
      'service',
      `has answered ${entry.method} with ${response.status} ${bodyText(response, entry.jobId).slice(0, 120)}`,
    )
    count('response', entry.step)
    const isLimited = entry.method === 'POST' && [409, 429].includes(response.status)
    if (isLimited) options.onLimit()
    // Or is to wait before it sends it again.
    if (isMessage(entry) && (fateOf(entry) === 'job' || isLimited)) options.onMessage()
    if (response.afterwards === 'garbage') socket.write('garbage\r\n\r\n')
    if (plan.idleMs === undefined) return
    await pause(plan.idleMs)
    const isIdle = entries.findLast(({ connection }) => connection === entry.connection) === entry
    if (!isIdle || !socket.writable) return
    tell('service', `closes connection ${entry.connection}, which is idle`)
    socket.end()
  }

  const play =
    (planned: Exchange): Handler =>
    (response, request) => {
      const { socket } = response.req
      // The socket still parses requests; what is written to it is up to the plan.
      response.detachSocket(socket)
      void respond(socket, receive(request, planned, socket as Partial<Travelling>))
    }
  const service = await startService({
    posts: plan.posts.map(play),
    polls: plan.gets.map(play),
  })
  return { ...service, entries }
}

/** A job that goes on. */
const ACTIVE: Exchange = {
  ...UNBROKEN,
  response: plainResponse(200, JSON.stringify(job({ id: JOB_ID }))),
}

/** When a response arrives that comes at a limit, or about then. */
function limitOf(
  { method, sentAt }: Entry,
  { of, offsetMs }: NonNullable<Exchange['atLimit']>,
  deadlineAt: number,
): number {
  const isPost = method === 'POST'
  const requestAt = sentAt + REQUEST_MS[isPost ? 'POST' : 'GET']
  const endAt = isPost && of === 'last answer' ? deadlineAt + FINAL_POST_MS : deadlineAt
  return (of === 'request' ? Math.min(requestAt, endAt) : endAt) + offsetMs
}

/** Keeps no process alive: nobody waits for what comes after the last step. */
async function pause(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await sleep(milliseconds, undefined, { ref: false })
}

/** Resolves with false if nobody reads any more. */
async function write(socket: Socket, bytes: Buffer): Promise<boolean> {
  if (!socket.writable) return false
  const failed = await new Promise<unknown>((resolve) => socket.write(bytes, resolve))
  return !failed
}

export const bodyText = ({ body }: ResponsePlan, jobId: string): string =>
  body.replaceAll(JOB_ID, jobId)

function render(response: ResponsePlan, jobId: string): Buffer {
  const { status, framing, headers, hasEarlyHints } = response
  const text = bodyText(response, jobId)
  const length = Buffer.byteLength(text)
  const [framingHeader, body] = {
    length: [`content-length: ${length}`, text],
    chunked: [
      'transfer-encoding: chunked',
      `${length.toString(16)}\r\n${text}\r\n${length > 0 ? '0\r\n\r\n' : ''}`,
    ],
    close: ['connection: close', text],
  }[framing]
  const lines = [
    ...(hasEarlyHints ? ['HTTP/1.1 103 Early Hints', 'link: </x>', ''] : []),
    `HTTP/1.1 ${status} Whatever`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    framingHeader,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

export function isId(text: unknown): boolean {
  return typeof text === 'string' && /^(?!::|\.\.?$)[A-Za-z0-9._~:@=+,-]{1,512}$/.test(text)
}

/** What a POST's response says of it. `any`: nobody can tell whether the response was whole. */
export type Fate = 'job' | 'no-job' | 'refused' | 'unknown' | 'any'

export function fateOf({ exchange, respondedAt, path, jobId }: Entry): Fate {
  const { status, framing, body } = exchange.response
  if (respondedAt === undefined) {
    // Only the end of the connection tells where such a body ends (RFC 9112, 6.3).
    const endsWithConnection = framing === 'close' && exchange.breaksAt === 'response'
    return endsWithConnection && exchange.how !== 'hang' ? 'any' : 'unknown'
  }
  // 303 says that it was done (RFC 9110, 15.4.4).
  if (body.length > MAX_BYTES || status >= 500 || status === 303) return 'unknown'
  if (status >= 300) return 'refused'
  // A web page is a gateway's. The response to a message needs no job: its id is known.
  if (isMessage({ path })) return /^\s*<[a-z!?]/i.test(body) ? 'unknown' : 'job'
  return jobIn({ exchange, jobId }) === undefined ? 'no-job' : 'job'
}

/** The job in a response, if there is one that the action has to take. */
export function jobIn({ exchange, jobId }: Pick<Entry, 'exchange' | 'jobId'>) {
  try {
    const text = bodyText(exchange.response, jobId)
    const { id, status, prLink } = JSON.parse(text.length > MAX_BYTES ? '' : text)
    const isJob = typeof status === 'string' && isId(id)
    return isJob ? { id: id as string, status, prLink: prLink as unknown } : undefined
  } catch {
    return undefined
  }
}
