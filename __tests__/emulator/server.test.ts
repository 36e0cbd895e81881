// The emulated service over real sockets: endpoints, job object, timing, faults.
import { once } from 'node:events'
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { startEmulator } from '../../emulator/server.mjs'

type Options = NonNullable<Parameters<typeof startEmulator>[0]>

// Nothing here waits for long, but a busy machine may.
jest.setTimeout(120_000)

const START = Date.UTC(2025, 0, 1)
const HEADERS = { authorization: 'Bearer mint_key', 'content-type': 'application/json' }
const UNKNOWN_ID = '00000000-0000-4000-8000-999999999999'

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

async function post(
  url: string,
  body: unknown = { prompt: 'Write.' },
  headers: Record<string, string> = HEADERS,
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return read(await fetch(url, { method: 'POST', headers, body: text }))
}

async function get(url: string, headers: Record<string, string> = HEADERS) {
  return read(await fetch(url, { headers }))
}

async function read(response: Response) {
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

/** Sends a path exactly as given, unlike fetch. */
async function sendRaw(base: string, method: string, path: string, headers: OutgoingHttpHeaders = HEADERS) {
  const { hostname, port } = new URL(base)
  const request = httpRequest({ hostname, port, method, path, headers, agent: false })
  request.end(method === 'POST' ? '{"prompt":"Write."}' : undefined)
  const [response] = await once(request, 'response')
  response.resume()
  return response.statusCode as number
}

describe('create', () => {
  test('answers 201 with an active job, with every field of the real service', async () => {
    const { jobs, emulator } = await start()
    const { status, headers, body } = await post(jobs)
    expect(status).toBe(201)
    expect(headers.get('content-type')).toBe('application/json')
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
    const ids = [(await post(jobs)).body.id, (await post(jobs)).body.id]
    expect([...emulator.jobs.keys()]).toEqual(ids)
    clock.now = START + 300_000
    const bodies = [await get(`${jobs}/${ids[0]}`), await get(`${jobs}/${ids[1]}`)].map(({ body }) => body)
    for (const values of [ids, bodies.map(({ prLink }) => prLink), bodies.map(({ source }) => source.ref)])
      expect(new Set(values).size).toBe(2)
  })

  test.each([
    ['invalid JSON', 'prompt', HEADERS],
    ['no body', '', HEADERS],
    ['null', 'null', HEADERS],
    ['no prompt', {}, HEADERS],
    ['an empty prompt', { prompt: '' }, HEADERS],
    ['a prompt that is not a string', { prompt: ['x'] }, HEADERS],
    ['another content type', { prompt: 'x' }, { ...HEADERS, 'content-type': 'text/plain' }],
  ])('answers 400 to %s, and creates no job', async (_, body, headers) => {
    const { jobs, emulator } = await start()
    const response = await post(jobs, body, headers)
    expect(response.status).toBe(400)
    expect(response.body).toStrictEqual({ error: expect.stringMatching(/prompt|JSON|Content-Type/) })
    expect(emulator.jobs.size).toBe(0)
  })

  test('accepts a content type with parameters, in any case', async () => {
    const { jobs } = await start()
    const headers = { ...HEADERS, 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await post(jobs, { prompt: 'x' }, headers)).status).toBe(201)
  })
})

const LINE = /^([\d.]+) s: (create|message|poll)(?: (\S+))? → (\d+)(.*)$/

/**
 * A test of what is sent when, and what comes back: the status and some fields. A poll and a message without an id are for
 * the first job.
 */
