/**
 * A name with two addresses: the first takes its time for a handshake, the second drops every packet. Node gives each
 * address but the last 250 ms by itself, and so never reaches either (nodejs/node#54359).
 *
 * The names are in a hosts file that only the step sees, in a mount namespace of its own. A listener whose queue is full
 * drops packets, so no rules of a firewall are needed: its process is stopped, and goes on once a connection has waited.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { FAST, runStep } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { certificate, connectProxy } from '../support/network.js'
import { inRealWorld } from '../support/pull-request.js'
import { completed, created, startService } from '../support/service.js'
import { minutes, scaled } from '../support/time.js'

/** Longer than Node's 250 ms, and much shorter than the 2.5 s of the action. */
const HANDSHAKE_MS = 400

const NAMES = ['service.test', 'proxy.test', 'github.test']
const folder = newFolder('hosts')
const hosts = path.join(folder, 'hosts')
writeFileSync(hosts, ['127.0.0.2', '127.0.0.3'].map((address) => `${address} ${NAMES.join(' ')}\n`).join(''))
/** Node, with this hosts file. bash, unlike dash, passes on variables with a hyphen in their names. */
const node = path.join(folder, 'node')
writeFileSync(
  node,
  `#!/bin/bash
exec unshare --map-root-user --mount bash -c 'mount --bind ${hosts} /etc/hosts && exec ${process.execPath} "$@"' bash "$@"
`,
  { mode: 0o755 },
)

/** In the order in which a step gets them; none if there can't be such a namespace. */
const addresses = findAddresses()
const onTwoAddresses = addresses.length === 2 ? test.concurrent : test.skip
if (addresses.length !== 2) console.info('Skipped: this machine allows no mount namespace with a hosts file.')

function findAddresses(): string[] {
  if (process.platform !== 'linux') return []
  const script =
    "require('dns').lookup('service.test', { all: true }, (_, all) => console.log(JSON.stringify(all)))"
  try {
    const found: { address: string }[] = JSON.parse(
      execFileSync(node, ['-e', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    )
    return found.map(({ address }) => address)
  } catch {
    return []
  }
}

const cleanups: (() => void)[] = []
afterAll(() => {
  for (const cleanup of cleanups) cleanup()
})

const RELAY = `
  const { connect, createServer } = require('node:net')
  const [host, port, target] = process.argv.slice(1)
  const server = createServer((socket) => {
    const upstream = connect(Number(target), '127.0.0.1')
    for (const one of [socket, upstream]) one.on('error', () => socket.destroy() && upstream.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  server.listen({ host, port: Number(port), backlog: 1 }, () => console.log(server.address().port))`

interface Relay {
  readonly port: number
  readonly child: ChildProcess
}

/** A process of its own that relays to a local port, stopped, with a full queue. */
async function stoppedRelay(host: string, port: number, target: number): Promise<Relay> {
  const args = ['-e', RELAY, host, String(port), String(target)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanups.push(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
  const own = Number(String(line))
  child.kill('SIGSTOP')
  for (let nth = 0; nth < 2; nth++) {
    const socket = connect(own, host)
    cleanups.push(() => socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
  }
  return { port: own, child }
}

/** The connections to an address whose handshake is under way, by their own ends. */
function handshakes(address: string, port: number): string[] {
  const bytes = address.split('.').map(Number).reverse()
  const remote = `${hex(bytes)}:${hex([port >> 8, port & 255])}`
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , to, state]) => to === remote && state === '02')
    .map(([, from = '']) => from)
}

const hex = (bytes: readonly number[]): string => Buffer.from(bytes).toString('hex').toUpperCase()

/** One port at both addresses: the first answers a handshake that has waited, the second never does. */
async function twoAddresses(target: number): Promise<number> {
  const [first = '', second = ''] = addresses
  const { port, child } = await stoppedRelay(first, 0, target)
  await stoppedRelay(second, port, target)
  let stopped = false
  cleanups.push(() => {
    stopped = true
  })
  const answerLate = async (): Promise<void> => {
    const since = new Map<string, number>()
    while (!stopped) {
      const now = performance.now()
      for (const one of handshakes(first, port)) {
        since.set(one, since.get(one) ?? now)
        if (now - (since.get(one) ?? now) >= HANDSHAKE_MS) return void child.kill('SIGCONT')
      }
      await sleep(10)
    }
  }
  answerLate().catch(() => undefined)
  return port
}

const GO = { ...FAST, prompt: 'Go' }
/** One try takes a second, until the first packet is sent again. */
const soon = (): Record<string, string> => ({ 'timeout-minutes': minutes(6_000 + scaled(1_000)) })

onTwoAddresses('the service is reached', async () => {
  const own = await certificate()
  const service = await startService({ posts: [created], polls: [completed], tls: own })
  const port = await twoAddresses(service.port)
  const inputs = { ...GO, ...soon(), 'base-url': `https://service.test:${port}` }
  const { outputs } = await runStep(inputs, { node, env: { NODE_EXTRA_CA_CERTS: own.file } }).finally(
    service.close,
  )
  expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1' })
  expect(service.posts()).toHaveLength(1)
})

onTwoAddresses('the service is reached through a proxy', async () => {
  const own = await certificate()
  const service = await startService({ posts: [created], polls: [completed], tls: own })
  const proxy = await connectProxy(service.port)
  const port = await twoAddresses(proxy.port)
  const env = { HTTPS_PROXY: `http://proxy.test:${port}`, NODE_EXTRA_CA_CERTS: own.file }
  const inputs = { ...GO, ...soon(), 'base-url': 'https://service.test' }
  const { outputs } = await runStep(inputs, { node, env }).finally(proxy.close).finally(service.close)
  expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': 'job-1' })
  expect(proxy.asked[0]?.target).toBe('service.test:443')
  expect(service.posts()).toHaveLength(1)
})

onTwoAddresses('GitHub is reached', () =>
  inRealWorld({}, async ({ runBundle: step, github, comments }) => {
    const port = await twoAddresses(Number(new URL(github.url).port))
    const env = { GITHUB_API_URL: `http://github.test:${port}` }
    const { outputs } = await step({ ...soon(), 'job-scope': 'pull-request' }, { node, env })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', reused: 'false' })
    expect(comments()).toHaveLength(1)
  }),
)
