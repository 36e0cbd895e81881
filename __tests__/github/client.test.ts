/** GitHub's client on real sockets: what is retried and for how long, and what an error says. */

import { getEventListeners } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { asking, type Call, createGitHub, type GitHub, readPages } from '../../src/github/client.js'
import { GitHubError } from '../../src/github/errors.js'
import { Cancelled } from '../../src/text/errors.js'
import { BAD_GATEWAY, type Fault, primaryLimit, secondaryLimit } from '../support/github.js'
import { startListening } from '../support/listening.js'
import { certificate, connectProxy, terminateTls } from '../support/network.js'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const OK: Answer = { status: 200, body: { id: 1 } }
const OKS: Answer = { status: 200, body: [{ id: 1 }] }

type Answer = Exclude<Fault['answer'], 'cut off' | { readonly delayMs: number }>

const servers: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((close) => close()))
})

/**
 * A client and a server that gives these answers, the last one again and again. Each wait is over
 * at once.
 */
async function connect(
  answers: readonly Answer[],
  {
    fromFork = false,
    deadlineMs = 600_000,
    answerMs = 0,
    limitMs = 60_000,
    token = 'ghs_token',
    apiUrl = '',
    proxy = '',
    aheadMs = 0,
  } = {},
) {
  const waits: number[] = []
  let now = 0
  let requests = 0
  const received: IncomingHttpHeaders[] = []
  const urls: string[] = []
  const server = createServer((request, response) => {
    received.push(request.headers)
    urls.push(String(request.url))
    now += answerMs
    const answer = answers[Math.min(requests++, answers.length - 1)] ?? OK
    if (answer === 'silence') return
    if (answer === 'reset') return void response.req.socket.resetAndDestroy()
    const { status, headers, body } = answer
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const date = new Date(NOW + now + aheadMs).toUTCString()
    response.writeHead(status, { 'content-type': 'application/json', date, ...headers }).end(text)
  })
  const { port, close } = await startListening(server)
  servers.push(close)
  const log: string[] = []
  const [deadline, cancel] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([deadline.signal, cancel.signal])
  const github = createGitHub({
    token,
    environment: { apiUrl: apiUrl || `http://127.0.0.1:${port}` },
    network: { proxy, unverifiedTlsRequested: false },
    clock: {
      now: () => now,
      date: () => new Date(NOW + now),
      sleep: async (milliseconds) => {
        // A request may take this.
        if ([10_000, 30_000].includes(milliseconds)) return wait(limitMs, undefined, { ref: false })
        waits.push(milliseconds)
        now += milliseconds
      },
      every: () => () => undefined,
    },
    deadline: {
      signal,
      cancel: cancel.signal,
      cancelled: () => cancel.signal.aborted,
      remainingMs: () => deadlineMs - now,
    },
    random: () => 0.5,
    redact: (text) => text.replaceAll('secret', '***'),
    fromFork,
    log: (line) => log.push(line),
    debug: () => undefined,
  })
  const ask = (options?: Options) => read(github, options)
  return {
    github,
    ask,
    fails: (options?: Options) => failure(ask(options)),
    waits,
    log,
    signal,
    deadline,
    cancel,
    received,
    urls,
    requests: () => requests,
    now: () => now,
  }
}

type Options = Partial<Omit<Call, 'doing'>>

function read(github: GitHub, { needs = 'contents: read', ...rest }: Options = {}) {
  const asked = asking({ github, repository: 'your-org/your-repo' }, 'reading it', {
    needs,
    ...rest,
  })
  return github.git.getCommit({ ...asked, commit_sha: 'main' })
}

async function failure(sent: Promise<unknown>): Promise<GitHubError> {
  const thrown = await sent.then(() => undefined).catch((reason: unknown) => reason)
  expect(thrown).toBeInstanceOf(GitHubError)
  return thrown as GitHubError
}

