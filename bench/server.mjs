/** The service for the measurements: over TLS, each job is seen active twice and completed at the third look. */

import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { certificateIn } from '../__tests__/support/certificate.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

/** Where the usual systems keep the root certificates that curl loads for a real host. */
const SYSTEM_ROOTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
]
const LOOKS = 3

/**
 * @typedef {object} Service
 * @property {string} url
 * @property {string} authority a file with the authority of the service's certificate
 * @property {string} roots a file with the system's root certificates and that authority
 * @property {() => { requests: number, connections: number }} counts since the last time they were asked for
 * @property {(bytes: number) => void} pad makes each answer from now on this long
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} folder for the certificate files
 * @returns {Promise<Service>}
 */
export async function startService(folder) {
  const { key, cert, file: authority } = await certificateIn(folder, ['localhost'])
  const system = SYSTEM_ROOTS.find((file) => existsSync(file))
  const roots = path.join(folder, 'roots.pem')
  writeFileSync(roots, `${system ? readFileSync(system, 'utf8') : rootCertificates.join('\n')}\n${cert}`)

  let requests = 0
  let connections = 0
  let padding = 0
  /** @type {Map<string, number>} */
  const looks = new Map()

  /** @type {(request: IncomingMessage, response: ServerResponse) => Promise<void>} */
  const answer = async (request, response) => {
    requests++
    await request.resume().toArray()
    const isCreate = request.method === 'POST'
    const id = isCreate ? `job-${looks.size + 1}` : (request.url ?? '').replace(/^.*\//, '')
    const seen = isCreate ? 0 : (looks.get(id) ?? 0) + 1
    looks.set(id, seen)
    const completed = seen >= LOOKS
    const job = {
      id,
      status: completed ? 'completed' : 'active',
      source: { repository: 'your-org/docs', ref: 'main' },
      model: 'some-model',
      prLink: completed ? 'https://github.com/your-org/docs/pull/17' : null,
      createdAt: '2026-01-02T03:04:05.000Z',
      archivedAt: null,
    }
    const pad = 'x'.repeat(Math.max(0, padding - JSON.stringify({ ...job, pad: '' }).length))
    response.writeHead(isCreate ? 201 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(padding > 0 ? { ...job, pad } : job))
  }
  const server = createServer({ key, cert }, (request, response) => void answer(request, response))
  server.keepAliveTimeout = 65_000
  server.on('secureConnection', () => {
    connections++
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,
    authority,
    roots,
    counts() {
      const counts = { requests, connections }
      requests = 0
      connections = 0
      return counts
    },
    pad(bytes) {
      padding = bytes
    },
    async close() {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}
