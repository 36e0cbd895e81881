/** Networks of real users: what refuses, cuts and stands in between, on real sockets. */

import { createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, describe, expect, test } from '@jest/globals'
import { act, KEY } from '../support/action.js'
import type { Certificate } from '../support/certificate.js'
import { certificate, closedPort, connectProxy, listen } from '../support/network.js'
import {
  type Answer,
  active,
  completed,
  created,
  json,
  LINK,
  type ScriptedService,
  startService,
} from '../support/service.js'

const GO = { prompt: 'Go', 'poll-interval-seconds': '0.1' }
const SHORT = { ...GO, 'timeout-minutes': '0.1' }

const own = await certificate()
const closing: { close: () => Promise<void> }[] = []

afterAll(async () => {
  await Promise.all(closing.map(({ close }) => close()))
})

async function service(tls?: Certificate, host?: string): Promise<ScriptedService> {
  const started = await startService({
    posts: [created],
    looks: [active, completed],
    ...(tls && { tls }),
    ...(host && { host }),
  })
  closing.push(started)
  return started
}

const unreachable = { outcome: 'error', 'error-code': 'network', 'job-id': '', reused: 'false' }

describe('nothing is sent, so it is tried again', () => {
  test.concurrent('a refused connection, to the deadline', async () => {
    const ended = await act({ ...SHORT, 'base-url': `http://127.0.0.1:${await closedPort()}` })
    expect(ended.outputs).toMatchObject(unreachable)
    expect(ended.exitCode).toBe(1)
    expect(ended.commands('error')).toEqual([
      expect.stringMatching(/ECONNREFUSED.*Nothing was sent.*Tried [2-9] times/),
    ])
  })

  test.concurrent('a service that comes up while it is tried', async () => {
    const port = await closedPort()
    const late = new Promise<void>((resolve) => {
      setTimeout(() => {
        const server = createServer((socket) => {
          socket.on('error', () => undefined)
          socket.on('data', (bytes) => {
            const [status, body] = String(bytes).startsWith('POST')
              ? ['201 Created', '{"id":"job-1","status":"active"}']
              : ['200 OK', `{"id":"job-1","status":"completed","prLink":"${LINK}"}`]
            socket.write(`HTTP/1.1 ${status}\r\ncontent-length: ${body?.length}\r\n\r\n${body}`)
          })
        })
        server.listen(port, '127.0.0.1', resolve)
        closing.push({ close: async () => void server.close() })
        server.unref()
      }, 700)
    })
    const ended = await act({ ...GO, 'timeout-minutes': '0.2', 'base-url': `http://127.0.0.1:${port}` })
    await late
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
  })

  test.concurrent('a name that does not exist', async () => {
    const ended = await act({ ...SHORT, 'base-url': 'https://service.invalid' })
    expect(ended.outputs).toMatchObject(unreachable)
    expect(ended.commands('error')[0]).toMatch(/service\.invalid.*Nothing was sent/)
  })

  test.concurrent('a TLS handshake that is cut', async () => {
    let connections = 0
    const cutter = await listen((socket) => {
      connections++
      socket.once('data', () => socket.destroy())
    })
    const ended = await act({ ...SHORT, 'base-url': `https://localhost:${cutter.port}` }).finally(
      cutter.close,
    )
    expect(ended.outputs).toMatchObject(unreachable)
    expect(connections).toBeGreaterThan(1)
    expect(connections).toBeLessThan(10)
  })

  test.concurrent('a TLS handshake that never ends is over at the deadline', async () => {
    const mute = await listen(() => undefined)
    const ended = await act({ ...SHORT, 'base-url': `https://localhost:${mute.port}` }).finally(mute.close)
    expect(ended.outputs).toMatchObject(unreachable)
    expect(ended.milliseconds).toBeLessThan(10_000)
  })
})

