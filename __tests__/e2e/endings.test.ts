/** How a step ends: by its deadline, by a cancel in any phase, by being killed, and after a message. */

import type { ChildProcess } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { act, type Ended, SOON_MS } from '../support/action.js'
import { connectProxy, listen } from '../support/network.js'
import { posixDescribe } from '../support/platform.js'
import {
  type Answer,
  active,
  completed,
  created,
  job,
  json,
  LINK,
  later,
  opened,
  type Script,
  type ScriptedService,
  silence,
  startService,
} from '../support/service.js'

const FAST = { 'poll-interval-seconds': '0.1', 'timeout-minutes': '0.5' }

/** Sends signals; `begun` resolves when the step has said what it is about to do. */
type When = (
  service: ScriptedService,
  signal: (name: NodeJS.Signals) => void,
  begun: Promise<void>,
) => Promise<void>

type Run = Ended & { readonly service: ScriptedService; readonly sinceSignalMs: number }

/** Runs a step and sends it signals at the times that `when` says. */
async function run(
  script: Script,
  inputs: Record<string, string>,
  when: When = async () => undefined,
  env: Record<string, string> = {},
): Promise<Run> {
  const service = await startService(script)
  let signalled = Number.NaN
  let onLine: (line: string) => void = () => undefined
  const begun = new Promise<void>((resolve) => {
    onLine = (line) => line.startsWith('Creating') && resolve()
  })
  const onStart = (child: ChildProcess): void => {
    const signal = (name: NodeJS.Signals): void => {
      signalled = performance.now()
      child.kill(name)
    }
    void when(service, signal, begun)
  }
  try {
    const ended = await act({ 'base-url': service.url, ...FAST, ...inputs }, { onStart, onLine, env })
    return { ...ended, service, sinceSignalMs: performance.now() - signalled }
  } finally {
    await service.close()
  }
}

const soon = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
const atRequest =
  (requests: number, milliseconds = 50, name: NodeJS.Signals = 'SIGINT') =>
  async (service: ScriptedService, signal: (name: NodeJS.Signals) => void): Promise<void> => {
    await service.requests(requests)
    await soon(milliseconds)
    signal(name)
  }

describe('the deadline', () => {
  const SHORT = { 'timeout-minutes': '0.06' } // 3.6 s
  const rows: [string, Script, Record<string, string>, Record<string, string>, number][] = [
    [
      'while the job is active',
      { posts: [created], looks: [active] },
      {},
      { outcome: 'timed-out', status: 'active', 'job-id': 'job-1', 'error-code': '' },
      1,
    ],
    [
      'while the create is in flight',
      { posts: [silence] },
      {},
      { outcome: 'error', 'error-code': 'create-unknown', 'job-id': '' },
      1,
    ],
    [
      'while a message is in flight',
      { posts: [silence] },
      { 'job-id': 'job-1' },
      { outcome: 'error', 'error-code': 'create-unknown', 'job-id': 'job-1', reused: 'false' },
      1,
    ],
    [
      'while a look is in flight',
      { posts: [created], looks: [silence] },
      {},
      { outcome: 'timed-out', 'job-id': 'job-1' },
      1,
    ],
    [
      'during the Retry-After of a look',
      { posts: [created], looks: [json(503, '', { 'retry-after': '600' })] },
      {},
      { outcome: 'timed-out' },
      1,
    ],
    [
      'with fail-on: none',
      { posts: [created], looks: [active] },
      { 'fail-on': 'none' },
      { outcome: 'timed-out' },
      0,
    ],
    [
      'of a job that is only waited for',
      { looks: [active] },
      { prompt: '', 'job-id': 'job-7' },
      { outcome: 'timed-out', 'job-id': 'job-7', reused: 'true' },
      1,
    ],
  ]
  test.concurrent.each(rows)('%s', async (_, script, inputs, outputs, exit) => {
    const ended = await run(script, { prompt: 'Go', ...SHORT, ...inputs })
    expect(ended.outputs).toMatchObject(outputs)
    expect(ended.exitCode).toBe(exit)
    expect(ended.milliseconds).toBeLessThan(5_000)
    expect(ended.commands('error')).toHaveLength(exit)
    if (outputs.outcome === 'timed-out') {
      expect(ended.log).toContain(`job-id: ${ended.outputs['job-id']}`)
      expect(ended.summary).toContain(`job-id: ${ended.outputs['job-id']}`)
    }
  })

  test.concurrent('while a proxy keeps its CONNECT waiting', async () => {
    const proxy = await connectProxy(1, () => 'silence')
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const ended = await act({ prompt: 'Go', 'base-url': 'https://service.test', ...SHORT }, { env })
    await proxy.close()
    expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': 'network' })
    expect(ended.milliseconds).toBeLessThan(5_000)
  })

  test.concurrent('has a last look, so that an end within a long interval is not missed', async () => {
    const script = { posts: [created], looks: [completed] }
    const ended = await run(script, { prompt: 'Go', ...SHORT, 'poll-interval-seconds': '60' })
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
  })
})

