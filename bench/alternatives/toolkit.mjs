/**
 * The same job as an action built on @actions/core, @actions/http-client and @actions/github, with
 * a comment on the pull request. The bench bundles it with ncc.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import * as core from '@actions/core'
import { context, getOctokit } from '@actions/github'
import { HttpClient } from '@actions/http-client'

/** @typedef {{ id: string, status: string, prLink: string | null }} Job */

try {
  const key = core.getInput('api-key', { required: true })
  core.setSecret(key)
  const jobs = `${core.getInput('base-url')}/v2/agent/${core.getInput('project-id', { required: true })}/job`
  const client = new HttpClient('toolkit-action', [], {
    headers: { authorization: `Bearer ${key}` },
  })
  const prompt = core.getInput('prompt', { required: true })
  const created = await client.postJson(jobs, { prompt })
  let job = /** @type {Job} */ (created.result)
  core.setOutput('job-id', job.id)
  while (job.status === 'active') {
    await sleep(Number(core.getInput('poll-interval-seconds')) * 1000)
    const polled = await client.getJson(`${jobs}/${job.id}`)
    job = /** @type {Job} */ (polled.result)
    core.info(`The job is ${job.status}.`)
  }
  core.setOutput('status', job.status)
  core.setOutput('pr-link', job.prLink ?? '')
  await getOctokit(core.getInput('github-token', { required: true })).rest.issues.createComment({
    ...context.repo,
    issue_number: context.issue.number,
    body: `The job is ${job.status}: ${job.prLink}`,
  })
  if (job.status !== 'completed') core.setFailed(`The job is ${job.status}.`)
} catch (error) {
  core.setFailed(error instanceof Error ? error.message : String(error))
}
