/**
 * How a process ends: when it is cancelled or killed at any moment.
 */

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { type Ended, runAgainst, type Step } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { listen } from '../support/network.js'
import { POSIX } from '../support/platform.js'
import { active, created, type Script, type ScriptedService, silence } from '../support/service.js'
import { soonAfter, until } from '../support/time.js'

const GO = { prompt: 'Go' }
const WAIT = { 'job-id': 'job-1' }
const MORE = { ...WAIT, prompt: 'More' }
const RUNNING: Script = { posts: [created], polls: [active] }
const UNANSWERED: Script = { posts: [silence], polls: [silence] }
const MAY_EXIST = /a docs job may exist/i

type Moment = (step: Step, service: ScriptedService) => boolean
const received =
  (count: number): Moment =>
  (_, service) =>
    service.received.length >= count

/** Sends a signal at a moment of the run. */
const at =
  (moment: Moment, name: NodeJS.Signals = 'SIGINT') =>
  async (step: Step, service: ScriptedService): Promise<void> => {
    await until(() => moment(step, service))
    step.signal(name)
  }

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

// Not in a `describe`: the tests of one block wait at the same time.
const posixTest = POSIX ? test.concurrent : test.concurrent.skip

const KNOWN = { 'job-id': 'job-1', status: 'active', sent: 'job' }

posixTest('SIGTERM ends a poll [cancel.first]', async () => {
  const script = { ...RUNNING, polls: [silence] }
  const ended = await runAgainst(script, GO, { meanwhile: at(received(2), 'SIGTERM') })
  expectCancelled(ended, KNOWN)
  expect(ended.sinceSignalMs).toBeLessThan(soonAfter(1_000))
})

posixTest(
  'a signal during the TLS handshake cancels before anything is sent [cancel.before-post]',
  async () => {
    let connections = 0
    const mute = await listen(() => void connections++)
    const inputs = { ...GO, 'base-url': `https://127.0.0.1:${mute.port}` }
    const meanwhile = at(() => connections > 0)
    const ended = await runAgainst({}, inputs, { meanwhile }).finally(mute.close)
    expectCancelled(ended, { 'job-id': '' })
    expect(ended.sinceSignalMs).toBeLessThan(soonAfter(1_000))
  },
)

posixTest(
  'a second signal ends the step at once, even while a create is in flight: its result is unknown [cancel.second] [send.unknown]',
  async () => {
    const ended = await runAgainst(UNANSWERED, GO, {
      meanwhile: async (step, service) => {
        await at(received(1))(step, service)
        step.signal('SIGTERM')
      },
    })
    expectCancelled(ended, { 'error-code': 'create-unknown', 'job-id': '' })
    expect(ended.commands('error')[0]).toMatch(MAY_EXIST)
    expect(ended.sinceSignalMs).toBeLessThan(soonAfter(0))
  },
)

/**
 * Makes things happen inside a step, from outside, on any system: an event of the process, or an
 * exception.
 */
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
test.concurrent('Ctrl-C and Ctrl-Break, as on Windows, are the first and the second signal [cancel.second]', async () => {
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

test.concurrent.each<
  [string, Script, Record<string, string>, requests: number, outputs: object, next: RegExp]
>([
  ['while the job runs', RUNNING, GO, 3, { 'job-id': 'job-1', status: 'active' }, /job-id: job-1/],
  ['while a create is in flight', UNANSWERED, GO, 1, {}, MAY_EXIST],
  ['while a message is in flight', UNANSWERED, MORE, 1, { 'job-id': 'job-1' }, /job-id: job-1/],
  [
    'before the first poll',
    UNANSWERED,
    WAIT,
    1,
    { 'job-id': 'job-1', sent: 'nothing' },
    /re-run the workflow job: this step then sends nothing/,
  ],
])(
  'SIGKILL %s leaves what to do next [output.early] [cancel.killed]',
  async (_, script, inputs, requests, outputs, next) => {
    const ended = await runAgainst(script, inputs, { meanwhile: at(received(requests), 'SIGKILL') })
    expect(ended.exitCode).toBe(137)
    expect(ended.outputs).toMatchObject(outputs)
    expect(ended.summary).toMatch(next)
  },
)

test.concurrent.each<[string, Script, requests: number, code: string]>([
  ['while a create is in flight: its result is unknown', UNANSWERED, 1, 'create-unknown'],
  ['later: an internal error', RUNNING, 2, 'internal'],
])(
  'an uncaught exception %s, and its stack is in the debug lines [output.exit-code] [cancel.exception] [report.log.lines]',
  async (_, script, requests, code) => {
    const { env, press } = remoteControl()
    const meanwhile = async (_: Step, service: ScriptedService): Promise<void> => {
      await until(() => service.received.length >= requests)
      press('throw')
    }
    const ended = await runAgainst(script, GO, { env, meanwhile })
    expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': code })
    expect(ended.commands('error')).toHaveLength(1)
    expect(ended.log).toMatch(/^::debug::.*cause\b.*Error: boom$/m)
    expect(ended.exitCode).toBe(1)
  },
)
