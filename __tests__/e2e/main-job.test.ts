/** The main job: what is sent, what later steps get, what a reader sees. */

import type { ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { act, KEY } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import {
  active,
  completed,
  created,
  job,
  json,
  LINK,
  opened,
  type Script,
  startService,
} from '../support/service.js'

const FAST = { 'poll-interval-seconds': '0.1', 'timeout-minutes': '0.5' }

async function run(script: Script, inputs: Record<string, string>, options: Parameters<typeof act>[1] = {}) {
  const service = await startService(script)
  try {
    const ended = await act({ 'base-url': service.url, ...FAST, ...inputs }, options)
    return {
      ...ended,
      received: service.received,
      posts: service.posts(),
      looks: service.looks(),
      url: service.url,
    }
  } finally {
    await service.close()
  }
}

const usual: Script = { posts: [created], looks: [active, completed] }

describe('a create', () => {
  test.concurrent('sends one POST as the service wants it, then looks until the end', async () => {
    const { received, posts } = await run(usual, { prompt: '  Say "hello" – in 日本語.\n' })
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v2/agent/docs/job',
      'GET /v2/agent/docs/job/job-1',
      'GET /v2/agent/docs/job/job-1',
    ])
    for (const { headers } of received) expect(headers.authorization).toBe(`Bearer ${KEY}`)
    expect(posts[0]?.headers['content-type']).toBe('application/json')
    expect(JSON.parse(posts[0]?.body ?? '')).toEqual({ prompt: 'Say "hello" – in 日本語.' })
  })

  test.concurrent('gives later steps every output', async () => {
    const { outputs, exitCode } = await run(usual, { prompt: 'Go' })
    const { job: received, 'elapsed-seconds': elapsed, ...rest } = outputs
    expect(rest).toEqual({
      'job-id': 'job-1',
      status: 'completed',
      'pr-link': LINK,
      'pr-number': '17',
      'pr-repository': 'your-org/docs',
      outcome: 'pr-opened',
      'error-code': '',
      reused: 'false',
    })
    expect(JSON.parse(received ?? '')).toEqual(opened)
    expect(elapsed).toMatch(/^\d+$/)
    expect(exitCode).toBe(0)
  })

  test.concurrent('is told in a few lines, one notice and a summary', async () => {
    const { log, commands, summary, url } = await run(
      usual,
      { prompt: 'Go now' },
      { env: { RUNNER_DEBUG: '' } },
    )
    expect(log.split('\n').filter((line) => line !== '' && !line.startsWith('::debug::'))).toEqual([
      `Creating a job in project "docs" at ${url}, with a prompt of 6 characters (6 bytes).`,
      expect.stringMatching(/^Job "job-1" is active after \d+ m?s\.$/),
      expect.stringMatching(/^Job "job-1" is completed after \d+ m?s, pull request https:\S+\.$/),
      `::notice::Pull request: ${LINK}`,
      expect.stringMatching(/^Ended after \d+ m?s: pr-opened\.$/),
    ])
    expect(commands('debug')).toEqual([
      expect.stringMatching(/^POST \/v2\/agent\/docs\/job 201 \d+ ms$/),
      expect.stringMatching(/^GET \/v2\/agent\/docs\/job\/job-1 200 \d+ ms$/),
      expect.stringMatching(/^GET \/v2\/agent\/docs\/job\/job-1 200 \d+ ms$/),
    ])
    expect(summary).toMatch(/^### ✅ The docs job opened a pull request\n/)
    expect(summary).toContain(`[\`your-org/docs#17\`](<${LINK}>)`)
    expect(summary).toContain('| Job | `job-1` |')
    expect(summary).toMatch(
      /\| \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \| \d+ m?s \| active \|\n\| .* \| completed \|/,
    )
    expect(summary).toMatch(/\*\*What to do next:\*\* Review the pull request, then merge it\.\n$/)
    expect(commands('add-mask')).toEqual([KEY, encodeURIComponent(KEY)])
  })

  test.concurrent('reads a long prompt from a file, after the prompt', async () => {
    const workspace = newFolder('workspace')
    const long = 'x'.repeat(1024 * 1024 - 4)
    await writeFile(path.join(workspace, 'prompt.md'), `\uFEFF${long}\n`)
    const { posts } = await run(usual, { prompt: 'First.', 'prompt-file': 'prompt.md' }, { workspace })
    expect(JSON.parse(posts[0]?.body ?? '').prompt).toBe(`First.\n\n${long}`)
  })

  test.concurrent('without a wait ends with the POST', async () => {
    const { received, outputs, exitCode } = await run(usual, { prompt: 'Go', wait: 'false' })
    expect(received.map(({ method }) => method)).toEqual(['POST'])
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
  test.concurrent('goes to the job that is named', async () => {
    const { received, posts, outputs } = await run(
      { ...usual, posts: [active] },
      { prompt: 'More', 'job-id': 'job-1' },
    )
    expect(received[0]?.path).toBe('/v2/agent/docs/job/job-1/message')
    expect(JSON.parse(posts[0]?.body ?? '')).toEqual({ prompt: 'More' })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', reused: 'true', 'job-id': 'job-1' })
  })

  test.concurrent('without a wait ends with the POST, whatever end its answer still shows', async () => {
    const inputs = { prompt: 'More', 'job-id': 'job-1', wait: 'false' }
    const { received, outputs } = await run({ posts: [completed] }, inputs)
    expect(received).toHaveLength(1)
    expect(outputs).toMatchObject({ outcome: 'started', status: 'completed', reused: 'true' })
  })
})

describe('a wait', () => {
  test.concurrent('sends nothing, and looks at once', async () => {
    const { posts, looks, outputs, log } = await run(usual, { 'job-id': 'job-1' })
    expect(posts).toEqual([])
    expect(looks).toHaveLength(2)
    expect(looks[0]?.at).toBeLessThan(2_000)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', reused: 'true', 'pr-link': LINK })
    expect(log).toContain('nothing is sent to it')
  })

  test.concurrent.each([
    ['is still active', active, 'started', 0],
    ['has completed', completed, 'pr-opened', 0],
    ['has failed', json(200, job({ status: 'failed' })), 'failed', 1],
  ] as const)('with wait: false looks once at a job that %s', async (_, look, outcome, exit) => {
    const { received, outputs, exitCode } = await run({ looks: [look] }, { 'job-id': 'job-1', wait: 'false' })
    expect(received).toHaveLength(1)
    expect(outputs).toMatchObject({ outcome, reused: 'true' })
    expect(exitCode).toBe(exit)
  })
})

describe('an id', () => {
  test.concurrent.each([
    ['a/b', 'a%2Fb'],
    ['../../v1', '..%2F..%2Fv1'],
    ['%2e%2e', '%252e%252e'],
    ['a?b#c', 'a%3Fb%23c'],
    ['a b', 'a%20b'],
    ['…', '%E2%80%A6'],
  ])('%s is one encoded segment of the path', async (id, segment) => {
    const inputs = { 'project-id': id, 'job-id': id, prompt: 'Go', wait: 'false' }
    const { received } = await run({ posts: [active] }, inputs)
    expect(received.map(({ path }) => path)).toEqual([`/v2/agent/${segment}/job/${segment}/message`])
  })

  test.concurrent('that the service made up is encoded too', async () => {
    const strange = { ...job(), id: '../x?y=1#z' }
    const { looks, outputs } = await run(
      { posts: [json(201, strange)], looks: [json(200, { ...opened, id: strange.id })] },
      { prompt: 'Go' },
    )
    expect(looks[0]?.path).toBe('/v2/agent/docs/job/..%2Fx%3Fy%3D1%23z')
    expect(outputs['job-id']).toBe(strange.id)
  })
})

describe('a dry run', () => {
  test.concurrent.each([
    ['a create', { prompt: 'One\n::error::two\n  ::add-mask::three ##[group]x' }],
    ['a message', { prompt: 'One\n::error::two\n  ::add-mask::three ##[group]x', 'job-id': 'job-1' }],
  ])('of %s shows the prompt, escaped, and sends nothing', async (_, inputs) => {
    const { received, outputs, log, exitCode } = await run({}, { ...inputs, 'dry-run': 'true' })
    expect(received).toEqual([])
    expect(outputs).toMatchObject({ outcome: 'dry-run', 'error-code': '', reused: 'false', status: '' })
    expect(exitCode).toBe(0)
    const start = log.indexOf('::group::')
    expect(log.slice(start, log.indexOf('::endgroup::', start))).toBe(
      '::group::The prompt as it would be sent\n| One\n| ::error::two\n|   ::add-mask::three ##\\[group]x\n',
    )
  })

  test.concurrent('of a wait sends nothing', async () => {
    const { received, outputs } = await run({}, { 'job-id': 'job-1', 'dry-run': 'TRUE' })
    expect(received).toEqual([])
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
    ['archived', ' ', 1],
    ['no-changes', '', 0],
    ['failed', 'none', 0],
    ['failed', 'archived no-changes', 0],
    ['archived', 'archived\nno-changes', 1],
    ['no-changes', 'no-changes', 1],
  ] as const)('%s with "%s" ends with exit code %i', async (outcome, failOn, exit) => {
    const script = { posts: [created], looks: [json(200, ends[outcome])] }
    const { outputs, exitCode, commands } = await run(script, { prompt: 'Go', 'fail-on': failOn })
    expect(outputs).toMatchObject({ outcome, 'error-code': '' })
    expect(exitCode).toBe(exit)
    expect(commands('error')).toHaveLength(exit)
  })
})

describe('the runner', () => {
  test.concurrent('may have no summary and no output file', async () => {
    const env = { GITHUB_STEP_SUMMARY: '', GITHUB_OUTPUT: '' }
    const { exitCode, log } = await run(usual, { prompt: 'Go' }, { env })
    expect(exitCode).toBe(0)
    expect(log).toContain(LINK)
  })

  test.concurrent('that can take no outputs gets a clear error, and nothing is sent', async () => {
    const env = { GITHUB_OUTPUT: '/nowhere/output' }
    const { received, exitCode, commands } = await run(usual, { prompt: 'Go' }, { env })
    expect(received).toEqual([])
    expect(exitCode).toBe(1)
    expect(commands('error')).toEqual([expect.stringContaining('/nowhere/output')])
  })

  test.concurrent('may throw the summary away', async () => {
    const { outputs, exitCode, commands } = await run(
      usual,
      { prompt: 'Go' },
      { env: { GITHUB_STEP_SUMMARY: devNull } },
    )
    expect(outputs.outcome).toBe('pr-opened')
    expect(exitCode).toBe(0)
    expect(commands('warning')).toEqual([])
  })

  test.concurrent.each([
    ['the summary', 'GITHUB_STEP_SUMMARY'],
    ['the outputs', 'GITHUB_OUTPUT'],
  ])('whose file for %s breaks while the job runs gets the other one, and a warning', async (what, name) => {
    const file = path.join(newFolder('broken'), 'file')
    await writeFile(file, '')
    const breaking: Script = {
      ...usual,
      looks: [
        (response) => {
          rmSync(file)
          mkdirSync(file)
          completed(response)
        },
      ],
    }
    const ended = await run(breaking, { prompt: 'Go' }, { env: { [name]: file } })
    expect(ended.commands('warning')).toEqual([expect.stringContaining(`Writing ${what} failed`)])
    expect(ended.log).toContain(LINK)
    if (what === 'the outputs') expect(ended.summary).toMatch(/^### ✅/)
    else expect(ended.outputs.outcome).toBe('pr-opened')
  })

  test.concurrent('may stop to read the log', async () => {
    const onStart = (child: ChildProcess): void =>
      void child.stdout?.once('data', () => child.stdout?.destroy())
    const { outputs, summary } = await run(usual, { prompt: 'Go' }, { onStart })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'error-code': '' })
    expect(summary).toMatch(/^### ✅/)
  })
})

describe('an answer', () => {
  test.concurrent('that is nested deep does no harm after a message either', async () => {
    const nested = JSON.stringify(opened).replace(
      /}$/,
      `,"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    )
    const inputs = { prompt: 'More', 'job-id': 'job-1', 'timeout-minutes': '0.05' }
    const { outputs } = await run({ posts: [json(200, nested)], looks: [json(200, nested)] }, inputs)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK, job: '' })
  })
})