const expectRead = async (asked: ReturnType<typeof read>): Promise<void> =>
  expect((await asked).data).toEqual({ id: 1 })

/** Only the headers say that it is a limit. */
const limited = (headers: Record<string, string>) => ({
  status: 403,
  headers,
  body: { message: 'No' },
})
const refused = (status: number, message = 'No'): Answer => ({ status, body: { message } })
const PAGE = { status: 404, headers: { 'content-type': 'text/html' }, body: 'No' }

/**
 * As GitHub answers to a comment (docs.github.com/en/rest/issues/comments#create-an-issue-comment).
 */
const invalid = (message: string): Answer => ({
  status: 422,
  body: {
    message: 'Validation Failed',
    errors: [{ resource: 'IssueComment', code: 'unprocessable', message }],
  },
})

test('nobody writes to the log past the step, such as that a version of the API ends [github.quiet]', async () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  const { ask } = await connect([
    { ...OK, headers: { deprecation: 'now', sunset: '##[error]soon' } },
  ])
  await ask()
  expect(warn).not.toHaveBeenCalled()
  warn.mockRestore()
})

describe('a request that retried [github.decides.retried]', () => {
  test.each([1, 3])(
    'is retried for 90 s, all together (%d side by side) [github.decides.retried]',
    async (count) => {
      const { ask, fails, now } = await connect([BAD_GATEWAY])
      const results = await Promise.allSettled(Array.from({ length: count }, () => ask()))
      expect(results.map(({ status }) => status)).toEqual(Array(count).fill('rejected'))
      expect(now()).toBeGreaterThan(75_000)
      expect(now()).toBeLessThanOrEqual(90_000)
      // Nothing is left for the next one.
      const before = now()
      await fails()
      expect(now() - before).toBeLessThan(15_000)
    },
  )

  test('is retried no longer than until the deadline [github.decides.retried] [net.deadline]', async () => {
    const { fails, now } = await connect([BAD_GATEWAY], { deadlineMs: 5_000 })
    await fails()
    expect(now()).toBeGreaterThan(2_000)
    expect(now()).toBeLessThanOrEqual(5_000)
  })

  test('has 90 s of its own, also past the deadline, if it has a signal of its own [memory.edit.retried]', async () => {
    const { fails, now } = await connect([BAD_GATEWAY], { deadlineMs: 5_000 })
    await fails()
    const before = now()
    await fails({ signal: new AbortController().signal })
    expect(now() - before).toBeGreaterThan(75_000)
    expect(now() - before).toBeLessThanOrEqual(90_000)
  })

  test('is retried after a process stood still for longer than that', async () => {
    const { ask } = await connect([BAD_GATEWAY, OK], { answerMs: 100_000 })
    await expectRead(ask())
  })

  test('is retried after a page, which is told by its title whatever its status [github.shape] [text.page]', async () => {
    const page = {
      status: 200,
      body: '<html><title>Sign in</title><p>Enter your password.</p></html>',
    }
    const { ask, log } = await connect([page, OK])
    await ask()
    expect(log).toEqual(['GitHub: reading it failed: 200, "Sign in". Retrying.'])
  })

  test('is retried less often if the answers take long, and told once [github.decides.retried] [report.log.lines]', async () => {
    const { fails, requests, log } = await connect([BAD_GATEWAY], { answerMs: 9_000 })
    await fails()
    expect([requests(), log.length]).toEqual([7, 1])
  })

  const NOT_RESET = limited({
    'x-ratelimit-remaining': '5',
    'x-ratelimit-reset': String(NOW / 1000 + 20),
  })
  test.each<[string, Answer, number]>([
    ['the lowest error of the server [github.decides.retried]', refused(500), 750],
    ['a reset [github.decides.retried]', 'reset', 750],
    ['a text instead of JSON [github.shape]', { status: 200, body: 'hello' }, 750],
    ['null [github.shape]', { status: 200, body: 'null' }, 750],
    ['a gateway that finds nothing [github.foreign]', PAGE, 750],
    ['a primary limit, until it is reset [github.limit]', primaryLimit(NOW / 1000 + 20), 22_500],
    ['a primary limit (429) [github.limit]', primaryLimit(NOW / 1000 + 20, 429), 22_500],
    ['a limit that was reset already [github.limit]', primaryLimit(NOW / 1000 - 20), 750],
    ['a limit without a time [github.limit]', { status: 429, body: {} }, 67_500],
    ['nothing but a header of one limit [github.limit]', limited({ 'retry-after': '8' }), 9_000],
    [
      'nothing but a header of the other [github.limit]',
      limited({ 'x-ratelimit-remaining': '0' }),
      67_500,
    ],
    [
      'a limit that is not the one with a reset [github.limit]',
      { ...NOT_RESET, status: 429 },
      67_500,
    ],
    ['a secondary limit [github.limit]', secondaryLimit(8), 9_000],
    [
      'both limits, as long as GitHub asks for [github.limit]',
      limited({ ...primaryLimit(NOW / 1000 + 20).headers, 'retry-after': '8' }),
      9_000,
    ],
    [
      'a secondary limit without a header [github.limit]',
      refused(403, 'You have exceeded a secondary rate limit'),
      67_500,
    ],
    [
      "an older server's [github.limit]",
      refused(403, 'You have triggered an abuse detection mechanism. Please wait'),
      67_500,
    ],
    ['a comment too soon after another [github.early]', invalid('was submitted too quickly'), 750],
    [
      'a comment on what is new [github.early]',
      invalid("Could not resolve to a node with the global id of 'PR_x'."),
      750,
    ],
  ])('waits after %s', async (_, answer, wait) => {
    const { ask, waits, log } = await connect([answer, OK])
    await expectRead(ask())
    expect(waits).toEqual([wait])
    expect(log).toEqual([expect.stringMatching(/^GitHub: reading it failed: .*\. Retrying\.$/)])
  })

  test.each<[string, Answer]>([
    ['a refusal [github.context.refused]', refused(403)],
    ['the highest of these [github.context.refused]', refused(499)],
    [
      'a comment that is too long [github.early]',
      invalid('Body is too long (maximum is 65536 characters)'),
    ],
    [
      'a header that is for something else [github.limit]',
      { ...limited({ 'retry-after': '8' }), status: 422 },
    ],
    ['a limit for longer than there is [github.limit]', primaryLimit(NOW / 1000 + 3600)],
  ])('is not retried after %s [github.decides.retried] [report.log.lines]', async (_, answer) => {
    const { fails, requests, log } = await connect([answer])
    await fails()
    expect([requests(), log]).toEqual([1, []])
  })

  test('waits as long as GitHub says, by its own clock [github.limit]', async () => {
    const aheadMs = 600_000
    const limit = primaryLimit((NOW + aheadMs) / 1000 + 20)
    const { ask, waits } = await connect([limit, OK], { aheadMs })
    await ask()
    expect(waits).toEqual([22_500])
  })

  test('is not retried after a second limit that together with the first is longer than there is [github.limit]', async () => {
    const { fails, requests, now } = await connect([secondaryLimit(60)])
    await fails()
    expect(requests()).toBe(2)
    expect(now()).toBeLessThanOrEqual(90_000)
  })

  test('is retried after 30 s without a response, and says so [github.time] [report.log.lines]', async () => {
    const { ask, log } = await connect(['silence', OK], { limitMs: 50 })
    await expectRead(ask())
    expect(log).toEqual(['GitHub: reading it failed: no response in 30 s. Retrying.'])
  })

  test.each([
    ['not sent again if what it creates is found [memory.one-comment.no-twin]', { id: 7 }, 1],
    ['sent again if it is not found [memory.one-comment.no-twin]', undefined, 2],
  ])('is %s', async (_, found, count) => {
    const { ask, requests } = await connect(['reset', OK])
    expect((await ask({ find: async () => found })).data).toEqual(found ?? { id: 1 })
    expect(requests()).toBe(count)
  })

  test('ends with the error of what should find it, if that is refused [memory.one-comment.no-twin]', async () => {
    const { ask, fails } = await connect(['reset', refused(403)])
    const find = async () => (await ask({ retried: false })) && undefined
    const { message } = await fails({ find })
    expect(message).toBe('GitHub: reading it failed: 403, "No".')
  })
})

