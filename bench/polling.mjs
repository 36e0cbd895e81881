/** Simulates polling schedules over many job lengths, without a clock. In the simulation a request takes no time. */

import { pollDelay } from '../src/run/poll.js'
import { barChart, table } from './markdown.mjs'
import { quantile } from './measure.mjs'

/**
 * How long to wait before the next poll, in milliseconds.
 * @typedef {(elapsedMs: number, polls: number) => number} Schedule
 */

const SHORTEST_MS = 10_000
const LONGEST_MS = 3_600_000
const JOBS = 20_000

const DEFAULT = 'default: a tenth of the elapsed time, 5 s to 12 s'

/** @type {Record<string, Schedule>} */
const SCHEDULES = {
  [DEFAULT]: (elapsed) => pollDelay(elapsed, undefined),
  'every 5 s': () => 5_000,
  'every 10 s': () => 10_000,
  'every 30 s': () => 30_000,
  'doubling, 1 s to 60 s': (_, polls) => Math.min(60_000, 1000 * 2 ** polls),
}

/**
 * If job lengths are log-uniform, intervals that grow with √(t · ln(longest / t)) have the smallest mean lag for their
 * number of requests. They need the shortest and the longest job in advance.
 * @type {Schedule}
 */
function optimum(elapsed) {
  if (elapsed === 0) return SHORTEST_MS
  const seconds = Math.sqrt((elapsed / 1000) * Math.max(0, Math.log(LONGEST_MS / elapsed)))
  return 1000 * Math.max(3, 0.4 * seconds)
}

/** @type {Record<string, Schedule>} */
const TRIED = {
  'a tenth, 5 s to 15 s': (elapsed) => Math.min(15_000, Math.max(5_000, elapsed / 10)),
  'a tenth, 3 s to 12 s': (elapsed) => Math.min(12_000, Math.max(3_000, elapsed / 10)),
  'a twentieth, 5 s to 14 s': (elapsed) => Math.min(14_000, Math.max(5_000, elapsed / 20)),
  'a 40th, 4 s to 16 s': (elapsed) => Math.min(16_000, Math.max(4_000, elapsed / 40)),
  '√t / 2, from 4 s': (elapsed) => 1000 * Math.max(4, Math.sqrt(elapsed / 1000) / 2),
  '√t / 2.5, from 3 s': (elapsed) => 1000 * Math.max(3, Math.sqrt(elapsed / 1000) / 2.5),
  '√(t · ln(60 min / t)) · 0.4, from 3 s': optimum,
}

/**
 * @param {Schedule} schedule
 * @param {number} lengthMs of the job
 * @returns {{ lag: number, requests: number }} the lag in milliseconds; the create request is counted
 */
function simulate(schedule, lengthMs) {
  let now = 0
  let polls = 0
  while (now < lengthMs) {
    now += schedule(now, polls)
    polls++
  }
  return { lag: now - lengthMs, requests: polls + 1 }
}

/**
 * Job lengths are log-uniform: each is longer than the previous one by the same factor.
 * @param {Schedule} schedule
 * @returns {{ lag: number, lag95: number, requests: number }} lags in seconds
 */
function study(schedule) {
  const runs = Array.from({ length: JOBS }, (_, index) =>
    simulate(schedule, SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** ((index + 0.5) / JOBS)),
  )
  const lags = runs.map(({ lag }) => lag / 1000)
  const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / JOBS
  return {
    lag: mean(lags),
    lag95: quantile(lags, 0.95),
    requests: mean(runs.map(({ requests }) => requests)),
  }
}

/** @returns {{ polling: string, tried: string }} */
export function simulatePolling() {
  return {
    polling: [
      barChart('Mean lag in seconds, and the number of requests', Object.entries(SCHEDULES).map(bar)),
      resultTable(SCHEDULES),
    ].join('\n\n'),
    tried: resultTable(TRIED),
  }
}

/** @type {(entry: [string, Schedule]) => [string, string]} */
function bar([name, schedule]) {
  const { lag, requests } = study(schedule)
  return [`${name.replace(/:.*/, '')} (${requests.toFixed(0)} requests)`, lag.toFixed(1)]
}

/** @param {Record<string, Schedule>} schedules */
function resultTable(schedules) {
  const rows = Object.entries(schedules).map(([name, schedule]) => {
    const { lag, lag95, requests } = study(schedule)
    return [name, `${lag.toFixed(2)} s`, `${lag95.toFixed(2)} s`, requests.toFixed(1)]
  })
  return table(['schedule', 'mean lag', '95th percentile', 'requests'], rows)
}
