/** What the picture in docs/images/ shows, as the code writes it: a test compares it. */

import { createSummary } from '../../src/report/summary.js'
import { factsAfter, factsAtStart } from '../../src/run/facts.js'
import { createRedactor } from '../../src/text/redact.js'
import { INPUTS, job } from '../unit/scripted-run.js'

const id = '7c0d2f6e-51a4-4c1e-9a55-0d6f1d1f3b9a'
const prLink = 'https://github.com/your-org/docs/pull/17'

/** What the picture shows, without what differs from one run to the next. */
export function pictured(summary: string): string {
  return summary
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replace(/(?<=\| TIME \| |Elapsed: )\d+ (?:ms|min \d+ s|min|s)/g, 'ELAPSED')
}

/** The same, as the code writes it now. */
export function picturedNow(): string {
  const at = (now: number) => ({ now: () => now, date: () => new Date(now) })
  const created = { kind: 'accepted', asked: 'job', fingerprint: '' } as const
  const active = job('active', { id })
  const started = factsAfter(factsAtStart(''), { ...created, job: active }, at(1234))
  const completed = job('completed', { id, prLink })
  const facts = factsAfter(started, { kind: 'seen', job: completed }, at(101_234))
  const files = [
    { filename: 'guides/retry.mdx', additions: 24, deletions: 0 },
    { filename: 'reference/options.mdx', additions: 6, deletions: 2 },
  ]
  const summary = createSummary({
    facts: { ...facts, result: { outcome: 'pr-opened' }, docs: { files } },
    inputs: { ...INPUTS, projectId: 'your-project' },
    notes: [],
    redact: createRedactor(''),
    workflow: 'Docs',
    serverUrl: 'https://github.com',
    memory: 'none',
    runUrl: '',
  })
  return pictured(summary)
}
