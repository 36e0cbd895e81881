/**
 * A network in memory: `net.connect` and servers that listen, with the times that bytes travel and
 * how they are split.
 */

import { syncBuiltinESMExports } from 'node:module'
import type net from 'node:net'
import { Duplex } from 'node:stream'
import type tls from 'node:tls'
import { Random } from './random.js'
import { Replaced } from './replaced.js'
import { exact, type Owner, type Time } from './time.js'

/** How bytes travel. */
export interface NetworkPlan {
  /** The shortest and the longest time, in milliseconds. */
  travelMs: readonly [min: number, max: number]
  /** Into how many parts what is written at once falls at most. */
  parts: number
}

/** What happens to an attempt to connect. `silent`: it gets no answer. */
export type Connecting = 'open' | 'refused' | 'silent' | 'unknown'

/** Of the run that goes on. */
export interface Conditions {
  seed: number
  plan: NetworkPlan
  /** What happens to the next attempt to connect to a port. */
  connecting: (port: number) => Connecting
}

/** Of the server that listens first. */
export const FIRST_PORT = 20_000
/** Whoever writes more has to wait until it arrives. */
const SEND_BUFFER = 64 * 1024

export class Network {
  readonly #servers = new Map<number, net.Server>()
  #nextPort = FIRST_PORT
  #sockets = 0
  #conditions: Conditions | undefined

  /** @param onSocket a process gets to know its sockets */
  constructor(
    readonly time: Time,
    private readonly onSocket: (socket: SimulatedSocket) => void,
  ) {}

  /** Begins a run: nobody listens. */
  begin(conditions: Conditions): void {
    this.#conditions = conditions
    this.#servers.clear()
    this.#sockets = 0
    this.#nextPort = FIRST_PORT
  }

  get conditions(): Conditions {
    if (this.#conditions === undefined) throw new Error('There is no network between the runs')
    return this.#conditions
  }

  /** What each socket draws with: how often one draws is no matter of the others. */
  createRandom(): Random {
    return new Random(Math.imul(this.conditions.seed, 1_000_003) + ++this.#sockets)
  }

  /**
   * Replaces Node's. What uses `node:net` and `node:http` goes on as it is. Returns what puts
   * Node's own back.
   *
   * @param applies whether who calls is in the world
   */
  install(applies: () => boolean): () => void {
    // jest keeps what an import of these has exported.
    const net = process.getBuiltinModule('node:net')
    const http = process.getBuiltinModule('node:http')
    const tls = process.getBuiltinModule('node:tls')
    const network = this
    const replaced = new Replaced(applies)
    const connect = (...parameters: unknown[]): SimulatedSocket => {
      const [first] = parameters
      const options =
        typeof first === 'object' ? (first as net.TcpNetConnectOpts) : { port: Number(first) }
      return network.#connect(
        options,
        parameters.find((one) => typeof one === 'function') as () => void,
      )
    }
    replaced.replace(net, { connect, createConnection: connect })
    replaced.replace(http.Agent.prototype, { createConnection: connect })
    replaced.replace(tls, {
      // TLS is not simulated: it adds a handshake of no bytes.
      connect: (options: tls.ConnectionOptions) => {
        const socket = options.socket ?? net.connect(options as net.TcpNetConnectOpts)
        process.nextTick(() => socket.emit('secureConnect'))
        return socket
      },
    })
    replaced.replace(net.Server.prototype, {
      listen(this: net.Server) {
        Object.assign(this, {
          requestTimeout: 0,
          headersTimeout: 0,
          simulatedPort: network.#nextPort++,
        })
        network.#servers.set(portOf(this), this)
        process.nextTick(() => this.emit('listening'))
        return this
      },
      address(this: net.Server) {
        return { port: portOf(this), address: '127.0.0.1', family: 'IPv4' }
      },
      close(this: net.Server, done?: () => void) {
        network.#servers.delete(portOf(this))
        process.nextTick(() => {
          done?.()
          this.emit('close')
        })
        return this
      },
    })
    syncBuiltinESMExports()
    return () => replaced.putBack()
  }

  #connect(options: net.TcpNetConnectOpts, onConnect?: () => void): SimulatedSocket {
    const { time } = this
    const client = new SimulatedSocket(this, time.owners.getStore(), options.allowHalfOpen ?? false)
    this.onSocket(client)
    if (onConnect) client.once('connect', onConnect)
    const port = Number(options.port)
    const how = this.conditions.connecting(port)
    if (how === 'silent') return client
    const server = how === 'open' ? this.#servers.get(port) : undefined
    time.schedule('arrivals', client.nextArrival(), undefined, () => {
      if (server === undefined) return client.arrive(() => client.destroy(refused(port, how)))
      const { allowHalfOpen } = server as net.Server & { allowHalfOpen: boolean }
      const accepted = new SimulatedSocket(this, undefined, allowHalfOpen)
      accepted.connectWith(client)
      client.arrive(() => client.connectWith(accepted))
      server.emit('connection', accepted)
    })
    return client
  }
}

const portOf = (server: net.Server): number =>
  (server as net.Server & { simulatedPort: number }).simulatedPort

function refused(port: number, how: Connecting): Error {
  if (how === 'unknown') return failure('getaddrinfo', 'ENOTFOUND')
  return failure('connect', 'ECONNREFUSED', ` 127.0.0.1:${port}`, { port })
}

