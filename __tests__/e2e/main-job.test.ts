/** What a step does for each kind of task, and for each kind of runner. */

import { mkdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { KEY, runAgainst } from '../support/action.js'
import { newFolder } from '../support/folder.js'
import {
  active,
  completed,
  created,
  type Handler,
  job,
  json,
  LINK,
  opened,
  type Script,
} from '../support/service.js'
import { minutes, shortDeadline, until } from '../support/time.js'

const USUAL: Script = { posts: [created], polls: [active, completed] }

const GO = { prompt: 'Go' }
const WAIT = { 'job-id': 'job-1' }
const MORE = { ...WAIT, prompt: 'More' }
const KEPT = { ...GO, 'fail-on': 'none' }
const ONCE = { ...WAIT, wait: 'false' }
const RARELY = { 'poll-interval-seconds': '600' }
const JOBS = '/v2/agent/docs/job'
const REQUESTS: Readonly<Record<string, string>> = {
  create: `POST ${JOBS} {"prompt":"Go"}`,
  message: `POST ${JOBS}/job-1/message {"prompt":"More"}`,
  poll: `GET ${JOBS}/job-1`,
}

const FAILS: Script = { posts: [created], polls: [json(200, job({ status: 'failed' }))] }
const ENDED: Script = { posts: [completed], polls: [completed] }
const RUNS: Script = { posts: [active], polls: [active, completed] }

/** What it sends, its exit code, and the outputs outcome, status and sent. */
test.concurrent.each<[string, Script, Record<string, string>, requests: string, end: string]>([
  [
    'a create without a wait ends at once [output.outcome]',
    USUAL,
    { ...GO, wait: 'false' },
    'create',
    '0 started active job',
  ],
  [
    'a message is sent to a job, which is polled [input.task]',
    RUNS,
    MORE,
    'message poll poll',
    '0 pr-opened completed message',
  ],
  [
    'a wait polls at once [poll.retry]',
    ENDED,
    { ...WAIT, ...RARELY },
    'poll',
    '0 pr-opened completed nothing',
  ],
  ['an active job is checked once [poll.once]', RUNS, ONCE, 'poll', '0 started active nothing'],
  [
    'a dry run of a wait sends nothing [output.dry-run]',
    {},
    { ...WAIT, 'dry-run': 'TRUE' },
    '',
    '0 dry-run  nothing',
  ],
  ['a failed job fails the step [output.outcome]', FAILS, GO, 'create poll', '1 failed failed job'],
  [
    'a failed job fails no step with fail-on: none [output.exit-code]',
    FAILS,
    KEPT,
    'create poll',
    '0 failed failed job',
  ],
])('%s', async (_, script, inputs, requests, end) => {
  const { service, exitCode, commands, outputs } = await runAgainst(script, inputs)
  expect(
    service.received.map(({ method, path, body }) => `${method} ${path} ${body}`.trim()),
  ).toEqual(requests.split(' ').flatMap((name) => REQUESTS[name] ?? []))
  expect([exitCode, outputs.outcome, outputs.status, outputs.sent].join(' ')).toBe(end)
  expect(outputs).toMatchObject({ 'job-id': 'job-1', 'error-code': '' })
  expect(outputs['pr-link']).toBe(outputs.status === 'completed' ? LINK : '')
  expect(commands('error')).toHaveLength(exitCode)
  expect(commands('add-mask')).toEqual([KEY, encodeURIComponent(KEY)])
})

test.concurrent('a message may be answered by deeply nested JSON [input.task]', async () => {
  const nested = JSON.stringify({ ...opened, deep: 0 }).replace(
    '0}',
    `${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
  )
  const inputs = { ...MORE, 'timeout-minutes': minutes(shortDeadline()) }
  const { outputs } = await runAgainst(
    { posts: [json(200, nested)], polls: [json(200, nested)] },
    inputs,
  )
  expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
})

describe('the runner [output.unwritable]', () => {
  test.concurrent.each([
    ['no summary and no output file', { GITHUB_STEP_SUMMARY: '', GITHUB_OUTPUT: '' }],
    ['a summary that is discarded [report.summary]', { GITHUB_STEP_SUMMARY: devNull }],
  ])('may have %s', async (_, env) => {
    const { exitCode, log, commands } = await runAgainst(USUAL, GO, { env })
    expect(exitCode).toBe(0)
    expect(log).toContain(LINK)
    expect(commands('warning')).toEqual([])
  })

  test.concurrent('accepts no outputs: an error names the file, and nothing is sent [output.unwritable]', async () => {
    const env = { GITHUB_OUTPUT: '/nowhere/output' }
    const { service, exitCode, commands } = await runAgainst(USUAL, GO, { env })
    expect(service.received).toEqual([])
    expect(exitCode).toBe(1)
    expect(commands('error')).toEqual([expect.stringContaining('/nowhere/output')])
  })

  test.concurrent('whose summary breaks while the job runs gets the outputs, and a warning', async () => {
    const file = path.join(newFolder('broken'), 'file')
    await writeFile(file, '')
    const breaking: Handler = (response) => {
      rmSync(file)
      mkdirSync(file)
      completed(response)
    }
    const env = { GITHUB_STEP_SUMMARY: file }
    const ended = await runAgainst({ ...USUAL, polls: [breaking] }, GO, { env })
    expect(ended.commands('warning')).toEqual([expect.stringContaining('the summary')])
    expect(ended.outputs.outcome).toBe('pr-opened')
    expect(ended.exitCode).toBe(0)
  })

  test.concurrent('may stop reading the log [output.exit-code]', async () => {
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
