/** The step summary and the comment, as Markdown. Pure. */

import { type FailOn, failsStep, isFinal, parsePullRequest } from '../agent/job.js'
import { inlineCode } from '../escape.js'
import { formatDuration } from '../format.js'
import type { Inputs } from '../inputs/inputs.js'
import type { Redact } from '../redact.js'
import { errorOf, type RunResult } from '../run/ports.js'
import type { Progress } from '../run/progress.js'
import { describeOutcome } from './outcome.js'

/** What a summary or a comment is written from. */
export interface SummaryOptions {
  /** Undefined if they were invalid. */
  readonly inputs: Inputs | undefined
  readonly progress: Progress
  /** Undefined while the run goes on: the text must then be true if the step is killed right after. */
  readonly result: RunResult | undefined
  readonly redact: Redact
  /** A create request or a message is in flight by the time the text is read. */
  readonly sending?: boolean
  /** The URL of the run, for readers elsewhere. */
  readonly runUrl?: string
  /** The pull request that the job, or the one it replaces, opened before this run: shown while the service leaves it out. */
  readonly previousLink?: string
}

/** The step summary: the result first. */
export function createSummary(options: SummaryOptions): string {
  const pullRequest = pullRequestLink(options)
  return joinSections([
    `### ${title(options)}`,
    pullRequest === '' ? '' : `**Pull request:** ${pullRequest}`,
    ...details(options),
  ])
}

/** The comment on a pull request: one line with the result and the link, the details folded. */
export function createCommentText(options: SummaryOptions): string {
  const pullRequest = pullRequestLink(options)
  return joinSections([
    `${title(options)}${pullRequest === '' ? '' : `: ${pullRequest}`}`,
    '<details>\n<summary>Details</summary>',
    ...details(options),
    '</details>',
  ])
}

function joinSections(sections: readonly string[]): string {
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

export function title({ inputs, progress, result, sending = progress.sending }: SummaryOptions): string {
  if (result !== undefined) {
    const failOn: ReadonlySet<FailOn> = inputs?.failOn ?? new Set()
    const text = describeOutcome(progress, result, String).title
    return failsStep(result.outcome, failOn) ? text.replace('✅', '❌') : text
  }
  if (progress.accepted)
    return progress.job === undefined ? '⏳ Waiting for the docs job' : '⏳ The docs job is running'
  return sending ? '⏳ The request is being sent' : '⏳ The service has not accepted the request yet'
}

export function pullRequestLink(options: SummaryOptions): string {
  const link = currentLink(options)
  return link === '' ? '' : `[${inlineCode(options.redact(shortName(link)))}](<${link}>)`
}

/** The pull request, also while a follow-up runs. */
export function currentLink({ progress, result, previousLink = '' }: SummaryOptions): string {
  const hasEnded = result !== undefined && isFinal(progress.status)
  return progress.job?.link || (hasEnded ? '' : previousLink)
}

/** `your-org/docs#17` */
export function shortName(link: string): string {
  const { repository, number } = parsePullRequest(link)
  return number === '' ? link : `${repository}#${number}`
}

function details(options: SummaryOptions): string[] {
  const { progress, result, redact } = options
  const show = (text: string): string => inlineCode(redact(text))
  const next = result === undefined ? ifKilled(options, show) : describeOutcome(progress, result, show).next
  return [
    result?.outcome === 'skipped' ? `Reason: ${show(result.reason)}` : '',
    errorDetails(result, show),
    ...progress.notes.map((note) => `Note: ${show(note)}`),
    facts(options, show),
    statusTable(progress),
    `**What to do next:** ${next}`,
  ]
}

function errorDetails(result: RunResult | undefined, show: (text: string) => string): string {
  const error = errorOf(result)
  if (error === undefined) return ''
  const lines = error.message.split('\n').map((line) => `- ${show(line)}`)
  return [...lines, `- Error code: ${show(error.code)}`].join('\n')
}

/** The run, for readers elsewhere. */
export function runLink({ runUrl = '' }: SummaryOptions): string {
  return runUrl && `[Run ${inlineCode(runUrl.split('/').at(-1) ?? '')}](<${runUrl}>)`
}

function facts({ inputs, progress, runUrl = '' }: SummaryOptions, show: (text: string) => string): string {
  const rows = [
    ['Job', progress.jobId && show(progress.jobId)],
    ['Project', inputs && show(inputs.projectId)],
    ['Service', inputs && show(inputs.baseUrl)],
    ['Run', runUrl && `[${show(runUrl.split('/').at(-1) ?? '')}](<${runUrl}>)`],
    ['Elapsed', formatDuration(progress.elapsedMs())],
  ]
  return rows
    .filter(([, value]) => value)
    .map(([name, value]) => `- ${name}: ${value}`)
    .join('\n')
}

function statusTable({ history }: Progress): string {
  if (history.length === 0) return ''
  const rows = history.map(({ date, elapsedMs, status }) => {
    const time = date.toISOString().slice(0, 19).replace('T', ' ')
    return `| ${time} | ${formatDuration(elapsedMs)} | ${status} |`
  })
  return ['| Time (UTC) | Elapsed | Status |', '| --- | --- | --- |', ...rows].join('\n')
}

/** What to do if the step is killed now. */
function ifKilled(
  { progress, sending = progress.sending }: SummaryOptions,
  show: (text: string) => string,
): string {
  const howToWait = `to wait for it, run a step with ${show(`job-id: ${progress.jobId}`)} and no prompt.`
  if (progress.accepted) {
    const consequence = progress.job === undefined ? "that doesn't stop the job" : 'the job keeps running'
    return `If this step ends first, ${consequence}: ${howToWait}`
  }
  if (!sending) {
    return 'If this text is never updated, the step was killed before the service accepted anything: run it again.'
  }
  const killed = 'If this text is never updated, the step was killed before a response arrived, and'
  return progress.jobId === ''
    ? `${killed} a job may exist: check the agent's jobs in the service's dashboard before you run it again.`
    : `${killed} the job may have received the message: ${howToWait}`
}
