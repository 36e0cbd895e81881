/** CPU time, wall time, requests and connections of every command. */

import { barChart, table } from './markdown.mjs'
import { median, quantile, time } from './measure.mjs'
import {
  BASELINE,
  CURL,
  FETCH,
  JOB,
  JOB_WITHOUT_FLAG,
  JQ,
  PULL_REQUEST,
  TOOLKIT,
  version,
} from './setup.mjs'

/** @import { Measurement } from './measure.mjs' */
/** @import { Bench } from './setup.mjs' */
/** @import { Counts } from './listen.mjs' */

/** @typedef {{ measurements: Measurement[], service: Counts, github: Counts }} Row the counts are of one run */

const WARM_UP_ROUNDS = 2
const GOAL = { ratio: 6, requests: 8 }
/** How often alternatives/curl-jq.sh starts jq. */
const JQ_STARTS = 6

/**
 * @param {Bench} bench
 * @param {number} rounds
 * @returns {Promise<{ cpu: string, requests: string }>}
 */
export async function measureTimes(bench, rounds) {
  const rows = await measure(bench, rounds)
  const cpuOf = (/** @type {string} */ name) => rows[name]?.measurements.map(({ cpu }) => cpu) ?? []
  const ratio = (/** @type {string} */ name) => median(cpuOf(name)) / median(cpuOf(BASELINE))

  const cells = Object.entries(rows).map(([name, { measurements }]) => [
    name,
    ms(median(cpuOf(name))),
    `${ms(quantile(cpuOf(name), 0.25))} to ${ms(quantile(cpuOf(name), 0.75))}`,
    ms(Math.min(...cpuOf(name))),
    ratio(name).toFixed(1),
    ms(median(measurements.map(({ wall }) => wall))),
  ])
  const { requests } = rows[PULL_REQUEST]?.github ?? { requests: 0 }
  const cpu = [
    barChart(
      'CPU time as a multiple of node -e 0',
      'times the baseline',
      Object.keys(rows)
        .filter((name) => name !== JQ)
        .map((name) => [name, ratio(name).toFixed(1)]),
    ),
    table(['milliseconds', 'CPU, median', 'quartiles', 'minimum', '× baseline', 'wall, median'], cells),
    [...compareJob(cpuOf), compareFlag(cpuOf), compareGoal(ratio(PULL_REQUEST), requests)].join('\n'),
  ]
  return { cpu: cpu.join('\n\n'), requests: requestTable(rows) }
}

/**
 * Runs the commands in turn, round after round, so that other load on the machine affects all of them.
 * @param {Bench} bench
 * @param {number} rounds
 */
async function measure({ commands, service, github }, rounds) {
  /** @type {Record<string, Row>} */
  const rows = {}
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [name, command] of Object.entries(commands)) {
      github.deleteComments()
      const measurement = await time(command)
      const { measurements = [] } = rows[name] ?? {}
      if (round >= 0) measurements.push(measurement)
      rows[name] = { measurements, service: service.takeCounts(), github: github.takeCounts() }
      if (github.unknownRequests.length > 0) {
        throw new Error(`${name}: bench/github.mjs does not know ${github.unknownRequests.join(', ')}`)
      }
    }
  }
  return rows
}

/** @param {(name: string) => number[]} cpuOf */
function compareJob(cpuOf) {
  const job = median(cpuOf(JOB))
  const percent = (/** @type {number} */ other) => `${((job / other) * 100).toFixed(0)} %`
  const others = `${percent(median(cpuOf(FETCH)))} of the CPU time of the \`fetch\` script and ${percent(median(cpuOf(TOOLKIT)))} of that of the other action`
  if (cpuOf(CURL).length === 0) return [`A job uses ${others}.`]
  const curl = median(cpuOf(CURL))
  const jq = median(cpuOf(JQ)) * JQ_STARTS
  return [
    `A job uses ${others}. It uses ${percent(curl)} of that of the bash script.`,
    `That script starts \`jq\` ${JQ_STARTS} times, which is ${ms(jq)} ms of its ${ms(curl)} ms with ${version('jq')}. With a \`jq\` that starts in no time, the figure would be ${percent(curl - jq)}.`,
  ]
}

/** @param {(name: string) => number[]} cpuOf */
function compareFlag(cpuOf) {
  const job = cpuOf(JOB)
  const saved = cpuOf(JOB_WITHOUT_FLAG).map((cpu, round) => cpu - (job[round] ?? 0))
  const [low = '', middle = '', high = ''] = [0.25, 0.5, 0.75].map((part) => ms(quantile(saved, part)))
  return `The V8 flag saves a job ${middle} ms (median of the differences within each round; quartiles: ${low} and ${high} ms).`
}

/**
 * @param {number} ratio
 * @param {number} requests
 */
function compareGoal(ratio, requests) {
  return `Goal for a run on a pull request: at most ${GOAL.ratio.toFixed(1)} × the baseline and ${GOAL.requests} requests to GitHub. Measured: ${ratio.toFixed(2)} × and ${requests} requests.`
}

/** @param {Record<string, Row>} rows */
function requestTable(rows) {
  const cells = Object.entries(rows)
    .filter(([, { service, github }]) => service.requests + github.requests > 0)
    .map(([name, { service, github }]) => [
      name,
      ...[service.requests, service.connections, github.requests, github.connections].map(String),
    ])
  return table(['', 'requests to the service', 'connections', 'requests to GitHub', 'connections'], cells)
}

/** @param {number} value */
const ms = (value) => value.toFixed(0)
