/**
 * The tests' GitHub, the emulator's and the action's requests are as GitHub's own description says.
 */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { startPullRequest } from '../../emulator/pull-request.mjs'
import { GITHUB_TOKEN } from '../../emulator/scenarios.mjs'
import { sha, startGitHub } from '../support/github.js'
import {
  answerProblems,
  isDescribed,
  payloadProblems,
  requestProblems,
  VERSIONS,
} from '../support/github-api.js'
import { ENDPOINTS } from '../support/github-endpoints.js'
import type { Draw } from '../world/draw.js'
import { createEvent, payloadOf } from '../world/events.js'
import { Random } from '../world/random.js'

const REPOSITORY = 'your-org/your-repo'
const DESCRIBED = ENDPOINTS.map(([method, path]) => `${method} ${path}`).filter(isDescribed)

/** A request of each endpoint, below the repository. */
const REQUESTS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', ''],
  ['GET', '/issues/40'],
  ['GET', '/issues/1'],
  ['POST', '/issues/1/comments', { body: 'One' }],
  ['GET', '/issues/1/comments?per_page=1'],
  ['PATCH', '/issues/comments/COMMENT', { body: 'Two' }],
  ['POST', '/issues/1/labels', { labels: ['docs'] }],
  ['DELETE', '/issues/1/labels/docs'],
  ['GET', '/pulls?state=all'],
  ['GET', '/pulls/1'],
  ['PATCH', '/pulls/1', { title: 'Another' }],
  ['POST', '/pulls/1/requested_reviewers', { reviewers: ['octocat'] }],
  ['GET', '/pulls/1/files?per_page=100&page=1'],
  ['GET', '/pulls/1/commits'],
  ['GET', '/compare/a...b'],
  ['GET', `/commits/${sha('head')}/check-runs?check_name=docs`],
  ['GET', `/commits/${sha('merge')}/pulls`],
  ['GET', '/git/commits/a'],
  ['GET', '/commits/a'],
  ['GET', '/actions/workflows/docs.yml/runs?status=success'],
  ['GET', '/collaborators/octocat/permission'],
  ['GET', '/releases'],
  ['GET', `/deployments?sha=${sha('head')}`],
  ['GET', '/deployments/0/statuses'],
  ['POST', `/statuses/${sha('head')}`, { state: 'success' }],
]

describe.each(VERSIONS)('version %s [github.described]', (version) => {
  const start = async () => {
    const ofRecipes = { checks: 'read', deployments: 'read', statuses: 'write' } as const
    const permissions = { ...ofRecipes, contents: 'write' } as const
    const github = await startGitHub({ version, permissions })
    const repo = github.addRepository(REPOSITORY, { private: true })
    const labels = new Set(['bug'])
    repo.addPull({
      merged: true,
      state: 'closed',
      mergeCommit: sha('merge'),
      labels,
      commits: [repo.addCommit()],
    })
    repo.labels.add('docs')
    repo.issues.add(40)
    repo.addComparison('a', 'b')
    repo.addCommit({ author: null })
    for (const head_repository of [REPOSITORY, null]) repo.addRun({ head_repository })
    repo.addRelease('v1', '2026-01-01T00:00:00Z')
    repo.addRelease('v2', null)
    repo.checks.push({
      ...{ name: 'docs', head_sha: sha('head') },
      ...{ status: 'completed', conclusion: 'success' },
    })
    repo.deployments.push({ sha: sha('head'), environment_url: 'https://preview.example' })
    const ask = (method: string, path: string, body?: object) =>
      fetch(`${github.url}/repos/${REPOSITORY}${path}`, {
        method,
        headers: { authorization: 'token ghs_token', 'user-agent': 'test' },
        ...(body && { body: JSON.stringify(body) }),
      })
    return { github, repo, ask }
  }

  test('every endpoint takes and answers what GitHub does [github.described]', async () => {
    const { github, repo, ask } = await start()
    for (const [method, path, body] of REQUESTS) {
      const named = path.replace('COMMENT', String([...repo.comments.keys()].at(-1)))
      const { status } = await ask(method, named, body)
      expect([method, path, Math.floor(status / 100)]).toEqual([method, path, 2])
    }
    await github.close()
    const asked = new Set(github.requests.map(({ endpoint }) => endpoint))
    expect(DESCRIBED.filter((endpoint) => !asked.has(endpoint))).toEqual([])
  })

  test('and so are refusals', async () => {
    const { github, ask } = await start()
    const statuses = []
    for (const [method, path, body] of [
      ['GET', '/issues/41'],
      ['POST', '/issues/1/comments', { body: ' ' }],
      ['POST', '/issues/1/labels', { labels: ['none'] }],
      ['GET', '/git/commits/none'],
    ] as const)
      statuses.push((await ask(method, path, body)).status)
    expect(statuses).toEqual([404, 422, 403, 404])
    await github.close()
  })
})