test('a request names the action and has the token, or one that GitHub refuses if there is none [secret.key.where] [net.user-agent]', async () => {
  const { ask, received } = await connect([OK])
  await ask()
  expect(received[0]).toMatchObject({
    authorization: 'token ghs_token',
    'accept-encoding': 'gzip',
    'user-agent': expect.stringMatching(/^agent-job-action /),
  })
  const without = await connect([OK], { token: '' })
  await read(without.github)
  expect(without.received[0]?.authorization).toBe('token none')
})

test('what ends the step keeps nothing of a request that is over [net.deadline]', async () => {
  const { ask, signal } = await connect([OK])
  await ask()
  const before = getEventListeners(signal, 'abort').length
  for (let nth = 0; nth < 3; nth++) await ask()
  expect(getEventListeners(signal, 'abort')).toHaveLength(before)
})

test('what a moment may hide is waited for twice, whatever the step asks for [github.early]', async () => {
  const { fails, requests, now } = await connect([refused(404)])
  for (let nth = 0; nth < 3; nth++) await fails({ early: true })
  expect([requests(), now()]).toEqual([5, 10_000])
})

describe('a token that an app has just made [github.token.new]', () => {
  const UNKNOWN = refused(401, 'Bad credentials')
  const POWERLESS = refused(403, 'Resource not accessible by integration')

  test('is asked with again, 5 s apart, until GitHub knows it and its permissions', async () => {
    const { ask, waits } = await connect([UNKNOWN, POWERLESS, OK])
    await expectRead(ask())
    expect(waits).toEqual([5_000, 5_000])
  })

  test.each([
    ['a permission that it lacks', POWERLESS],
    ['its end', UNKNOWN],
  ])('is believed of %s once it was answered well', async (_, answer) => {
    const { ask, fails, requests } = await connect([OK, answer])
    await ask()
    await fails()
    expect(requests()).toBe(2)
  })

  test('is refused at once for another reason', async () => {
    const { fails, requests } = await connect([refused(403, 'Your IP address is not permitted')])
    await fails()
    expect(requests()).toBe(1)
  })
})

