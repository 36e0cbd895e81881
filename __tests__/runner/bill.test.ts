/**
 * The scripts of docs/costs.md, which counts what was sent, and of docs/enterprise.md, which
 * re-runs what sent nothing, by bash, with a stand-in for `gh`.
 */

import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { text } from '../support/files.js'
import { newFolder } from '../support/folder.js'
import { startListening } from '../support/listening.js'
import { HOME } from '../support/workflows.js'
import { docsGh } from './docs-gh.js'
import { type Call, Failure, startGh } from './gh.js'

const [, BILL = ''] = /```bash\n([\s\S]*?)```/.exec(text('docs/costs.md')) ?? []
const [RERUN = ''] = /gh run list --workflow [\s\S]*? done\n/.exec(text('docs/enterprise.md')) ?? []

/** What GitHub answers, by path and query; a text is a log. Everything else is a 404. */
type Answers = Record<string, object | string>

const at = (second: string): string => `2026-11-02T10:00:${second}.1234567Z`
const log = (second: string, last: string): string =>
  `\uFEFF${at('00')} ##[group]Run ${HOME}@v1\n${at(second)} Finished after ${last}\n`

/** Runs the script. Returns what it prints, a line for each count, and its errors. */
async function count(answers: Answers) {
  const server = createServer((request, response) => {
    const answer = answers[decodeURIComponent(request.url ?? '')]
    response.statusCode = answer === undefined ? 404 : 200
    response.end(
      typeof answer === 'string' ? answer : JSON.stringify(answer ?? { message: 'Not Found' }),
    )
  })
  const { port, close } = await startListening(server)
  const host = { name: 'github.com', url: `http://127.0.0.1:${port}` }
  const ran = await bash(BILL, docsGh(host, []))
  await close()
  return ran
}

async function bash(script: string, answer: (call: Call) => string | Promise<string>) {
  const bin = path.join(newFolder('bill'), 'bin')
  const gh = await startGh(bin, answer)
  try {
    const PATH = [bin, process.env.PATH].join(path.delimiter)
    const env = { ...gh.env, PATH, GH_TOKEN: 'ghp_bill' }
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], { env })
    return { printed: stdout.match(/\S.*/g) ?? [], errors: stderr }
  } finally {
    await gh.close()
  }
}

const ONE = '/repos/your-org/your-repo/actions'
const OTHER = '/repos/your-org/your-other-repo/actions'
const runs = (...ids: readonly number[]): object => ({ workflow_runs: ids.map((id) => ({ id })) })
const jobs = (...ids: readonly number[]): object => ({
  jobs: ids.map((id) => ({ id, conclusion: id === 99 ? 'skipped' : 'success' })),
})
const listed = 'runs?created=2026-11-01..2026-11-30&per_page=100'
const ofRun = (run: number): string => `runs/${run}/jobs?filter=all&per_page=100`

test('the script of the bill counts docs jobs and messages, by repository, and tells of a log that is gone [output.sent]', async () => {
  const { printed, errors } = await count({
    [`${ONE}/workflows/docs.yml/${listed}`]: runs(1, 2, 3, 4, 6),
    // Two attempts; the second lists a workflow job of the first again, under a new number.
    [`${ONE}/${ofRun(1)}`]: jobs(11, 12, 13, 99),
    [`${ONE}/jobs/11/logs`]: log('01', '2m 3s: pr-opened. Sent: a new docs job.'),
    [`${ONE}/jobs/12/logs`]: log('01', '2m 3s: pr-opened. Sent: a new docs job.'),
    [`${ONE}/jobs/13/logs`]: log('13', '4s: failed. Sent: a message.'),
    [`${ONE}/${ofRun(2)}`]: jobs(21),
    [`${ONE}/jobs/21/logs`]: log('21', '1m 0s: error (create-unknown). Sent: a new docs job.'),
    [`${ONE}/${ofRun(3)}`]: jobs(31),
    [`${ONE}/jobs/31/logs`]: log('31', '1s: error (input). Sent: nothing.'),
    [`${ONE}/${ofRun(4)}`]: jobs(41),
    [`${ONE}/jobs/41/logs`]: `${at('41')} They said: Finished after 1s: pr-opened. Sent: a message.\n`,
    // Its log is gone.
    [`${ONE}/${ofRun(6)}`]: jobs(61),
    [`${OTHER}/workflows/docs.yml/${listed}`]: runs(5),
    [`${OTHER}/${ofRun(5)}`]: jobs(51),
    [`${OTHER}/jobs/51/logs`]: log('51', '9s: no-changes. Sent: a message.'),
  })
  expect(printed).toEqual([
    '1 your-org/your-repo: a message.',
    '2 your-org/your-repo: a new docs job.',
    '1 your-org/your-other-repo: a message.',
  ])
  expect(errors.match(/HTTP \d+/g)).toEqual(['HTTP 404'])
})

test('the script that re-runs what was red starts only what certainly sent nothing, one after the other [output.sent]', async () => {
  const logs: Record<string, string> = {
    7: 'ask\tdocs\t2026 Finished after 1s: error (auth). Sent: nothing.\n',
    8: 'ask\tdocs\t2026 Finished after 1s: timed-out. Sent: a new docs job.\n',
    9: 'ask\tdocs\t2026 The runner has received a shutdown signal.\n',
  }
  const started: string[] = []
  const { printed } = await bash(`sleep() { :; }\n${RERUN}`, ({ args }) => {
    const [, command, id = ''] = args
    if (command === 'list') return '7\n8\n9\n10\n'
    if (command !== 'view') started.push(`${command} ${id}`)
    else if (!logs[id]) throw new Failure('log not found')
    return logs[id] ?? ''
  })
  expect(started).toEqual(['rerun 7', 'watch 7'])
  expect(printed.filter((line) => line.startsWith('Run '))).toEqual([
    'Run 8: Sent: a new docs job.',
    'Run 9: no log',
    'Run 10: no log',
  ])
})
