/**
 * The tables of permissions: each row suffices for what it names, and every permission in it is
 * needed.
 */

import { expect, test } from '@jest/globals'
import { rows } from '../support/documents.js'
import { type FaultAnswer, file, type Permissions, type Received, sha } from '../support/github.js'
import { ENDPOINTS } from '../support/github-endpoints.js'
import { ACCEPTED } from '../support/github-permissions.js'
import {
  expectJob,
  inWorld,
  type RunOptions,
  requestsBefore,
  type World,
} from '../support/pull-request.js'

/** All that any of these runs is about. */
function fill({ repository, github }: World): void {
  for (const base of [sha('before'), sha('v1'), 'v1'])
    repository.addComparison(base, sha('after'), {})
  repository.addRelease('v1', '2026-01-01T00:00:00Z')
  repository.addRun({ head_sha: sha('before') })
  repository.addCommit({ sha: sha('b') })
  repository.issues.add(40)
  repository.addRun({ id: 100, created_at: '2026-11-21T03:17:00Z', conclusion: null })
  const code = github.addRepository('your-org/code', { foreign: true })
  for (const day of [19, 20])
    code.push(`2026-11-${day}T12:00:00Z`, { commit: { files: [file('a.ts')] } })
}

/** What is asked with the token of the workflow job, of its repository. */
const ofJob = (world: World): Received[] =>
  requestsBefore(world).filter(({ path }) => !path.startsWith('/repos/your-org/code'))

const octocat = { login: 'octocat' }
const range = { before: sha('before'), after: sha('after') }
const mixed = [
  { id: sha('a'), author: { username: 'mintlify[bot]' } },
  { id: sha('b'), author: { username: 'octocat' } },
]
const run = (event: string, payload: object = {}, GITHUB_REF = 'refs/heads/main'): RunOptions => ({
  event,
  payload: { sender: octocat, ...payload },
  env: { GITHUB_REF, GITHUB_SHA: sha('after') },
})
const onIssue = run('issues', { action: 'labeled', issue: { number: 40 } })
const onComment = run('issue_comment', {
  issue: { number: 1, pull_request: {} },
  comment: { user: octocat },
})
const release = { tag_name: 'v2', published_at: '2026-01-02T00:00:00Z' }
const merge_group = { base_sha: sha('before'), head_sha: sha('after') }
const CHANGES = { context: 'diff', 'context-paths': '**' }

/** By the first cell of the row. Without a run, it is one of the pull request. */
const CASES: Record<
  string,
  readonly (readonly [inputs: Record<string, string>, run?: RunOptions])[]
> = {
  '`job-scope: pull-request`; on a pull request also `job-scope: issue`, `comment: true`': [
    [{ 'job-scope': 'pull-request' }],
    [{ 'job-scope': 'issue' }],
    [{ comment: 'true' }],
  ],
  '`job-scope: issue`, `comment: true` on an issue': [
    [{ 'job-scope': 'issue', 'issue-number': '40' }, run('workflow_dispatch')],
    [{ comment: 'true', 'allow-users': 'octocat' }, onIssue],
  ],
  '`context`, `context-paths` on a pull request, its comments and its reviews': [
    [{ context: 'diff' }],
    [{ 'context-paths': '**' }],
    [{ ...CHANGES, 'allow-users': 'octocat' }, onComment],
  ],
  '`context`, `context-paths` on a push, a release or a merge group': [
    [CHANGES, run('push', range)],
    [CHANGES, run('push', range, 'refs/tags/v1')],
    [CHANGES, run('release', { action: 'published', release })],
    [CHANGES, run('merge_group', { merge_group })],
  ],
  '`context`, `context-paths` on a schedule or `workflow_dispatch`': [[CHANGES, run('schedule')]],
  '`context`, `context-paths` with `since`': [
    [{ ...CHANGES, since: 'v1' }, run('workflow_dispatch')],
  ],
  '`context`, `context-paths` with `code-repositories`': [
    [{ context: 'diff', 'code-repositories': 'your-org/code' }, run('schedule')],
  ],
  "`context`, `context-paths` with a pull request's number in `issue-number`": [
    [{ ...CHANGES, 'issue-number': '1' }, run('repository_dispatch')],
  ],
  "`context`, `context-paths` with an issue's number in `issue-number`": [
    [{ context: 'diff', 'issue-number': '40' }, run('repository_dispatch')],
  ],
  "`skip-authors`, when a push mixes their commits with others'": [
    [{ 'skip-authors': 'mintlify[bot]' }, run('push', { ...range, commits: mixed })],
  ],
}

