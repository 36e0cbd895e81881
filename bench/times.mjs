/** CPU time, wall time, requests and connections of every command. */

import { barChart, table } from './markdown.mjs'
import { median, quantile, time } from './measure.mjs'
import { NAMES, version } from './setup.mjs'

/** @import { Bench, Name } from './setup.mjs' */
/** @import { Counts } from './listen.mjs' */

/**
 * @typedef {object} Row
 * @property {number[]} cpu milliseconds of each round
 * @property {number[]} wall milliseconds of each round
 * @property {Counts} service of the last round
 * @property {Counts} github of the last round
 */

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
  const baseline = median(rows.get('baseline')?.cpu ?? [])
  const ratio = (/** @type {Row} */ { cpu }) => median(cpu) / baseline
  const cells = Array.from(rows, ([name, row]) => [
    NAMES[name],
    ms(median(row.cpu)),
    `${ms(quantile(row.cpu, 0.25))} to ${ms(quantile(row.cpu, 0.75))}`,
    ms(Math.min(...row.cpu)),
    ratio(row).toFixed(1),
    ms(median(row.wall)),
  ])
  const bars = [...rows].filter(([name]) => name !== 'jq')
  const chart = barChart(
    'CPU time, as a multiple of the baseline',
    bars.map(([name, row]) => [NAMES[name], ratio(row).toFixed(1)]),
  )
  const header = ['milliseconds', 'CPU, median', 'quartiles', 'minimum', '× baseline', 'wall, median']
  return {
    cpu: [chart, table(header, cells), compare(rows).join('\n')].join('\n\n'),
    requests: requestTable(rows),
  }
}

/**
 * Runs the commands in turn, round after round, so that other load on the machine affects all of them.
 * @param {Bench} bench
 * @param {number} rounds
 */
async function measure({ commands, service, github }, rounds) {
  /** @type {Map<Name, Row>} */
  const rows = new Map()
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [key, command] of Object.entries(commands)) {
      const name = /** @type {Name} */ (key)
      github.deleteComments()
      const { cpu, wall } = await time(command)
      if (github.unknownRequests.length > 0) {
        throw new Error(`${NAMES[name]}: bench/github.mjs does not know ${github.unknownRequests.join(', ')}`)
      }
      // The warm-up rounds are dropped.
      const previous = round <= 0 ? { cpu: [], wall: [] } : rows.get(name)
      rows.set(name, {
        cpu: [...(previous?.cpu ?? []), cpu],
        wall: [...(previous?.wall ?? []), wall],
        service: service.takeCounts(),
        github: github.takeCounts(),
      })
    }
  }
  return rows
}

/**
 * @param {Map<Name, Row>} rows
 * @returns {string[]} what the table shows, in sentences
 */
function compare(rows) {
  const cpu = (/** @type {Name} */ name) => rows.get(name)?.cpu ?? []
  const job = median(cpu('job'))
  const percent = (/** @type {number} */ other) => `${((job / other) * 100).toFixed(0)} %`
  const sentences = [
    `A job uses ${percent(median(cpu('fetch')))} of the CPU time of the \`fetch\` script and ${percent(median(cpu('toolkit')))} of that of the other action.`,
  ]
  if (rows.has('curl')) {
    const curl = median(cpu('curl'))
    const jq = median(cpu('jq')) * JQ_STARTS
    sentences.push(
      `It uses ${percent(curl)} of the CPU time of the bash script, which starts \`jq\` ${JQ_STARTS} times: ${ms(jq)} of its ${ms(curl)} ms with ${version('jq')}. If \`jq\` started in no time, the figure would be ${percent(curl - jq)}.`,
    )
  }
  const saved = cpu('jobWithoutFlag').map((without, round) => without - (cpu('job')[round] ?? 0))
  const ratio = (median(cpu('pullRequest')) / median(cpu('baseline'))).toFixed(2)
  sentences.push(
    `The V8 flag saves a job ${ms(median(saved))} ms (median of the differences within each round; quartiles: ${ms(quantile(saved, 0.25))} and ${ms(quantile(saved, 0.75))} ms).`,
    `Goal for a job on a pull request: at most ${GOAL.ratio.toFixed(1)} × the baseline and ${GOAL.requests} requests to GitHub. Measured: ${ratio} × and ${rows.get('pullRequest')?.github.requests} requests.`,
  )
  return sentences
}

/** @param {Map<Name, Row>} rows */
function requestTable(rows) {
  const cells = [...rows]
    .filter(([, { service, github }]) => service.requests + github.requests > 0)
    .map(([name, { service, github }]) => [
      NAMES[name],
      ...[service.requests, service.connections, github.requests, github.connections].map(String),
    ])
  return table(['', 'requests to the service', 'connections', 'requests to GitHub', 'connections'], cells)
}

/** @param {number} value */
const ms = (value) => value.toFixed(0)
