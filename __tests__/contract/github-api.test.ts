/**
 * The tests' GitHub, the emulator's and the action's requests are as GitHub's own description says.
 */

import { expect, test } from '@jest/globals'
import { startPullRequest } from '../../emulator/pull-request.mjs'
import { GITHUB_TOKEN } from '../../emulator/scenarios.mjs'
import { text } from '../support/files.js'
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

/** A request of each endpoint, below the repository, with its body. */
const REQUESTS = [
  'GET ',
  'GET /issues/40',
  'GET /issues/1',
  'POST /issues/1/comments {"body":"One"}',
  'GET /issues/1/comments?per_page=1',
  'PATCH /issues/comments/COMMENT {"body":"Two"}',
  'POST /issues/1/labels {"labels":["docs"]}',
  'DELETE /issues/1/labels/docs',
  'GET /pulls?state=all',
  'GET /pulls/1',
  'PATCH /pulls/1 {"title":"Another"}',
  'POST /pulls/1/requested_reviewers {"reviewers":["octocat"]}',
  'GET /pulls/1/files?per_page=100&page=1',
  'GET /pulls/1/commits',
  'GET /compare/a...b',
  `GET /commits/${sha('head')}/check-runs?check_name=docs`,
  `GET /commits/${sha('merge')}/pulls`,
  'GET /git/commits/a',
  'GET /commits/a',
  'GET /commits?sha=a&until=2026-11-20T03:02:00.000Z&per_page=1',
  'GET /branches/main',
  'GET /activity?ref=refs/heads/main&per_page=100',
  'GET /actions/workflows/docs.yml/runs?status=success',
  'GET /actions/runs/RUN',
  'GET /actions/runs/7/attempts/1',
  'GET /collaborators/octocat/permission',
  'GET /releases',
  'GET /tags',
  `GET /deployments?sha=${sha('head')}`,
  'GET /deployments/0/statuses',
  `POST /statuses/${sha('head')} {"state":"success"}`,
]

function ask(url: string, request: string, token = 'ghs_token'): Promise<Response> {
  const [method = '', path, body] = request.split(' ')
  const headers = { authorization: `token ${token}`, 'user-agent': 'test' }
  return fetch(`${url}/repos/${REPOSITORY}${path}`, { method, headers, ...(body && { body }) })
}

const REFUSED = {
  'GET /issues/41': 404,
  'POST /issues/1/comments {"body":""}': 422,
  'POST /issues/1/labels {"labels":["none"]}': 403,
  'GET /git/commits/none': 404,
}

test.each(VERSIONS)(
  'version %s: every endpoint takes, answers and refuses what GitHub does [github.described]',
  async (version) => {
    const ofRecipes = { checks: 'read', deployments: 'read', statuses: 'write' } as const
    const permissions = { ...ofRecipes, contents: 'write' } as const
    const github = await startGitHub({ version, permissions })
    const repo = github.addRepository(REPOSITORY, { private: true })
    const labels = new Set(['bug'])
    repo.addPull({
      ...{ merged: true, state: 'closed', mergeCommit: sha('merge') },
      ...{ labels, commits: [repo.addCommit()] },
    })
    repo.labels.add('docs')
    repo.issues.add(40)
    repo.addComparison('a', 'b')
    repo.addCommit({ author: null })
    for (const head_repository of [REPOSITORY, null]) repo.addRun({ head_repository })
    repo.push('2026-11-20T00:00:00Z', { head: 'a' })
    repo.addRelease('v1', '2026-01-01T00:00:00Z')
    repo.addRelease('v2', null)
    repo.checks.push({
      ...{ name: 'docs', head_sha: sha('head') },
      ...{ status: 'completed', conclusion: 'success' },
    })
    repo.deployments.push({ sha: sha('head'), environment_url: 'https://preview.example' })
    for (const request of REQUESTS) {
      const named = request
        .replace('COMMENT', `${[...repo.comments.keys()].at(-1)}`)
        .replace('RUN', `${repo.runs[0]?.id}`)
      expect([request, (await ask(github.url, named)).ok]).toEqual([request, true])
    }
    for (const [request, status] of Object.entries(REFUSED))
      expect([request, (await ask(github.url, request)).status]).toEqual([request, status])
    await github.close()
    const asked = new Set(github.requests.map(({ endpoint }) => endpoint))
    expect(DESCRIBED.filter((endpoint) => !asked.has(endpoint))).toEqual([])
  },
)

