/** The check on a commit: what it says at each moment, and how a re-run finds its own job by it. */

import { describe, expect, test } from '@jest/globals'
import { BAD_GATEWAY, sha } from '../support/github.js'
import type { CheckState } from '../support/github-state.js'
import {
  deadlineAfter,
  HEAD,
  inRealWorld,
  inWorld,
  MERGE,
  REPOSITORY,
  type RunOptions,
  requestsBefore,
  type World,
} from '../support/pull-request.js'
import { until } from '../support/time.js'

const CHECK = { check: 'true' }
const SCOPE = { 'job-scope': 'pull-request' }
const CREATE = '/v2/agent/docs/job'
const again = (attempt: number): RunOptions => ({ env: { GITHUB_RUN_ATTEMPT: String(attempt) } })

const marked = ({ output }: CheckState): boolean =>
  /^<!-- agent-job-action:2 \S+ \S+ \S+ -->$/.test(output.text ?? '')
const ended = (world: World): unknown[] =>
  world.checks().map(({ status, conclusion }) => (status === 'completed' ? conclusion : status))

const push: RunOptions = {
  event: 'push',
  payload: { before: sha('a'), after: sha('b'), commits: [], sender: { login: 'octocat' } },
  env: { GITHUB_SHA: HEAD },
}

