/** What is retried and what never: the bundle against a service that misbehaves, one row of the contract per test. */

import { describe, expect, test } from '@jest/globals'
import { runAgainst } from '../support/action.js'
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
import { minutes, shortDeadline } from '../support/time.js'

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
const busy = json(409, { error: 'Busy' }, { 'retry-after': '1' })
const html: Handler = (response) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>Bad gateway</h1></html>')

const accepted: Expected = { posts: 1, outcome: 'pr-opened' }
const retriedOnce: Expected = { posts: 2, outcome: 'pr-opened' }
const failed = (code: string, ...says: string[]): Expected => ({ posts: 1, outcome: 'error', code, says })
const unknown = (...says: string[]): Expected => failed('create-unknown', ...says)

async function expectRun(
  script: Script,
  inputs: Record<string, string>,
  { posts, outcome, code = '', says = [] }: Expected,
): Promise<void> {
  const { service, outputs, exitCode, commands } = await runAgainst(script, inputs)
  const exit = outcome === 'pr-opened' ? 0 : 1
  expect({
    posts: service.posts().length,
    outcome: outputs.outcome,
    code: outputs['error-code'],
    link: outputs['pr-link'],
    exit: exitCode,
    errors: commands('error').length,
  }).toEqual({ posts, outcome, code, link: exit === 0 ? LINK : '', exit, errors: exit })
  for (const part of says) expect(commands('error')[0]).toContain(part)
}

describe('a create', () => {
  const mayExist = 'A job may exist'
  const rows: [string, readonly Handler[], Expected][] = [
    ['200 with a job: accepted', [json(200, job())], accepted],
    ['a job with id and status only: accepted', [json(201, { id: 'job-1', status: 'active' })], accepted],
    [
      'a job with new fields and others of a wrong type: accepted',
      [json(201, job({ source: 7, prLink: 3, new: [{}] }))],
      accepted,
    ],
    ['a status that is not in the list: accepted', [json(201, job({ status: 'queued' }))], accepted],
    ['a response of exactly 1 MiB: accepted', [sized(201, MIB)], accepted],
    ['a response over 1 MiB: never', [sized(201, MIB + 1)], unknown(mayExist, '1 MiB')],
    ['a response that is cut off: never', [cutOff], unknown(mayExist)],
    ['a reset after the request: never', [reset], unknown(mayExist)],
    ['502 with HTML: never', [html], unknown(mayExist, '502: Bad gateway')],
    [
      '503 with Retry-After: never',
      [json(503, { error: 'Busy' }, { 'retry-after': '1' })],
      unknown(mayExist, '503: Busy'),
    ],
    ['504 with an empty body: never', [json(504, '')], unknown(mayExist)],
    ['429 with seconds: after these', [limited({ 'retry-after': '1' }), created], retriedOnce],
    ['429 with a date: after this', [limited({ 'retry-after': afterSeconds(2) }), created], retriedOnce],
    ['429 without Retry-After: with backoff', [limited({}), limited({}), created], { ...accepted, posts: 3 }],
    [
      '429 past the deadline: final',
      [limited({ 'retry-after': '3600' })],
      failed('rate-limited', '429: Slow down', '1 h'),
    ],
    ['401: final', [json(401, { error: 'Invalid key' })], failed('auth', '401: Invalid key', 'api-key')],
    ['403: final', [json(403, { error: 'Not from here' })], failed('auth', '403: Not from here')],
    ['400: final', [json(400, { error: 'Too dull' })], failed('rejected', '400: Too dull')],
    [
      '404: final',
      [json(404, { error: 'No such project' })],
      failed('not-found', '404: No such project', 'project-id'),
    ],
    ['409: final', [json(409, { error: 'Conflict' })], failed('rejected')],
    ['204: never', [noContent], failed('contract', mayExist)],
    ['200 that is not JSON: never', [json(200, 'Welcome!')], failed('contract', mayExist, 'Welcome!')],
    ['200 without an id: never', [json(200, { status: 'active' })], failed('contract', mayExist)],
    [
      '200 with an id that is not a path segment: never',
      [json(200, job({ id: '..' }))],
      failed('contract', mayExist),
    ],
  ]
  test.concurrent.each(rows)('%s', (_, posts, expected) =>
    expectRun({ posts, polls: [completed] }, { prompt: 'Go' }, expected),
  )
})