describe('what the step can do without [range.cut.requests]', () => {
  test('has a minute, and is sent three times at most', async () => {
    const { fails, requests, now } = await connect([BAD_GATEWAY], { answerMs: 9_000 })
    const gift = { requests: 64 }
    const kinds = []
    while (now() < 80_000 && kinds.length < 9)
      kinds.push((await fails({ gift, ofFiles: true })).kind)
    expect(kinds).toEqual([...Array(3).fill('temporary'), ...Array(6).fill('no-files')])
    expect([requests(), gift.requests]).toEqual([7, 51])
  })

  test('has no more requests than it was given, failed ones counted', async () => {
    const { fails, requests } = await connect([BAD_GATEWAY])
    const gift = { requests: 5 }
    for (let nth = 0; nth < 3; nth++) await fails({ gift, ofFiles: true })
    expect(requests()).toBe(5)
  })

  test('takes nothing from the time that other requests have for retries', async () => {
    const { fails, now } = await connect([BAD_GATEWAY])
    const gift = { requests: 64 }
    for (let nth = 0; nth < 3; nth++) await fails({ gift, ofFiles: true })
    const before = now()
    await fails()
    expect(now() - before).toBeGreaterThan(75_000)
  })
})

test('a request that only informs is sent once [github.informs.once] [report.advice.followed]', async () => {
  const { fails, requests } = await connect([BAD_GATEWAY])
  const error = await fails({ retried: false })
  expect(error).toMatchObject({ status: 502, kind: 'temporary', advice: 'Re-run later.' })
  expect(requests()).toBe(1)
})

