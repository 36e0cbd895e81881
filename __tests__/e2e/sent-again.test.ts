/** What is sent again and what never: the bundle against a service that misbehaves, one row of the contract a test. */

import { describe, expect, test } from '@jest/globals'
import { act } from '../support/action.js'
import {
  type Answer,
  active,
  completed,
  created,
  cut,
  exactly,
  huge,
  job,
  json,
  LINK,
  opened,
  reset,
  type ScriptedService,
  startService,
} from '../support/service.js'

interface Expected {
  readonly posts: number
  readonly outcome: string
  readonly code?: string
  readonly exit?: 0 | 1
  /** Words that the one error has. */
  readonly says?: readonly string[]
}

const FAST = { 'poll-interval-seconds': '0.1', 'timeout-minutes': '0.5' }
const UNKNOWN = 'create-unknown'
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toUTCString()
const inTwoSeconds = (): string => new Date(Date.now() + 2_000).toUTCString()
const limited = (headers: Record<string, string>): Answer => json(429, { error: 'Slow down' }, headers)

async function expectRun(
  service: ScriptedService,
  inputs: Record<string, string>,
  { posts, outcome, code = '', exit = outcome === 'pr-opened' ? 0 : 1, says = [] }: Expected,
): Promise<void> {
  try {
    const ended = await act({ 'base-url': service.url, ...FAST, ...inputs })
    expect({
      posts: service.posts().length,
      outcome: ended.outputs.outcome,
      code: ended.outputs['error-code'],
      exit: ended.exitCode,
    }).toEqual({ posts, outcome, code, exit })
    expect(ended.commands('error')).toHaveLength(exit)
    for (const words of says) expect(ended.commands('error')[0]).toContain(words)
    expect(ended.outputs['pr-link']).toBe(outcome === 'pr-opened' ? LINK : '')
  } finally {
    await service.close()
  }
}

describe('a create', () => {
  const mayExist = ['A job may exist', 'not sent again', "service's dashboard"]
  const rows: [string, readonly Answer[], Expected][] = [
    ['201 with a job: taken', [created], { posts: 1, outcome: 'pr-opened' }],
    ['200 with a job: taken', [json(200, job())], { posts: 1, outcome: 'pr-opened' }],
    [
      'a job with id and status alone: taken',
      [json(201, { id: 'job-1', status: 'active' })],
      { posts: 1, outcome: 'pr-opened' },
    ],
    [
      'a job with new and strange fields: taken',
      [json(201, job({ source: 7, prLink: 3, new: [{}] }))],
      { posts: 1, outcome: 'pr-opened' },
    ],
    [
      'reset after the request: never again',
      [reset],
      { posts: 1, outcome: 'error', code: UNKNOWN, says: mayExist },
    ],
    ['a cut answer: never again', [cut], { posts: 1, outcome: 'error', code: UNKNOWN, says: mayExist }],
    [
      'an answer over 1 MiB: never again',
      [huge(201, 1024 * 1024)],
      { posts: 1, outcome: 'error', code: UNKNOWN, says: [...mayExist, '1 MiB'] },
    ],
    ['an answer of exactly 1 MiB: taken', [exactly(201, 1024 * 1024)], { posts: 1, outcome: 'pr-opened' }],
    [
      '500: never again',
      [json(500, { error: 'Boom' })],
      { posts: 1, outcome: 'error', code: UNKNOWN, says: [...mayExist, '500: Boom'] },
    ],
    [
      '502 with HTML: never again',
      [
        (response) =>
          response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>Bad gateway</h1></html>'),
      ],
      { posts: 1, outcome: 'error', code: UNKNOWN, says: [...mayExist, '502: Bad gateway'] },
    ],
    [
      '503 with Retry-After: never again',
      [json(503, { error: 'Busy' }, { 'retry-after': '1' })],
      { posts: 1, outcome: 'error', code: UNKNOWN, says: [...mayExist, '503: Busy'] },
    ],
    [
      '504 without a word: never again',
      [json(504, '')],
      { posts: 1, outcome: 'error', code: UNKNOWN, says: mayExist },
    ],
    ['599: never again', [json(599, '')], { posts: 1, outcome: 'error', code: UNKNOWN, says: mayExist }],
    [
      '429 with seconds: again after them',
      [limited({ 'retry-after': '1' }), created],
      { posts: 2, outcome: 'pr-opened' },
    ],
    [
      '429 with a date: again after it',
      [limited({ 'retry-after': inTwoSeconds() }), created],
      { posts: 2, outcome: 'pr-opened' },
    ],
    [
      '429 without Retry-After: again, backing off',
      [limited({}), limited({}), created],
      { posts: 3, outcome: 'pr-opened' },
    ],
    [
      '429 past the deadline: ends at once',
      [limited({ 'retry-after': '3600' })],
      { posts: 1, outcome: 'error', code: 'rate-limited', says: ['429: Slow down', '1 h'] },
    ],
    [
      '429 with a date past the deadline: ends at once',
      [limited({ 'retry-after': inAnHour() })],
      { posts: 1, outcome: 'error', code: 'rate-limited' },
    ],
    [
      '401: final',
      [json(401, { error: 'Invalid key' })],
      { posts: 1, outcome: 'error', code: 'auth', says: ['401: Invalid key', 'api-key'] },
    ],
    [
      '403: final',
      [json(403, { error: 'Address not allowed' })],
      { posts: 1, outcome: 'error', code: 'auth', says: ['403: Address not allowed', 'allow-list'] },
    ],
    [
      '400: final',
      [json(400, { error: 'Prompt is too dull' })],
      { posts: 1, outcome: 'error', code: 'rejected', says: ['400: Prompt is too dull'] },
    ],
    [
      '404: final',
      [json(404, { error: 'No such project' })],
      { posts: 1, outcome: 'error', code: 'not-found', says: ['404: No such project', 'project-id'] },
    ],
    ['409: final', [json(409, { error: 'Conflict' })], { posts: 1, outcome: 'error', code: 'rejected' }],
    [
      '418: final',
      [json(418, 'short and stout')],
      { posts: 1, outcome: 'error', code: 'rejected', says: ['418: short and stout'] },
    ],
    [
      '204: no job, never again',
      [(response) => response.writeHead(204).end()],
      { posts: 1, outcome: 'error', code: 'contract', says: ['A job may exist'] },
    ],
    [
      '200 that is no JSON: never again',
      [json(200, 'Welcome!')],
      { posts: 1, outcome: 'error', code: 'contract', says: ['A job may exist', 'Welcome!'] },
    ],
    [
      '200 without an id: never again',
      [json(200, { status: 'active' })],
      { posts: 1, outcome: 'error', code: 'contract', says: ['A job may exist'] },
    ],
    [
      '200 with an id that is no path segment: never again',
      [json(200, job({ id: '..' }))],
      { posts: 1, outcome: 'error', code: 'contract', says: ['A job may exist'] },
    ],
    [
      'a status that is not in the list: goes on to poll',
      [json(201, job({ status: 'queued' }))],
      { posts: 1, outcome: 'pr-opened' },
    ],
  ]
  test.concurrent.each(rows)('%s', async (_, posts, expected) => {
    await expectRun(await startService({ posts, looks: [completed] }), { prompt: 'Go' }, expected)
  })
})

