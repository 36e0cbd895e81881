/** Whether a connection survives polls that are a minute apart. It takes three minutes, nearly all of them idle. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inputEnvironment } from '../emulator/runner.mjs'
import { ACTION } from './bundles.mjs'
import { time } from './measure.mjs'
import { startService } from './server.mjs'
import { jobEnvironment } from './setup.mjs'

const INTERVAL_S = 60

/** @returns {Promise<{ idle: string }>} */
export async function measureIdle() {
  const folder = mkdtempSync(path.join(tmpdir(), 'idle-'))
  const service = await startService(folder)
  try {
    const env = {
      ...(await jobEnvironment(folder, service)),
      ...inputEnvironment({ 'poll-interval-seconds': String(INTERVAL_S) }),
    }
    await time({ argv: [process.execPath, path.join(ACTION, 'index.js')], env, exitCode: 0 })
    const { requests, connections } = service.takeCounts()
    return { idle: `A job polled every ${INTERVAL_S} s made ${requests} requests. Connections used: ${connections}.` }
  } finally {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