test('an answer of another shape is an error, which may pass [github.shape] [report.advice.followed]', async () => {
  const { fails } = await connect([OK])
  const error = await fails({ retried: false, expects: () => false })
  expect(error.message).toBe('GitHub: reading it failed: unexpected response.')
  expect(error).toMatchObject({ status: undefined, kind: 'temporary', advice: 'Re-run later.' })
})

test('a redirect to another server is an error, whatever is in its answer [github.redirect]', async () => {
  const headers = { location: 'http://other.test/' }
  const { fails } = await connect([{ status: 301, headers, body: { id: 1 } }])
  expect(await fails()).toMatchObject({
    message: 'GitHub: reading it failed: 301, "redirected to another server".',
    advice: 'Check GITHUB_API_URL and the proxy variables.',
  })
})

describe('a request in flight [net.deadline]', () => {
  const LATE = 'GitHub: reading it failed: timed out (timeout-minutes).'
  const ENDED = 'GitHub: reading it failed: there was no response before the step ended.'

  test.each<[string, 'cancel' | 'deadline', boolean, string]>([
    ['a cancel [cancel.first]', 'cancel', false, 'cancelled'],
    ['the deadline [net.deadline] [report.true]', 'deadline', false, LATE],
    ['its own signal, after a cancel [memory.edit.retried] [report.true]', 'cancel', true, ENDED],
    [
      'its own signal, after the deadline [memory.edit.retried] [report.true]',
      'deadline',
      true,
      ENDED,
    ],
  ])('ends with %s', async (_, which, hasOwn, message) => {
    const { ask, requests, ...ends } = await connect(['silence'])
    const own = new AbortController()
    const sent = ask(hasOwn ? { signal: own.signal } : {}).catch((thrown: Error) => thrown)
    setTimeout(() => {
      ends[which].abort()
      if (hasOwn) own.abort()
    }, 50)
    const thrown = await sent
    expect(thrown).toBeInstanceOf(message === 'cancelled' ? Cancelled : GitHubError)
    expect(thrown).toMatchObject({ message })
    await ask().catch(String)
    expect(requests()).toBe(1)
  })
})

