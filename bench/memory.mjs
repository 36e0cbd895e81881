/** Peak memory of a job, also with the longest prompt and the largest responses. */

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { inputEnvironment } from '../emulator/runner.mjs'
import { table } from './markdown.mjs'
import { peakMemory } from './measure.mjs'
import { NAMES } from './setup.mjs'

/** @import { Bench } from './setup.mjs' */

const RUNS = 3
const MEBIBYTE = 1024 * 1024

/**
 * @param {Bench} bench
 * @returns {Promise<{ memory: string }>}
 */
export async function measureMemory({ folder, service, github, commands }) {
  const { baseline, job, pullRequest } = commands
  const file = path.join(job.env.GITHUB_WORKSPACE ?? '', 'prompt.md')
  writeFileSync(file, 'Make it shorter.'.repeat(MEBIBYTE / 16))
  const longPrompt = { ...job, env: { ...job.env, ...inputEnvironment({ prompt: '', 'prompt-file': file }) } }
  const cases = [
    { name: NAMES.baseline, command: baseline, responseSize: 0 },
    { name: NAMES.job, command: job, responseSize: 0 },
    { name: 'with a prompt of 1 MiB', command: longPrompt, responseSize: 0 },
    { name: 'with responses of 1 MiB', command: job, responseSize: MEBIBYTE },
    { name: 'with both', command: longPrompt, responseSize: MEBIBYTE },
    { name: NAMES.pullRequest, command: pullRequest, responseSize: 0 },
  ]
  const rows = []
  for (const { name, command, responseSize } of cases) {
    service.setResponseSize(responseSize)
    const peaks = []
    for (let run = 0; run < RUNS; run++) {
      github.deleteComments()
      peaks.push(await peakMemory(command, folder))
    }
    rows.push([name, Math.max(...peaks).toFixed(0)])
  }
  return { memory: table(['MB', `peak of ${RUNS} runs`], rows) }
}
