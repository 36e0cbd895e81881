/** The step summary and the comment, as Markdown. Pure. */

import { failsStep, isFinal, parsePullRequest } from '../agent/job.js'
import { inlineCode } from '../escape.js'
import { formatDuration } from '../format.js'
import type { Inputs } from '../inputs/inputs.js'
import type { Redact } from '../redact.js'
import { errorOf, type RunResult } from '../run/ports.js'
import type { Progress } from '../run/progress.js'
import { describeOutcome } from './outcome.js'

/** What the texts for readers are written from. */
export interface View {
  /** Undefined if they were invalid. */
  readonly inputs: Inputs | undefined
  /** Without a result while the step runs: the text must then be true if the step is killed right after. */
  readonly progress: Progress
  readonly redact: Redact
  /** A create request or a message is in flight by the time the text is read. */
  readonly sending: boolean
  /** The URL of the run, for readers elsewhere; empty on its own page. */
  readonly runUrl: string
}

/** The step summary: the result first. */
export function createSummary(view: View): string {
  const pullRequest = pullRequestLink(view)
  return joinSections([
    `### ${title(view)}`,
    pullRequest === '' ? '' : `**Pull request:** ${pullRequest}`,
    ...details(view),
  ])
}

/** The comment on a pull request: one line with the result and the link, the details folded. */
export function createCommentText(view: View): string {
  const pullRequest = pullRequestLink(view)
  return joinSections([
    `${title(view)}${pullRequest === '' ? '' : `: ${pullRequest}`}`,
    '<details>\n<summary>Details</summary>',
    ...details(view),
    '</details>',
  ])
}

function joinSections(sections: readonly string[]): string {
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

export function title({ inputs, progress, sending }: View): string {
  const { result } = progress
  if (result !== undefined) {
    const text = describeOutcome(progress, result, String).title
    return failsStep(result.outcome, inputs?.failOn) ? text.replace('✅', '❌') : text
  }
  if (progress.accepted)
    return progress.job === undefined ? '⏳ Waiting for the docs job' : '⏳ The docs job is running'
  return sending ? '⏳ The request is being sent' : '⏳ The service has not accepted the request yet'
}

export function pullRequestLink(view: View): string {
  const link = currentLink(view)
  return link === '' ? '' : `[${inlineCode(view.redact(shortName(link)))}](<${link}>)`
}

/** The pull request, also while a follow-up runs. */
export function currentLink({ progress: { job, previousLink, result, status } }: View): string {
  return job?.link || (result !== undefined && isFinal(status) ? '' : previousLink)
}

/** `your-org/docs#17` */
export function shortName(link: string): string {
  const { repository, number } = parsePullRequest(link)
  return number === '' ? link : `${repository}#${number}`
}

function details(view: View): string[] {
  const { progress, redact } = view
  const { result } = progress
  const show = (text: string): string => inlineCode(redact(text))
  const next = result === undefined ? ifKilled(view, show) : describeOutcome(progress, result, show).next
  return [
    result?.outcome === 'skipped' ? `Reason: ${show(result.reason)}` : '',
    errorDetails(result, show),
    ...progress.notes.map((note) => `Note: ${show(note)}`),
    facts(view, show),
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
export function runLink({ runUrl }: View): string {
  return runUrl && `[Run ${inlineCode(runUrl.split('/').at(-1) ?? '')}](<${runUrl}>)`
}

function facts({ inputs, progress, runUrl }: View, show: (text: string) => string): string {
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
function ifKilled({ progress, sending }: View, show: (text: string) => string): string {
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
