/** The fetch that Octokit gets, on real sockets. */

import { createServer, type RequestListener } from 'node:http'
import { createServer as createSilentServer } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from '@jest/globals'
import { createFetch } from '../../src/github/fetch.js'
import { type Listening, startListening } from '../support/listening.js'
import { FakeClock } from '../unit/fake-clock.js'

const servers: Listening[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(({ close }) => close()))
})

async function serve(listener: RequestListener): Promise<string> {
  const server = await startListening(createServer(listener))
  servers.push(server)
  return `http://127.0.0.1:${server.port}`
}

function fetchFrom(apiUrl: string, proxy = '') {
  const lines: string[] = []
  const fetch = createFetch({
    environment: { apiUrl },
    network: { proxy, unverifiedTlsRequested: false },
    clock: new FakeClock(),
    debug: (line) => lines.push(line),
  })
  return { fetch, lines }
}

const signal = AbortSignal.timeout(60_000)
const GET = { method: 'GET', headers: { authorization: 'token ghs_token' }, signal } as const
const PATCH = { ...GET, method: 'PATCH', body: '{"body":"text"}' } as const

test('asks for gzip, and decompresses it; joins what several headers say [github.shape] [github.pages]', async () => {
  const text = 'é'.repeat(1e6)
  const url = await serve((request, response) => {
    response
      .setHeader('link', ['<1>', '<2>'])
      .writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
    response.end(gzipSync(JSON.stringify({ accepts: request.headers['accept-encoding'], text })))
  })
  const response = await fetchFrom(url).fetch(`${url}/`, GET)
  expect(JSON.parse(await response.text())).toEqual({ accepts: 'gzip', text })
  expect(new TextDecoder().decode(await response.arrayBuffer())).toBe(await response.text())
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('link')).toBe('<1>, <2>')
})

test.each([301, 302, 307, 308])(
  'follows a redirect (%i), as of a moved repository [github.redirect]',
  async (status) => {
    const url = await serve(async (request, response) => {
      const { method, url, headers } = request
      // As that of a comment that was created.
      response.setHeader('location', '/other').statusCode = 201
      if (url === '/old?page=2') response.writeHead(status, { location: '/new?page=2' })
      response.end(`${method} ${url} ${headers.authorization} ${await readAll(request)}`)
    })
    const response = await fetchFrom(url).fetch(`${url}/old?page=2`, PATCH)
    expect(await response.text()).toBe('PATCH /new?page=2 token ghs_token {"body":"text"}')
  },
)

test('follows none to another scheme, as the token would go there [github.redirect] [secret.key.where]', async () => {
  const url = await serve(({ headers }, response) => {
    response.writeHead(301, { location: `https://${headers.host}/` }).end()
  })
  expect((await fetchFrom(url).fetch(`${url}/`, GET)).status).toBe(301)
})

test('gives up a redirect that never ends [github.redirect]', async () => {
  let requests = 0
  const url = await serve((_, response) => {
    response.writeHead(307, { location: `/${++requests}` }).end()
  })
  expect(await (await fetchFrom(url).fetch(`${url}/`, GET)).status).toBe(307)
  expect(requests).toBe(6)
})

test('sends one request after the other on the same connection, and writes a debug line for each [net.cheap] [report.log.lines]', async () => {
  const ports = new Set<number | undefined>()
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort)
    response.end('{}')
  })
  const { fetch, lines } = fetchFrom(url)
  for (let count = 0; count < 3; count++) await (await fetch(`${url}/path?query`, GET)).text()
  expect(ports.size).toBe(1)
  expect(lines).toEqual(Array(3).fill('GET /path 200 0 ms'))
})

test('fails if the response has more than 64 MiB when it is decompressed [github.shape]', async () => {
  const content = gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1))
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(content)
  })
  await expect(fetchFrom(url).fetch(`${url}/`, GET)).rejects.toThrow()
})

test('fails if the response is cut off, even after some of its body [github.shape] [report.log.lines]', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('{}', () => response.destroy())
  })
  const { fetch, lines } = fetchFrom(url)
  await expect(fetch(`${url}/path?query`, GET)).rejects.toThrow()
  expect(lines).toEqual(['GET /path failed 0 ms'])
})

test('reads what has arrived before its time is over [net.arrived-first]', async () => {
  const time = new AbortController()
  const url = await serve((_, response) => void response.end('{}', () => time.abort()))
  const { status } = await fetchFrom(url).fetch(`${url}/`, { ...GET, signal: time.signal })
  expect(status).toBe(200)
})

test('ends with its signal while a proxy does not open the tunnel [net.deadline]', async () => {
  const proxy = await startListening(createSilentServer())
  servers.push(proxy)
  const apiUrl = 'https://github.test'
  const { fetch, lines } = fetchFrom(apiUrl, `http://127.0.0.1:${proxy.port}`)
  const signal = AbortSignal.timeout(200)
  for (let count = 0; count < 2; count++)
    await expect(fetch(`${apiUrl}/path`, { ...GET, signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  expect(lines).toEqual(Array(2).fill('GET /path failed 0 ms'))
})
