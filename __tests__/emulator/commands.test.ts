// The two commands, `npm start` with a small bundle in the action's place, and `serve`.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { newFolder } from '../support/folder.js'
import { posixTest } from '../support/platform.js'

const EMULATOR = fileURLToPath(new URL('../../emulator/', import.meta.url))
const BUNDLE = `
import { appendFileSync, readFileSync } from 'node:fs'
const { env } = process
const key = env['INPUT_API-KEY']
const jobs = env['INPUT_BASE-URL'] + '/v2/agent/' + env['INPUT_PROJECT-ID'] + '/job'
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
let signals = 0
process.on('SIGINT', () => {
  console.log('SIGINT ' + ++signals)
  setTimeout(() => process.exit(7), 400)
})
console.log('::debug::RUNNER_DEBUG ' + env.RUNNER_DEBUG)
console.log('prompt ' + env.INPUT_PROMPT + ' with ' + key)
try {
  const created = await fetch(jobs, { method: 'POST', headers, body: JSON.stringify({ prompt: 'x' }) })
  const { id } = await created.json()
  appendFileSync(env.GITHUB_OUTPUT, 'job-id=' + id + '\\nstatus=' + key + '\\n')
  appendFileSync(env.GITHUB_STEP_SUMMARY, '## Job ' + id + ' of ' + key + '\\n')
  await fetch(jobs + '/' + id, { headers })
  console.log('::notice::polled')
  if (env.INPUT_COMMENT) {
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
  if (env.INPUT_FAIL === env.GITHUB_RUN_ID) process.exitCode = 3
  if (env.INPUT_HANG) setInterval(() => {}, 1000)
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
})

/** Starts one of the commands; `done` resolves with what it printed. */
function command(
  name: string,
  args: string[],
  onText: (text: string, child: ChildProcess) => void = () => {},
) {
  const child = spawn(process.execPath, [`emulator/${name}.mjs`, ...args], { cwd: folder })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk
    onText(stdout, child)
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk
  })
  return once(child, 'close').then(([exitCode]) => ({ exitCode, stdout, stderr }))
}

describe('start', () => {
  test('shows the step, the log, the outputs and the summary, and hides the key', async () => {
    const { exitCode, stdout, stderr } = await command('start', [])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^Running dist[\\/]index\.js as the GitHub runner would\. Scenario pr-opened: /)
    const [, afterFirst = ''] = stdout.split(' s.\n')
    expect(afterFirst.replace(/:\d{4,5}\b/, ':PORT')).toBe(`
Step
  uses: ./
  with:
    prompt: Describe the new --retry option on the page about the command line.
    project-id: your-project
    api-key: ***
    poll-interval-seconds: 0.5
    base-url: http://127.0.0.1:PORT

Log
  prompt Describe the new --retry option on the page about the command line. with ***
  Notice: polled

Outputs
  job-id  00000000-0000-4000-8000-000000000001
  status  ***

Summary
  ## Job 00000000-0000-4000-8000-000000000001 of ***

Exit code 0; the service saw 2 requests (1 POST, 1 GET).
`)
  })

  test('--prompt, --input and --debug reach the action', async () => {
    const args = ['--prompt', 'One: two\nthree', '--input', 'API-KEY=secret=1', '--input', 'wait=', '--debug']
    const { stdout } = await command('start', args)
    expect(stdout).toContain('    prompt: |\n      One: two\n      three\n')
    expect(stdout).toContain('  Debug: RUNNER_DEBUG 1\n  prompt One: two\n')
    expect(stdout).toContain('three with ***\n')
    expect(stdout).not.toMatch(/secret|wait/)
  })

  posixTest('a scenario that cancels sends one SIGINT at the first poll', async () => {
    const { exitCode, stdout } = await command('start', ['--scenario', 'cancelled', '--input', 'hang=yes'])
    expect(exitCode).toBe(7)
    expect(stdout).toContain('SIGINT 1\n')
    expect(stdout).not.toContain('SIGINT 2')
  })

  test('a scenario without a service refuses the connection', async () => {
    const { exitCode, stdout } = await command('start', ['--scenario', 'network'])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('Error: ECONNREFUSED\n')
    expect(stdout).toContain('Outputs\n  (none)\n\nSummary\n  (none)\n')
    expect(stdout).toMatch(/Exit code 1; the service saw 0 requests \(0 POST, 0 GET\)\.\n$/)
  })

  posixTest('Ctrl-C is passed on once, though npm doubles it', async () => {
    let sent = false
    const { exitCode, stdout } = await command('start', ['--input', 'hang=yes'], (text, child) => {
      if (sent || !text.includes('polled')) return
      sent = true
      child.kill('SIGINT')
      setTimeout(() => child.kill('SIGINT'), 20)
    })
    expect(exitCode).toBe(7)
    expect(stdout).toContain('SIGINT 1\n')
    expect(stdout).not.toContain('SIGINT 2')
  })

  test('a scenario on a pull request shows each run and each comment, and fails as the last that failed', async () => {
    const args = ['--scenario', 'pull-request', '--input', 'comment=true', '--input', 'fail=1']
    const { exitCode, stdout } = await command('start', args)
    expect(exitCode).toBe(3)
    for (const [run, action] of ['opened', 'synchronize'].entries()) {
      expect(stdout).toContain(`
