/**
 * Networks as users have them: what refuses connections, breaks them and is in between, on real
 * sockets.
 */

import { writeFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { generate } from 'selfsigned'
import { type Ended, FAST, KEY, runAgainst, runStep } from '../support/action.js'
import type { Certificate } from '../support/certificate.js'
import { newFolder } from '../support/folder.js'
import { startListening } from '../support/listening.js'
import {
  certificate,
  closedPort,
  connectProxy,
  listen,
  relay,
  terminateTls,
} from '../support/network.js'
import { active, completed, created, LINK, type Script, startService } from '../support/service.js'
import { minutes, shortDeadline, soonAfter, until } from '../support/time.js'

// Not in a `describe`: the tests of one block wait at the same time.

const GO = { prompt: 'Go' }
const USUAL: Script = { posts: [created], polls: [active, completed] }
const UNREACHABLE = { outcome: 'error', 'error-code': 'network', 'job-id': '', sent: 'nothing' }

/** More tries than backoff allows; without it there would be thousands. */
const MANY = 30

const own = await certificate()
const closing: { close: () => Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(closing.map(({ close }) => close()))
})

/** A service over TLS, for steps that reach it through something else. */
async function tlsService(tls: Certificate) {
  const service = await startService({ ...USUAL, tls })
  closing.push(service)
  return service
}

const TRUSTED = { NODE_EXTRA_CA_CERTS: own.file }
const AWAY = 'https://service.test:4433'
const throughProxy = (port: number, more: Record<string, string> = {}): Record<string, string> => ({
  ...TRUSTED,
  HTTPS_PROXY: `http://127.0.0.1:${port}`,
  ...more,
})

/** Runs a step that reaches its service at an address of its own. */
const runAt = (
  address: string,
  env: Record<string, string> = {},
  inputs: Record<string, string> = {},
): Promise<Ended> => runStep({ ...GO, ...FAST, 'base-url': address, ...inputs }, { env })

/** Runs a step that never reaches its service, to its deadline. */
async function expectUnreachable(
  address: string,
  env: Record<string, string> = {},
): Promise<Ended> {
  const deadlineMs = shortDeadline()
  const ended = await runAt(address, env, { 'timeout-minutes': minutes(deadlineMs) })
  expect(ended.outputs).toMatchObject(UNREACHABLE)
  expect(ended.exitCode).toBe(1)
  expect(ended.commands('error')).toHaveLength(1)
  expect(ended.milliseconds).toBeLessThan(soonAfter(deadlineMs))
  return ended
}

/** Runs a step that gives up at the first try. Returns its one error. */
async function expectFinal(address: string, env: Record<string, string> = {}): Promise<string> {
  const { outputs, commands, log } = await runAt(address, env)
  expect(outputs).toMatchObject(UNREACHABLE)
  expect(log).not.toContain('Retrying')
  expect(commands('error')).toHaveLength(1)
  return commands('error')[0] ?? ''
}

test.concurrent('until the deadline, nothing is sent to a port that refuses connections [send.unconnected]', async () => {
  const { commands } = await expectUnreachable(`http://127.0.0.1:${await closedPort()}`)
  expect(commands('error')[0]).toContain('ECONNREFUSED')
})

test.concurrent('until the deadline, nothing is sent over a TLS handshake that never ends [send.unconnected]', async () => {
  const mute = await listen(() => undefined)
  await expectUnreachable(`https://localhost:${mute.port}`).finally(mute.close)
})

test.concurrent.each(['drop', 'silence'] as const)(
  'until the deadline, nothing is sent through a proxy without a tunnel: %s [send.unconnected]',
  async (what) => {
    const proxy = await connectProxy(1, () => what)
    await expectUnreachable(AWAY, throughProxy(proxy.port)).finally(proxy.close)
    expect(proxy.asked.length).toBeLessThan(MANY)
  },
)

