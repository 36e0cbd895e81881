/** Who may start a job. */

import { describe, expect, test } from '@jest/globals'
import type { Ended } from '../support/action.js'
import type { Repository } from '../support/github.js'
import { deadlineAfter, inWorld, type RunOptions, type World } from '../support/pull-request.js'

const PEOPLE = { owner: true, writer: true, reader: false, stranger: false, 'robot[bot]': false }

function addPeople(repository: Repository): void {
  repository.collaborators.set('owner', { permission: 'admin', role_name: 'admin' })
  repository.collaborators.set('writer', { permission: 'write', role_name: 'maintain' })
  repository.collaborators.set('reader', { permission: 'read', role_name: 'triage' })
}

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
const fork = (sender: string): RunOptions => ({
  event: 'pull_request',
  payload: {
    action: 'opened',
    pull_request: {
      number: 1,
      user: { login: sender },
      head: { repo: { full_name: 'someone/your-repo' } },
      base: { repo: { full_name: 'your-org/your-repo' } },
    },
    sender: { login: sender },
  },
})
const inRepository = (story: (world: World) => Promise<void>): Promise<void> =>
  inWorld({}, async (world) => {
    addPeople(world.repository)
    await story(world)
  })

describe('a comment', () => {
  test.each(Object.entries(PEOPLE))('by the %s starts a job: %s', (login, may) =>
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
    ['stranger', 'stranger'],
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

describe('a pull request', () => {
  test.concurrent('from a fork, without a key, is skipped before the key is missed', () =>
    inRepository(async (world) => {
      const ended = await world.runBundle({ 'api-key': '' }, fork('stranger'))
      expectSkipped(ended, world, 'stranger, who triggered this run, has no write access')
    }))

  test('from a fork, by a writer without a key, says why the key is missing', () =>
    inRepository(async (world) => {
      const { outputs, log } = await world.step({ 'api-key': '' }, fork('writer'))
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
      expect(log).toContain('comes from a fork')
    }))

  test('from this repository asks nothing', () =>
    inRepository(async (world) => {
      expect((await world.step()).outputs.outcome).toBe('pr-opened')
      expect(world.github.requests).toEqual([])
    }))
})

describe('a workflow_run', () => {
  const followed = (event: string, repository: string): RunOptions => ({
    event: 'workflow_run',
    payload: {
      workflow_run: { event, actor: { login: 'stranger' }, head_repository: { full_name: repository } },
      sender: { login: 'owner' },
    },
  })

  test('after a push to this repository asks nothing', () =>
    inRepository(async (world) => {
      const { outputs } = await world.step({}, followed('push', 'your-org/your-repo'))
      expect(outputs.outcome).toBe('pr-opened')
      expect(world.github.requests).toEqual([])
    }))

  test("after a pull request from a fork asks for that run's actor", () =>
    inRepository(async (world) => {
      const ended = await world.step({}, followed('pull_request', 'someone/your-repo'))
      expectSkipped(ended, world, 'stranger, who triggered the run before this one, has no write access')
    }))
})

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
