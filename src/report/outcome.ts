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

/** @param show escapes text from outside for the place where this is read */
export function describeOutcome(
  progress: Progress,
  result: RunResult,
  show: (text: string) => string,
): Texts {
  const { job, jobId, reuse, accepted, status } = progress
  const elapsed = formatDuration(progress.elapsedMs())
  const name = `ob ${show(jobId)}` // With or without a capital in front.
  const withPrompt = `run a step with ${show(`job-id: ${jobId}`)} and a prompt`
  const howToWait = `To wait for it, run a step with ${show(`job-id: ${jobId}`)} and no prompt.`
  // The step that continues a job may do so each time.
  const startNew =
    reuse === undefined
      ? 'Run it again to start a new job'
      : 'To start a new job, run a step with a prompt and no job-id'
  // After a message, the last status may predate it.
  const hasEnded = isFinal(status) && reuse !== 'message'
  // What there is to review comes first: the step may fail all the same.
  const ended = job?.link ? `Pull request: ${job.link}. J${name}` : `J${name}`
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
          happened: `J${name} completed, but its pull request link was dropped, because it can't be passed on safely.`,
          next: "See the service's dashboard for the pull request.",
        }
      }
      return {
        title: '✅ The docs job completed without a pull request',
        happened: `J${name} completed without a pull request.`,
        next: joinSentences(
          reuse === 'attach'
            ? `If you expected changes, send the job a message that says which pages to change and how: ${withPrompt}.`
            : 'If you expected changes, say in the prompt which pages to change and how, then run it again.',
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
        happened: job
          ? `J${name} is still running after ${elapsed}.${job.link && ` Its pull request: ${job.link}.`}`
          : `Nothing is known about the status of j${name} after ${elapsed}.`,
        next: `It ${job ? 'keeps' : 'may still be'} running on the service. ${howToWait} To wait longer next time, raise timeout-minutes.`,
      }
    case 'started':
      return {
        title: {
          create: '🚀 The docs job was started',
          message: '🚀 The docs job accepted the message',
          attach: '⏳ The docs job is still running',
        }[reuse ?? 'create'],
        happened: `J${name} ${reuse === 'message' ? 'accepted the message' : 'is still running'}; this step did not wait for it to finish.`,
        next: howToWait,
      }
    case 'cancelled': {
      const { error } = result
      const running = `J${name} ${job ? 'is still' : 'may still be'} running on the service. ${howToWait}`
      const next = hasEnded
        ? `J${name} has ended: ${status}.`
        : joinSentences(
            accepted ? '' : 'The service had not accepted anything from this step.',
            jobId && running,
          )
      return {
        title: '🛑 The step was cancelled',
        happened: joinSentences('The step was cancelled.', error?.message ?? ''),
        next: error?.advice ?? next,
      }
    }
    case 'skipped':
      return {
        title: '⏭️ Skipped: nothing was sent',
        happened: `Nothing was sent: ${result.reason}.`,
        next: 'There is nothing to do.',
      }
    case 'dry-run':
      return {
        title: '📝 Dry run: nothing was sent',
        happened: 'Nothing was sent.',
        next: 'Remove dry-run to send it.',
      }
    case 'error': {
      const { message, advice, code } = result.error
      const mayRun = accepted && code !== 'not-found' && !hasEnded
      return {
        title: '❌ The docs job could not be started or tracked',
        happened: message,
        next: mayRun ? `${advice} The job may still be running. ${howToWait}` : advice,
      }
    }
  }
}
