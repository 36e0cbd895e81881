// The emulated service over real sockets: endpoints, job object, timing, faults.
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { startEmulator } from '../../emulator/server.mjs'
import { until } from '../support/time.js'

type Options = NonNullable<Parameters<typeof startEmulator>[0]>

// Nothing here waits for long, but a busy machine may.
jest.setTimeout(120_000)

const START = Date.UTC(2025, 0, 1)
const HEADERS = { authorization: 'Bearer mint_key', 'content-type': 'application/json' }
const UNKNOWN_ID = '00000000-0000-4000-8000-not-its-own'

const running: Awaited<ReturnType<typeof startEmulator>>[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()))
})

/** An emulator whose clock stands still until `clock.now` is changed. */
async function start(options: Options = {}) {
  const clock = { now: START }
  const emulator = await startEmulator({ now: () => clock.now, ...options })
  running.push(emulator)
  const jobs = `${emulator.url}/v2/agent/docs/job`
  return { emulator, clock, jobs }
}

interface Request {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: OutgoingHttpHeaders
}

/**
 * Sends a request, by default one with a prompt. Its path is sent exactly as given, unlike with
 * fetch.
 */
async function send(
  url: string,
  { method = 'POST', body = { prompt: 'Write.' }, headers = HEADERS }: Request = {},
) {
  const [, origin = '', path] = /^(http:\/\/[^/]+)(.*)$/.exec(url) ?? []
  const request = httpRequest(origin, { method, path, headers, agent: false })
  if (method === 'POST') request.write(typeof body === 'string' ? body : JSON.stringify(body))
  request.end()
  const [response]: IncomingMessage[] = await once(request, 'response')
  const { statusCode: status, headers: received } = response as IncomingMessage
  return { status, headers: received, body: JSON.parse(await text(response as IncomingMessage)) }
}
const get = (url: string) => send(url, { method: 'GET' })

describe('create [house.emulator]', () => {
  test('answers 201 with an active job, with every field of the real service [house.emulator]', async () => {
    const { jobs, emulator } = await start()
    const { status, headers, body } = await send(jobs)
    expect(status).toBe(201)
    expect(headers['content-type']).toBe('application/json')
    expect(body).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      status: 'active',
      source: { repository: 'https://github.com/your-org/docs', ref: 'docs-agent/17' },
      model: 'emulated',
      prLink: null,
      createdAt: '2025-01-01T00:00:00.000Z',
      archivedAt: null,
    })
    expect(emulator.jobs.get(body.id)).toMatchObject({ projectId: 'docs', prompts: ['Write.'] })
  })

  test('creates a new job each time, with a branch and a pull request of its own', async () => {
    const { jobs, clock, emulator } = await start()
    const ids = [(await send(jobs)).body.id, (await send(jobs)).body.id]
    expect([...emulator.jobs.keys()]).toEqual(ids)
    clock.now = START + 300_000
    const bodies = [(await get(`${jobs}/${ids[0]}`)).body, (await get(`${jobs}/${ids[1]}`)).body]
    for (const values of [
      ids,
      bodies.map(({ prLink }) => prLink),
      bodies.map(({ source }) => source.ref),
    ])
      expect(new Set(values).size).toBe(2)
  })

  test('answers with an active job however short it is', async () => {
    let ticks = START
    const { jobs } = await start({ now: () => ticks++, jobSeconds: 0.001 })
    const { status, id } = (await send(jobs)).body
    expect(status).toBe('active')
    expect((await send(`${jobs}/${id}/message`)).body.status).toBe('active')
  })
})

