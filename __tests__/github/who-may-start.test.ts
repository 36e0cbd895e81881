/** Who may start a job: what a stranger, a reader or the step's own comment must not. */

import { describe, expect, test } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { BAD_GATEWAY } from '../support/github.js'
import {
  deadlineAfter,
  HEAD,
  inWorld,
  REPOSITORY,
  type RunOptions,
  type World,
} from '../support/pull-request.js'

const asked = ({ github }: World): string[] =>
  github.requests
    .flatMap(({ path }) => /\/collaborators\/(.*)\/permission$/.exec(path)?.[1] ?? [])
    .map(decodeURIComponent)

function expectSkipped(ended: Ended, world: World, why: string): void {
  expect(ended.outputs).toMatchObject({ outcome: 'skipped', 'error-code': '', 'job-id': '' })
  expect(ended.exitCode).toBe(0)
  expect(ended.log).toContain(`Nothing was sent: ${why}`)
  expect(rendered(ended.summary)).toContain(why)
  expect(world.emulator.requests).toEqual([])
}

/** The text as a reader sees it: a login with brackets is code. */
const rendered = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).replace(/<\/?code>/g, '')

const comment = (sender: string, author = sender): RunOptions => ({
  event: 'issue_comment',
  payload: {
    action: 'created',
    issue: { number: 9, title: 'T' },
    comment: { user: { login: author }, body: 'Please document this' },
    sender: { login: sender },
  },
})
/** From a branch of this repository, or of a fork. */
const pullRequest = (
  action: string,
  login: string,
  { event = 'pull_request', head = REPOSITORY } = {},
): RunOptions => ({
  event,
  payload: {
    action,
    pull_request: {
      number: 1,
      title: 'Add --retry',
      user: { login: 'octocat' },
      head: { ref: 'feature', sha: HEAD, repo: { full_name: head } },
      base: { ref: 'main', repo: { full_name: REPOSITORY } },
    },
    sender: { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' },
  },
})
const FORK = { head: 'someone/your-repo' }

const inRepository = (story: (world: World) => Promise<void>): Promise<void> =>
  inWorld({}, async (world) => {
    const { collaborators } = world.repository
    collaborators.set('owner', { permission: 'admin', role_name: 'admin' })
    collaborators.set('writer', { permission: 'write', role_name: 'maintain' })
    collaborators.set('reader', { permission: 'read', role_name: 'triage' })
    await story(world)
  })

describe('a comment', () => {
  test.each(
    Object.entries({ owner: true, writer: true, reader: false, stranger: false, 'robot[bot]': false }),
  )('by the %s starts a job: %s', (login, may) =>
    inRepository(async (world) => {
      const ended = await world.step({}, comment(login))
      if (may) expect(ended.outputs.outcome).toBe('pr-opened')
      else {
        expectSkipped(
          ended,
          world,
          `${login}, who triggered this run, has no write access to your-org/your-repo and is not in allow-users`,
        )
      }
      expect(asked(world)).toEqual([login])
    }),
  )

  test('of a stranger, edited by a writer, starts none', () =>
    inRepository(async (world) => {
      const ended = await world.step({}, comment('writer', 'stranger'))
      expectSkipped(ended, world, 'stranger, who wrote the comment, review or answer, has no write access')
    }))

  test.each([
    ['Robot[bot]', 'robot[bot]'],
    ['*', 'stranger'],
  ])('with allow-users %s, by %s, starts a job without asking', (allowed, login) =>
    inRepository(async (world) => {
      const { outputs } = await world.step({ 'allow-users': `someone, ${allowed}` }, comment(login))
      expect(outputs.outcome).toBe('pr-opened')
      expect(world.github.requests).toEqual([])
    }),
  )
})

test('an account that is gone may not start a job', () =>
  inRepository(async (world) => {
    const ended = await world.step({}, comment('owner', ''))
    expectSkipped(ended, world, 'the account that wrote the comment, review or answer is unknown')
    expect(asked(world)).toEqual(['owner'])
  }))

test('a permission of another shape is none that can be read', () =>
  inRepository(async (world) => {
    const answer = { status: 200, body: { role_name: 'admin' } }
    world.github.faults.push({ path: /permission/, answer, times: Number.POSITIVE_INFINITY })
    const { outputs, log } = await world.step(deadlineAfter(300), comment('writer'))
    expect(outputs['error-code']).toBe('github')
    expect(log).toContain('reading the permission of writer failed: unexpected response.')
  }))

describe('a pull request from a fork', () => {
  test.concurrent('without a key, is skipped before the key is missed', () =>
    inRepository(async (world) => {
      const ended = await world.runBundle({ 'api-key': '' }, pullRequest('opened', 'stranger', FORK))
      expectSkipped(ended, world, 'stranger, who triggered this run, has no write access')
    }))

  test('by a writer without a key, says why the key is missing', () =>
    inRepository(async (world) => {
      const { outputs, log } = await world.step({ 'api-key': '' }, pullRequest('opened', 'writer', FORK))
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
      expect(log).toContain('comes from a fork')
    }))
})

describe('a pull request from a branch of this repository', () => {
  test('that a reader opens starts no job', () =>
    inRepository(async (world) => {
      const why = 'reader, who triggered this run, has no write access'
      expectSkipped(await world.step({}, pullRequest('opened', 'reader')), world, why)
      expect(asked(world)).toEqual(['reader'])
    }))

  test('that a writer opens starts one, after one question', () =>
    inRepository(async (world) => {
      const { outputs } = await world.step({}, pullRequest('opened', 'writer'))
      expect(outputs.outcome).toBe('pr-opened')
      expect(world.github.requests).toHaveLength(1)
      expect(asked(world)).toEqual(['writer'])
    }))

  test.each([
    ['is pushed to', 'synchronize', 'reader'],
    ['an app opens', 'opened', 'renovate[bot]'],
  ])('that %s starts one without a question', (_, action, login) =>
    inRepository(async (world) => {
      expect((await world.step({}, pullRequest(action, login))).outputs.outcome).toBe('pr-opened')
      expect(world.github.requests).toEqual([])
    }),
  )
})

test("a workflow_run after a pull request asks for that run's actor", () =>
  inRepository(async (world) => {
    const payload = {
      workflow_run: {
        event: 'pull_request',
        actor: { login: 'stranger' },
        head_repository: { full_name: REPOSITORY },
      },
      sender: { login: 'owner' },
    }
    const ended = await world.step({}, { event: 'workflow_run', payload })
    expectSkipped(ended, world, 'stranger, who triggered the run before this one, has no write access')
  }))

describe('a permission that can not be read', () => {
  test.each([403, 500])('(%s) sends nothing', (status) =>
    inRepository(async (world) => {
      const answer = { status, body: { message: 'Resource not accessible by integration' } }
      world.github.faults.push({ path: /permission/, answer, times: Number.POSITIVE_INFINITY })
      const { outputs, exitCode, log } = await world.step(deadlineAfter(150), comment('writer'))
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(exitCode).toBe(1)
      expect(log).toContain("Nothing was sent, because the step can't tell whether this run may start a job")
      expect(world.emulator.requests).toEqual([])
    }),
  )

  test('because the payload is unreadable sends nothing', () =>
    inRepository(async (world) => {
      const ended = await world.step({}, { event: 'issue_comment', payload: '{' })
      expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(ended.log).toContain("Can't tell who triggered this run")
      expect(world.emulator.requests).toEqual([])
    }))
})

test('a dry run asks as well', () =>
  inRepository(async (world) => {
    const ended = await world.step({ 'dry-run': 'true' }, comment('stranger'))
    expectSkipped(ended, world, 'stranger, who triggered this run, has no write access')
  }))

test('a step that only waits asks nothing', () =>
  inRepository(async (world) => {
    const first = await world.step({ 'allow-users': '*' }, comment('stranger'))
    const { outputs } = await world.step(
      { prompt: '', 'job-id': first.outputs['job-id'] ?? '' },
      comment('stranger'),
    )
    expect(outputs.outcome).toBe('pr-opened')
    expect(world.github.requests).toEqual([])
  }))

test('on a re-run the first sender counts, and the log says so', () =>
  inRepository(async (world) => {
    const run = { ...comment('stranger'), env: { GITHUB_RUN_ATTEMPT: '2', GITHUB_TRIGGERING_ACTOR: 'owner' } }
    const ended = await world.step({}, run)
    expectSkipped(ended, world, 'stranger, who triggered this run, has no write access')
    expect(ended.log).toContain(
      'This is a re-run: what counts is the permission of whoever triggered the first attempt.',
    )
  }))

describe("the step's own comment", () => {
  const SCOPE = { 'job-scope': 'pull-request' }

  const writer = { login: 'writer' }

  /** A run that the comment with this id triggered, with a personal token: its author may write. */
  const aboutComment = (action: string, id: number, body: string): RunOptions => ({
    event: 'issue_comment',
    payload: {
      action,
      issue: { number: 1, title: 'Add --retry', user: { login: 'octocat' }, pull_request: { url: 'x' } },
      comment: { id, body, user: writer },
      sender: writer,
    },
  })

  /** The first run on the pull request; then one about its comment. */
  const followedBy = (
    inputs: Record<string, string>,
    run: (id: number, body: string) => RunOptions,
    check: (ended: Ended, world: World, before: { posts: number; body: string }) => void,
  ): Promise<void> =>
    inRepository(async (world) => {
      await world.step(inputs)
      const [comment] = [...world.repository.comments.values()]
      const before = { posts: world.posts().length, body: comment?.body ?? '' }
      check(await world.step(inputs, run(comment?.id ?? 0, before.body)), world, before)
    })

  const expectNothingMore: Parameters<typeof followedBy>[2] = (
    { outputs, exitCode },
    world,
    { posts, body },
  ) => {
    expect(outputs).toMatchObject({ outcome: 'skipped', 'error-code': '' })
    expect(exitCode).toBe(0)
    expect(world.posts()).toHaveLength(posts)
    expect(world.comments()).toEqual([body])
  }

  describe.each(['created', 'edited'])('%s, starts nothing', (action) => {
    test('recognized by its marker', () =>
      followedBy({ ...SCOPE }, (id, body) => aboutComment(action, id, body), expectNothingMore))

    test('recognized by its marker, where it is not the memory', () =>
      followedBy({ comment: 'true' }, (id, body) => aboutComment(action, id, body), expectNothingMore))

    test('recognized by its id, as it was before its marker was added', () =>
      followedBy(SCOPE, (id) => aboutComment(action, id, '⏳ Nothing has been sent yet.'), expectNothingMore))
  })

  test('is recognized by its marker if the comments can not be read', () =>
    inRepository(async (world) => {
      await world.step({ comment: 'true' })
      const [comment] = [...world.repository.comments.values()]
      const always = { times: Number.POSITIVE_INFINITY, answer: BAD_GATEWAY }
      world.github.faults.push({ method: 'GET', path: /\/comments/, ...always })
      const run = aboutComment('edited', comment?.id ?? 0, comment?.body ?? '')
      expect((await world.step({ comment: 'true' }, run)).outputs.outcome).toBe('skipped')
      expect(world.posts()).toHaveLength(1)
    }))

  test('is not one that has a copy of its marker', () =>
    followedBy(
      SCOPE,
      (id, body) => aboutComment('created', id + 1, `/docs more, please\n\n${body}`),
      ({ outputs }, world, { posts }) => {
        expect(outputs).toMatchObject({ outcome: 'pr-opened', reused: 'true' })
        expect(world.posts()).toHaveLength(posts + 1)
      },
    ))
})

describe('the check of a refused stranger', () => {
  const CHECK = { check: 'true' }
  const issue = (login: string): RunOptions => ({
    event: 'issues',
    payload: {
      action: 'opened',
      issue: { number: 9, title: 'T', user: { login } },
      sender: { login },
    },
  })

  test('is not written where the payload names no commit', () =>
    inRepository(async (world) => {
      expectSkipped(await world.step(CHECK, issue('stranger')), world, 'stranger, who triggered this run')
      expect(world.github.writes()).toEqual([])
      expect(world.repository.checks.size).toBe(0)
    }))

  test('is there for a writer', () =>
    inRepository(async (world) => {
      await world.step(CHECK, issue('writer'))
      expect([...world.repository.checks.values()].map(({ conclusion }) => conclusion)).toEqual(['success'])
    }))

  test('is concluded as skipped on the head of a pull request', () =>
    inRepository(async (world) => {
      await world.step(CHECK, pullRequest('labeled', 'stranger', { event: 'pull_request_target' }))
      expect(world.checks().map(({ conclusion }) => conclusion)).toEqual(['skipped'])
    }))
})

describe('an account that GitHub does not find', () => {
  const REPO = new RegExp(`^/repos/${REPOSITORY}$`)
  const answerWith = (world: World, message: string, readable: boolean): void => {
    const times = Number.POSITIVE_INFINITY
    world.github.faults.push(
      { path: /\/permission$/, times, answer: { status: 404, body: { message } } },
      {
        path: REPO,
        times,
        answer: readable
          ? { status: 200, body: { id: 1, full_name: REPOSITORY, private: true } }
          : { status: 404, body: { message: 'Not Found' } },
      },
    )
  }
  const repositoryRequests = ({ github }: World) => github.requests.filter(({ path }) => REPO.test(path))

  test('because the token cannot see the repository is not refused: it is an error', () =>
    inRepository(async (world) => {
      answerWith(world, 'Not Found', false)
      const { outputs, exitCode, log } = await world.step({}, comment('writer'))
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(exitCode).toBe(1)
      expect(log).not.toMatch(/has no write access/)
      expect(world.emulator.requests).toEqual([])
      expect(repositoryRequests(world).length).toBeGreaterThan(0)
    }))

  test('in a repository that the token can read has no access', () =>
    inRepository(async (world) => {
      answerWith(world, 'Not Found', true)
      expectSkipped(
        await world.step({}, comment('writer')),
        world,
        'writer, who triggered this run, has no write access',
      )
      expect(repositoryRequests(world)).toHaveLength(1)
    }))

  test('because it is no user has no access, without another question', () =>
    inRepository(async (world) => {
      answerWith(world, 'writer is not a user', false)
      expectSkipped(
        await world.step({}, comment('writer')),
        world,
        'writer, who triggered this run, has no write access',
      )
      expect(repositoryRequests(world)).toHaveLength(0)
    }))
})
