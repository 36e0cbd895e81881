/** What the service does with the requests that it gets, drawn at random. */

import { job } from '../support/service.js'
import { DOCS_LINK, type Draw, FAILURES, OWN_DOCS_LINK } from './draw.js'
import { INJECTED, keyForms } from './hostile.js'
import { EPOCH } from './timers.js'

/** What happens to one request. */
export type Exchange = ReturnType<typeof createExchange> & {
  /** When the response arrives, if that is to be exact. */
  readonly atLimit?: ReturnType<typeof createLimit>
}
export type ResponsePlan = ReturnType<typeof createResponse>

/** Stands in a body for the id of the job that was created or asked for. */
export const JOB_ID = 'THE-JOB'

type Method = 'post' | 'get'

/** An answer of more bytes is given up. */
export const MAX_BYTES = 1024 * 1024

export function createServicePlan(draw: Draw, timeoutMs: number) {
  const { random, theme } = draw
  const isHidden = random.chance(theme === 'refusals' ? 0.5 : theme === 'well' ? 0 : 0.05)
  const forMs = isHidden ? random.int(0, 29_000) : 0
  const create =
    {
      refusals: refuseJobs,
      pushes: answerPushes,
      well: doAllWell,
      lost: doAllWell,
      ranges: doAllWell,
    }[theme as string] ?? createExchanges
  return {
    ...create(draw),
    /** For so long after a create, status requests get this response. */
    invisible: { forMs, response: refusal(draw, 404).response },
    /** For so long after a create, a job is active, whatever else is planned. */
    activeForMs: theme === 'long' ? random.int(0, Math.round(timeoutMs * 1.2)) : 0,
    /** When a connection that is idle is closed; about a poll's interval is the worst. */
    idleMs: random.chance(0.7)
      ? undefined
      : random.pick(random.int(1, 900), random.int(1_900, 6_000)),
  }
}

function doAllWell(draw: Draw): Record<'posts' | 'gets', Exchange[]> {
  const { random, theme } = draw
  return {
    posts: [healthy(draw, 'post')],
    gets: [
      ...random.times(random.int(0, theme === 'lost' ? 0 : 3), () => healthy(draw, 'get')),
      ...(random.chance(0.1) ? takeBack(draw) : []),
      ending(draw),
    ],
  }
}

/** An end without a link, which the next answer takes back. */
function takeBack(draw: Draw): Exchange[] {
  const exchange = healthy(draw, 'get')
  const body = jobBody(draw, 'completed', null)
  return [{ ...exchange, response: { ...exchange.response, body } }, healthy(draw, 'get')]
}

/** The job may take longer than its step; and what becomes of the second POST may stay unknown. */
function answerPushes(draw: Draw): Record<'posts' | 'gets', Exchange[]> {
  const { random } = draw
  if (random.chance(0.25)) return endSince(draw)
  const { posts, gets } = doAllWell(draw)
  const link = random.pick(DOCS_LINK, OWN_DOCS_LINK)
  const poll = (status: string): Exchange => ({
    ...UNBROKEN,
    response: plainResponse(200, jobBody(draw, status, link)),
  })
  if (random.chance(0.3)) {
    const active = Array<Exchange>(random.int(1, 80)).fill(poll('active'))
    return { posts, gets: [...active, poll('completed')] }
  }
  const [usual = healthy(draw, 'post')] = posts
  const unknown: Exchange[] = [
    { ...usual, breaksAt: 'request', how: random.pick('reset', 'close') },
    { ...usual, response: plainResponse(random.pick(500, 502, 503), '') },
  ]
  const limited = refusal(draw, 429)
  const later = random.weighted<Exchange[]>(
    [6, [usual]],
    [4, [usual, random.pick(...unknown), usual]],
  )
  return {
    posts: random.chance(0.35)
      ? [...random.pick<Exchange[]>([limited], [limited], [usual, limited]), ...later]
      : later,
    gets,
  }
}

