/** What is between the action and the service: certificates, proxies, and servers that break connections. */

import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type Certificate, certificateIn } from './certificate.js'
import { newFolder } from './folder.js'
import { type Listening, startListening } from './listening.js'

export { connectProxy } from './proxy.js'

/** A self-signed certificate for loopback and `service.test`. */
export const certificate = (names: readonly string[] = ['localhost', 'service.test']): Promise<Certificate> =>
  certificateIn(newFolder('certificate'), names)

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

/** A server that passes everything on to another local port, but cuts some connections at their first bytes. */
export function relay(target: number, port = 0, cuts = (_nth: number): boolean => false): Promise<Listening> {
  let count = 0
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (cuts(++count)) return void socket.once('data', () => socket.destroy())
    const upstream = connect(target, '127.0.0.1')
    upstream.on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  return startListening(server, '127.0.0.1', port)
}

/** A server that adds TLS to a local port that has none. */
export function terminateTls(target: number, tls: Certificate, port = 0): Promise<Listening> {
  const server = createTlsServer(tls, (socket) => {
    const upstream = connect(target, '127.0.0.1')
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  return startListening(server, '127.0.0.1', port)
}

/** A local port that refuses connections. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listen(() => undefined)
  await close()
  return port
}
