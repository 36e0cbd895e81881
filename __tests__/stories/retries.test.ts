/**
 * What is retried and what never, and what is said of it, against a service that misbehaves: a row
 * for each way to end a response. unit/verdict has one for each status, unit/poll and unit/send
 * have the times.
 */

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
  /** Of the one error. */
  readonly parts?: readonly (string | RegExp)[]
}

const MIB = 1024 * 1024
const afterSeconds = (seconds: number): string =>
  new Date(Date.now() + seconds * 1000).toUTCString()
const says = (status: number, error: string, headers?: Record<string, string>) =>
  json(status, { error }, headers)
const limited = (headers: Record<string, string>): Handler => says(429, 'Slow down', headers)
const retryAfter = (seconds: number) => ({ 'retry-after': String(seconds) })
const busy = says(409, 'Busy', retryAfter(1))
const noContent = json(204, '')

const accepted: Expected = { posts: 1, outcome: 'pr-opened' }
const afterRetries = (posts: number): Expected => ({ ...accepted, posts })
const failed = (code: string, ...parts: (string | RegExp)[]): Expected => ({
  posts: 1,
  outcome: 'error',
  code,
  parts,
})
const unknown = (...parts: string[]): Expected => failed('create-unknown', ...parts)

/** Runs a step that makes every request of the script, the last poll perhaps more often. */
async function expectRun(
  script: Script,
  inputs: Record<string, string>,
  { posts, outcome, code = '', parts = [] }: Expected,
): Promise<string> {
  const { service, outputs, exitCode, commands, log } = await tellAgainst(script, inputs)
  const exit = outcome === 'pr-opened' ? 0 : 1
  const mayBeAccepted =
    service.polls().length > 0 ||
    /A docs job may exist|may have received it/.test(commands('error')[0] ?? '')
  const what = inputs['job-id'] ? 'message' : 'job'
  const sent = posts > 0 && mayBeAccepted ? what : 'nothing'
  expect({
    posts: service.posts().length,
    outcome: outputs.outcome,
    code: outputs['error-code'],
    sent: outputs.sent,
    link: outputs['pr-link'],
    exit: exitCode,
    errors: commands('error').length,
  }).toEqual({ posts, outcome, code, sent, link: exit === 0 ? LINK : '', exit, errors: exit })
  if (outcome === 'pr-opened') expect(service.polls()).toHaveLength(script.polls?.length ?? 0)
  const connections = service.posts().map(({ connection }) => connection)
  expect(new Set(connections).size).toBe(posts)
  for (const { headers } of service.posts())
    expect(headers['content-type']).toBe('application/json')
  for (const part of parts) expect(commands('error')[0]).toMatch(part)
  return log
}

/** A body that only the end of the connection delimits. */
const undelimited: Handler = ({ req: { socket } }) =>
  void socket.end(
    `HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(job())}`,
  )

const endlessHints: Handler = ({ req: { socket } }) => {
  const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000)
  const write = (): void => {
    while (socket.write(hints));
  }
  socket.on('drain', write)
  write()
}

const firewall =
  (status: number, type = 'text/html', body = '<title>Sign in</title>'): Handler =>
  (response) =>
    response.writeHead(status, { 'content-type': type }).end(body)

/** Who replaces the key then pays for new docs jobs. */
const ofFirewall = (request: string): Expected =>
  failed(
    'rejected',
    `A firewall or a proxy has refused the ${request} (`,
    'Check base-url. If it is right, ask whoever runs the firewall',
    'says nothing about the key',
  )

/** Whoever refused it, a firewall's owner can't help. */
const tooLong = failed(
  'rejected',
  '(413: "',
  'The create request is too long for the',
  'Shorten the prompt',
  'context: event',
)

