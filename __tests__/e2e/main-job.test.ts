/** What a step does for each kind of task, and for each kind of runner. */

import { mkdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { KEY, runAgainst } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import { active, completed, created, job, json, LINK, opened, type Script } from '../support/service.js'
import { minutes, shortDeadline, until } from '../support/time.js'

const USUAL: Script = { posts: [created], polls: [active, completed] }

describe('a create', () => {
  test.concurrent('sends the prompt as it is, trimmed, and masks the key', async () => {
    const { service, commands } = await runAgainst(USUAL, { prompt: '  Say "hello" – in 日本語.\n' })
    expect(service.posts().map(({ body }) => JSON.parse(body))).toEqual([
      { prompt: 'Say "hello" – in 日本語.' },
    ])
    expect(commands('add-mask')).toEqual([KEY, encodeURIComponent(KEY)])
  })

  test.concurrent('reads a long prompt from a file, after the prompt', async () => {
    const workspace = newFolder('workspace')
    const long = 'x'.repeat(1024 * 1024 - 4)
    await writeFile(path.join(workspace, 'prompt.md'), `\uFEFF${long}\n`)
    const inputs = { prompt: 'First.', 'prompt-file': 'prompt.md' }
    const { service } = await runAgainst(USUAL, inputs, { workspace })
    expect(JSON.parse(service.posts()[0]?.body ?? '').prompt).toBe(`First.\n\n${long}`)
  })

  test.concurrent('without a wait ends with the POST', async () => {
    const { service, outputs, exitCode } = await runAgainst(USUAL, { prompt: 'Go', wait: 'false' })
    expect(service.received.map(({ method }) => method)).toEqual(['POST'])
    expect(outputs).toMatchObject({
      outcome: 'started',
      status: 'active',
      'job-id': 'job-1',
      reused: 'false',
    })
    expect(exitCode).toBe(0)
  })
})

describe('a message', () => {
  const MORE = { prompt: 'More', 'job-id': 'job-1' }

  test.concurrent('goes to the job that is named', async () => {
    const { service, outputs } = await runAgainst({ ...USUAL, posts: [active] }, MORE)
    expect(service.received[0]?.path).toBe('/v2/agent/docs/job/job-1/message')
    expect(JSON.parse(service.posts()[0]?.body ?? '')).toEqual({ prompt: 'More' })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', reused: 'true', 'job-id': 'job-1' })
  })

  test.concurrent('without a wait ends with the POST, even if its response shows an old end', async () => {
    const { service, outputs } = await runAgainst({ posts: [completed] }, { ...MORE, wait: 'false' })
    expect(service.received).toHaveLength(1)
    expect(outputs).toMatchObject({ outcome: 'started', status: 'completed', reused: 'true' })
  })

  test.concurrent('may be answered by deeply nested JSON', async () => {
    const nested = JSON.stringify({ ...opened, deep: 0 }).replace(
      '0}',
      `${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
    )
    const inputs = { ...MORE, 'timeout-minutes': minutes(shortDeadline()) }
    const { outputs } = await runAgainst({ posts: [json(200, nested)], polls: [json(200, nested)] }, inputs)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK, job: '' })
  })
})

describe('a wait', () => {
  test.concurrent('sends nothing, and polls immediately', async () => {
    const inputs = { 'job-id': 'job-1', 'poll-interval-seconds': '600' }
    const { service, outputs } = await runAgainst({ polls: [completed] }, inputs)
    expect(service.received.map(({ method }) => method)).toEqual(['GET'])
    expect(outputs).toMatchObject({ outcome: 'pr-opened', reused: 'true', 'pr-link': LINK })
  })

  test.concurrent.each([
    ['is still active', active, 'started', 0],
    ['has failed', json(200, job({ status: 'failed' })), 'failed', 1],
  ])('with wait: false polls once a job that %s', async (_, poll, outcome, exit) => {
    const inputs = { 'job-id': 'job-1', wait: 'false' }
    const { service, outputs, exitCode } = await runAgainst({ polls: [poll] }, inputs)
    expect(service.received).toHaveLength(1)
    expect(outputs).toMatchObject({ outcome, reused: 'true' })
    expect(exitCode).toBe(exit)
  })
})

test.concurrent('an id is one encoded segment of the path, given or as the service made it up', async () => {
  const id = 'a:b@c=d+e,f~g'
  const segment = 'a%3Ab%40c%3Dd%2Be%2Cf~g'
  const script = { posts: [json(201, job({ id }))], polls: [json(200, { ...opened, id })] }
  const created = await runAgainst(script, { prompt: 'Go', 'project-id': id })
  expect(created.service.polls()[0]?.path).toBe(`/v2/agent/${segment}/job/${segment}`)
  expect(created.outputs['job-id']).toBe(id)
  const { service } = await runAgainst(script, { prompt: 'Go', 'job-id': id, wait: 'false' })
  expect(service.posts()[0]?.path).toBe(`/v2/agent/docs/job/${segment}/message`)
})

describe('a dry run', () => {
  test.concurrent('shows the prompt, escaped, and sends nothing', async () => {
    const inputs = { prompt: 'One\n::error::two\n  ::add-mask::three ##[group]x', 'dry-run': 'true' }
    const { service, outputs, log, exitCode } = await runAgainst({}, inputs)
    expect(service.received).toEqual([])
    expect(outputs).toMatchObject({ outcome: 'dry-run', 'error-code': '', reused: 'false', status: '' })
    expect(exitCode).toBe(0)
    expect(log).toMatch(
      /^::group::.*\n\| One\n\| ::error::two\n\| {3}::add-mask::three ##\\\[group\]x\n::endgroup::$/m,
    )
  })

  test.concurrent('of a wait sends nothing', async () => {
    const { service, outputs } = await runAgainst({}, { 'job-id': 'job-1', 'dry-run': 'TRUE' })
    expect(service.received).toEqual([])
    expect(outputs).toMatchObject({ outcome: 'dry-run', 'job-id': 'job-1' })
  })
})

describe('fail-on', () => {
  const ends = {
    failed: job({ status: 'failed' }),
    archived: job({ status: 'archived' }),
    'no-changes': job({ status: 'completed' }),
  }
  test.concurrent.each([
    ['failed', '', 1],
    ['archived', 'none', 0],
    ['no-changes', '', 0],
    ['no-changes', 'no-changes', 1],
  ] as const)('%s with "%s" ends with exit code %i', async (outcome, failOn, exit) => {
    const script = { posts: [created], polls: [json(200, ends[outcome])] }
    const { outputs, exitCode, commands } = await runAgainst(script, { prompt: 'Go', 'fail-on': failOn })
    expect(outputs).toMatchObject({ outcome, 'error-code': '' })
    expect(exitCode).toBe(exit)
    expect(commands('error')).toHaveLength(exit)
  })
})

describe('the runner', () => {
  const GO = { prompt: 'Go' }

  test.concurrent('may have no summary and no output file', async () => {
    const env = { GITHUB_STEP_SUMMARY: '', GITHUB_OUTPUT: '' }
    const { exitCode, log } = await runAgainst(USUAL, GO, { env })
    expect(exitCode).toBe(0)
    expect(log).toContain(LINK)
  })

  test.concurrent('that accepts no outputs: an error that names the file, and nothing is sent', async () => {
    const env = { GITHUB_OUTPUT: '/nowhere/output' }
    const { service, exitCode, commands } = await runAgainst(USUAL, GO, { env })
    expect(service.received).toEqual([])
    expect(exitCode).toBe(1)
    expect(commands('error')).toEqual([expect.stringContaining('/nowhere/output')])
  })

  test.concurrent('may discard the summary', async () => {
    const env = { GITHUB_STEP_SUMMARY: devNull }
    const { outputs, exitCode, commands } = await runAgainst(USUAL, GO, { env })
    expect(outputs.outcome).toBe('pr-opened')
    expect(exitCode).toBe(0)
    expect(commands('warning')).toEqual([])
  })

  /** A job that ends after its file was replaced by a folder. */
  async function runBreaking(name: 'GITHUB_STEP_SUMMARY' | 'GITHUB_OUTPUT') {
    const file = path.join(newFolder('broken'), 'file')
    await writeFile(file, '')
    const breaking: Script = {
      ...USUAL,
      polls: [
        (response) => {
          rmSync(file)
          mkdirSync(file)
          completed(response)
        },
      ],
    }
    return runAgainst(breaking, GO, { env: { [name]: file } })
  }

  test.concurrent('whose summary breaks while the job runs gets the outputs, and a warning', async () => {
    const ended = await runBreaking('GITHUB_STEP_SUMMARY')
    expect(ended.commands('warning')).toEqual([expect.stringContaining('the summary')])
    expect(ended.outputs.outcome).toBe('pr-opened')
    expect(ended.exitCode).toBe(0)
  })

  test.concurrent('whose outputs break while the job runs fails the step, and names the job', async () => {
    const ended = await runBreaking('GITHUB_OUTPUT')
    expect(ended.commands('error')).toEqual([expect.stringMatching(/Writing the outputs failed.*"job-1"/)])
    expect(ended.log).toContain(LINK)
    expect(ended.summary).toMatch(/^### ❌/)
    expect(ended.exitCode).toBe(1)
  })

  test.concurrent('may stop reading the log', async () => {
    const { outputs, summary } = await runAgainst(USUAL, GO, {
      meanwhile: async ({ lines, child }) => {
        await until(() => lines.length > 0)
        child.stdout?.destroy()
      },
    })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'error-code': '' })
    expect(summary).toMatch(/^### ✅/)
  })
})
