/**
 * What decides is what GitHub says: a refusal, a part of a list or a text in the wrong place never
 * counts as "nothing".
 */

import { describe, expect } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { BAD_GATEWAY, refusal, sha } from '../support/github.js'
import {
  deadlineAfter,
  expectPrompt,
  HEAD,
  type RunOptions,
  testsIn,
  type World,
  worldTest,
} from '../support/pull-request.js'

const ALWAYS = { times: Number.POSITIVE_INFINITY }
const DENIED = refusal(403, 'Resource not accessible by integration')
const DOCS_TOKEN = 'ghp_docs_0123456789'

/** @returns the error */
function expectNothingSent({ outputs, exitCode, commands }: Ended, world: World): string {
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', 'job-id': '' })
  expect(exitCode).toBe(1)
  expect(world.emulator.requests).toEqual([])
  expect(commands('error')).toHaveLength(1)
  return commands('error')[0] ?? ''
}

const onMain = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: HEAD }
const schedule: RunOptions = { event: 'schedule', payload: {}, env: onMain }
const push = (fields: object = {}): RunOptions => ({
  event: 'push',
  payload: {
    before: sha('before'),
    after: HEAD,
    commits: [],
    sender: { login: 'octocat' },
    ...fields,
  },
  env: onMain,
})
/** Somebody merged what the agent did. */
const merged = push({
  commits: [
    { id: sha('docs'), message: 'Docs', author: { username: 'mintlify[bot]' } },
    { id: HEAD, message: 'Merge', author: { username: 'octocat' } },
  ],
})
const comment: RunOptions = {
  event: 'issue_comment',
  payload: {
    issue: { number: 9 },
    comment: { user: { login: 'octocat' } },
    sender: { login: 'octocat' },
  },
}

describe('nothing is sent if GitHub refuses [github.decides.retried]', () => {
  worldTest.each<[string, RegExp, Record<string, string>, RunOptions, times?: number]>([
    [
      'the commits of a push that may be a merge',
      /\/commits\//,
      { 'skip-authors': 'mintlify[bot]' },
      merged,
    ],
    [
      'a permission, if docs-token could read it',
      /\/collaborators\//,
      { 'docs-token': DOCS_TOKEN },
      comment,
    ],
    ['the memory', /\/comments/, { 'job-scope': 'pull-request' }, {}],
    [
      'the labels of what issue-number names',
      /\/(?:pulls|issues)\/1$/,
      { 'issue-number': '1', 'skip-labels': 'no docs' },
      { event: 'workflow_dispatch', payload: {} },
      4, // As a pull request, and as an issue.
    ],
    // A token's first refusal may pass.
  ])('%s', async (world, _, path, inputs, run, times = 3) => {
    // No longer: what is asked later could be answered.
    world.github.faults.push({ method: 'GET', path, answer: DENIED, times })
    expectNothingSent(await world.step(inputs, run), world)
    expect(JSON.stringify(world.github.requests)).not.toContain(DOCS_TOKEN)
  })
})

describe('a context that the token may not read sends nothing, and names the permission [github.context.refused]', () => {
  testsIn({ github: { permissions: { contents: 'none' } } })(
    'with a 404, as of what is not there',
    async (world) => {
      world.github.deniedRead = 404
      world.repository.addComparison(sha('before'), HEAD)
      const error = expectNothingSent(await world.step({ context: 'diff' }, push()), world)
      expect(error).toContain('contents: read')
      expect(world.github.requests.map(({ status }) => status)).toContain(404)
    },
  )

  worldTest("a token that isn't valid is named in place of the permission", async (world) => {
    const answer = { status: 401, body: { message: 'Bad credentials' } }
    world.github.faults.push({ path: /\/files/, answer, ...ALWAYS })
    const error = expectNothingSent(await world.step({ context: 'diff' }), world)
    expect(error).toContain('github-token')
    expect(world.github.requests).toHaveLength(3)
  })
})

const BUSY = 'Server Error: Sorry, this diff is temporarily unavailable due to heavy server load.'
worldTest(
  'a comparison that GitHub is too busy for is read again [range.list.never]',
  async (world) => {
    world.repository.addComparison(sha('before'), HEAD)
    world.github.faults.push({ path: /\/compare\//, answer: refusal(500, BUSY) })
    await world.step({ context: 'diff' }, push())
    expectPrompt(world, '## Changed files')
    expect(world.prompts()[0]).not.toContain('no list')
  },
)

worldTest(
  'what GitHub said is told, although it then says nothing to the end [github.decides.retried] [report.true]',
  async (world) => {
    const path = /\/files/
    world.github.faults.push({ path, answer: BAD_GATEWAY }, { path, answer: 'silence', ...ALWAYS })
    const ended = await world.step({ context: 'diff', ...deadlineAfter(5_000) })
    expect(expectNothingSent(ended, world)).toContain('failed: 502')
  },
)

worldTest.each<[string, RegExp, Record<string, string>, RunOptions]>([
  ['earlier runs', /\/runs/, { 'context-paths': 'docs/**' }, schedule],
  ['comments', /\/issues\/\d+\/comments/, { 'job-scope': 'pull-request' }, {}],
])(
  'an answer without a list of %s is none [range.list.unknown] [github.shape]',
  async (world, _, path, inputs, run) => {
    world.github.faults.push({ method: 'GET', path, answer: { status: 200, body: {} }, ...ALWAYS })
    expectNothingSent(await world.step({ ...inputs, ...deadlineAfter(600) }, run), world)
  },
)