test.concurrent('until the deadline, nothing is sent to a host of no_proxy that does not exist [send.unconnected]', async () => {
  const proxy = await connectProxy(1)
  const env = throughProxy(proxy.port, { no_proxy: 'other.test,service.test' })
  await expectUnreachable(AWAY, env).finally(proxy.close)
  expect(proxy.asked).toEqual([])
})

test.concurrent('nothing was sent, so it is sent again to a service that comes up meanwhile [send.unconnected]', async () => {
  const service = await tlsService(own)
  const port = await closedPort()
  const ended = await runStep(
    { ...GO, ...FAST, 'base-url': `https://localhost:${port}` },
    {
      env: TRUSTED,
      meanwhile: async ({ lines }) => {
        await until(() => lines.some((line) => line.includes('ECONNREFUSED')))
        closing.push(await relay(service.port, { port }))
      },
    },
  )
  expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
  expect(service.posts()).toHaveLength(1)
})

test.concurrent('nothing was sent, so it is sent again after a TLS handshake that was cut off [send.unconnected]', async () => {
  const service = await tlsService(own)
  const cutFirst = (socket: Socket, nth: number): boolean => {
    if (nth === 1) socket.once('data', () => socket.destroy())
    return nth === 1
  }
  const front = await relay(service.port, { take: cutFirst })
  const { outputs } = await runAt(`https://localhost:${front.port}`, TRUSTED).finally(front.close)
  expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
  expect(service.posts()).toHaveLength(1)
})

// Always verified, whatever NODE_TLS_REJECT_UNAUTHORIZED says; the error names whose it is.
const UNVERIFIED = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }

test.concurrent('a certificate of an unknown CA is final, and the error says how to trust it [send.certificate.final] [net.tls.verified]', async () => {
  const service = await tlsService(own)
  const error = await expectFinal(`https://localhost:${service.port}`, UNVERIFIED)
  expect(error).toMatch(
    /^The service's certificate is not trusted: .*\(NODE_TLS_REJECT_UNAUTHORIZED is not honoured\)"\. Nothing was sent\./,
  )
  expect(error).not.toContain('--use-system-ca') // Node 24 advises it.
  expect(error).toContain(
    "set NODE_EXTRA_CA_CERTS in the step's env to its certificate file, or NODE_USE_SYSTEM_CA to 1",
  )
  expect(service.received).toEqual([])
})

test.concurrent('a certificate of a private CA is accepted if NODE_EXTRA_CA_CERTS has it, on one connection [net.tls.verified]', async () => {
  const env = { ...UNVERIFIED, ...TRUSTED }
  const { outputs, service } = await runAgainst({ ...USUAL, tls: own }, GO, { env })
  expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
  expect(service.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
  expect(service.connections()).toBe(1)
})

test.concurrent('a certificate that has expired is final, and the error says so [send.certificate.final] [net.tls.verified]', async () => {
  const day = 24 * 3_600_000
  const dates = {
    notBeforeDate: new Date(Date.now() - 2 * day),
    notAfterDate: new Date(Date.now() - day),
  }
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], dates)
  const server = createHttpsServer({ key, cert })
  server.on('tlsClientError', () => undefined)
  const file = path.join(newFolder('certificate'), 'expired.pem')
  writeFileSync(file, cert)
  const { port, close } = await startListening(server)
  const error = await expectFinal(`https://localhost:${port}`, {
    NODE_EXTRA_CA_CERTS: file,
  }).finally(close)
  expect(error).toMatch(/^The service's certificate is not trusted: .*expired.* has to replace/)
  expect(error).not.toMatch(/certificate authority|UNAUTHORIZED/)
})

