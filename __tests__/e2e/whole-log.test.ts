/**
 * Five whole runs, as a reader sees them and as the service saw them: a changed word is a diff that
 * a reviewer reads. `npm run jest -- whole-log -u` accepts a change.
 */

import { expect, test } from '@jest/globals'
import { type Ended, KEY, runAgainst } from '../support/action.js'
import { posixTest } from '../support/platform.js'
import {
  active,
  completed,
  created,
  json,
  type ScriptedService,
  silence,
} from '../support/service.js'
import { minutes, shortDeadline, until } from '../support/time.js'

expect.addSnapshotSerializer({
  test: (value) => typeof value === 'string',
  serialize: (text) => text,
})

test.concurrent('a job opens a pull request [report.log.lines]', async () => {
  const run = await runAgainst({ posts: [created], polls: [active, completed] }, { prompt: 'Go' })
  expect(report(run)).toMatchSnapshot()
})

test.concurrent('a job takes too long [report.log.lines]', async () => {
  const inputs = {
    prompt: 'Go',
    'timeout-minutes': minutes(shortDeadline()),
    'poll-interval-seconds': '600',
  }
  expect(report(await runAgainst({ posts: [created], polls: [active] }, inputs))).toMatchSnapshot()
})

posixTest('a step is cancelled in a pause [net.deadline] [report.log.lines]', async () => {
  const inputs = { prompt: 'More', 'job-id': 'job-1', 'poll-interval-seconds': '600' }
  const run = await runAgainst({ posts: [active] }, inputs, {
    meanwhile: async ({ lines, signal }) => {
      await until(() => lines.some((line) => / 200 /.test(line)))
      signal('SIGINT')
    },
  })
  expect(report(run)).toMatchSnapshot()
})

test.concurrent('the result of a create request is unknown [report.log.lines]', async () => {
  const run = await runAgainst({ posts: [json(500, { error: 'Boom' })] }, { prompt: 'Go' })
  expect(report(run)).toMatchSnapshot()
})

test.concurrent('all inputs are wrong [report.log.lines]', async () => {
  const run = await runAgainst(
    { posts: [silence] },
    {
      prompt: ' ',
      'project-id': '..',
      'api-key': 'mint_two words',
      wait: 'yes',
      'timeout-minutes': '1441',
      'poll-interval-seconds': '5s',
      'fail-on': 'failed, error',
      'base-url': 'http://user:hunter2@agent.example.com/?q',
      'dry-run': '1',
    },
  )
  expect(report(run)).toMatchSnapshot()
  expect(JSON.stringify(run)).not.toMatch(/hunter2|two words/)
})

const CONNECTION = ['host', 'connection', 'content-length']

/** Everything that a run left, without what differs from run to run. */
function report({
  exitCode,
  log,
  outputs,
  summary,
  service,
}: Ended & { service: ScriptedService }): string {
  const requests = service.received.map(({ method, path, headers, body }) => {
    const shown = Object.entries(headers).filter(([name]) => !CONNECTION.includes(name))
    return [`${method} ${path}`, ...shown.map(([name, value]) => `${name}: ${value}`), body]
      .join('\n')
      .trim()
  })
  const lines = Object.entries(outputs).map((entry) => entry.join('='))
  const sections = [
    `--- exit code\n${exitCode}`,
    `--- log\n${withoutDump(log).replaceAll('%0A', '\n')}`,
    `--- outputs\n${lines.join('\n')}`,
    `--- summary\n${summary}`,
    `--- requests\n${requests.join('\n\n')}`,
  ]
  return sections
    .map((section) => section.trim())
    .join('\n\n')
    .replaceAll(KEY, '<key>')
    .replaceAll(service.url, '<base-url>')
    .replace(/(after |waited for |Elapsed: |\| )[\d.]+ m?s\b/g, '$1<time>')
    .replace(/\b\d+ ms$/gm, '<time>')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<date>')
}

/** The log without the error that is dumped in debug lines: it has lines of the code. */
const withoutDump = (log: string): string =>
  log.replace(/^(?:::debug::(?!GET|POST).*\n)+/gm, '::debug::…\n')
