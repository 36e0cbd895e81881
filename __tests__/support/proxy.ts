/** A proxy for tunnels, which may misbehave. */

import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Certificate } from './certificate.js'
import { startListening } from './listening.js'

/**
 * What a proxy does with its nth CONNECT: open the tunnel, respond with a status, drop or reset the
 * connection, or nothing; or want what isn't Basic.
 */
export type Behaviour = 'open' | 'drop' | 'reset' | 'silence' | 'ntlm' | number

/** A proxy whose tunnels all lead to one local port, whatever the requested host. */
export async function connectProxy(
  target: number,
  behave: (nth: number) => Behaviour = () => 'open',
  tls?: Certificate,
) {
  const asked: { target: string; authorization: string | undefined; name?: unknown }[] = []
  const chunks: Buffer[] = []
  const sockets = new Set<Duplex>()
  const refuse: RequestListener = (_, response) =>
    void response.writeHead(500).end('This proxy accepts only CONNECT')
  const server = tls ? createHttpsServer(tls, refuse) : createHttpServer(refuse)
  server.on('tlsClientError', () => undefined)
  server.on('connect', (request, socket: Duplex) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    const authorization = request.headers['proxy-authorization']
    const name = tls && { name: (request.socket as TLSSocket).servername }
    asked.push({ target: request.url ?? '', authorization, ...name })
    chunks.push(Buffer.from(request.rawHeaders.join('\n')))
    const what = behave(asked.length)
    if (what === 'drop') socket.destroy()
    else if (what === 'reset') request.socket.resetAndDestroy()
    else if (what === 'ntlm')
      socket
        .resume()
        .write('HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n')
    else if (typeof what === 'number')
      socket.resume().write(`HTTP/1.1 ${what} Refused\r\nContent-Length: 0\r\n\r\n`)
    else if (what === 'silence') socket.resume()
    else {
      const upstream = connect(target, '127.0.0.1', () =>
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n'),
      )
      upstream.on('error', () => socket.destroy())
      // A reset has to get through.
      upstream.on('close', (hadError) => hadError && request.socket.resetAndDestroy())
      socket.on('close', () => upstream.destroy())
      socket.on('data', (chunk: Buffer) => chunks.push(chunk))
      socket.pipe(upstream).pipe(socket)
    }
  })
  return {
    ...(await startListening(server)),
    /** The requested targets, with the `proxy-authorization` header, and over TLS its SNI. */
    asked,
    /** All that the client sent: the heads of its requests, and what went through the tunnels. */
    bytes: () => Buffer.concat(chunks).toString('latin1'),
    /** How many connections for tunnels are still there. */
    open: () => [...sockets].filter((one) => !one.destroyed && !one.readableEnded).length,
    /** Breaks the open tunnels, and keeps listening. */
    breakTunnels: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}
