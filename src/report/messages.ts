/** Outputs, log lines and the annotation. Pure. */

import { type FailOn, failsStep, isFinal, parsePullRequest } from '../agent/job.js'
import { oneLine, quote, type Redact } from '../escape.js'
import { formatDuration, formatInteger, joinSentences } from '../format.js'
import type { Inputs, Task } from '../inputs/inputs.js'
import { errorOf, type RunResult } from '../run/ports.js'
import type { Progress } from '../run/progress.js'

/** The output `job` is left out if it is larger, in bytes. */
export const JOB_LIMIT = 256 * 1024

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

/** The outputs as far as they are known; some are only known with the result. */
export function outputs(
  progress: Progress,
  result: RunResult | undefined,
  redact: Redact,
): Partial<Record<Output, string>> {
  const link = progress.job?.link ?? ''
  const { number, repository } = parsePullRequest(link)
  // A job that never existed was not waited for.
  const isMissing = progress.job === undefined && errorOf(result)?.code === 'not-found'
  const reused = progress.reuse === 'message' || (progress.reuse === 'attach' && !isMissing)
  return {
    'job-id': redact(progress.jobId, true),
    status: progress.status ?? '',
    'pr-link': link,
    'pr-number': number,
    'pr-repository': repository,
    reused: String(reused),
    ...(result && {
      outcome: result.outcome,
      'error-code': errorOf(result)?.code ?? '',
      'elapsed-seconds': String(Math.floor(progress.elapsedMs() / 1000)),
    }),
    job: progress.job === undefined ? '' : toJson(progress.job.received, redact),
  }
}

/** The job as JSON, redacted; empty if it is too large, or nested too deeply to be written. */
function toJson(received: unknown, redact: Redact): string {
  try {
    const whole = JSON.stringify(received)
    if (whole.length > JOB_LIMIT) return '' // Before a long text is copied several times.
    const json = redact(whole)
    JSON.parse(json)
    return Buffer.byteLength(json) <= JOB_LIMIT ? json : ''
  } catch {
    return ''
  }
}

/** The first line: what is sent, where, and how long the prompt is. */
export function startLine(
  task: Task,
  { projectId, baseUrl, wait, dryRun }: Pick<Inputs, 'projectId' | 'baseUrl' | 'wait' | 'dryRun'>,
): string {
  const where = `in project ${quote(projectId)} at ${oneLine(baseUrl)}`
  switch (task.kind) {
    case 'create': {
      const what = dryRun ? 'Dry run: would create a job' : 'Creating a job'
      return `${what} ${where}, with a prompt of ${describeSize(task.prompt)}.`
    }
    case 'message': {
      const what = dryRun ? 'Dry run: would send a message' : 'Sending a message'
      return `${what} of ${describeSize(task.prompt)} to job ${quote(task.jobId)} ${where}.`
    }
    case 'attach': {
      const action = wait ? ['wait for', 'Waiting for'] : ['check', 'Checking']
      const what = dryRun ? `Dry run: would ${action[0]}` : action[1]
      return `${what} job ${quote(task.jobId)} ${where}; nothing is sent to it.`
    }
  }
}

function describeSize(text: string): string {
  return `${formatInteger(text.length)} characters (${formatInteger(Buffer.byteLength(text))} bytes)`
}

/** The line at each change of status. */
export function statusLine(progress: Progress): string {
  const { jobId, status, job } = progress
  const link = job?.link ? `, pull request ${job.link}` : ''
  return `Job ${quote(jobId)}: ${status ?? 'accepted'} after ${formatDuration(progress.elapsedMs())}${link}.`
}

/** The line once a minute. */
export function heartbeatLine(progress: Progress): string {
  const elapsed = formatDuration(progress.elapsedMs())
  const { jobId, status, job, accepted, sending } = progress
  if (!accepted)
    return sending
      ? `Still waiting for a response after ${elapsed}.`
      : `Nothing has been accepted yet after ${elapsed}.`
  if (job === undefined) return `No status for job ${quote(jobId)} yet after ${elapsed}.`
  return `Job ${quote(jobId)} is still ${status ?? 'running'} after ${elapsed}.`
}

/** The last line. */
export function endLine(progress: Progress, result: RunResult): string {
  const error = errorOf(result)
  const code = error === undefined ? '' : ` (${error.code})`
  return `Finished after ${formatDuration(progress.elapsedMs())}: ${result.outcome}${code}.`
}

/** The one annotation of a run, or a line in the log alone. `log` is a line beside a notice. */
export interface Annotation {
  readonly level: 'error' | 'warn' | 'notice' | 'log'
  readonly text: string
  readonly log?: string
}

