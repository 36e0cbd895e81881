/** Writes the lines of the log, and the annotation. Pure. */

import { failsStep, type Job } from '../agent/job.js'
import { hasJob, type StepFacts } from '../run/facts.js'
import { errorOf, type RunResult } from '../run/result.js'
import { quote } from '../text/escape.js'
import { formatDuration, joinSentences } from '../text/format.js'
import { describeJob, describeOutcome, describeSent, type ToldRun } from './outcome.js'

/** A line for each change: scripts count in them. [report.log.lines] */
export function formatStatusLine({ jobId, now }: StepFacts, job: Job): string {
  const status = job.status ?? quote(job.rawStatus)
  const link = job.link === undefined ? '' : `, docs pull request ${job.link}`
  return `Docs job ${quote(jobId)}: ${status} after ${formatDuration(now)}${link}.`
}

export function formatHeartbeatLine(facts: StepFacts): string {
  const waitsFor = hasJob(facts)
    ? `docs job ${quote(facts.jobId)} ${describeJob(facts)}`
    : facts.request.kind === 'sending'
      ? 'still waiting for a response'
      : 'nothing has been accepted yet'
  return `After ${formatDuration(facts.now)}: ${waitsFor}.`
}

export function formatEndLine(facts: StepFacts, result: RunResult): string {
  const error = errorOf(result)
  const code = error === undefined ? '' : ` (${error.code})`
  const end = `${result.outcome}${code}. Sent: ${describeSent(facts)}.`
  return `Finished after ${formatDuration(facts.now)}: ${end}`
}

/** The one annotation of a run, or a line in the log alone. `log` is a line after it. */
type Annotation = Readonly<{
  level: 'error' | 'warn' | 'notice' | 'log'
  text: string
  log?: string
}>

/** Two annotations above the summary would look like two problems. [report.annotation.one] */
export function createAnnotation(run: ToldRun, result: RunResult): Annotation {
  const link = run.facts.seen?.job.link
  const { sentence, happened = '', unsent, next } = describeOutcome(run, result)
  const pullRequest = link === undefined ? '' : `Docs pull request: ${link}`
  if (result.outcome === 'pr-opened') return { level: 'notice', text: pullRequest }
  // Each line of bad input is a problem of its own.
  if (errorOf(result)?.code === 'input')
    return { level: 'error', text: happened, log: joinSentences(unsent, next) }
  const text = joinSentences(sentence, happened, unsent, next)
  if (failsStep(result.outcome, run.inputs.failOn)) {
    // What there is to review comes first: the step may fail all the same.
    return { level: 'error', text: joinSentences(pullRequest && `${pullRequest}.`, text) }
  }
  return link === undefined
    ? { level: 'log', text }
    : { level: 'notice', text: pullRequest, log: text }
}
