/** The limits that take long. They run at the same time, since each only waits. */

import { expect, jest, test } from '@jest/globals'
import { runAgainst, runStep } from '../support/action.js'
import { BAD_GATEWAY } from '../support/github.js'
import { certificate, connectProxy, relay } from '../support/network.js'
import { startWorld } from '../support/pull-request.js'
import { active, completed, created, type Handler, silence, startService } from '../support/service.js'
import { scaled, soonAfter } from '../support/time.js'

jest.setTimeout(scaled(150_000))

const SECOND = 1_000
const MINUTE = 60_000

const GO = { prompt: 'Go' }

/** The head of a response immediately, then a byte per second. */
const trickle: Handler = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), SECOND)
  response.on('close', () => clearInterval(timer))
}

/** Checks how long something took. A busy machine notices its start too late. */
function expectToTake(milliseconds: number, least: number, most = least): void {
  expect(milliseconds).toBeGreaterThan(least - scaled(200))
  expect(milliseconds).toBeLessThan(soonAfter(most))
}

// Not in a `describe`: the tests of one block start together.
test.concurrent('a create without a response within 60 s may have been accepted', async () => {
  const { outputs, service, milliseconds } = await runAgainst({ posts: [silence] }, GO)
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'create-unknown' })
  expect(service.posts()).toHaveLength(1)
  expectToTake(milliseconds, MINUTE)
})

test.concurrent.each([
  ['no response', silence],
  ['a response that never ends', trickle],
] as const)('a poll with %s is given up after 30 s, and the next one counts', async (_, poll) => {
  const script = { posts: [created], polls: [poll, completed] }
  const { outputs, service, milliseconds } = await runAgainst(script, GO)
  expect(outputs.outcome).toBe('pr-opened')
  expect(service.polls()).toHaveLength(2)
  expectToTake(milliseconds, 30 * SECOND, 32 * SECOND) // A backoff of up to a second.
})

test.concurrent('a connection that takes longer than 10 s is tried again', async () => {
  const own = await certificate()
  const service = await startService({ posts: [created], polls: [completed], tls: own })
  const connectedAt: number[] = []
  const front = await relay(service.port, {
    take: (_, nth) => {
      connectedAt.push(performance.now())
      return nth === 1 // Its TLS handshake is never answered.
    },
  })
  const { outputs } = await runStep(
    { ...GO, 'base-url': `https://localhost:${front.port}`, 'poll-interval-seconds': '0.1' },
    { env: { NODE_EXTRA_CA_CERTS: own.file } },
  )
  await Promise.all([front.close(), service.close()])
  expect(outputs.outcome).toBe('pr-opened')
  const [first = 0, second = 0] = connectedAt
  expectToTake(second - first, 10 * SECOND, 12 * SECOND)
})

test.concurrent('a proxy that never answers is named', async () => {
  const proxy = await connectProxy(1, () => 'silence')
  const { commands, log } = await runStep(
    { ...GO, 'base-url': 'https://service.test', 'timeout-minutes': String(14 / 60) },
    { env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } },
  )
  await proxy.close()
  const text = `The service can't be reached: no connection within 10 s through the proxy 127.0.0.1:${proxy.port}.`
  expect(log).toContain(text)
  expect(commands('error')).toEqual([expect.stringContaining(text)])
})

test.concurrent('without an interval a job is polled every 5 s or so, on one connection, with a heartbeat each minute', async () => {
  const polls = [...Array.from({ length: 12 }, () => active), completed]
  const { service, log, commands } = await runAgainst(
    { posts: [created], polls },
    { ...GO, 'poll-interval-seconds': '' },
  )
  const times = service.received.map(({ at }) => at)
  for (const [nth, at] of times.slice(1).entries()) {
    const elapsed = at - (times[0] ?? 0)
    const delay = Math.max(5 * SECOND, elapsed / 10)
    expectToTake(at - (times[nth] ?? 0), 0.9 * 5 * SECOND, 1.1 * delay)
  }
  expect(service.connections()).toBe(1)
  expect(log).toMatch(/^After 1 min.*: docs job "job-1" is still running\.$/m)
  expect(commands('error')).toEqual([])
})

const byUser = {
  event: 'issue_comment',
  payload: { issue: { number: 9 }, comment: {}, sender: { login: 'octocat' } },
}
test.concurrent.each([
  ['comments', /comments/, { 'job-scope': 'pull-request' }, {}],
  ['a permission', /permission/, {}, byUser],
] as const)(
  'a request for %s is retried for 90 s, then the step ends before anything is sent',
  async (_, path, inputs, run) => {
    const world = await startWorld()
    world.github.faults.push({ path, times: Number.POSITIVE_INFINITY, answer: BAD_GATEWAY })
    const { outputs, milliseconds, log } = await world.runBundle(inputs, run).finally(world.close)
    expect(log).toMatch(/^After 1 min.*: nothing has been accepted yet\.$/m)
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    expectToTake(milliseconds, 60 * SECOND, 90 * SECOND)
    expect(world.emulator.requests).toEqual([])
  },
)

test.concurrent.each([
  ['a last edit', 2, 10],
  ['an edit that would store the job', 1, 30],
])('%s to which GitHub does not respond holds up the end', async (_, times, seconds) => {
  const world = await startWorld()
  world.github.faults.push({ method: 'PATCH', answer: { delayMs: 1 }, times })
  world.github.faults.push({ method: 'PATCH', times: Number.POSITIVE_INFINITY, answer: 'silence' })
  const { outputs, milliseconds } = await world
    .runBundle({ 'job-scope': 'pull-request' })
    .finally(world.close)
  expect(outputs.outcome).toBe('pr-opened')
  expectToTake(milliseconds, seconds * SECOND)
})