describe('a check', () => {
  test.concurrent('is in progress while the job runs, and is concluded with the result', () =>
    inRealWorld({}, async (world) => {
      const { outputs, commands } = await world.runBundle(CHECK)
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([])
      const [check] = world.checks()
      expect(world.checks()).toHaveLength(1)
      const name = 'Docs / docs: docs job (agent)'
      expect(check).toMatchObject({ name, head_sha: HEAD, conclusion: 'success' })
      expect(check?.output.title).toMatch(/^✅ .+: your-org\/docs#17$/)
      expect(check?.output.summary).toMatch(
        /^\[`your-org\/docs#17`\]\(<https:\/\/github\.com\/your-org\/docs\/pull\/17>\) · \[Run `100`\]\(<.*\/runs\/100>\)\n\n### ✅/,
      )
      expect(check && marked(check)).toBe(true)
      const writes = world.github.writes().map(({ body }) => body as Partial<CheckState>)
      const statuses = ['in_progress', 'in_progress', 'in_progress', 'completed']
      expect(writes.map(({ status }) => status)).toEqual(statuses)
      expect(JSON.stringify(writes[0])).toMatch(/nothing has been sent/i)
      expect(JSON.stringify(writes[0])).not.toMatch(/may exist|being sent/i)
      // Written before the create, with its marker as soon as its id is known.
      expect(writes.map(({ output }) => output?.text !== undefined)).toEqual([
        false,
        true,
        true,
        true,
      ])
      expect(requestsBefore(world)).toHaveLength(5)
      expect(new Set(requestsBefore(world).map(({ needs }) => needs?.split(':')[0]))).toEqual(
        new Set(['checks']),
      )
    }))

  test('with the comment and the diff takes at most 12 requests, without it 8', () =>
    inWorld({}, async (world) => {
      const docs = world.github.addRepository('your-org/docs', {})
      const count = async (inputs: Record<string, string>): Promise<number> => {
        const before = world.github.requests.length
        const { outputs } = await world.step({ ...SCOPE, context: 'diff', ...inputs })
        expect(outputs.outcome).toBe('pr-opened')
        return world.github.requests.length - before
      }
      expect(await count({ check: 'true' })).toBeLessThanOrEqual(12)
      docs.addPull({ number: 17 })
      expect(await count({ check: 'true' })).toBeLessThanOrEqual(12)
      expect(await count({})).toBeLessThanOrEqual(8)
      expect(await count({ 'job-key': 'new' })).toBeLessThanOrEqual(8)
    }))

  const conclusions: [string, Record<string, string>, Parameters<typeof inWorld>[0], string][] = [
    ['no-changes', {}, { emulator: { scenario: { withoutPullRequest: true } } }, 'neutral'],
    ['failed', {}, { emulator: { scenario: { endStatus: 'failed' } } }, 'failure'],
    ['started', { wait: 'false' }, {}, 'neutral'],
    [
      'error',
      {},
      { emulator: { scenario: { create: [{ status: 400, error: 'No' }] } } },
      'failure',
    ],
    ['skipped', { 'context-paths': 'nothing/**' }, {}, 'skipped'],
  ]
  test.each(conclusions)('of %s with %j is concluded', (outcome, inputs, options, conclusion) =>
    inWorld(options, async (world) => {
      const { outputs } = await world.step({ ...CHECK, ...inputs })
      expect(outputs.outcome).toBe(outcome)
      expect(ended(world)).toEqual([conclusion])
    }),
  )

  test.each([
    ['bad input', { 'poll-interval-seconds': 'often' }, 'failure', 'error', undefined],
    ['a missing key', { 'api-key': '' }, 'failure', 'error', undefined],
    [
      'one of skip-authors',
      { 'skip-authors': 'mintlify[bot]' },
      'skipped',
      'skipped',
      'mintlify[bot]',
    ],
  ] as const)(
    'is concluded after %s, before there is a plan',
    (_, inputs, conclusion, outcome, author) =>
      inWorld(author === undefined ? {} : { pull: { author } }, async (world) => {
        const { outputs, commands } = await world.step({ ...CHECK, ...inputs })
        expect(outputs.outcome).toBe(outcome)
        expect(commands('warning')).toEqual([])
        expect(ended(world)).toEqual([conclusion])
        expect(world.github.requests).toHaveLength(1)
        expect(world.checks()[0]?.output.text).toBeNull()
        expect(world.emulator.requests).toEqual([])
      }),
  )

  test('shows no part of a secret that was pasted into job-key, where its name is shortened', () =>
    inWorld({}, async (world) => {
      const token = 'ghs_0123456789abcdef'
      const inputs = { ...CHECK, 'docs-token': token, 'job-key': 'x'.repeat(90) + token }
      expect((await world.step(inputs)).outputs.outcome).toBe('pr-opened')
      expect(world.checks()[0]?.name).toContain('x***')
      const sent = world.github.requests.map(({ path, body }) => ({ path, body }))
      expect(JSON.stringify(sent)).not.toContain(token.slice(0, 8))
    }))

  test('is concluded as cancelled after a cancel while it was being created', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({
        method: 'POST',
        path: /check-runs/,
        answer: 'silence',
        takesEffect: true,
      })
      const { outputs } = await world.step(CHECK, {
        meanwhile: async ({ cancel }) => {
          await until(() => world.checks().length > 0)
          cancel()
        },
      })
      expect(outputs.outcome).toBe('cancelled')
      expect(ended(world)).toEqual(['cancelled'])
    }))

  test.concurrent('is created to its end if that takes little longer than a cancel', () =>
    inRealWorld({}, async (world) => {
      world.github.faults.push({ method: 'POST', path: /check-runs/, answer: { delayMs: 300 } })
      const { outputs } = await world.runBundle(CHECK, {
        meanwhile: async ({ signal }) => {
          await until(() => world.checks().length > 0)
          signal('SIGINT')
        },
      })
      expect(outputs.outcome).toBe('cancelled')
      expect(ended(world)).toEqual(['cancelled'])
      // It isn't looked for.
      expect(world.github.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'PATCH'])
    }))

  test.concurrent('is concluded as cancelled after a cancel, beside the comment', () =>
    inRealWorld({ emulator: { speed: 1 } }, async (world) => {
      const { outputs } = await world.runBundle(
        { ...CHECK, ...SCOPE },
        {
          meanwhile: async ({ signal }) => {
            await until(() => world.checks()[0]?.output.title?.includes('Waiting') === true)
            signal('SIGINT')
          },
        },
      )
      expect(outputs).toMatchObject({ outcome: 'cancelled', status: 'active' })
      expect(ended(world)).toEqual(['cancelled'])
      expect(world.comments()[0]).toContain('🛑')
    }))

  test('is not there on issue_comment, and the log says so', () =>
    inWorld({}, async (world) => {
      const payload = {
        issue: { number: world.number, pull_request: {}, user: { login: 'octocat' } },
      }
      const event = { event: 'issue_comment', payload }
      const anyone = { ...CHECK, 'allow-users': '*' }
      const alone = await world.step(anyone, event)
      expect(alone.outputs.outcome).toBe('pr-opened')
      expect(alone.log).toContain(
        "names no commit, so there is no check: without a comment, a re-run won't find this run's docs job",
      )
      const scoped = await world.step({ ...anyone, ...SCOPE }, event)
      expect(scoped.log).toContain('names no commit, so there is no check')
      expect(world.repository.checks.size).toBe(0)
      expect(world.comments()).toHaveLength(1)
    }))

  test('is not written by a dry run, and neither is a comment', () =>
    inWorld({}, async (world) => {
      for (const inputs of [{}, { 'timeout-minutes': '-1' }, { 'context-paths': 'nothing/**' }]) {
        await world.step({ ...CHECK, ...SCOPE, ...inputs, 'dry-run': 'true' })
      }
      expect(world.github.writes()).toEqual([])
    }))

  test('holds no key, not even in base64', () =>
    inWorld({}, async (world) => {
      const key = 'mint_0123456789abcdef'
      const job = { id: `job-${key}`, status: 'active' }
      const service = await world.serve({
        create: [{ job }],
        initialJobs: [{ id: job.id, projectId: 'docs', ageSeconds: 9999 }],
      })
      const { outputs } = await world.step({
        ...CHECK,
        ...SCOPE,
        'api-key': key,
        'base-url': service.url,
      })
      expect(outputs.outcome).toBe('pr-opened')
      const texts = world.github.writes().map(({ body }) => JSON.stringify(body))
      expect(texts.length).toBeGreaterThan(5)
      for (const text of texts) {
        const encoded = text.match(/[\w-]{16,}/g) ?? []
        expect(text).not.toContain(key)
        for (const part of encoded)
          expect(Buffer.from(part, 'base64url').toString()).not.toContain(key)
      }
    }))
})