test.concurrent('a certificate with a key that is too weak is final [send.certificate.final]', async () => {
  const options = { keySize: 1024, algorithm: 'sha256' } as const
  const { private: key, cert } = await generate(
    [{ name: 'commonName', value: 'localhost' }],
    options,
  )
  // Servers refuse it, too, unless their security level is lowered.
  const server = createHttpsServer({ key, cert, ciphers: 'DEFAULT@SECLEVEL=0' })
  server.on('tlsClientError', () => undefined)
  const { port, close } = await startListening(server)
  const error = await expectFinal(`https://localhost:${port}`).finally(close)
  expect(error).toMatch(/^The service's certificate is not trusted: /)
})

test.concurrent("a certificate of a TLS proxy is not called the service's [send.certificate.final]", async () => {
  const proxy = await connectProxy(1, () => 'open', own)
  const env = { HTTPS_PROXY: `https://localhost:${proxy.port}` }
  const error = await expectFinal('https://service.test', env).finally(proxy.close)
  expect(error).toMatch(
    /^The proxy's certificate is not trusted: "the proxy localhost:\d+: .* Nothing was sent\./,
  )
  expect(proxy.asked).toEqual([])
})

test.concurrent('a certificate that is bad in a poll does not say that nothing was sent [send.certificate.final]', async () => {
  const service = await startService(USUAL)
  const other = await certificate(['other.test'])
  const front = await terminateTls(service.port, own)
  const { outputs, commands } = await runStep(
    { ...GO, 'base-url': `https://localhost:${front.port}`, 'poll-interval-seconds': '3' },
    {
      env: TRUSTED,
      meanwhile: async ({ lines }) => {
        await until(() => lines.some((line) => / 201 /.test(line)))
        await front.close()
        closing.push(service, await terminateTls(service.port, other, front.port))
      },
    },
  )
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'network', 'job-id': 'job-1' })
  expect(commands('error')).toEqual([
    expect.stringMatching(
      /^The service's certificate is not trusted: (?!.*Nothing was sent).*job-id: job-1/,
    ),
  ])
})

