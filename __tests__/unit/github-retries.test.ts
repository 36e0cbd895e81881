/** How long what decides is asked for again: 90 s in all, and a minute after a secondary limit that names no time. */

import { createServer } from 'node:http'
import { afterEach, describe, expect, test } from '@jest/globals'
import { about, createGitHub } from '../../src/github/client.js'
import { type Listening, startListening } from '../support/listening.js'
import { FakeClock } from './fake-clock.js'

const servers: Listening[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(({ close }) => close()))
})

type Answer = readonly [status: number, headers: Record<string, string>, body: unknown]

/** Asks for the files of a pull request until there is an answer, or none is to be had. */
async function ask(
  ...answers: readonly Answer[]
): Promise<{ asked: number; elapsedMs: number; error: unknown }> {
  let asked = 0
  const server = createServer((_, response) => {
    const [status, headers, body] = answers[Math.min(asked++, answers.length - 1)] as Answer
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })
  const { port, close } = await startListening(server)
  servers.push({ port, close })
  const clock = new FakeClock()
  const github = createGitHub({
    token: 'ghs_token',
    deadline: {
      signal: new AbortController().signal,
      cancel: new AbortController().signal,
      cancelled: () => false,
      remainingMs: () => 30 * 60_000 - clock.now(),
    },
    random: () => 0,
    redact: (text) => text,
    fromFork: false,
    log: () => undefined,
    debug: () => undefined,
    run: { apiUrl: `http://127.0.0.1:${port}` },
    network: { proxies: [], unverifiedTlsRequested: false },
    clock,
  })
  const source = { github, repository: 'your-org/your-repo', required: true }
  const call = { ...about(source, 'listing', 'pull-requests: read', Array.isArray), pull_number: 1 }
  const error = await github.pulls.listFiles(call).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { asked, elapsedMs: clock.now(), error }
}

const MESSAGE = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
const limited = (headers: Record<string, string>): Answer => [403, headers, { message: MESSAGE }]
const LISTED: Answer = [200, {}, []]

describe('a secondary limit', () => {
  test('with Retry-After: 60 is waited for', async () => {
    const { asked, elapsedMs, error } = await ask(limited({ 'retry-after': '60' }), LISTED)
    expect(error).toBeUndefined()
    expect(asked).toBe(2)
    expect(elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(elapsedMs).toBeLessThanOrEqual(90_000)
  })

  test('without a time waits for a minute', async () => {
    const { asked, elapsedMs, error } = await ask(limited({}), LISTED)
    expect(error).toBeUndefined()
    expect(asked).toBe(2)
    expect(elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(elapsedMs).toBeLessThanOrEqual(90_000)
  })

  test('is not waited for twice: that would be longer than the budget', async () => {
    const { asked, elapsedMs, error } = await ask(limited({ 'retry-after': '60' }))
    expect(error).toBeInstanceOf(Error)
    expect(asked).toBe(2)
    expect(elapsedMs).toBeLessThanOrEqual(90_000)
  })

  test('with a longer one is final at once', async () => {
    const { asked, elapsedMs } = await ask(limited({ 'retry-after': '120' }))
    expect(asked).toBe(1)
    expect(elapsedMs).toBe(0)
  })
})

test('what fails all the time is asked for again for about 90 s', async () => {
  const { elapsedMs, error } = await ask([502, {}, { message: 'Bad Gateway' }])
  expect(error).toBeInstanceOf(Error)
  expect(elapsedMs).toBeGreaterThan(75_000)
  expect(elapsedMs).toBeLessThanOrEqual(90_000)
})
