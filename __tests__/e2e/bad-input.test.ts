/** Bad input: every fault in one error, nothing sent; and files that must not be read. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { act, type Ended, KEY, type Options } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { POSIX } from '../support/platform.js'
import { startService } from '../support/service.js'

async function refused(inputs: Record<string, string>, options?: Options): Promise<Ended> {
  const service = await startService({})
  const ended = await act({ 'base-url': service.url, ...inputs }, options).finally(service.close)
  expect(service.received).toEqual([])
  expect(ended.outputs).toMatchObject({
    outcome: 'error',
    'error-code': 'input',
    status: '',
    reused: 'false',
  })
  expect(ended.exitCode).toBe(1)
  expect(ended.commands('error')).toHaveLength(1)
  expect(ended.milliseconds).toBeLessThan(5_000)
  return ended
}

const linesOf = (ended: Ended): string[] => ended.commands('error')[0]?.split('\n') ?? []

test('all faults come at once, a line each, with the input, what it got, what it takes and what to do', async () => {
  const ended = await refused({
    prompt: ' ',
    'project-id': '..',
    'api-key': 'mint_two words',
    'job-id': '',
    wait: 'yes',
    'timeout-minutes': '1441',
    'poll-interval-seconds': '5s',
    'fail-on': 'failed, error',
    'base-url': 'http://user:hunter2@agent.example.com/?q',
    'dry-run': '1',
  })
  expect(linesOf(ended)).toEqual([
    expect.stringMatching(
      /^base-url: got "http:\/\/\*\*\*@agent\.example\.com\/\?\*\*\*"; takes .*Take these out\.$/,
    ),
    expect.stringMatching(/^api-key: got a value with white space.*; takes .*Store the secret again/),
    expect.stringMatching(/^project-id: got "\.\."; takes an id .*Copy it anew\.$/),
    expect.stringMatching(/^prompt: got nothing; takes the instruction.*Give prompt or prompt-file/),
    expect.stringMatching(/^wait: got "yes"; takes true or false\./),
    expect.stringMatching(/^timeout-minutes: got "1441"; takes a number.*1440/),
    expect.stringMatching(/^poll-interval-seconds: got "5s"; takes a number.*3600/),
    expect.stringMatching(
      /^fail-on: got "failed, error"; takes some of failed, archived, timed-out, no-changes/,
    ),
    expect.stringMatching(/^dry-run: got "1"; takes true or false\./),
  ])
  expect(JSON.stringify(ended)).not.toMatch(/hunter2|two words/)
  for (const line of linesOf(ended)) expect(ended.summary).toContain(line.slice(0, line.indexOf(':')))
})

test('a job-id that is good is an output even then', async () => {
  const ended = await refused({ 'job-id': 'job-1', wait: 'perhaps' })
  expect(ended.outputs['job-id']).toBe('job-1')
})

test('text in an input can start no workflow command', async () => {
  const evil = 'x\n::error::y\r##[add-mask]z'
  const ended = await refused({
    wait: evil,
    'fail-on': evil,
    'base-url': evil,
    'prompt-file': evil,
    'job-id': evil,
  })
  expect(ended.log).not.toMatch(/##\[/)
  expect(linesOf(ended)).toHaveLength(5)
})

describe('a key', () => {
  test.each([
    ['mint_dsc_0123456789', 'mint_dsc_'],
    ['mint_us_0123456789', 'mint_us_'],
    ['ghp_0123456789', 'mint_'],
  ])('of a wrong kind (%s) is refused at the default address, without its value', async (key, says) => {
    const ended = await refused({ prompt: 'Go', 'api-key': key, 'base-url': '' })
    expect(linesOf(ended)).toEqual([expect.stringContaining(says)])
    expect(ended.log).not.toContain('0123456789')
  })

  test.each([
    [
      'a fork',
      { GITHUB_EVENT_NAME: 'pull_request' },
      { head: 'someone/docs', base: 'your-org/docs' },
      /fork.*secrets/,
    ],
    [
      'Dependabot',
      { GITHUB_ACTOR: 'dependabot[bot]' },
      { head: 'your-org/docs', base: 'your-org/docs' },
      /Dependabot secrets/,
    ],
    [
      'anything else',
      { GITHUB_EVENT_NAME: 'push' },
      { head: 'your-org/docs', base: 'your-org/docs' },
      /Set it from a secret/,
    ],
  ])('that is empty on a run by %s says why', async (_, env, { head, base }, says) => {
    const event = path.join(newFolder('event'), 'event.json')
    const pullRequest = { head: { repo: { full_name: head } }, base: { repo: { full_name: base } } }
    writeFileSync(event, JSON.stringify({ pull_request: pullRequest }))
    const ended = await refused(
      { prompt: 'Go', 'api-key': ' ' },
      { env: { ...env, GITHUB_EVENT_PATH: event } },
    )
    expect(linesOf(ended)).toEqual([expect.stringMatching(/^api-key: got nothing; /)])
    expect(linesOf(ended)[0]).toMatch(says)
  })
})

describe('a prompt file', () => {
  const workspace = newFolder('workspace')
  const outside = newFolder('outside')
  const at = (...parts: string[]): string => path.join(workspace, ...parts)
  writeFileSync(path.join(outside, 'secret.md'), KEY)
  writeFileSync(at('good.md'), 'Good')
  for (const folder of ['.git', 'folder']) mkdirSync(at(folder))
  writeFileSync(at('.git', 'config'), 'token')
  symlinkSync(outside, at('linked-folder'), 'junction')
  if (POSIX) {
    mkdirSync(at('.GIT.'))
    writeFileSync(at('.GIT.', 'config'), 'token')
    symlinkSync(path.join(outside, 'secret.md'), at('link.md'))
    symlinkSync(at('good.md'), at('link-inside.md'))
    execFileSync('mkfifo', [at('fifo')])
  }
  writeFileSync(at('empty.md'), '')
  writeFileSync(at('blank.md'), '\uFEFF \n')
  writeFileSync(at('large.md'), 'x'.repeat(1024 * 1024 + 1))
  writeFileSync(at('latin-1.md'), Buffer.from([0x63, 0x61, 0x66, 0xe9]))

  const onPosix: [string, string][] = [
    ['link.md', 'symbolic link'],
    ['link-inside.md', 'symbolic link'],
    ['fifo', 'no regular file'],
  ]
  test.concurrent.each([
    ...(POSIX ? onPosix : []),
    ['linked-folder/secret.md', 'symbolic link'],
    ['.git/config', 'git keeps its own files'],
    ['.GIT./config', 'git keeps its own files'],
    ['folder', 'no regular file'],
    ['/proc/self/environ', 'outside of the workspace'],
    ['../outside.md', 'outside of the workspace'],
    [path.join(outside, 'secret.md'), 'outside of the workspace'],
    ['.', 'outside of the workspace'],
    ['missing.md', 'does not exist'],
    ['good.md/x', 'does not exist'],
    ['empty.md', 'is empty'],
    ['blank.md', 'is empty'],
    ['large.md', 'larger than 1 MiB'],
    ['latin-1.md', 'not valid UTF-8'],
  ])('%s is refused: %s', async (file, says) => {
    const ended = await refused({ 'prompt-file': file }, { workspace })
    expect(linesOf(ended)).toEqual([expect.stringMatching(/^prompt-file: got ".+", which .+\.$/)])
    expect(linesOf(ended)[0]).toContain(says)
  })

  test.concurrent('draws a warning on pull_request_target', async () => {
    const env = { GITHUB_EVENT_NAME: 'pull_request_target' }
    const ended = await act({ 'prompt-file': 'good.md', 'dry-run': 'true' }, { workspace, env })
    expect(ended.commands('warning')).toEqual([expect.stringContaining('pull_request_target')])
    expect(ended.outputs.outcome).toBe('dry-run')
  })
})
