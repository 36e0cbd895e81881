/** What each outcome says to a reader: a title, what happened, and what to do next. Pure. */

import { type FinalStatus, isFinal, outcomeOf } from '../agent/job.js'
import type { Inputs } from '../inputs/inputs.js'
import { acceptedIn, hasJob, type StepFacts, sentIn, statusIn, wasPosted } from '../run/facts.js'
import type { RunResult } from '../run/result.js'
import type { ErrorCode } from '../text/errors.js'
import { formatDuration, joinSentences } from '../text/format.js'

export type Texts = Readonly<{
  title: string
  /** The title as a sentence, for the log, which has no titles. */
  sentence?: string
  /** What else happened, without the pull request, which each place shows in its own way. */
  happened?: string
  /** What is added to an error if nothing was sent. */
  unsent?: string
  next: string
}>

/**
 * What is known of the job now: it is only said to be running if the last request said so.
 *
 * @returns the end of a sentence that begins with the job
 */
export function describeNow(facts: StepFacts, show: (text: string) => string): string {
  const { seen, missedReason } = facts
  if (seen === undefined) return `has an unknown status${missedReason && `: ${missedReason}`}`
  // This may be the end from before the message.
  const { job, at } = seen
  if (isFinal(job.status) && acceptedIn(facts) === 'message') return 'accepted the message'
  const status = job.status ?? show(job.rawStatus)
  if (missedReason !== '') {
    return `was ${status} when last seen, ${formatDuration(facts.now - at)} ago; since then: ${missedReason}`
  }
  if (job.status === undefined) return `has an undocumented status: ${status}`
  return isFinal(job.status) ? `has ended: ${status}` : 'is still running'
}

/** In these words everywhere: people count them in logs. */
export function describeSent(facts: StepFacts): string {
  return { job: 'a new docs job', message: 'a message', nothing: 'nothing' }[sentIn(facts)]
}

export type ToldRun = Readonly<{
  facts: StepFacts
  inputs: Pick<Inputs, 'task' | 'wait'>
  /** Whether a re-run would find the job, and send nothing. */
  memory: 'none' | 'pending' | 'stored'
}>

/** As the end of a sentence: by a re-run, if that waits and sends nothing. */
export function howToWait(
  { facts, inputs, memory }: ToldRun,
  show: (text: string) => string,
): string {
  const onlyWaits = facts.request.is === 'waiting'
  return inputs.wait && (onlyWaits || (sentIn(facts) !== 'nothing' && memory === 'stored'))
    ? 're-run the workflow job: this step then sends nothing.'
    : `run a step with ${show(`job-id: ${facts.jobId}`)} and no prompt.`
}

