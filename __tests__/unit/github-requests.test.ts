// What is made of GitHub's answers, without a network.
import { expect, test } from '@jest/globals'
import type { RunEnvironment, RunEvent } from '../../src/event/event.js'
import { findChanges } from '../../src/github/changes.js'
import {
  type ApiCall,
  createGitHub,
  type GitHub,
  type GitHubRequest,
  type Rest,
} from '../../src/github/client.js'
import { exists } from '../../src/github/compare.js'
import { readDocsPull } from '../../src/github/docs-pull.js'
import { createDeadline } from '../../src/net/deadline.js'
import { FakeClock } from './fake-clock.js'

const OPERATION = { description: 'reading it', permission: 'contents: read' }
const RUN = { repository: 'your-org/your-repo', serverUrl: 'https://github.com' } as RunEnvironment

function create() {
  const clock = new FakeClock()
  const ignore = (): void => undefined
  const never = new AbortController().signal
  const deadline = createDeadline(600_000, never, clock)
  const github = createGitHub({
    token: 'ghs_token',
    apiUrl: 'https://api.github.com',
    network: { proxies: [], unverifiedTlsRequested: false },
    clock,
    deadline,
    random: () => 0.5,
    redact: (text) => text,
    fromFork: false,
    log: ignore,
    debug: ignore,
  })
  return { clock, github }
}

const failing =
  (status: number, headers: Record<string, string> = {}): ApiCall<never> =>
  () =>
    Promise.reject(Object.assign(new Error(`No ${status}`), { status, response: { headers } }))

/** Answers every request alike. */
const answering = (call: ApiCall<unknown>): GitHub => {
  const { github } = create()
  const once: GitHub['requestOnce'] = (operation) => github.requestOnce(operation, call as ApiCall<never>)
  return { requestOnce: once, requestWithRetry: once }
}

test.each([1, 3])('%d failing side by side are retried for a minute', async (count) => {
  const { clock, github } = create()
  const requests = Array.from({ length: count }, () => github.requestWithRetry(OPERATION, failing(502)))
  const results = await Promise.allSettled(requests)
  expect(results.map(({ status }) => status)).toEqual(Array(count).fill('rejected'))
  expect(clock.now()).toBeGreaterThan(45_000)
  expect(clock.now()).toBeLessThanOrEqual(60_000)
})

test.each([403, 404, 422])(
  'a commit that is refused with %d is taken for one that cannot be read',
  async (status) => {
    expect(await exists(RUN, 'abc', answering(failing(status)).requestOnce)).toBe(false)
  },
)

test('a temporary failure says nothing about a commit', async () => {
  await expect(exists(RUN, 'abc', answering(failing(502)).requestOnce)).rejects.toThrow('failed: 502')
})

const open = answering(async () => ({ data: { state: 'open' } }))
const ELSEWHERE = 'https://github.com/your-org/docs/pull/3'

test('a docs pull request is on this server whatever the scheme of its link', async () => {
  const link = ELSEWHERE.replace('https', 'http')
  const found = await readDocsPull({ link, run: RUN, github: open, docsGitHub: undefined })
  expect(found).toEqual({ state: 'open' })
})

test('docs-token is tried at the rate limit of the other token, and not asked for because of it', async () => {
  const github = answering(failing(403, { 'x-ratelimit-remaining': '0' }))
  const options = { link: ELSEWHERE, run: RUN, github }
  expect(await readDocsPull({ ...options, docsGitHub: () => open })).toEqual({ state: 'open' })
  expect(await readDocsPull({ ...options, docsGitHub: undefined })).toEqual({
    state: 'unknown',
    reason: 'GitHub: reading pull request your-org/docs#3 failed: 403, No 403.',
  })
})

test('files that were listed before and after a push are said to be of several commits', async () => {
  const file = (name: number, head: string) => ({
    filename: `docs/${name}.md`,
    status: 'modified',
    contents_url: `https://api.github.com/x?ref=${head.repeat(40)}`,
  })
  const first = Array.from({ length: 100 }, (_, index) => file(index, 'a'))
  const read = async (second: string) => {
    const listFiles = async ({ page }: { page: number }) => ({
      data: page === 1 ? first : [file(100, second)],
    })
    const rest = { pulls: { listFiles } } as unknown as Rest
    const request: GitHubRequest = (_, call) => call(rest, new AbortController().signal)
    const event = { name: 'pull_request', pullRequest: { number: 7 }, headSha: 'a'.repeat(40) }
    return findChanges(RUN, event as RunEvent, request)
  }
  expect(await read('a')).not.toHaveProperty('remark')
  expect(await read('b')).toMatchObject({
    range: 'pull request 7 as of commit aaaaaaa',
    remark:
      'The pull request was pushed to while the files were listed: some of them are those of a later commit.',
  })
})
