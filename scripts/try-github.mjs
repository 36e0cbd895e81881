/**
 * The steps of try-github.yml: what the tests assume of GitHub, beside what it answers.
 *
 *   node scripts/try-github.mjs again    runs the action a second time, as the step `docs`
 *   node scripts/try-github.mjs restore  in a re-run, gives the new emulator the first one's job
 *   node scripts/try-github.mjs report   shows the assumptions
 *   node scripts/try-github.mjs denied   shows what is answered without a permission
 *
 * GitHub's answers are kept in build/answers, redacted, to become fixtures of the tests.
 */

import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { EOL } from 'node:os'
import { join, resolve } from 'node:path'

process.chdir(resolve(import.meta.dirname, '..'))
const { env } = process
const {
  GITHUB_REPOSITORY: repository = '',
  GITHUB_SHA: sha = '',
  NUMBER: number = '',
  KEY: key = '',
} = env
const LINK = 'https://github.com/your-org/emulated-docs-not-real/pull/17'
const MARKER = /^<!-- agent-job-action:\d+ /m
const COMMANDS = { again, restore, report, denied }
const isRerun = Number(env.GITHUB_RUN_ATTEMPT) > 1
const [command = ''] = process.argv.slice(2)
if (!Object.hasOwn(COMMANDS, command))
  throw new Error(`Expected one of ${Object.keys(COMMANDS).join(', ')}.`)
await COMMANDS[command]()

/**
 * Only the runner can start a step, but what it tells the program can be told again, as that of a
 * later run.
 */
function again() {
  const inputs = {
    'base-url': env.BASE_URL,
    'project-id': 'any',
    'api-key': 'mint_any',
    prompt: 'Go on.',
    'job-scope': 'issue',
    'issue-number': number,
    'job-key': key,
    'github-token': env.GH_TOKEN,
  }
  const given = Object.entries(inputs).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ])
  const { status } = spawnSync(process.execPath, ['dist/index.js'], {
    stdio: 'inherit',
    env: {
      ...env,
      ...Object.fromEntries(given),
      GITHUB_ACTION: 'docs',
      GITHUB_RUN_ID: `${env.GITHUB_RUN_ID}1`,
    },
  })
  process.exitCode = status ?? 1
}

/** The emulator numbers its jobs, so the first one has the ID of the first attempt's. */
async function restore() {
  if (!isRerun) return
  const response = await fetch(`${env.BASE_URL}/v2/agent/any/job`, {
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Bring the docs in line.' }),
  })
  if (!response.ok) throw new Error(`The emulator answered ${response.status}.`)
}

async function report() {
  const { before, docs, again, cancelled } = JSON.parse(env.STEPS ?? '{}')
  const list = `/issues/${number}/comments?per_page=100`
  const comments = await request('GET', list, undefined, 'comments')
  await request('GET', `/compare/${before.outputs.sha}...${sha}`, undefined, 'compare')
  const own = comments.json.filter(({ body }) => body.includes(`(\`${key}\`)`))
  const rows = isRerun
    ? [['A re-run', 'success, pr-opened, sent: nothing', describe(cancelled)]]
    : [
        ['A docs job', 'success, pr-opened, sent: job', describe(docs)],
        ['A second run', 'success, pr-opened, sent: message', describe(again)],
        ['Its job', docs?.outputs?.['job-id'], again?.outputs?.['job-id']],
        [
          'Their comment',
          'github-actions[bot], with a marker, with the link',
          own.map(({ user, body }) => [user.login, ...contents(body)].join(', ')).join('; '),
        ],
        ...(cancelled ? [['A cancelled step', 'cancelled', cancelled.outputs?.outcome]] : []),
      ]
  show(rows)
}

async function denied() {
  const { denied } = JSON.parse(env.STEPS ?? '{}')
  const body = { body: 'Try on GitHub' }
  const { status, json } = await request('POST', `/issues/${number}/comments`, body, 'denied')
  show([
    [
      'Without a permission',
      '403 Resource not accessible by integration',
      `${status} ${json.message}`,
    ],
    ['A docs job without its comment', 'success, pr-opened, sent: job', describe(denied)],
  ])
}

/** The result of a step. */
function describe(step) {
  return [step?.outcome, step?.outputs?.outcome, `sent: ${step?.outputs?.sent}`].join(', ')
}

function contents(text) {
  return [
    MARKER.test(text) ? 'with a marker' : 'without a marker',
    text.includes(LINK) ? 'with the link' : 'without the link',
  ]
}

/**
 * @param {string[][]} rows what, assumed, seen
 */
function show(rows) {
  const cells = (row) => `| ${row.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
  const lines = [['', 'assumed', 'seen'], ['---', '---', '---'], ...rows].map(cells)
  for (const line of lines) console.log(line)
  appendFileSync(env.GITHUB_STEP_SUMMARY ?? '', `${lines.join(EOL)}${EOL}`)
  if (rows.some(([, assumed, seen]) => assumed !== seen)) process.exitCode = 1
}

/** @param {string} fixture the name under which the answer is kept */
async function request(method, path, body, fixture) {
  const response = await fetch(`${env.GITHUB_API_URL}/repos/${repository}${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${env.GH_TOKEN}`,
      'user-agent': 'agent-job-action',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { status } = response
  const json = await response.json()
  keep(fixture, { status, headers: kept(response.headers), body: json })
  return { status, json }
}

/** Those that the action reads. */
function kept(headers) {
  return Object.fromEntries(
    [...headers].filter(([name]) => /^(?:link|retry-after|x-ratelimit-.*)$/.test(name)),
  )
}

function keep(name, answer) {
  mkdirSync('build/answers', { recursive: true })
  const [owner = ''] = repository.split('/')
  const text = JSON.stringify(answer, null, 2)
    .replaceAll(env.GH_TOKEN || '\0', '***')
    .replaceAll(repository, 'your-org/your-repo')
    .replaceAll(owner, 'your-org')
    .replaceAll(env.GITHUB_ACTOR || '\0', 'octocat')
    .replace(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, 'octocat@localhost')
  writeFileSync(join('build/answers', `${name}.json`), `${text}\n`)
}
