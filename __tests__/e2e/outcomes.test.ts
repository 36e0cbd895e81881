/** How a step ends: at its deadline, when it is cancelled or killed at any moment, and after a message. */

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type Ended, runAgainst, type Step } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { connectProxy, listen } from '../support/network.js'
import { posixDescribe } from '../support/platform.js'
import {
  active,
  completed,
  created,
  job,
  json,
  LINK,
  later,
  type Script,
  type ScriptedService,
  silence,
} from '../support/service.js'
import { minutes, shortDeadline, soonAfter, until } from '../support/time.js'

const GO = { prompt: 'Go' }
const MORE = { prompt: 'More', 'job-id': 'job-1' }
const RUNNING: Script = { posts: [created], polls: [active] }
const UNANSWERED: Script = { posts: [silence], polls: [silence] }
const LATER = json(503, '', { 'retry-after': '600' })
const LIMITED = json(429, '', { 'retry-after': '60' })
const MAY_EXIST = /a job may exist/i

/** How long a create or a message that is on its way is waited for after a signal or the deadline. */
const IN_FLIGHT_MS = 5_000

type Moment = (step: Step, service: ScriptedService) => boolean
const received =
  (count: number): Moment =>
  (_, service) =>
    service.received.length >= count
const logged =
  (pattern: RegExp): Moment =>
  ({ lines }) =>
    lines.some((line) => pattern.test(line))

/** Sends a signal at a moment of the run. */
const at =
  (moment: Moment, name: NodeJS.Signals = 'SIGINT') =>
  async (step: Step, service: ScriptedService): Promise<void> => {
    await until(() => moment(step, service))
    step.signal(name)
  }

describe('the deadline', () => {
  const timedOut = { outcome: 'timed-out', 'error-code': '', 'job-id': 'job-1' }
  const unknown = { outcome: 'error', 'error-code': 'create-unknown' }
  const rows: [string, Script, Record<string, string>, Record<string, string>][] = [
    ['while a create is in flight', UNANSWERED, GO, { ...unknown, 'job-id': '' }],
    ['while a message is in flight', UNANSWERED, MORE, { ...unknown, 'job-id': 'job-1', reused: 'false' }],
    ['while a poll is in flight', { ...RUNNING, polls: [silence] }, GO, timedOut],
    ['during the Retry-After of a poll', { ...RUNNING, polls: [LATER] }, GO, timedOut],
    ['of a job that is only waited for', RUNNING, { 'job-id': 'job-1' }, { ...timedOut, reused: 'true' }],
  ]
  test.concurrent.each(rows)('%s', async (_, script, inputs, outputs) => {
    const deadlineMs = shortDeadline()
    const ended = await runAgainst(script, { ...inputs, 'timeout-minutes': minutes(deadlineMs) })
    expect(ended.outputs).toMatchObject(outputs)
    expect(ended.exitCode).toBe(1)
    expect(ended.milliseconds).toBeLessThan(soonAfter(deadlineMs + IN_FLIGHT_MS))
    expect(ended.commands('error')).toHaveLength(1)
    if (outputs.outcome === 'timed-out') {
      expect(ended.log).toContain('job-id: job-1')
      expect(ended.summary).toContain('job-id: job-1')
    }
  })

  test.concurrent('has a last poll, so that an end within a long interval is not missed', async () => {
    const inputs = { ...GO, 'timeout-minutes': minutes(shortDeadline()), 'poll-interval-seconds': '600' }
    const ended = await runAgainst({ posts: [created], polls: [completed] }, inputs)
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
  })
})

function expectCancelled(ended: Ended, outputs: Record<string, string>): void {
  expect(ended.outputs).toMatchObject({ outcome: 'cancelled', 'error-code': '', ...outputs })
  expect(ended.exitCode).toBe(1)
  expect(ended.commands('error')).toHaveLength(1)
  expect(ended.summary).toContain('🛑')
  if (outputs.status === 'active') {
    expect(ended.commands('error')[0]).toContain('job-id: job-1')
    expect(ended.summary).toContain('job-id: job-1')
  }
}