describe('a message', () => {
  const mayHave = ['job "job-1"', 'not sent again']
  const rows: [string, readonly Answer[], Expected][] = [
    ['200 with the job: taken', [active], { posts: 1, outcome: 'pr-opened' }],
    [
      '204: taken, goes on to poll',
      [(response) => response.writeHead(204).end()],
      { posts: 1, outcome: 'pr-opened' },
    ],
    ['200 that is no JSON: taken, goes on to poll', [json(200, 'ok')], { posts: 1, outcome: 'pr-opened' }],
    [
      '409, the job is busy: again',
      [json(409, { error: 'Busy' }), json(409, { error: 'Busy' }, { 'retry-after': '1' }), active],
      { posts: 3, outcome: 'pr-opened' },
    ],
    [
      '409 past the deadline: ends at once',
      [json(409, { error: 'Busy' }, { 'retry-after': '600' })],
      { posts: 1, outcome: 'error', code: 'rejected', says: ['409: Busy'] },
    ],
    ['429: again', [limited({ 'retry-after': '1' }), active], { posts: 2, outcome: 'pr-opened' }],
    ['reset: never again', [reset], { posts: 1, outcome: 'error', code: UNKNOWN, says: mayHave }],
    ['cut: never again', [cut], { posts: 1, outcome: 'error', code: UNKNOWN, says: mayHave }],
    [
      '503 with Retry-After: never again',
      [json(503, { error: 'Busy' }, { 'retry-after': '1' })],
      { posts: 1, outcome: 'error', code: UNKNOWN, says: mayHave },
    ],
    [
      '404: final',
      [json(404, { error: 'No such job' })],
      { posts: 1, outcome: 'error', code: 'not-found', says: ['404: No such job', 'job-id'] },
    ],
    ['401: final', [json(401, { error: 'Invalid key' })], { posts: 1, outcome: 'error', code: 'auth' }],
    ['400: final', [json(400, { error: 'No' })], { posts: 1, outcome: 'error', code: 'rejected' }],
  ]
  test.concurrent.each(rows)('%s', async (_, posts, expected) => {
    const service = await startService({ posts, looks: [active, completed] })
    await expectRun(service, { prompt: 'Go on', 'job-id': 'job-1' }, expected)
  })
})