test('the versions are those of the description, which says of which package it was made [github.described]', () => {
  const read = (name: string) => JSON.parse(text(`__tests__/support/${name}.json`))
  expect(Object.keys(read('github-api').differences)).toEqual(VERSIONS.slice(1))
  expect(read('github-api').source).toMatch(/^@octokit\/openapi \d+\.\d+\.\d+$/)
  expect(read('github-events').source).toBe(read('github-api').source)
})

test('GraphQL alone is described elsewhere [github.described]', () => {
  expect(ENDPOINTS.filter(([method, path]) => !isDescribed(`${method} ${path}`))).toHaveLength(1)
})

const PULL = 'GET /pulls/{pull_number}'
const asked = (endpoint: string, path = {}, query = '', body?: object) =>
  requestProblems({
    ...{ version: '2022-11-28', endpoint, path, body },
    query: new URLSearchParams(query),
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
  ['a parameter that GitHub does not know', asked(PULL, {}, 'page=1'), 'query  must NOT have'],
  ['a wrong path', asked(PULL, { pull_number: 'one' }), '/pull_number must be integer'],
  [
    'a missing field',
    asked('POST /issues/{issue_number}/comments', { issue_number: '1' }, '', {}),
    "required property 'body'",
  ],
  ['a body where there is none', asked(PULL, {}, '', {}), 'it takes no body'],
  ['another payload', payloadProblems('push', { action: 'pushed' }), 'must NOT have'],
  [
    'an action that the event lacks',
    payloadProblems('issue_comment', { action: 'labeled' }),
    'no action labeled',
  ],
])('%s is found [github.described]', (_, problems, says) => {
  expect(problems).toEqual([expect.stringContaining(says)])
})

test("the emulator's GitHub answers as GitHub does [github.described] [house.emulator]", async () => {
  const actions = ['opened', 'synchronize', 'closed']
  const { runs, close } = await startPullRequest(actions, () => undefined)
  const COMMENTS = '/issues/{issue_number}/comments'
  for (const [endpoint, request] of [
    [`POST ${COMMENTS}`, 'POST /issues/7/comments {"body":"One"}'],
    [`GET ${COMMENTS}`, 'GET /issues/7/comments'],
    ['PATCH /issues/comments/{comment_id}', 'PATCH /issues/comments/1001 {"body":"Two"}'],
    ['GET /collaborators/{username}/permission', 'GET /collaborators/octocat/permission'],
    [PULL, 'GET /pulls/8'],
  ] as const) {
    const response = await ask(`${runs[0]?.env.GITHUB_API_URL}`, request, GITHUB_TOKEN)
    expect(answered(endpoint, await response.json(), response.status)).toEqual([])
  }
  for (const { event } of runs) expect(payloadProblems('pull_request', event)).toEqual([])
  await close()
})

test("the simulated world's payloads are GitHub's [github.described]", () => {
  const told = { title: 'Title', body: 'Body', labels: ['docs'], commentId: 5, hasPulls: true }
  const found = Array.from({ length: 2000 }, (_, seed) => {
    const event = createEvent({ random: new Random(seed), usesGitHub: true } as Draw)
    // GitHub has null for the author of a comment whose account is gone, but another account for
    // that of a pull request (github.com/atlassian/github-for-jira/pull/164).
    return event.author === 'gone' ? [] : payloadProblems(event.name, payloadOf(event, told))
  })
  expect([...new Set(found.flat())]).toEqual([])
})
