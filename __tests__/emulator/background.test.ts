/** The emulator as an action: its main and post steps as the runner starts them, also where things are broken. */

import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { parseOutputs } from '../../emulator/runner.mjs'
import { newFolder } from '../support/folder.js'

interface Place {
  readonly folder: string
  readonly env: Record<string, string>
}

function place(more: Record<string, string> = {}): Place {
  const folder = newFolder('background')
  const [output = '', state = ''] = ['output', 'state'].map((name) => path.join(folder, name))
  for (const file of [output, state]) writeFileSync(file, '')
  const { PATH = '' } = process.env
  return { folder, env: { PATH, RUNNER_TEMP: folder, GITHUB_OUTPUT: output, GITHUB_STATE: state, ...more } }
}

const run = (script: string, env: Record<string, string>) =>
  spawnSync(process.execPath, [`emulator/${script}.mjs`], { encoding: 'utf8', env, timeout: 60_000 })

const read = (file = ''): Record<string, string> => parseOutputs(readFileSync(file, 'utf8'))

/** What the runner hands from the main step to the post step. */
const stateOf = ({ env }: Place): Record<string, string> =>
  Object.fromEntries(Object.entries(read(env.GITHUB_STATE)).map(([name, value]) => [`STATE_${name}`, value]))

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const ask = (url: string, prompt: string) =>
  fetch(`${url}/v2/agent/any/job`, {
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
    body: JSON.stringify({ prompt }),
  })

test('starts in the background, and ends with what it was asked, which is no command', async () => {
  const here = place({ INPUT_SCENARIO: '', INPUT_SPEED: '' })
  expect(run('background', here.env)).toMatchObject({ status: 0, stderr: '' })
  const { 'base-url': url = '', 'log-file': log } = read(here.env.GITHUB_OUTPUT)
  expect((await ask(url, 'One\n::error::two ##[error]three')).status).toBe(201)
  await fetch(`${url}/v2/agent/::error::four`)
  const line = 'POST /v2/agent/any/job 201 {"prompt":"One\\n::error::two # #[error]three"}'
  expect(readFileSync(log ?? '', 'utf8')).toBe(`${line}\nGET /v2/agent/::error::four 404\n`)

  const { stdout, status } = run('background-stop', { ...here.env, ...stateOf(here) })
  expect(status).toBe(0)
  const [said, opened = '', ...shown] = stdout.trim().split('\n')
  expect(said).toBe('The emulator was asked 2 times.')
  expect(opened).toMatch(/^::stop-commands::[\w-]{36}$/)
  expect(shown).toEqual([
    line,
    'GET /v2/agent/::error::four 404',
    `::${opened.slice('::stop-commands::'.length)}::`,
  ])
  await expect(fetch(url)).rejects.toThrow()
})

test('starts where Node prints a warning first', () => {
  const here = place({ NODE_EXTRA_CA_CERTS: '/no/such/file' })
  expect(run('background', here.env).status).toBe(0)
  expect(run('background-stop', { ...here.env, ...stateOf(here) }).stdout).toBe(
    'The emulator was asked 0 times.\n',
  )
})

test.each([
  [
    'a scenario that there is not',
    { INPUT_SCENARIO: 'nonsense' },
    "scenario: got 'nonsense', takes one of pr-opened",
  ],
  [
    'one that is not about the service',
    { INPUT_SCENARIO: 'dry-run' },
    "scenario: got 'dry-run', takes one of",
  ],
  ['a speed that is none', { INPUT_SPEED: 'fast' }, "--speed takes a number above 0, got 'fast'"],
  ['no file for the state', { GITHUB_STATE: '/no/such/folder/state' }, 'ENOENT'],
])('says what is wrong with %s, and leaves nothing behind', (_, more, words) => {
  const here = place(more)
  const { status, stdout } = run('background', here.env)
  expect(status).toBe(1)
  expect(stdout).toMatch(/^::error::[^\n]*\n$/)
  expect(stdout).toContain(words)
  expect(read(here.env.GITHUB_OUTPUT)).toEqual({})
  expect(run('background-stop', here.env)).toMatchObject({ status: 0, stdout: '' })
})

test('ends also where a step emptied the folder of its log', async () => {
  const here = place()
  expect(run('background', here.env).status).toBe(0)
  const state = stateOf(here)
  rmSync(path.dirname(state.STATE_log ?? ''), { recursive: true, force: true })
  expect((await ask(state.STATE_url ?? '', 'One')).status).toBe(201)
  expect(run('background-stop', { ...here.env, ...state })).toMatchObject({
    status: 0,
    stdout: 'The emulator was asked 0 times.\n',
  })
  await expect(fetch(state.STATE_url ?? '')).rejects.toThrow()
})

test('stops nothing where it had ended before: its process id may be another process by then', () => {
  const here = place()
  expect(run('background', here.env).status).toBe(0)
  const { STATE_pid, ...state } = stateOf(here)
  process.kill(Number(STATE_pid), 'SIGKILL')
  const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'])
  try {
    const { stdout, status } = run('background-stop', { ...here.env, ...state, STATE_pid: String(other.pid) })
    expect(status).toBe(0)
    expect(stdout).toContain('::warning::The emulator had ended before the job did.\n')
    expect(isAlive(other.pid ?? 0)).toBe(true)
  } finally {
    other.kill()
  }
})
