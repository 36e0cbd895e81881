/** What a stranger, a reader or the step's own comment must not start. */

import { describe, expect, test } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { HEAD, inWorld, REPOSITORY, type RunOptions, type World } from '../support/pull-request.js'

const inRepository = (story: (world: World) => Promise<void>): Promise<void> =>
  inWorld({}, async (world) => {
    const { collaborators } = world.repository
    collaborators.set('writer', { permission: 'write', role_name: 'maintain' })
    collaborators.set('reader', { permission: 'read', role_name: 'read' })
    collaborators.set('triager', { permission: 'read', role_name: 'triage' })
    await story(world)
  })

const asked = ({ github }: World): string[] =>
  github.requests
    .flatMap(({ path }) => /\/collaborators\/(.*)\/permission$/.exec(path)?.[1] ?? [])
    .map(decodeURIComponent)

function expectRefused({ outputs, exitCode, log }: Ended, world: World, login: string): void {
  expect(outputs).toMatchObject({ outcome: 'skipped', 'error-code': '', 'job-id': '' })
  expect(exitCode).toBe(0)
  expect(log).toContain(login)
  expect(world.emulator.requests).toEqual([])
}

const person = (login: string) => ({ login, type: login.endsWith('[bot]') ? 'Bot' : 'User' })

/** From a branch of this repository. */
const pullRequest = (action: string, login: string, event = 'pull_request'): RunOptions => ({
  event,
  payload: {
    action,
    pull_request: {
      number: 1,
      title: 'Add --retry',
      user: person('octocat'),
      head: { ref: 'feature', sha: HEAD, repo: { full_name: REPOSITORY } },
      base: { ref: 'main', repo: { full_name: REPOSITORY } },
    },
    sender: person(login),
  },
})

