/** Payloads and answers of a server that is like GitHub, but is not: recorded on Gitea 1.27.3. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { type Fault, file, sha } from '../support/github.js'
import { deadlineAfter, inWorld, type RunOptions, type World } from '../support/pull-request.js'
import { onPullRequest } from '../support/remembered.js'
import { completed, job, json } from '../support/service.js'

// biome-ignore lint/suspicious/noExplicitAny: recorded, and read by name.
const recorded = (name: string): any =>
  JSON.parse(readFileSync(`__tests__/fixtures/gitea/${name}.json`, 'utf8'))

const ALWAYS = { times: Number.POSITIVE_INFINITY }

test('review: null is no review, so a pull request by a writer starts a job', () =>
  inWorld({}, async (world) => {
    world.repository.collaborators.set('writer', { permission: 'write', role_name: 'write' })
    const run = { event: 'pull_request_target', payload: recorded('pull-request-opened') }
    const { outputs } = await world.step({}, run)
    expect(outputs.outcome).toBe('pr-opened')
  }))

describe('a pull request at /pulls/N', () => {
  const { html_url: link, number } = recorded('pull')
  const SERVER = { env: { GITHUB_SERVER_URL: new URL(link).origin } }
  const opened = job({ status: 'completed', prLink: link })
  const second = json(201, { ...opened, id: 'job-2' })

  test('has a number and a repository, and is known to be merged: the next run gets a new job', () =>
    onPullRequest(
      { posts: [json(201, opened), second], polls: [json(200, opened), completed] },
      async (told) => {
        const { step, world, messages } = told
        world.github.addRepository('your-org/docs').addPull({ number, state: 'closed', merged: true })
        const first = await step({}, SERVER)
        const pull = { 'pr-link': link, 'pr-number': String(number), 'pr-repository': 'your-org/docs' }
        expect(first.outputs).toMatchObject(pull)
        const { outputs } = await step({}, { env: { ...SERVER.env, GITHUB_RUN_ID: '101' } })
        expect(messages()).toEqual([])
        expect(outputs).toMatchObject({ 'job-id': 'job-2', reused: 'false' })
      },
    ))
})

describe('pages that are shorter than asked for', () => {
  const { link, count } = recorded('files-page-1')

  /** Pages of `count` files; each but the last names the next one, as recorded. */
  function pages(world: World, names: readonly string[]): void {
    const last = Math.ceil(names.length / count)
    for (let page = 1; page <= last; page++) {
      const read = names.slice((page - 1) * count, page * count)
      const files = read.map((filename) => ({ ...recorded('files')[0], filename }))
      const named = link
        .replace(/page=2/, `page=${page + 1}`)
        .replace(/page=3/, `page=${last}`)
        .replaceAll('http://git.example/api/v1', world.github.url)
      const headers = page < last ? { link: named } : {}
      const path = new RegExp(`/files\\?(?:.*&)?page=${page}(?:&|$)`)
      world.github.faults.push({ path, answer: { status: 200, headers, body: files }, ...ALWAYS })
    }
  }
  const many = [...Array.from({ length: 1_000 }, (_, nth) => `src/${nth}.js`), 'docs/late.md']

  test('are all read, or said to be cut: a run is not skipped for what was not read', () =>
    inWorld({}, async (world) => {
      pages(world, many)
      const { outputs, log, summary } = await world.step({ 'context-paths': 'docs/**', context: 'event' })
      expect(outputs.outcome).toBe('pr-opened')
      const isWhole = world.prompts()[0]?.includes('docs/late.md')
      if (!isWhole) expect(log + summary).toMatch(/truncated|cut/i)
    }))

  test('without a diff are not said to be binary', () =>
    inWorld({}, async (world) => {
      pages(world, ['src/app.js'])
      await world.step({ context: 'diff' })
      expect(world.prompts()[0]).toContain('src/app.js')
      expect(world.prompts()[0]).not.toMatch(/binary|too large/i)
    }))
})