function createExchanges(draw: Draw) {
  const { random, theme } = draw
  const count = theme === 'freeze' ? random.int(0, 1) : random.int(0, 5)
  return {
    /** For the POSTs in turn; the last one again and again. */
    posts: [
      ...firstPosts(draw),
      random.chance(0.8) ? healthy(draw, 'post') : createExchange(draw, 'post'),
    ],
    /** For the GETs in turn; the last one again and again. */
    gets: [
      ...random.times(count, () =>
        random.chance(0.5) ? healthy(draw, 'get') : createExchange(draw, 'get'),
      ),
      ...(theme === 'limit' ? [{ ...ending(draw), atLimit: createLimit(draw) }] : []),
      random.chance(0.8) ? ending(draw) : createExchange(draw, 'get'),
    ],
  }
}

/** Which limit a response meets, and by how much. */
function createLimit({ random }: Draw) {
  return {
    of: random.pick('deadline', 'request', 'last answer'),
    offsetMs: random.weighted([3, 0], [2, -1], [2, 1], [1, random.int(-100, 100)]),
  } as const
}

/** What makes a new job tempting, or right. */
function refuseJobs(draw: Draw) {
  const { random, usesGitHub } = draw
  const some = (most: number, ...statuses: number[]): Exchange[] =>
    random.times(random.int(0, most), () => refusal(draw, random.pick(...statuses)))
  const seen = (): Exchange => (random.chance(0.5) ? healthy(draw, 'get') : ending(draw))
  // Mostly the same; a gateway may also mix them.
  const of = random.weighted(
    [3, [404]],
    [1, [403]],
    [1, [401, 403, 404, 400, 302, 200]],
    [1, [200]],
  )
  const gets = random.times(random.int(1, 3), () => [...some(5, ...of), seen()]).flat()
  // Of a job that has ended, a gateway refuses the message, maybe twice.
  if (usesGitHub && random.chance(0.3))
    return {
      posts: [200, 404, random.pick(200, 404), 200].map((status) =>
        status === 200 ? healthy(draw, 'post') : refusal(draw, status),
      ),
      gets: [ending(draw)],
    }
  if (usesGitHub && random.chance(0.65)) return endSince(draw)
  return {
    posts: [
      ...(usesGitHub ? [healthy(draw, 'post')] : []),
      ...random.times(random.pick(0, 5), () => refusal(draw, 409)),
      ...some(4, 404, 404, 400, 409, 410, 422, 401, 403, 303),
      healthy(draw, 'post'),
    ],
    gets: [
      ...gets,
      ...some(5, ...of),
      random.chance(0.8) ? ending(draw) : refusal(draw, random.pick(...of)),
    ],
  }
}

/**
 * It had ended, and is busy by now, or while the new one in its place waits, of which maybe nobody
 * knows whether it was accepted; or it has a link since, or ends otherwise.
 */
function endSince(draw: Draw) {
  const { random } = draw
  const count = random.int(1, 6)
  const busy = random.times(count, () => refusal(draw, random.pick(409, 409, 410, 422)))
  const active = random.times(count, () => healthy(draw, 'get'))
  const limited = refusal(draw, 429)
  const lost = { ...healthy(draw, 'post'), breaksAt: 'response' as const }
  const end = (link: string | null = random.pick(DOCS_LINK, OWN_DOCS_LINK)) => completed(draw, link)
  const gone = refusal(draw, 410)
  const first = draw.theme === 'pushes' ? [end(), end()] : [end()]
  // A run that waits asks for a late link once more.
  const linkless = Array<Exchange>(draw.theme === 'pushes' ? 3 : 1).fill(end(null))
  const meanwhile = [...first, end(), ...active]
  const [refused, gets] = random.weighted<[Exchange[], Exchange[]]>(
    [4, [busy, [...first, ...active]]],
    [4, [[gone, limited], meanwhile]],
    [2, [[gone, limited, lost], [end()]]],
    [8, [[limited], linkless]],
  )
  return {
    posts: [healthy(draw, 'post'), ...refused, healthy(draw, 'post')],
    gets: [...gets, end()],
  }
}

const completed = (draw: Draw, link: string | null): Exchange => ({
  ...UNBROKEN,
  response: plainResponse(200, jobBody(draw, 'completed', link)),
})

