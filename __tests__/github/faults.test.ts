/** GitHub fails: a request that decides is retried, then ends the step; one that only informs is a warning. */

import { describe, expect, test } from '@jest/globals'
import { BAD_GATEWAY, type Fault, primaryLimit, secondaryLimit, sha } from '../support/github.js'
import { connectProxy } from '../support/network.js'
import { posixDescribe } from '../support/platform.js'
import { DEADLINE_MS, inWorld, SHORT } from '../support/pull-request.js'
import { soonAfter, until } from '../support/time.js'

const SCOPE = { 'job-scope': 'pull-request' }
const COMMENTS = /\/issues\/\d+\/comments/
const ALWAYS = { times: Number.POSITIVE_INFINITY }
const FORBIDDEN = { status: 403, body: { message: 'Resource not accessible by integration' } }
/** After a cancel the comment has up to 3 s, on top of the second for outputs and summary. */
const COMMENT_MS = 4_000
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

describe('a temporary error of a request that decides', () => {
  const rows: [string, () => Fault['answer']][] = [
    ['502', () => BAD_GATEWAY],
    ['a reset', () => 'reset'],
    ['a response that is cut off', () => 'cut off'],
    ['a primary limit (403)', () => primaryLimit(inSeconds(1))],
    ['a primary limit (429)', () => primaryLimit(inSeconds(1), 429)],
    ['a secondary limit (403)', () => secondaryLimit(1)],
    ['a secondary limit (429)', () => secondaryLimit(1, 429)],
  ]
  test.each(rows)('(%s) is retried', (_, answer) =>
    inWorld({}, async (world) => {
      world.github.faults.push({ method: 'GET', path: COMMENTS, answer: answer() })
      world.github.faults.push({ method: 'POST', path: COMMENTS, answer: answer() })
      world.github.faults.push({ method: 'PATCH', path: /comments\/\d+/, answer: answer() })
      const { outputs } = await world.step(SCOPE)
      expect(outputs.outcome).toBe('pr-opened')
      expect(world.posts()).toHaveLength(1)
      expect(world.comments()).toHaveLength(1)
    }),
  )

  test('a placeholder whose response was lost is not written twice', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({ method: 'POST', path: COMMENTS, answer: 'reset', takesEffect: true })
      const { outputs } = await world.step(SCOPE)
      expect(outputs.outcome).toBe('pr-opened')
      expect(world.comments()).toHaveLength(1)
    }))
})

describe('a permanent error of a request that decides ends the step before anything is sent:', () => {
  const rows: [string, Fault['answer'], Record<string, string>, RegExp, RegExp][] = [
    ['a limit for an hour', primaryLimit(inSeconds(3600)), SCOPE, COMMENTS, /rate limit/],
    [
      'bad credentials',
      { status: 401, body: { message: 'Bad credentials' } },
      SCOPE,
      COMMENTS,
      /Bad credentials.*github-token/,
    ],
    ['the file list', FORBIDDEN, { 'context-paths': 'docs/**' }, /files/, /pull-requests: read/],
  ]
  test.each(rows)('%s', (_, answer, inputs, path, says) =>
    inWorld({}, async (world) => {
      world.github.faults.push({ ...ALWAYS, path, answer })
      const { outputs, commands, exitCode } = await world.step(inputs)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', 'job-id': '' })
      expect(commands('error')).toEqual([expect.stringMatching(says)])
      expect(commands('warning')).toEqual([])
      expect(exitCode).toBe(1)
      expect(world.emulator.requests).toEqual([])
    }),
  )

  test('no response until the deadline', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({ ...ALWAYS, path: COMMENTS, answer: 'silence' })
      const { outputs, milliseconds } = await world.step({ ...SCOPE, ...SHORT })
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(milliseconds).toBeLessThan(soonAfter(DEADLINE_MS + 1_000))
      expect(world.emulator.requests).toEqual([])
    }))
})

test('a check is not tried for longer if the deadline passed before anything was planned', () =>
  inWorld({}, async (world) => {
    world.github.faults.push({ ...ALWAYS, answer: BAD_GATEWAY })
    const payload = {
      action: 'opened',
      issue: { number: 7, user: { login: 'octocat' } },
      sender: { login: 'octocat' },
    }
    const inputs = { check: 'true', ...SHORT }
    const { outputs, milliseconds } = await world.step(inputs, { event: 'issues', payload })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
    // The last edits have a second.
    expect(milliseconds).toBeLessThan(soonAfter(DEADLINE_MS + 1_000))
  }))

