/** One request: what keeps it from being sent. */

import { getEventListeners } from 'node:events'
import { createServer, getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, jest, test } from '@jest/globals'
import { describeError } from '../../src/net/connect.js'
import { createDeadline } from '../../src/net/deadline.js'
import { createHttpClient } from '../../src/net/http.js'
import { clock } from '../../src/runner.js'
import { startListening } from '../support/listening.js'
import { type Behaviour, connectProxy } from '../support/proxy.js'
import { inSimulation } from '../world/story.js'

const POST = { method: 'POST', path: '/', headers: {}, body: 'Go' } as const
const ANSWER = 'HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n'
const DIRECT = { proxy: undefined, unverifiedTlsRequested: false }
const inAMinute = ({ signal } = new AbortController()) =>
  createDeadline(clock.now() + 60_000, signal, clock)

test('each address of a name but the last has 2.5 s, whoever connects: Node gives it 250 ms [net.addresses]', () => {
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(2_500)
})

test.each<[Behaviour, string, number]>([
  ['silence', 'no connection within 10 s through the proxy HOST', 10_000],
  [403, '"the proxy HOST responded 403 to CONNECT"', 4],
])(
  'a connection that a proxy does not make, with %s, is given up, and its tunnel too [net.limits] [net.proxy] [send.unconnected]',
  (behaviour, why, milliseconds) =>
    inSimulation(async () => {
      const { port, open, asked } = await connectProxy(1, () => behaviour)
      const proxy = new URL(`http://127.0.0.1:${port}`)
      const { send } = createHttpClient({ ...DIRECT, origin: 'https://service.test', proxy })
      const startedAt = performance.now()
      const reason = why.replace('HOST', proxy.host)
      expect(await send(POST, inAMinute())).toMatchObject({ kind: 'not-sent', reason })
      expect(performance.now() - startedAt).toBe(milliseconds)
      await sleep(100)
      expect(open()).toBe(0)
      expect(asked[0]?.target).toBe('service.test:443')
    }),
)

test('a response that is given up is read no further [net.limits]', () =>
  inSimulation(async () => {
    const close = jest.fn()
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 21}\r\n\r\n`
    const { port } = await startListening(
      createServer((socket) => socket.on('close', close).once('data', () => socket.write(head))),
    )
    const { send } = createHttpClient({ ...DIRECT, origin: `http://127.0.0.1:${port}` })
    const reason = 'the response is larger than 1 MiB'
    expect(await send(POST, inAMinute())).toMatchObject({ reason })
    await sleep(100)
    expect(close).toHaveBeenCalled()
  }))

test.each(['127.0.0.2', '[::1]'])(
  'a proxy is asked at the host that its URL names: %s [net.proxy]',
  async (host) => {
    const { port, asked, close } = await connectProxy(1)
    const proxy = new URL(`http://${host}:${port}`)
    const { send } = createHttpClient({ ...DIRECT, origin: 'https://service.test', proxy })
    const deadline = inAMinute()
    const result = await send(POST, deadline)
    deadline.end()
    await close()
    // Not looked up as a name.
    const reason = expect.not.stringContaining('ENOTFOUND')
    expect(result).toMatchObject({ kind: 'not-sent', reason })
    expect(asked).toEqual([])
  },
)

test('a cancel in the turn of the event loop in which the connection is made, or before [send.never-twice] [cancel.before-post]', async () => {
  const cancel = new AbortController()
  const { port, close } = await startListening(
    createServer(() => void setImmediate(() => cancel.abort())),
  )
  const { send } = createHttpClient({ ...DIRECT, origin: `http://127.0.0.1:${port}` })
  const results = [await send(POST, inAMinute(cancel)), await send(POST, inAMinute(cancel))]
  await close()
  expect(results).toEqual(Array(2).fill({ kind: 'aborted', sent: false }))
})

test('a cancel in the very moment in which the time of a create is up: its response is waited for [cancel.in-flight] [net.arrived-first]', () =>
  inSimulation(async () => {
    const cancel = new AbortController()
    const { port } = await startListening(
      createServer((socket) =>
        socket.once('data', () => {
          setTimeout(() => cancel.abort(), 59_999) // What was sent took a millisecond.
          setTimeout(() => socket.write(ANSWER), 62_000)
        }),
      ),
    )
    const { send } = createHttpClient({ ...DIRECT, origin: `http://127.0.0.1:${port}` })
    const deadline = createDeadline(clock.now() + 90_000, cancel.signal, clock)
    expect(await send(POST, deadline)).toMatchObject({ status: 201 })
  }))

test('polls share a connection for a minute [net.post.new-connection] or until it is closed [poll.last] [poll.link.late], leave no listener [net.deadline], and end at once if they are cancelled [cancel.in-flight]', () =>
  inSimulation(async () => {
    let [connections, requests] = [0, 0]
    const { port } = await startListening(
      createServer((socket) => {
        connections++
        socket.on('data', () => ++requests < 3 && socket.write(ANSWER))
      }),
    )
    const { send, close } = createHttpClient({ ...DIRECT, origin: `http://127.0.0.1:${port}` })
    const cancel = new AbortController()
    const deadline = createDeadline(clock.now() + 200_000, cancel.signal, clock)
    const poll = () => send({ method: 'GET', path: '/', headers: {} }, deadline)
    await poll()
    await sleep(60_000)
    expect([await poll(), connections]).toMatchObject([{ status: 201 }, 1])
    expect(getEventListeners(deadline.signal, 'abort')).toEqual([])
    close()
    const startedAt = performance.now()
    setTimeout(() => cancel.abort(), 1_000)
    expect(await poll()).toEqual({ kind: 'aborted', sent: true })
    expect(performance.now() - startedAt).toBeLessThan(1_010)
    expect(connections).toBe(2)
  }))

test.each<[string, Error, object]>([
  [
    'TLS: wrong version number',
    new Error('0A00010B:SSL routines::wrong version number:\ns3_record.c'),
    { code: 'ERR_SSL_WRONG_VERSION_NUMBER', reason: 'wrong version number' },
  ],
  [
    'self-signed certificate',
    new Error('self-signed certificate; try --use-system-ca'),
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  ],
  ['read; reset', new Error('read;\nreset'), { code: 'ECONNRESET', reason: 'a reason' }],
  ['a; b', new AggregateError(['a', 'a', 'b'].map(Error)), {}],
])(
  'a network error is told on one line, without what no step can follow: %s [text.one-line] [send.unconnected] [report.advice.followed]',
  (told, error, fields) => {
    expect(describeError(Object.assign(error, fields))).toBe(told)
  },
)