describe('a create', () => {
  const mayExist = 'A docs job may exist'
  const wrongTypes = { source: 7, prLink: 3, new: [{}] }
  const seconds = limited(retryAfter(1))
  const date: Handler = (...answer) => limited({ 'retry-after': afterSeconds(3) })(...answer)
  // The runner's clock is 40 minutes slow.
  const ahead: Handler = (...answer) =>
    limited({ date: afterSeconds(2_400), 'retry-after': afterSeconds(2_403) })(...answer)
  test.each<[string, readonly Handler[], Expected]>([
    [
      '200 with an id and any status is accepted [send.job.required]',
      [json(200, { id: 'job-1', status: '?' })],
      accepted,
    ],
    [
      '202 of 1 MiB, fields of a wrong type is accepted [net.limits] [send.job.required]',
      [sized(202, MIB, wrongTypes)],
      accepted,
    ],
    ['a body up to an ordinary end is accepted [send.job.required]', [undelimited], accepted],
    [
      'a response over 1 MiB is never retried [net.limits]',
      [sized(201, MIB + 1)],
      unknown(mayExist, '1 MiB'),
    ],
    ['a response that is cut off is never retried [send.unknown]', [cutOff], unknown(mayExist)],
    [
      'informational responses without end is never retried [net.limits]',
      [endlessHints],
      unknown(mayExist),
    ],
    ['a reset after the request is never retried [send.unknown]', [reset], unknown(mayExist)],
    [
      'a page of a firewall is final [send.refused.foreign]',
      [firewall(403)],
      ofFirewall('create request'),
    ],
    ['a page of a body limit is final [send.refused.too-long]', [firewall(413)], tooLong],
    ['413 is final [send.refused.too-long]', [says(413, 'Payload too large')], tooLong],
    [
      'a page in place of a docs job is never retried [send.no-job]',
      [firewall(200)],
      failed(
        'contract',
        mayExist,
        'a web page (200: "Sign in")',
        'ask whoever runs the network',
        'in place of the service. The request was not retried: that could create a second',
      ),
    ],
    [
      'a redirect, perhaps to a sign-in page is final [send.refused.final]',
      [json(302, '', { location: 'https://login.example.com/saml?to=docs' })],
      failed('contract', 'login.example.com/saml?to=docs', 'sign-in page', 'set base-url'),
    ],
    // Amazon API Gateway's, whose firewall refuses code and long requests.
    [
      '403 in other words than the service has is final [send.refused.foreign] [send.refused.final]',
      [json(403, { message: 'Forbidden', more: 1 })],
      failed('auth', '403: "Forbidden { more: 1 }"', 'Check the key', 'a gateway or a firewall'),
    ],
    // Cloudflare's to a client that is no browser, Envoy's, and a load balancer's.
    ...['error code: 1010', 'RBAC: access denied', ''].map(
      (body): [string, readonly Handler[], Expected] => [
        `403 with "${body}", which is no JSON is final [send.refused.foreign]`,
        [firewall(403, 'text/plain', body)],
        ofFirewall('create request'),
      ],
    ),
    [
      '401 without a word is final [send.refused.foreign]',
      [firewall(401, 'application/json', '')],
      ofFirewall('create request'),
    ],
    [
      '422 in plain text, which a service may write is final [send.refused.final]',
      [firewall(422, 'text/plain', 'Too short')],
      failed('rejected', 'The service refused the create request (422: "Too short")'),
    ],
    [
      "429 with seconds, a date, one by the service's own clock, or nothing is retried later [send.limited]",
      [seconds, date, ahead, limited({}), created],
      afterRetries(5),
    ],
    [
      '429 past the deadline, whoever says it is final [send.limited] [send.refused.foreign]',
      [json(429, '<p>Slow down', retryAfter(3600))],
      failed('rate-limited', 'The service refused the create request (429: "Slow down"', '1 h'),
    ],
    [
      '401 is final [send.refused.final] [send.refused.foreign]',
      [says(401, 'Bad key', { 'content-type': 'Application/JSON' })],
      failed('auth', '401: "Bad key"', 'api-key', /re-run\.$/),
    ],
    [
      'an id that is no path segment is never retried [send.no-job]',
      [json(200, job({ id: '..' }))],
      failed('contract', mayExist, 'no docs job with a valid id and a status'),
    ],
  ])('%s', async (_, posts, expected) => {
    await expectRun({ posts, polls: [completed] }, { prompt: 'Go' }, expected)
  })
})

describe('a message [send.never-twice] [output.sent] [input.task] [net.post.new-connection]', () => {
  test.each<[string, readonly Handler[], Expected]>([
    ['204 is accepted [send.no-job]', [noContent], accepted],
    [
      'a busy job (409), and a limit (429), is retried [send.limited]',
      [busy, limited(retryAfter(1)), active],
      afterRetries(3),
    ],
    [
      '409 past the deadline, whoever says it is final [send.limited] [send.refused.foreign]',
      [json(409, '<p>Busy', retryAfter(3600))],
      failed('rejected', 'The service refused the message (409: "Busy"'),
    ],
    [
      'a page in place of the docs job is never retried [send.no-job]',
      [firewall(200)],
      unknown('the response contains a web page', '"job-1"', 'ask whoever runs the network'),
    ],
  ])('%s', async (_, posts, expected) => {
    const inputs = { prompt: 'Go on', 'job-id': 'job-1' }
    const log = await expectRun({ posts, polls: [active, completed] }, inputs, expected)
    expect(log).toMatch(/^POST \/v2\/agent\/docs\/job\/job-1\/message /m)
  })
})