const wasReset = (): Error => failure('read', 'ECONNRESET', '', { errno: -104 })

/** As Node has it. */
function failure(syscall: string, code: string, where = '', more: object = {}): Error {
  return Object.assign(new Error(`${syscall} ${code}${where}`), { ...more, code, syscall })
}

/** One end of a connection. What it sends arrives in order. */
export class SimulatedSocket extends Duplex {
  connecting = true
  readonly remoteAddress = '127.0.0.1'
  readonly #random: Random
  #peer: SimulatedSocket | undefined
  /** What is sent before there is a connection. */
  #waiting: (() => void)[] = []
  /** When the last of what is on its way to this end arrives. */
  #lastArrival = 0
  #lastWrite = 0
  #hasSentEnd = false
  /** How many bytes were written, and have not arrived. */
  #inFlight = 0
  /** What waits until fewer are. */
  #writeOn: (() => void) | undefined
  #idle: { readonly milliseconds: number; timer: NodeJS.Timeout } | undefined

  constructor(
    private readonly network: Network,
    private readonly owner: Owner | undefined,
    allowHalfOpen: boolean,
  ) {
    super({ allowHalfOpen, emitClose: true, autoDestroy: true })
    this.#random = network.createRandom()
  }

  connectWith(peer: SimulatedSocket): void {
    this.#peer = peer
    this.connecting = false
    if (this.destroyed) {
      this.#sendEnd()
      return
    }
    for (const send of this.#waiting.splice(0)) send()
    this.emit('connect')
    this.emit('ready')
  }

  /** When the other end wrote last. */
  get receivedWasSentAt(): number {
    return this.#peer === undefined ? 0 : this.#peer.#lastWrite
  }

  /** When the last of what this end has sent arrives. */
  get sentArrivesAt(): number {
    return this.#peer === undefined ? Number.POSITIVE_INFINITY : this.#peer.#lastArrival
  }

  /** When something that is sent to this end now arrives. */
  nextArrival(): number {
    const [min, max] = this.network.conditions.plan.travelMs
    const at = exact(this.network.time.now + min + (max - min) * this.#random.next())
    this.#lastArrival = Math.max(this.#lastArrival, at)
    return this.#lastArrival
  }

  /** Calls when what is sent to this end now arrives. */
  arrive(call: () => void): void {
    this.network.time.schedule('arrivals', this.nextArrival(), this.owner, call)
  }

  /** The process of this end is gone: the system closes the connection. */
  abandon(): void {
    // Node keeps the parser of a request without a response, and all that it refers to.
    ;(this as { parser?: { close(): void } | null }).parser?.close()
    if (!this.destroyed) this.#sendEnd()
  }

  override _read(): void {
    // What arrives is pushed.
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#whenConnected(() => {
      this.#lastWrite = this.network.time.now
      for (const part of this.#split(chunk)) this.#send((peer) => peer.#receive(part, this))
    })
    this.#active()
    this.#inFlight += chunk.length
    if (this.#inFlight <= SEND_BUFFER) done()
    else this.#writeOn = done
  }

  override _final(done: () => void): void {
    this.#whenConnected(() => this.#sendEnd())
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.setTimeout(0)
    if (this.#peer !== undefined) this.#sendEnd()
    done(error)
  }

  resetAndDestroy(): this {
    if (!this.#hasSentEnd) this.#send((peer) => peer.destroy(wasReset()))
    this.#hasSentEnd = true
    return this.destroy()
  }

  #whenConnected(send: () => void): void {
    if (this.connecting) this.#waiting.push(send)
    else send()
  }

  #send(deliver: (peer: SimulatedSocket) => void): void {
    const peer = this.#peer
    if (this.owner?.isDead) return
    peer?.arrive(() => deliver(peer))
  }

  #sendEnd(): void {
    if (this.#hasSentEnd) return
    this.#hasSentEnd = true
    const peer = this.#peer
    peer?.arrive(() => {
      if (!peer.destroyed && !peer.readableEnded) peer.push(null)
    })
  }

  #receive(bytes: Buffer, from: SimulatedSocket): void {
    this.#active()
    from.#inFlight -= bytes.length
    if (from.#writeOn && from.#inFlight <= SEND_BUFFER) from.arrive(() => from.#goOn())
    if (!this.destroyed) this.push(bytes)
    // As a system answers what arrives for a socket that is closed.
    else from.arrive(() => from.destroyed || from.destroy(wasReset()))
  }

  #goOn(): void {
    const done = this.#writeOn
    this.#writeOn = undefined
    done?.()
  }

  #split(chunk: Buffer): Buffer[] {
    const random = this.#random
    const { plan } = this.network.conditions
    const cuts = new Set<number>()
    for (let count = random.int(1, plan.parts); count > 1; count--)
      cuts.add(random.int(1, chunk.length))
    const ends = [...cuts].filter((at) => at < chunk.length).sort((one, other) => one - other)
    return [...ends, chunk.length].map((end, index) => chunk.subarray(ends[index - 1] ?? 0, end))
  }

  #active(): void {
    this.#idle?.timer.refresh()
  }

  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    clearTimeout(this.#idle?.timer)
    this.#idle =
      milliseconds > 0
        ? { milliseconds, timer: setTimeout(() => this.emit('timeout'), milliseconds) }
        : undefined
    if (onTimeout) this.once('timeout', onTimeout)
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