describe('a check that can not be written is one warning, and the job goes its way:', () => {
  test.each([
    ['a missing permission', { github: { permissions: { checks: 'none' } } }, /checks: write/],
    ['a personal token', { github: { personal: true } }, /authenticate via a GitHub App/],
  ] as const)('%s', (_, options, says) =>
    inWorld(options, async (world) => {
      const { outputs, commands, exitCode } = await world.step(CHECK)
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([expect.stringMatching(says)])
      expect(commands('warning')[0]).toContain("a re-run may not find this run's docs job")
      expect(exitCode).toBe(0)
      expect(world.posts()).toEqual([CREATE])
    }),
  )

  test('a fork, whose token can not be raised', () =>
    inWorld({ private: false, github: { permissions: { checks: 'read' } } }, async (world) => {
      const [base, head] = [REPOSITORY, 'octocat/your-repo'].map((full_name) => ({
        repo: { full_name },
      }))
      const pull_request = {
        number: 1,
        user: { login: 'octocat' },
        base,
        head: { ...head, sha: HEAD },
      }
      const { commands } = await world.step(CHECK, { payload: { pull_request } })
      expect(commands('warning')).toEqual([expect.stringContaining('can only read, whatever')])
      expect(commands('warning')[0]).not.toContain('give the job')
    }))

  test.each([
    ['GET', 'a failed read'],
    ['POST', 'a failed create'],
  ])('but %s (%s) that passes leaves a check that a re-run finds', (method) =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      world.github.faults.push({ method, path: /check-runs/, answer: BAD_GATEWAY })
      const first = await world.step({ ...CHECK, wait: 'false' }, push)
      expect(first.outputs.outcome).toBe('started')
      world.finishJobs()
      const rerun = await world.step(CHECK, {
        ...push,
        env: { ...push.env, GITHUB_RUN_ATTEMPT: '2' },
      })
      expect(rerun.outputs).toMatchObject({
        outcome: 'pr-opened',
        'job-id': first.outputs['job-id'],
      })
      expect(world.posts()).toEqual([CREATE])
    }),
  )

  test('a create whose response was lost makes no second check', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({
        method: 'POST',
        path: /check-runs/,
        answer: 'reset',
        takesEffect: true,
      })
      const { outputs } = await world.step(CHECK)
      expect(outputs.outcome).toBe('pr-opened')
      expect(ended(world)).toEqual(['success'])
      expect(world.github.writes().filter(({ method }) => method === 'POST')).toHaveLength(1)
    }))
})