/** @param show escapes text from outside for the place where this is read */
export function describeOutcome(
  run: ToldRun,
  result: RunResult,
  show: (text: string) => string,
): Texts {
  const { facts, inputs, memory } = run
  const { jobId } = facts
  const job = facts.seen?.job
  const accepted = acceptedIn(facts)
  const status = statusIn(facts)
  const isFollowed = hasJob(facts)
  const name = `Docs job ${show(jobId)}`
  const hasEnded = isFinal(status) && accepted !== 'message'
  const now = `${name} ${describeNow(facts, show)}.`
  const withPrompt = `run a step with ${show(`job-id: ${jobId}`)} and a prompt`
  const toWait = joinSentences(
    `To wait for the docs job, ${howToWait(run, show)}`,
    memory === 'none' ? RERUN[accepted] : '',
  )
  const startNew = `To start a new docs job, ${inputs.task.kind === 'create' ? 're-run the workflow job' : 'run a step with a prompt and no job-id'}`
  switch (result.outcome) {
    case 'pr-opened':
      return {
        title: '✅ The docs job opened a pull request',
        next: facts.docs.endedEarly
          ? describeEndedEarly(facts.docs.endedEarly)
          : 'Review the pull request, then merge it once its code is merged.',
      }
    case 'no-changes':
      return {
        title: '✅ The docs job completed without a pull request',
        sentence: `${name} completed without a pull request.`,
        next: joinSentences(
          facts.request.is === 'waiting'
            ? `If you expected changes, send the docs job a message that says which pages to change and how: ${withPrompt}.`
            : 'If you expected changes, say in the prompt which pages to change and how.',
          'The agent may also have committed directly: see the docs repository.',
        ),
      }
    case 'failed':
      return {
        title: '❌ The docs job failed',
        sentence: `${name} failed.`,
        next: `The service's dashboard may show the reason. ${startNew}.`,
      }
    case 'archived':
      return {
        title: '🗄️ The docs job was archived',
        sentence: `${name} was archived.`,
        next: joinSentences(
          job?.link ? 'Review the pull request.' : '',
          `An archived docs job won't produce anything more. ${startNew}.`,
        ),
      }
    case 'timed-out':
      return {
        title: '⌛ The docs job did not finish in time',
        sentence: `The step waited for ${formatDuration(facts.now)}.`,
        happened: now,
        next: joinSentences(
          facts.missedAdvice,
          toWait,
          facts.missedAdvice ? '' : 'To wait longer next time, raise timeout-minutes.',
        ),
      }
    case 'started':
      return {
        title: {
          job: '🚀 The docs job was started',
          message: '🚀 The docs job accepted the message',
          nothing: '⏳ The docs job has not finished yet',
        }[accepted],
        sentence: accepted === 'message' ? `${name} accepted the message.` : '',
        happened: joinSentences(
          accepted === 'message' ? '' : now,
          'This step did not wait for the docs job to finish.',
        ),
        next: toWait,
      }
    case 'cancelled': {
      const { error } = result
      const refused = "The service hadn't accepted a request from this step."
      const unfinished = isFollowed
        ? toWait
        : jobId === ''
          ? 'To start a docs job, re-run the workflow job.'
          : `${name} may still be running. ${toWait}`
      return {
        title: '🛑 The step was cancelled',
        sentence: 'The step was cancelled.',
        happened:
          error?.message ?? (isFollowed ? now : wasPosted(facts) ? refused : 'Nothing was sent.'),
        next: error?.advice ?? (hasEnded ? adviceAfter(run, status, show) : unfinished),
      }
    }
    case 'skipped':
      return {
        title: `⏭️ ${result.title === undefined ? 'Skipped' : `Nothing sent, ${result.title}`}`,
        happened: `Nothing was sent: ${result.reason}.`,
        next: result.advice ?? "You don't need to do anything.",
      }
    case 'dry-run':
      return {
        title: '📝 Dry run',
        happened: 'Nothing was sent.',
        next: 'The log of the step says what it would do without dry-run.',
      }
    case 'error': {
      const { message, advice, code } = result.error
      // A job that the service has never shown to this step may not exist.
      const isUnseen = job === undefined && accepted !== 'message'
      const ifGone = isUnseen ? '' : `${startNew}.`
      const then = code === 'not-found' ? ifGone : toWait
      return {
        title: '❌ The docs job could not be started or tracked',
        happened: message,
        unsent: isUnsent(facts, code) ? 'Nothing was sent.' : '',
        next: joinSentences(advice, isFollowed && !hasEnded ? then : ''),
      }
    }
  }
}

/** GitHub tells nobody of what is added to a branch after that. */
export function describeEndedEarly(how: 'merged' | 'closed'): string {
  const more = how === 'merged' ? 're-run the workflow job for a new docs job' : 'reopen it'
  return `The docs pull request was ${how} before the agent was done: what it wrote last may be missing. See its branch, or ${more}.`
}

/** What a re-run does that doesn't find the job, by what the service accepted. */
const RERUN = {
  job: 'A re-run starts another docs job.',
  message: 'A re-run sends the message again.',
  nothing: '',
} as const

function adviceAfter(run: ToldRun, status: FinalStatus, show: (text: string) => string): string {
  const outcome = outcomeOf(status, run.facts.seen?.job.link ?? '')
  return describeOutcome(run, { outcome }, show).next
}

/** After a failure of the action itself, nobody knows. */
function isUnsent({ request }: StepFacts, code: ErrorCode): boolean {
  return request.is === 'none' && !request.posted && code !== 'internal'
}