test('the versions are those of the description, which says of which package it was made', () => {
  const read = (name: string) => JSON.parse(readFileSync(`__tests__/support/${name}.json`, 'utf8'))
  expect(Object.keys(read('github-api').differences)).toEqual(VERSIONS.slice(1))
  expect(read('github-api').source).toMatch(/^@octokit\/openapi \d+\.\d+\.\d+$/)
  expect(read('github-events').source).toBe(read('github-api').source)
})

test('only GraphQL is described elsewhere', () => {
  expect(ENDPOINTS.filter(([method, path]) => !isDescribed(`${method} ${path}`))).toHaveLength(1)
})

const PULL = 'GET /pulls/{pull_number}'
const asked = (fields: {
  endpoint: string
  path?: Record<string, string>
  query?: string
  body?: unknown
}) =>
  requestProblems({
    ...{ version: '2022-11-28', path: {}, body: undefined, ...fields },
    query: new URLSearchParams(fields.query),
  })
const answered = (
  endpoint: string,
  body: unknown,
  status = 200,
  version: (typeof VERSIONS)[number] = '2022-11-28',
) => answerProblems({ version, endpoint }, status, body)

test.each([
  ['a property unknown to GitHub', answered('GET /pulls', [{ merged: true }]), '/0 must NOT have'],
  ['another type', answered(PULL, { number: '1' }), '/number must be integer'],
  ['another word', answered(PULL, { state: 'merged' }), '/state must be equal to one of'],
  [
    'what a version takes away',
    answered(PULL, { merge_commit_sha: null }, 200, '2026-03-10'),
    'must NOT have',
  ],
  [
    'what a server lacks',
    answered('GET /releases', [{ discussion_url: 'https://a.b' }], 200, 'ghes-3.17'),
    '/0 must NOT have',
  ],
  ['another status', answered(PULL, {}, 201), 'it has no answer 201'],
  [
    'a parameter that GitHub does not know',
    asked({ endpoint: PULL, query: 'page=1' }),
    'query  must NOT have',
  ],
  [
    'a wrong path',
    asked({ endpoint: PULL, path: { pull_number: 'one' } }),
    '/pull_number must be integer',
  ],
  [
    'a missing field',
    asked({
      endpoint: 'POST /issues/{issue_number}/comments',
      path: { issue_number: '1' },
      body: {},
    }),
    "required property 'body'",
  ],
  ['a body where there is none', asked({ endpoint: PULL, body: {} }), 'it takes no body'],
  ['another payload', payloadProblems('push', { action: 'pushed' }), 'must NOT have'],
  [
    'an action that the event lacks',
    payloadProblems('issue_comment', { action: 'labeled' }),
    'no action labeled',
  ],
])('%s is found [github.described]', (_, problems, says) => {
  expect(problems).toEqual([expect.stringContaining(says)])
})

test("the emulator's GitHub answers as GitHub does", async () => {
  const { runs, close } = await startPullRequest(
    ['opened', 'synchronize', 'closed'],
    () => undefined,
  )
  const url = `${runs[0]?.env.GITHUB_API_URL}/repos/${REPOSITORY}`
  const send = async (endpoint: string, path: string, body?: object) => {
    const [method = ''] = endpoint.split(' ')
    const headers = { authorization: `token ${GITHUB_TOKEN}` }
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return answered(endpoint, await response.json(), response.status)
  }
  const comments = '/issues/{issue_number}/comments'
  expect(await send(`POST ${comments}`, '/issues/7/comments', { body: 'One' })).toEqual([])
  expect(await send(`GET ${comments}`, '/issues/7/comments')).toEqual([])
  expect(
    await send('PATCH /issues/comments/{comment_id}', '/issues/comments/1001', { body: 'Two' }),
  ).toEqual([])
  const permission = 'GET /collaborators/{username}/permission'
  expect(await send(permission, '/collaborators/octocat/permission')).toEqual([])
  expect(await send(PULL, '/pulls/8')).toEqual([])
  for (const { event } of runs) expect(payloadProblems('pull_request', event)).toEqual([])
  await close()
})

test("the simulated world's payloads are GitHub's", () => {
  const told = { title: 'Title', body: 'Body', labels: ['docs'], commentId: 5, hasPulls: true }
  const found = Array.from({ length: 2000 }, (_, seed) => {
    const event = createEvent({ random: new Random(seed), usesGitHub: true } as Draw)
    // GitHub has null for the author of a comment whose account is gone, but another account for
    // that of a pull request (github.com/atlassian/github-for-jira/pull/164).
    return event.author === 'gone' ? [] : payloadProblems(event.name, payloadOf(event, told))
  })
  expect([...new Set(found.flat())]).toEqual([])
})