describe('a certificate', () => {
  test.concurrent('of an unknown authority is final, and says so', async () => {
    const tls = await service(own)
    const ended = await act({ ...GO, 'base-url': `https://localhost:${tls.port}` })
    expect(ended.outputs).toMatchObject(unreachable)
    expect(ended.commands('error')).toEqual([
      expect.stringMatching(/certificate is not trusted.*NODE_EXTRA_CA_CERTS/),
    ])
    expect(tls.received).toEqual([])
    expect(ended.milliseconds).toBeLessThan(5_000)
  })

  test.concurrent('of another name is final, and says so', async () => {
    const other = await certificate(['other.test'])
    const tls = await service(other)
    const env = { NODE_EXTRA_CA_CERTS: other.file }
    const ended = await act({ ...GO, 'base-url': `https://localhost:${tls.port}` }, { env })
    expect(ended.outputs).toMatchObject(unreachable)
    expect(ended.commands('error')[0]).toMatch(/certificate is not trusted.*localhost/)
    expect(tls.received).toEqual([])
  })

  test.concurrent('of an own authority is taken with NODE_EXTRA_CA_CERTS, and one connection serves the whole job', async () => {
    const tls = await service(own)
    const env = { NODE_EXTRA_CA_CERTS: own.file }
    const ended = await act({ ...GO, 'base-url': `https://localhost:${tls.port}` }, { env })
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(tls.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
    expect(tls.connections()).toBe(1)
  })
})

describe('a proxy', () => {
  const throughProxy = (port: number, more: Record<string, string> = {}): Record<string, string> => ({
    NODE_EXTRA_CA_CERTS: own.file,
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    ...more,
  })
  const away = { ...GO, 'base-url': 'https://service.test:4433' }

  test.concurrent.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])(
    'of %s carries one tunnel and never sees the key',
    async (name) => {
      const tls = await service(own)
      const proxy = await connectProxy(tls.port)
      const env = { NODE_EXTRA_CA_CERTS: own.file, [name]: `http://us%40er:pass@127.0.0.1:${proxy.port}` }
      const ended = await act(away, { env }).finally(proxy.close)
      expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
      const authorization = `Basic ${Buffer.from('us@er:pass').toString('base64')}`
      expect(proxy.asked).toEqual([{ target: 'service.test:4433', authorization }])
      expect(proxy.bytes()).not.toContain(KEY)
      expect(tls.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
    },
  )

  test.concurrent.each(['NO_PROXY', 'no_proxy'])('is passed by where %s says so', async (name) => {
    const proxy = await connectProxy(1)
    const env = throughProxy(proxy.port, { [name]: 'other.test,service.test' })
    const ended = await act({ ...away, 'timeout-minutes': '0.02' }, { env }).finally(proxy.close)
    expect(ended.outputs).toMatchObject(unreachable) // There is no such host.
    expect(proxy.asked).toEqual([])
  })

  test.concurrent.each(['http://127.0.0.1', 'http://localhost'])(
    'is never asked for loopback (%s)',
    async (host) => {
      const plain = await service()
      const proxy = await connectProxy(plain.port)
      const env = throughProxy(proxy.port, { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` })
      const ended = await act({ ...GO, 'base-url': `${host}:${plain.port}` }, { env }).finally(proxy.close)
      expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
      expect(proxy.asked).toEqual([])
    },
  )

  test.concurrent('that wants other credentials (407) is final, and says so', async () => {
    const proxy = await connectProxy(1, () => 407)
    const ended = await act(away, { env: throughProxy(proxy.port) }).finally(proxy.close)
    expect(ended.outputs).toMatchObject(unreachable)
    expect(ended.commands('error')).toEqual([expect.stringMatching(/proxy.*407.*HTTPS_PROXY/)])
    expect(proxy.asked).toHaveLength(1)
  })

  test.concurrent.each([502, 403, 'drop'] as const)('that refuses once (%s) is asked again', async (what) => {
    const tls = await service(own)
    const proxy = await connectProxy(tls.port, (nth) => (nth === 1 ? what : 'open'))
    const ended = await act(away, { env: throughProxy(proxy.port) }).finally(proxy.close)
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
    expect(proxy.asked).toHaveLength(2)
    expect(tls.posts()).toHaveLength(1)
  })

  test.concurrent.each(['drop', 502, 'silence'] as const)(
    'that never lets through (%s) is asked with pauses, to the deadline',
    async (what) => {
      const proxy = await connectProxy(1, () => what)
      const ended = await act(
        { ...away, 'timeout-minutes': '0.05' },
        { env: throughProxy(proxy.port) },
      ).finally(proxy.close)
      expect(ended.outputs).toMatchObject(unreachable)
      expect(ended.milliseconds).toBeLessThan(10_000)
      expect(proxy.asked.length).toBeLessThan(6)
    },
  )

  test.concurrent('that is reached over TLS proves its own name, not that of the service', async () => {
    const proven = await certificate(['localhost'])
    const tls = await service(proven, undefined)
    const proxy = await connectProxy(tls.port, () => 'open', proven)
    const env = { NODE_EXTRA_CA_CERTS: proven.file, HTTPS_PROXY: `https://localhost:${proxy.port}` }
    const ended = await act(away, { env }).finally(proxy.close)
    expect(proxy.asked).toEqual([{ target: 'service.test:4433', authorization: undefined }])
    expect(ended.commands('error')[0]).toMatch(/certificate is not trusted.*service\.test/)
  })

  test.concurrent('whose certificate is not trusted is final, and says so', async () => {
    const proxy = await connectProxy(1, () => 'open', own)
    const ended = await act(away, { env: { HTTPS_PROXY: `https://localhost:${proxy.port}` } }).finally(
      proxy.close,
    )
    expect(ended.outputs).toMatchObject(unreachable)
    expect(ended.commands('error')).toEqual([
      expect.stringMatching(/certificate is not trusted.*proxy localhost/),
    ])
    expect(ended.milliseconds).toBeLessThan(5_000)
  })

  test.concurrent('may be named as host:port', async () => {
    const tls = await service(own)
    const proxy = await connectProxy(tls.port)
    const env = { NODE_EXTRA_CA_CERTS: own.file, HTTPS_PROXY: `user:pa%zss@127.0.0.1:${proxy.port}` }
    const ended = await act(away, { env }).finally(proxy.close)
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
    const authorization = `Basic ${Buffer.from('user:pa%zss').toString('base64')}`
    expect(proxy.asked).toEqual([{ target: 'service.test:4433', authorization }])
  })

  test.concurrent.each(['socks5://user:hunter2@127.0.0.1:1', 'http://user:hunter2@:::', '['])(
    'that is none (%s) is final, says so, and is not gone around',
    async (value) => {
      const tls = await service(own)
      const ended = await act(
        { ...away, 'base-url': `https://service.test:${tls.port}` },
        { env: { https_proxy: value } },
      )
      expect(ended.outputs).toMatchObject(unreachable)
      expect(ended.commands('error')).toEqual([
        expect.stringMatching(/^https_proxy holds no address of an HTTP proxy/),
      ])
      expect(ended.log).not.toContain('hunter2')
      expect(tls.connections()).toBe(0)
    },
  )

  test.concurrent('is asked for an IPv6 address in brackets', async () => {
    const proxy = await connectProxy(1, () => 407)
    await act({ ...GO, 'base-url': 'https://[2001:db8::1]' }, { env: throughProxy(proxy.port) })
    await proxy.close()
    expect(proxy.asked[0]?.target).toBe('[2001:db8::1]:443')
  })

  test.concurrent('whose tunnel breaks between looks is asked for a new one', async () => {
    const tls = await service(own)
    const proxy = await connectProxy(tls.port)
    const broken = tls.requests(2).then(() => setTimeout(proxy.breakTunnels, 200))
    const ended = await act({ ...away, 'poll-interval-seconds': '0.5' }, { env: throughProxy(proxy.port) })
    await broken
    await proxy.close()
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
    expect(proxy.asked).toHaveLength(2)
    expect(tls.posts()).toHaveLength(1)
  })
})

const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
)

describe('an address', () => {
  ;(hasIPv6 ? test.concurrent : test.skip)('of IPv6', async () => {
    const six = await service(undefined, '::1')
    const ended = await act({ ...GO, 'base-url': six.url })
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
  })

  test.concurrent('with a path prefix', async () => {
    const plain = await service()
    const ended = await act({ ...GO, 'base-url': `${plain.url}/some/gateway/` })
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
    expect(plain.received.map(({ path }) => path)).toEqual([
      '/some/gateway/v2/agent/docs/job',
      '/some/gateway/v2/agent/docs/job/job-1',
      '/some/gateway/v2/agent/docs/job/job-1',
    ])
  })
})

test.concurrent('a POST that is sent again goes over a connection of its own, also where the last one is kept', async () => {
  const kept = await startService({
    posts: [json(429, '', { 'retry-after': '0' }), created],
    looks: [active, completed],
  })
  closing.push(kept)
  const ended = await act({ ...GO, 'base-url': kept.url })
  expect(ended.outputs).toMatchObject({ outcome: 'pr-opened' })
  expect(kept.received.map(({ connection }) => connection)).toEqual([1, 2, 2, 2])
})

describe('a kept connection that the service closes as the next request leaves', () => {
  const later = (answer: Answer, end: (socket: Socket) => void, delay: number): Answer => {
    return (response, request) => {
      answer(response, request)
      setTimeout(() => end(response.req.socket), delay)
    }
  }
  const delays = [0, 1, 5, 95, 98, 99, 100, 101, 102, 105]

  test.concurrent.each(delays)('loses no message and sends none twice (%i ms)', async (delay) => {
    const busy = later(
      json(409, { error: 'Busy' }, { 'retry-after': '0' }),
      (socket) => socket.end(),
      900 + delay,
    )
    const racy = await startService({
      posts: [busy, active],
      looks: [later(active, (socket) => socket.destroy(), delay), completed],
    })
    const ended = await act({ ...GO, 'job-id': 'job-1', 'base-url': racy.url }).finally(racy.close)
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', reused: 'true' })
    expect(racy.posts()).toHaveLength(2)
    expect(racy.posts()[1]?.connection).not.toBe(racy.posts()[0]?.connection)
  })
})
