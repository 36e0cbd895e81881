// The main step of the emulator's action: starts the service in the background, and says where it is.
import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { EOL, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serviceScenarios } from './scenarios.mjs'

/** @import { ChildProcess } from 'node:child_process' */

const SERVE = fileURLToPath(new URL('serve.mjs', import.meta.url))
const START_MS = 20_000
const DEFAULT_SPEED = '24'
const { env } = process

/**
 * @param {'GITHUB_OUTPUT' | 'GITHUB_STATE'} file of the runner
 * @param {Record<string, string | number | undefined>} values of one line each
 */
function tellRunner(file, values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}${EOL}`)
  appendFileSync(env[file] ?? '', lines.join(''))
}

/**
 * @returns {string[]} the options of `serve.mjs` that the inputs stand for; an empty input means its default
 * @throws {Error} the scenario is not one of the service alone
 */
function options() {
  const scenario = env.INPUT_SCENARIO?.trim()
  const speed = env.INPUT_SPEED?.trim() || DEFAULT_SPEED
  if (!scenario) return ['--speed', speed]
  if (serviceScenarios.includes(scenario)) return ['--scenario', scenario, '--speed', speed]
  throw new Error(`scenario: got '${scenario}', takes one of ${serviceScenarios.join(', ')}.`)
}

/**
 * @param {ChildProcess} child
 * @param {string} output its file
 * @returns {Promise<string>} the address that it prints first
 * @throws {Error} it ended, with its own words, or it said nothing for 20 s
 */
async function address(child, output) {
  let fault = ''
  child.once('error', ({ message }) => {
    fault = message
  })
  for (const end = Date.now() + START_MS; Date.now() < end && fault === ''; await sleep(20)) {
    const [url] = /^http:.*(?=\r?\n)/m.exec(readFileSync(output, 'utf8')) ?? []
    if (url) return url
    if (child.exitCode !== null || child.signalCode !== null) break
  }
  throw new Error(`The emulator did not start. ${fault}${readFileSync(output, 'utf8').trim()}`)
}

/** @type {ChildProcess | undefined} */
let child
try {
  const folder = mkdtempSync(path.join(env.RUNNER_TEMP || tmpdir(), 'emulator-'))
  const [output = '', log = ''] = ['output.txt', 'requests.log'].map((name) => path.join(folder, name))
  writeFileSync(log, '')
  const file = openSync(output, 'w')
  child = spawn(process.execPath, [SERVE, ...options(), '--log', log], {
    detached: true,
    stdio: ['ignore', file, file],
    windowsHide: true,
  })
  const url = await address(child, output)
  tellRunner('GITHUB_STATE', { pid: child.pid, url, log })
  tellRunner('GITHUB_OUTPUT', { 'base-url': url, 'log-file': log })
  console.log(`The emulated service is at ${url}. It ends with this job, which then shows what it was asked.`)
} catch (error) {
  child?.kill('SIGKILL')
  const words = error instanceof Error ? error.message : String(error)
  console.log(`::error::${words.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`)
  process.exitCode = 1
}
child?.unref()
