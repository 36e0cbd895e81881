/** GitHub's bad days: what decides is tried again and then ends the run; what only informs is a warning. */

import type { ChildProcess } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { SOON_MS } from '../support/action.js'
import { type Fault, primaryLimit, secondaryLimit, sha } from '../support/github.js'
import { posixDescribe } from '../support/platform.js'
import { within } from '../support/pull-request.js'

const SCOPE = { 'job-scope': 'pull-request' }
const COMMENTS = /\/issues\/\d+\/comments/
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds
const broken = { status: 502, body: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } }

describe('a fault that passes, of what decides,', () => {
  const rows: [string, () => Fault['answer']][] = [
    ['502', () => broken],
    ['a reset', () => 'reset'],
    ['a cut answer', () => 'cut'],
    ['a primary limit (403)', () => primaryLimit(inSeconds(1))],
    ['a primary limit (429)', () => primaryLimit(inSeconds(1), 429)],
    ['a secondary limit (403)', () => secondaryLimit(1)],
    ['a secondary limit (429)', () => secondaryLimit(1, 429)],
  ]
  test.concurrent.each(rows)('%s, is tried again', (_, answer) =>
    within({}, async (world) => {
      world.github.faults.push({ method: 'GET', path: COMMENTS, answer: answer() })
      world.github.faults.push({ method: 'POST', path: COMMENTS, answer: answer() })
      world.github.faults.push({ method: 'PATCH', path: /comments\/\d+/, answer: answer() })
      const { outputs } = await world.step(SCOPE)
      expect(outputs.outcome).toBe('pr-opened')
      expect(world.emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
      expect(world.comments()).toHaveLength(1)
    }),
  )

  test.concurrent('a placeholder whose answer was lost is not written twice', () =>
    within({}, async (world) => {
      world.github.faults.push({ method: 'POST', path: COMMENTS, answer: 'reset', takesEffect: true })
      const { outputs } = await world.step(SCOPE)
      expect(outputs.outcome).toBe('pr-opened')
      expect(world.comments()).toHaveLength(1)
    }))
})

describe('a fault that stays, of what decides, ends the run before anything is sent:', () => {
  const rows: [string, Fault['answer'], Record<string, string>, RegExp, RegExp][] = [
    ['a limit for an hour', primaryLimit(inSeconds(3600)), SCOPE, COMMENTS, /rate limit/],
    [
      'bad credentials',
      { status: 401, body: { message: 'Bad credentials' } },
      SCOPE,
      COMMENTS,
      /Bad credentials.*github-token/,
    ],
    [
      'the file list',
      { status: 403, body: { message: 'Resource not accessible by integration' } },
      { 'context-paths': 'docs/**' },
      /files/,
      /pull-requests: read/,
    ],
  ]
  test.concurrent.each(rows)('%s', (_, answer, inputs, path, says) =>
    within({}, async (world) => {
      world.github.faults.push({ path, times: Number.POSITIVE_INFINITY, answer })
      const { outputs, commands, exitCode } = await world.step(inputs)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', 'job-id': '' })
      expect(commands('error')).toEqual([expect.stringMatching(says)])
      expect(exitCode).toBe(1)
      expect(world.emulator.requests).toEqual([])
    }),
  )

  test.concurrent('silence to the deadline', () =>
    within({}, async (world) => {
      world.github.faults.push({ path: COMMENTS, times: Number.POSITIVE_INFINITY, answer: 'silence' })
      const { outputs, milliseconds } = await world.step({ ...SCOPE, 'timeout-minutes': '0.06' })
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(milliseconds).toBeLessThan(6_000)
      expect(world.emulator.requests).toEqual([])
    }))
})

describe('a fault of what only informs is a warning, and the job goes its way:', () => {
  test.concurrent('the files for the context', () =>
    within({}, async (world) => {
      world.github.faults.push({ path: /files/, times: Number.POSITIVE_INFINITY, answer: broken })
      const { outputs, commands } = await world.step({ context: 'diff' })
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([
        expect.stringMatching(/listing the files.*502.*without the changes/),
      ])
    }))

  test.concurrent('edits after the job is known', () =>
    within({}, async (world) => {
      // The first edit is the placeholder's marker.
      world.github.faults.push({ method: 'PATCH', times: 1, answer: { delayMs: 1 } })
      world.github.faults.push({ method: 'PATCH', times: Number.POSITIVE_INFINITY, answer: broken })
      const { outputs, commands, exitCode } = await world.step(SCOPE)
      expect(outputs).toMatchObject({ outcome: 'pr-opened', status: 'completed' })
      expect(commands('warning')).toHaveLength(1)
      expect(exitCode).toBe(0)
    }))

  test.concurrent('silence at the last edit does not hold the end for long', () =>
    within({}, async (world) => {
      world.github.faults.push({ method: 'PATCH', times: 1, answer: { delayMs: 1 } })
      world.github.faults.push({ method: 'PATCH', times: Number.POSITIVE_INFINITY, answer: 'silence' })
      const { outputs, milliseconds } = await world.step(SCOPE)
      expect(outputs.outcome).toBe('pr-opened')
      expect(milliseconds).toBeLessThan(16_000)
    }))
})

describe('an answer of another shape', () => {
  test.concurrent.each([[{}], [null], [[null]], [[]], ['text']])(
    '%j to the files for the context is a warning at the most',
    (body) =>
      within({}, async (world) => {
        world.github.faults.push({
          path: /files/,
          times: Number.POSITIVE_INFINITY,
          answer: { status: 200, body },
        })
        const { outputs } = await world.step({ context: 'diff' })
        expect(outputs.outcome).toBe('pr-opened')
      }),
  )
})

describe('a missing permission to compare', () => {
  const onMain = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: sha('after') }
  const payload = { before: sha('before'), after: sha('after'), commits: [], sender: { login: 'octocat' } }
  const push = { event: 'push', payload, env: onMain }

  test.concurrent('is not taken for a commit that is gone: it ends the run where the list decides', () =>
    within({ github: { permissions: { contents: 'none' } } }, async (world) => {
      const { outputs, commands } = await world.step({ 'context-paths': 'docs/**' }, push)
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(commands('error')[0]).toContain('contents: read')
      expect(world.emulator.requests).toEqual([])
    }))

  test.concurrent('is a warning that names it where the list only informs', () =>
    within({ github: { permissions: { contents: 'none' } } }, async (world) => {
      const { outputs, commands } = await world.step({ context: 'diff' }, push)
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([expect.stringContaining('contents: read')])
    }))
})