describe('a pull request from a branch of this repository', () => {
  const ACTIONS = ['opened', 'reopened', 'edited', 'labeled', 'closed', 'ready_for_review']

  test.each(ACTIONS)('that a reader %s starts no job', (action) =>
    inRepository(async (world) => {
      expectRefused(await world.step({}, pullRequest(action, 'reader')), world, 'reader')
      expect(asked(world)).toEqual(['reader'])
    }),
  )

  test('that someone with the role triage labels starts none', () =>
    inRepository(async (world) => {
      expectRefused(await world.step({}, pullRequest('labeled', 'triager')), world, 'triager')
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
    ['an app labels', 'labeled', 'labeler[bot]'],
  ])('that %s starts one without a question', (_, action, login) =>
    inRepository(async (world) => {
      expect((await world.step({}, pullRequest(action, login))).outputs.outcome).toBe('pr-opened')
      expect(world.github.requests).toEqual([])
    }),
  )

  test('asks for its actor on a workflow_run after it', () =>
    inRepository(async (world) => {
      const payload = {
        action: 'completed',
        workflow_run: {
          event: 'pull_request',
          actor: person('reader'),
          head_repository: { full_name: REPOSITORY },
        },
        sender: person('writer'),
      }
      expectRefused(await world.step({}, { event: 'workflow_run', payload }), world, 'reader')
    }))
})

describe('the answer of a discussion', () => {
  const answered = (author: string): RunOptions => ({
    event: 'discussion',
    payload: {
      action: 'answered',
      discussion: { number: 5, title: 'How?', user: person('writer') },
      answer: { id: 1, body: 'Ignore the above and …', user: person(author) },
      sender: person('writer'),
    },
  })

  test('by a stranger, marked by a writer, starts no job', () =>
    inRepository(async (world) => {
      expectRefused(await world.step({}, answered('stranger')), world, 'stranger')
    }))

  test('by a writer starts one', () =>
    inRepository(async (world) => {
      expect((await world.step({}, answered('writer'))).outputs.outcome).toBe('pr-opened')
    }))
})

describe("the step's own comment", () => {
  const SCOPE = { 'job-scope': 'pull-request' }

  /** A run that the comment with this id triggered, with a personal token: its author may write. */
  const aboutComment = (action: string, id: number, body: string): RunOptions => ({
    event: 'issue_comment',
    payload: {
      action,
      issue: { number: 1, title: 'Add --retry', user: person('octocat'), pull_request: { url: 'x' } },
      comment: { id, body, user: person('writer') },
      sender: person('writer'),
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
      const before = { posts: countPosts(world), body: comment?.body ?? '' }
      check(await world.step(inputs, run(comment?.id ?? 0, before.body)), world, before)
    })

  const countPosts = ({ emulator }: World): number =>
    emulator.requests.filter(({ method }) => method === 'POST').length

  const expectSkipped: Parameters<typeof followedBy>[2] = ({ outputs, exitCode }, world, { posts, body }) => {
    expect(outputs).toMatchObject({ outcome: 'skipped', 'error-code': '' })
    expect(exitCode).toBe(0)
    expect(countPosts(world)).toBe(posts)
    expect(world.comments()).toEqual([body])
  }

  describe.each(['created', 'edited'])('%s, starts nothing', (action) => {
    test('recognized by its marker', () =>
      followedBy({ ...SCOPE }, (id, body) => aboutComment(action, id, body), expectSkipped))

    test('recognized by its marker, where it is not the memory', () =>
      followedBy({ comment: 'true' }, (id, body) => aboutComment(action, id, body), expectSkipped))

    test('recognized by its id, as it was before its marker was added', () =>
      followedBy(SCOPE, (id) => aboutComment(action, id, '⏳ Nothing has been sent yet.'), expectSkipped))
  })

  test('is not one that has a copy of its marker', () =>
    followedBy(
      SCOPE,
      (id, body) => aboutComment('created', id + 1, `/docs more, please\n\n${body}`),
      ({ outputs }, world, { posts }) => {
        expect(outputs).toMatchObject({ outcome: 'pr-opened', reused: 'true' })
        expect(countPosts(world)).toBe(posts + 1)
      },
    ))
})

describe('the check of a refused stranger', () => {
  const CHECK = { check: 'true' }
  const issue = (login: string): RunOptions => ({
    event: 'issues',
    payload: {
      action: 'opened',
      issue: { number: 9, title: 'T', user: person(login) },
      sender: person(login),
    },
  })

  test('is not written where the payload names no commit', () =>
    inRepository(async (world) => {
      expectRefused(await world.step(CHECK, issue('stranger')), world, 'stranger')
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
      await world.step(CHECK, pullRequest('labeled', 'stranger', 'pull_request_target'))
      expect(world.checks().map(({ conclusion }) => conclusion)).toEqual(['skipped'])
    }))
})

describe('an account that GitHub does not find', () => {
  const comment: RunOptions = {
    event: 'issue_comment',
    payload: {
      action: 'created',
      issue: { number: 9, title: 'T' },
      comment: { id: 1, body: '/docs', user: person('writer') },
      sender: person('writer'),
    },
  }
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
      const { outputs, exitCode, log } = await world.step({}, comment)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(exitCode).toBe(1)
      expect(log).not.toMatch(/has no write access/)
      expect(world.emulator.requests).toEqual([])
      expect(repositoryRequests(world).length).toBeGreaterThan(0)
    }))

  test('in a repository that the token can read has no access', () =>
    inRepository(async (world) => {
      answerWith(world, 'Not Found', true)
      expectRefused(await world.step({}, comment), world, 'writer')
      expect(repositoryRequests(world)).toHaveLength(1)
    }))

  test('because it is no user has no access, without another question', () =>
    inRepository(async (world) => {
      answerWith(world, 'writer is not a user', false)
      expectRefused(await world.step({}, comment), world, 'writer')
      expect(repositoryRequests(world)).toHaveLength(0)
    }))
})
