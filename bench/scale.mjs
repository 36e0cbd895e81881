/** Starts many steps at the same time, as a matrix would, against a service that limits requests. */

import path from 'node:path'
import { runAction } from '../emulator/runner.mjs'
import { startEmulator } from '../emulator/server.mjs'
import { ACTION } from './bundles.mjs'

/** @import { LoggedRequest } from '../emulator/server.mjs' */

const STEPS = 200
const ACCEPTED_CREATES = 40
const REJECTED_CREATES = 120
const REJECTED_POLLS = 40
const RETRY_AFTER_S = 5
const LIMITED = { status: 429, error: 'Rate limit exceeded' }

/**
 * @returns {Promise<{ scale: string }>}
 * @throws {Error} a step failed, a job was lost or duplicated, or a create request was retried too early
 */
export async function measureScale() {
  /** @type {LoggedRequest[]} */
  const requests = []
  const emulator = await startEmulator({
    scenario: {
      create: [
        { times: ACCEPTED_CREATES },
        { ...LIMITED, headers: { 'retry-after': String(RETRY_AFTER_S) }, times: REJECTED_CREATES },
      ],
      poll: [{ times: 20 }, { ...LIMITED, times: REJECTED_POLLS }],
    },
    jobSeconds: 4,
    onRequest: (request) => requests.push(request),
  })
  const started = performance.now()
  const results = await Promise.all(
    Array.from({ length: STEPS }, (_, index) =>
      runAction({
        bundle: path.join(ACTION, 'index.js'),
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
  ).finally(() => emulator.close())
  const seconds = (performance.now() - started) / 1000

  const prompts = [...emulator.jobs.values()].flatMap((job) => job.prompts)
  const counts = {
    jobs: prompts.length,
    'different prompts': new Set(prompts).size,
    'different job ids': new Set(results.map(({ outputs }) => outputs['job-id'])).size,
    'steps that succeeded': results.filter(
      ({ outputs, exitCode }) => exitCode === 0 && outputs.outcome === 'pr-opened',
    ).length,
  }
  for (const [what, count] of Object.entries(counts)) {
    if (count !== STEPS) throw new Error(`Scale: expected ${STEPS} ${what}, got ${count}`)
  }
  const retries = createRetries(requests)
  const early = retries.filter(({ pause }) => pause < RETRY_AFTER_S)
  if (retries.length !== REJECTED_CREATES || early.length > 0) {
    throw new Error(
      `Scale: expected ${REJECTED_CREATES} retries, none before ${RETRY_AFTER_S} s; got ${retries.length}, ${early.length} of them early`,
    )
  }
  const pauses = retries.map(({ pause }) => pause)
  const inTenth = (/** @type {number[]} */ times) => busiestCount(times, 0.1)
  return {
    scale: [
      `All ${STEPS} steps succeeded in ${seconds.toFixed(0)} s, with ${STEPS} jobs: none was lost or duplicated.`,
      `The emulator rejected ${REJECTED_CREATES} create requests with 429 and \`Retry-After: ${RETRY_AFTER_S}\`, and ${REJECTED_POLLS} polls with a plain 429.`,
      `The create requests were retried after ${Math.min(...pauses).toFixed(2)} s to ${Math.max(...pauses).toFixed(2)} s.`,
      `In any tenth of a second there were at most ${inTenth(retries.map(({ at, pause }) => at - pause))} of these rejections, and at most ${inTenth(retries.map(({ at }) => at))} retries.`,
    ].join('\n'),
  }
}

/**
 * The retries of create requests: when they came, and how long after the previous try, in seconds.
 * @param {LoggedRequest[]} requests
 */
function createRetries(requests) {
  /** @type {Map<string, number>} */
  const previous = new Map()
  const retries = []
  for (const { method, body, at } of requests.toSorted((a, b) => a.at - b.at)) {
    if (method !== 'POST') continue
    const last = previous.get(body)
    if (last !== undefined) retries.push({ at: at / 1000, pause: (at - last) / 1000 })
    previous.set(body, at)
  }
  return retries
}

/**
 * @param {number[]} times
 * @param {number} width
 * @returns {number} the largest number of them within this width
 */
function busiestCount(times, width) {
  return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + width).length))
}
