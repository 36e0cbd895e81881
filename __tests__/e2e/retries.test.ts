/**
 * What is retried and what never, and what is said of it, against a service that misbehaves. unit/verdict has a row for
 * each status, unit/poll and unit/send have the times; network.test.ts does the like with the bundle.
 */

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { onPullRequest } from '../support/remembered.js'
import {
  active,
  completed,
  created,
  cutOff,
  type Handler,
  job,
  json,
  LINK,
  noContent,
  opened,
  reset,
  type Script,
  sized,
  startService,
} from '../support/service.js'
import { tellAgainst } from '../support/story.js'
import { until } from '../support/time.js'

interface Expected {
  readonly posts: number
  readonly outcome: string
  readonly code?: string
  /** Parts of the one error. */
  readonly says?: readonly string[]
}

const MIB = 1024 * 1024
const afterSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString()
const limited = (headers: Record<string, string>): Handler => json(429, { error: 'Slow down' }, headers)
const retryAfter = (seconds: number) => ({ 'retry-after': String(seconds) })
const busy = json(409, { error: 'Busy' }, retryAfter(1))
const html: Handler = (response) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>Bad gateway</h1></html>')

const accepted: Expected = { posts: 1, outcome: 'pr-opened' }
const afterRetries = (posts: number): Expected => ({ ...accepted, posts })
const failed = (code: string, ...says: string[]): Expected => ({ posts: 1, outcome: 'error', code, says })
const unknown = (...says: string[]): Expected => failed('create-unknown', ...says)

/** Runs a step that makes every request of the script, the last poll perhaps more often. */
async function expectRun(
  script: Script,
  inputs: Record<string, string>,
  { posts, outcome, code = '', says = [] }: Expected,
): Promise<string> {
  const { service, outputs, exitCode, commands, log } = await tellAgainst(script, inputs)
  const exit = outcome === 'pr-opened' ? 0 : 1
  expect({
    posts: service.posts().length,
    outcome: outputs.outcome,
    code: outputs['error-code'],
    link: outputs['pr-link'],
    exit: exitCode,
    errors: commands('error').length,
  }).toEqual({ posts, outcome, code, link: exit === 0 ? LINK : '', exit, errors: exit })
  if (outcome === 'pr-opened') expect(service.polls()).toHaveLength(script.polls?.length ?? 0)
  for (const part of says) expect(commands('error')[0]).toContain(part)
  return log
}

const gzipped =
  (bytes: Buffer): Handler =>
  (response) =>
    void response.writeHead(201, { 'content-encoding': 'gzip' }).end(bytes)

/** A body that only the end of the connection delimits. */
const undelimited =
  (end: 'end' | 'reset'): Handler =>
  ({ req: { socket } }) =>
    void socket.write(
      `HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(job())}`,
      () => (end === 'end' ? socket.end() : setTimeout(() => socket.resetAndDestroy(), 100)),
    )

describe('a create', () => {
  const mayExist = 'A job may exist'
  const rows: [string, readonly Handler[], Expected][] = [
    [
      '200 with id and status only, not of the list: accepted',
      [json(200, { id: 'job-1', status: '?' })],
      accepted,
    ],
    [
      '201 of exactly 1 MiB, with new fields and others of a wrong type: accepted',
      [sized(201, MIB, { source: 7, prLink: 3, new: [{}] })],
      accepted,
    ],
    ['gzip that was not asked for: accepted', [gzipped(gzipSync(JSON.stringify(job())))], accepted],
    ['what is called gzip, and is none: accepted', [gzipped(Buffer.from(JSON.stringify(job())))], accepted],
    ['a body up to an ordinary end: accepted', [undelimited('end')], accepted],
    ['a body up to a reset: never', [undelimited('reset')], unknown(mayExist)],
    ['gzip that is cut off: never', [gzipped(gzipSync('x'.repeat(1000)).subarray(0, 20))], unknown(mayExist)],
    ['gzip of over 1 MiB: never', [gzipped(gzipSync('x'.repeat(MIB + 1)))], unknown(mayExist)],
    ['a response over 1 MiB: never', [sized(201, MIB + 1)], unknown(mayExist, '1 MiB')],
    ['a response that is cut off: never', [cutOff], unknown(mayExist)],
    ['a reset after the request: never', [reset], unknown(mayExist)],
    ['502 with HTML: never', [html], unknown(mayExist, '502: "Bad gateway"')],
    [
      '503 with Retry-After: never',
      [json(503, { error: 'Busy' }, retryAfter(1))],
      unknown(mayExist, '503: "Busy"'),
    ],
    [
      '429 with seconds, with a date, with neither: after these, and with backoff',
      [limited(retryAfter(1)), limited({ 'retry-after': afterSeconds(3) }), limited({}), created],
      afterRetries(4),
    ],
    [
      '429 past the deadline: final',
      [limited(retryAfter(3600))],
      failed('rate-limited', '429: "Slow down"', '1 h'),
    ],
    ['401: final', [json(401, { error: 'Invalid key' })], failed('auth', '401: "Invalid key"', 'api-key')],
    ['400: final', [json(400, { error: 'Too dull' })], failed('rejected', '400: "Too dull"')],
    [
      '404: final',
      [json(404, { error: 'No project' })],
      failed('not-found', '404: "No project"', 'project-id'),
    ],
    ['204: never', [noContent], failed('contract', mayExist)],
    ['200 that is not JSON: never', [json(200, 'Welcome!')], failed('contract', mayExist, 'Welcome!')],
    ['an id that is no path segment: never', [json(200, job({ id: '..' }))], failed('contract', mayExist)],
  ]
  test.each(rows)('%s', async (_, posts, expected) => {
    await expectRun({ posts, polls: [completed] }, { prompt: 'Go' }, expected)
  })
})

