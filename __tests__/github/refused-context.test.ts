/** What GitHub refuses for good of what was asked for sends nothing; what fails for a moment is said everywhere. */

import { describe, expect, test } from '@jest/globals'
import type { Ended } from '../support/action.js'
import { BAD_GATEWAY, type Permissions, sha } from '../support/github.js'
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
  test('in the log, the summary, the comment and the check', () =>
    inWorld({}, async (world) => {
      world.github.faults.push({ path: /\/files/, answer: BAD_GATEWAY, ...ALWAYS })
      const inputs = { context: 'diff', comment: 'true', check: 'true' }
      const { outputs, commands, summary } = await world.step(inputs)
      expect(outputs.outcome).toBe('pr-opened')
      expect(commands('warning')).toEqual([
        expect.stringMatching(/502.* The prompt doesn't say what changed/s),
      ])
      const [check] = world.checks()
      for (const text of [summary, world.comments()[0], check?.output.summary]) {
        // Beside the result, whatever the words: the files of the pull request could not be listed.
        expect(text).toMatch(/\b(?:note|warning)\b|⚠/i)
        expect(text).toMatch(/file|diff|changed|changes/i)
      }
      expect(check?.conclusion).toBe('success')
    }))

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
})
