/** The step summary: Markdown that reads well on GitHub, the result first. Pure; all text from outside is escaped. */

import { type Outcome, pullRequestOf } from '../agent/job.js'
import { code, type Redact } from '../escape.js'
import { duration } from '../format.js'
import type { Inputs } from '../inputs/inputs.js'
import type { End } from '../run/ports.js'
import type { Progress } from '../run/progress.js'
import { nextStep } from './messages.js'

/** Shows a text from outside as it is. */
type Show = (text: string) => string

/** Where and when it is read. */
interface Place {
  /** The address of the run, where the reader is not on its page. */
  readonly runLink?: string
  /** A create or a message is on its way by then. */
  readonly sending?: boolean
}

/**
 * Writes the summary.
 *
 * @param inputs undefined where they were bad
 * @param end undefined while the run goes on: what the summary then says has to be right if it is the last word
 */
export function summary(
  inputs: Inputs | undefined,
  progress: Progress,
  end: End | undefined,
  redact: Redact,
  { runLink = '', sending = progress.sending }: Place = {},
): string {
  const show = (text: string): string => code(redact(text))
  const sections = [
    `### ${end === undefined ? titleSoFar(progress, sending) : TITLES[end.outcome]}`,
    pullRequest(progress, show),
    reason(end, show),
    fault(end, show),
    facts(inputs, progress, show, runLink),
    statuses(progress),
    `**What to do next:** ${end === undefined ? goOn(progress, sending, show) : nextStep(progress, end, show)}`,
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

const TITLES: Readonly<Record<Outcome, string>> = {
  'pr-opened': '✅ The docs job opened a pull request',
  'no-changes': '✅ The docs job completed: no changes were needed',
  started: '🚀 The docs job is on its way',
  failed: '❌ The docs job failed',
  archived: '🗄️ The docs job was archived',
  'timed-out': '⌛ The docs job had not ended when the time was over',
  cancelled: '🛑 The step was cancelled',
  skipped: '⏭️ Skipped: nothing was sent',
  'dry-run': '📝 Dry run: nothing was sent',
  error: '❌ The docs job could not be run or followed',
}

function titleSoFar(progress: Progress, sending: boolean): string {
  if (progress.taken) return '⏳ The docs job is on its way'
  return sending ? '⏳ The request is being sent' : '⏳ Nothing was taken by the service yet'
}

function pullRequest(progress: Progress, show: Show): string {
  const link = progress.job?.link ?? ''
  if (link === '') return ''
  const { repository, number } = pullRequestOf(link)
  return `**Pull request:** [${show(number === '' ? link : `${repository}#${number}`)}](<${link}>)`
}

/** Why nothing was done, with `skipped`. */
function reason(end: End | undefined, show: Show): string {
  return end?.reason === undefined ? '' : `Why: ${show(end.reason)}`
}

function fault(end: End | undefined, show: Show): string {
  const error = end?.error
  if (error === undefined) return ''
  const lines = error.message.split('\n').map((line) => `- ${show(line)}`)
  return [...lines, `- Error code: ${show(error.code)}`].join('\n')
}

function facts(inputs: Inputs | undefined, progress: Progress, show: Show, runLink: string): string {
  const rows = [
    ['Job', progress.jobId === '' ? '' : show(progress.jobId)],
    ['Project', inputs === undefined ? '' : show(inputs.projectId)],
    ['Service', inputs === undefined ? '' : show(inputs.baseUrl)],
    ['Run', runLink === '' ? '' : `[${show(runLink.split('/').at(-1) ?? '')}](<${runLink}>)`],
    ['Time', duration(progress.elapsedMs())],
  ]
  return table(
    ['', ''],
    rows.filter(([, value]) => value !== ''),
  )
}

function statuses({ moments }: Progress): string {
  if (moments.length === 0) return ''
  const rows = moments.map(({ date, afterMs, status }) => [
    date.toISOString().slice(0, 19).replace('T', ' '),
    duration(afterMs),
    status,
  ])
  return table(['Time (UTC)', 'After', 'Status'], rows)
}

/** What is right to do if the step dies now. */
function goOn(progress: Progress, sending: boolean, show: Show): string {
  if (progress.taken) {
    return `If this step ends before the job does, the job goes on: a step with ${show(`job-id: ${progress.jobId}`)} and no prompt picks it up.`
  }
  if (!sending) {
    return 'If this is the last word of this step, it died before the service took anything: run it again.'
  }
  const died = 'If this is the last word of this step, it died before the answer came, and'
  return progress.jobId === ''
    ? `${died} a job may exist: look among the agent's jobs in the service's dashboard before you run it again.`
    : `${died} the job may have the message: a step with ${show(`job-id: ${progress.jobId}`)} and no prompt follows it.`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