describe('a re-run', () => {
  test.each<[does: string, Record<string, string>, RunOptions]>([
    ['is', { comment: 'true' }, {}],
    ['is not', CHECK, {}],
    ['is not', { 'job-scope': 'pull-request' }, {}],
    ['is', { 'job-scope': 'pull-request' }, { event: 'push', payload: {} }],
    [
      'is',
      { ...CHECK, 'allow-users': '*' },
      { event: 'issue_comment', payload: { issue: { number: 1 } } },
    ],
  ])('%s said to start another docs job after a time-out: %j, %j', (does, inputs, run) =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const { outputs, log } = await world.step({ ...inputs, ...deadlineAfter(3_000) }, run)
      expect(outputs.outcome).toBe('timed-out')
      expect(log.includes('A re-run starts another docs job.')).toBe(does === 'is')
    }),
  )

  test('of any event waits for its own job, also in the third attempt', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const event: RunOptions = { event: 'something_new', payload: {} }
      const inputs = { ...CHECK, 'allow-users': '*' }
      const first = await world.step({ ...inputs, wait: 'false' }, event)
      const attempt = (number: number): RunOptions => ({ ...event, ...again(number) })
      const second = await world.step({ ...inputs, wait: 'false' }, attempt(2))
      expect(second.outputs).toMatchObject({
        outcome: 'started',
        'job-id': first.outputs['job-id'],
      })
      world.finishJobs()
      const third = await world.step(inputs, attempt(3))
      const waited = { outcome: 'pr-opened', sent: 'nothing', 'job-id': first.outputs['job-id'] }
      expect(third.outputs).toMatchObject(waited)
      expect(third.log).toContain('This is a re-run')
      expect(world.posts()).toEqual([CREATE])
      const all = [...world.repository.checks.values()]
      expect(new Set(all.map(({ head_sha }) => head_sha))).toEqual(new Set([MERGE])) // GITHUB_SHA.
      expect(all.map(({ conclusion }) => conclusion)).toEqual(['neutral', 'neutral', 'success'])
      // What it was asked for is in a pull request.
      const fourth = await world.step(inputs, attempt(4))
      expect(fourth.outputs).toMatchObject(waited)
      expect(fourth.log).toContain('To ask for docs again, start a new run.')
      expect(world.posts()).toEqual([CREATE])
      const number = Number(third.outputs['pr-number'])
      world.github
        .addRepository('your-org/docs', {})
        .addPull({ number, state: 'closed', merged: true })
      const fifth = await world.step({ ...inputs, wait: 'false' }, attempt(5))
      expect(fifth.outputs).toMatchObject({ outcome: 'started', sent: 'job' })
      expect(world.posts()).toEqual([CREATE, CREATE])
    }))

  test('of an attempt that was killed keeps its job, also before there is a plan', () =>
    inRealWorld({ emulator: { speed: 1 } }, async (world) => {
      const killed = await world.runBundle(CHECK, {
        meanwhile: async ({ signal }) => {
          await until(() => world.checks()[0]?.output.title?.includes('Waiting') === true)
          signal('SIGKILL')
        },
      })
      expect(ended(world)).toEqual(['in_progress'])
      const second = await world.runBundle({ ...CHECK, wait: 'maybe' }, again(2))
      expect(second.outputs).toMatchObject({ 'error-code': 'input', 'job-id': '' })
      expect(ended(world)).toEqual(['in_progress', 'failure'])
      world.finishJobs()
      const third = await world.runBundle(CHECK, again(3))
      expect(third.outputs).toMatchObject({
        outcome: 'pr-opened',
        'job-id': killed.outputs['job-id'],
      })
      expect(ended(world)).toEqual(['in_progress', 'failure', 'success'])
      expect(world.posts()).toEqual([CREATE])
    }))

  test('of a message to a job that is gone since does not create another', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const { outputs } = await world.step({ wait: 'false' })
      const inputs = { ...CHECK, 'job-id': outputs['job-id'] ?? '' }
      await world.step({ ...inputs, wait: 'false' })
      world.emulator.jobs.clear()
      const rerun = await world.step(inputs, again(2))
      expect(rerun.outputs).toMatchObject({ outcome: 'error', 'error-code': 'not-found' })
      expect(world.posts().filter((path) => path === CREATE)).toHaveLength(1)
    }))

  test('keeps its job through an attempt that could not do anything', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const first = await world.step({ ...CHECK, wait: 'false' })
      await world.step({ ...CHECK, 'api-key': '' }, again(2))
      world.emulator.requests.length = 0
      world.github.faults.push({
        method: 'GET',
        path: /check-runs/,
        answer: { status: 403, body: {} },
      })
      const refused = await world.step(CHECK, again(3))
      expect(refused.outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(world.emulator.requests).toEqual([])
      const nowhere = { 'base-url': 'http://127.0.0.1:1', ...deadlineAfter(600) }
      const unreachable = await world.step({ ...CHECK, ...nowhere }, again(4))
      expect(unreachable.outputs.outcome).toBe('error')
      world.finishJobs()
      const last = await world.step(CHECK, again(5))
      expect(last.outputs).toMatchObject({
        outcome: 'pr-opened',
        'job-id': first.outputs['job-id'],
      })
      expect(world.posts()).toEqual([])
    }))

  test('of one of two runs on the same commit waits for its own', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const one = await world.step({ ...CHECK, wait: 'false' }, { env: { GITHUB_RUN_ID: '200' } })
      const other = await world.step({ ...CHECK, wait: 'false' }, { env: { GITHUB_RUN_ID: '201' } })
      expect(other.outputs['job-id']).not.toBe(one.outputs['job-id'])
      world.finishJobs()
      const rerun = await world.step(CHECK, {
        env: { GITHUB_RUN_ID: '200', GITHUB_RUN_ATTEMPT: '2' },
      })
      expect(rerun.outputs['job-id']).toBe(one.outputs['job-id'])
    }))

  test('does not believe a copied marker, in a check of the same name', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const first = await world.step({ ...CHECK, wait: 'false' })
      const [genuine] = world.checks()
      const { name = '', output = { title: '', summary: '', text: '' } } = genuine ?? {}
      world.repository.checks.clear()
      world.repository.addCheck({ name, head_sha: HEAD, output, status: 'in_progress' })
      const rerun = await world.step({ ...CHECK, wait: 'false' }, again(2))
      expect(rerun.outputs).toMatchObject({ outcome: 'started', sent: 'job' })
      expect(rerun.outputs['job-id']).not.toBe(first.outputs['job-id'])
      expect(rerun.log).toContain("An earlier check by this step can't be verified")
      expect(ended(world)).toEqual(['in_progress', 'neutral'])
    }))
})

