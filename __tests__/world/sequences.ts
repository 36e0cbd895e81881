/** What happened in a step, in a few words: to compare the table of texts with what can happen. */

import type { Job } from '../../src/agent/job.js'
import { StepReport } from '../../src/report/report.js'
import { factsAfter, factsAtStart, type Happening } from '../../src/run/facts.js'
import { errorOf } from '../../src/run/result.js'
import { ActionError } from '../../src/text/errors.js'
import { ROWS, type Row } from '../unit/text-table.js'

const OUTSIDE = {
  id: 'job-1',
  project: 'p-1',
  url: 'https://agent.example.com',
  words: 'its words',
}

/** Empty for what may happen at any time, and of which there is no text. */
function wordsOf(happening: Happening): string {
  switch (happening.kind) {
    case 'continuing':
      return happening.link === undefined ? '' : `${happening.kind} +link`
    case 'sending':
    case 'unknown':
      return `${happening.kind} ${happening.asked}`
    case 'not-accepted':
      return happening.posted ? 'refused' : 'not sent'
    case 'accepted':
      return `accepted ${happening.asked}${statusOf(happening)}`
    case 'waiting':
    case 'seen':
      return happening.kind + statusOf(happening)
    case 'not-seen':
      return happening.kind
    case 'ended':
      return [happening.result.outcome, errorOf(happening.result)?.code].filter(Boolean).join(' ')
    case 'noted':
    case 'pausing':
    case 'heartbeat':
    case 'docs-read':
    case 'code-is-open':
    case 'sent-once':
      return ''
  }
}

function statusOf({ job }: { readonly job?: Job | undefined }): string {
  if (job === undefined) return ''
  const link = job.link === undefined ? '' : ' +link'
  return ` ${job.status ?? 'undocumented'}${link}`
}

/** What is repeated counts once, and what was missed only if the step then ends without it. */
function describe(events: readonly Happening[]): string {
  const words = events.map(wordsOf).filter((word) => word !== '')
  return words
    .filter((word, index) => word !== 'not-seen' || isLastMiss(words.slice(index + 1)))
    .join(', ')
    .replace(/(sending \w+, (?:refused|not sent))(?:, \1)+/g, '$1')
    .replace(/(?<=^|, )([^,]+)(?:, \1(?=,|$))+/g, '$1')
}

function isLastMiss([next = '']: readonly string[]): boolean {
  return /^(?:$|timed-out|cancelled)/.test(next)
}

/** Records what happens in each step from now on. */
export function recordSequences(): { missing: () => string[] } {
  const happened = new Set<string>()
  const events = new WeakMap<StepReport, Happening[]>()
  const { tell } = StepReport.prototype
  StepReport.prototype.tell = function (event) {
    const all = events.get(this) ?? []
    events.set(this, all)
    if (event.kind !== 'heartbeat') all.push(event)
    tell.call(this, event)
    if (event.kind === 'ended') happened.add(describe(all))
  }
  const hasHappened = (told: string) =>
    [...happened].some((one) => one === told || one.startsWith(`${told},`))
  return {
    /** What the table of texts tells of, and no step did. */
    missing: () =>
      [...new Set(ROWS.map(eventsOf).map(describe))].filter((told) => !hasHappened(told)),
  }
}

function eventsOf(row: Row): Happening[] {
  const told = row.happens(OUTSIDE).filter((event) => typeof event !== 'number')
  if (row.end === undefined) return told
  const clock = { now: () => 0, date: () => new Date(0) }
  const facts = told.reduce((before, event) => factsAfter(before, event, clock), factsAtStart(''))
  const resultUnknown = () => new ActionError('create-unknown', '', '')
  return [...told, { kind: 'ended', result: row.end(OUTSIDE, { facts, resultUnknown }) }]
}
