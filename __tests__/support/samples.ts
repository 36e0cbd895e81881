/**
 * The sample in docs/behaviour.md, as the code writes it: `npm run samples` puts it there, a test
 * compares it.
 */

import {
  createAnnotation,
  formatEndLine,
  formatHeartbeatLine,
  formatStartLine,
  formatStatusLine,
} from '../../src/report/messages.js'
import { createCommentText, createSummary } from '../../src/report/summary.js'
import { Progress } from '../../src/run/progress.js'
import { createRedactor } from '../../src/text/redact.js'
import { FakeClock } from '../unit/fake-clock.js'
import { INPUTS, job, MINUTE } from '../unit/scripted-run.js'

const ID = '7c0d2f6e-51a4-4c1e-9a55-0d6f1d1f3b9a'
const LINK = 'https://github.com/your-org/docs/pull/17'
const RUN_URL = 'https://github.com/your-org/your-repo/actions/runs/1234567890'

const task = { kind: 'create', prompt: 'Bring the docs in line with this pull request.' } as const
const inputs = { ...INPUTS, task, projectId: 'your-project' }
const redact = createRedactor('')

/** A job that has just been created. */
function started(): { clock: FakeClock; progress: Progress } {
  const clock = new FakeClock('2026-01-02T03:04:05.000Z')
  const progress = new Progress(clock)
  clock.advance(1234)
  progress.accepted = 'job'
  progress.update(job('active', { id: ID }))
  return { clock, progress }
}

function log(): string {
  const { clock, progress } = started()
  const lines = [formatStartLine(task, inputs), formatStatusLine(progress)]
  for (const minute of [1, 2]) {
    clock.advance(minute * MINUTE - clock.now())
    lines.push(formatHeartbeatLine(progress))
  }
  clock.advance(41_000)
  progress.update(job('completed', { id: ID, prLink: LINK }))
  const result = { outcome: 'pr-opened' } as const
  // GitHub shows the annotation like this.
  const notice = `Notice: ${createAnnotation({ progress, isRemembered: false }, result, new Set()).text}`
  lines.push(formatStatusLine(progress), notice, formatEndLine(progress, result))
  return ['```text', ...lines, '```'].join('\n')
}

const VIEW = {
  inputs,
  notes: [],
  redact,
  sending: false,
  workflow: 'Docs',
  isRemembered: true,
}

/** What the pictures in docs/images/ show, without what differs from one run to the next. */
export function pictured(summary: string, comment: string): string {
  const steady = `${summary}\n---\n\n${comment.replace(/\n*<!-- .* -->\s*$/s, '\n')}`
  return steady
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replace(/(?<=\| TIME \| |Elapsed: )\d+ (?:ms|min \d+ s|min|s)/g, 'ELAPSED')
}

/** The same, as the code writes it now. */
export function picturedNow(): string {
  const { clock, progress } = started()
  clock.advance(100_000)
  progress.update(job('completed', { id: ID, prLink: LINK }))
  progress.result = { outcome: 'pr-opened' }
  progress.docsFiles = [
    { filename: 'guides/retry.mdx', additions: 24, deletions: 0 },
    { filename: 'reference/options.mdx', additions: 6, deletions: 2 },
  ]
  return pictured(
    createSummary({ ...VIEW, progress, runUrl: '' }),
    createCommentText({ ...VIEW, progress, runUrl: RUN_URL }),
  )
}

/**
 * The page with its sample as the code writes it now.
 *
 * @throws {Error} it has no place for one
 */
export function withSample(page: string): string {
  const [start, end] = ['<!-- sample: log -->\n', '<!-- end of sample -->']
  const [before = '', after = ''] = page.split(start)
  if (!after.includes(end)) throw new Error(`The page has no ${start}…${end}`)
  return `${before}${start}\n${log()}\n\n${after.slice(after.indexOf(end))}`
}