const PATH = '/v2/agent/docs/job'
const json = { 'content-type': 'application/json' }
const BAD_REQUEST = [400, /prompt|JSON|Content-Type/] as const
const UNAUTHORIZED = [401, /^Missing or invalid API key$/] as const
const NO_SUCH = [404, /^(?:No such endpoint|Job not found)$/] as const
const NO_ENDPOINTS = [
  ...[
    'POST /v2/agent/../job',
    'POST /v2/agent/%2e%2E/job',
    'POST /v2/agent//job',
    'POST /v2/agent/%/job',
  ],
  ...[`POST ${PATH}/`, `POST ${PATH}?x=1`, 'POST /v2/agent/a/b/job', 'POST /v1/agent/docs/job'],
  ...[`GET ${PATH}`, `GET ${PATH}/..`, `GET ${PATH}/ID/message`, `GET ${PATH}/ID%2Fmessage`],
  ...[`POST ${PATH}/ID`, `PUT ${PATH}`, `DELETE ${PATH}/ID`],
]
type Refused = [
  what: string,
  Request,
  path: string,
  answer: readonly [status: number, error: RegExp],
]
test.each<Refused>([
  ['invalid JSON', { body: 'prompt' }, PATH, BAD_REQUEST],
  ['no body', { body: '' }, PATH, BAD_REQUEST],
  ['null', { body: 'null' }, PATH, BAD_REQUEST],
  ['no prompt', { body: {} }, PATH, BAD_REQUEST],
  ['a message without a prompt', { body: {} }, `${PATH}/ID/message`, BAD_REQUEST],
  ['an empty prompt', { body: { prompt: '' } }, PATH, BAD_REQUEST],
  ['a prompt that is not a string', { body: { prompt: ['x'] } }, PATH, BAD_REQUEST],
  ['another type', { headers: { ...HEADERS, 'content-type': 'text/plain' } }, PATH, BAD_REQUEST],
  ['no authorization', { headers: json }, PATH, UNAUTHORIZED],
  ['no authorization of a poll', { method: 'GET', headers: json }, `${PATH}/ID`, UNAUTHORIZED],
  ['another scheme', { headers: { ...json, authorization: 'Basic mint_key' } }, PATH, UNAUTHORIZED],
  ['no key', { headers: { ...json, authorization: 'Bearer ' } }, PATH, UNAUTHORIZED],
  ...NO_ENDPOINTS.map((line): Refused => {
    const [method = '', path = ''] = line.split(' ')
    return [line, { method }, path, NO_SUCH]
  }),
])(
  '%s is refused, and does nothing [house.emulator]',
  async (_, request, path, [status, error]) => {
    const { emulator, jobs } = await start({
      scenario: { create: [{}, { status: 503, error: 'Later' }] },
    })
    const { id } = (await send(jobs)).body
    const answer = await send(`${emulator.url}${path.replace('ID', id)}`, request)
    expect(answer).toMatchObject({ status, body: { error: expect.stringMatching(error) } })
    expect(emulator.jobs.size).toBe(1)
    expect(emulator.jobs.get(id)?.prompts).toEqual(['Write.'])
    // The scenario had no part in it.
    expect(emulator.requests[1]?.fault).toEqual({})
  },
)

const LINE = /^([\d.]+) s: (create|message|poll)(?: (\S+))? → (\d+)(.*)$/

/**
 * A test of what is sent when, and what comes back: the status and some fields. A poll and a
 * message without an id are for the first job.
 */
function story(name: string, options: Options, lines: readonly string[]): void {
  test(`${name} [house.emulator]`, async () => {
    const { emulator, clock, jobs } = await start(options)
    for (const line of lines) {
      const [, at, what, given, status, rest = ''] = LINE.exec(line) ?? []
      clock.now = START + Number(at) * 1000
      const id = given ?? [...emulator.jobs.keys()][0]
      const url = what === 'create' ? jobs : `${jobs}/${id}${what === 'message' ? '/message' : ''}`
      const response = await send(url, what === 'poll' ? { method: 'GET' } : {})
      const fields = [...rest.matchAll(/([\w-]+)=(?:'(.*?)'|(\S+))/g)].map(
        ([, name = '', quoted, value]) =>
          [name, value === 'null' ? null : (quoted ?? value)] as const,
      )
      const seen = { ...response.body, 'retry-after': response.headers['retry-after'] ?? null }
      expect({ line, status: response.status, seen }).toMatchObject({
        line,
        status: Number(status),
        seen: Object.fromEntries(fields),
      })
    }
  })
}

const PULL = 'https://github.com/your-org/docs/pull/17'

