/**
 * The emulator action: its main and post steps as the runner starts them, even if something is
 * broken.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, jest, test } from '@jest/globals'
import { parse } from 'yaml'
import { download } from '../../bench/download.js'
import { parseOutputs, runAction } from '../../emulator/runner.mjs'
import { newFolder } from '../support/folder.js'
import { posixTest } from '../support/platform.js'
import { until } from '../support/time.js'

// A step only starts or stops a process, but that is slow on a busy machine.
const STEP_LIMIT_MS = 150_000
jest.setTimeout(3 * STEP_LIMIT_MS)

interface Job {
  readonly folder: string
  readonly env: Record<string, string>
}

/** Whatever a test finds, no process outlives it. */
const started: number[] = []
afterEach(() => {
  for (const pid of started.splice(0)) if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGKILL')
})

/** The folder and the environment that the runner gives to both steps. */
function newJob(env: Record<string, string> = {}): Job {
  const folder = newFolder('background')
  const [output = '', state = ''] = ['output', 'state'].map((name) => path.join(folder, name))
  for (const file of [output, state]) writeFileSync(file, '')
  const { PATH = '' } = process.env
  return {
    folder,
    env: { PATH, RUNNER_TEMP: folder, GITHUB_OUTPUT: output, GITHUB_STATE: state, ...env },
  }
}

const run = (script: string, env: Record<string, string>, cwd = '.') =>
  spawnSync(process.execPath, [`emulator/${script}.mjs`], {
    cwd,
    encoding: 'utf8',
    env,
    timeout: STEP_LIMIT_MS,
  })

const read = (file = ''): Record<string, string> =>
  existsSync(file) ? parseOutputs(readFileSync(file, 'utf8')) : {}

/** Runs the main step. Returns what the runner passes on to the post step. */
function start({ env }: Job, cwd?: string) {
  const { status, stderr } = run('background', env, cwd)
  const { pid = '', url = '', log = '' } = read(env.GITHUB_STATE)
  started.push(Number(pid))
  expect([status, stderr]).toEqual([0, ''])
  return { STATE_pid: pid, STATE_url: url, STATE_log: log }
}

/** Runs the post step. Returns what it prints. */
function stop({ env }: Job, state: Record<string, string> = {}, cwd?: string): string {
  const { status, stdout } = run('background-stop', { ...env, ...state }, cwd)
  expect(status).toBe(0)
  return stdout
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // An ended process that nobody has collected yet is a zombie.
    return (
      process.platform !== 'linux' || !/\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    )
  } catch {
    return false
  }
}

const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
const createAgentJob = (url: string, prompt: string) =>
  fetch(`${url}/v2/agent/any/job`, { method: 'POST', headers, body: JSON.stringify({ prompt }) })

/** A docs job, at its end. */
async function endedJob({ STATE_url: url }: ReturnType<typeof start>): Promise<object> {
  const { id } = (await (await createAgentJob(url, 'One')).json()) as { id: string }
  await sleep(20)
  return (await fetch(`${url}/v2/agent/any/job/${id}`, { headers })).json() as Promise<object>
}

test('links into a repository that nobody takes for a real one: a comment has the link [house.emulator]', async () => {
  const job = newJob({ INPUT_SPEED: '100000' })
  const state = start(job)
  const prLink = 'https://github.com/your-org/emulated-docs-not-real/pull/17'
  expect(await endedJob(state)).toMatchObject({ prLink })
  stop(job, state)
})

test('runs until the post step, which prints the requests, and none of them as a command [house.emulator]', async () => {
  const job = newJob({ INPUT_SCENARIO: '', INPUT_SPEED: '' })
  const state = start(job)
  const { 'base-url': url = '', 'log-file': log } = read(job.env.GITHUB_OUTPUT)
  expect((await createAgentJob(url, 'One\n::error::two ##[error]three')).status).toBe(201)
  await fetch(`${url}/v2/agent/::error::four`)
  const line = 'POST /v2/agent/any/job 201 {"prompt":"One\\n::error::two # #[error]three"}'
  expect(readFileSync(log ?? '', 'utf8')).toBe(`${line}\nGET /v2/agent/::error::four 404\n`)

  const [count, stopCommands = '', ...lines] = stop(job, state).trim().split('\n')
  expect(count).toBe('The emulator received 2 requests.')
  expect(stopCommands).toMatch(/^::stop-commands::[\w-]{36}$/)
  expect(lines).toEqual([
    line,
    'GET /v2/agent/::error::four 404',
    `::${stopCommands.slice('::stop-commands::'.length)}::`,
  ])
  await expect(fetch(url)).rejects.toThrow()
  expect(isAlive(Number(state.STATE_pid))).toBe(false)
})

test('what users download is enough to run both actions [house.emulator]', async () => {
  const folder = newFolder('download')
  download(folder)
  const job = newJob()
  const state = start(job, folder)
  const { main } = parse(readFileSync(path.join(folder, 'action.yml'), 'utf8')).runs
  const { 'base-url': url = '' } = read(job.env.GITHUB_OUTPUT)
  const { outputs } = await runAction({
    bundle: path.join(folder, main),
    inputs: {
      'base-url': url,
      'project-id': 'any',
      'api-key': 'mint_any',
      prompt: 'One',
      wait: 'false',
    },
  })
  expect(outputs).toMatchObject({ outcome: 'started', status: 'active' })
  expect(stop(job, state, folder)).toContain('The emulator received 1 request.')
})