describe('an edit counts only if GitHub responds with what was edited:', () => {
  test.each([[200], [301]])(
    'a placeholder whose edit is answered with %i and nothing else stops the create',
    (status) =>
      inWorld({}, async (world) => {
        world.github.faults.push({ ...ALWAYS, method: 'PATCH', answer: { status, body: {} } })
        const { outputs } = await world.step({ ...SCOPE, ...SHORT })
        expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
        expect(world.emulator.requests).toEqual([])
      }),
  )
})

describe('an error of a request that only informs is a warning, and the job runs:', () => {
  test.each([
    [
      403,
      'You must authenticate via a GitHub App.',
      /App"\. The check .*the job's own token, or an app's, as github-token/,
    ],
    [422, 'Validation failed', /failed"\. The check .*Fix the problem that GitHub reports/],
    [403, 'Repository access blocked', /permissions: checks: write/],
  ])('a check that is answered with %d, %s', (status, message, says) =>
    inWorld({}, async (world) => {
      world.github.faults.push({
        ...ALWAYS,
        method: 'POST',
        path: /check-runs/,
        answer: { status, body: { message } },
      })
      const { outputs, commands } = await world.step({ check: 'true' })
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([expect.stringMatching(says)])
    }),
  )

  test('the list of files for the context', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({ ...ALWAYS, path: /files/, answer: BAD_GATEWAY })
      const { outputs, commands } = await world.step({ context: 'diff' })
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([expect.stringContaining('502')])
    }))

  test('edits after the job is known', () =>
    inWorld({}, async (world) => {
      // The first edit is the placeholder's marker.
      world.github.faults.push({ method: 'PATCH', answer: { delayMs: 1 } })
      world.github.faults.push({ ...ALWAYS, method: 'PATCH', answer: FORBIDDEN })
      const { outputs, commands, exitCode } = await world.step(SCOPE)
      expect(outputs).toMatchObject({ outcome: 'pr-opened', status: 'completed' })
      expect(commands('warning')).toHaveLength(1)
      expect(exitCode).toBe(0)
    }))
})

describe('a response of another shape', () => {
  test.each([[{}], [null], [[null]], [[]], ['text']])(
    '%j instead of the files for the context is a warning at most',
    (body) =>
      inWorld({}, async (world) => {
        world.github.faults.push({ ...ALWAYS, path: /files/, answer: { status: 200, body } })
        const { outputs } = await world.step({ context: 'diff' })
        expect(outputs.outcome).toBe('pr-opened')
      }),
  )
})

describe('a missing permission to compare', () => {
  const onMain = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: sha('after') }
  const payload = { before: sha('before'), after: sha('after'), commits: [], sender: { login: 'octocat' } }
  const push = { event: 'push', payload, env: onMain }

  test('is not mistaken for a commit that no longer exists: if the list decides, the step ends', () =>
    inWorld({ github: { permissions: { contents: 'none' } } }, async (world) => {
      const { outputs, commands } = await world.step({ 'context-paths': 'docs/**' }, push)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(commands('error')[0]).toContain('contents: read')
      expect(world.emulator.requests).toEqual([])
    }))

  test('ends the step as well if the list is only for the prompt', () =>
    inWorld({ github: { permissions: { contents: 'none' } } }, async (world) => {
      const { outputs, commands } = await world.step({ context: 'diff' }, push)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(commands('error')[0]).toContain('contents: read')
      expect(world.emulator.requests).toEqual([])
    }))
})

describe('the event', () => {
  test.concurrent.each([
    ['is not JSON', '{'],
    ['is empty', ''],
  ])('that %s is an error if it decides', (_, payload) =>
    inWorld({}, async (world) => {
      const { outputs, commands } = await world.runBundle(SCOPE, { payload })
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(commands('error')[0]).toMatch(/GITHUB_EVENT_PATH/)
      expect(world.github.requests).toEqual([])
    }),
  )

  test.concurrent('whose file is missing is an error if it decides, and else does not matter', () =>
    inWorld({}, async (world) => {
      const env = { GITHUB_EVENT_PATH: '/nowhere/event.json' }
      const scoped = await world.runBundle(SCOPE, { env })
      expect(scoped.commands('error')[0]).toContain('ENOENT')
      const plain = await world.runBundle({ 'allow-users': '*' }, { env })
      expect(plain.outputs.outcome).toBe('pr-opened')
    }))

  test('whose pull request has no number has none', () =>
    inWorld({}, async (world) => {
      const { outputs, log } = await world.step(
        { ...SCOPE, 'allow-users': '*' },
        { payload: { pull_request: {} } },
      )
      expect(outputs.outcome).toBe('pr-opened')
      expect(log).toContain('is not about a single pull request')
    }))
})

