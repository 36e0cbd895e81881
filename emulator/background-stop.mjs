// The post step of the emulator's action: stops the service, and shows what it was asked.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const GRACE_MS = 5_000
const { STATE_pid: pid, STATE_log: log } = process.env

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
 * Ends a process, by force where it does not end by itself.
 * @param {number} pid
 * @returns {Promise<boolean>} false where it had ended before
 */
async function stop(pid) {
  if (!signal(pid, 'SIGTERM')) return false
  for (const end = Date.now() + GRACE_MS; signal(pid, 0) && Date.now() < end; ) await sleep(20)
  signal(pid, 'SIGKILL')
  return true
}

/** @param {string} text what others wrote, in which no line may be a workflow command */
function show(text) {
  const token = randomUUID()
  console.log(`::stop-commands::${token}\n${text.replaceAll('##[', '# #[')}\n::${token}::`)
}

if (pid) {
  if (!(await stop(Number(pid)))) console.log('::warning::The emulator had ended before the job did.')
  const [, ...lines] = log && existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split(/\r?\n/) : []
  console.log(`The emulator was asked ${lines.length === 1 ? 'once' : `${lines.length} times`}.`)
  if (lines.length > 0) show(lines.join('\n'))
}
