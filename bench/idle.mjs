/** Whether a connection survives a poll interval of a minute. */

import { inputEnvironment } from '../emulator/runner.mjs'
import { time } from './measure.mjs'

/** @import { Bench } from './setup.mjs' */

const INTERVAL_S = 60

/**
 * @param {Bench} bench
 * @returns {Promise<{ idle: string }>}
 */
export async function measureIdle({ service, commands }) {
  const { job } = commands
  service.setPolls(1)
  service.takeCounts()
  await time({
    ...job,
    env: { ...job.env, ...inputEnvironment({ 'poll-interval-seconds': String(INTERVAL_S) }) },
  })
  const { requests, connections } = service.takeCounts()
  return {
    idle: `A job that was polled after ${INTERVAL_S} s made ${requests} requests. Connections used: ${connections}.`,
  }
}
