/** The shortest script in Node: a create and its polls with the global fetch, no package at all. */

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const { BASE_URL, PROJECT_ID, API_KEY, PROMPT, INTERVAL, GITHUB_OUTPUT = '' } = process.env
const jobs = `${BASE_URL}/v2/agent/${PROJECT_ID}/job`

/**
 * @param {string} url
 * @param {RequestInit} [init]
 * @returns {Promise<any>}
 */
async function ask(url, init = {}) {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(url, { ...init, headers })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return response.json()
}

let job = await ask(jobs, { method: 'POST', body: JSON.stringify({ prompt: PROMPT }) })
while (job.status === 'active') {
  await sleep(Number(INTERVAL) * 1000)
  job = await ask(`${jobs}/${job.id}`)
}
appendFileSync(GITHUB_OUTPUT, `job-id=${job.id}\nstatus=${job.status}\npr-link=${job.prLink ?? ''}\n`)
process.exitCode = job.status === 'completed' ? 0 : 1