posixDescribe('the first signal', () => {
  const known = { 'job-id': 'job-1', status: 'active', reused: 'false' }
  const attached = { 'job-id': 'job-1', reused: 'true' }
  const rows: [string, Script, Record<string, string>, Moment, NodeJS.Signals, Record<string, string>][] = [
    ['during a poll', { ...RUNNING, polls: [silence] }, GO, received(2), 'SIGTERM', known],
    [
      'during the Retry-After of a create',
      { posts: [LIMITED] },
      GO,
      logged(/ 429 /),
      'SIGINT',
      { 'job-id': '' },
    ],
    [
      'during the Retry-After of a poll',
      { ...RUNNING, polls: [LATER] },
      GO,
      logged(/ 503 /),
      'SIGTERM',
      known,
    ],
    [
      'during the first poll of a given job',
      UNANSWERED,
      { 'job-id': 'job-1' },
      received(1),
      'SIGINT',
      attached,
    ],
  ]
  test.concurrent.each(rows)('%s', async (_, script, inputs, moment, name, outputs) => {
    const ended = await runAgainst(script, inputs, { meanwhile: at(moment, name) })
    expectCancelled(ended, outputs)
    expect(ended.sinceSignalMs).toBeLessThan(soonAfter(1_000))
  })

  test.concurrent('before anything is sent, during the TLS handshake', async () => {
    let connections = 0
    const mute = await listen(() => void connections++)
    const inputs = { ...GO, 'base-url': `https://127.0.0.1:${mute.port}` }
    const ended = await runAgainst({}, inputs, { meanwhile: at(() => connections > 0) }).finally(mute.close)
    expectCancelled(ended, { 'job-id': '' })
    expect(ended.sinceSignalMs).toBeLessThan(soonAfter(1_000))
  })

  test.concurrent('while a proxy does not answer its CONNECT', async () => {
    const proxy = await connectProxy(1, () => 'silence')
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const inputs = { ...GO, 'base-url': 'https://service.test' }
    const meanwhile = at(() => proxy.asked.length > 0)
    const ended = await runAgainst({}, inputs, { env, meanwhile }).finally(proxy.close)
    expectCancelled(ended, { 'job-id': '' })
    expect(ended.sinceSignalMs).toBeLessThan(soonAfter(1_000))
  })

  test.concurrent('while a create is in flight waits for its response, which has the job', async () => {
    const ended = await runAgainst({ posts: [later(1_500, created)] }, GO, { meanwhile: at(received(1)) })
    expectCancelled(ended, known)
    expect(ended.service.received).toHaveLength(1)
  })

  test.concurrent('while a create is in flight waits at most 5 s; then its result is unknown', async () => {
    const ended = await runAgainst(UNANSWERED, GO, { meanwhile: at(received(1)) })
    expectCancelled(ended, { 'error-code': 'create-unknown', 'job-id': '' })
    expect(ended.commands('error')[0]).toMatch(MAY_EXIST)
    expect(ended.summary).toMatch(MAY_EXIST)
    expect(ended.sinceSignalMs).toBeGreaterThan(IN_FLIGHT_MS - 500)
    expect(ended.sinceSignalMs).toBeLessThan(soonAfter(IN_FLIGHT_MS))
  })

  test.concurrent.each([
    ['500: unknown', json(500, ''), 'create-unknown'],
    ['401: refused', json(401, ''), ''],
    ['429: not accepted, and not retried', json(429, '', { 'retry-after': '0' }), ''],
  ])('while a create is in flight that ends with %s', async (_, handler, code) => {
    const ended = await runAgainst({ posts: [later(500, handler)] }, GO, { meanwhile: at(received(1)) })
    expectCancelled(ended, { 'error-code': code, 'job-id': '' })
    expect(ended.service.received).toHaveLength(1)
  })
})

posixDescribe('the second signal', () => {
  test.concurrent('ends the step immediately, even while a create is in flight', async () => {
    const ended = await runAgainst(UNANSWERED, GO, {
      meanwhile: async (step, service) => {
        await at(received(1))(step, service)
        step.signal('SIGTERM')
      },
    })
    expectCancelled(ended, { 'error-code': 'create-unknown', 'job-id': '' })
    expect(ended.sinceSignalMs).toBeLessThan(soonAfter(0))
  })
})

