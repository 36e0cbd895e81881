// The two commands: `npm start`, with a small bundle instead of the action's, and `npm run serve`.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { formatDuration, UsageError } from '../../emulator/options.mjs'
import { servableScenarios, serviceScenarios } from '../../emulator/scenarios.mjs'
import { serve } from '../../emulator/serve.mjs'
import { startEmulator } from '../../emulator/server.mjs'
import { start } from '../../emulator/start.mjs'
import { newFolder } from '../support/folder.js'
import { posixTest } from '../support/platform.js'

// Each command ends by itself, but a busy machine is slow to start one.
jest.setTimeout(120_000)

const EMULATOR = fileURLToPath(new URL('../../emulator/', import.meta.url))
/** What it does besides depends on words of its prompt. */
const BUNDLE = `
import { appendFileSync, readFileSync } from 'node:fs'
const { env } = process
const key = env['INPUT_API-KEY']
const jobs = env['INPUT_BASE-URL'] + '/v2/agent/' + env['INPUT_PROJECT-ID'] + '/job'
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
const isAsked = (word) => env.INPUT_PROMPT.includes(word)
let signals = 0
process.on('SIGINT', () => {
  console.log('SIGINT ' + ++signals)
  setTimeout(() => process.exit(7), 400)
})
console.log('::debug::RUNNER_DEBUG ' + env.RUNNER_DEBUG)
if (isAsked('network')) console.log('through ' + env.HTTPS_PROXY + ' but for ' + env.no_proxy)
console.log('prompt ' + env.INPUT_PROMPT + ' with ' + key)
try {
  const created = await fetch(jobs, { method: 'POST', headers, body: JSON.stringify({ prompt: 'x' }) })
  const { id } = await created.json()
  appendFileSync(env.GITHUB_OUTPUT, 'job-id=' + id + '\\nstatus=' + key + '\\n')
  appendFileSync(env.GITHUB_STEP_SUMMARY, '## Job ' + id + ' of ' + key + '\\n')
  await fetch(jobs + '/' + id, { headers })
  console.log('::notice::polled')
  if (isAsked('comment')) {
    const { action, number } = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8'))
    const run = 'run ' + env.GITHUB_RUN_ID + ' ' + env.GITHUB_EVENT_NAME + ' ' + action
    const written = await fetch(
      env.GITHUB_API_URL + '/repos/' + env.GITHUB_REPOSITORY + '/issues/' + number + '/comments',
      {
        method: 'POST',
        headers: { authorization: 'Bearer ' + env['INPUT_GITHUB-TOKEN'] },
        body: JSON.stringify({ body: run + '\\n\\n' + key + ' <!-- 0123456789abcdefghijk -->' }),
      },
    )
    console.log('comment ' + written.status)
  }
  if (isAsked('fail in run ' + env.GITHUB_RUN_ID)) process.exitCode = 3
  if (isAsked('hang')) setInterval(() => {}, 1000)
} catch (error) {
  console.log('::error::' + error.cause.code)
  process.exitCode = 1
}
`

const folder = newFolder('commands')
beforeAll(async () => {
  await cp(EMULATOR, path.join(folder, 'emulator'), { recursive: true })
  await mkdir(path.join(folder, 'dist'))
  await writeFile(path.join(folder, 'dist/index.js'), BUNDLE)
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  await cp('action.yml', path.join(folder, 'action.yml'))
  Object.assign(process.env, { HTTPS_PROXY: 'http://proxy.test', no_proxy: 'other.test' })
})

/** Whatever a test finds, no command outlives it. */
const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill()
})

/** Runs one of the commands as a process, and returns what it printed. */
function command(
  name: string,
  args: string[],
  onText: (text: string, child: ChildProcess) => void = () => {},
) {
  const child = spawn(process.execPath, [`emulator/${name}.mjs`, ...args], { cwd: folder })
  running.add(child)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk
    onText(stdout, child)
  })
  return Promise.all([text(child.stderr), once(child, 'close')]).then(([stderr, [exitCode]]) => {
    running.delete(child)
    return { exitCode, stdout, stderr }
  })
}

/** Calls a command, and returns what it printed. */
async function call(run: (args: string[]) => Promise<number>, ...args: string[]) {
  const log = jest.spyOn(console, 'log').mockImplementation(() => {})
  try {
    const exitCode = await run(args)
    return { exitCode, stdout: log.mock.calls.map(([line]) => `${line}\n`).join('') }
  } finally {
    log.mockRestore()
  }
}

