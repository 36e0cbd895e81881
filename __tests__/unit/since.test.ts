/**
 * Where a range of changes begins and ends if an input names it: `since`, or the number of a pull
 * request.
 */

import { createServer } from 'node:http'
import { afterAll, describe, expect, test } from '@jest/globals'
import { findChanges } from '../../src/context/changes.js'
import { parseEvent, type RunEnvironment } from '../../src/event/event.js'
import { createGitHub } from '../../src/github/client.js'
import { type Listening, startListening } from '../support/listening.js'
import { FakeClock } from './fake-clock.js'
import { settle } from './scripted-run.js'

const SHA = 'c'.repeat(40)
const RUN = { repository: 'your-org/docs', sha: SHA, ref: 'refs/heads/main' } as RunEnvironment
const REPO = '/repos/your-org/docs'
const FILE = { filename: 'docs/a.md', status: 'modified', additions: 1, deletions: 0 }
const COMMIT = {
  sha: 'a'.repeat(40),
  commit: { message: 'M', author: { name: 'Mona' } },
  parents: [{}],
}

/** What the server answers at a path: JSON, also of a page of a list, or the message of a 404. */
type Answers = Readonly<Record<string, object | string | ((page: number) => object)>>

const servers: Listening[] = []
afterAll(() => Promise.all(servers.map(({ close }) => close())))

