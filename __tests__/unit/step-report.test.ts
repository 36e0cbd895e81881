// The end of a step whose outputs can't be written: what would have been said otherwise is not lost.
import { expect, test } from '@jest/globals'
import { resultUnknown } from '../../src/agent/problems.js'
import { StepReport } from '../../src/report/step-report.js'
import type { RunResult } from '../../src/run/ports.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { job, LINK } from './scripted-run.js'

function endWithoutOutputs(result: RunResult, change: (progress: Progress) => void): string {
  const progress = new Progress(new FakeClock())
  change(progress)
  const errors: string[] = []
  const ignore = (): void => undefined
  const report = new StepReport({
    writer: {
      log: ignore,
      debug: ignore,
      warn: ignore,
      notice: ignore,
      error: (text) => errors.push(text),
      outputs: () => {
        throw new Error('ENOSPC')
      },
      summary: ignore,
    },
    progress,
    redact: (text) => text,
    runUrl: '',
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
