/**
 * What the action reads of GitHub's answers and payloads is described by GitHub, and the fakes
 * don't leave it out.
 */

import { expect, test } from '@jest/globals'
import { file, type Received, sha } from '../support/github.js'
import { describesAnswer, describesPayload, VERSIONS } from '../support/github-api.js'
import { ENDPOINTS } from '../support/github-endpoints.js'
import {
  HEAD,
  inWorld,
  MERGE,
  type RunOptions,
  type SimulatedWorld,
} from '../support/pull-request.js'

/**
 * The names on the way to what was read, `[]` for an item of a list; and whether it was ever there.
 */
type Reads = Map<string, boolean>

/** A value that records what is read of it. */
function watched<T>(value: T, place: readonly string[], reads: Reads): T {
  if (typeof value !== 'object' || value === null) return value
  const isList = Array.isArray(value)
  const record = (name: string, item: unknown): void => {
    const path = [...place, name].join('\n')
    if (!isList) reads.set(path, item !== undefined || (reads.get(path) ?? false))
  }
  return new Proxy(value, {
    get(target, name) {
      const item = Reflect.get(target, name)
      if (typeof name === 'symbol' || ['then', 'toJSON', 'constructor'].includes(name)) return item
      if (isList && !/^\d+$/.test(name)) return item
      record(name, item)
      return watched(item, [...place, isList ? '[]' : name], reads)
    },
    getOwnPropertyDescriptor(target, name) {
      const own = Reflect.getOwnPropertyDescriptor(target, name)
      if (typeof name === 'string') record(name, own?.value)
      return own
    },
  })
}

const octocat = { login: 'octocat', type: 'User' }
const reader = { login: 'reader', type: 'User' }
const COMMIT = sha('after')
const run = (event: string, payload: object, GITHUB_REF = 'refs/heads/main'): RunOptions => ({
  ...{
    event,
    payload: {
      sender: octocat,
      repository: { private: true, visibility: 'private', has_pull_requests: true },
      ...(event === 'push' && { ref: GITHUB_REF }),
      ...payload,
    },
  },
  env: { GITHUB_REF, GITHUB_SHA: COMMIT },
})
const dispatch = run('workflow_dispatch', { inputs: {} })
const message = 'Merge pull request #1 from your-org/feature'
const commits = [
  { id: sha('a'), message: 'One', author: { username: 'mintlify[bot]', name: 'Agent' } },
  { id: COMMIT, message, author: { username: 'octocat', name: 'The Octocat' } },
]
const push = { before: sha('before'), after: COMMIT, commits, head_commit: commits[1] }
const group = {
  base_sha: push.before,
  head_sha: COMMIT,
  base_ref: 'main',
  head_ref: 'queue',
  head_commit: { message },
}
const link = 'https://github.com/your-org/Your-Repo'
const texts = { body: 'Words', html_url: link, user: octocat }
const issue = { ...texts, number: 40, title: 'Docs', state: 'open', labels: [{ name: 'docs' }] }
const onPull = {
  ...issue,
  number: 1,
  draft: false,
  milestone: null,
  pull_request: { url: link, merged_at: '2026-01-01T00:00:00Z' },
}
const comment = { ...texts, id: 5, user: reader }
const release = {
  tag_name: 'v2',
  name: 'Two',
  body: 'Notes',
  draft: false,
  prerelease: false,
  html_url: link,
}
const published = { ...release, author: octocat, published_at: '2026-02-01T00:00:00Z' }

const FULL = { 'job-scope': 'pull-request', context: 'diff', 'context-paths': '**' }
const DIFF = { context: 'diff' }

/** A tag in a repository without releases. */
const ALONE = 'refs/tags/v3'

/** Steps that read all that the action can read. */
const STEPS: readonly (readonly [inputs: Record<string, string>, run?: RunOptions])[] = [
  [FULL],
  [FULL, { env: { GITHUB_RUN_ID: '100', GITHUB_RUN_ATTEMPT: '2' } }],
  [FULL, run('push', push)],
  [
    { ...FULL, comment: 'true' },
    run('push', { ...push, after: sha('late'), commits: [{ ...commits[1], id: sha('late') }] }),
  ],
  [{ ...DIFF, 'skip-authors': 'mintlify[bot]' }, run('push', push)],
  [DIFF, run('push', { ...push, before: sha('old tag'), after: sha('tag') }, 'refs/tags/v2')],
  [DIFF, run('push', { ...push, after: sha('large'), head_commit: { id: sha('large') } })],
  [DIFF, run('merge_group', { action: 'checks_requested', merge_group: group })],
  [DIFF, run('release', { action: 'published', release: published }, 'refs/tags/v2')],
  [DIFF, run('schedule', { schedule: '0 3 * * *' })],
  [
    DIFF,
    {
      ...run('schedule', { schedule: '0 3 * * *' }),
      env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: COMMIT, GITHUB_RUN_ATTEMPT: '2' },
    },
  ],
  [{ ...DIFF, since: 'v1' }, dispatch],
  [{ ...DIFF, 'code-repositories': 'your-org/api\nyour-org/young', since: '2026-01-01' }, dispatch],
  [{ ...DIFF, 'issue-number': '1' }, dispatch],
  [{ ...DIFF, 'issue-number': '40' }, dispatch],
  [{ 'job-scope': 'pull-request', 'issue-number': '99' }, dispatch],
  [DIFF, run('issues', { action: 'opened', issue, sender: { ...reader, login: 'gone' } })],
  [DIFF, run('issue_comment', { action: 'created', issue: onPull, comment, sender: octocat })],
  [DIFF, run('push', { ...push, before: sha('old tag') }, ALONE)],
]

