/** Runs a command and measures it. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Command
 * @property {string[]} argv
 * @property {Record<string, string>} env the whole environment
 * @property {number} exitCode the expected one
 */

/** @typedef {{ cpu: number, wall: number }} Measurement in milliseconds */

// bash's `time` reports the CPU time of the process and of its children, so a script's curl, jq and sleep count too.
const TIMED = 'TIMEFORMAT="%3U %3S %3R"; time "$@" 1>&3 2>&3'

/**
 * @param {Command} command
 * @returns {Promise<Measurement>}
 * @throws {Error} it ended with another exit code
 */
export async function time(command) {
  const stderr = await run(command, ['bash', '-c', TIMED, 'bash', ...command.argv])
  const [user = 0, system = 0, real = 0] = stderr.trim().split(' ').map(Number)
  return { cpu: (user + system) * 1000, wall: real * 1000 }
}

/**
 * @param {Command} command of Node
 * @param {string} folder for temporary files
 * @returns {Promise<number>} its peak resident memory in MB
 */
export async function peakMemory(command, folder) {
  const [node = '', ...args] = command.argv
  const file = path.join(folder, 'memory')
  // VmHWM starts at 0 when the process starts a program. getrusage's ru_maxrss doesn't: it includes the bench's own
  // memory, of which the new process is a copy until then.
  const hook = `import fs from 'node:fs'
    process.on('exit', () => {
      const [, kilobytes] = /^VmHWM:\\s+(\\d+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))
      fs.writeFileSync(${JSON.stringify(file)}, kilobytes)
    })`
  await run(command, [node, '--import', `data:text/javascript,${encodeURIComponent(hook)}`, ...args])
  return (Number(readFileSync(file, 'utf8')) * 1024) / 1e6
}

/**
 * @param {Command} command of Node
 * @param {string} folder for temporary files
 * @returns {Promise<string[]>} the files with code that Node loaded
 */
export async function loadedFiles(command, folder) {
  const coverage = mkdtempSync(path.join(folder, 'coverage-'))
  await run({ ...command, env: { ...command.env, NODE_V8_COVERAGE: coverage } })
  const urls = readdirSync(coverage).flatMap((name) => {
    /** @type {{ result: { url: string }[] }} */
    const { result } = JSON.parse(readFileSync(path.join(coverage, name), 'utf8'))
    return result.map(({ url }) => url)
  })
  return urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url))
}

/**
 * @param {Command} command
 * @param {string[]} [argv] run instead of the command's own
 * @returns {Promise<string>} what it wrote to stderr
 */
async function run({ env, exitCode, ...command }, argv = command.argv) {
  const [file = '', ...args] = argv
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const outputs = [1, 2, 3].map((number) => {
    const chunks = /** @type {string[]} */ ([])
    child.stdio[number]?.on('data', (chunk) => chunks.push(String(chunk)))
    return chunks
  })
  const [code] = await once(child, 'close')
  const [stdout = '', stderr = '', log = ''] = outputs.map((chunks) => chunks.join(''))
  if (code === exitCode) return stderr
  throw new Error(
    `${command.argv.join(' ')}: expected exit code ${exitCode}, got ${code}:\n${stdout}${stderr}${log}`,
  )
}

/**
 * @param {number[]} values
 * @param {number} part from 0 to 1
 * @returns {number} the value below which this part of them lies, interpolated
 */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const [below = 0, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}

/** @param {number[]} values */
export const median = (values) => quantile(values, 0.5)
