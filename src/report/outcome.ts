/** What each outcome says to a reader: a title, what happened, and what to do next. Pure. */

import {
  type FinalOutcome,
  failsStep,
  hasDroppedLink,
  isFinal,
  type Outcome,
  outcomeOf,
} from '../agent/job.js'
import type { Inputs } from '../inputs/inputs.js'
import { acceptedIn, hasJob, type StepFacts, sentIn, statusIn } from '../run/facts.js'
import { errorOf, type RunResult } from '../run/result.js'
import type { ActionError } from '../text/errors.js'
import { quote } from '../text/escape.js'
import { formatDuration, joinSentences } from '../text/format.js'

export type Texts = Readonly<{
  /** Its emoji says nothing that the words don't. [report.accessible] */
  title: string
  /** The title as a sentence, for the log, which has no titles. */
  sentence?: string
  /** What else happened, without the pull request, which each place shows in its own way. */
  happened?: string
  /** What is added to an error if nothing was sent. */
  unsent?: string | false
  /** Whoever reads it can follow it from there. [report.advice.followed] */
  next: string
}>

/**
 * How the docs job is: only said to be running if the last request said so. From the end of the
 * step on, how it was then: that is kept, and read when the docs job may have ended long ago.
 * [report.true] [report.past]
 *
 * @returns the end of a sentence that begins with the docs job
 */
export function describeJob(facts: StepFacts): string {
  const { seen, notSeen, result, now } = facts
  const [is, has, then, ago] =
    result === undefined
      ? ['is', 'has', '', 'ago']
      : ['was', 'had', ' when this step ended', 'before this step ended']
  if (seen === undefined)
    return `${has} an unknown status${then}${notSeen ? `: ${notSeen.reason}` : ''}`
  // After a message, a final status may be the one from before it.
  const { job, at } = seen
  if (isFinal(job.status) && acceptedIn(facts) === 'message') return 'accepted the message'
  const status = job.status ?? quote(job.rawStatus)
  if (notSeen) {
    return `was ${status} when last seen, ${formatDuration(now - at)} ${ago}; since then: ${notSeen.reason}`
  }
  if (job.status === undefined) return `${has} an undocumented status${then}: ${status}`
  return isFinal(job.status) ? `has ended: ${status}` : `${is} still running${then}`
}

/** In these words everywhere: people count them in logs. [output.sent] */
export function describeSent(facts: StepFacts): string {
  return { job: 'a new docs job', message: 'a message', nothing: 'nothing' }[sentIn(facts)]
}

export type ToldRun = Readonly<{
  /** While the step runs, without a result: the text must be true if it is killed now. */
  facts: StepFacts
  /** The default in place of a bad value; of a required one, nothing. */
  inputs: Inputs
  /** Whether a re-run would find the job, and send nothing. */
  memory: 'none' | 'pending' | 'stored'
}>

/** A sentence: by a re-run, if that waits and sends nothing. [report.advice.rerun] */
export function howToWait({ facts, inputs, memory }: ToldRun): string {
  const isGiven = inputs.task.kind === 'attach'
  // With another key, a re-run doesn't find it.
  const isKeyRefused = errorOf(facts.result)?.code === 'auth'
  const isStored = facts.request.kind !== 'none' && memory === 'stored' && !isKeyRefused
  const how =
    inputs.wait && (isGiven || isStored)
      ? 're-run the workflow job: this step then sends nothing.'
      : `run a step with ${quote(`job-id: ${facts.jobId}`)} and no prompt.`
  return `To wait for the docs job, ${how}`
}

/**
 * In all of these sentences, text from outside is in quotes. After a cancel, they say what goes on:
 * it is paid. [cancel.told]
 */
export function describeOutcome(run: ToldRun, result: RunResult): Texts {
  const { facts } = run
  switch (result.outcome) {
    case 'skipped':
      return {
        title: `⏭️ No docs job was started${result.title === undefined ? '' : `: ${result.title}`}`,
        happened: `Nothing was ${facts.isRefused ? 'accepted' : 'sent'}: ${result.reason}.`,
        next: result.advice ?? "You don't need to do anything.",
      }
    case 'error':
      return describeError(run, result.error)
    default:
      return TEXTS[result.outcome](facts, run)
  }
}