describe('a message', () => {
  const rows: [string, readonly Handler[], Expected][] = [
    ['200 with the job: accepted', [active], accepted],
    ['204: accepted', [noContent], accepted],
    ['200 that is not JSON: accepted', [json(200, 'ok')], accepted],
    ['409, the job is busy: retried', [busy, active], retriedOnce],
    [
      '409 past the deadline: final',
      [json(409, { error: 'Busy' }, { 'retry-after': '600' })],
      failed('rejected', '409: Busy'),
    ],
    ['429: retried', [limited({ 'retry-after': '1' }), active], retriedOnce],
    ['a reset after the request: never', [reset], unknown('"job-1"')],
    ['404: final', [json(404, { error: 'No such job' })], failed('not-found', '404: No such job', 'job-id')],
  ]
  test.concurrent.each(rows)('%s', (_, posts, expected) =>
    expectRun({ posts, polls: [active, completed] }, { prompt: 'Go on', 'job-id': 'job-1' }, expected),
  )
})

describe('a poll', () => {
  const failing = { error: 'Boom' }
  const rows: [string, readonly Handler[], Expected][] = [
    ['a reset: retried', [reset, completed], accepted],
    ['a response that is cut off: retried', [cutOff, completed], accepted],
    ['a response over 1 MiB: retried', [sized(200, MIB + 1), completed], accepted],
    [
      'a response with a content-length over 1 MiB, never sent: retried immediately',
      [(response) => void response.writeHead(200, { 'content-length': MIB + 1 }).write('{'), completed],
      accepted,
    ],
    [
      '500, 502, 503: retried',
      [json(500, failing), json(502, '<b>x</b>'), json(503, failing, { 'retry-after': '1' }), completed],
      accepted,
    ],
    ['429: retried', [limited({ 'retry-after': '1' }), completed], accepted],
    ['404 right after the create: retried', [json(404, failing), json(404, failing), completed], accepted],
    [
      '401: final',
      [json(401, { error: 'Key expired' })],
      failed('auth', '401: Key expired', 'job-id: job-1'),
    ],
    ['409: final', [json(409, failing)], failed('rejected')],
    ['no job three times in a row: final', [json(200, 'hello')], failed('contract')],
    [
      'no job twice, a job, no job twice: retried',
      [noContent, json(200, 'null'), active, json(200, {}), json(200, '{'), completed],
      accepted,
    ],
    [
      'a status that is not in the list: retried',
      [json(200, job({ status: 'thinking' })), json(200, job({ status: 'resting' })), completed],
      accepted,
    ],
  ]
  test.concurrent.each(rows)('%s', (_, polls, expected) =>
    expectRun({ posts: [created], polls }, { prompt: 'Go' }, expected),
  )

  test.concurrent('404 for a job-id that was given: final', () =>
    expectRun(
      { polls: [json(404, { error: 'No such job' })] },
      { 'job-id': 'job-9' },
      { ...failed('not-found', 'job-id'), posts: 0 },
    ))

  test.concurrent.each([
    ['503 for a given job: timed out', [json(503, failing)], { 'job-id': 'job-9' }, 0, 'timed-out', ''],
    ['resets for a given job: never answered', [reset], { 'job-id': 'job-9' }, 0, 'error', 'network'],
    [
      'resets after a create: timed out, since the job is known',
      [reset],
      { prompt: 'Go' },
      1,
      'timed-out',
      '',
    ],
  ])('until the deadline: %s', (_, polls, inputs, posts, outcome, code) =>
    expectRun(
      { posts: [created], polls },
      { ...inputs, 'timeout-minutes': minutes(shortDeadline()) },
      { posts, outcome, code },
    ),
  )
})

// One of each kind: a client may send a POST again as a GET (303), or as it is (308).
test.concurrent.each([303, 308])(
  'a redirect (%i) is final, and the other host never sees the key',
  async (status) => {
    const other = await startService({ posts: [created], polls: [json(200, opened)] })
    const away = json(status, '', { location: `${other.url}/v2/agent/docs/job` })
    try {
      const expected = failed('contract', 'redirect', String(status))
      await expectRun({ posts: [away] }, { prompt: 'Go' }, expected)
      await expectRun({ posts: [created], polls: [away] }, { prompt: 'Go' }, expected)
      expect(other.received).toEqual([])
    } finally {
      await other.close()
    }
  },
)