describe('a message', () => {
  const late = json(409, { error: 'Busy' }, retryAfter(600))
  const rows: [string, readonly Handler[], Expected][] = [
    ['204: accepted', [noContent], accepted],
    ['200 that is not JSON: accepted', [json(200, 'ok')], accepted],
    ['409, the job is busy, and 429: retried', [busy, limited(retryAfter(1)), active], afterRetries(3)],
    ['409 past the deadline: final', [late], failed('rejected', '409: "Busy"')],
    ['a reset after the request: never', [reset], unknown('"job-1"')],
    [
      '404: final',
      [json(404, { error: 'No such job' })],
      failed('not-found', '404: "No such job"', 'job-id'),
    ],
    ['410: final', [json(410, { error: 'Gone' })], failed('rejected', '410: "Gone"')],
  ]
  test.each(rows)('%s', async (_, posts, expected) => {
    const inputs = { prompt: 'Go on', 'job-id': 'job-1' }
    await expectRun({ posts, polls: [active, completed] }, inputs, expected)
  })
})

describe('a poll', () => {
  const boom = { error: 'Boom' }
  const endless: Handler = (response) =>
    void response.writeHead(200, { 'content-length': MIB + 1 }).write('{')
  const other = json(200, { ...opened, id: 'job-2' })
  const rows: [string, readonly Handler[], Expected][] = [
    [
      'resets and responses that are cut off, over 1 MiB or announced so: retried',
      [reset, cutOff, active, sized(200, MIB + 1), endless, completed],
      accepted,
    ],
    [
      '404 right after the create, 408, 425, 429, 500, 502, 503: retried',
      [
        ...[json(404, boom), json(404, boom), active, json(408, ''), json(425, ''), active],
        ...[
          limited(retryAfter(1)),
          json(500, boom),
          active,
          json(502, '<b>x</b>'),
          json(503, boom, retryAfter(1)),
          completed,
        ],
      ],
      accepted,
    ],
    [
      'no job or another one twice in a row, a status that is not in the list: retried',
      [
        ...[noContent, json(200, 'null'), active, json(200, {}), json(200, '{'), active, other, other],
        ...[json(200, job({ status: 'thinking' })), json(200, job({ status: 'resting' })), completed],
      ],
      accepted,
    ],
    ['401: final', [json(401, { error: 'Expired' })], failed('auth', '401: "Expired"', 'job-id: job-1')],
    ['no job three times in a row: final', [json(200, 'hello')], failed('contract')],
    ['another job three times in a row: final', [other], failed('contract')],
  ]
  test.each(rows)('%s', async (_, polls, expected) => {
    await expectRun({ posts: [created], polls }, { prompt: 'Go' }, expected)
  })

  const missing = json(404, { error: 'No such job' })
  const page: Handler = (response) => response.writeHead(404).end('<html><h1>404 Not Found</h1></html>')
  const text: Handler = (response) => response.writeHead(404).end('default backend - 404')
  test.each<[string, readonly Handler[], Expected]>([
    ['404 three times, in whatever words: retried', [page, text, missing, completed], accepted],
    ['404 four times: final', [missing], failed('not-found', '404: "No such job"', 'job-id', 'project-id')],
    ['no response until the deadline', [reset], failed('network', 'never answered')],
  ])('of a job that was given: %s', async (_, polls, expected) => {
    const inputs = { 'job-id': 'job-1', 'timeout-minutes': '0.3' }
    await expectRun({ polls }, inputs, { ...expected, posts: 0 })
  })

  test('that does not show the job leaves nothing that says that the job is running', () => {
    const unavailable = json(503, { error: 'upstream connect error' }, retryAfter(600))
    return onPullRequest({ posts: [created], polls: [active, unavailable] }, async ({ step, world }) => {
      const { outputs, commands, summary } = await step(
        {},
        {
          meanwhile: async ({ lines, cancel }) => {
            await until(() => lines.some((line) => /503.* Retrying/.test(line)))
            cancel()
          },
        },
      )
      expect(outputs).toMatchObject({ outcome: 'cancelled', status: 'active', 'job-id': 'job-1' })
      for (const text of [...commands('error'), summary, ...world.comments()]) {
        expect(text).not.toMatch(/\bis (?:still )?(?:running|active)|keeps running/i)
        expect(text).toMatch(/when last seen, .* ago; since then: .*503/)
      }
    })
  })

  test('tells a refusal in its own words, in whatever it is wrapped', async () => {
    const page = (style: string): string => `<!DOCTYPE html><head>${style}</head><h1>Bad <b>request</b></h1>`
    const bodies: [string, string][] = [
      ['{"message":"length must be <= 10 and >= 1"}', 'length must be <= 10 and >= 1'],
      ['{"error":"","message":"over quota"}', 'over quota'],
      ['{"error":"a < b and c > d"}', '503: "a < b and c > d"'],
      ['a < b and c > d or e', '503: "a < b and c > d or e"'],
      [page(`<style>${'p { color: red }'.repeat(500)}</style>`), '503: "Bad request"'],
      [page(`<style>${'p { color: red }'.repeat(5_000)}`), '503 with an empty response'],
    ]
    const polls = [...bodies.flatMap(([body]) => [json(503, body), active]), completed]
    const log = await expectRun({ posts: [created], polls }, { prompt: 'Go' }, accepted)
    for (const [, words] of bodies) expect(log).toContain(words)
  })
})

