/** Runs a command and tells what it took of the machine. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * @typedef {object} Command
 * @property {string[]} argv
 * @property {Record<string, string>} env the whole environment
 * @property {number} exitCode that it has to end with
 */

/** @typedef {{ cpu: number, wall: number }} Took milliseconds */

// The `time` of bash: what the kernel accounts to the finished child and all that it has waited for (wait4), so that a
// script's curl, jq and sleep count too. It is there wherever bash is, and gives milliseconds.
const TIMED = 'TIMEFORMAT="%3U %3S %3R"; time "$@" 1>&3 2>&3'

/**
 * @param {Command} command
 * @returns {Promise<Took>}
 * @throws {Error} it ended with another exit code
 */
export async function time(command) {
  const { stderr } = await run(['bash', '-c', TIMED, 'bash', ...command.argv], command)
  const [user = 0, system = 0, real = 0] = stderr.trim().split(' ').map(Number)
  return { cpu: (user + system) * 1000, wall: real * 1000 }
}

/**
 * @param {Command} command of Node
 * @param {string} folder
 * @returns {Promise<number>} the largest memory it had, in MB
 */
export async function memory({ argv: [node = '', ...rest], ...command }, folder) {
  const file = path.join(folder, 'memory')
  // Of the process's own pages (VmHWM): what wait4 and getrusage tell includes those of whoever started it.
  const hook = `import fs from 'node:fs'
    process.on('exit', () => {
      const [, kilobytes] = /^VmHWM:\\s+(\\d+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))
      fs.writeFileSync(${JSON.stringify(file)}, kilobytes)
    })`
  const argv = [node, '--import', `data:text/javascript,${encodeURIComponent(hook)}`, ...rest]
  await run(argv, { ...command, argv })
  return (Number(readFileSync(file, 'utf8')) * 1024) / 1e6
}

/**
 * @param {string[]} argv
 * @param {Command} command
 */
async function run([file = '', ...args], command) {
  const child = spawn(file, args, { env: command.env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const outputs = [1, 2, 3].map((number) => {
    const chunks = /** @type {string[]} */ ([])
    child.stdio[number]?.on('data', (chunk) => chunks.push(String(chunk)))
    return chunks
  })
  const [code] = await once(child, 'close')
  const [stdout = '', stderr = '', log = ''] = outputs.map((chunks) => chunks.join(''))
  if (code !== command.exitCode) {
    throw new Error(
      `${command.argv.join(' ')} ended with ${code}, not ${command.exitCode}:\n${stdout}${stderr}${log}`,
    )
  }
  return { stderr }
}

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return ((sorted[middle] ?? 0) + (sorted[sorted.length - 1 - middle] ?? 0)) / 2
}