describe('a poll [poll.retry]', () => {
  const endless: Handler = (response) =>
    void response.writeHead(200, { 'content-length': MIB + 1 }).write('{')
  test.each<[string, Handler]>([
    ['informational responses without end [net.limits]', endlessHints],
    ['a response over 1 MiB [net.limits]', sized(200, MIB + 1)],
    ['a response that is announced as over 1 MiB [net.limits]', endless],
    [
      'a status that is not in the list [poll.status.undocumented] [output.status]',
      json(200, job({ status: 'Completed' })),
    ],
  ])('%s, twice, is retried', async (_, poll) => {
    await expectRun(
      { posts: [created], polls: [poll, poll, completed] },
      { prompt: 'Go' },
      accepted,
    )
  })

  test.each<[string, Handler, Expected]>([
    [
      'a page of a firewall is final [send.refused.foreign]',
      firewall(403),
      ofFirewall('status request'),
    ],
    [
      'a page with 404 is final, as the docs job may be there [send.refused.foreign]',
      firewall(404),
      ofFirewall('status request'),
    ],
    ['no job, again and again is final [poll.refused]', json(200, 'hello'), failed('contract')],
    [
      'a page is final [poll.refused]',
      firewall(200),
      failed('contract', 'a web page', 'whoever runs the network'),
    ],
  ])('%s', async (_, poll, expected) => {
    await expectRun({ posts: [created], polls: [poll] }, { prompt: 'Go' }, expected)
  })

  const missing = says(404, 'No such job')
  const page: Handler = (response) =>
    response.writeHead(404).end('<html><h1>404 Not Found</h1></html>')
  const text: Handler = (response) => response.writeHead(404).end('default backend - 404')
  test.each<[string, readonly Handler[], Expected]>([
    [
      '404 three times, in whatever words is retried [poll.refused]',
      [page, text, missing, completed],
      accepted,
    ],
    [
      'no job, ever is final [poll.refused]',
      [json(200, 'hello')],
      failed('contract', 'Check that base-url is'),
    ],
  ])('of a job that was given finds it or ends: %s', async (_, polls, expected) => {
    await expectRun({ polls }, { 'job-id': 'job-1' }, { ...expected, posts: 0 })
  })

  test('that does not show the job leaves nothing that says that the job is running [report.true]', () => {
    const unavailable = says(503, 'upstream connect error', retryAfter(600))
    return onPullRequest(
      { posts: [created], polls: [active, unavailable] },
      async ({ step, world }) => {
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
          expect(text).not.toMatch(/\b(?:is|was still) (?:running|active)|keeps running/i)
          expect(text).toMatch(/when last seen, .* before this step ended; since then: .*503/)
        }
      },
    )
  })

  test('tells a refusal in its own words, in whatever it is wrapped [send.refused.final] [text.page]', async () => {
    const page = (style: string): string =>
      `<!DOCTYPE html><head>${style}</head><h1>Bad <b>request</b></h1>`
    const bodies: [string, string][] = [
      ['{"message":"length must be <= 10 and >= 1"}', 'length must be <= 10 and >= 1'],
      ['{"error":"","message":"over quota"}', 'over quota'],
      ['{"error":"a < b and c > d"}', '503: "a < b and c > d"'],
      ['a < b and c > d or e', '503: "a < b and c > d or e"'],
      ['Set <name> first', '503: "Set <name> first"'],
      [page(`<style>${'p { color: red }'.repeat(500)}</style>`), '503: "Bad request"'],
      [page(`<style>${'p { color: red }'.repeat(5_000)}`), '503 with an unreadable response'],
      [' \r\n ', '503 with an unreadable response'],
    ]
    const polls = [...bodies.flatMap(([body]) => [json(503, body), active]), completed]
    const log = await expectRun({ posts: [created], polls }, { prompt: 'Go' }, accepted)
    for (const [, words] of bodies) expect(log).toContain(words)
    expect(log).not.toMatch(/503(: ""| with an empty)/)
  })
})

