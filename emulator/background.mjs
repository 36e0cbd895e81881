// The main step of the emulator's action: starts the service in the background, and says where it is.
import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { EOL, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

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

/** @returns {string[]} the options of `serve.mjs` that the inputs stand for; an empty input means its default */
function options() {
  const given = {
    '--scenario': env.INPUT_SCENARIO?.trim(),
    '--speed': env.INPUT_SPEED?.trim() || DEFAULT_SPEED,
  }
  return Object.entries(given).flatMap(([name, value]) => (value ? [name, value] : []))
}

/**
 * @param {ChildProcess} child
 * @param {string} log
 * @returns {Promise<string>} the address that it prints first
 * @throws {Error} it ended, with its own words, or it said nothing for 20 s
 */
async function address(child, log) {
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(20)) {
    const [url] = /^http:.*(?=\n)/.exec(readFileSync(log, 'utf8')) ?? []
    if (url) return url
    if (child.exitCode !== null) break
  }
  child.kill('SIGKILL')
  throw new Error(`The emulator did not start. ${readFileSync(log, 'utf8').trim()}`)
}

try {
  const log = path.join(mkdtempSync(path.join(env.RUNNER_TEMP || tmpdir(), 'emulator-')), 'requests.log')
  const output = openSync(log, 'w')
  const child = spawn(process.execPath, [SERVE, ...options()], {
    detached: true,
    stdio: ['ignore', output, output],
    windowsHide: true,
  })
  tellRunner('GITHUB_STATE', { pid: child.pid, log })
  const url = await address(child, log)
  child.unref()
  tellRunner('GITHUB_OUTPUT', { 'base-url': url, 'log-file': log })
  console.log(`The emulated service is at ${url}. It ends with this job, which then shows what it was asked.`)
} catch (error) {
  const words = error instanceof Error ? error.message : String(error)
  console.log(`::error::${words.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`)
  process.exitCode = 1
}
