/** Certificates: always verified, final whatever is wrong with them, and the error names whose they are. */

import { createServer } from 'node:https'
import { afterAll, describe, expect, test } from '@jest/globals'
import { generate } from 'selfsigned'
import { FAST, runStep } from '../support/action.js'
import { startListening } from '../support/listening.js'
import { certificate, connectProxy, terminateTls } from '../support/network.js'
import { active, completed, created, startService } from '../support/service.js'
import { until } from '../support/time.js'

const GO = { ...FAST, prompt: 'Go' }
const TRUST =
  /NODE_EXTRA_CA_CERTS to its certificate file in the step's env: certificates are always verified/

const closing: { close: () => Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(closing.map(({ close }) => close()))
})
const own = await certificate()

async function start(options: Parameters<typeof startService>[0] = {}) {
  const service = await startService({ posts: [created], polls: [active, completed], ...options })
  closing.push(service)
  return service
}

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  test.concurrent('sends nothing to a server that is not trusted, and the error says so', async () => {
    const service = await start({ tls: own })
    const { outputs, commands, exitCode } = await runStep(
      { ...GO, 'base-url': service.url.replace('127.0.0.1', 'localhost') },
      { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
    )
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'network' })
    expect(commands('error')).toEqual([
      expect.stringMatching(
        /^The service's certificate is not trusted: .*\(NODE_TLS_REJECT_UNAUTHORIZED is not honoured\)\. Nothing was sent\./,
      ),
    ])
    expect(commands('error')[0]).toMatch(TRUST)
    expect(exitCode).toBe(1)
    expect(service.received).toEqual([])
  })

  test.concurrent('does not matter if the certificate is trusted', async () => {
    const service = await start({ tls: own })
    const { outputs } = await runStep(
      { ...GO, 'base-url': service.url.replace('127.0.0.1', 'localhost') },
      { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_EXTRA_CA_CERTS: own.file } },
    )
    expect(outputs.outcome).toBe('pr-opened')
  })
})

test('a key that is too weak is a bad certificate, and is not retried', async () => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 1024,
    algorithm: 'sha256',
  })
  // Servers refuse it, too, unless their security level is lowered.
  const server = createServer({ key, cert, ciphers: 'DEFAULT@SECLEVEL=0' })
  server.on('tlsClientError', () => undefined)
  const { port, close } = await startListening(server)
  const { outputs, commands, log } = await runStep({ ...GO, 'base-url': `https://localhost:${port}` })
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'network' })
  expect(commands('error')).toEqual([expect.stringMatching(/^The service's certificate is not trusted: /)])
  expect(log).not.toContain('Retrying')
  await close()
})

test("a TLS proxy's certificate is not called the service's", async () => {
  const service = await start({ tls: own })
  const proxy = await connectProxy(service.port, () => 'open', own)
  closing.push(proxy)
  const { outputs, commands } = await runStep(
    { ...GO, 'base-url': 'https://service.test' },
    { env: { HTTPS_PROXY: `https://localhost:${proxy.port}` } },
  )
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'network' })
  expect(commands('error')).toEqual([
    expect.stringMatching(
      /^The proxy's certificate is not trusted: the proxy localhost:\d+: .* Nothing was sent\./,
    ),
  ])
  expect(proxy.asked).toEqual([])
})

test('a bad certificate in a poll does not say that nothing was sent', async () => {
  const service = await start()
  const other = await certificate(['other.test'])
  let front = await terminateTls(service.port, own)
  const { port } = front
  const ended = runStep(
    { ...GO, 'base-url': `https://localhost:${port}`, 'poll-interval-seconds': '2' },
    { env: { NODE_EXTRA_CA_CERTS: own.file } },
  )
  await until(() => service.received.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 500)) // Its response has to arrive.
  await front.close()
  front = await terminateTls(service.port, other, port)
  closing.push(front)
  const { outputs, commands } = await ended
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'network', 'job-id': 'job-1' })
  expect(commands('error')).toEqual([expect.stringMatching(/^The service's certificate is not trusted: /)])
  expect(commands('error')[0]).not.toContain('Nothing was sent')
  expect(commands('error')[0]).toContain('job-id: job-1')
})

test("GitHub's certificate is verified, too, and a bad one is not retried", async () => {
  const github = await start({ tls: own })
  const service = await start()
  const { outputs, commands, log } = await runStep(
    { ...GO, 'base-url': service.url, 'github-token': 'ghs_token_0123456789', 'context-paths': 'src/**' },
    {
      env: {
        GITHUB_API_URL: github.url.replace('127.0.0.1', 'localhost'),
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      },
    },
  )
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
  expect(commands('error')).toEqual([
    expect.stringMatching(/^GitHub: .* failed: GitHub's certificate is not trusted: .*NODE_EXTRA_CA_CERTS/),
  ])
  expect(log).not.toContain('Retrying')
  expect([...github.received, ...service.received]).toEqual([])
})
