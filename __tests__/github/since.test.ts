/** What `since` and `issue-number` choose as the changes, and what a dry run tells of the job that is recorded. */

import { describe, expect, test } from '@jest/globals'
import { file, sha } from '../support/github.js'
import { inWorld, type RunOptions, type World } from '../support/pull-request.js'

const HEAD = sha('after')
const env = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: HEAD }
const run = (event: string, payload: object = {}): RunOptions => ({ event, payload, env })
const schedule = run('schedule', { schedule: '0 3 * * *' })
const commit = (message: string) => ({
  sha: sha(message),
  author: 'octocat',
  message,
  parents: [sha('root')],
})

function promptOf({ emulator }: World): string {
  const post = emulator.requests.find(({ method }) => method === 'POST')
  return post === undefined ? '' : JSON.parse(post.body).prompt
}

describe('since', () => {
  test('the range begins there, and no earlier run counts', () =>
    inWorld({}, async (world) => {
      world.repository.addComparison('docs/live', HEAD, { files: [file('src/new.ts')] })
      const ended = await world.step({ context: 'event', since: 'docs/live' }, schedule)
      expect(ended.outputs.outcome).toBe('pr-opened')
      expect(promptOf(world)).toContain('src/new.ts')
      expect(world.github.requests.filter(({ path }) => path.includes('/actions/'))).toEqual([])
    }))

  test('is ignored if issue-number names a pull request, which the log says', () =>
    inWorld({}, async (world) => {
      const inputs = { context: 'event', since: 'v1.2.0', 'issue-number': String(world.number) }
      const ended = await world.step(inputs, schedule)
      expect(promptOf(world)).toContain(`Changed by pull request ${world.number}`)
      expect(promptOf(world)).toMatch(/^title: /m)
      expect(ended.log).toContain('since is ignored: issue-number names a pull request.')
    }))

  test('of a push has the commits of its range, not those of the push alone', () =>
    inWorld({}, async (world) => {
      const commits = [commit('Add the first page'), commit('Add the second page')]
      world.repository.addComparison('v1.2.0', HEAD, { commits })
      const pushed = [
        { id: commits[1]?.sha, author: { username: 'octocat' }, message: 'Add the second page' },
      ]
      const payload = { before: sha('before'), after: HEAD, commits: pushed, sender: { login: 'octocat' } }
      await world.step({ context: 'event', since: 'v1.2.0' }, run('push', payload))
      expect(promptOf(world)).toContain('Add the first page')
    }))

  test('an unknown name: nothing is sent, and the error has it', () =>
    inWorld({}, async (world) => {
      world.repository.addCommit({ sha: HEAD })
      const ended = await world.step({ context: 'event', since: 'v9' }, run('workflow_dispatch'))
      expect(ended.outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(ended.commands('error').join()).toContain('there is no tag, branch or commit "v9"')
      expect(world.emulator.requests).toEqual([])
    }))

  test('on another event it is ignored, and the log says so', () =>
    inWorld({}, async (world) => {
      const ended = await world.step({ context: 'event', since: 'v9' })
      expect(ended.outputs.outcome).toBe('pr-opened')
      expect(ended.log).toContain('since is ignored on pull_request events.')
    }))
})

describe('issue-number on an event that is not about a pull request', () => {
  test("an issue's: its words, and the changes of the event", () =>
    inWorld({}, async (world) => {
      world.repository.addIssue(40)
      world.repository.addComparison('v1.2.0', HEAD, { files: [file('src/new.ts')] })
      await world.step({ context: 'event', 'issue-number': '40', since: 'v1.2.0' }, schedule)
      expect(promptOf(world)).toContain('title: Number 40')
      expect(promptOf(world)).toContain('src/new.ts')
    }))
})

test('a dry run tells the job and the pull request that the comment records, and asks nobody about it', () =>
  inWorld({}, async (world) => {
    const { outputs } = await world.step({ 'job-scope': 'pull-request' })
    const [comment] = [...world.repository.comments.values()]
    const requests = world.emulator.requests.length
    const dry = await world.step({ 'job-scope': 'pull-request', 'dry-run': 'true' })
    const { 'job-id': id, 'pr-link': link, 'pr-number': number, 'pr-repository': repository } = outputs
    expect(dry.outputs).toMatchObject({
      ...{ outcome: 'dry-run', status: '', reused: 'false' },
      ...{ 'job-id': id, 'pr-link': link, 'pr-number': number, 'pr-repository': repository },
    })
    expect(link).not.toBe('')
    expect(world.emulator.requests).toHaveLength(requests)
    expect([...world.repository.comments.values()]).toEqual([comment])
  }))
