/** What the pictures in docs/images/ show, as the code writes it: a test compares it. */

import { createSummary } from '../../src/report/summary.js'
import { factsAfter, factsAtStart, type Happening, type StepFacts } from '../../src/run/facts.js'
import { createRedactor } from '../../src/text/redact.js'
import { INPUTS, job } from '../unit/scripted-run.js'

const ID = '7c0d2f6e-51a4-4c1e-9a55-0d6f1d1f3b9a'
const LINK = 'https://github.com/your-org/docs/pull/17'

const task = { kind: 'create', prompt: 'Bring the docs in line with these changes.' } as const
const inputs = { ...INPUTS, task, projectId: 'your-project' }
const redact = createRedactor('')

/** What is known after an event, so many milliseconds after the step began. */
function known(facts: StepFacts, event: Happening, now: number): StepFacts {
  const date = new Date(Date.parse('2026-01-02T03:04:05.000Z') + now)
  return factsAfter(facts, event, { now: () => now, date: () => date })
}

const active = job('active', { id: ID })
const completed = job('completed', { id: ID, prLink: LINK })
const CREATED = { kind: 'accepted', asked: 'job', fingerprint: '', job: active } as const
const started = known(factsAtStart(''), CREATED, 1234)
const result = { outcome: 'pr-opened' } as const

const VIEW = {
  inputs,
  notes: [],
  redact,
  workflow: 'Docs',
  serverUrl: 'https://github.com',
  memory: 'stored' as const,
}

/** What the pictures in docs/images/ show, without what differs from one run to the next. */
export function pictured(summary: string): string {
  return summary
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replace(/(?<=\| TIME \| |Elapsed: )\d+ (?:ms|min \d+ s|min|s)/g, 'ELAPSED')
}

/** The same, as the code writes it now. */
export function picturedNow(): string {
  const files = [
    { filename: 'guides/retry.mdx', additions: 24, deletions: 0 },
    { filename: 'reference/options.mdx', additions: 6, deletions: 2 },
  ]
  const facts = known(started, { kind: 'seen', job: completed }, 101_234)
  const view = { ...VIEW, facts: { ...facts, result, docs: { files } } }
  return pictured(createSummary({ ...view, runUrl: '' }))
}
