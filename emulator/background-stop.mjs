// The post step of the emulator's action: stops the service, and shows what it was asked.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const GRACE_MS = 5_000
const { STATE_pid: pid, STATE_url: url = '', STATE_log: log = '' } = process.env

/**
 * @param {number} pid
 * @param {NodeJS.Signals | 0} signal 0 only asks
 * @returns {boolean} false where there is no such process
 */
function signal(pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/**
 * @param {string} url
 * @returns {Promise<boolean>} whether the service answers; where it ended before, its process id may be another's by now
 */
function isThere(url) {
  return fetch(url, { signal: AbortSignal.timeout(GRACE_MS) }).then(
    () => true,
    () => false,
  )
}

/**
 * Ends a process, by force where it does not end by itself.
 * @param {number} pid
 */
async function stop(pid) {
  signal(pid, 'SIGTERM')
  for (const end = Date.now() + GRACE_MS; signal(pid, 0) && Date.now() < end; ) await sleep(20)
  signal(pid, 'SIGKILL')
}

/** @returns {string[]} a line for each request; none where the file is gone */
function readLog() {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
}

/** @param {string} text what others wrote, in which no line may be a workflow command */
function show(text) {
  const token = randomUUID()
  console.log(`::stop-commands::${token}\n${text}\n::${token}::`)
}

if (pid) {
  const requests = readLog() // Before it is asked whether it is there.
  if (await isThere(url)) await stop(Number(pid))
  else console.log('::warning::The emulator had ended before the job did.')
  console.log(`The emulator was asked ${requests.length === 1 ? 'once' : `${requests.length} times`}.`)
  if (requests.length > 0) show(requests.join('\n'))
}
