/** The service that the measured steps use, over TLS. A job is completed at its third poll. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { certificateIn } from '../__tests__/support/certificate.js'
import { listen } from './listen.mjs'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Listener } from './listen.mjs' */

/** Where Linux and macOS keep the root certificates that curl loads to verify a public host. */
const SYSTEM_ROOTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
]
/** Longer than the interval in idle.mjs, so that the server does not close the connection first. */
const KEEP_ALIVE_MS = 65_000

/**
 * @typedef {object} ServiceOptions
 * @property {string} url
 * @property {string} caFile a file with the certificate, which is its own CA
 * @property {string} rootsFile a file with the system's root certificates and that one
 * @property {(bytes: number) => void} setResponseSize pads every response to this size; 0: no padding
 * @property {(count: number) => void} setPolls at which poll a job is completed
 */

/** @typedef {Omit<Listener, 'port'> & ServiceOptions} Service */

/**
 * @param {string} folder for the certificate files
 * @returns {Promise<Service>}
 */
export async function startService(folder) {
  const { key, cert, file: caFile } = await certificateIn(folder, ['localhost'])
  const system = SYSTEM_ROOTS.find((file) => existsSync(file))
  const rootsFile = path.join(folder, 'roots.pem')
  writeFileSync(rootsFile, `${system ? readFileSync(system, 'utf8') : rootCertificates.join('\n')}\n${cert}`)

  let responseSize = 0
  let lastPoll = 3
  /** @type {Map<string, number>} how often each job was polled */
  const polls = new Map()

  /** @type {(request: IncomingMessage, response: ServerResponse) => Promise<void>} */
  const respond = async (request, response) => {
    await request.resume().toArray()
    const isCreate = request.method === 'POST'
    const id = isCreate ? `job-${polls.size + 1}` : (request.url ?? '').replace(/^.*\//, '')
    const polled = isCreate ? 0 : (polls.get(id) ?? 0) + 1
    polls.set(id, polled)
    const completed = polled >= lastPoll
    const job = {
      id,
      status: completed ? 'completed' : 'active',
      source: { repository: 'https://github.com/your-org/docs', ref: 'main' },
      model: 'some-model',
      prLink: completed ? 'https://github.com/your-org/docs/pull/17' : null,
      createdAt: '2026-01-02T03:04:05.000Z',
      archivedAt: null,
    }
    const padding = 'x'.repeat(Math.max(0, responseSize - JSON.stringify({ ...job, padding: '' }).length))
    response.writeHead(isCreate ? 201 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(padding ? { ...job, padding } : job))
  }
  const server = createServer({ key, cert }, (request, response) => void respond(request, response))
  server.keepAliveTimeout = KEEP_ALIVE_MS
  const { port, ...listener } = await listen(server)
  return {
    ...listener,
    url: `https://127.0.0.1:${port}`,
    caFile,
    rootsFile,
    setResponseSize(bytes) {
      responseSize = bytes
    },
    setPolls(count) {
      lastPoll = count
    },
  }
}