/** What the outcomes say that need no more of the result than their name, or its error. */
const TEXTS: Record<
  Exclude<Outcome, 'skipped' | 'error'>,
  (facts: StepFacts, run: ToldRun) => Texts
> = {
  'pr-opened': ({ codeIsOpen }) => ({
    title: '✅ The docs job opened a pull request',
    next: codeIsOpen
      ? 'Review the docs pull request. Merge it after its code is merged.'
      : 'Review the docs pull request, then merge it.',
  }),
  'no-changes': ({ seen, request, jobId }) => {
    const isDropped = seen !== undefined && hasDroppedLink(seen.job)
    const how = isDropped
      ? "completed, but its link can't be passed on safely and was dropped"
      : 'completed without a pull request'
    return {
      title: `✅ The docs job ${how}`,
      sentence: `Docs job ${quote(jobId)} ${how}.`,
      next: isDropped
        ? 'Look for its pull request in the docs repository.'
        : joinSentences(
            request.kind === 'waiting'
              ? `If you expected changes, send the docs job a message that says which pages to change and how: run a step with ${quote(`job-id: ${jobId}`)} and a prompt.`
              : 'If you expected changes, say in the prompt which pages to change and how.',
            'The agent may also have committed directly: see the docs repository.',
          ),
    }
  },
  failed: ({ jobId }, run) => ({
    title: '❌ The docs job failed',
    sentence: `Docs job ${quote(jobId)} failed.`,
    next: `The service's dashboard may show the reason. ${howToStartNew(run)}`,
  }),
  archived: ({ jobId, seen }, run) => ({
    title: '🗄️ The docs job was archived',
    sentence: `Docs job ${quote(jobId)} was archived.`,
    next: joinSentences(
      seen?.job.link && 'Review the docs pull request.',
      `An archived docs job won't produce anything more. ${howToStartNew(run)}`,
    ),
  }),
  'timed-out': (facts, run) => ({
    title: '⏰ The docs job did not finish in time',
    sentence: `The step waited for ${formatDuration(facts.now)}.`,
    happened: describeLastSeen(facts),
    next: joinSentences(
      facts.notSeen?.advice,
      howToGoOn(run),
      !facts.notSeen?.advice && 'To wait longer next time, raise timeout-minutes.',
    ),
  }),
  started: (facts, run) => {
    const accepted = acceptedIn(facts)
    const isMessage = accepted === 'message'
    return {
      title: {
        job: '🚀 The docs job was started',
        message: '🚀 The docs job accepted the message',
        nothing: '⏳ The docs job had not finished when this step ended',
      }[accepted],
      sentence: isMessage ? `Docs job ${quote(facts.jobId)} accepted the message.` : '',
      happened: joinSentences(
        !isMessage && describeLastSeen(facts),
        'This step did not wait for the docs job to finish.',
      ),
      next: howToGoOn(run),
    }
  },
  cancelled: (facts, run) => {
    const error = errorOf(facts.result)
    const end = endIn(facts)
    const told = whatWasAccepted(facts).replace(/^./, (first) => first.toLowerCase())
    return {
      title: `🛑 The step was cancelled${end ? '' : `: ${told}`}`,
      sentence: 'The step was cancelled.',
      happened:
        error?.message ??
        (hasJob(facts)
          ? describeLastSeen(facts)
          : facts.isRefused
            ? "The service hadn't accepted a request from this step."
            : 'Nothing was sent.'),
      // Nobody is told to wait for a docs job that has ended.
      next:
        error?.advice ??
        (end === undefined
          ? howToGoOn(run) || 'To start a docs job, re-run the workflow job.'
          : end === 'no-changes' // The step was still waiting for a link.
            ? `The link of a pull request may come a moment after the end. ${howToGoOn(run)}`
            : TEXTS[end](facts, run).next),
    }
  },
  'dry-run': () => ({
    title: '📝 Dry run',
    happened: 'Nothing was sent.',
    next: 'The log of the step says what it would do without dry-run.',
  }),
}