describe('what helps: [github.permission.named]', () => {
  const FORK =
    'On a pull request from a fork, the token of the workflow job can only read, whatever its `permissions` are. Skip the step for forks, or pass another token as github-token.'
  test.each<[string, Answer, advice: string]>([
    [
      'no answer [report.advice.followed]',
      'reset',
      'Check the proxy variables and the network, or re-run later.',
    ],
    [
      'bad credentials [report.advice.followed]',
      refused(401),
      'Check github-token: it may be empty, or have expired.',
    ],
    [
      'anything else [github.words]',
      refused(422),
      'Fix the problem that GitHub reports, then re-run.',
    ],
    ['a gateway [github.foreign]', PAGE, 'Check GITHUB_API_URL and the proxy variables.'],
    [
      'a missing permission',
      refused(403, 'Resource not accessible by integration'),
      'Add `issues: write` or `pull-requests: write` to the permissions of the workflow job, or of the one that calls it.',
    ],
    [
      'what may be hidden',
      refused(404),
      'Not found, or not accessible with this token. If it exists, a',
    ],
    [
      'a personal token without the permission',
      refused(
        403,
        'Resource not accessible by personal access token - https://docs.github.com/rest',
      ),
      'Add the permission `issues: write` or `pull-requests: write` to the personal access token.',
    ],
    [
      'a locked conversation [github.words]',
      refused(403, 'Unable to create comment because issue is locked'),
      'Fix the problem that GitHub reports',
    ],
    [
      'an address that is not allowed [github.words]',
      refused(
        403,
        'The organization has an IP allow list enabled, and your IP address is not permitted',
      ),
      'Fix the problem that GitHub reports',
    ],
  ])('%s', async (_, answer, advice) => {
    const { fails } = await connect([answer])
    const error = await fails({ needs: 'issues: write or pull-requests: write', retried: false })
    expect(error.advice).toContain(advice)
  })

  test.each<[string, Answer, needs: string, advice: string]>([
    ['a write', refused(403, 'Must have admin rights to Repository.'), 'issues: write', FORK],
    ['a write to what may be hidden', refused(404), 'issues: write', FORK],
    [
      'what each token can [report.advice.followed]',
      refused(403, 'Resource not accessible by integration'),
      'metadata: read',
      'Pass a github-token with write access',
    ],
    ['a read', refused(404), 'contents: read', 'add `contents: read` to the permissions'],
    [
      'a limit [github.limit]',
      secondaryLimit(421),
      'issues: write',
      'Re-run after 2026-03-01 12:08 UTC.',
    ],
    [
      "an hour's [github.limit]",
      primaryLimit(NOW / 1000 + 1800),
      'issues: write',
      'after 2026-03-01 12:30 UTC.',
    ],
    ['a limit of a century [github.limit]', secondaryLimit(9e12), 'issues: write', 'Re-run later.'],
    [
      'what passes [report.advice.followed]',
      invalid('was submitted too quickly'),
      'issues: write',
      'Re-run later.',
    ],
  ])('%s from a fork', async (_, answer, needs, advice) => {
    const { fails } = await connect([answer], { fromFork: true })
    expect((await fails({ needs, retried: false })).advice).toContain(advice)
  })

  test.each([
    ['with one full stop', 'Not v1.2. Not here.', /"Not v1\.2\. Not here"\.$/],
    ['on one line, redacted and cut', `secret\n${'x'.repeat(600)}`, /"\*\*\* x{400,500}….*"\.$/],
  ])('GitHub is quoted %s [github.words]', async (_, words, quoted) => {
    const { fails } = await connect([refused(422, words)])
    expect((await fails()).message).toMatch(quoted)
  })
})

describe('what can not connect for good is not retried, and says whose fault it is: [send.certificate.final]', () => {
  const CERTIFICATE =
    "If you use a private certificate authority, set NODE_EXTRA_CA_CERTS in the step's env to its certificate file, or NODE_USE_SYSTEM_CA to 1 if the runner's system trusts it. Verification can't be turned off."

  test("GitHub's certificate, in quoted words [send.certificate.final] [text.one-line]", async () => {
    const { port, close } = await terminateTls(1, await certificate())
    servers.push(close)
    const { fails, waits } = await connect([OK], { apiUrl: `https://localhost:${port}` })
    const error = await fails()
    expect(error).toMatchObject({ status: undefined, kind: 'refused', advice: CERTIFICATE })
    expect(error.message).toMatch(
      /^GitHub: reading it failed: GitHub's certificate is not trusted: "/,
    )
    expect(waits).toEqual([])
  })

  const CREDENTIALS = 'Set the user name and password in HTTPS_PROXY ('
  type Behave = Parameters<typeof connectProxy>[1]
  const open: Behave = () => 'open'
  test.each<[string, scheme: string, Behave, RegExp, advice: string]>([
    [
      "a proxy's credentials [net.proxy]",
      'http',
      () => 407,
      /the proxy wants credentials: \S/,
      CREDENTIALS,
    ],
    [
      "a proxy's certificate [net.proxy]",
      'https',
      open,
      /the proxy's certificate is not trusted: \S/,
      CERTIFICATE,
    ],
    [
      "a proxy's variable [net.proxy]",
      'ftp',
      open,
      /: HTTPS_PROXY \(or HTTP_PROXY\) is not a valid HTTP proxy URL\.$/,
      'Use http:',
    ],
  ])('%s', async (_, scheme, behave, says, advice) => {
    const secret = scheme === 'https' ? await certificate() : undefined
    const { port, close } = await connectProxy(1, behave, secret)
    servers.push(close)
    const value = `${scheme}://localhost:${port}`
    const options = { apiUrl: 'https://github.test', proxy: value }
    const { fails, waits } = await connect([OK], options)
    const error = await fails()
    expect(error).toMatchObject({ kind: 'refused', message: expect.stringMatching(says) })
    expect(error.advice).toContain(advice)
    expect(waits).toEqual([])
  })
})

