/**
 * What is between the action and the service: certificates, proxies, and servers that break
 * connections.
 */

import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type Certificate, certificateIn } from './certificate.js'
import { newFolder } from './folder.js'
import { type Listening, startListening } from './listening.js'

export { connectProxy } from './proxy.js'

/** A self-signed certificate for loopback and `service.test`. */
export const certificate = (
  names: readonly string[] = ['localhost', 'service.test'],
): Promise<Certificate> => certificateIn(newFolder('certificate'), names)

/** A TCP server that calls a function for each connection. */
export function listen(onConnection: (socket: Socket, nth: number) => void): Promise<Listening> {
  let count = 0
  return startListening(
    createServer((socket) => {
      socket.on('error', () => undefined)
      onConnection(socket, ++count)
    }),
  )
}

interface RelayOptions {
  readonly port?: number
  /** What it adds TLS with. */
  readonly tls?: Certificate
  /** Whether to do something else with this connection than to pass it on. */
  readonly take?: (socket: Socket, nth: number) => boolean
}

/** A server that passes everything on to another local port. */
export function relay(
  target: number,
  { port = 0, tls, take = () => false }: RelayOptions = {},
): Promise<Listening> {
  let count = 0
  const listener = (socket: Socket): void => {
    socket.on('error', () => undefined)
    if (take(socket, ++count)) return
    const upstream = connect(target, '127.0.0.1')
    upstream.on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
    socket.pipe(upstream).pipe(socket)
  }
  return startListening(
    tls ? createTlsServer(tls, listener) : createServer(listener),
    '127.0.0.1',
    port,
  )
}

/** A server that adds TLS to a local port that has none. */
export const terminateTls = (target: number, tls: Certificate, port?: number): Promise<Listening> =>
  relay(target, { tls, ...(port !== undefined && { port }) })

/** A local port that refuses connections. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listen(() => undefined)
  await close()
  return port
}
