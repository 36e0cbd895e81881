/** What GitHub refuses for good of what was asked for sends nothing; what fails for a moment is said everywhere. */

import { createServer } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { type Fault, file, type Permissions, primaryLimit, sha } from '../support/github.js'
import { startListening } from '../support/listening.js'
import { inWorld, type RunOptions, type World } from '../support/pull-request.js'

const ALWAYS = { times: Number.POSITIVE_INFINITY }

function expectNothingSent({ outputs, exitCode, commands }: Ended, world: World): string {
  expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'github', 'job-id': '' })
  expect(exitCode).toBe(1)
  expect(world.emulator.requests).toEqual([])
  expect(commands('error')).toHaveLength(1)
  return commands('error')[0] ?? ''
}

const push: RunOptions = {
  event: 'push',
  payload: {
    before: sha('before'),
    after: sha('after'),
    commits: [],
    sender: { login: 'octocat' },
  },
  env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: sha('after') },
}
const schedule: RunOptions = {
  event: 'schedule',
  payload: {},
  env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: sha('after'), GITHUB_RUN_ID: '999' },
}
const onPull: RunOptions = {}

/** What a permission is for, and the run that needs it. */
const NEEDS: readonly [string, keyof Permissions, RunOptions][] = [
  ['contents: read', 'contents', push],
  ['pull-requests: read', 'pull_requests', onPull],
  ['actions: read', 'actions', schedule],
]

describe('a context that the token may not read sends nothing, and names the permission', () => {
  test.each(
    NEEDS.flatMap(([text, permission, run]) =>
      ([404, 403] as const).map((status) => [text, status, permission, run] as const),
    ),
  )('%s, refused with %s', (text, status, permission, run) =>
    inWorld({ github: { permissions: { [permission]: 'none' } } }, async (world) => {
      world.github.deniedRead = status
      world.repository.addComparison(sha('before'), sha('after'))
      world.repository.addRun({ head_sha: sha('before') })
      const error = expectNothingSent(await world.step({ context: 'diff' }, run), world)
      expect(error).toContain(text)
    }),
  )

  test('with context: event, which has a list of files', () =>
    inWorld({ github: { permissions: { pull_requests: 'none' } } }, async (world) => {
      const error = expectNothingSent(await world.step({ context: 'event' }), world)
      expect(error).toContain('pull-requests: read')
    }))

  test('or names the token, if that is not valid', () =>
    inWorld({}, async (world) => {
      const answer = { status: 401, body: { message: 'Bad credentials' } }
      world.github.faults.push({ path: /\/files/, answer, ...ALWAYS })
      const error = expectNothingSent(await world.step({ context: 'diff' }), world)
      expect(error).toContain('github-token')
      expect(world.github.requests).toHaveLength(1)
    }))
})

describe('a context that fails for a moment is a warning and a note, and the job goes its way', () => {
  test.each<[string, Fault['answer']]>([
    ['a gateway', { status: 502, body: 'Bad Gateway' }],
    ['a limit', primaryLimit(Date.now() / 1000 + 7200)],
    ['a reset', 'reset'],
  ])('%s', (_, answer) =>
    inWorld({}, async (world) => {
      world.github.faults.push({ path: /\/files/, answer, ...ALWAYS })
      const inputs = { context: 'diff', comment: 'true', check: 'true' }
      const { outputs, commands, summary } = await world.step(inputs)
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toHaveLength(1)
      const [check] = world.checks()
      for (const text of [summary, world.comments()[0], check?.output.summary]) {
        // Beside the result, whatever the words: the files of the pull request could not be listed.
        expect(text).toMatch(/\b(?:note|warning)\b|⚠/i)
        expect(text).toMatch(/file|diff|changed|changes/i)
      }
      expect(check?.conclusion).toBe('success')
    }),
  )

  test('and without one, nothing is noted', () =>
    inWorld({}, async (world) => {
      const { summary, commands } = await world.step({ context: 'diff', comment: 'true' })
      expect(commands('warning')).toEqual([])
      expect(summary).not.toMatch(/\b(?:note|warning)\b|⚠/i)
    }))
})