describe('a response that is complete [send.job.required]', () => {
  test('counts even if the connection before it broke [net.post.new-connection]', async () => {
    const broken: Handler = (response) => {
      created(response)
      response.req.socket.end('no response')
    }
    const closed: Handler = ({ req: { socket } }) =>
      void socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(opened)}`,
      )
    await expectRun({ posts: [broken], polls: [closed] }, { prompt: 'Go' }, accepted)
  })

  test('may have a status that is in no list [poll.status.undocumented], and a link that is not passed on [output.pr-link]', async () => {
    const linked = json(200, { ...opened, prLink: 'https://example.com/$(id)' })
    const waiting = json(200, job({ status: 'waiting for approval' }))
    const script = { posts: [created], polls: [waiting, linked] }
    const { outputs, log } = await tellAgainst(script, { prompt: 'Go' })
    expect(outputs).toMatchObject({ outcome: 'no-changes', 'pr-link': '' })
    expect(log).toContain('status "waiting for approval"')
    expect(log.match(/link was dropped/g)).toHaveLength(1)
  })

  test.each([
    [[LINK], 1],
    [null, 0],
  ])(
    'may have a link that is no text, %j, which is told [output.pr-link]',
    async (prLink, times) => {
      const script = { posts: [created], polls: [json(200, { ...opened, prLink })] }
      const { outputs, log, summary } = await tellAgainst(script, { prompt: 'Go' })
      expect(outputs).toMatchObject({ outcome: 'no-changes', 'pr-link': '' })
      for (const text of [log, summary]) {
        expect(text.match(/completed, but its link can't be passed on/g) ?? []).toHaveLength(times)
        expect(text.match(/completed without a pull request/g) ?? []).toHaveLength(1 - times)
      }
    },
  )

  test('may have an id and a link that begin or end as the key begins [secret.redacted]', async () => {
    const prLink = 'https://github.com/yourdocs/docs/tree/yourdocs'
    const id = 'yourdocs'
    const script = {
      posts: [json(201, job({ id }))],
      polls: [json(200, { ...opened, id, prLink })],
    }
    const inputs = { prompt: 'Go', 'project-id': id, 'api-key': 'yourdocs_4f3a9be2' }
    const { outputs, commands } = await tellAgainst(script, inputs)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': id, 'pr-link': prLink })
    expect(commands('warning')).toEqual([])
  })
})

test('a create whose response has no job names the place that it does, and says if it has no words [send.no-job] [send.refused.final]', async () => {
  const posts = [json(202, '', { location: '/v2/agent/docs/job/job-9' })]
  const end = failed('contract', '202 with an empty response, Location "/v2/agent/docs/job/job-9"')
  await expectRun({ posts }, { prompt: 'Go' }, end)
})

// One of each kind: a client may send a POST again as a GET (303, which says that it is done), or
// as it is (308).
test.each([
  [
    '303 for a create [send.unknown]',
    303,
    'post',
    unknown('A docs job may exist', 'the service responded 303'),
  ],
  ['308 for a create', 308, 'post', failed('contract', 'redirect', '308 to "http')],
  ['307 for a poll [poll.refused]', 307, 'poll', failed('contract', 'redirect', '307 to "http')],
] as const)(
  'a redirect is final: no other host sees the key: %s [send.refused.final]',
  async (_, status, of, end) => {
    const other = await startService({ posts: [created], polls: [json(200, opened)] })
    const away = json(status, '', { location: `${other.url}/v2/agent/docs/job` })
    const script = of === 'post' ? { posts: [away] } : { posts: [created], polls: [away] }
    await expectRun(script, { prompt: 'Go' }, end).finally(other.close)
    expect(other.received).toEqual([])
  },
)

const nested = (levels: number): unknown => (levels === 0 ? 'prompt' : [nested(levels - 1)])

test.each<[string, object, string]>([
  [
    'details, as a list of objects',
    { details: [{ path: ['prompt'], message: 'Too long' }] },
    "No { details: [ { path: [ 'prompt' ], message: 'Too long' } ] }",
  ],
  [
    'a message',
    { message: 'too long', statusCode: 422 },
    "No { message: 'too long', statusCode: 422 }",
  ],
  ['more than is shown', { details: nested(900) }, 'No { details: [ [ [ [ [Array] ] ] ] ] }'],
  ['a long text', { details: 'x'.repeat(9000) }, `No { details: '${'x'.repeat(485)}…`],
])(
  'a refusal tells what stands beside its error: %s [send.refused.final]',
  async (_, more, told) => {
    const { commands } = await tellAgainst(
      { posts: [json(422, { error: 'No', ...more })] },
      { prompt: 'Go' },
    )
    expect(commands('error')).toEqual([
      `The service refused the create request (422: "${told}"). Fix the problem that the service reports, then re-run, or start a new run if you changed the workflow file.`,
    ])
  },
)
