/** Writes the step summary and the comment, as Markdown. Pure. */

import { failsStep, isFinal, parsePullRequest } from '../agent/job.js'
import { describeJobKey } from '../inputs/job-key.js'
import { DOCS_FILES_PAGE, type DocsFile, hasJob, type StepFacts, statusIn } from '../run/facts.js'
import { errorOf } from '../run/result.js'
import { WHERE_TO_LOOK } from '../text/errors.js'
import { inlineCode, oneLine, truncate } from '../text/escape.js'
import { formatDuration, formatInteger, joinParagraphs, joinSentences } from '../text/format.js'
import { hideService, type Redact } from '../text/redact.js'
import {
  describeEndedEarly,
  describeOutcome,
  describeSent,
  howToWait,
  type Texts,
  type ToldRun,
} from './outcome.js'

export interface View extends ToldRun {
  readonly redact: Redact
  readonly notes: readonly string[]
  readonly workflow: string
  readonly serverUrl: string
  /** The URL of the run, for readers elsewhere; empty on its own page. */
  readonly runUrl: string
}

/** Both texts are made of this, as Markdown. */
function describe(view: View) {
  const { facts, inputs, notes } = view
  const { result } = facts
  const isFailed = result !== undefined && failsStep(result.outcome, inputs.failOn)
  const texts = result ? describeOutcome(view, result) : describeRunning(view)
  const code = errorOf(result)?.code
  const { endedEarly } = facts.docs
  const next = endedEarly ? describeEndedEarly(endedEarly) : texts.next
  const [files, allFiles] = describeDocsFiles(view)
  return {
    isFailed,
    title: isFailed ? texts.title.replace('✅', '❌') : texts.title,
    pullRequest: linkPullRequest(view),
    files,
    /** The advice is about this. */
    happened: [
      showHappened(view, texts),
      ...notes.map((note) => `Note: ${showSentences(tell(view, note))}`),
    ],
    details: [code && `Error code: \`${code}\``, listFacts(view), allFiles, statusTable(facts)],
    next: `**What to do next:** ${showSentences(view.redact(next))}`,
  }
}

/** The result stands first, as people open it first. [report.summary] */
export function createSummary(view: View): string {
  const { title, pullRequest, files, happened, details, next } = describe(view)
  const link = pullRequest && `**Docs pull request:** ${pullRequest}`
  return `${joinParagraphs([`### ${title}`, link, files, ...happened, ...details, next])}\n`
}

/** How the comment's details begin, for those who don't know the action. [report.comment.quiet] */
const DETAILS =
  '<details>\n<summary>Details of the workflow run</summary>\n\nA workflow of this repository asks an agent to write docs. What the agent does then is a docs job.'

/** An advice and its reason are both shown, or both folded. [report.advice.in-sight] */
export function createCommentText(view: View): string {
  const { isFailed, title, pullRequest, files, happened, details, next } = describe(view)
  const told =
    isFailed || view.facts.docs.endedEarly
      ? [...happened, next, DETAILS, ...details]
      : [DETAILS, ...happened, ...details, next]
  return `${joinParagraphs([firstLine(view, title, pullRequest), files, ...told, '</details>'])}\n`
}

function firstLine(view: View, title: string, pullRequest?: string): string {
  // The link may be that of an earlier run.
  const label = view.facts.result?.outcome === 'pr-opened' ? ': ' : '. Docs pull request: '
  return `${title}${nameLeg(view)}${pullRequest ? label + pullRequest : ''}`
}

const IF_STILL_HERE = 'If this text is still here when the workflow run has ended,'

/** A letter to people who see nothing else: GitHub mails it, and no edit. [memory.first-text] */
export function createFirstText(view: View): string {
  const log = `the run's log: <${view.runUrl}>`
  if (view.facts.result !== undefined) {
    const { title, pullRequest, happened, next } = describe(view)
    const seeLog = !pullRequest && `For more, see ${log}`
    return joinParagraphs([firstLine(view, title, pullRequest), ...happened, next, seeLog])
  }
  return joinParagraphs([
    `⏳ ${hasJob(view.facts) ? 'Waiting for' : 'Asking'} an agent to write docs${nameLeg(view)}`,
    `The result will be shown in this comment on GitHub, and not mailed. Until then, you don't need to do anything. ${IF_STILL_HERE} see ${log}`,
  ])
}

/** Tells the comments of matrix legs apart. [memory.leg-named] */
function nameLeg({ inputs, redact }: View): string {
  const leg = describeJobKey(redact(inputs.jobKey)) // Half a key would not be found.
  return leg && ` (${inlineCode(leg)})`
}

/** What to do if the step is killed now, or no edit succeeds any more. [cancel.killed] */
function describeRunning(view: View): Texts {
  const { facts } = view
  if (hasJob(facts)) {
    return {
      title: '⏳ Waiting for the docs job',
      next: `If this step ends first, that doesn't stop the docs job. ${howToWait(view)}`,
    }
  }
  if (facts.request.kind === 'none') {
    return {
      title: '⏳ The service has not accepted the request yet',
      next: `${IF_STILL_HERE} see the run's log before you re-run the workflow job.`,
    }
  }
  const ifKilled =
    facts.jobId === ''
      ? `a docs job may exist. Before you re-run or start a new run, look ${WHERE_TO_LOOK}.`
      : `the docs job may have received the message. ${howToWait(view)}`
  return { title: '⏳ The request is being sent', next: `${IF_STILL_HERE} ${ifKilled}` }
}

