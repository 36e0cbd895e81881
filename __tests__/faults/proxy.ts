/** A proxy that misbehaves as planned, in front of one port of this machine. */

import { connect, createServer, type Socket } from 'node:net'
import { type Listening, startListening } from '../support/listening.js'
import type { Transport } from './plan.js'

export function startMisbehavingProxy(
  target: number,
  connects: Transport['connects'],
  log: (line: string) => void,
): Promise<Listening> {
  let count = 0
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    let head = ''
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', onData)
      const what = connects[Math.min(count++, connects.length - 1)] ?? 'open'
      log(`Proxy: ${head.split('\r\n')[0]}: ${what}`)
      if (what === 'drop') socket.destroy()
      else if (what === 'reset') socket.resetAndDestroy()
      else if (typeof what === 'number') socket.end(`HTTP/1.1 ${what} Refused\r\nContent-Length: 0\r\n\r\n`)
      else if (what !== 'hang') open(socket, what === 'early')
    }
    socket.on('data', onData)
  })
  /** RFC 9110, 15.2: any response may be preceded by informational ones. */
  const open = (socket: Socket, early: boolean): void => {
    const upstream = connect(target, '127.0.0.1', () => {
      if (early) socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n')
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    upstream.on('error', () => socket.destroy())
    // A reset has to get through.
    upstream.on('close', (hadError) => hadError && socket.resetAndDestroy())
    socket.on('close', () => upstream.destroy())
  }
  return startListening(server)
}