export function annotation(progress: Progress, result: RunResult, failOn: ReadonlySet<FailOn>): Annotation {
  const link = progress.job?.link ?? ''
  const notice = { level: 'notice', text: `Pull request: ${link}` } as const
  if (result.outcome === 'pr-opened') return notice
  const isInputError = errorOf(result)?.code === 'input' // Each of its lines says what to do.
  const sentence = outcomeSentence(progress, result)
  const text = isInputError ? sentence : `${sentence} ${nextStep(progress, result, quote)}`
  if (failsStep(result.outcome, failOn)) return { level: 'error', text }
  if (result.outcome === 'no-changes' && progress.job?.linkRejected) return { level: 'warn', text }
  return link === '' ? { level: 'log', text } : { ...notice, log: text }
}

/** What happened. */
function outcomeSentence(
  progress: Progress,
  result: Exclude<RunResult, { readonly outcome: 'pr-opened' }>,
): string {
  const { link = '' } = progress.job ?? {}
  const pull = link === '' ? '' : ` Its pull request: ${link}.`
  const job = `Job ${quote(progress.jobId)}`
  // What there is to review comes first: the step may fail all the same.
  const ended = link === '' ? job : `Pull request: ${link}. ${job}`
  switch (result.outcome) {
    case 'error':
      return result.error.message
    case 'cancelled':
      return `The step was cancelled.${result.error === undefined ? '' : ` ${result.error.message}`}`
    case 'timed-out':
      return progress.job === undefined
        ? `Nothing is known about the status of job ${quote(progress.jobId)} after ${formatDuration(progress.elapsedMs())}.`
        : `${job} is still running after ${formatDuration(progress.elapsedMs())}.${pull}`
    case 'failed':
      return `${ended} failed.`
    case 'archived':
      return `${ended} was archived.`
    case 'no-changes':
      return progress.job?.linkRejected
        ? `${job} completed, but its pull request link was dropped, because it can't be passed on safely.`
        : `${job} completed without a pull request.`
    case 'started':
      return `${job} ${progress.reuse === 'message' ? 'accepted the message' : 'is still running'}; this step did not wait for it to finish.`
    case 'dry-run':
      return 'Nothing was sent.'
    case 'skipped':
      return `Nothing was sent: ${result.reason}.`
  }
}

/**
 * What to do now.
 *
 * @param show escapes text from outside for the place where this is read
 */
export function nextStep(progress: Progress, result: RunResult, show: (text: string) => string): string {
  const withPrompt = `run a step with ${show(`job-id: ${progress.jobId}`)} and a prompt`
  // The step that continues a job may do so each time.
  const startNew =
    progress.reuse === undefined
      ? 'Run it again to start a new job'
      : 'To start a new job, run a step with a prompt and no job-id'
  const howToWait = `To wait for it, run a step with ${show(`job-id: ${progress.jobId}`)} and no prompt.`
  const isSeen = progress.job !== undefined
  // After a message, the last status may predate it.
  const hasEnded = isFinal(progress.status) && progress.reuse !== 'message'
  switch (result.outcome) {
    case 'error': {
      const { advice, code } = result.error
      return !progress.accepted || code === 'not-found' || hasEnded
        ? advice
        : `${advice} The job may still be running. ${howToWait}`
    }
    case 'cancelled':
      if (result.error !== undefined) return result.error.advice
      if (hasEnded) return `Job ${show(progress.jobId)} has ended: ${progress.status}.`
      return joinSentences(
        progress.accepted ? '' : 'The service had not accepted anything from this step.',
        progress.jobId === ''
          ? ''
          : `Job ${show(progress.jobId)} ${isSeen ? 'is still' : 'may still be'} running on the service. ${howToWait}`,
      )
    case 'timed-out':
      return `It ${isSeen ? 'keeps' : 'may still be'} running on the service. ${howToWait} To wait longer next time, raise timeout-minutes.`
    case 'started':
      return howToWait
    case 'failed':
      return `See the service's dashboard for the reason. ${startNew}, or send this one a message: ${withPrompt}.`
    case 'archived':
      return joinSentences(
        progress.job?.link ? 'Review the pull request.' : '',
        `An archived job won't produce anything more. ${startNew}.`,
      )
    case 'no-changes':
      if (progress.job?.linkRejected) return "See the service's dashboard for the pull request."
      return joinSentences(
        progress.reuse === 'attach'
          ? `If you expected changes, send the job a message that says which pages to change and how: ${withPrompt}.`
          : 'If you expected changes, say in the prompt which pages to change and how, then run it again.',
        "The service's dashboard shows what the agent did.",
      )
    case 'pr-opened':
      return 'Review the pull request, then merge it.'
    case 'dry-run':
      return 'Remove dry-run to send it.'
    case 'skipped':
      return 'There is nothing to do.'
  }
}
