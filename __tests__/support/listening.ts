/** Servers on this machine that can be closed at once. */

import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface Listening {
  readonly port: number
  /** Stops listening, and destroys every connection. */
  readonly close: () => Promise<void>
}

/** @param port 0 for any that is free */
export async function startListening(
  server: Server,
  host = '127.0.0.1',
  port = 0,
): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
