/** The limits that take their time: all at once, since each only waits. */

import { expect, test } from '@jest/globals'
import { act } from '../support/action.js'
import { listen } from '../support/network.js'
import { startWorld } from '../support/pull-request.js'
import {
  type Answer,
  active,
  completed,
  created,
  job,
  json,
  LINK,
  opened,
  type Script,
  silence,
  startService,
} from '../support/service.js'

const MINUTES = 120_000

async function run(script: Script, inputs: Record<string, string>) {
  const service = await startService(script)
  const ended = await act({ 'base-url': service.url, 'timeout-minutes': '5', ...inputs }).finally(
    service.close,
  )
  return { ...ended, service, seconds: ended.milliseconds / 1000 }
}

/** The head of an answer at once, then a byte a second. */
const trickle: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 1_000)
  response.on('close', () => clearInterval(timer))
}

// Not in a `describe`: the tests of one block start together.
test.concurrent(
  'a create that is not answered within 60 s may have been taken',
  async () => {
    const { outputs, service, seconds, commands } = await run({ posts: [silence] }, { prompt: 'Go' })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'create-unknown' })
    expect(commands('error')[0]).toContain('60 s')
    expect(service.posts()).toHaveLength(1)
    expect(seconds).toBeGreaterThan(59)
    expect(seconds).toBeLessThan(75)
  },
  MINUTES,
)

test.concurrent.each([
  ['silence', silence],
  ['an answer that never ends', trickle],
] as const)(
  'a look that meets %s is given up after 30 s, and the next one counts',
  async (_, look) => {
    const { outputs, service, seconds } = await run(
      { posts: [created], looks: [look, completed] },
      { prompt: 'Go', 'poll-interval-seconds': '0.1' },
    )
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(service.looks()).toHaveLength(2)
    expect(seconds).toBeGreaterThan(30)
    expect(seconds).toBeLessThan(45)
  },
  MINUTES,
)

test.concurrent(
  'a connection that is not there within 10 s is tried again',
  async () => {
    let connections = 0
    const mute = await listen(() => void connections++)
    const { outputs, milliseconds } = await act({
      prompt: 'Go',
      'base-url': `https://localhost:${mute.port}`,
      'timeout-minutes': '0.25',
    })
    await mute.close()
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'network' })
    expect(connections).toBe(2)
    expect(milliseconds).toBeLessThan(17_000)
  },
  MINUTES,
)

test.concurrent(
  'a job that is not to be seen 30 s after its create is not found',
  async () => {
    const { outputs, seconds } = await run(
      { posts: [created], looks: [json(404, { error: 'No such job' })] },
      { prompt: 'Go' },
    )
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'not-found', 'job-id': 'job-1' })
    expect(seconds).toBeGreaterThan(30)
    expect(seconds).toBeLessThan(55)
  },
  MINUTES,
)

test.concurrent(
  'an end that is seen after a message settles within 30 s',
  async () => {
    const { outputs, seconds } = await run(
      { posts: [active], looks: [json(200, opened)] },
      { prompt: 'More', 'job-id': 'job-1' },
    )
    expect(outputs).toMatchObject({ outcome: 'pr-opened' })
    expect(seconds).toBeGreaterThan(29)
    expect(seconds).toBeLessThan(40)
  },
  MINUTES,
)

test.concurrent(
  'without an interval a job is looked at every 5 s, on one connection, with a heartbeat each minute',
  async () => {
    const { service, log, commands } = await run(
      {
        posts: [created],
        looks: [...Array.from({ length: 12 }, () => active), json(200, job({ status: 'completed' }))],
      },
      { prompt: 'Go' },
    )
    const times = service.received.map(({ at }) => at)
    const pauses = times.slice(1).map((at, nth) => at - (times[nth] as number))
    for (const pause of pauses) {
      expect(pause).toBeGreaterThan(4_900)
      expect(pause).toBeLessThan(9_000)
    }
    expect(service.connections()).toBe(1)
    expect(log).toMatch(/^Job "job-1" is still active after 1 min/m)
    expect(commands('error')).toEqual([])
  },
  MINUTES,
)

test.concurrent(
  'what decides is asked of GitHub again for a minute, then it ends before anything is sent',
  async () => {
    const world = await startWorld()
    const answer = { status: 502, body: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } }
    world.github.faults.push({ path: /comments/, times: Number.POSITIVE_INFINITY, answer })
    const inputs = { 'job-scope': 'pull-request', 'timeout-minutes': '5' }
    const { outputs, milliseconds } = await world.step(inputs).finally(world.close)
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    expect(milliseconds).toBeGreaterThan(45_000)
    expect(milliseconds).toBeLessThan(65_000)
    expect(world.emulator.requests).toEqual([])
  },
  MINUTES,
)
