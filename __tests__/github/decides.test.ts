/** What decides is what GitHub says: a failure, a part of a list or a text in the wrong place never counts as "nothing". */

import { describe, expect, test } from '@jest/globals'
import { sha } from '../support/github.js'
import { deadlineAfter, HEAD, inWorld, type RunOptions, type World } from '../support/pull-request.js'

const DENIED = { status: 403, body: { message: 'Resource not accessible by integration' } }
const DOCS_TOKEN = 'ghp_docs_0123456789'

const posts = ({ emulator }: World): string[] =>
  emulator.requests.filter(({ method }) => method === 'POST').map(({ path }) => path)

const push = (fields: object = {}): RunOptions => ({
  event: 'push',
  payload: { before: sha('a'), after: sha('b'), commits: [], sender: { login: 'octocat' }, ...fields },
  env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: HEAD, GITHUB_RUN_ID: '7' },
})
/** Somebody merged what the agent did. */
const merged = push({
  commits: [
    { id: sha('docs'), message: 'Docs', author: { username: 'mintlify[bot]' } },
    { id: sha('b'), message: 'Merge', author: { username: 'octocat' } },
  ],
})
const rerun = (run: RunOptions): RunOptions => ({ ...run, env: { ...run.env, GITHUB_RUN_ATTEMPT: '2' } })
const comment: RunOptions = {
  event: 'issue_comment',
  payload: {
    action: 'created',
    issue: { number: 9, title: 'T' },
    comment: { id: 5, user: { login: 'octocat' }, body: '/docs' },
    sender: { login: 'octocat' },
  },
}

describe('nothing is sent if GitHub refuses', () => {
  test.each<[string, RegExp, Record<string, string>, RunOptions]>([
    ["the pull request's comments", /\/issues\/\d+\/comments/, { 'job-scope': 'pull-request' }, {}],
    ['the commits of a push that may be a merge', /\/commits\//, { 'skip-authors': 'mintlify[bot]' }, merged],
    ['the files', /\/compare\//, { 'context-paths': 'docs/**' }, push()],
    [
      'a permission, also if docs-token could read it',
      /\/collaborators\//,
      { 'docs-token': DOCS_TOKEN },
      comment,
    ],
  ])('%s', (_, path, inputs, run) =>
    inWorld({}, async (world) => {
      world.github.faults.push({ method: 'GET', path, times: Number.POSITIVE_INFINITY, answer: DENIED })
      const { outputs } = await world.step(inputs, run)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', 'job-id': '' })
      expect(world.emulator.requests).toEqual([])
      expect(JSON.stringify(world.github.requests)).not.toContain(DOCS_TOKEN)
    }),
  )
})

test.each<[string, RegExp, Record<string, string>, attempt: string]>([
  ['files', /\/pulls\/\d+\/files/, { 'context-paths': 'docs/**' }, '1'],
  ['comments', /\/issues\/\d+\/comments/, { 'job-scope': 'pull-request' }, '1'],
  ['checks', /\/check-runs/, { check: 'true' }, '2'],
])('an answer without a list of %s is none', (_, path, inputs, attempt) =>
  inWorld({}, async (world) => {
    const answer = { status: 200, body: {} }
    world.github.faults.push({ method: 'GET', path, times: Number.POSITIVE_INFINITY, answer })
    const env = { GITHUB_RUN_ATTEMPT: attempt }
    const { outputs } = await world.step({ ...inputs, ...deadlineAfter(300) }, { env })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    expect(world.emulator.requests).toEqual([])
  }),
)

test('a recorded job gets no message, and no other takes its place, if the comments can not be read', () =>
  inWorld({}, async (world) => {
    const inputs = { 'job-scope': 'pull-request', check: 'true' }
    await world.step(inputs)
    const comments = world.comments()
    const path = /\/issues\/\d+\/comments/
    world.github.faults.push({ method: 'GET', path, times: Number.POSITIVE_INFINITY, answer: DENIED })
    const { outputs } = await world.step(inputs)
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', 'job-id': '' })
    expect(posts(world)).toHaveLength(1)
    expect(world.comments()).toEqual(comments)
  }))

test("a marker counts only where ours stands in a check's text", () =>
  inWorld({}, async (world) => {
    const run = push()
    await world.step({ check: 'true', wait: 'false' }, run)
    for (const check of world.checks()) {
      check.output = { ...check.output, text: `Somebody's words\n${check.output.text}` }
    }
    const { outputs } = await world.step({ check: 'true', wait: 'false' }, rerun(run))
    expect(outputs).toMatchObject({ outcome: 'started', reused: 'false' })
    expect(posts(world)).toHaveLength(2)
  }))