describe('what is created first is true if nothing follows', () => {
  const refused = { status: 403, body: { message: 'Resource not accessible by integration' } }
  const TRUE = /nothing (?:has been|was|is) (?:yet )?sent|sent nothing/i

  test('the comment, if its first edit is refused', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({ method: 'PATCH', path: /\/issues\/comments\//, answer: refused, ...ALWAYS })
      expectNothingSent(await world.step({ 'job-scope': 'pull-request' }), world)
      expect(world.comments()).toHaveLength(1)
      expect(world.comments()[0]).toMatch(TRUE)
      expect(world.comments()[0]).not.toMatch(/may exist|being sent/i)
    }))

  test('the check, before its first edit', () =>
    inWorld({}, async (world) => {
      await world.step({ check: 'true' })
      const [text = ''] = world.github.writes().map(({ body }) => JSON.stringify(body))
      expect(text).toMatch(TRUE)
      expect(text).not.toMatch(/may exist|being sent/i)
    }))

  test('and only the edit that adds the marker says that a request is being sent', () =>
    inWorld({}, async (world) => {
      await world.step({ 'job-scope': 'pull-request' })
      const bodies = world.github.writes().map(({ body }) => (body as { body: string }).body)
      expect(bodies[0]).not.toMatch(/may exist|being sent/i)
      expect(bodies[0]).not.toContain('agent-job-action:')
      expect(bodies[1]).toMatch(/may exist|being sent/i)
      expect(bodies[1]).toContain('agent-job-action:')
    }))
})

describe('a redirect', () => {
  const PATHS = { 'context-paths': 'docs/**' }

  test('to another origin is an error: its answer is not believed', async () => {
    let asked = 0
    const other = await startListening(
      createServer((_, response) => {
        asked++
        response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
      }),
    )
    await inWorld({ pull: { files: [file('docs/api.md')] } }, async (world) => {
      const headers = { location: `http://127.0.0.1:${other.port}/files` }
      world.github.faults.push({ path: /\/files/, answer: { status: 301, headers, body: {} }, ...ALWAYS })
      expectNothingSent(await world.step(PATHS), world)
      expect(asked).toBe(0)
    }).finally(other.close)
  })

  test('of a repository that was renamed is followed', () =>
    inWorld({ pull: { files: [file('docs/api.md')] } }, async (world) => {
      const headers = { location: `${world.github.url}/repos/your-org/your-repo/pulls/1/files?per_page=100` }
      world.github.faults.push({ path: /\/files/, answer: { status: 301, headers, body: {} } })
      expect((await world.step(PATHS)).outputs.outcome).toBe('pr-opened')
    }))
})

describe('skip-authors', () => {
  const byAgent = (login = 'mintlify[bot]'): RunOptions => ({
    payload: {
      action: 'opened',
      pull_request: {
        number: 1,
        user: { login, type: 'Bot' },
        head: { sha: sha('head'), repo: { full_name: 'your-org/your-repo' } },
        base: { repo: { full_name: 'your-org/your-repo' } },
      },
      sender: { login, type: 'Bot' },
    },
  })

  test.each([
    ['another list', 'renovate[bot]', 'mintlify[bot]'],
    ['another list, in another case', 'renovate[bot]', 'Mintlify[Bot]'],
    ['the list itself', 'renovate[bot]', 'renovate[bot]'],
  ])("skips the agent's own work with %s", (_, list, login) =>
    inWorld({}, async (world) => {
      const { outputs } = await world.step({ 'skip-authors': list }, byAgent(login))
      expect(outputs.outcome).toBe('skipped')
      expect(world.emulator.requests).toEqual([])
    }),
  )

  test.each(['', ' \n'])('skips nobody if it is empty: %j', (list) =>
    inWorld({}, async (world) => {
      expect((await world.step({ 'skip-authors': list }, byAgent())).outputs.outcome).toBe('pr-opened')
    }),
  )
})
