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

const GO = { prompt: 'Go' }
const WAIT = { 'job-id': 'job-1' }
const MORE = { ...WAIT, prompt: 'More' }
const JOBS = '/v2/agent/docs/job'
const POLL = `GET ${JOBS}/job-1`
const CREATE = `POST ${JOBS} {"prompt":"Go"}`
const RARELY = { 'poll-interval-seconds': '600' }
const REUSED = 'pr-opened completed true'
const MESSAGE = `POST ${JOBS}/job-1/message {"prompt":"More"}`

const endsWith = (status: string): Script => ({ posts: [created], polls: [json(200, job({ status }))] })

/** Name, script, inputs, requests, exit code, and the outputs outcome, status and reused. */
type Row = [string, Script, Record<string, string>, string[], number, string]
const ONCE = { ...WAIT, wait: 'false' }
const KEPT = { ...GO, 'fail-on': 'none' }
const STRICT = { ...GO, 'fail-on': 'no-changes' }
const QUOTED = { prompt: '  Say "hello" – in 日本語.\n' }

test.concurrent.each<Row>([
  [
    'a create without a wait ends with the POST',
    USUAL,
    { ...GO, wait: 'false' },
    [CREATE],
    0,
    'started active false',
  ],
  [
    'a prompt is sent as it is, trimmed',
    USUAL,
    QUOTED,
    [`POST ${JOBS} {"prompt":"Say \\"hello\\" – in 日本語."}`, POLL, POLL],
    0,
    'pr-opened completed false',
  ],
  [
    'a message goes to the job that is named',
    { ...USUAL, posts: [active] },
    MORE,
    [MESSAGE, POLL, POLL],
    0,
    REUSED,
  ],
  [
    'a message without a wait ends with the POST, even if its response shows an old end',
    { posts: [completed] },
    { ...MORE, wait: 'false' },
    [MESSAGE],
    0,
    'started completed true',
  ],
  [
    'a wait sends nothing, and polls immediately',
    { polls: [completed] },
    { ...WAIT, ...RARELY },
    [POLL],
    0,
    REUSED,
  ],
  [
    'with wait: false, an active job is polled once',
    { polls: [active] },
    ONCE,
    [POLL],
    0,
    'started active true',
  ],
  [
    'with wait: false, a failed job is polled once',
    endsWith('failed'),
    ONCE,
    [POLL],
    1,
    'failed failed true',
  ],
  ['a dry run of a wait sends nothing', {}, { ...WAIT, 'dry-run': 'TRUE' }, [], 0, 'dry-run  false'],
  ['failed fails the step', endsWith('failed'), GO, [CREATE, POLL], 1, 'failed failed false'],
  ['but not with fail-on: none', endsWith('archived'), KEPT, [CREATE, POLL], 0, 'archived archived false'],
  [
    'no-changes in fail-on fails it',
    endsWith('completed'),
    STRICT,
    [CREATE, POLL],
    1,
    'no-changes completed false',
  ],
])('%s', async (_, script, inputs, requests, exit, told) => {
  const { service, exitCode, commands, outputs } = await runAgainst(script, inputs)
  expect(service.received.map(({ method, path, body }) => `${method} ${path} ${body}`.trim())).toEqual(
    requests,
  )
  expect([outputs.outcome, outputs.status, outputs.reused].join(' ')).toBe(told)
  expect(outputs).toMatchObject({ 'job-id': 'job-1', 'error-code': '' })
  expect(outputs['pr-link']).toBe(/(?:pr-opened|started) completed/.test(told) ? LINK : '')
  expect(exitCode).toBe(exit)
  expect(commands('error')).toHaveLength(exit)
  expect(commands('add-mask')).toEqual([KEY, encodeURIComponent(KEY)])
})

test.concurrent('a long prompt is read from a file, after the prompt', async () => {
  const workspace = newFolder('workspace')
  const long = 'x'.repeat(1024 * 1024 - 4)
  await writeFile(path.join(workspace, 'prompt.md'), `\uFEFF${long}\n`)
  const inputs = { prompt: 'First.', 'prompt-file': 'prompt.md' }
  const { service } = await runAgainst(USUAL, inputs, { workspace })
  expect(JSON.parse(service.posts()[0]?.body ?? '').prompt).toBe(`First.\n\n${long}`)
})

test.concurrent('a message may be answered by deeply nested JSON', async () => {
  const nested = JSON.stringify({ ...opened, deep: 0 }).replace('0}', `${'['.repeat(1e5)}${']'.repeat(1e5)}}`)
  const inputs = { ...MORE, 'timeout-minutes': minutes(shortDeadline()) }
  const { outputs } = await runAgainst({ posts: [json(200, nested)], polls: [json(200, nested)] }, inputs)
  expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK, job: '' })
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

test.concurrent('a dry run shows the prompt, escaped, and sends nothing', async () => {
  const inputs = { prompt: 'One\n::error::two\n  ::add-mask::three ##[group]x', 'dry-run': 'true' }
  const { service, outputs, log, exitCode } = await runAgainst({}, inputs)
  expect(service.received).toEqual([])
  expect(outputs).toMatchObject({ outcome: 'dry-run', 'error-code': '', reused: 'false', status: '' })
  expect(exitCode).toBe(0)
  expect(log).toMatch(
    /^::group::.*\n\| One\n\| ::error::two\n\| {3}::add-mask::three ##\\\[group\]x\n::endgroup::$/m,
  )
})

describe('the runner', () => {
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