/** By the service, or by a gateway in front of it. */
function refusal(draw: Draw, status: number): Exchange {
  const exchange = healthy(draw, 'get')
  const [body, type] = draw.random.pick(
    ['{"error":"No"}', 'application/json'],
    // A gateway's, which has lost its route for a moment.
    ['{"message":"no Route matched with those values"}', 'application/json'],
    ['<!DOCTYPE html><h1>No</h1>', 'text/html'],
    ['No', 'text/plain'],
    ['', ''],
  )
  return { ...exchange, response: plainResponse(status, body, type) }
}

function firstPosts(draw: Draw): Exchange[] {
  const { random, theme } = draw
  if (theme === 'limit' && random.chance(0.6))
    return [{ ...healthy(draw, 'post'), atLimit: createLimit(draw) }]
  const count = random.chance(theme === 'freeze' || theme === 'long' ? 0.8 : 0.3)
    ? 0
    : random.int(1, 3)
  return random.times(count, () => createExchange(draw, 'post'))
}

function healthy(draw: Draw, method: Method): Exchange {
  const { random } = draw
  const delayMs = random.chance(0.6) ? 0 : random.int(0, 600)
  const status = method === 'post' ? random.pick(200, 201) : 200
  const link = random.chance(0.1) ? random.pick(DOCS_LINK, OWN_DOCS_LINK) : null
  return { ...UNBROKEN, delayMs, response: plainResponse(status, jobBody(draw, 'active', link)) }
}

function ending(draw: Draw): Exchange {
  const { random, theme } = draw
  const status = random.name({
    completed: theme === 'lost' ? 0 : 8,
    failed: theme === 'pushes' ? 5 : 1,
    archived: theme === 'pushes' ? 3 : 1,
  })
  const plain = random.pick(DOCS_LINK, DOCS_LINK, OWN_DOCS_LINK)
  const other = theme === 'well' ? null : randomLink(draw)
  const link = random.chance(theme === 'pushes' ? 0.9 : 0.6) ? plain : other
  const exchange = healthy(draw, 'get')
  return { ...exchange, response: { ...exchange.response, body: jobBody(draw, status, link) } }
}

/** Answered at once, and as a whole. */
export const UNBROKEN: Omit<Exchange, 'response'> = {
  delayMs: 0,
  breaksAt: 'never',
  fraction: 0,
  pauseMs: 0,
  how: 'close',
}

export function plainResponse(
  status: number,
  body: string,
  type = 'application/json',
): ResponsePlan {
  return {
    status,
    body,
    framing: 'length',
    headers: [['content-type', type]],
    hasEarlyHints: false,
    afterwards: 'keep',
  }
}

/** Anything that can go wrong, or not, with one request. */
function createExchange(draw: Draw, method: Method) {
  const { random } = draw
  return {
    delayMs: random.weighted(
      [5, 0],
      [3, random.int(0, 500)],
      [2, random.int(0, 4_000)],
      [1, random.int(3_000, 12_000)],
      [0.5, random.int(25_000, 65_000)],
    ),
    /** Where it breaks: after the request, or after a part of the response. */
    breaksAt: random.name({ never: 10, request: 3, response: 3 }),
    /**
     * How much of the response is sent before a pause, after which the rest follows, or it breaks;
     * from 0 to 1.
     */
    fraction: random.next(),
    pauseMs: random.weighted([3, 0], [2, random.int(1, 100)], [1, random.int(100, 1_500)]),
    how: random.name({ reset: 3, close: 3, hang: 1.5 }),
    response: createResponse(draw, method),
  }
}