posixDescribe('the first signal', () => {
  const cancelled = { outcome: 'cancelled', 'error-code': '' }
  const known = { ...cancelled, 'job-id': 'job-1', status: 'active' }
  const usual: Script = { posts: [created], looks: [active] }

  function expectCancelled(ended: Run, outputs: Record<string, string>): void {
    expect(ended.outputs).toMatchObject(outputs)
    expect(ended.exitCode).toBe(1)
    expect(ended.commands('error')).toEqual([expect.stringContaining('The step was cancelled.')])
    expect(ended.summary).toContain('🛑 The step was cancelled')
    if (outputs['job-id'] === 'job-1') {
      expect(ended.commands('error')[0]).toMatch(/Job "job-1" goes on at the service\. .*job-id: job-1/)
      expect(ended.summary).toMatch(/Job `job-1` goes on at the service\. .*`job-id: job-1`/)
    }
  }

  test.concurrent.each(['SIGINT', 'SIGTERM'] as const)('%s between looks', async (name) => {
    const ended = await run(usual, { prompt: 'Go', 'poll-interval-seconds': '20' }, atRequest(1, 200, name))
    expectCancelled(ended, known)
    expect(ended.sinceSignalMs).toBeLessThan(SOON_MS)
  })

  test.concurrent.each(['SIGINT', 'SIGTERM'] as const)('%s during a look', async (name) => {
    const ended = await run({ ...usual, looks: [silence] }, { prompt: 'Go' }, atRequest(2, 50, name))
    expectCancelled(ended, known)
    expect(ended.sinceSignalMs).toBeLessThan(SOON_MS)
  })

  test.concurrent('before anything is sent, while connecting', async () => {
    const mute = await listen(() => undefined)
    const ended = await run(
      usual,
      { prompt: 'Go', 'base-url': `https://localhost:${mute.port}` },
      async (_, signal, begun) => {
        await begun
        await soon(200)
        signal('SIGINT')
      },
    )
    await mute.close()
    expectCancelled(ended, { ...cancelled, 'job-id': '' })
    expect(ended.commands('error')[0]).toContain('The service took nothing')
    expect(ended.sinceSignalMs).toBeLessThan(SOON_MS)
  })

  test.concurrent('while a proxy keeps its CONNECT waiting', async () => {
    const proxy = await connectProxy(1, () => 'silence')
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const ended = await run(
      usual,
      { prompt: 'Go', 'base-url': 'https://service.test' },
      async (_, signal, begun) => {
        await begun
        await soon(200)
        signal('SIGINT')
      },
      env,
    )
    await proxy.close()
    expectCancelled(ended, { ...cancelled, 'job-id': '' })
    expect(ended.sinceSignalMs).toBeLessThan(SOON_MS)
  })

  test.concurrent.each([
    ['a create', '', [json(429, '', { 'retry-after': '20' })] as Answer[]],
    ['a message', 'job-1', [json(409, '', { 'retry-after': '20' })] as Answer[]],
  ])('during the Retry-After of %s', async (_, jobId, posts) => {
    const ended = await run({ posts }, { prompt: 'Go', 'job-id': jobId }, atRequest(1, 200))
    expect(ended.outputs).toMatchObject({ ...cancelled, 'job-id': jobId, reused: 'false' })
    expect(ended.commands('error')[0]).toContain('The service took nothing')
    expect(ended.sinceSignalMs).toBeLessThan(SOON_MS)
  })

  test.concurrent('during the Retry-After of a look', async () => {
    const looks = [json(503, '', { 'retry-after': '20' })]
    const ended = await run({ ...usual, looks }, { prompt: 'Go' }, atRequest(2, 200))
    expectCancelled(ended, known)
    expect(ended.sinceSignalMs).toBeLessThan(SOON_MS)
  })

  test.concurrent('before the first look at a job that is only waited for', async () => {
    const ended = await run({ looks: [silence] }, { 'job-id': 'job-1' }, atRequest(1))
    expectCancelled(ended, { ...cancelled, 'job-id': 'job-1', reused: 'true' })
  })

  test.concurrent('while the create is in flight waits for its answer, and tells the job', async () => {
    const ended = await run({ posts: [later(2_000, created)] }, { prompt: 'Go' }, atRequest(1))
    expectCancelled(ended, known)
    expect(ended.sinceSignalMs).toBeGreaterThan(1_000)
    expect(ended.sinceSignalMs).toBeLessThan(3_000)
    expect(ended.service.received).toHaveLength(1)
  })

  test.concurrent('while the create is in flight waits at most 5 s; then its fate is unknown', async () => {
    const ended = await run({ posts: [silence] }, { prompt: 'Go' }, atRequest(1))
    expectCancelled(ended, { outcome: 'cancelled', 'error-code': 'create-unknown', 'job-id': '' })
    expect(ended.commands('error')[0]).toContain('A job may exist')
    expect(ended.summary).toContain('A job may exist')
    expect(ended.sinceSignalMs).toBeGreaterThan(4_500)
    expect(ended.sinceSignalMs).toBeLessThan(6_000)
  })

  test.concurrent.each([
    ['500: unknown', json(500, ''), 'create-unknown'],
    ['401: refused', json(401, ''), ''],
    ['429: not taken, and not sent again', json(429, '', { 'retry-after': '0' }), ''],
  ] as const)('while the create is in flight that is answered %s', async (_, answer, code) => {
    const ended = await run({ posts: [later(500, answer)] }, { prompt: 'Go' }, atRequest(1))
    expectCancelled(ended, { outcome: 'cancelled', 'error-code': code, 'job-id': '' })
    expect(ended.service.received).toHaveLength(1)
  })

  test.concurrent('while the create is in flight does not outlast the deadline', async () => {
    const ended = await run({ posts: [silence] }, { prompt: 'Go', 'timeout-minutes': '0.06' }, atRequest(1))
    expectCancelled(ended, { outcome: 'cancelled', 'error-code': 'create-unknown' })
    expect(ended.milliseconds).toBeLessThan(5_000)
  })
})