describe('a push of which the payload has only a part', () => {
  const payload = recorded('push')
  const byAgent = payload.commits.filter(
    ({ author }: { author: { username: string } }) => author.username === 'agent',
  )
  /** As many as the payload has at most there, all by the agent. */
  const told = Array.from({ length: 5 }, (_, nth) => ({
    ...byAgent[0],
    id: nth === 0 ? payload.after : sha(`agent ${nth}`),
  }))
  const run: RunOptions = {
    event: 'push',
    payload: { ...payload, commits: told },
    env: { GITHUB_REF: payload.ref, GITHUB_SHA: payload.after },
  }
  const byTheAgent = told.map(({ id }) => ({ sha: id, author: 'agent', message: 'M', parents: ['p'] }))
  const commits = (author: string) => [
    { sha: sha('oldest'), author, message: 'M', parents: [payload.before] },
    ...byTheAgent.toReversed(),
  ]
  const INPUTS = { 'skip-authors': 'agent' }

  test('is not skipped for them if an older one is a person', () =>
    inWorld({}, async (world) => {
      world.repository.addComparison(payload.before, payload.after, { commits: commits('writer') })
      const { outputs } = await world.step(INPUTS, run)
      expect(outputs.outcome).toBe('pr-opened')
    }))

  test('is skipped if all are by the agent', () =>
    inWorld({}, async (world) => {
      world.repository.addComparison(payload.before, payload.after, { commits: commits('agent') })
      const { outputs } = await world.step(INPUTS, run)
      expect(outputs.outcome).toBe('skipped')
    }))
})

describe('a 404 that is a page, on checks, is no answer of GitHub', () => {
  const answer: Fault['answer'] = recorded('check-runs')

  test('if a gateway answers with it for a moment, the re-run finds its job', () =>
    inWorld({}, async (world) => {
      const first = await world.step({ check: 'true', wait: 'false' })
      for (const method of ['GET', 'PATCH']) world.github.faults.push({ method, path: /check-runs/, answer })
      const env = { GITHUB_RUN_ID: '100', GITHUB_RUN_ATTEMPT: '2' }
      const { outputs, commands } = await world.step({ check: 'true' }, { env })
      expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': first.outputs['job-id'] })
      expect(commands('warning')).toEqual([])
    }))

  test('if something in front of it goes on answering, a re-run sends nothing', () =>
    inWorld({ github: { prefix: '/api/v3' } }, async (world) => {
      await world.step({ check: 'true', wait: 'false' })
      world.github.faults.push({ method: 'GET', path: /check-runs/, answer, ...ALWAYS })
      const env = { GITHUB_RUN_ID: '100', GITHUB_RUN_ATTEMPT: '2' }
      const { outputs } = await world.step({ check: 'true', ...deadlineAfter(600) }, { env })
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(world.posts()).toHaveLength(1)
    }))

  test("if the token can't see checks, a re-run sends nothing", () =>
    inWorld({ github: { permissions: { checks: 'none' } } }, async (world) => {
      const { outputs } = await world.step({ check: 'true' }, { env: { GITHUB_RUN_ATTEMPT: '2' } })
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(world.emulator.requests).toEqual([])
    }))
})

test('a comparison without a list of files is said in log and summary', () =>
  inWorld({}, async (world) => {
    const payload = recorded('push')
    const answer = { status: 200, body: recorded('compare') }
    world.github.faults.push({ path: /\/compare\//, answer, ...ALWAYS })
    const env = { GITHUB_REF: payload.ref, GITHUB_SHA: payload.after }
    const { outputs, log, summary } = await world.step({ context: 'event' }, { event: 'push', payload, env })
    expect(outputs.outcome).toBe('pr-opened')
    expect(log).toMatch(/\blist of\b/i)
    expect(summary).toMatch(/\blist of\b/i)
  }))

test('a renamed file without its earlier name is one of its own name', () =>
  inWorld({}, async (world) => {
    const body = [null, ''].map((previous_filename) => ({
      ...file('docs/a.md'),
      previous_filename,
      patch: null,
    }))
    world.github.faults.push({ path: /\/files/, answer: { status: 200, body }, ...ALWAYS })
    const inputs = { context: 'diff', 'context-paths': '**' }
    expect((await world.step(inputs)).outputs.outcome).toBe('pr-opened')
    const { outputs } = await world.step({ ...inputs, 'context-paths': '!docs/**' })
    expect(outputs.outcome).toBe('skipped')
  }))
