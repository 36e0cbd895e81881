/**
 * The same job as a short Node script: one create request, then polling, with the global fetch and
 * no packages.
 */

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const { BASE_URL, PROJECT_ID, API_KEY, PROMPT, INTERVAL, GITHUB_OUTPUT = '' } = process.env
const jobs = `${BASE_URL}/v2/agent/${PROJECT_ID}/job`

/**
 * @param {string} url
 * @param {RequestInit} [init]
 * @returns {Promise<any>}
 */
async function requestJson(url, init = {}) {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(url, { ...init, headers })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return response.json()
}

let job = await requestJson(jobs, { method: 'POST', body: JSON.stringify({ prompt: PROMPT }) })
while (job.status === 'active') {
  await sleep(Number(INTERVAL) * 1000)
  job = await requestJson(`${jobs}/${job.id}`)
}
appendFileSync(
  GITHUB_OUTPUT,
  `job-id=${job.id}\nstatus=${job.status}\npr-link=${job.prLink ?? ''}\n`,
)
process.exitCode = job.status === 'completed' ? 0 : 1