describe('the event', () => {
  test.concurrent.each([
    ['is no JSON', '{'],
    ['is empty', ''],
  ])('that %s is told where it decides', (_, payload) =>
    within({}, async (world) => {
      const { outputs, commands } = await world.step(SCOPE, { payload })
      expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github' })
      expect(commands('error')[0]).toMatch(/GITHUB_EVENT_PATH.*not JSON/)
      expect(world.github.requests).toEqual([])
    }),
  )

  test.concurrent('whose file is missing is told where it decides, and does not matter elsewhere', () =>
    within({}, async (world) => {
      const env = { GITHUB_EVENT_PATH: '/nowhere/event.json' }
      const scoped = await world.step(SCOPE, { env })
      expect(scoped.commands('error')[0]).toMatch(/ENOENT/)
      const plain = await world.step({}, { env })
      expect(plain.outputs.outcome).toBe('pr-opened')
    }))

  test.concurrent('without a number has no pull request', () =>
    within({}, async (world) => {
      const { outputs, log } = await world.step(SCOPE, { payload: { pull_request: {} } })
      expect(outputs.outcome).toBe('pr-opened')
      expect(log).toContain('has no pull request')
    }))
})

posixDescribe('a cancel', () => {
  test.concurrent('while GitHub is asked sends nothing and ends at once', () =>
    within({}, async (world) => {
      world.github.faults.push({ path: COMMENTS, times: Number.POSITIVE_INFINITY, answer: 'silence' })
      let signalled = 0
      const { outputs, exitCode } = await world.step(SCOPE, {
        onStart: (child) =>
          void world.github.received(1).then(() => {
            signalled = performance.now()
            child.kill('SIGINT')
          }),
      })
      expect(performance.now() - signalled).toBeLessThan(SOON_MS)
      expect(outputs).toMatchObject({ outcome: 'cancelled', 'error-code': '', 'job-id': '' })
      expect(exitCode).toBe(1)
      expect(world.emulator.requests).toEqual([])
    }))

  test.concurrent.each([
    ['tells the comment too', false],
    ['ends in time also where GitHub is silent', true],
  ])('while the job runs %s', (_, silent) =>
    within({ emulator: { speed: 1 } }, async (world) => {
      let signalled = 0
      const { outputs } = await world.step(SCOPE, {
        onStart: (child) =>
          void world.github.received(4).then(() => {
            if (silent)
              world.github.faults.push({
                method: 'PATCH',
                times: Number.POSITIVE_INFINITY,
                answer: 'silence',
              })
            setTimeout(() => {
              signalled = performance.now()
              child.kill('SIGINT')
            }, 300)
          }),
      })
      expect(performance.now() - signalled).toBeLessThan(SOON_MS)
      expect(outputs).toMatchObject({ outcome: 'cancelled', status: 'active' })
      if (!silent)
        expect(world.comments()[0]).toMatch(/^### 🛑 The step was cancelled[\s\S]*goes on at the service/u)
    }),
  )

  test.concurrent('during the last edit that GitHub does not answer ends it', () =>
    within({}, async (world) => {
      world.github.faults.push({ method: 'PATCH', times: 1, answer: { delayMs: 1 } })
      world.github.faults.push({ method: 'PATCH', times: Number.POSITIVE_INFINITY, answer: 'silence' })
      let signalled = 0
      const onLine = (line: string): void => {
        if (line.startsWith('Ended')) signalled ||= performance.now()
      }
      let child: ChildProcess | undefined
      const onStart = (started: ChildProcess): void => {
        child = started
      }
      const poll = setInterval(() => signalled > 0 && child?.kill('SIGINT') && clearInterval(poll), 50)
      const { outputs } = await world.step(SCOPE, { onLine, onStart })
      expect(performance.now() - signalled).toBeLessThan(SOON_MS)
      expect(outputs.outcome).toBe('pr-opened')
    }))

  test.concurrent('of a run that only comments is told in a comment, too', () =>
    within({ emulator: { speed: 1 } }, async (world) => {
      const { outputs, commands } = await world.step(
        { comment: 'true' },
        {
          onLine: () => undefined,
          onStart: (child) => {
            const poll = setInterval(() => {
              if (world.emulator.requests.length === 0) return
              clearInterval(poll)
              setTimeout(() => child.kill('SIGINT'), 100)
            }, 20)
          },
        },
      )
      expect(outputs.outcome).toBe('cancelled')
      expect(commands('warning')).toEqual([])
      expect(world.comments()).toHaveLength(1)
      expect(world.comments()[0]).toMatch(/^### 🛑/u)
    }))
})

test.concurrent('SIGKILL leaves the job in the comment', () =>
  within({ emulator: { speed: 1 } }, async (world) => {
    const { outputs } = await world.step(SCOPE, {
      onStart: (child) =>
        void world.github.received(4).then(() => setTimeout(() => child.kill('SIGKILL'), 300)),
    })
    expect(world.comments()[0]).toContain(`job-id: ${outputs['job-id']}`)
    const again = await world.step({ ...SCOPE, wait: 'false' }, { env: { GITHUB_RUN_ATTEMPT: '2' } })
    expect(again.outputs).toMatchObject({ 'job-id': outputs['job-id'], reused: 'true', outcome: 'started' })
  }))
