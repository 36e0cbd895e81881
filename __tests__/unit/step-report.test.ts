// How a step ends: whose outputs can't be written, or at once.
import { expect, test } from '@jest/globals'
import { resultUnknown } from '../../src/agent/problems.js'
import { ActionError } from '../../src/errors.js'
import { type ReportWriter, StepReport } from '../../src/report/report.js'
import type { RunResult } from '../../src/run/ports.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { job, LINK } from './scripted-run.js'

const ignore = (): void => undefined
const SILENT = {
  log: ignore,
  debug: ignore,
  warn: ignore,
  notice: ignore,
  error: ignore,
  outputs: ignore,
  summary: ignore,
  group: ignore,
}

function createReport(progress: Progress, writer: Partial<ReportWriter>): StepReport {
  return new StepReport({
    writer: { ...SILENT, ...writer },
    progress,
    redact: (text) => text,
    run: { serverUrl: '', repository: '', runId: '' },
    inputs: undefined,
  })
}

function endWithoutOutputs(result: RunResult, change: (progress: Progress) => void): string {
  const progress = new Progress(new FakeClock())
  change(progress)
  const errors: string[] = []
  const report = createReport(progress, {
    error: (text) => errors.push(text),
    outputs: () => {
      throw new Error('ENOSPC')
    },
  })
  report.end(result)
  expect(report.result).toMatchObject({ outcome: 'error', error: { code: 'internal' } })
  expect(report.exitCode).toBe(1)
  expect(errors).toHaveLength(1)
  return errors[0] ?? ''
}

const posted = (progress: Progress): void => {
  progress.posted = true
}
const FAILED = 'Writing the outputs failed: ENOSPC.'
const CHECK = "Check the runner's disk space and its GITHUB_OUTPUT file."

test.each([{ kind: 'create' }, { kind: 'message', jobId: 'job-1' }] as const)(
  'after a %j whose result is unknown',
  (request) => {
    const error = resultUnknown(request, 'read ECONNRESET')
    const text = endWithoutOutputs({ outcome: 'error', error }, posted)
    expect(text).toBe(`${FAILED} ${error.message} ${CHECK} ${error.advice}`)
    expect(text).not.toContain('Nothing was')
  },
)

test('with a job', () => {
  const text = endWithoutOutputs({ outcome: 'timed-out' }, (progress) => progress.update(job('active')))
  expect(text).toMatch(`${FAILED} The job is "job-1": active. ${CHECK} The job may still be running. `)
})

test('with a job that has ended', () => {
  const ended = job('completed', { prLink: LINK })
  const text = endWithoutOutputs({ outcome: 'pr-opened' }, (progress) => progress.update(ended))
  expect(text).toBe(`${FAILED} The job is "job-1": completed, pull request ${LINK}. ${CHECK}`)
})

test('with a job whose end may predate the message', () => {
  const text = endWithoutOutputs({ outcome: 'started' }, (progress) => {
    progress.messageAccepted()
    progress.update(job('completed'))
  })
  expect(text).toMatch(`${FAILED} The job is "job-1". ${CHECK} The job may still be running. `)
})

test.each([
  ['before anything was sent', () => undefined, 'sent'],
  ['after a request that was refused', posted, 'accepted'],
] as const)('%s', (_, change, what) => {
  expect(endWithoutOutputs({ outcome: 'cancelled' }, change)).toBe(`${FAILED} Nothing was ${what}. ${CHECK}`)
})

test('an end at once names the request that is in flight: the new job, if the earlier one is gone', () => {
  const progress = new Progress(new FakeClock())
  const report = createReport(progress, {})
  expect(report.resultUnknown()).toBeUndefined()
  progress.follow('job-1')
  progress.sending = true
  expect(report.resultUnknown()?.message).toMatch(/^The message to job "job-1" was sent/)
  progress.forget(LINK)
  expect(report.resultUnknown()?.message).toMatch(/^The create request was sent/)
})

test('the details of an error are not truncated before they are redacted', () => {
  const debugged: string[] = []
  const report = createReport(new Progress(new FakeClock()), { debug: (text) => debugged.push(text) })
  const cause = { data: 'x'.repeat(20_000) }
  report.end({ outcome: 'error', error: new ActionError('network', 'Broken.', '', { cause }) })
  expect(debugged.join()).toContain(`'${cause.data}'`)
})

test('a link that is not passed on is logged once, and a final status leaves the report to the end', () => {
  const lines: string[] = []
  const summaries: string[] = []
  const report = createReport(new Progress(new FakeClock()), {
    log: (line) => lines.push(line),
    summary: (text) => summaries.push(text),
  })
  report.onJob({ ...job('active'), linkRejected: true })
  report.onJob({ ...job('completed'), linkRejected: true })
  expect(lines).toEqual([
    "The service's pull request link was dropped, because it can't be passed on safely.",
    expect.stringContaining('active'),
    expect.stringContaining('completed'),
  ])
  expect(summaries).toHaveLength(1)
})