function describeError(run: ToldRun, { message, advice, code }: ActionError): Texts {
  const { facts, inputs } = run
  const end = endIn(facts)
  const isUnsent = facts.request.kind === 'none' && !facts.isRefused
  // A job that the service has never shown to this step may not exist.
  const mayExist = facts.seen !== undefined || acceptedIn(facts) === 'message'
  const isGone = hasJob(facts) && code === 'not-found'
  const isOpen = hasJob(facts) ? !end : isUnsent && inputs.task.kind === 'create'
  const then = isGone ? mayExist && howToStartNew(run) : howToGoOn(run)
  return {
    title: `❌ ${end ? 'The step failed' : whatWasAccepted(facts)}`,
    happened: message,
    unsent: isUnsent && 'Nothing was sent.',
    next: joinSentences(advice, isOpen && then),
  }
}

export function describeLastSeen(facts: StepFacts): string {
  return `Docs job ${quote(facts.jobId)} ${describeJob(facts)}.`
}

/** How to wait for the docs job, if there is any, and what a re-run does that doesn't find it. */
function howToGoOn(run: ToldRun): string {
  const { facts, memory } = run
  const rerun = {
    job:
      !isDone(run) &&
      `A re-run starts another docs job${facts.isSentOnce ? ', and so may the next run' : ''}.`,
    message: 'A re-run sends the message again.',
    nothing: undefined,
  }[acceptedIn(facts)]
  // An earlier run's, of which this step has not learned more.
  const mayRun = !hasJob(facts) && `Docs job ${quote(facts.jobId)} may still have been running.`
  return facts.jobId && joinSentences(mayRun, howToWait(run), memory === 'none' && rerun)
}

/** Whether it is green, and a re-run of it sends nothing. [range.rerun.green] */
function isDone({ facts, inputs }: ToldRun): boolean {
  const { isSentOnce, result } = facts
  return isSentOnce && result !== undefined && !failsStep(result.outcome, inputs.failOn)
}

function howToStartNew(run: ToldRun): string {
  const anew = isDone(run) ? 'start the workflow by hand, with since' : 're-run the workflow job'
  return `To start a new docs job, ${run.inputs.task.kind === 'create' ? anew : 'run a step with a prompt and no job-id'}.`
}

/** How the docs job has ended. After a message, a final status may be the one from before it. */
function endIn(facts: StepFacts): FinalOutcome | undefined {
  const status = statusIn(facts)
  if (!isFinal(status) || acceptedIn(facts) === 'message') return undefined
  return outcomeOf(status, facts.seen?.job.link)
}

/**
 * What is known to have been accepted: whoever reads that nothing was started starts it again, and
 * pays again. [report.title.accepted]
 */
function whatWasAccepted(facts: StepFacts): string {
  const sent = sentIn(facts)
  // In flight, or without a result.
  if (sent !== acceptedIn(facts))
    return sent === 'message'
      ? 'The message may have been accepted'
      : 'A docs job may have been started'
  if (hasJob(facts)) {
    // After a message, a final status may be the one from before it.
    return isFinal(statusIn(facts))
      ? 'The message was accepted'
      : "The docs job's result is unknown"
  }
  return facts.isRefused && facts.jobId !== ''
    ? 'The message was not accepted'
    : 'No docs job was started'
}

/** GitHub tells nobody of what is added to a branch after that. [docs.ended-early] */
export function describeEndedEarly(how: 'merged' | 'closed'): string {
  const more = how === 'merged' ? 're-run the workflow job for a new docs job' : 'reopen it'
  return `The docs pull request was ${how} before this step saw the agent finish: what it wrote last may be missing. See its branch, or ${more}.`
}
