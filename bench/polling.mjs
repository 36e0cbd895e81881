/** When to look: a simulation of schedules over job lengths, without a clock. A look takes no time in it. */

import { pollDelay } from '../src/run/poll.js'

/**
 * How long to wait before the next look, in milliseconds.
 * @typedef {(elapsedMs: number, looks: number) => number} Schedule
 */

const SHORTEST_MS = 10_000
const LONGEST_MS = 3_600_000
const JOBS = 20_000

/** @type {Record<string, Schedule>} */
const SCHEDULES = {
  'the default': (elapsed) => pollDelay(elapsed, undefined),
  'fixed, 5 s': () => 5_000,
  'fixed, 10 s': () => 10_000,
  'fixed, 30 s': () => 30_000,
  'doubling, 1 s to 60 s': (_, looks) => Math.min(60_000, 1000 * 2 ** looks),
}

/**
 * For lengths that are log-uniform up to the longest, the lag at so many requests is least with pauses that grow as the
 * root of t · ln(longest / t). It has to know the shortest and the longest job beforehand.
 * @type {Schedule}
 */
function knowing(elapsed) {
  if (elapsed === 0) return SHORTEST_MS
  const seconds = Math.sqrt((elapsed / 1000) * Math.max(0, Math.log(LONGEST_MS / elapsed)))
  return 1000 * Math.max(3, 0.4 * seconds)
}

/**
 * Schedules that were tried in search of a better one.
 * @type {Record<string, Schedule>}
 */
const IDEAS = {
  'a tenth, 5 s to 15 s': (elapsed) => Math.min(15_000, Math.max(5_000, elapsed / 10)),
  'a tenth, 3 s to 12 s': (elapsed) => Math.min(12_000, Math.max(3_000, elapsed / 10)),
  'a twentieth, 5 s to 14 s': (elapsed) => Math.min(14_000, Math.max(5_000, elapsed / 20)),
  'a 40th, 4 s to 16 s': (elapsed) => Math.min(16_000, Math.max(4_000, elapsed / 40)),
  'the optimum for these lengths': knowing,
  'root of the seconds / 2, from 4 s': (elapsed) => 1000 * Math.max(4, Math.sqrt(elapsed / 1000) / 2),
  'root of the seconds / 2.5, from 3 s': (elapsed) => 1000 * Math.max(3, Math.sqrt(elapsed / 1000) / 2.5),
}

/**
 * @param {Schedule} schedule
 * @param {number} lengthMs of the job
 * @returns {{ lag: number, requests: number }} from the job's end to the look that sees it, in milliseconds; the create
 *   counts as a request
 */
function simulate(schedule, lengthMs) {
  let now = 0
  let looks = 0
  while (now < lengthMs) {
    now += schedule(now, looks)
    looks++
  }
  return { lag: now - lengthMs, requests: looks + 1 }
}

/**
 * Over job lengths from 10 s to 60 min, log-uniform: each a step of the same factor from the one before.
 * @param {Schedule} schedule
 */
function study(schedule) {
  const runs = Array.from({ length: JOBS }, (_, index) =>
    simulate(schedule, SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** ((index + 0.5) / JOBS)),
  )
  const lags = runs.map(({ lag }) => lag).sort((a, b) => a - b)
  const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / JOBS
  return {
    lag: mean(lags) / 1000,
    lag95: (lags[Math.floor(JOBS * 0.95)] ?? 0) / 1000,
    requests: mean(runs.map(({ requests }) => requests)),
  }
}

/** @returns {string} */
export function pollingTable() {
  const line = (/** @type {string[]} */ [name = '', ...cells]) =>
    name.padEnd(38) + cells.map((cell) => cell.padStart(14)).join('')
  const rows = Object.entries({ ...SCHEDULES, ...IDEAS }).map(([name, schedule]) => {
    const { lag, lag95, requests } = study(schedule)
    return line([name, lag.toFixed(2), lag95.toFixed(2), requests.toFixed(1)])
  })
  return [
    'Polling: seconds from the end of a job to its notice, and requests, for jobs of 10 s to 60 min, log-uniform',
    line(['', 'mean lag', '95th perc.', 'requests']),
    ...rows,
  ].join('\n')
}
