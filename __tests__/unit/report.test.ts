/** How a step reports: writes that fail, what is written again, and debug lines. */

import { expect, test } from '@jest/globals'
import { createDeadline } from '../../src/net/deadline.js'
import { type ReportWriter, StepReport } from '../../src/report/report.js'
import type { KeptComment } from '../../src/run/status-update.js'
import { ActionError } from '../../src/text/errors.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS, job } from './scripted-run.js'

/** A step that has just begun, and the texts that it writes to each place. */
function createStep(more: Partial<ReportWriter> = {}) {
  const clock = new FakeClock()
  const written = {
    ...{ log: [], debug: [], warn: [], notice: [], error: [], summary: [] },
  } as Record<string, string[]>
  const writers = Object.entries(written).map(([place, texts]) => [
    place,
    (text: string) => texts.push(text),
  ])
  const writer = {
    isDebug: true,
    outputs: () => undefined,
    ...Object.fromEntries(writers),
    ...more,
  }
  const environment = { serverUrl: '', repository: '', runId: '', workflow: '' }
  const report = new StepReport({ writer, clock, redact: String, environment, inputs: INPUTS })
  return { clock, report, written }
}

test("outputs that the container's user can't write: nothing is sent, and what that user needs is said [output.unwritable]", () => {
  const outputs = (): void => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
  }
  const { report, written } = createStep({ outputs })
  expect(() => report.tell({ kind: 'sending', asked: 'job' })).toThrow('Writing the outputs failed')
  expect(report.facts.request.kind).toBe('none')
  report.tell({ kind: 'ended', result: { outcome: 'skipped', reason: 'a reason' } })
  expect(written.error?.join()).toMatch(
    /With `options: --user root`, the container's user can write /,
  )
})

test('a job that is stored at the very end: the summary says that a re-run finds it [report.advice.rerun]', async () => {
  const { clock, report, written } = createStep()
  const comment: { memory: KeptComment['memory'] } = { memory: 'pending' }
  const close = async (): Promise<void> => {
    comment.memory = 'stored'
  }
  const writes = { writePlaceholder: async () => undefined, enqueue: () => undefined }
  report.comment = Object.assign(comment, { failure: undefined, close, ...writes })
  report.tell({ kind: 'accepted', asked: 'job', fingerprint: '', job: job('active') })
  report.tell({ kind: 'ended', result: { outcome: 'timed-out' } })
  expect(written.summary?.at(-1)).toMatch(/and no prompt\. To wait longer/)
  await report.closeComment(createDeadline(60_000, new AbortController().signal, clock))
  expect(written.summary?.at(-1)).toContain(
    're-run the workflow job: this step then sends nothing.',
  )
})

test.each([
  ['not truncated before they are redacted [report.log.lines] [secret.redacted]', true],
  ['unless nobody sees them [report.annotation.one] [report.log.lines]', false],
])('the details of an error are in the debug lines, %s', (_, isDebug) => {
  const { report, written } = createStep({ isDebug })
  const cause = { data: 'x'.repeat(20_000) }
  const error = new ActionError('network', 'Broken.', '', { cause })
  report.tell({ kind: 'ended', result: { outcome: 'error', error } })
  report.endLog()
  report.endLog()
  expect(written.debug?.join().includes(`'${cause.data}'`)).toBe(isDebug)
  for (const lines of [written.error, written.log]) expect(lines).toHaveLength(1)
})

test('what happens to a step after its end was reported changes nothing [cancel.second]', () => {
  const { report, written } = createStep()
  report.tell({ kind: 'ended', result: { outcome: 'dry-run' } })
  report.tell({ kind: 'pausing' })
  report.tell({ kind: 'ended', result: { outcome: 'cancelled' } })
  expect(report.exitCode).toBe(0)
  expect([written.summary, written.error]).toEqual([[expect.stringContaining('Dry run')], []])
})

test("a summary that can't be written draws one warning, however often [report.annotation.one]", () => {
  const summary = (): void => {
    throw new Error('ENOSPC')
  }
  const { report, written } = createStep({ summary })
  report.tell({ kind: 'sending', asked: 'job' })
  report.tell({ kind: 'pausing' })
  report.tell({ kind: 'ended', result: { outcome: 'dry-run' } })
  expect(written.warn).toEqual(['Writing the summary failed: ENOSPC'])
})
