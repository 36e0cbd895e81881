/** One docs job for an issue, or for a pull request that is named by its number. */

import { describe, expect, test } from '@jest/globals'
import type { Permissions } from '../support/github.js'
import {
  addDocs,
  expectJob,
  expectMessage,
  expectPrompt,
  expectSent,
  inRealWorld,
  REPOSITORY,
  type RunOptions,
  requestsBefore,
  testsIn,
  type World,
  worldTest,
} from '../support/pull-request.js'

const ISSUE = { 'job-scope': 'issue', 'issue-number': '40' }
const CREATE = '/v2/agent/docs/job'
const schedule: RunOptions = { event: 'schedule', payload: {} }
const dispatch: RunOptions = { event: 'workflow_dispatch', payload: { inputs: {} } }
const NONE: Permissions = {
  issues: 'none',
  pull_requests: 'none',
  contents: 'none',
  actions: 'none',
  checks: 'none',
}
const issueTest = testsIn({ github: { permissions: { ...NONE, issues: 'write' } } })

const commentsOn = ({ repository }: World, number: number): string[] =>
  [...repository.comments.values()].filter(({ issue }) => issue === number).map(({ body }) => body)
const issueEvent = (event: string, number: number): RunOptions => ({
  event,
  payload: {
    action: event === 'issues' ? 'labeled' : 'created',
    issue: { number, user: { login: 'octocat' } },
    sender: { login: 'octocat' },
  },
})

describe('a tracking issue [memory.run.continues]', () => {
  test.concurrent('has one job and one comment, while its docs pull request is open', () =>
    inRealWorld(
      { github: { permissions: { ...NONE, issues: 'write', pull_requests: 'read' } } },
      async (world) => {
        world.repository.issues.add(40)
        const docs = addDocs(world)
        const first = await world.runBundle(ISSUE, schedule)
        expect(first.outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
        docs.addPull({ number: 17 })
        const second = await world.runBundle(ISSUE, dispatch)
        expectMessage(second, first)
        expect(second.commands('warning')).toEqual([])
        expect(commentsOn(world, 40)).toHaveLength(1)
        expect(commentsOn(world, 40)[0]).toContain('your-org/docs#17')
        expect(world.posts()).toEqual([CREATE, `${CREATE}/${first.outputs['job-id']}/message`])

        docs.addPull({ number: 17, state: 'closed', merged: true })
        const third = await world.runBundle(ISSUE, schedule)
        expect(third.outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
        expect(third.log).toContain('has a pull request that was merged')
        expect(commentsOn(world, 40)).toHaveLength(1)
        expect(world.comments()).toEqual([])
      },
    ))

  testsIn({ private: false, github: { permissions: { ...NONE, issues: 'read' } } }).each([
    'issue',
    'pull-request',
  ])(
    'needs issues: write, which is told before anything is sent: %s [range.number.either]',
    async (world, scope) => {
      world.repository.issues.add(40)
      const { outputs, commands } = await world.step({ ...ISSUE, 'job-scope': scope }, schedule)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      // A number doesn't tell which it is.
      expect(commands('error')[0]).toMatch(/comments? o[fn] issue or pull request 40 failed/)
      expect(commands('error')[0]).toContain('`issues: write` or `pull-requests: write`')
      expect(world.posts()).toEqual([])
    },
  )
})

describe('an issue that triggers the run [memory.run.continues]', () => {
  issueTest('has a job of its own, which comments on it go on with', async (world) => {
    world.repository.issues.add(41)
    world.repository.issues.add(42)
    const scope = { 'job-scope': 'issue', 'allow-users': 'octocat' }
    const first = await world.step(scope, issueEvent('issues', 41))
    const other = await world.step(scope, issueEvent('issues', 42))
    expectSent(other)
    const comment = await world.step(scope, issueEvent('issue_comment', 41))
    expectMessage(comment, first)
    expect([commentsOn(world, 41).length, commentsOn(world, 42).length]).toEqual([1, 1])
    const here = world.github.requests.filter(({ path }) => path.includes(REPOSITORY))
    expect(new Set(here.map(({ needs }) => needs))).toEqual(
      new Set(['issues: read', 'issues: write']),
    )
  })

  worldTest(
    'is no pull request: each run has a job, and may be commented on [input.scope]',
    async (world) => {
      world.repository.issues.add(41)
      const inputs = { 'job-scope': 'pull-request', 'allow-users': 'octocat' }
      const { outputs, log } = await world.step(inputs, issueEvent('issues', 41))
      expect(outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
      expect(log).toContain('is about no single pull request: its docs job is its own.')
      expect(requestsBefore(world)).toEqual([])
      await world.step({ ...inputs, comment: 'true' }, issueEvent('issues', 41))
      expect(commentsOn(world, 41)).toHaveLength(1)
      expect(world.posts()).toEqual([CREATE, CREATE])
      expect((await world.step({ comment: 'true' }, schedule)).log).toMatch(
        /This run \(schedule\) is about no single pull request or issue: there is nothing to comment on\..*Finished after .*: pr-opened/s,
      )
      expect((await world.step({ context: 'event' }, dispatch)).log).not.toContain('no single')
    },
  )
})

worldTest(
  'a pull request that a dispatch names shares its job with its events [memory.run.continues]',
  async (world) => {
    const first = await world.step({ 'job-scope': 'pull-request' })
    const inputs = { 'job-scope': 'pull-request', 'issue-number': String(world.number) }
    const second = await world.step(inputs, dispatch)
    expectMessage(second, first)
    const asIssue = await world.step({ ...inputs, 'job-scope': 'issue' }, dispatch)
    expectMessage(asIssue, first)
    expect(world.comments()).toHaveLength(1)
  },
)

issueTest(
  "job-scope: pull-request with an issue's number is job-scope: issue [input.scope]",
  async (world) => {
    world.repository.issues.add(40)
    const inputs = { ...ISSUE, 'allow-users': '*' }
    const first = await world.step(
      { ...inputs, 'job-scope': 'pull-request' },
      issueEvent('issues', 40),
    )
    const second = await world.step(inputs, dispatch)
    expectMessage(second, first)
    expect(commentsOn(world, 40)).toHaveLength(1)
  },
)

worldTest(
  'the number of an issue that was transferred is that of its new place [range.number]',
  async (world) => {
    world.github.addRepository('your-org/log').issues.add(5)
    const location = `${world.github.url}/repos/your-org/log/issues/5`
    const answer = { status: 301, headers: { location }, body: { message: 'Moved Permanently' } }
    world.github.faults.push({ path: /\/Your-Repo\/issues\/40$/, answer, times: 2 })
    const inputs = { 'issue-number': '40', context: 'event' }
    expectJob(await world.step(inputs, dispatch))
    expectPrompt(world, 'title: Number 5')
  },
)

testsIn({ github: { permissions: NONE } })(
  'job-scope: pull-request with a number says once which permission is missing, and it suffices [range.number.either] [github.permission.least] [memory.failure.told] [github.decides.retried]',
  async (world) => {
    const inputs = { 'job-scope': 'pull-request', 'issue-number': String(world.number) }
    const { commands, summary } = await world.step(inputs, dispatch)
    expect(commands('error')).toEqual([expect.stringContaining('`pull-requests: write`')])
    expect([commands('warning'), summary.includes('Note: ')]).toEqual([[], false])
    Object.assign(world.github.permissions, { pull_requests: 'write' })
    expectJob(await world.step(inputs, dispatch))
  },
)