/** A world where each of these finds something. */
function fill({ repository, github }: SimulatedWorld): void {
  const renamed = {
    filename: 'b.md',
    previous_filename: 'a.md',
    status: 'renamed',
    patch: '+',
  } as const
  Object.assign(repository.pulls.get(1) ?? {}, {
    ...{ merged: true, state: 'closed', mergeCommit: COMMIT, labels: new Set(['docs']) },
    ...{ commits: [{ sha: sha('1'), message: 'One' }], files: [renamed] },
  })
  for (const base of [push.before, sha('v1'), 'v1'])
    repository.addComparison(base, COMMIT, { files: [renamed] })
  for (const name of [HEAD, MERGE, sha('a')]) repository.addCommit({ sha: name })
  const many = [renamed, ...Array.from({ length: 299 }, (_, nth) => file(`${nth}.md`))]
  repository.addCommit({ sha: sha('large'), parents: [push.before], files: many })
  repository.addRelease('v1', '2026-01-01T00:00:00Z')
  repository.addRun({ head_sha: push.before })
  for (let id = 101; id < 120; id++) repository.addRun({ id, conclusion: 'failure' })
  const code = github.addRepository('your-org/api', {})
  code.push('2025-12-01T00:00:00Z')
  code.push('2026-02-01T00:00:00Z', { commit: { files: [renamed] } })
  const young = github.addRepository('your-org/young', {})
  for (const at of ['2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z']) young.push(at)
  repository.issues.add(40)
  for (const name of ['octocat', 'reader'])
    repository.collaborators.set(name, { permission: 'write', role_name: 'write' })
  github.faults.push({
    path: /\/gone\/permission$/,
    answer: { status: 404, body: { message: 'Not Found' } },
  })
  github.addRepository('your-org/docs', {}).addPull({ number: 17 })
}

async function readEverything() {
  const reads: Reads = new Map()
  const endpoints = new Set<unknown>()
  const { parse } = JSON
  try {
    await inWorld({}, async (world) => {
      fill(world)
      for (const [inputs, run] of STEPS) {
        JSON.parse = (text: string, ...more) => {
          const value = parse(text, ...more)
          const isAnswer = ({ answered, status }: Received): boolean =>
            answered === text && status === 200
          const isPayload = run && text === JSON.stringify(run.payload)
          const place = isPayload ? run.event : world.github.requests.findLast(isAnswer)?.endpoint
          return place === undefined ? value : watched(value, [place], reads)
        }
        if (run?.env?.GITHUB_REF === ALONE) world.repository.releases.splice(0)
        await world.step(inputs, run)
        JSON.parse = parse
      }
      for (const { endpoint } of world.github.requests) endpoints.add(endpoint)
    })
  } finally {
    JSON.parse = parse
  }
  return { reads, endpoints }
}

const { reads, endpoints } = await readEverything()
const ALL = [...reads].map(([path, isThere]) => {
  const [of = '', ...names] = path.split('\n')
  return { of, names, path: [of, ...names].join(' '), isThere, isAnswer: of.includes(' ') }
})

test('all that the action asks of GitHub was asked [github.described]', () => {
  const others = ENDPOINTS.map(([method, path]) => `${method} ${path}`).filter(
    (one) => !endpoints.has(one),
  )
  expect(others).toEqual([
    'POST /issues/{issue_number}/labels',
    'DELETE /issues/{issue_number}/labels/{name}',
    'GET /pulls',
    'PATCH /pulls/{pull_number}',
    'POST /pulls/{pull_number}/requested_reviewers',
    'POST /graphql/pulls/{pull_number}/{change}',
    'GET /commits/{ref}/check-runs',
    'GET /deployments',
    'GET /deployments/{deployment_id}/statuses',
    'POST /statuses/{sha}',
  ])
})

/** What is read of either, a pull request or an issue, though only one of them has it. */
const OF_EITHER = [
  'GET /commits/{commit_sha}/pulls [] pull_request',
  'GET /issues/{issue_number} base',
  'GET /issues/{issue_number} head',
  'GET /issues/{issue_number} merged_at',
  'GET /pulls/{pull_number} pull_request',
]

/** Before Node 22, Octokit parses with a `JSON.parse` that it took when it was loaded. */
const watchedTest = 'rawJSON' in JSON ? test : test.skip

watchedTest.each(VERSIONS)(
  'what it reads of an answer is described in version %s [github.described]',
  (version) => {
    const unknown = ALL.filter(
      ({ of, names, isAnswer }) => isAnswer && !describesAnswer({ version, endpoint: of }, names),
    )
    const paths = unknown.map(({ path }) => path).filter((path) => !OF_EITHER.includes(path))
    const taken =
      version === '2026-03-10'
        ? [
            'GET /commits/{commit_sha}/pulls [] merge_commit_sha',
            'GET /pulls/{pull_number} merge_commit_sha',
          ]
        : []
    expect(paths.sort()).toEqual(taken)
  },
)

test('no fake leaves out what it reads [github.described]', () => {
  const version = VERSIONS[0]
  const left = ALL.filter(({ of, names, path, isThere, isAnswer }) => {
    const isDescribed = isAnswer
      ? describesAnswer({ version, endpoint: of }, names)
      : describesPayload(of, names)
    // An issue has neither if it is no pull request.
    return isDescribed && !isThere && !/ (?:pull_request|draft)$/.test(path)
  })
  expect(left.map(({ path }) => path)).toEqual([])
})
