/** What each outcome says to a reader: a title, what happened, and what to do next. Pure. */

import { isFinal } from '../agent/job.js'
import { formatDuration, joinSentences } from '../format.js'
import type { RunResult } from '../run/ports.js'
import type { Progress } from '../run/progress.js'

export interface Texts {
  readonly title: string
  readonly happened: string
  readonly next: string
}

/**
 * What is known of the job now: it is only said to be running if the last request said so.
 *
 * @returns the end of a sentence that begins with the job
 */
export function describeNow(
  { job, status, missedReason, sinceSeenMs }: Progress,
  show: (text: string) => string,
): string {
  if (job === undefined) {
    return missedReason === '' ? 'has an unknown status' : `has an unknown status: ${missedReason}`
  }
  if (missedReason !== '') {
    const was = `was ${status ?? show(job.rawStatus)} when last seen, ${formatDuration(sinceSeenMs)} ago`
    return `${was}; since then: ${missedReason}`
  }
  if (job.status === undefined) return `has a status that is not documented, ${show(job.rawStatus)}`
  return isFinal(job.status) ? `has ended: ${job.status}` : 'is still running'
}

/** Whether the last request said that the job is running. */
export function isRunning({ job, missedReason }: Progress): boolean {
  return job?.status === 'active' && missedReason === ''
}

/** @param show escapes text from outside for the place where this is read */
export function describeOutcome(
  progress: Progress,
  result: RunResult,
  show: (text: string) => string,
): Texts {
  const { job, jobId, reuse, accepted, status } = progress
  const elapsed = formatDuration(progress.elapsedMs())
  const name = `Job ${show(jobId)}`
  // After a message, a final status may be the earlier one.
  const now = `${name} ${isFinal(status) && reuse === 'message' ? 'accepted the message' : describeNow(progress, show)}.`
  const withPrompt = `run a step with ${show(`job-id: ${jobId}`)} and a prompt`
  const howToWait = `To wait for it, run a step with ${show(`job-id: ${jobId}`)} and no prompt.`
  // The step that continues a job may do so each time.
  const startNew =
    reuse === undefined
      ? 'To start a new job, start a new run'
      : 'To start a new job, run a step with a prompt and no job-id'
  // After a message, the last status may predate it.
  const hasEnded = isFinal(status) && reuse !== 'message'
  const keepsRunning = `The job ${isRunning(progress) ? 'keeps' : 'may still be'} running on the service. ${howToWait}`
  // What there is to review comes first: the step may fail all the same.
  const ended = joinSentences(job?.link ? `Pull request: ${job.link}.` : '', name)
  switch (result.outcome) {
    case 'pr-opened':
      return {
        title: '✅ The docs job opened a pull request',
        happened: `Pull request: ${job?.link}`,
        next: 'Review the pull request, then merge it.',
      }
    case 'no-changes':
      if (job?.linkRejected) {
        return {
          title: '✅ The docs job completed with an unusable pull request link',
          happened: `${name} completed, but its pull request link was dropped, because it can't be passed on safely.`,
          next: "See the service's dashboard for the pull request.",
        }
      }
      return {
        title: '✅ The docs job completed without a pull request',
        happened: `${name} completed without a pull request.`,
        next: joinSentences(
          reuse === 'attach'
            ? `If you expected changes, send the job a message that says which pages to change and how: ${withPrompt}.`
            : 'If you expected changes, say in the prompt which pages to change and how.',
          "The service's dashboard shows what the agent did.",
        ),
      }
    case 'failed':
      return {
        title: '❌ The docs job failed',
        happened: `${ended} failed.`,
        next: `See the service's dashboard for the reason. ${startNew}, or send this one a message: ${withPrompt}.`,
      }
    case 'archived':
      return {
        title: '🗄️ The docs job was archived',
        happened: `${ended} was archived.`,
        next: joinSentences(
          job?.link ? 'Review the pull request.' : '',
          `An archived job won't produce anything more. ${startNew}.`,
        ),
      }
    case 'timed-out':
      return {
        title: '⌛ The docs job did not finish in time',
        happened: joinSentences(
          `The step waited for ${elapsed}.`,
          now,
          job?.link ? `Its pull request: ${job.link}.` : '',
        ),
        next: `${keepsRunning} To wait longer next time, raise timeout-minutes.`,
      }
    case 'started':
      return {
        title: {
          create: '🚀 The docs job was started',
          message: '🚀 The docs job accepted the message',
          attach: '⏳ The docs job has not finished yet',
        }[reuse ?? 'create'],
        happened: joinSentences(
          reuse === 'message' ? `${name} accepted the message.` : now,
          'This step did not wait for it to finish.',
        ),
        next: howToWait,
      }
    case 'cancelled': {
      const { error } = result
      const mayRun = jobId !== '' && !hasEnded
      return {
        title: '🛑 The step was cancelled',
        happened: joinSentences('The step was cancelled.', error?.message ?? (accepted ? now : '')),
        next:
          error?.advice ??
          joinSentences(
            accepted ? '' : "The service hadn't accepted a request from this step.",
            hasEnded ? `${name} has ended: ${status}.` : '',
            mayRun ? keepsRunning : '',
          ),
      }
    }
    case 'skipped':
      return {
        title: '⏭️ Skipped: nothing was sent',
        happened: `Nothing was sent: ${result.reason}.`,
        next: result.advice ?? "You don't need to do anything.",
      }
    case 'dry-run':
      return {
        title: '📝 Dry run: nothing was sent',
        happened: 'Nothing was sent.',
        next: 'To send the prompt, remove dry-run or set it to false.',
      }
    case 'error': {
      const { message, advice, code } = result.error
      // A job that the service has never shown to this step may not exist.
      const isMissing = code === 'not-found' && job === undefined && reuse !== 'message'
      const isUnsent =
        code === 'github' && !progress.posted && !accepted && !/nothing was sent/i.test(message)
      return {
        title: '❌ The docs job could not be started or tracked',
        happened: joinSentences(message, isUnsent ? 'Nothing was sent.' : ''),
        next: joinSentences(advice, accepted && !isMissing && !hasEnded ? keepsRunning : ''),
      }
    }
  }
}