function createResponse(draw: Draw, method: Method) {
  const { random, hostile } = draw
  const status: number = random.weighted(
    [6, random.pick(200, 201, 202)],
    [method === 'post' ? 5 : 2, 429],
    [method === 'post' ? 2 : 0.5, 409],
    // A cache answers 503 of its own, after the request went through.
    [6, random.pick(500, 502, 503, 503, 503, 504, 529)],
    [2, random.pick(400, 401, 403, 404, 408, 410, 418, 422, 425, 451)],
    [1, random.pick(301, 302, 303, 307, 308)],
    [0.5, random.pick(203, 206, 299, 300, 599, 799)],
  )
  const isSuccess = status >= 200 && status < 300
  const retryAfter = random.weighted(
    [3, undefined],
    [3, random.pick('0', '1', '1', '0.5', '2', '3', '30', '3600')],
    [1, random.pick(...ODD_RETRY_AFTER)],
    [1, new Date(EPOCH + random.int(0, 60) * 1_000).toUTCString()],
  )
  // A response with more than 16 KiB of headers is none to Node.
  const location = random
    .pick('elsewhere', '/', '', hostile().replace(/[^ -~]/g, ''))
    .slice(0, 8_000)
  return {
    status,
    body: isSuccess ? successBody(draw, method) : errorBody(draw),
    framing: random.name({ length: 6, chunked: 3, close: 1 }),
    headers: [
      [
        'content-type',
        random.pick('application/json', 'text/html', 'application/json; charset=utf-8', ''),
      ],
      ...(retryAfter === undefined ? [] : [['retry-after', retryAfter]]),
      ...(status >= 300 && status < 400 ? [['location', location]] : []),
    ] as [name: string, value: string][],
    hasEarlyHints: random.chance(0.1),
    /** What follows a whole response. */
    afterwards: random.name({ keep: 10, close: 2, garbage: 1 }),
  }
}

const ODD_RETRY_AFTER = ['-1', 'soon', '', '9'.repeat(20), 'Thu, 01 Jan 1970 00:00:00 GMT', 'in2s']

function successBody(draw: Draw, method: Method): string {
  const { random, hostile } = draw
  const status = random.weighted(
    [method === 'post' ? 6 : 3, 'active'],
    [2, 'completed'],
    [1, random.pick(...FAILURES)],
    [1, random.pick('queued', '', 'ACTIVE', 'Completed', hostile())],
  )
  return random.weighted<() => string>(
    [8, () => jobBody(draw, status, random.chance(0.5) ? null : randomLink(draw))],
    // Another job, whose id does not have the key in it, in which it would be redacted.
    [2, () => JSON.stringify({ id: random.pick(...OTHER_IDS), status, prLink: null })],
    [2, () => randomText(draw)],
  )()
}

const OTHER_IDS = ['another-job', '', '..', 'with space', 'x'.repeat(513), `::error::${INJECTED}`]

function errorBody(draw: Draw): string {
  const { random, hostile } = draw
  return random.weighted(
    [4, JSON.stringify({ error: hostile() })],
    [1, `<html><body>${hostile()}</body></html>`],
    [2, randomText(draw)],
    // A refusal with a job in it is a refusal.
    [0.5, jobBody(draw, 'active', null)],
  )
}

function jobBody({ random, hostile, theme }: Draw, status: string, prLink: string | null): string {
  const archivedAt = status === 'archived' ? '2026-01-02T03:04:06.000Z' : null
  const more = random.weighted(
    [850, {}],
    [150, { model: hostile(), [hostile()]: hostile() }],
    [theme === 'well' ? 0 : 3, { padding: 'x'.repeat(MAX_BYTES) }],
  )
  return JSON.stringify(job({ id: JOB_ID, status, prLink, archivedAt, ...more }))
}

function randomLink({ random, key }: Draw): string | null {
  return random.pick(
    null,
    '',
    `${DOCS_LINK}?x=1&y=2#z`,
    `https://example.com/${INJECTED}"; touch x; echo "`,
    `https://example.com/\n::error::${INJECTED}`,
    `https://example.com/${key}`,
    `https://example.com/${random.pick(...keyForms(key))}`,
    'javascript:alert(1)',
    'https://user:password@example.com/',
    `https://example.com/${'x'.repeat(3000)}`,
  )
}

function randomText({ random, hostile }: Draw): string {
  return random.pick(
    '',
    'null',
    '[]',
    '{"id": 1, "status": "active"}',
    '{"id": "job-1"}',
    '{"id": "job-1", "status": "acti',
    '['.repeat(50_000),
    hostile(),
    JSON.stringify({ data: { id: 'job-1', status: hostile() } }),
  )
}
