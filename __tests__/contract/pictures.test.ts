/** The README shows the summary and the comment just as the action writes them. */

import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { redactor } from '../../src/escape.js'
import { summary } from '../../src/report/summary.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from '../unit/fake-clock.js'
import { INPUTS, job } from '../unit/scripted-run.js'

const ID = '7c0d2f6e-51a4-4c1e-9a55-0d6f1d1f3b9a'
const LINK = 'https://github.com/your-org/docs/pull/17'
const RUN = 'https://github.com/your-org/your-repo/actions/runs/1234567890'

const inputs = { ...INPUTS, projectId: 'your-project' }
const readme = readFileSync('README.md', 'utf8')

const picture = (markdown: string): string =>
  markdown
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trim())
    .join('\n')

test('the comment of a job that goes on', () => {
  const clock = new FakeClock('2026-01-02T03:04:05.000Z')
  const progress = new Progress(clock)
  clock.advance(1234)
  progress.see(job('active', { id: ID }))
  expect(readme).toContain(picture(summary(inputs, progress, undefined, redactor(''), { runLink: RUN })))
})

test('the summary of a job that opened a pull request', () => {
  const clock = new FakeClock('2026-01-02T03:04:05.000Z')
  const progress = new Progress(clock)
  clock.advance(1234)
  progress.see(job('active', { id: ID }))
  clock.advance(233_000)
  progress.see(job('completed', { id: ID, prLink: LINK }))
  expect(readme).toContain(picture(summary(inputs, progress, { outcome: 'pr-opened' }, redactor(''))))
})
