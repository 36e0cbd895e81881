/** Who may start a job: what a stranger, a reader or the step's own comment must not. */

import { describe, expect } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { BAD_GATEWAY } from '../support/github.js'
import {
  deadlineAfter,
  expectJob,
  expectSkipped,
  HEAD,
  REPOSITORY,
  type RunOptions,
  testsIn,
  type World,
} from '../support/pull-request.js'

const asked = ({ github }: World): string[] =>
  github.requests
    .flatMap(({ path }) => /\/collaborators\/(.*)\/permission$/.exec(path)?.[1] ?? [])
    .map(decodeURIComponent)

function expectRefused(ended: Ended, world: World, why: string): void {
  expectSkipped(ended, world, `Nothing was sent: ${why}`)
  expect(rendered(ended.summary)).toContain(why)
}

/** The text as a reader sees it: a login with brackets is code. */
const rendered = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/<\/?code>/g, '')

const comment = (sender: string, author = sender): RunOptions => ({
  event: 'issue_comment',
  payload: {
    issue: { number: 9 },
    comment: { user: { login: author } },
    sender: { login: sender },
  },
})
/** From a branch of this repository, or of a fork. */
const pullRequest = (
  action: string,
  login: string,
  { event = 'pull_request', head = REPOSITORY, author = login } = {},
): RunOptions => ({
  event,
  payload: {
    action,
    pull_request: {
      number: 1,
      title: 'Add --retry',
      user: { login: author, type: author.endsWith('[bot]') ? 'Bot' : 'User' },
      head: { ref: 'feature', sha: HEAD, repo: { full_name: head } },
      base: { ref: 'main', repo: { full_name: REPOSITORY } },
    },
    sender: { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' },
  },
})
const FORK = { head: 'someone/your-repo' }

const roleTest = testsIn({
  prepare: ({ repository: { collaborators } }) => {
    collaborators.set('owner', { permission: 'admin', role_name: 'admin' })
    collaborators.set('writer', { permission: 'write', role_name: 'maintain' })
    collaborators.set('reader', { permission: 'read', role_name: 'triage' })
    collaborators.set('triager', { permission: 'triage', role_name: 'triage' })
  },
})

describe('a comment', () => {
  roleTest.each(['owner', 'writer'])(
    'by the %s starts a job [access.permission.write]',
    async (world, login) => {
      world.github.faults.push({ answer: BAD_GATEWAY })
      expectJob(await world.step({}, comment(login)))
      expect(asked(world)).toEqual([login, login])
    },
  )

  roleTest.each(['reader', 'triager', 'robot[bot]'])(
    'by the %s starts none, and gets none [access.refused.green] [access.permission.write]',
    async (world, login) => {
      const ended = await world.step({ comment: 'true' }, comment(login))
      const why = `who triggered this run, has no write access to ${REPOSITORY} and is not in allow-users`
      expectRefused(ended, world, `${login}, ${why}`)
      expect([asked(world), world.github.writes()]).toEqual([[login], []])
    },
  )
})

roleTest(
  'an account that is gone may not start a job [access.refused.green] [access.events.others]',
  async (world) => {
    const ended = await world.step({}, comment('owner', ''))
    expectRefused(ended, world, 'the account that wrote the comment, review or answer is unknown')
    expect(ended.log).not.toContain('add the login')
    expect(asked(world)).toEqual(['owner'])
  },
)

roleTest(
  'a permission of another shape is none that can be read [access.permission.unknown] [github.shape]',
  async (world) => {
    const answer = { status: 200, body: { role_name: 'admin' } }
    world.github.faults.push({ path: /permission/, answer, times: Number.POSITIVE_INFINITY })
    const { outputs, log } = await world.step(deadlineAfter(600), comment('writer'))
    expect(outputs['error-code']).toBe('github')
    expect(log).toContain('reading the permission of writer failed: unexpected response.')
  },
)

describe('a pull request from a fork', () => {
  // A private repository may send its secrets to forks.
  roleTest(
    'is skipped before bad input is told, with advice [access.refused.first] [report.advice.followed] [access.refused.no-key]',
    async (world) => {
      const ended = await world.step({ wait: 'perhaps' }, pullRequest('opened', 'stranger', FORK))
      expectRefused(ended, world, 'stranger, who triggered this run, has no write access')
      for (const text of [ended.log, ended.summary])
        expect(text).toContain('add the login to allow-users')
    },
  )

  // Whoever is let in then turns each run red: there is no key.
  roleTest(
    'by a stranger gets no advice of allow-users if the run has no key [access.refused.no-key]',
    async (world) => {
      const ended = await world.step({ 'api-key': '' }, pullRequest('opened', 'stranger', FORK))
      expectRefused(ended, world, 'stranger, who triggered this run, has no write access')
      for (const text of [ended.log, ended.summary]) {
        expect(text).toMatch(/such runs get no secrets.* comment `\/docs`/s)
        expect(text).not.toContain('allow-users')
      }
    },
  )

  roleTest.each([
    ['octocat', 'comes from a fork'],
    ['dependabot[bot]', 'was triggered by Dependabot'],
  ])(
    'by a writer without a key, says why it is missing: %s [access.refused.first] [access.refused.no-key]',
    async (world, GITHUB_ACTOR, why) => {
      const run = { ...pullRequest('opened', 'writer', FORK), env: { GITHUB_ACTOR } }
      const { outputs, log } = await world.step({ 'api-key': ' ' }, run)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input', sent: 'nothing' })
      expect(log).toContain(why)
    },
  )

  roleTest(
    'if nobody can be asked who may start, bad inputs are told anyway [access.refused.first]',
    async (world) => {
      world.github.faults.push({ path: /permission/, answer: { status: 401, body: {} } })
      const { outputs, log } = await world.step(
        { wait: 'maybe' },
        pullRequest('opened', 'writer', FORK),
      )
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
      expect(log).toContain('wait: ')
    },
  )
})

roleTest(
  "a push to a reader's pull request starts no job with their words [access.words.asked]",
  async (world) => {
    const ended = await world.step({}, pullRequest('synchronize', 'writer', { author: 'reader' }))
    expectRefused(ended, world, 'reader, who opened the pull request, has no write access')
    const own = await world.step({}, pullRequest('synchronize', 'writer'))
    expectJob(own)
  },
)

roleTest(
  'a permission that can not be read sends nothing [access.permission.unknown]',
  async (world) => {
    const answer = { status: 403, body: { message: 'Resource not accessible by integration' } }
    world.github.faults.push({ path: /permission/, answer, times: 3 })
    const { outputs, exitCode, log } = await world.step({}, comment('writer'))
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    expect(exitCode).toBe(1)
    expect(log).toContain(
      'reading the permission of writer failed: 403, "Resource not accessible by integration". Nothing was sent. Pass a github-token with write access to this repository, or use allow-users.',
    )
    expect(log).not.toContain('re-run later')
    expect(world.emulator.requests).toEqual([])
  },
)

roleTest(
  'with bad input, nobody is waited for longer than a minute [net.deadline]',
  async (world) => {
    world.github.faults.push({ path: /permission/, times: 50, answer: 'silence' })
    const { milliseconds } = await world.step({ 'fail-on': 'everything' }, comment('writer'))
    expect(milliseconds).toBeGreaterThan(55_000)
    expect(milliseconds).toBeLessThan(61_000)
  },
)

roleTest('a dry run asks as well [access.wait.free]', async (world) => {
  const ended = await world.step({ 'dry-run': 'true' }, comment('stranger'))
  expectRefused(ended, world, 'stranger, who triggered this run, has no write access')
})

describe("the step's own comment [skip.own-comment]", () => {
  const SCOPE = { 'job-scope': 'pull-request' }
  const PLACEHOLDER = `⏳ Nothing has been sent yet.\n\n<!-- ${'0a'.repeat(16)} -->`
  const written = ({ repository }: World) =>
    [...repository.comments.values()][0] ?? { id: 0, body: '' }

  /** A run that the comment with this id triggered, with a personal token: its author may write. */
  const about = (id: number, body: string): RunOptions => {
    const issue = { number: 1, user: { login: 'octocat' }, pull_request: {} }
    const writer = { login: 'writer' }
    return {
      event: 'issue_comment',
      payload: { issue, comment: { id, body, user: writer }, sender: writer },
    }
  }

  roleTest.each([
    ['its marker', SCOPE, undefined],
    ['its nonce, as it was before its marker was added', SCOPE, PLACEHOLDER],
  ] as const)('starts nothing: it is recognized by %s', async (world, _, inputs, earlier) => {
    await world.step(inputs)
    const { id, body } = written(world)
    const { outputs } = await world.step(inputs, about(id, earlier ?? body))
    expect(outputs).toMatchObject({ outcome: 'skipped', 'error-code': '' })
    expect(world.posts()).toHaveLength(1)
    expect(world.comments()).toEqual([body])
  })
})

roleTest.each([
  ['is an error if the token may not see the repository', 'Not Found', 404, 'error', 1],
  ['has no access to a repository that the token can read', 'Not Found', 200, 'skipped', 1],
  ['has no access if it is no user, without a question', 'writer is not a user', 404, 'skipped', 0],
] as const)(
  'an account that GitHub does not find %s [access.permission.unknown]',
  async (world, _, message, status, outcome, questions) => {
    const repository = new RegExp(`^/repos/${REPOSITORY}$`)
    world.github.faults.push(
      { path: /\/permission$/, answer: { status: 404, body: { message } } },
      { path: repository, answer: { status, body: { message: 'Not Found' } } },
    )
    const { outputs, log } = await world.step({}, comment('writer'))
    expect(outputs).toMatchObject({ outcome, 'error-code': outcome === 'error' ? 'github' : '' })
    expect(log).toContain(
      outcome === 'skipped'
        ? 'writer, who triggered this run, has no write access'
        : 'Nothing was sent. Pass a github-token with write access to this repository, or use allow-users.',
    )
    expect(world.emulator.requests).toEqual([])
    expect(world.github.requests.filter(({ path }) => repository.test(path))).toHaveLength(
      questions,
    )
  },
)
