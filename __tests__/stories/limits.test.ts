/** The limits that take long: of a request, between two polls, and between two lines of the log. */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import {
  active,
  completed,
  created,
  type Handler,
  job,
  json,
  later,
  opened,
  reset,
  silence,
} from '../support/service.js'
import { type Telling, tellAgainst } from '../support/story.js'

const SECOND = 1_000
const GO = { prompt: 'Go' }

/** The head of a response immediately, then a byte per second. */
const trickle: Handler = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), SECOND)
  response.on('close', () => clearInterval(timer))
}

test('a create without a response within 60 s may have been accepted [net.limits] [send.unknown]', async () => {
  const { outputs, milliseconds, commands } = await tellAgainst({ posts: [silence] }, GO)
  expect(outputs['error-code']).toBe('create-unknown')
  expect(Math.floor(milliseconds / SECOND)).toBe(60)
  expect(commands('error')[0]).toContain(': no complete response within 60 s.')
})

test.each<[string, Handler, seconds: number, outputs: object]>([
  ['a response has the job', later(9 * SECOND, created), 9, { 'job-id': 'job-1', sent: 'job' }],
  ['none is unknown', silence, 11, { 'job-id': '', 'error-code': 'create-unknown' }],
])(
  'a create in flight at the deadline, or when the step is cancelled, gets 5 s: %s [cancel.in-flight] [output.timed-out]',
  async (_, create, seconds, expected) => {
    const meanwhile = ({ cancel }: Telling) => sleep(6 * SECOND).then(cancel)
    for (const [limit, options] of [['0.1'], ['30', { meanwhile }]] as const) {
      const inputs = { ...GO, 'timeout-minutes': limit }
      const ended = await tellAgainst({ posts: [create], polls: [active] }, inputs, options)
      expect(ended.outputs).toMatchObject(expected)
      expect(ended.outputs.outcome === 'cancelled').toBe(limit === '30')
      expect(Math.floor(ended.milliseconds / SECOND)).toBe(seconds)
      expect([ended.exitCode, ended.commands('error').length]).toEqual([1, 1])
    }
  },
)

test.each<[string, Handler]>([
  ['no response', silence],
  ['a response that never ends', trickle],
])(
  'a poll with %s is given up after 30 s, and the next one counts [net.limits]',
  async (_, poll) => {
    const { outputs, service } = await tellAgainst(
      { posts: [created], polls: [poll, completed] },
      GO,
    )
    expect(outputs.outcome).toBe('pr-opened')
    const [first = 0, second = 0] = service.polls().map(({ at }) => at)
    expect(Math.floor((second - first) / SECOND)).toBe(30)
  },
)

test('a service that has responded once, and only that, is not given up before the deadline [poll.dead-address]', async () => {
  const { outputs } = await tellAgainst(
    { posts: [created], polls: [reset] },
    { ...GO, 'timeout-minutes': '4' },
  )
  expect(outputs.outcome).toBe('timed-out')
  const never = await tellAgainst({ polls: [reset] }, { 'job-id': 'job-1', 'timeout-minutes': '4' })
  expect(never.outputs['error-code']).toBe('network')
})

test('a response that comes in pieces, with a pause, is read whole [net.limits]', async () => {
  const pieces: Handler = (response) => {
    response.writeHead(201, { 'content-type': 'application/json' })
    response.write('{"id": "job-1", ')
    setTimeout(() => response.end('"status": "active"}'), 50 * SECOND)
  }
  const { outputs } = await tellAgainst({ posts: [pieces], polls: [completed] }, GO)
  expect(outputs.outcome).toBe('pr-opened')
})

test('a job is polled every 5 s or so, on one connection, with a heartbeat each minute [poll.interval] [net.post.new-connection] [report.log.lines]', async () => {
  const polls = [...Array<Handler>(12).fill(active), completed]
  const { service, log } = await tellAgainst(
    { posts: [created], polls },
    { ...GO, 'poll-interval-seconds': '' },
  )
  const times = service.polls().map(({ at }) => at)
  for (const [nth, at] of times.slice(1).entries()) {
    expect(at - (times[nth] ?? 0)).toBeGreaterThan(4.5 * SECOND)
    expect(at - (times[nth] ?? 0)).toBeLessThan(8 * SECOND)
  }
  expect(service.connections()).toBe(1)
  expect(log.match(/^After .*: docs job "job-1" is still running\.$/gm)).toHaveLength(1)
  expect(log.match(/^Docs job "job-1": /gm)).toHaveLength(2) // One at each change.
})

test('each request asks for plain JSON with the key, where base-url and the encoded IDs say, and is told in a line [net.limits] [net.user-agent] [secret.key.where] [input.base-url] [input.id] [report.log.lines]', async () => {
  const id = 'a:b@c=d+e,f~g'
  const segment = 'a%3Ab%40c%3Dd%2Be%2Cf~g'
  const posts = [json(201, job({ id }), { 'x-request-id': 'req-1.7' })]
  const poll: Handler = (response) =>
    json(200, { ...opened, id })(response.setHeader('cf-ray', 'no id'))
  const inputs = { ...GO, 'project-id': id }
  const { service, log, outputs } = await tellAgainst({ posts, polls: [poll] }, inputs)
  expect(outputs['job-id']).toBe(id)
  const asked = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'agent-job-action',
    authorization: expect.stringMatching(/^Bearer ./),
  }
  for (const { headers } of service.received) expect(headers).toMatchObject(asked)
  const jobs = `/v2/agent/${segment}/job`
  expect(service.received.map(({ path }) => path)).toEqual([jobs, `${jobs}/${segment}`])
  expect(log.match(/^POST \S+ 201 \(req-1\.7\) \d{1,3} ms$|^GET \S+ 200 \d+ ms$/gm)).toEqual([
    expect.stringContaining(`${jobs} `),
    expect.stringContaining(`${jobs}/${segment} `),
  ])
})