describe('a look at the job', () => {
  const failing = { error: 'Boom' }
  const rows: [string, readonly Answer[], Expected][] = [
    ['reset: again', [reset, completed], { posts: 1, outcome: 'pr-opened' }],
    ['cut: again', [cut, completed], { posts: 1, outcome: 'pr-opened' }],
    ['over 1 MiB: again', [huge(200, 1024 * 1024), completed], { posts: 1, outcome: 'pr-opened' }],
    [
      'announced as over 1 MiB, and not sent: again at once',
      [(r) => void r.writeHead(200, { 'content-length': 1024 * 1024 + 1 }).write('{'), completed],
      { posts: 1, outcome: 'pr-opened' },
    ],
    [
      '500, 502, 503: again',
      [json(500, failing), json(502, '<b>x</b>'), json(503, failing, { 'retry-after': '1' }), completed],
      { posts: 1, outcome: 'pr-opened' },
    ],
    ['429: again', [limited({ 'retry-after': '1' }), completed], { posts: 1, outcome: 'pr-opened' }],
    [
      '404 right after the create: again',
      [json(404, failing), json(404, failing), completed],
      { posts: 1, outcome: 'pr-opened' },
    ],
    [
      '401: final',
      [json(401, { error: 'Key expired' })],
      { posts: 1, outcome: 'error', code: 'auth', says: ['401: Key expired', 'job-id: job-1'] },
    ],
    ['403: final', [json(403, failing)], { posts: 1, outcome: 'error', code: 'auth' }],
    ['400: final', [json(400, failing)], { posts: 1, outcome: 'error', code: 'rejected' }],
    ['409: final', [json(409, failing)], { posts: 1, outcome: 'error', code: 'rejected' }],
    [
      '204 twice: again',
      [(r) => r.writeHead(204).end(), (r) => r.writeHead(204).end(), completed],
      { posts: 1, outcome: 'pr-opened' },
    ],
    [
      'no job three times in a row: contract',
      [json(200, 'hello')],
      { posts: 1, outcome: 'error', code: 'contract', says: ['3 times'] },
    ],
    [
      'no job twice, a job, no job twice: again',
      [json(200, []), json(200, 'null'), active, json(200, {}), json(200, '{'), completed],
      { posts: 1, outcome: 'pr-opened' },
    ],
    [
      'a status that is not in the list: waits on',
      [json(200, job({ status: 'thinking' })), json(200, job({ status: 'resting' })), completed],
      { posts: 1, outcome: 'pr-opened' },
    ],
    ['archived', [json(200, job({ status: 'archived' }))], { posts: 1, outcome: 'archived' }],
    ['failed', [json(200, job({ status: 'failed' }))], { posts: 1, outcome: 'failed' }],
    [
      'completed without a link',
      [json(200, job({ status: 'completed' }))],
      { posts: 1, outcome: 'no-changes', exit: 0 },
    ],
    [
      'completed with an unsafe link',
      [json(200, job({ status: 'completed', prLink: 'javascript:alert(1)' }))],
      { posts: 1, outcome: 'no-changes', exit: 0 },
    ],
  ]
  test.concurrent.each(rows)('%s', async (_, looks, expected) => {
    await expectRun(await startService({ posts: [created], looks }), { prompt: 'Go' }, expected)
  })

  test.concurrent('404 on a job-id that was given: final', async () => {
    const service = await startService({ looks: [json(404, { error: 'No such job' })] })
    await expectRun(
      service,
      { 'job-id': 'job-9' },
      { posts: 0, outcome: 'error', code: 'not-found', says: ['job-id'] },
    )
  })

  test.concurrent('503 to the deadline, of a job that was given: timed out', async () => {
    const service = await startService({ looks: [json(503, failing)] })
    await expectRun(
      service,
      { 'job-id': 'job-9', 'timeout-minutes': '0.03' },
      { posts: 0, outcome: 'timed-out' },
    )
  })

  test.concurrent('resets to the deadline, of a job that was given: no answer ever came', async () => {
    const service = await startService({ looks: [reset] })
    const inputs = { 'job-id': 'job-9', 'timeout-minutes': '0.03' }
    await expectRun(service, inputs, { posts: 0, outcome: 'error', code: 'network', says: ['"job-9"'] })
  })

  test.concurrent('faults to the deadline after a create: timed out, since the job is known', async () => {
    const service = await startService({ posts: [created], looks: [reset] })
    await expectRun(service, { prompt: 'Go', 'timeout-minutes': '0.03' }, { posts: 1, outcome: 'timed-out' })
  })
})

describe('a redirect', () => {
  test.concurrent.each([301, 302, 303, 307, 308])(
    '%i: final, and the other host never sees the key',
    async (status) => {
      const other = await startService({ posts: [created], looks: [json(200, opened)] })
      const away = json(status, '', { location: `${other.url}/v2/agent/docs/job` })
      const says = ['redirect', String(status)]
      try {
        const create = await startService({ posts: [away] })
        await expectRun(create, { prompt: 'Go' }, { posts: 1, outcome: 'error', code: 'contract', says })
        const look = await startService({ posts: [created], looks: [away] })
        await expectRun(look, { prompt: 'Go' }, { posts: 1, outcome: 'error', code: 'contract', says })
        expect(other.received).toEqual([])
      } finally {
        await other.close()
      }
    },
  )
})