describe('a response that is complete', () => {
  test('counts even if the connection before it broke', async () => {
    const broken: Handler = (response) => {
      created(response)
      response.req.socket.end('no response')
    }
    const closed: Handler = ({ req: { socket } }) =>
      void socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(opened)}`)
    await expectRun({ posts: [broken], polls: [closed] }, { prompt: 'Go' }, accepted)
  })

  test('may have a link that is not passed on; nobody is told that there is no pull request', async () => {
    const linked = json(200, { ...opened, prLink: 'https://example.com/$(id)' })
    const { outputs, log, summary } = await tellAgainst(
      { posts: [created], polls: [linked] },
      { prompt: 'Go' },
    )
    expect(outputs).toMatchObject({ outcome: 'no-changes', 'pr-link': '' })
    expect(log + summary).not.toContain('without a pull request')
    expect(log).toContain("Its pull request link was dropped, because it can't be passed on safely")
  })

  test('may have an id and a link that begin or end as the key begins', async () => {
    const prLink = 'https://github.com/acmedocs/docs/tree/acmedocs'
    const id = 'acmedocs'
    const script = { posts: [json(201, job({ id }))], polls: [json(200, { ...opened, id, prLink })] }
    const inputs = { prompt: 'Go', 'project-id': id, 'api-key': 'acmedocs_4f3a9be2' }
    const { outputs, commands } = await tellAgainst(script, inputs)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': id, 'pr-link': prLink })
    expect(commands('warning')).toEqual([])
  })
})

// One of each kind: a client may send a POST again as a GET (303, which says that it is done), or as it is (308).
test.each([
  ['303 for a create', 303, 'post', unknown('A job may exist', '303')],
  ['308 for a create', 308, 'post', failed('contract', 'redirect', '308')],
  ['307 for a poll', 307, 'poll', failed('contract', 'redirect', '307')],
] as const)('a redirect is final, and the other host never sees the key: %s', async (_, status, of, end) => {
  const other = await startService({ posts: [created], polls: [json(200, opened)] })
  const away = json(status, '', { location: `${other.url}/v2/agent/docs/job` })
  const script = of === 'post' ? { posts: [away] } : { posts: [created], polls: [away] }
  await expectRun(script, { prompt: 'Go' }, end).finally(other.close)
  expect(other.received).toEqual([])
})