describe('with the comment as memory, too,', () => {
  const BOTH = { ...CHECK, ...SCOPE }
  const run = (id: number, attempt = 1): RunOptions => ({
    env: { GITHUB_RUN_ID: String(id), GITHUB_RUN_ATTEMPT: String(attempt) },
  })

  test('the check decides for a re-run, and the comment of a later run stays as it is', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const first = await world.step({ ...BOTH, wait: 'false' }, run(200))
      const second = await world.step({ ...BOTH, wait: 'false' }, run(201))
      expect(second.outputs).toMatchObject({ sent: 'message', 'job-id': first.outputs['job-id'] })
      const comment = world.comments()[0]
      world.finishJobs()
      const rerun = await world.step(BOTH, run(200, 2))
      expect(rerun.outputs).toMatchObject({
        outcome: 'pr-opened',
        'job-id': first.outputs['job-id'],
      })
      expect(world.posts()).toHaveLength(2)
      expect(world.comments()).toEqual([comment])
      expect(world.checks().at(-1)?.conclusion).toBe('success')
    }))

  test('a re-run of an earlier run that makes a new job takes over the comment', () =>
    inWorld({}, async (world) => {
      await world.step({ ...BOTH, wait: 'false' }, run(200))
      await world.step({ ...BOTH, wait: 'false' }, run(201))
      world.emulator.jobs.clear()
      const rerun = await world.step(BOTH, run(200, 2))
      expect(rerun.outputs).toMatchObject({ outcome: 'pr-opened', sent: 'job' })
      expect(world.comments()).toHaveLength(1)
      expect(world.comments()[0]).toContain(rerun.outputs['job-id'])
      const next = await world.step(BOTH, run(202))
      expect(next.outputs).toMatchObject({ sent: 'message', 'job-id': rerun.outputs['job-id'] })
    }))
})