describe('a cancel', () => {
  const isRunning = (body = ''): boolean => body.includes('Waiting for the docs job')

  test('while the job runs is reported in the comment', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const { outputs } = await world.step(SCOPE, {
        meanwhile: async ({ cancel }) => {
          await until(() => isRunning(world.comments()[0]))
          cancel()
        },
      })
      expect(outputs).toMatchObject({ outcome: 'cancelled', status: 'active' })
      expect(world.comments()).toEqual([expect.stringContaining(`job-id: ${outputs['job-id']}`)])
      expect(world.comments()[0]).toContain('🛑')
    }))

  test('of a run that only comments is reported in a comment, too', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const { outputs, commands } = await world.step(
        { comment: 'true' },
        {
          meanwhile: async ({ cancel }) => {
            await until(() => world.emulator.requests.length > 0)
            cancel()
          },
        },
      )
      expect(outputs.outcome).toBe('cancelled')
      expect(commands('warning')).toEqual([])
      expect(world.comments()).toEqual([expect.stringContaining('🛑')])
    }))
})

posixDescribe('a process ends', () => {
  test.concurrent('on a signal during the last edit, to which GitHub does not respond', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({ method: 'PATCH', answer: { delayMs: 1 } })
      world.github.faults.push({ ...ALWAYS, method: 'PATCH', answer: 'silence' })
      const { outputs, sinceSignalMs } = await world.runBundle(SCOPE, {
        meanwhile: async ({ lines, signal }) => {
          await until(() => lines.some((line) => line.startsWith('Finished after')))
          signal('SIGINT')
        },
      })
      expect(sinceSignalMs).toBeLessThan(soonAfter(COMMENT_MS))
      expect(outputs.outcome).toBe('pr-opened')
    }))

  test.concurrent('on a signal while GitHub does not respond, and nothing is sent', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({ ...ALWAYS, path: COMMENTS, answer: 'silence' })
      const { outputs, exitCode, sinceSignalMs } = await world.runBundle(SCOPE, {
        meanwhile: async ({ signal }) => {
          await until(() => world.github.requests.length > 0)
          signal('SIGINT')
        },
      })
      expect(sinceSignalMs).toBeLessThan(soonAfter(1_000))
      expect(outputs).toMatchObject({ outcome: 'cancelled', 'error-code': '', 'job-id': '' })
      expect(exitCode).toBe(1)
      expect(world.emulator.requests).toEqual([])
    }))

  test.concurrent('on a signal while a proxy does not open the tunnel to GitHub', () =>
    inWorld({}, async (world) => {
      const proxy = await connectProxy(1, () => 'silence')
      const { outputs, sinceSignalMs } = await world
        .runBundle(
          { check: 'true' },
          {
            env: { GITHUB_API_URL: 'https://github.test', HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` },
            meanwhile: async ({ signal }) => {
              await until(() => proxy.asked.length > 0)
              signal('SIGINT')
            },
          },
        )
        .finally(proxy.close)
      expect(sinceSignalMs).toBeLessThan(soonAfter(COMMENT_MS))
      expect(outputs).toMatchObject({ outcome: 'cancelled', 'job-id': '' })
      expect(world.emulator.requests).toEqual([])
    }))

  test.concurrent('in time after a signal if GitHub does not respond to the edits', () =>
    inWorld({ emulator: { speed: 1 } }, async (world) => {
      const { outputs, sinceSignalMs } = await world.runBundle(SCOPE, {
        meanwhile: async ({ signal }) => {
          await world.answered(4)
          world.github.faults.push({ ...ALWAYS, method: 'PATCH', answer: 'silence' })
          signal('SIGINT')
        },
      })
      expect(sinceSignalMs).toBeLessThan(soonAfter(COMMENT_MS))
      expect(outputs).toMatchObject({ outcome: 'cancelled', status: 'active' })
    }))
})

test('SIGKILL leaves the job in the comment', () =>
  inWorld({ emulator: { speed: 1 } }, async (world) => {
    const { outputs } = await world.runBundle(SCOPE, {
      meanwhile: async ({ signal }) => {
        await world.answered(4)
        signal('SIGKILL')
      },
    })
    expect(world.comments()[0]).toContain(`job-id: ${outputs['job-id']}`)
    const again = await world.step({ ...SCOPE, wait: 'false' }, { env: { GITHUB_RUN_ATTEMPT: '2' } })
    expect(again.outputs).toMatchObject({ 'job-id': outputs['job-id'], reused: 'true', outcome: 'started' })
  }))