const callStart = (...args: string[]) => call((all) => start(all, folder), ...args)

describe('start', () => {
  test('shows the step, the log, the outputs, the summary and the requests, and hides the key', async () => {
    const { exitCode, stdout, stderr } = await command('start', [])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(
      stdout
        .replace(/:\d{4,5}\b/g, ':PORT')
        .replace('\\', '/')
        .replace(/^ +\d\.\d s {2}/gm, '  SECONDS  '),
    ).toBe(`Running dist/index.js as the GitHub runner would.
Scenario pr-opened: the agent edits files and opens a pull request.
The emulated service is at http://127.0.0.1:PORT. A job takes 4 s there.

Step
  uses: ./
  with:
    prompt: Describe the new --retry option on the page about the command line.
    project-id: your-project
    api-key: ***
    poll-interval-seconds: 1  # only for this demo
    base-url: http://127.0.0.1:PORT  # only for this demo

Log
  prompt Describe the new --retry option on the page about the command line. with ***
  Notice: polled

Outputs
  job-id  00000000-0000-4000-8000-000000000001
  status  ***

Summary
  ## Job 00000000-0000-4000-8000-000000000001 of ***

Requests to the service
  SECONDS  POST /v2/agent/your-project/job       201 active
  SECONDS  GET  /v2/agent/your-project/job/{id}  200 active

Exit code 0; the service received 2 requests (1 POST, 1 GET).
`)
  })

  test('every option reaches the action, and what the step does not need is not passed on', async () => {
    const inputs = [
      'API-KEY=secret=1',
      'wait=',
      'docs-token=ghp_secret',
      'base-url= ',
      'poll-interval-seconds=2',
    ]
    const { exitCode, stdout } = await callStart(
      ...['--prompt', 'One: network\nthree ghp_secret', '--debug', '--speed', '2'],
      ...[...inputs, 'waiit=false'].flatMap((input) => ['--input', input]),
    )
    expect(exitCode).toBe(0)
    for (const part of [
      '. A job takes 2 min there.\n',
      '    prompt: |\n      One: network\n      three ***\n',
      '    docs-token: ***\n',
      // Given on the command line, so it is no part of the demo.
      '    poll-interval-seconds: 2\n',
      "\nLog\n  Warning: Unexpected input(s) 'waiit', valid inputs are ['prompt', ",
      "'dry-run']\n",
      '  Debug: RUNNER_DEBUG 1\n',
      '  prompt One: network\n  three *** with ***\n',
      '  through undefined but for undefined\n',
      'the service received 2 requests',
    ])
      expect(stdout).toContain(part)
    // An empty base-url means the emulated service, not the real one.
    expect(stdout).toMatch(/^ {4}base-url: http:\/\/127\.0\.0\.1:\d+ {2}# only for this demo$/m)
    expect(stdout).not.toMatch(/ghp_|secret|\bwait:/)
  })

  test('with base-url, the step uses that service and the proxy of the environment, and none is emulated', async () => {
    const service = await startEmulator({})
    const args = ['--input', `base-url=${service.url}`, '--prompt', 'network']
    const { exitCode, stdout } = await callStart(...args).finally(service.close)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('would.\nNo emulated service is started: the step uses the one at base-url.\n')
    expect(stdout).toContain('  through http://proxy.test but for other.test\n')
    expect(stdout).not.toMatch(/poll-interval|demo|Scenario|Requests/)
    expect(stdout.endsWith('\n\nExit code 0.\n')).toBe(true)
    expect(service.requests.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test('a scenario without a service refuses the connection', async () => {
    const { exitCode, stdout } = await callStart('--scenario', 'network')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('Error: ECONNREFUSED\n')
    expect(stdout).toContain('Outputs\n  (none)\n\nSummary\n  (none)\n\nRequests to the service\n  (none)\n')
    expect(stdout).toMatch(/Exit code 1; the service received 0 requests \(0 POST, 0 GET\)\.\n$/)
  })

  test('a reader that stops reading, such as head, leaves no step and no folder behind', async () => {
    const temp = newFolder('temp')
    const child = spawn(process.execPath, ['emulator/start.mjs'], {
      cwd: folder,
      env: { ...process.env, TMPDIR: temp, TMP: temp, TEMP: temp },
    })
    running.add(child)
    const stderr = text(child.stderr)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    expect(await once(child, 'close')).toEqual([0, null])
    running.delete(child)
    expect(await stderr).toBe('')
    expect(readdirSync(temp)).toEqual([])
  })

  test('a scenario on a pull request shows each run and each comment, and fails as the last that failed', async () => {
    const args = ['--scenario', 'pull-request', '--prompt', 'comment, and fail in run 1']
    const { exitCode, stdout } = await callStart(...args)
    expect(exitCode).toBe(3)
    for (const [run, action] of ['opened', 'synchronize'].entries()) {
      expect(stdout).toContain(`
━━ Run ${run + 1} of 2: event pull_request, ${action} ━━

Log
`)
      expect(stdout).toContain(`

  ┌── Comment ${1001 + run}: created
  │ run ${run + 1} pull_request ${action}
  │
  │ ***
  │
  │ <!-- 0123456789abcdefgh… --> (hidden; truncated here)
  └──
`)
    }
    expect(stdout.match(/^ {2}comment 201$/gm)).toHaveLength(2)
    expect(stdout.match(/\nRequests to the service\n.* POST .*\n.* GET .*\n\n/g)).toHaveLength(2)
    expect(stdout).toContain('    github-token: ***  # only for this demo\n')
    expect(stdout).not.toContain('ghs_')
    expect(stdout).toMatch(
      /\nExit code 3; the service received 4 requests \(2 POST, 2 GET\); GitHub received 2 requests \(2 POST, 0 PATCH, 0 GET\)\.\n$/,
    )
  })

  test('the emulated GitHub accepts no other token than its own', async () => {
    const args = ['--scenario', 'pull-request', '--prompt', 'comment', '--input', 'github-token=other']
    const { stdout } = await callStart(...args)
    expect(stdout).toContain('  comment 401\n')
    expect(stdout).not.toContain('┌── Comment')
  })

  posixTest('Ctrl-C is forwarded once, though npm doubles it, and there is no further run', async () => {
    let sent = false
    const args = ['--scenario', 'pull-request', '--prompt', 'hang']
    const { exitCode, stdout } = await command('start', args, (text, child) => {
      if (sent || !text.includes('polled')) return
      sent = true
      // Apart enough not to be merged into one, but as close as a busy machine can bring them.
      child.kill('SIGINT')
      setTimeout(() => child.kill('SIGINT'), 20)
    })
    expect(exitCode).toBe(7)
    expect(stdout).toContain('SIGINT 1\n')
    expect(stdout).not.toContain('SIGINT 2')
    expect(stdout).toContain('━━ Run 1 of 2')
    expect(stdout).not.toContain('━━ Run 2 of 2')
  })

  test('--list names the scenarios and marks those of the emulator action, --help names the options, too', async () => {
    const [list, help] = [await callStart('--list'), await callStart('--help')]
    expect([list.exitCode, help.exitCode]).toEqual([0, 0])
    expect(list.stdout).toMatch(/^\* pr-opened {2,}.*\n/)
    expect(list.stdout).toMatch(
      /\n {2}network {2,}no service listens at the URL \(error, network\)\n\n\* also /,
    )
    const marked = [...list.stdout.matchAll(/^\* ([\w-]+) {2,}/gm)].map(([, name]) => name)
    expect(marked).toEqual(serviceScenarios)
    expect(help.stdout).toContain('--input NAME=VALUE')
    expect(help.stdout.endsWith(list.stdout)).toBe(true)
  })

  test('reports a missing bundle', async () => {
    await expect(start([], path.join(folder, 'elsewhere'))).rejects.toThrow(
      /dist[\\/]index\.js is missing; create it with 'npm ci && npm run build'$/,
    )
  })

  test('a wrong option is told in one line, with exit code 2', async () => {
    const said = "--input expects NAME=VALUE, got 'nope'\n"
    expect(await command('start', ['--input', 'nope'])).toEqual({ exitCode: 2, stdout: '', stderr: said })
  })

  test.each([
    [['--nope'], /^Unknown option '--nope'; available options: --scenario, --prompt, .*$/],
    [['nope'], /^Unexpected argument 'nope'; npm expects 'npm start -- \[options\]'; available options: .*$/],
    [['--scenario'], /^Option '--scenario <value>' argument missing; available options: --scenario, .*$/],
    [['--scenario', 'nope'], /^unknown scenario 'nope'; available: pr-opened, no-changes, .*$/],
    [['--speed', 'fast'], /^--speed expects a number above 0, got 'fast'$/],
    [['--speed', '0'], /^--speed expects a number above 0, got '0'$/],
    [['--speed', ''], /^--speed expects a number above 0, got ''$/],
    [['--speed', 'Infinity'], /^--speed expects a number above 0, got 'Infinity'$/],
    [
      ['--speed', '2', '--input', 'base-url=http://127.0.0.1:9'],
      /^--scenario and --speed can't be combined with --input base-url=URL, since no service is emulated then$/,
    ],
  ])('%j is rejected', async (args, message) => {
    await expect(start(args)).rejects.toThrow(UsageError)
    await expect(start(args)).rejects.toThrow(message)
  })
})

describe('serve', () => {
  /** Runs the service until one request has been answered. */
  async function serveOnce(args: string[], pathname = '/v2/agent/a%20b/job/x') {
    let url = ''
    let requested: Promise<unknown> | undefined
    const result = await command('serve', args, (text, child) => {
      ;[url = ''] = /^http:\S+(?=\n)/m.exec(text) ?? []
      if (!url || !text.includes('Requests are logged')) return
      const headers = { authorization: 'Bearer mint_secret' }
      requested ??= fetch(`${url}${pathname}`, { headers }).finally(() => child.kill('SIGTERM'))
    })
    await requested
    return { ...result, url }
  }

  posixTest('prints how to use it and a line per request, never the key, and ends cleanly', async () => {
    const { exitCode, stdout, stderr, url } = await serveOnce([])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(stdout).toBe(`The emulated service is running at
${url}
Scenario pr-opened: the agent edits files and opens a pull request.
A job takes 4 s. Stop the service with Ctrl-C.
To run the action against it, in another terminal:
npm start -- --input base-url=${url}
Requests are logged below.
GET /v2/agent/a%20b/job/x 404
`)
  })

  posixTest('names the job that a scenario starts with, and logs to a file', async () => {
    const log = path.join(folder, 'requests.log')
    await writeFile(log, 'before\n')
    const project = '/v2/agent/your-project/job/5eed0000-0000-4000-8000-000000000001'
    const args = ['--scenario', 'stale', '--speed', '1', '--job-seconds', '90', '--log', log]
    const { stdout } = await serveOnce(args, project)
    expect(stdout).toContain(
      '\nProject your-project already has a job: 5eed0000-0000-4000-8000-000000000001.\n',
    )
    expect(stdout).toContain('\nA job takes 90 s. ')
    expect(stdout.endsWith(`\nRequests are logged to ${log}.\n`)).toBe(true)
    expect(readFileSync(log, 'utf8')).toBe(`before\nGET ${project} 200\n`)
  })

  test('--list names the scenarios of the service, --help the options, too', async () => {
    const [list, help] = [await call(serve, '--list'), await call(serve, '--help')]
    expect([list.exitCode, help.exitCode]).toEqual([0, 0])
    const names = [...list.stdout.matchAll(/^[* ] ([\w-]+) {2,}/gm)].map(([, name]) => name)
    expect(names).toEqual(servableScenarios)
    expect(names).toEqual(expect.arrayContaining([...serviceScenarios, 'stale']))
    expect(names).not.toContain('dry-run')
    expect(help.stdout).toContain('--log FILE')
    expect(help.stdout.endsWith(list.stdout)).toBe(true)
  })

  test.each([
    [['--port', '70000'], /^--port expects a whole number up to 65535, got '70000'$/],
    [['--job-seconds', 'long'], /^--job-seconds expects a number above 0, got 'long'$/],
    [['--log', '/no/such/folder/x.log'], /^--log can't write to '\/no\/such\/folder\/x\.log': ENOENT: .*$/],
    [['--scenario', 'dry-run'], /^scenario 'dry-run' is about the step, not the service; available: .*$/],
  ])('%j is rejected', async (args, message) => {
    await expect(serve(args)).rejects.toThrow(UsageError)
    await expect(serve(args)).rejects.toThrow(message)
  })
})

test.each([
  [1.5, '1.5 s'],
  [90, '90 s'],
  [240, '4 min'],
  [1440, '24 min'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})