test('passes on the scenario and the speed, and starts even if Node prints a warning first [house.emulator]', async () => {
  // In the service alone, and before it prints its URL.
  const warn = "process.argv[1].endsWith('serve.mjs')&&console.error('A%20warning')"
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${warn}` }
  const state = start(newJob({ INPUT_SCENARIO: ' failed ', INPUT_SPEED: '1e9', ...env }))
  expect(await endedJob(state)).toMatchObject({ status: 'failed' })
})

test.each([
  [
    'a scenario that is not about the service',
    { INPUT_SCENARIO: 'dry-run' },
    "scenario: unknown value 'dry-run', expected one of pr-opened, ",
  ],
  ['no file for the state', { GITHUB_STATE: '/no/such/folder/state' }, 'ENOENT'],
])('reports %s, and leaves nothing behind [house.emulator]', (_, env, message) => {
  const job = newJob(env)
  const { status, stdout } = run('background', job.env)
  expect(status).toBe(1)
  expect(stdout).toMatch(/^::error::[^\n]*\n$/)
  expect(stdout).toContain(message)
  expect(read(job.env.GITHUB_OUTPUT)).toEqual({})
  expect(stop(job)).toBe('')
})

posixTest(
  'a main step that is cancelled early leaves no process behind [house.emulator]',
  async () => {
    const job = newJob()
    const pidFile = path.join(job.folder, 'pid')
    const slow = path.join(job.folder, 'slow.mjs')
    // The service hangs before it prints its URL.
    writeFileSync(
      slow,
      `import { renameSync, writeFileSync } from 'node:fs'
    if (process.argv[1].endsWith('serve.mjs')) {
      writeFileSync(${JSON.stringify(`${pidFile}.new`)}, String(process.pid))
      renameSync(${JSON.stringify(`${pidFile}.new`)}, ${JSON.stringify(pidFile)})
      await new Promise((resolve) => setTimeout(resolve, 600_000))
    }`,
    )
    const main = spawn(process.execPath, ['emulator/background.mjs'], {
      env: { ...job.env, NODE_OPTIONS: `--import=${slow}` },
    })
    await until(() => existsSync(pidFile))
    const pid = Number(readFileSync(pidFile, 'utf8'))
    started.push(pid)
    main.kill('SIGINT')
    expect(await once(main, 'close')).toEqual([1, null])
    await until(() => !isAlive(pid))
  },
)

test('stops even if a step has removed the folder of its log [house.emulator]', async () => {
  const job = newJob()
  const state = start(job)
  rmSync(path.dirname(state.STATE_log), { recursive: true, force: true })
  expect((await createAgentJob(state.STATE_url, 'One')).status).toBe(201)
  expect(stop(job, state)).toBe('The log of the requests no longer exists.\n')
  await expect(fetch(state.STATE_url)).rejects.toThrow()
})

posixTest(
  'a service that does not respond is stopped, too: it has not ended [house.emulator]',
  () => {
    const job = newJob()
    const state = start(job)
    const pid = Number(state.STATE_pid)
    process.kill(pid, 'SIGSTOP')
    expect(stop(job, state)).toBe('The emulator received 0 requests.\n')
    expect(isAlive(pid)).toBe(false)
  },
)

// As in a container whose first process collects no others. Elsewhere the first process does.
const linuxTest = process.platform === 'linux' ? test : test.skip
linuxTest('a service that ends and stays as a zombie counts as stopped', async () => {
  const job = newJob()
  const [output = '', log = ''] = ['output.txt', 'requests.log'].map((name) =>
    path.join(job.folder, name),
  )
  writeFileSync(output, '')
  const command = '"$1" emulator/serve.mjs --log "$2" >"$3" & echo $!; exec sleep 600'
  const parent = spawn('sh', ['-c', command, 'sh', process.execPath, log, output])
  try {
    const [pid] = await once(parent.stdout.setEncoding('utf8'), 'data')
    started.push(Number(pid))
    const url = () => /^http:.*(?=\n)/m.exec(readFileSync(output, 'utf8'))?.[0] ?? ''
    await until(() => url() !== '')
    const state = { STATE_pid: String(pid).trim(), STATE_url: url(), STATE_log: log }
    expect(stop(job, state)).toBe('The emulator received 0 requests.\n')
  } finally {
    parent.kill()
  }
})

test('stops nothing if the service has ended: its process ID may belong to another process by then [house.emulator]', async () => {
  const job = newJob()
  const { STATE_pid, ...state } = start(job)
  process.kill(Number(STATE_pid), 'SIGKILL')
  await until(() => !isAlive(Number(STATE_pid)))
  const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'])
  try {
    const stdout = stop(job, { ...state, STATE_pid: String(other.pid) })
    expect(stdout).toContain('::warning::The emulator exited before the workflow job finished.\n')
    expect(isAlive(other.pid ?? 0)).toBe(true)
  } finally {
    other.kill()
  }
})