/** Makes things happen inside a step, from outside, on any system: an event of the process, or an exception. */
function remoteControl() {
  const folder = newFolder('remote-control')
  const code = `
    import { existsSync } from 'node:fs'
    const done = new Set()
    setInterval(() => {
      for (const name of ['SIGINT', 'SIGBREAK', 'throw']) {
        if (done.has(name) || !existsSync(${JSON.stringify(folder)} + '/' + name)) continue
        done.add(name)
        if (name === 'throw') throw new Error('boom')
        process.emit(name)
      }
    }, 20).unref()`
  return {
    env: { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(code)}"` },
    press: (name: 'SIGINT' | 'SIGBREAK' | 'throw') => writeFileSync(path.join(folder, name), ''),
  }
}

// As events of the process: on Windows only a console can send these.
test.concurrent('Ctrl-C and Ctrl-Break, as on Windows, are the first and the second signal', async () => {
  const { env, press } = remoteControl()
  let pressedAt = 0
  const meanwhile = async (_: Step, service: ScriptedService): Promise<void> => {
    await until(() => service.received.length > 0)
    press('SIGINT')
    press('SIGBREAK')
    pressedAt = performance.now()
  }
  const ended = await runAgainst(UNANSWERED, GO, { env, meanwhile })
  expect(performance.now() - pressedAt).toBeLessThan(soonAfter(0))
  expectCancelled(ended, { 'error-code': 'create-unknown' })
})

describe('SIGKILL', () => {
  const rows: [string, Script, Record<string, string>, number, Record<string, string>, RegExp][] = [
    ['while the job runs', RUNNING, GO, 3, { 'job-id': 'job-1', status: 'active' }, /job-id: job-1/],
    ['while a create is in flight', UNANSWERED, GO, 1, {}, MAY_EXIST],
    ['while a message is in flight', UNANSWERED, MORE, 1, { 'job-id': 'job-1' }, /job-id: job-1/],
    [
      'before the first poll of a job that is only waited for',
      UNANSWERED,
      { 'job-id': 'job-1' },
      1,
      { 'job-id': 'job-1', reused: 'true' },
      /job-id: job-1/,
    ],
  ]
  test.concurrent.each(rows)(
    '%s leaves what to do next',
    async (_, script, inputs, requests, outputs, next) => {
      const ended = await runAgainst(script, inputs, { meanwhile: at(received(requests), 'SIGKILL') })
      expect(ended.exitCode).toBe(137)
      expect(ended.outputs).toMatchObject(outputs)
      expect(ended.summary).toMatch(next)
    },
  )
})

describe('an uncaught exception', () => {
  test.concurrent.each([
    ['while a create is in flight: its result is unknown', UNANSWERED, received(1), 'create-unknown'],
    ['later: an internal error', RUNNING, received(2), 'internal'],
  ])('%s', async (_, script, moment, code) => {
    const { env, press } = remoteControl()
    const meanwhile = async (step: Step, service: ScriptedService): Promise<void> => {
      await until(() => moment(step, service))
      press('throw')
    }
    const ended = await runAgainst(script, GO, { env, meanwhile })
    expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': code })
    expect(ended.commands('error')).toHaveLength(1)
    expect(ended.exitCode).toBe(1)
  })
})

// unit/poll has a row for each order of what is seen.
describe('after a message', () => {
  const old = json(200, job({ status: 'completed', prLink: 'https://github.com/your-org/docs/pull/3' }))

  test.concurrent.each([
    ['an old end in the response and the first polls', [old], [old, old, active, completed]],
    ['an old end, then a new one with another link', [active], [old, completed]],
  ])('%s: the new end counts as soon as it is seen', async (_, posts, polls) => {
    const ended = await runAgainst({ posts, polls }, MORE)
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(ended.service.polls()).toHaveLength(polls.length)
  })

  test.concurrent('an end in the response and the first poll counts when it has settled', async () => {
    // The settle time is 30 s, or half of the time that is left if that is less: here more than a second.
    const inputs = { ...MORE, 'timeout-minutes': minutes(shortDeadline()) }
    const ended = await runAgainst({ posts: [completed], polls: [completed] }, inputs)
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(ended.milliseconds).toBeGreaterThan(1_000)
  })
})