describe('a list of pages [github.pages]', () => {
  type Page = readonly [items: number, link?: string]
  const FIRST = '<https://api.github.com/x?page=1>; rel="first"'
  const NEXT = '<https://api.github.com/x?page=2>; rel="next"'

  test.each<
    [string, readonly Page[], limit: number, requests: number, items: number, truncated: boolean]
  >([
    ['ends with a page that is not full', [[100], [99]], 10, 2, 199, false],
    ['goes on after a page that is not full but names another', [[1, NEXT], [6]], 10, 2, 7, false],
    ['ends with a full page that names no next one', [[100, FIRST]], 10, 1, 100, false],
    ['ends with an empty page after a full one', [[100], [0]], 10, 2, 100, false],
    ['goes on after an empty page that names another', [[100], [0, NEXT], [6]], 10, 3, 106, false],
    ['is cut at the limit [skip.list.cut]', [[100], [100], [100]], 2, 2, 200, true],
  ])('%s', async (_, pages, limit, requests, count, truncated) => {
    let read = 0
    const { items, ...list } = await readPages(limit, async ({ page, per_page }) => {
      expect([page, per_page]).toEqual([++read, 100])
      const [length = 0, link] = pages[page - 1] ?? []
      // Each page has items of its own.
      const data = Array.from({ length }, (_, id) => ({ id: page * 1000 + id }))
      return { data, headers: link === undefined ? {} : { link } }
    })
    expect([read, items.length, list.truncated]).toEqual([requests, count, truncated])
  })

  const SLOW = { status: 502, body: { message: 'Server Error' } }
  const listed = (github: GitHub, options: Options = {}) => {
    const asked = asking({ github, repository: 'o/r' }, 'listing', {
      needs: 'contents: read',
      ...options,
    })
    return readPages(3, (page) => github.repos.listReleases({ ...asked, ...page }))
  }

  test('is asked for by half as many items if GitHub fails, or is silent, and half again, but not if its answer is no list [github.pages.fewer]', async () => {
    const odd = { status: 200, body: {} }
    const answers = [{ status: 200, body: [] }, odd, SLOW, 'silence', OKS] as const
    const { github, urls } = await connect(answers, { limitMs: 50 })
    await listed(github)
    expect((await listed(github, { expects: Array.isArray })).items).toEqual([{ id: 1 }])
    expect(urls.map((url) => /per_page=(.*)/.exec(url)?.[1])).toEqual([
      '100',
      '100',
      '100',
      '50',
      '25',
    ])
  })

  test('that GitHub never makes is red after 90 s, and says what does without it [github.pages.fewer] [github.decides.retried]', async () => {
    const { github, now } = await connect([SLOW])
    const error = await failure(listed(github, { instead: 'Set since.' }))
    expect(error).toMatchObject({ status: 502, advice: 'Re-run later. Set since.' })
    expect(now()).toBeLessThanOrEqual(90_000)
  })

  test('has no items that are none [github.shape]', async () => {
    const odd = async () => ({ data: [null, { id: 1 }, 'text', undefined], headers: {} })
    expect((await readPages(1, odd)).items).toEqual([{ id: 1 }])
  })
})
