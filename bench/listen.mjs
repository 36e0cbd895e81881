/** Starts a server on loopback and counts what reaches it. */

import { startListening } from '../__tests__/support/listening.js'

/** @import { Server } from 'node:http' */

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
  return {
    ...(await startListening(server)),
    takeCounts() {
      const taken = counts
      counts = { requests: 0, connections: 0 }
      return taken
    },
  }
}