story('a job is active until its end, then has a pull request', {}, [
  '0 s: create → 201 status=active createdAt=2025-01-01T00:00:00.000Z',
  '239.999 s: poll → 200 status=active prLink=null',
  `240 s: poll → 200 status=completed prLink=${PULL} createdAt=2025-01-01T00:00:00.000Z`,
])
story('a job takes jobSeconds, divided by speed', { jobSeconds: 60, speed: 10 }, [
  '0 s: create → 201',
  '5.999 s: poll → 200 status=active',
  '6 s: poll → 200 status=completed',
])
story(
  'timestamps are real at any speed, never in the future',
  { scenario: 'archived', speed: 60 },
  [
    '60 s: create → 201',
    '120 s: poll → 200 createdAt=2025-01-01T00:01:00.000Z archivedAt=2025-01-01T00:01:04.000Z',
  ],
)
story(
  'a message makes an ended job active for as long as a job takes, at any speed',
  { speed: 60 },
  [
    '0 s: create → 201',
    '0 s: message → 200 status=active',
    '60 s: message → 200 status=active prLink=null',
    '63.999 s: poll → 200 status=active',
    `64 s: poll → 200 status=completed prLink=${PULL} createdAt=2025-01-01T00:00:00.000Z`,
  ],
)
const theirs = { initialJobs: [{ id: 'theirs', projectId: 'other', ageSeconds: 0 }] }
story('a job that does not exist, or is of another project, gets a 404', { scenario: theirs }, [
  `0 s: message ${UNKNOWN_ID} → 404 error='Job not found'`,
  "0 s: message theirs → 404 error='Job not found'",
  "0 s: poll theirs → 404 error='Job not found'",
])
const initialJobs = [
  { id: 'ended', projectId: 'docs', ageSeconds: 240 },
  { id: 'running', projectId: 'docs', ageSeconds: 60 },
]
story(
  'an initial job is as old as it says, and speed shortens only the rest of it',
  { speed: 60, scenario: { endStatus: 'archived', initialJobs } },
  [
    '0 s: poll ended → 200 createdAt=2024-12-31T23:56:00.000Z archivedAt=2025-01-01T00:00:00.000Z',
    '2.999 s: poll running → 200 status=active createdAt=2024-12-31T23:59:00.000Z',
    '3 s: poll running → 200 status=archived archivedAt=2025-01-01T00:00:03.000Z',
  ],
)

test('a job of an earlier emulator has ended, and takes a message [house.emulator]', async () => {
  const earlier = await start()
  await send(earlier.jobs)
  const { id } = (await send(earlier.jobs)).body
  earlier.clock.now += 300_000
  const { body } = await get(`${earlier.jobs}/${id}`)
  const { jobs } = await start()
  const now = (await get(`${jobs}/${id}`)).body
  expect([now.status, now.prLink]).toEqual(['completed', body.prLink])
  expect((await send(`${jobs}/${id}/message`)).body.status).toBe('active')
  const ids = [(await send(jobs)).body.id, (await send(jobs)).body.id]
  expect(new Set([id, ...ids]).size).toBe(3)
})

test('a key is refused before a docs job is looked up [house.emulator]', async () => {
  const { jobs } = await start({ scenario: 'unauthorized' })
  expect((await get(`${jobs}/unknown`)).status).toBe(401)
})

test('an id is one encoded segment of the path [house.emulator]', async () => {
  const { emulator } = await start()
  const { status, body } = await send(`${emulator.url}/v2/agent/a%2Fb%20c/job`)
  expect(status).toBe(201)
  expect(emulator.jobs.get(body.id)?.projectId).toBe('a/b c')
  expect((await get(`${emulator.url}/v2/agent/a%2fb%20c/job/${body.id}`)).status).toBe(200)
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)(
  'a reset %s the create request is processed leaves %d jobs [house.emulator]',
  async (reset, count) => {
    const reported: unknown[] = []
    const onRequest: Options['onRequest'] = ({ status }) => reported.push(status)
    const { jobs, emulator } = await start({ scenario: { create: [{ reset }] }, onRequest })
    await expect(send(jobs)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(emulator.jobs.size).toBe(count)
    expect(emulator.requests).toMatchObject([{ method: 'POST', status: 'reset' }])
    expect(emulator.requests[0]?.jobId).toBe([...emulator.jobs.keys()][0])
    expect((await send(jobs)).status).toBe(201)
    expect(reported).toEqual(['reset', 201])
  },
)

test('close ends a request that waits for its response, and can be called twice [house.emulator]', async () => {
  const { emulator, jobs } = await start({ scenario: { create: [{ delayMs: 3_600_000 }] } })
  const result = send(jobs).catch(() => 'disconnected')
  await until(() => emulator.jobs.size > 0)
  await Promise.all([emulator.close(), emulator.close()])
  await emulator.close()
  expect(await result).toBe('disconnected')
  expect(emulator.requests).toMatchObject([{ status: 'none' }])
  await expect(send(jobs)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