━━ Run ${run + 1} of 2: event pull_request, ${action} ━━

Log
`)
      expect(stdout).toContain(`

  ┌── Comment ${1001 + run}, written
  │ run ${run + 1} pull_request ${action}
  │
  │ ***
  │
  │ <!-- 0123456789abcdefgh… --> (hidden, cut short here)
  └──
`)
    }
    expect(stdout.match(/^ {2}comment 201$/gm)).toHaveLength(2)
    expect(stdout).toContain('    github-token: ***\n')
    expect(stdout).not.toContain('ghs_')
    expect(stdout).toMatch(
      /\nExit code 3; the service saw 4 requests \(2 POST, 2 GET\); GitHub saw 2 requests \(2 POST, 0 PATCH, 0 GET\)\.\n$/,
    )
  })

  posixTest('after Ctrl-C there is no further run', async () => {
    let sent = false
    const args = ['--scenario', 'pull-request', '--input', 'hang=yes']
    const { exitCode, stdout } = await command('start', args, (text, child) => {
      if (sent || !text.includes('polled')) return
      sent = true
      child.kill('SIGINT')
    })
    expect(exitCode).toBe(7)
    expect(stdout).toContain('━━ Run 1 of 2')
    expect(stdout).not.toContain('━━ Run 2 of 2')
  })

  test('--list names the scenarios, --help the options too', async () => {
    const [list, help] = await Promise.all([command('start', ['--list']), command('start', ['--help'])])
    expect([list.exitCode, help.exitCode]).toEqual([0, 0])
    expect(list.stdout).toMatch(/^ {2}pr-opened {2,}.*\n/)
    expect(list.stdout).toMatch(/\n {2}network {2,}nothing listens at the address \(error, network\)\n$/)
    expect(help.stdout).toContain('--input NAME=VALUE')
    expect(help.stdout.endsWith(list.stdout)).toBe(true)
  })

  test.each([
    [['--scenario', 'nope'], /^unknown scenario 'nope'; there are pr-opened, no-changes, .*\n$/],
    [['--nope'], /^Unknown option '--nope'; there are --scenario, --prompt, .*\n$/],
    [['--input', 'nope'], /^--input takes NAME=VALUE, got 'nope'\n$/],
    [['nope'], /^Unexpected argument 'nope'.*; there are --scenario, .*\n$/],
    [['--scenario'], /^Option '--scenario <value>' argument missing; there are --scenario, .*\n$/],
  ])('%j is refused in one line, with exit code 2', async (args, message) => {
    const { exitCode, stdout, stderr } = await command('start', args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
  })

  test('says when the bundle is missing', async () => {
    const [start, elsewhere] = [path.join(folder, 'emulator'), path.join(folder, 'elsewhere/emulator')]
    await cp(start, elsewhere, { recursive: true })
    const child = spawn(process.execPath, [path.join(elsewhere, 'start.mjs')])
    const [[text], [exitCode]] = await Promise.all([once(child.stderr, 'data'), once(child, 'close')])
    expect(String(text)).toMatch(/dist[\\/]index\.js is missing; 'npm ci && npm run build' makes it\n$/)
    expect(exitCode).toBe(1)
  })
})

describe('serve', () => {
  posixTest('prints its address and a line a request, never the key, and ends cleanly', async () => {
    let asked: Promise<unknown> | undefined
    const { exitCode, stdout, stderr } = await command('serve', ['--job-seconds', '1'], (text, child) => {
      const [url] = /^http:\S+(?=\n)/.exec(text) ?? []
      if (!url) return
      const headers = { authorization: 'Bearer mint_secret' }
      asked ??= fetch(`${url}/v2/agent/a%20b/job/x`, { headers }).finally(() => child.kill('SIGTERM'))
    })
    await asked
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\nGET \/v2\/agent\/a%20b\/job\/x 404\n$/)
  })

  test.each([
    [['--port', '70000'], "--port takes a whole number up to 65535, got '70000'\n"],
    [['--port', ''], "--port takes a whole number up to 65535, got ''\n"],
    [['--speed', '0'], "--speed takes a number above 0, got '0'\n"],
    [['--job-seconds', 'long'], "--job-seconds takes a number above 0, got 'long'\n"],
  ])('%j is refused in one line, with exit code 2', async (args, message) => {
    expect(await command('serve', args)).toEqual({ exitCode: 2, stdout: '', stderr: message })
  })
})
