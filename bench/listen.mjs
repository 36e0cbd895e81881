/** Starts a server on loopback and counts what reaches it. */

import { once } from 'node:events'

/** @import { Server } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

/** @typedef {{ requests: number, connections: number }} Counts */

/**
 * @typedef {object} Listener
 * @property {number} port
 * @property {() => Counts} takeCounts returns what was counted since the previous call
 * @property {() => Promise<void>} close ends every connection
 */

/**
 * @param {Server} server
 * @returns {Promise<Listener>}
 */
export async function listen(server) {
  let counts = { requests: 0, connections: 0 }
  server.on('request', () => {
    counts.requests++
  })
  server.on('connection', () => {
    counts.connections++
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: /** @type {AddressInfo} */ (server.address()).port,
    takeCounts() {
      const taken = counts
      counts = { requests: 0, connections: 0 }
      return taken
    },
    async close() {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}