async function find(
  answers: Answers,
  inputs: { since?: string; issueNumber?: number },
  event = dispatch(),
) {
  const requests: string[] = []
  const server = createServer(({ url = '' }, response) => {
    const path = decodeURIComponent(url.replace(REPO, '')).replace(/[?&](?:per_page|page)=\d+/g, '')
    requests.push(path)
    const page = Number(new URL(url, 'http://localhost').searchParams.get('page'))
    const found = answers[path] ?? 'Not Found'
    const answer = typeof found === 'function' ? found(page) : found
    const [status, body] = typeof answer === 'string' ? [404, { message: answer }] : [200, answer]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const listening = await startListening(server)
  servers.push(listening)
  const clock = new FakeClock()
  const cancel = new AbortController().signal
  const github = createGitHub({
    token: 'ghs_token',
    deadline: { signal: cancel, cancel, cancelled: () => false, remainingMs: () => 60_000 },
    random: () => 0,
    redact: (text) => text,
    fromFork: false,
    log: () => undefined,
    debug: () => undefined,
    environment: { apiUrl: `http://127.0.0.1:${listening.port}` },
    network: { proxy: '', unverifiedTlsRequested: false },
    clock,
  })
  const source = { github, repository: RUN.repository, decides: true }
  const { since = '', issueNumber } = inputs
  const found = findChanges(RUN, event, source, { since, issueNumber })
  const { value, error } = await settle(found)
  return { changes: value, error, requests }
}

const dispatch = () => parseEvent('workflow_dispatch', { inputs: null })
const compared = (status: string) => ({
  status,
  files: [FILE],
  commits: [COMMIT],
  total_commits: 1,
})

describe('since', () => {
  test.each(['ahead', 'diverged'])(
    'is compared with by one request, if it is %s',
    async (relation) => {
      const path = `/compare/docs/release...${SHA}`
      const { changes, requests } = await find(
        { [path]: compared(relation) },
        { since: 'docs/release' },
      )
      expect(changes).toMatchObject({ files: [{ path: 'docs/a.md' }], empty: false })
      expect(requests).toEqual([path])
    },
  )

  const UNRELATED = 'What since names and this commit have no history in common.'
  test.each<[string, object | string, object]>([
    ['is this commit', { ...compared('identical'), files: [] }, { empty: true }],
    ['is newer', compared('behind'), { empty: true, files: [] }],
    [
      'has no history in common',
      'No common ancestor between v1 and v2.',
      { unknown: true, note: UNRELATED },
    ],
    [
      'gets no list',
      { status: 'ahead' },
      { unknown: true, note: expect.stringMatching(/no list/) },
    ],
  ])('that %s', async (_, answer, changes) => {
    expect(
      (await find({ [`/compare/v1...${SHA}`]: answer }, { since: 'v1' })).changes,
    ).toMatchObject(changes)
  })

  test('that is unknown is an error with its name; a commit that cannot be read is the permission', async () => {
    const unknown = await find({ [`/git/commits/${SHA}`]: COMMIT }, { since: 'v9' })
    expect(unknown.error).toMatchObject({
      code: 'github',
      message: 'since: there is no tag, branch or commit "v9" in this repository.',
    })
    expect((await find({}, { since: 'v9' })).error?.message).not.toContain('since:')
  })

  const [after, commit] = ['d'.repeat(40), 'e'.repeat(40)]
  const upTo = (head: string): Answers => ({ [`/compare/v1...${head}`]: compared('ahead') })
  const onPull = parseEvent('pull_request', { pull_request: { number: 7 } })
  const merge_group = { base_sha: SHA, head_sha: after }
  const ofGroup = parseEvent('merge_group', { merge_group })
  const deleted = parseEvent('push', { before: SHA, after: '0'.repeat(40) })
  test.each<[string, ReturnType<typeof dispatch>, Answers]>([
    [
      'up to the head of a push',
      parseEvent('push', { after, head_commit: { id: commit } }),
      upTo(commit),
    ],
    ['up to the end of a push without a commit', parseEvent('push', { after }), upTo(after)],
    ['up to the commit of a release', parseEvent('release', { action: 'edited' }), upTo(SHA)],
    ['up to the commit of any other event', parseEvent('workflow_run', {}), upTo(SHA)],
    ['not on an event about a pull request', onPull, { '/pulls/7/files': [FILE] }],
    [
      'not on that of a merge queue',
      ofGroup,
      { [`/compare/${SHA}...${after}`]: compared('ahead') },
    ],
    ['not for a branch that was deleted', deleted, {}],
  ])('counts %s', async (_, event, answers) => {
    expect((await find(answers, { since: 'v1' }, event)).requests).toEqual(Object.keys(answers))
  })
})

describe('the number of a pull request', () => {
  const pull = { number: 7, title: 'T' }
  const issue = { number: 7, title: 'T' }
  const FILES = ['/pulls/7', '/pulls/7/files']

  test('names the source, by one more request, whatever since says', async () => {
    for (const since of ['', 'v1']) {
      const answers = { '/pulls/7': pull, '/pulls/7/files': [FILE] }
      const { changes, requests } = await find(answers, { issueNumber: 7, since })
      expect(changes).toMatchObject({
        files: [{ path: 'docs/a.md' }],
        range: 'pull request 7',
        named: pull,
      })
      expect(requests).toEqual(FILES)
    }
  })

  test('may be read as an issue, if that is all that the token may read', async () => {
    const answers = { '/issues/7': { ...pull, pull_request: {} }, '/pulls/7/files': [FILE] }
    const { changes, requests } = await find(answers, { issueNumber: 7 })
    expect(changes).toMatchObject({ range: 'pull request 7', ofNamedPull: true })
    expect(requests).toEqual(['/pulls/7', '/issues/7', '/pulls/7/files'])
  })

  test('of an issue leaves the range to since', async () => {
    const compare = `/compare/v1...${SHA}`
    const answers = { '/issues/7': issue, [compare]: compared('ahead') }
    const { changes, requests } = await find(answers, { issueNumber: 7, since: 'v1' })
    expect(changes).toMatchObject({ files: [{ path: 'docs/a.md' }], named: issue })
    expect(requests).toEqual(['/pulls/7', '/issues/7', compare])
  })

  test('that does not exist, or has no such answer, is an error', async () => {
    for (const answers of [{}, { '/issues/7': { number: '7' } }]) {
      expect((await find(answers, { issueNumber: 7 })).error?.code).toBe('github')
    }
  })

  test.each([
    [
      'on an event about a pull request',
      parseEvent('pull_request', { pull_request: { number: 9 } }),
      7,
    ],
    ['on an event about that issue', parseEvent('issues', { issue: { number: 7 } }), 7],
  ])('names nothing %s', async (_, event, issueNumber) => {
    const { changes, requests } = await find({ '/pulls/9/files': [FILE] }, { issueNumber }, event)
    expect(changes?.named).toBeUndefined()
    expect(requests).not.toContain('/pulls/7')
  })
})