/**
 * While a follow-up runs, that of the run before is shown. [report.link.label] The name of one on
 * another server begins with its host. [report.link.host]
 */
function linkPullRequest({ facts, redact, serverUrl }: View): string | undefined {
  const isOver = facts.result !== undefined && isFinal(statusIn(facts)) && !facts.docs.endedEarly
  const link = facts.seen?.job.link ?? (isOver ? undefined : facts.previousLink)
  if (link === undefined) return undefined
  const pull = parsePullRequest(link)
  const host = link.startsWith(`${serverUrl}/`) ? '' : `${new URL(link).host}/`
  const name = pull ? `${host}${pull.repository}#${pull.number}` : link
  return `[${inlineCode(redact(name))}](<${link}>)`
}

/** GitHub masks secrets on the run's own pages, which have no URL. [report.comment.private] */
function tell({ redact, inputs, runUrl, facts }: View, text: string): string {
  return runUrl === '' ? redact(text) : hideService(redact(text), inputs, facts.jobId)
}

function showHappened(view: View, { happened = '', unsent }: Texts): string {
  // The text is redacted before it is split: half a key would not be found.
  const lines = tell(view, happened).split('\n').map(showSentences)
  if (lines.length === 1) return joinSentences(...lines, unsent)
  return joinParagraphs([toList(lines), unsent])
}

/**
 * Sentences as Markdown. Text in quotes, which is where text from outside stands, becomes code; so
 * does every other word that GitHub could take for more than plain text. [text.markdown]
 */
export function showSentences(text: string): string {
  return oneLine(text)
    .replace(/"[^"]*"|`[^`]*`|(?:(?!"[^"]*"|`[^`]*`)\S)+/g, (part) =>
      isPlain(part) ? part : showCode(part),
    )
    .replace(/^(?:\d+[.)]|[+=-]+)(?=\s|$)/, inlineCode)
}

function showCode(part: string): string {
  const quoted = /^(["`])(.+)\1$/.exec(part)?.[2]
  if (quoted !== undefined) return inlineCode(quoted)
  const end = /[.,;:)]*$/.exec(part)?.[0] ?? ''
  return inlineCode(part.slice(0, part.length - end.length)) + end
}

/** A word in which GitHub finds no markup, mention, reference, link or emoji. */
function isPlain(word: string): boolean {
  const isRead = /:\/\/|www\.|\bgh-\d|:[\w+-]+:|\b[\da-f]{7,40}\b|\b_|_\b/i.test(word)
  return /^[\w.,:;()'’…/%+=-]*$/.test(word) && !isRead
}

function listFacts({ inputs, facts, redact, workflow, runUrl }: View): string {
  const show = (text: string) => inlineCode(redact(text))
  const where = runUrl
    ? [`Run: [${show(workflow)} ${runUrl.split('/').at(-1)}](<${runUrl}>)`]
    : [
        inputs.projectId && `Project: ${show(inputs.projectId)}`,
        inputs.baseUrl && `Service: ${show(inputs.baseUrl)}`,
      ]
  const items = [
    facts.jobId && `Docs job: ${show(facts.jobId)}`,
    ...where,
    (facts.result ?? hasJob(facts)) && `Sent: ${describeSent(facts)}`,
    `Elapsed: ${formatDuration(facts.now)}`,
  ]
  return toList(items.filter(Boolean))
}

const toList = (items: readonly unknown[]) => items.map((item) => `- ${item}`).join('\n')

/** How many files of the docs pull request are shown at first sight, and how many are listed. */
const DOCS_FILES = { shown: 3, listed: 20 }

/** Gives a line of the first files, and if there are more, a list. [docs.files.told] */
function describeDocsFiles({
  facts: { docs },
  redact,
}: View): readonly [line?: string, list?: string] {
  const { length } = docs.files
  const { shown, listed } = DOCS_FILES
  if (length === 0) return []
  // There may be more files than were read.
  const plus = length < DOCS_FILES_PAGE ? '' : '+'
  const files = docs.files.slice(0, listed).map((file) => showFile(file, redact))
  const line = `${length}${plus} ${length === 1 ? 'file' : 'files'}: ${files.slice(0, shown).join(', ')}`
  if (length <= shown) return [line]
  const more = length > listed ? [`and ${length - listed}${plus} more`] : []
  // Without a line of its own above it, Markdown would take the list for the end of the one before.
  return [`${line}, …`, `Changed files:\n\n${toList([...files, ...more])}`]
}

/** Cut after it is made visible, as that makes it longer, and a comment has a limit. */
function showFile({ filename, additions, deletions }: DocsFile, redact: Redact): string {
  const name = inlineCode(truncate(oneLine(redact(filename)), 160))
  return `${name} +${formatInteger(additions)} −${formatInteger(deletions)}`
}

function statusTable({ history }: StepFacts): string | undefined {
  if (history.length === 0) return undefined
  // As many as a comment has room for: an end may be taken back again and again.
  const rows = history.slice(-100).map(({ date, elapsedMs, status }) => {
    const time = date.toISOString().slice(0, 19).replace('T', ' ')
    return `| ${time} | ${formatDuration(elapsedMs)} | ${status} |`
  })
  return ['| Time (UTC) | Elapsed | Status |', '| --- | --- | --- |', ...rows].join('\n')
}