posixDescribe('the second signal', () => {
  test.concurrent('ends at once, also while the create is in flight', async () => {
    const ended = await run({ posts: [silence] }, { prompt: 'Go' }, async (service, signal) => {
      await service.requests(1)
      signal('SIGINT')
      await soon(300)
      signal('SIGTERM')
    })
    expect(ended.outputs).toMatchObject({
      outcome: 'cancelled',
      'error-code': 'create-unknown',
      'job-id': '',
    })
    expect(ended.sinceSignalMs).toBeLessThan(700)
    expect(ended.exitCode).toBe(1)
  })
})

// By the events alone: nothing but a console can send these.
describe('Ctrl-C and Ctrl-Break, as Windows has them,', () => {
  const emit = (name: string, milliseconds: number): string =>
    `setTimeout(() => process.emit('${name}'), ${milliseconds})`
  const emitting = (...events: string[]): Record<string, string> => ({
    NODE_OPTIONS: `--import "data:text/javascript,${events.join(';')}"`,
  })

  test.concurrent('end a wait by the first', async () => {
    const env = emitting(emit('SIGINT', 1500))
    const ended = await run({ posts: [created], looks: [active] }, { prompt: 'Go' }, undefined, env)
    expect(ended.outputs).toMatchObject({ outcome: 'cancelled', 'error-code': '', 'job-id': 'job-1' })
    expect(ended.exitCode).toBe(1)
  })

  test.concurrent('end a create by the second', async () => {
    const env = emitting(emit('SIGINT', 1500), emit('SIGBREAK', 1800))
    const ended = await run({ posts: [silence] }, { prompt: 'Go' }, undefined, env)
    expect(ended.outputs).toMatchObject({ outcome: 'cancelled', 'error-code': 'create-unknown' })
    expect(ended.exitCode).toBe(1)
    expect(ended.milliseconds).toBeLessThan(4_500) // The first alone waits 5 s for the answer.
  })
})

