/** Many jobs at once, as a matrix would start them, against a service that limits them. */

import path from 'node:path'
import { runAction } from '../emulator/runner.mjs'
import { startEmulator } from '../emulator/server.mjs'
import { median } from './measure.mjs'

/** @import { LoggedRequest } from '../emulator/server.mjs' */

const RETRY_AFTER_S = 5
const TURNED_DOWN = 120
const LIMITED = { status: 429, error: 'Rate limit exceeded' }

/**
 * Starts this many steps at once. The first 40 creates are taken, the next 120 are turned down for 5 s; 40 looks are
 * turned down without a word on how long.
 * @param {number} [steps]
 * @returns {Promise<string>} what came of it
 * @throws {Error} a step failed, a job was lost, or one was created twice
 */
export async function scale(steps = 200) {
  /** @type {LoggedRequest[]} */
  const requests = []
  const emulator = await startEmulator({
    scenario: {
      create: [
        { times: 40 },
        { ...LIMITED, headers: { 'retry-after': String(RETRY_AFTER_S) }, times: TURNED_DOWN },
      ],
      poll: [{ times: 20 }, { ...LIMITED, times: 40 }],
    },
    jobSeconds: 4,
    onRequest: (request) => requests.push(request),
  })
  const started = performance.now()
  const results = await Promise.all(
    Array.from({ length: steps }, (_, index) =>
      runAction({
        bundle: path.resolve('build/dist/index.js'),
        inputs: {
          'base-url': emulator.url,
          'project-id': 'docs',
          'api-key': 'mint_scale',
          prompt: `Step ${index + 1}`,
          'poll-interval-seconds': '1',
          'timeout-minutes': '5',
        },
      }),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  await emulator.close()

  const prompts = [...emulator.jobs.values()].flatMap((job) => job.prompts)
  const ids = results.map(({ outputs }) => outputs['job-id'])
  const opened = results.filter(({ outputs, exitCode }) => exitCode === 0 && outputs.outcome === 'pr-opened')
  const facts = {
    jobs: prompts.length,
    'their prompts': new Set(prompts).size,
    ids: new Set(ids).size,
    ends: opened.length,
  }
  for (const [what, count] of Object.entries(facts)) {
    if (count !== steps) throw new Error(`${steps} steps at once, but ${what}: ${count}`)
  }
  const retries = createsAgain(requests)
  const early = retries.filter(({ pause }) => pause < RETRY_AFTER_S)
  if (retries.length !== TURNED_DOWN || early.length > 0) {
    throw new Error(`${retries.length} creates came again, ${early.length} of them too early`)
  }
  const pauses = retries.map(({ pause }) => pause).sort((a, b) => a - b)
  const arrivals = retries.map(({ at }) => at).sort((a, b) => a - b)
  const refused = retries.map(({ at, pause }) => at - pause)
  const range = (/** @type {number[]} */ sorted) =>
    `${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)} s`
  return [
    `Scale: ${steps} steps at once, all ended well in ${seconds.toFixed(0)} s. Jobs: ${prompts.length}; lost: 0; created twice: 0.`,
    `Requests: ${requests.length}, of them ${requests.filter(({ status }) => status === 429).length} answered with 429.`,
    `${retries.length} creates were turned down with "Retry-After: ${RETRY_AFTER_S}" and came again after ${range(pauses)}, median ${median(pauses).toFixed(2)} s,`,
    `tenths of a second apart: ${histogram(pauses)}`,
    `They arrived ${range(arrivals)} after the start, at most ${busiest(arrivals, 0.1)} within a tenth of a second; of the refusals, at most ${busiest(refused, 0.1)} were.`,
  ].join('\n')
}

/**
 * The creates that came again, in seconds: since the one before, and on the service's clock.
 * @param {LoggedRequest[]} requests
 */
function createsAgain(requests) {
  /** @type {Map<string, number>} */
  const before = new Map()
  const retries = []
  for (const { method, body, at } of requests.toSorted((a, b) => a.at - b.at)) {
    if (method !== 'POST') continue
    const last = before.get(body)
    if (last !== undefined) retries.push({ at: at / 1000, pause: (at - last) / 1000 })
    before.set(body, at)
  }
  return retries
}

/** @param {number[]} sorted */
function histogram(sorted) {
  const first = Math.floor((sorted[0] ?? 0) * 10)
  const counts = Array.from({ length: Math.floor((sorted.at(-1) ?? 0) * 10) - first + 1 }, () => 0)
  for (const value of sorted) {
    const tenth = Math.floor(value * 10) - first
    counts[tenth] = (counts[tenth] ?? 0) + 1
  }
  return counts.join(' ')
}

/**
 * @param {number[]} sorted
 * @param {number} width
 * @returns {number} how many fall within it at most
 */
function busiest(sorted, width) {
  return Math.max(
    ...sorted.map((start) => sorted.filter((value) => value >= start && value < start + width).length),
  )
}