const FILES = ['README.md', 'docs/reference.md']
const TABLE = FILES.flatMap((file) => rows(file, 'Permissions')) as [string, string][]

/**
 * The path of a fault that matches one request, counted from 0, and those that repeat it: a token's
 * first refusal may pass.
 */
function atRequest(index: number): RegExp {
  let seen = 0
  let first: string | undefined
  const test = (path: string): boolean => {
    if (seen++ === index) first = path
    return path === first
  }
  return { test } as unknown as RegExp
}

test("the tests' GitHub asks for a permission that GitHub accepts [github.permission.least]", () => {
  const asked = ENDPOINTS.map(([method, path, needs]) => {
    const endpoint = `${method} ${path}`
    const need = typeof needs === 'function' ? needs(undefined, '1') : needs
    const accepted = ACCEPTED[endpoint]?.split('; ') ?? []
    return [endpoint, accepted.find((one) => one.replace('=', ': ') === need)]
  })
  const refused = asked
    .filter(([, accepted]) => accepted === undefined)
    .map(([endpoint]) => endpoint)
  expect(refused).toEqual(['POST /graphql/pulls/{pull_number}/{change}'])
  expect(Object.keys(ACCEPTED)).toHaveLength(ENDPOINTS.length - 1)
})

test('every row of the tables is tested [github.permission.least]', () => {
  expect(TABLE.map(([what]) => what)).toEqual(Object.keys(CASES))
})

test.each(TABLE)('%s: %s [github.permission.least]', async (what, cell) => {
  const given = [...cell.matchAll(/`([a-z-]+): (read|write)`/g)].map(([, name = '', access]) => [
    name.replace('-', '_'),
    access,
  ])
  expect(given.length).toBeGreaterThan(0)
  const none = { contents: 'none', actions: 'none' } as const
  const nothing: Permissions = { issues: 'none', pull_requests: 'none', ...none }
  const permissions = { ...nothing, ...Object.fromEntries(given) }
  for (const [inputs, run] of CASES[what] ?? []) {
    await inWorld({ github: { permissions } }, async (world) => {
      fill(world)
      const ended = await world.step(inputs, run)
      expectJob(ended)
      expect(ended.commands('warning')).toEqual([])
      const done = ofJob(world).filter(({ tookEffect }) => tookEffect)
      const used = new Set(done.map(({ needs }) => needs?.split(':')[0]))
      expect([...used].sort()).toEqual(given.map(([name]) => name).sort())
    })
  }
})

/** Gives one request after the other another answer than GitHub's, each in a world of its own. */
async function answerEach(
  what: string,
  answer: FaultAnswer,
  check: (log: string, request: Received) => void,
): Promise<void> {
  for (const [inputs, run] of CASES[what] ?? []) {
    let isLast = false
    for (let index = 0; !isLast; index++) {
      await inWorld({}, async (world) => {
        fill(world)
        world.github.faults.push({ path: atRequest(index), answer, times: 3 })
        const { log } = await world.step(inputs, run)
        const request = world.github.requests[index]
        isLast = request === undefined || !ofJob(world).includes(request)
        if (request !== undefined && !isLast) check(log, request)
      })
    }
  }
}

test.each(TABLE)(
  '%s: a refused request says what failed, and what it needs [github.permission.named]',
  async (what) => {
    const body = { message: 'Resource not accessible by integration' }
    await answerEach(what, { status: 403, body }, (log, { path, needs }) => {
      // It is read as an issue.
      if (/number/.test(what) && /\/pulls\/\d+$/.test(path)) return
      const name = needs?.replace('_', '-').replace(/: .*/, '')
      const says = new RegExp(
        `GitHub: \\w+ing .*\\w"? failed: 403, "${body.message}"\\..*\`${name}: `,
      )
      expect(log).toMatch(says)
    })
  },
)

test.each(TABLE)('%s: an answer of another shape is none [github.shape]', async (what) => {
  await answerEach(what, { status: 200, body: {} }, (log) => {
    expect(log).toMatch(/^GitHub: \w.* failed: unexpected response|GitHub has no list/m)
  })
})