describe('SIGKILL', () => {
  test.concurrent('while the job runs leaves the job and how to go on in the files', async () => {
    const ended = await run(
      { posts: [created], looks: [active] },
      { prompt: 'Go' },
      atRequest(3, 0, 'SIGKILL'),
    )
    expect(ended.exitCode).toBe(137)
    expect(ended.outputs).toMatchObject({ 'job-id': 'job-1', status: 'active', reused: 'false' })
    expect(ended.summary).toMatch(/the job goes on: a step with `job-id: job-1` and no prompt picks it up/)
  })

  test.concurrent('while the create is in flight leaves a word that a job may exist', async () => {
    const ended = await run({ posts: [silence] }, { prompt: 'Go' }, atRequest(1, 0, 'SIGKILL'))
    expect(ended.summary).toContain('a job may exist')
  })

  test.concurrent('while a message is in flight leaves the job', async () => {
    const ended = await run(
      { posts: [silence] },
      { prompt: 'Go', 'job-id': 'job-1' },
      atRequest(1, 0, 'SIGKILL'),
    )
    expect(ended.outputs).toMatchObject({ 'job-id': 'job-1' })
    expect(ended.summary).toMatch(
      /the job may have the message: a step with `job-id: job-1` and no prompt follows it/,
    )
  })

  test.concurrent('before the first look leaves the job that is waited for', async () => {
    const ended = await run({ looks: [silence] }, { 'job-id': 'job-1' }, atRequest(1, 0, 'SIGKILL'))
    expect(ended.outputs).toMatchObject({ 'job-id': 'job-1', reused: 'true' })
    expect(ended.summary).toContain('`job-id: job-1`')
  })
})

describe('an exception that nothing catches', () => {
  test.concurrent.each([
    ['while the create is in flight leaves its fate unknown', [silence], 'create-unknown'],
    ['later is a fault of the action', [created], 'internal'],
  ])('%s', async (_, posts, code) => {
    const thrown = 'data:text/javascript,setTimeout(() => { throw new Error("boom") }, 1500)'
    const ended = await run({ posts, looks: [active] }, { prompt: 'Go' }, undefined, {
      NODE_OPTIONS: `--import "${thrown}"`,
    })
    expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': code })
    expect(ended.commands('error')).toHaveLength(1)
    expect(ended.exitCode).toBe(1)
  })
})

describe('after a message', () => {
  const old = json(200, job({ status: 'completed', prLink: 'https://github.com/your-org/docs/pull/3' }))
  const next = json(200, opened)
  // The settle time is 30 s, or half of what the step has left when that is less: here 3 s.
  const SHORT = { prompt: 'More', 'job-id': 'job-1', 'timeout-minutes': '0.1' }

  test.concurrent.each([
    ['an old end in the answer and the first looks', [old], [old, old, active, next]],
    ['an old end in the first looks alone', [active], [old, old, active, next]],
    ['an old end, then a new one with another link', [active], [old, next]],
    ['an old end in the answer, then a new one', [old], [next]],
  ])('%s: the new end counts', async (_, posts, looks) => {
    // Half of this time is far longer than the looks take.
    const ended = await run({ posts, looks }, { ...SHORT, 'timeout-minutes': '0.5' })
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(ended.milliseconds).toBeLessThan(8_000)
  })

  test.concurrent.each([
    ['the answer says active', [active]],
    ['the answer shows the end already', [json(200, opened)]],
    ['the answer has no job', [json(200, 'ok')]],
  ])('an end before the first look counts when it has settled, where %s', async (_, posts) => {
    const ended = await run({ posts, looks: [next] }, SHORT)
    expect(ended.outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(ended.milliseconds).toBeGreaterThan(2_500)
    expect(ended.milliseconds).toBeLessThan(5_000)
  })
})