describe('a second step of the same identity in the same attempt is refused, and nothing is sent:', () => {
  test.each([
    ['by the check', CHECK],
    ['by the comment', SCOPE],
  ])('%s', (_, inputs) =>
    inWorld({}, async (world) => {
      const env = { GITHUB_RUN_ID: '300' }
      const first = await world.step({ ...inputs, wait: 'false' }, { env })
      const before = [world.comments(), structuredClone(world.checks())]
      const second = await world.step(inputs, { env })
      expect(second.outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
      expect(second.commands('error')).toEqual([
        expect.stringMatching(new RegExp(`^job-key: .*job-id: ${first.outputs['job-id']}`)),
      ])
      expect(world.posts()).toEqual([CREATE])
      expect([world.comments(), world.checks()]).toEqual(before)
      const apart = await world.step({ ...inputs, 'job-key': 'other', wait: 'false' }, { env })
      expect(apart.outputs).toMatchObject({ outcome: 'started', sent: 'job' })
    }),
  )
})

describe('a 404 that is a page is no answer of GitHub', () => {
  const page = {
    status: 404,
    headers: { 'content-type': 'text/plain' },
    body: '404 page not found',
  }
  const rerun = again(2)

  test('if a gateway answers with it for a moment, the re-run finds its job', () =>
    inWorld({}, async (world) => {
      const first = await world.step({ check: 'true', wait: 'false' })
      for (const method of ['GET', 'PATCH'])
        world.github.faults.push({ method, path: /check-runs/, answer: page })
      const { outputs, commands } = await world.step({ check: 'true' }, rerun)
      expect(outputs).toMatchObject({ outcome: 'pr-opened', 'job-id': first.outputs['job-id'] })
      expect(commands('warning')).toEqual([])
    }))

  test('if it goes on, a re-run sends nothing', () =>
    inWorld({}, async (world) => {
      await world.step({ check: 'true', wait: 'false' })
      const times = Number.POSITIVE_INFINITY
      world.github.faults.push({ method: 'GET', path: /check-runs/, answer: page, times })
      const { outputs } = await world.step({ check: 'true', ...deadlineAfter(600) }, rerun)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(world.posts()).toHaveLength(1)
    }))
})
