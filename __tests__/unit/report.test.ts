/** How a step reports: writes that fail, what is written again, and debug lines. */

import { expect, test } from '@jest/globals'
import { createDeadline } from '../../src/net/deadline.js'
import { type ReportWriter, StepReport } from '../../src/report/report.js'
import type { KeptComment, StatusUpdate } from '../../src/run/status-update.js'
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

test("outputs that the container's user can't write: nothing is sent, a docs job is followed nevertheless, and what that user needs is said [output.unwritable]", () => {
  const outputs = (): void => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
  }
  const { report, written } = createStep({ outputs })
  expect(() => report.tell({ kind: 'sending', asked: 'job' })).toThrow('Writing the outputs failed')
  expect(report.facts.request.kind).toBe('none')
  report.tell({ kind: 'not-accepted', posted: true })
  report.tell({ kind: 'accepted', asked: 'job', fingerprint: '', job: job('active') })
  report.tell({ kind: 'ended', result: { outcome: 'timed-out' } })
  expect(written.error?.join()).toMatch(
    /^(?!.*Nothing was accepted).*With `options: --user root`, the container's user can write /,
  )
})

test('of an end that is taken back again and again, the last hundred changes are shown [report.summary]', () => {
  const { report, written } = createStep()
  for (let change = 0; change < 200; change++)
    report.tell({ kind: 'seen', job: job(change % 2 === 0 ? 'active' : 'completed') })
  expect(written.summary?.at(-1)?.match(/\| (?:active|completed) \|/g)).toHaveLength(100)
})

test('a job that is stored at the very end: the summary says then that a re-run finds it, the comment with which it is stored at once [report.advice.rerun]', async () => {
  const { clock, report, written } = createStep()
  const comment: { memory: KeptComment['memory'] } = { memory: 'pending' }
  const close = async (): Promise<void> => {
    comment.memory = 'stored'
  }
  const texts: string[] = []
  const enqueue = ({ text }: StatusUpdate) => void texts.push(text)
  const writes = { writePlaceholder: async () => undefined, enqueue }
  report.comment = Object.assign(comment, { failure: undefined, close, ...writes })
  report.tell({ kind: 'accepted', asked: 'job', fingerprint: '', job: job('active') })
  report.tell({ kind: 'ended', result: { outcome: 'timed-out' } })
  const rerun = 're-run the workflow job: this step then sends nothing.'
  expect(written.summary?.at(-1)).toMatch(/and no prompt\. To wait longer/)
  report.update()
  expect(texts.at(-1)).toContain(rerun)
  await report.closeComment(createDeadline(60_000, new AbortController().signal, clock))
  expect(written.summary?.at(-1)).toContain(rerun)
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

test('a step without a result counts as failed, and what happens after its end was reported changes nothing [output.exit-code] [cancel.second]', () => {
  const { report, written } = createStep()
  expect(report.exitCode).toBe(1)
  report.tell({ kind: 'ended', result: { outcome: 'dry-run' } })
  report.tell({ kind: 'pausing' })
  report.tell({ kind: 'ended', result: { outcome: 'cancelled' } })
  expect(report.exitCode).toBe(0)
  expect([written.summary, written.error]).toEqual([[expect.stringContaining('Dry run')], []])
})

test("a summary that can't be written draws one warning, however often, and ends nothing [output.unwritable] [report.annotation.one]", () => {
  const summary = (): void => {
    throw new Error('ENOSPC')
  }
  const { report, written } = createStep({ summary })
  report.tell({ kind: 'sending', asked: 'job' })
  report.tell({ kind: 'pausing' })
  report.tell({ kind: 'ended', result: { outcome: 'dry-run' } })
  expect(written.warn).toEqual(['Writing the summary failed: ENOSPC'])
})

test('a link that the service shows while the agent works is told at once [output.early] [report.log.lines]', () => {
  const told: unknown[] = []
  const { report, written } = createStep({ outputs: (values) => told.push(values['pr-link']) })
  const active = job('active')
  report.tell({ kind: 'accepted', asked: 'job', fingerprint: '', job: active })
  const link = 'https://github.com/o/docs/pull/7'
  for (const one of [active, { ...active, link }]) report.tell({ kind: 'seen', job: one })
  expect(told).toEqual(['', link])
  expect(written.log?.at(-1)).toContain(link)
})