// A test below has it in https_proxy.
test.concurrent.each([
  ['HTTPS_PROXY', 'http://us%40er:pass@', 'us@er:pass'],
  ['HTTP_PROXY', 'to%zken@', 'to%zken:'],
  ['http_proxy', '', undefined],
])(
  'a proxy in %s, as %shost:port, has one tunnel, its credentials and no key [secret.key.where] [net.proxy]',
  async (name, start, credentials) => {
    const service = await tlsService(own)
    const proxy = await connectProxy(service.port)
    const env = { ...TRUSTED, [name]: `${start}127.0.0.1:${proxy.port}` }
    const { outputs } = await runAt(AWAY, env).finally(proxy.close)
    expect(outputs.outcome).toBe('pr-opened')
    const authorization = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
    expect(proxy.asked).toEqual([{ target: 'service.test:4433', authorization }])
    expect(proxy.bytes()).toMatch(/^host\nservice\.test:4433$/im)
    expect(proxy.bytes()).not.toContain(KEY)
    expect(service.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
  },
)

test.concurrent('a proxy is never asked for loopback [net.proxy], here with a path prefix that ends in slashes [input.base-url]', async () => {
  const service = await startService(USUAL)
  const proxy = await connectProxy(service.port)
  const env = throughProxy(proxy.port, { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` })
  const { outputs } = await runAt(`http://localhost:${service.port}/some/gateway//`, env)
  await Promise.all([proxy.close(), service.close()])
  expect(outputs.outcome).toBe('pr-opened')
  expect(proxy.asked).toEqual([])
  expect(service.posts()[0]?.path).toBe('/some/gateway/v2/agent/docs/job')
  expect(service.polls()[0]?.path).toBe('/some/gateway/v2/agent/docs/job/job-1')
})

test.concurrent('a proxy that expects other credentials (407) is final, and no certificate is blamed [send.certificate.final] [net.tls.verified]', async () => {
  const proxy = await connectProxy(1, () => 407)
  const env = { ...throughProxy(proxy.port), ...UNVERIFIED }
  const error = await expectFinal(AWAY, env).finally(proxy.close)
  expect(error).toMatch(/^The proxy wants credentials: .*407.*HTTPS_PROXY/)
  expect(error).not.toContain('UNAUTHORIZED')
  expect(proxy.asked).toHaveLength(1)
})

test.concurrent.each([
  ['rejects those that were sent', 407, /^The proxy rejected the credentials: .* HTTPS_PROXY/],
  [
    'takes none that can be set',
    'ntlm',
    /^The proxy wants credentials: .* wants 'NTLM'"\. .* local proxy .* NO_PROXY/,
  ],
] as const)('a proxy that %s says so [net.proxy]', async (_, what, says) => {
  const proxy = await connectProxy(1, () => what)
  const HTTPS_PROXY = `http://user:hunter2@127.0.0.1:${proxy.port}`
  const error = await expectFinal(AWAY, { HTTPS_PROXY }).finally(proxy.close)
  expect(error).toMatch(says)
  expect(error).not.toContain('hunter2')
})

test.concurrent('a proxy that refuses (403) or drops is asked again [net.proxy]', async () => {
  const service = await tlsService(own)
  const refusals = [403, 'drop'] as const
  const proxy = await connectProxy(service.port, (nth) => refusals[nth - 1] ?? 'open')
  const { outputs } = await runAt(AWAY, throughProxy(proxy.port)).finally(proxy.close)
  expect(outputs.outcome).toBe('pr-opened')
  expect(proxy.asked).toHaveLength(3)
  expect(service.posts()).toHaveLength(1)
})

// Node would send the request for a tunnel through its own proxy, and warns of the name if it is an
// IP address.
test.concurrent.each([
  ['localhost', 'localhost'],
  ['127.0.0.1', false],
])(
  'a proxy over TLS is asked for, and proves, its own name, not that of the service: %s [net.proxy]',
  async (host, name) => {
    const proven = await certificate(['localhost'])
    const service = await tlsService(proven)
    const proxy = await connectProxy(service.port, () => 'open', proven)
    const env = { NODE_EXTRA_CA_CERTS: proven.file, NODE_USE_ENV_PROXY: '1' }
    const HTTPS_PROXY = `https://${host}:${proxy.port}`
    const error = await expectFinal(AWAY, { ...env, HTTPS_PROXY }).finally(proxy.close)
    expect(proxy.asked).toEqual([{ target: 'service.test:4433', name }])
    expect(error).toMatch(/certificate.*service\.test/)
  },
)

test.concurrent('a proxy is asked for an IPv6 address in brackets [net.proxy]', async () => {
  const proxy = await connectProxy(1, () => 407)
  await expectFinal('https://[2001:db8::1]', throughProxy(proxy.port)).finally(proxy.close)
  expect(proxy.asked[0]?.target).toBe('[2001:db8::1]:443')
})

test.concurrent('a proxy whose tunnel breaks between polls is asked for a new one [net.proxy]', async () => {
  const service = await tlsService(own)
  const proxy = await connectProxy(service.port)
  const { outputs } = await runStep(
    { ...GO, ...FAST, 'base-url': AWAY, 'poll-interval-seconds': '3' },
    {
      env: throughProxy(proxy.port),
      meanwhile: async ({ lines }) => {
        await until(() => lines.some((line) => / 200 /.test(line)))
        proxy.breakTunnels()
      },
    },
  ).finally(proxy.close)
  expect(outputs.outcome).toBe('pr-opened')
  expect(proxy.asked).toHaveLength(2)
  expect(service.posts()).toHaveLength(1)
})

const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
)

;(hasIPv6 ? test.concurrent : test.skip)(
  'a service is reached at an address of IPv6 [input.base-url]',
  async () => {
    const { outputs } = await runAgainst({ ...USUAL, host: '::1' }, GO)
    expect(outputs.outcome).toBe('pr-opened')
  },
)
