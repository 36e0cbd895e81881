/** What later steps and a reader of the log are told: outputs, log lines, the one annotation. Pure. */

import { type FailOn, failsStep, pullRequestOf } from '../agent/job.js'
import { oneLine, quote, type Redact } from '../escape.js'
import { duration, grouped } from '../format.js'
import type { Inputs } from '../inputs/inputs.js'
import type { End } from '../run/ports.js'
import type { Progress } from '../run/progress.js'

/** The output `job` is left out when it is larger, in bytes. */
export const JOB_LIMIT = 256 * 1024

/** Every output. */
export const OUTPUTS = [
  'job-id',
  'status',
  'pr-link',
  'pr-number',
  'pr-repository',
  'outcome',
  'error-code',
  'reused',
  'elapsed-seconds',
  'job',
] as const
export type Output = (typeof OUTPUTS)[number]

/** The outputs as far as they are known; those that tell of the end are set with it. */
export function outputs(
  progress: Progress,
  end: End | undefined,
  redact: Redact,
): Partial<Record<Output, string>> {
  const link = progress.job?.link ?? ''
  const { number, repository } = pullRequestOf(link)
  return {
    'job-id': redact(progress.jobId),
    status: progress.status ?? '',
    'pr-link': link,
    'pr-number': number,
    'pr-repository': repository,
    reused: String(progress.reused && !(progress.job === undefined && end?.error?.code === 'not-found')),
    ...(end && {
      outcome: end.outcome,
      'error-code': end.error?.code ?? '',
      'elapsed-seconds': String(Math.floor(progress.elapsedMs() / 1000)),
    }),
    job: jobJson(progress.job?.received, redact),
  }
}

/** The job as JSON, the key replaced; empty where it is too large, or nested too deep to be written. */
function jobJson(received: unknown, redact: Redact): string {
  if (received === undefined) return ''
  try {
    const whole = JSON.stringify(received)
    if (whole.length > JOB_LIMIT) return '' // Before a long text is copied again and again.
    const json = redact(whole)
    JSON.parse(json)
    return Buffer.byteLength(json) <= JOB_LIMIT ? json : ''
  } catch {
    return ''
  }
}

/** The line at the start: what is sent, where, how long the prompt is. */
export function startLine({ task, projectId, baseUrl, dryRun }: Inputs): string {
  const place = `in project ${quote(projectId)} at ${oneLine(baseUrl)}`
  const dry = dryRun ? 'Dry run of: ' : ''
  switch (task.kind) {
    case 'create':
      return `${dry}Creating a job ${place}, with a prompt of ${size(task.prompt)}.`
    case 'message':
      return `${dry}Sending a message of ${size(task.prompt)} to job ${quote(task.jobId)} ${place}.`
    case 'attach':
      return `${dry}Looking at job ${quote(task.jobId)} ${place}; nothing is sent to it.`
  }
}

function size(text: string): string {
  return `${grouped(text.length)} characters (${grouped(Buffer.byteLength(text))} bytes)`
}

/** The line at each change of state. */
export function stateLine(progress: Progress): string {
  const { jobId, status, job } = progress
  const link = job?.link ? `, pull request ${job.link}` : ''
  return `Job ${quote(jobId)} is ${status ?? 'there'} after ${duration(progress.elapsedMs())}${link}.`
}

/** The line once a minute. */
export function heartbeatLine(progress: Progress): string {
  const elapsed = duration(progress.elapsedMs())
  const { jobId, status, job, taken, sending } = progress
  if (!taken) return `${sending ? 'Waiting for an answer' : 'Still trying'} after ${elapsed}.`
  if (job === undefined) return `No state of job ${quote(jobId)} yet after ${elapsed}.`
  return `Job ${quote(jobId)} is still ${status ?? 'there'} after ${elapsed}.`
}

/** The line at the end. */
export function endLine(progress: Progress, { outcome, error }: End): string {
  const code = error === undefined ? '' : ` (${error.code})`
  return `Ended after ${duration(progress.elapsedMs())}: ${outcome}${code}.`
}

/** The one annotation of a run, or what is said in the log alone; beside a notice, `log` is said there. */
export interface Annotation {
  readonly level: 'error' | 'notice' | 'log'
  readonly text: string
  readonly log?: string
}

export function annotation(progress: Progress, end: End, failOn: ReadonlySet<FailOn>): Annotation {
  const isInput = end.error?.code === 'input' // Its lines say what to do, one by one.
  const text = isInput
    ? told(progress, end)
    : `${told(progress, end)} ${nextStep(progress, end, quote)}`.trim()
  if (failsStep(end.outcome, failOn)) return { level: 'error', text }
  const link = progress.job?.link ?? ''
  if (link === '') return { level: 'log', text }
  const notice = { level: 'notice', text: `Pull request: ${link}` } as const
  return end.outcome === 'pr-opened' ? notice : { ...notice, log: text }
}

/** What happened, in a sentence. */
function told(progress: Progress, { outcome, error, reason }: End): string {
  const link = progress.job?.link ? ` Its pull request: ${progress.job.link}.` : ''
  const job = `Job ${quote(progress.jobId)}`
  switch (outcome) {
    case 'error':
      return error?.message ?? ''
    case 'cancelled':
      return `The step was cancelled. ${error?.message ?? ''}`.trim()
    case 'timed-out':
      return `${job} has not ended after ${duration(progress.elapsedMs())}.${link}`
    case 'failed':
      return `${job} failed.${link}`
    case 'archived':
      return `${job} was archived.${link}`
    case 'no-changes':
      return `${job} completed without a pull request: the agent changed no files.`
    case 'pr-opened':
      return `${job} completed.${link}`
    case 'started':
      return `${job} goes on; this step did not wait for its end.`
    case 'dry-run':
      return 'Nothing was sent.'
    case 'skipped':
      return reason === undefined ? 'Nothing was sent.' : `Nothing was sent: ${reason}.`
  }
}

/**
 * What to do now.
 *
 * @param show makes text from outside fit for where this is read
 */
export function nextStep(
  progress: Progress,
  { outcome, error }: End,
  show: (text: string) => string,
): string {
  const goOn = `A step with ${show(`job-id: ${progress.jobId}`)} and no prompt picks it up.`
  switch (outcome) {
    case 'error':
      return !progress.taken || error?.code === 'not-found'
        ? (error?.advice ?? '')
        : `${error?.advice} The job may go on. ${goOn}`
    case 'cancelled':
      if (error !== undefined) return error.advice
      return !progress.taken
        ? 'The service took nothing.'
        : `Job ${show(progress.jobId)} goes on at the service. ${goOn}`
    case 'timed-out':
      return `It goes on at the service. ${goOn} To wait longer next time, raise timeout-minutes.`
    case 'started':
      return goOn
    case 'failed':
      return (
        "The service's dashboard says why. Run it again for a new job, or send this one a message: " +
        `a step with ${show(`job-id: ${progress.jobId}`)} and a prompt.`
      )
    case 'archived':
      return 'Nothing more comes of it. Run it again for a new job.'
    case 'no-changes':
      return 'If you expected changes, name the pages and the change in the prompt, and run it again.'
    case 'pr-opened':
      return 'Review the pull request, then merge it.'
    case 'dry-run':
      return 'Take out dry-run to send it.'
    case 'skipped':
      return 'There is nothing to do.'
  }
}