function story(name: string, options: Options, lines: readonly string[]): void {
  test(name, async () => {
    const { emulator, clock, jobs } = await start(options)
    for (const line of lines) {
      const [, at, what, given, status, rest = ''] = LINE.exec(line) ?? []
      clock.now = START + Number(at) * 1000
      const id = given ?? [...emulator.jobs.keys()][0]
      const url = what === 'create' ? jobs : `${jobs}/${id}${what === 'message' ? '/message' : ''}`
      const response = await (what === 'poll' ? get(url) : post(url))
      const fields = [...rest.matchAll(/([\w-]+)=(?:'(.*?)'|(\S+))/g)].map(
        ([, name = '', quoted, value]) => [name, value === 'null' ? null : (quoted ?? value)] as const,
      )
      const seen = { ...response.body, 'retry-after': response.headers.get('retry-after') }
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
story('timestamps are real at any speed, never in the future', { scenario: 'archived', speed: 60 }, [
  '60 s: create → 201',
  '120 s: poll → 200 createdAt=2025-01-01T00:01:00.000Z archivedAt=2025-01-01T00:01:04.000Z',
])
story('a message makes an ended job active for as long as a job takes, at any speed', { speed: 60 }, [
  '0 s: create → 201',
  '0 s: message → 200 status=active',
  '60 s: message → 200 status=active prLink=null',
  '63.999 s: poll → 200 status=active',
  `64 s: poll → 200 status=completed prLink=${PULL} createdAt=2025-01-01T00:00:00.000Z`,
])
const theirs = { initialJobs: [{ id: 'theirs', projectId: 'other', ageSeconds: 0 }] }
story('a job that does not exist, or is of another project, gets a 404', { scenario: theirs }, [
  `0 s: message ${UNKNOWN_ID} → 404 error='Job not found'`,
  "0 s: message theirs → 404 error='Job not found'",
  "0 s: poll theirs → 404 error='Job not found'",
])
const slowDown = { times: 2, status: 429, headers: { 'retry-after': '7' }, error: 'Slow down' }
story(
  'the first requests of a kind get its fault, then the ordinary response',
  { scenario: { create: [slowDown] } },
  [
    "0 s: create → 429 retry-after=7 error='Slow down'",
    "0 s: create → 429 retry-after=7 error='Slow down'",
    '0 s: create → 201 retry-after=null',
  ],
)
const busy = { message: [{}, { status: 409, error: 'Busy' }], poll: [{ status: 503, error: 'Later' }] }
story('each kind is counted separately, and an empty fault is the ordinary response', { scenario: busy }, [
  '0 s: create → 201',
  '0 s: poll → 503 error=Later',
  '0 s: poll → 200',
  '0 s: message → 200',
  '0 s: message → 409 error=Busy',
  '0 s: message → 200',
])
story('fields of the job can be replaced', { scenario: { poll: [{ job: { status: 'queued' } }] } }, [
  '0 s: create → 201',
  '0 s: poll → 200 status=queued',
  '0 s: poll → 200 status=active',
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
for (const [scenario, ...statuses] of [
  ['rate-limited', 429, 201],
  ['rate-limited-forever', 429, 429],
  ['unavailable', 503, 503],
  ['unauthorized', 401, 401],
] as const)
  story(
    `${scenario}: the create requests get ${statuses}`,
    { scenario },
    statuses.map((status) => `0 s: create → ${status}`),
  )
story('not-found: only one project exists, for every request', { scenario: 'not-found' }, [
  "0 s: create → 404 error='Project not found'",
  `0 s: message ${UNKNOWN_ID} → 404 error='Project not found'`,
  `0 s: poll ${UNKNOWN_ID} → 404 error='Project not found'`,
])

test('not-found: the project that exists can be used', async () => {
  const { jobs } = await start({ scenario: 'not-found' })
  const known = jobs.replace('/docs/', '/known-project/')
  const { status, body } = await post(known)
  expect([status, (await get(`${known}/${body.id}`)).status]).toEqual([201, 200])
})

test('prompts are kept, and a message without one gets a 400', async () => {
  const { jobs, emulator } = await start()
  const { id } = (await post(jobs)).body
  expect((await post(`${jobs}/${id}/message`, { prompt: 'More.' })).status).toBe(200)
  expect((await post(`${jobs}/${id}/message`, {})).status).toBe(400)
  expect(emulator.jobs.get(id)?.prompts).toEqual(['Write.', 'More.'])
})

describe('paths', () => {
  test('an id is one encoded segment', async () => {
    const { emulator } = await start()
    const { status, body } = await post(`${emulator.url}/v2/agent/a%2Fb%20c/job`)
    expect(status).toBe(201)
    expect(emulator.jobs.get(body.id)?.projectId).toBe('a/b c')
    expect((await get(`${emulator.url}/v2/agent/a%2fb%20c/job/${body.id}`)).status).toBe(200)
  })

  test.each([
    ['POST', '/v2/agent/../job'],
    ['POST', '/v2/agent/%2e%2E/job'],
    ['POST', '/v2/agent//job'],
    ['POST', '/v2/agent/%/job'],
    ['POST', '/v2/agent/docs/job/'],
    ['POST', '/v2/agent/docs/job?x=1'],
    ['POST', '/v2/agent/a/b/job'],
    ['POST', '/v1/agent/docs/job'],
    ['PUT', '/v2/agent/docs/job'],
    ['GET', '/v2/agent/docs/job'],
    ['GET', '/v2/agent/docs/job/..'],
    ['GET', '/v2/agent/docs/job/ID/message'],
    ['GET', '/v2/agent/docs/job/ID%2Fmessage'],
    ['POST', '/v2/agent/docs/job/ID'],
    ['DELETE', '/v2/agent/docs/job/ID'],
  ])('%s %s gets a 404 and does nothing', async (method, path) => {
    const { emulator, jobs } = await start()
    const { id } = (await post(jobs)).body
    expect(await sendRaw(emulator.url, method, path.replace('ID', id))).toBe(404)
    expect(emulator.jobs.size).toBe(1)
    expect(emulator.jobs.get(id)?.prompts).toEqual(['Write.'])
  })
})

test.each([
  ['no authorization', {}],
  ['another scheme', { authorization: 'Basic mint_key' }],
  ['no key', { authorization: 'Bearer ' }],
])('%s gets a 401', async (_, headers) => {
  const { jobs, emulator } = await start({ scenario: { create: [{ status: 503, error: 'Later' }] } })
  const { status, body } = await post(jobs, undefined, { 'content-type': 'application/json', ...headers })
  expect(status).toBe(401)
  expect(body).toStrictEqual({ error: 'Missing or invalid API key' })
  // The scenario had no part in it.
  expect(emulator.requests[0]?.fault).toEqual({})
  expect((await get(`${jobs}/${UNKNOWN_ID}`, headers)).status).toBe(401)
  expect(emulator.jobs.size).toBe(0)
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a reset %s the create request is processed leaves %d jobs', async (reset, count) => {
  const reported: unknown[] = []
  const onRequest: Options['onRequest'] = ({ status }) => reported.push(status)
  const { jobs, emulator } = await start({ scenario: { create: [{ reset }] }, onRequest })
  await expect(post(jobs)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
  expect(emulator.jobs.size).toBe(count)
  expect(emulator.requests).toMatchObject([{ method: 'POST', status: 'reset' }])
  expect(emulator.requests[0]?.jobId).toBe([...emulator.jobs.keys()][0])
  expect((await post(jobs)).status).toBe(201)
  expect(reported).toEqual(['reset', 201])
})

test('a delayed response takes this long in real time', async () => {
  const { jobs } = await start({ scenario: { create: [{ delayMs: 60 }] } })
  const before = performance.now()
  expect((await post(jobs)).status).toBe(201)
  expect(performance.now() - before).toBeGreaterThan(55)
})

describe('the logged requests', () => {
  test('have the request as it was received, and the response', async () => {
    const { emulator, clock, jobs } = await start()
    const { id } = (await post(jobs, { prompt: 'ä' })).body
    clock.now = START + 1500
    await get(`${emulator.url}/v2/agent/a%2Fb/job/${id}`)
    await get(`${emulator.url}/else`, {})
    expect(emulator.requests).toMatchObject([
      { at: 0, method: 'POST', path: '/v2/agent/docs/job', body: '{"prompt":"ä"}', status: 201, jobId: id },
      { at: 1500, method: 'GET', path: `/v2/agent/a%2Fb/job/${id}`, body: '', status: 404, jobId: id },
      { at: 1500, method: 'GET', path: '/else', status: 404, responseBody: { error: 'No such endpoint' } },
    ])
    expect(emulator.requests[0]?.headers).toMatchObject(HEADERS)
    expect(emulator.requests[2]).not.toHaveProperty('jobId')
  })
})

describe('close', () => {
  test('ends a request that waits for its response, and can be called twice', async () => {
    const { emulator, jobs } = await start({ scenario: { create: [{ delayMs: 3_600_000 }] } })
    const result = post(jobs).then(
      () => 'response',
      () => 'disconnected',
    )
    while (emulator.jobs.size === 0) await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([emulator.close(), emulator.close()])
    await emulator.close()
    expect(await result).toBe('disconnected')
    expect(emulator.requests).toMatchObject([{ status: 'none' }])
    await expect(post(jobs)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })
})
