/**
 * The steps of try-github.yml: what the tests assume of GitHub, beside what it answers.
 *
 *   node scripts/try-github.mjs open     opens the issue that keeps the memory
 *   node scripts/try-github.mjs again    runs the action a second time, as the step `docs`
 *   node scripts/try-github.mjs restore  in a re-run, gives the new emulator the first one's job
 *   node scripts/try-github.mjs report   shows the assumptions, and closes the issue
 *   node scripts/try-github.mjs denied   shows what is answered without a permission
 *
 * GitHub's answers are kept in build/answers, redacted, to become fixtures of the tests.
 */

import { execFileSync, spawnSync } from 'node:child_process'
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
const LINK = 'https://github.com/your-org/docs/pull/17'
const MARKER = /^<!-- agent-job-action:\d+ /m
const COMMANDS = { open, again, restore, report, denied }
const isRerun = Number(env.GITHUB_RUN_ATTEMPT) > 1
const [command = ''] = process.argv.slice(2)
if (!Object.hasOwn(COMMANDS, command))
  throw new Error(`Expected one of ${Object.keys(COMMANDS).join(', ')}.`)
await COMMANDS[command]()

async function open() {
  const body = `Opened by [a run](${env.GITHUB_SERVER_URL}/${repository}/actions/runs/${env.GITHUB_RUN_ID}).`
  const { json } = await request('POST', '/issues', { title: `Try on GitHub, ${key}`, body })
  const since = execFileSync('git', ['rev-parse', 'HEAD~1'], { encoding: 'utf8' }).trim()
  setOutputs({ number: json.number, since })
}

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
  const { issue, docs, again, cancelled } = JSON.parse(env.STEPS ?? '{}')
  const comments = await request('GET', `/issues/${number}/comments`, undefined, 'comments')
  const checks = await request(
    'GET',
    `/commits/${sha}/check-runs?filter=all`,
    undefined,
    'check-runs',
  )
  await request('GET', `/compare/${issue.outputs.since}...${sha}`, undefined, 'compare')
  const check = checks.json.check_runs
    .filter(({ name }) => name.endsWith(`: docs job (docs, ${key})`))
    .sort((one, other) => other.id - one.id)[0]
  const rows = isRerun
    ? [['A re-run', 'success, pr-opened, sent: nothing', describe(cancelled)]]
    : [
        ['A docs job', 'success, pr-opened, sent: job', describe(docs)],
        ['A second run', 'success, pr-opened, sent: message', describe(again)],
        ['Its job', docs?.outputs?.['job-id'], again?.outputs?.['job-id']],
        [
          'The comments',
          'github-actions[bot], with a marker, with the link',
          comments.json
            .map(({ user, body }) => [user.login, ...contents(body, body)].join(', '))
            .join('; '),
        ],
        [
          'The check',
          'success, with a marker, with the link',
          [check?.conclusion, ...contents(check?.output.text, check?.output.summary)].join(', '),
        ],
        ...(cancelled ? [['A cancelled step', 'cancelled', cancelled.outputs?.outcome]] : []),
      ]
  await request('PATCH', `/issues/${number}`, { state: 'closed' })
  show(rows)
}

async function denied() {
  const { denied } = JSON.parse(env.STEPS ?? '{}')
  const body = { name: 'Try on GitHub', head_sha: sha, status: 'in_progress' }
  const { status, json } = await request('POST', '/check-runs', body, 'denied')
  show([
    [
      'Without a permission',
      '403 Resource not accessible by integration',
      `${status} ${json.message}`,
    ],
    ['A docs job without its check', 'success, pr-opened, sent: job', describe(denied)],
  ])
}

/** The result of a step. */
function describe(step) {
  return [step?.outcome, step?.outputs?.outcome, `sent: ${step?.outputs?.sent}`].join(', ')
}

function contents(marked, linked) {
  return [
    MARKER.test(marked ?? '') ? 'with a marker' : 'without a marker',
    linked?.includes(LINK) ? 'with the link' : 'without the link',
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

/** @param {Record<string, string | number>} values of one line each */
function setOutputs(values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}${EOL}`)
  appendFileSync(env.GITHUB_OUTPUT ?? '', lines.join(''))
}

/**
 * @param {string} [fixture] the name under which the answer is kept, whatever it is; else it has to
 * be a success
 */
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
  if (fixture) keep(fixture, { status, headers: kept(response.headers), body: json })
  else if (!response.ok) throw new Error(`${method} ${path}: ${status} ${json.message}`)
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
