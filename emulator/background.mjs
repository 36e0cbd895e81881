// The main step of the emulator action: starts the service in the background, and outputs its URL.
import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { EOL, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serviceScenarios } from './scenarios.mjs'

/** @import { ChildProcess } from 'node:child_process' */

const SERVE = fileURLToPath(new URL('serve.mjs', import.meta.url))
const START_TIMEOUT_MS = 60_000
const { env } = process

/**
 * @param {'GITHUB_OUTPUT' | 'GITHUB_STATE'} file of the runner
 * @param {Record<string, string | number | undefined>} values of one line each
 */
function writeRunnerFile(file, values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}${EOL}`)
  appendFileSync(env[file] ?? '', lines.join(''))
}

/**
 * @returns {string[]} the inputs as options of `serve.mjs`; an empty input means the default
 * @throws {Error} the scenario is not one of the service alone
 */
function getOptions() {
  const scenario = env.INPUT_SCENARIO?.trim()
  const speed = env.INPUT_SPEED?.trim()
  if (scenario && !serviceScenarios.includes(scenario)) {
    throw new Error(
      `scenario: unknown value '${scenario}', expected one of ${serviceScenarios.join(', ')}.`,
    )
  }
  return [...(scenario ? ['--scenario', scenario] : []), ...(speed ? ['--speed', speed] : [])]
}

/**
 * @param {ChildProcess} child
 * @param {string} output the file it prints to
 * @returns {Promise<string>} the URL that it prints
 * @throws {Error} it exited, with what it printed, or it printed no URL in time
 */
async function waitForUrl(child, output) {
  let problem = ''
  child.once('error', ({ message }) => {
    problem = message
  })
  for (
    const end = Date.now() + START_TIMEOUT_MS;
    Date.now() < end && problem === '';
    await sleep(20)
  ) {
    const [url] = /^http:.*(?=\r?\n)/m.exec(readFileSync(output, 'utf8')) ?? []
    if (url) return url
    if (child.exitCode !== null || child.signalCode !== null) break
  }
  throw new Error(`The emulator did not start. ${problem}${readFileSync(output, 'utf8').trim()}`)
}

/** @type {ChildProcess | undefined} */
let child
// If the workflow job is cancelled before the state is written, the post step can't know of the
// process.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    child?.kill('SIGKILL')
    process.exit(1)
  })
}
try {
  const folder = mkdtempSync(path.join(env.RUNNER_TEMP || tmpdir(), 'emulator-'))
  const [output = '', log = ''] = ['output.txt', 'requests.log'].map((name) =>
    path.join(folder, name),
  )
  writeFileSync(log, '')
  const file = openSync(output, 'w')
  child = spawn(process.execPath, [SERVE, ...getOptions(), '--log', log], {
    detached: true,
    stdio: ['ignore', file, file],
    windowsHide: true,
  })
  const url = await waitForUrl(child, output)
  writeRunnerFile('GITHUB_STATE', { pid: child.pid, url, log })
  writeRunnerFile('GITHUB_OUTPUT', { 'base-url': url, 'log-file': log })
  console.log(
    `The emulated service is at ${url}. It stops when this workflow job ends, and the requests that it received are printed then.`,
  )
} catch (error) {
  child?.kill('SIGKILL')
  const message = error instanceof Error ? error.message : String(error)
  console.log(
    `::error::${message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`,
  )
  process.exitCode = 1
}
child?.unref()
