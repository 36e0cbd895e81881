// The post step of the emulator action: stops the service, and prints the requests it received.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const CONNECT_TIMEOUT_MS = 5_000
const KILL_TIMEOUT_MS = 30_000
const { STATE_pid: pid, STATE_url: url = '', STATE_log: log = '' } = process.env

/**
 * @param {number} pid
 * @param {'SIGKILL' | 0} signal 0 only checks
 * @returns {boolean} false if there is no such process
 */
function signal(pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** @param {number} pid */
function hasEnded(pid) {
  if (!signal(pid, 0)) return true
  try {
    // In a container, an ended process may stay as a zombie that nobody collects (proc(5), state
    // Z).
    return /\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false // There is no /proc, or the process has ended in between.
  }
}

/**
 * Whether something listens at the URL. If the emulator has ended, its process ID may belong to
 * another process by now. Only a refused connection proves that: a busy machine may take longer
 * than any time limit, and the kernel accepts connections even for a process that hangs.
 * @param {string} url
 * @returns {Promise<boolean>}
 */
async function isRunning(url) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), timeout: CONNECT_TIMEOUT_MS })
  try {
    await Promise.race([once(socket, 'connect'), once(socket, 'timeout')])
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')
  } finally {
    socket.destroy()
  }
}

/**
 * It needs no time to end well: a request is logged before it is answered.
 * @param {number} pid
 * @returns {Promise<boolean>} whether the process has ended
 */
async function kill(pid) {
  signal(pid, 'SIGKILL')
  for (const end = Date.now() + KILL_TIMEOUT_MS; !hasEnded(pid); await sleep(20))
    if (Date.now() > end) return false
  return true
}

/**
 * @returns {string[] | undefined} a line for each request; undefined if a step has removed the file
 */
function readLog() {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : undefined
}

/** @param {string} text from others: no line of it may be treated as a workflow command */
function printUntrusted(text) {
  const token = randomUUID()
  console.log(`::stop-commands::${token}\n${text}\n::${token}::`)
}

if (pid) {
  if (!(await isRunning(url))) {
    console.log('::warning::The emulator exited before the workflow job finished.')
  } else if (!(await kill(Number(pid)))) {
    console.log(`::warning::The emulator (process ${pid}) could not be stopped.`)
  }
  const requests = readLog()
  if (!requests) console.log('The log of the requests no longer exists.')
  else {
    console.log(
      `The emulator received ${requests.length} request${requests.length === 1 ? '' : 's'}.`,
    )
    if (requests.length > 0) printUntrusted(requests.join('\n'))
  }
}
