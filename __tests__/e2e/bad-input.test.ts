/**
 * Bad input: every problem in one error, and nothing is sent; prompt files that must not be read.
 */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type Ended, KEY, type Options, runAgainst, runStep } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { POSIX } from '../support/platform.js'
import { inRealWorld } from '../support/pull-request.js'

/** Runs a step that is refused. Returns it, and the lines of its error. */
async function refused(
  inputs: Record<string, string>,
  options: Pick<Options, 'env' | 'workspace'> = {},
): Promise<Ended & { readonly problems: string[] }> {
  const ended = await runAgainst({}, inputs, options)
  expect(ended.service.received).toEqual([])
  expect(ended.outputs).toMatchObject({
    outcome: 'error',
    'error-code': 'input',
    status: '',
    sent: 'nothing',
  })
  expect(ended.exitCode).toBe(1)
  expect(ended.commands('error')).toHaveLength(1)
  return { ...ended, problems: ended.commands('error')[0]?.split('\n') ?? [] }
}

test.concurrent('a valid job-id is an output even if another input is wrong', async () => {
  const { outputs } = await refused({ 'job-id': 'job-1', wait: 'perhaps' })
  expect(outputs['job-id']).toBe('job-1')
})

test.concurrent('an input whose name is misspelt is not ignored', async () => {
  const { problems } = await refused({ prompt: 'Go', dry_run: 'true' })
  expect(problems[0]).toBe('dry_run: no such input. Write "dry-run" instead.')
})

test.concurrent('text in an input runs no workflow command', async () => {
  const evil = 'x\n::error::y\r##[add-mask]z'
  const { log, problems } = await refused({ wait: evil, 'base-url': evil, 'job-id': evil })
  expect(log).not.toMatch(/##\[/)
  expect(problems).toHaveLength(3)
})

test.concurrent("a stranger's run is skipped before its bad input is reported, and says what would help", () =>
  inRealWorld({}, async ({ runBundle }) => {
    const sender = { login: 'stranger' }
    const comment = { user: sender, body: '/docs' }
    const payload = { action: 'created', issue: { number: 9, title: 'T' }, comment, sender }
    const { outputs, log, summary } = await runBundle(
      { wait: 'perhaps' },
      { event: 'issue_comment', payload },
    )
    expect(outputs).toMatchObject({ outcome: 'skipped', 'error-code': '' })
    for (const text of [log, summary]) expect(text).toContain('add the login to')
  }))

test.concurrent('an empty key on a run by Dependabot says why', async () => {
  const event = path.join(newFolder('event'), 'event.json')
  writeFileSync(event, JSON.stringify({ pull_request: { number: 7 } }))
  const env = {
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_ACTOR: 'dependabot[bot]',
    GITHUB_EVENT_PATH: event,
  }
  const { problems } = await refused({ prompt: 'Go', 'api-key': ' ', 'allow-users': '*' }, { env })
  expect(problems).toEqual([expect.stringMatching(/^api-key: .*Dependabot/)])
})

// The rules themselves are tested in unit/.
describe('a prompt file', () => {
  const workspace = newFolder('workspace')
  const outside = path.join(newFolder('outside'), 'secret.md')
  writeFileSync(outside, KEY)
  writeFileSync(path.join(workspace, 'good.md'), 'Good')
  mkdirSync(path.join(workspace, '.git'))
  writeFileSync(path.join(workspace, '.git', 'config'), 'token')
  symlinkSync(path.dirname(outside), path.join(workspace, 'linked-folder'), 'junction')
  if (POSIX) symlinkSync(outside, path.join(workspace, 'link.md'))

  test.concurrent.each([
    POSIX ? 'link.md' : 'linked-folder/secret.md',
    '.git/config',
    '/proc/self/environ',
  ])('%s is refused', async (file) => {
    const { problems } = await refused({ 'prompt-file': file }, { workspace })
    expect(problems).toEqual([expect.stringMatching(/^prompt-file: /)])
  })

  test.concurrent.each([
    ['pull_request_target', 1],
    ['an_event_of_the_future', 1],
    ['workflow_dispatch', 0],
  ])('on %s, draws %d warnings: its words may be those of a stranger', async (name, count) => {
    const { commands, outputs } = await runStep(
      { 'prompt-file': 'good.md', 'dry-run': 'true', 'allow-users': '*' },
      { workspace, env: { GITHUB_EVENT_NAME: name } },
    )
    expect(commands('warning')).toEqual(
      Array(count).fill(expect.stringContaining(`prompt-file on ${name}: `)),
    )
    expect(outputs.outcome).toBe('dry-run')
  })
})
