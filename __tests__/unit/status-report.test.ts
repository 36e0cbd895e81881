import { expect, test } from '@jest/globals'
import { StatusReport } from '../../src/report/status-report.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'

test.each([
  [true, 3_000],
  [false, 10_000],
])('limits the last edits, cancelled before: %s', async (isCancelled, limitMs) => {
  const report = new StatusReport({
    progress: new Progress(new FakeClock()),
    redact: (text) => text,
    runUrl: '',
    summaryOptions: () => {
      throw new Error('not needed')
    },
    failOn: () => new Set(),
  })
  const limits: number[] = []
  report.writers = [
    {
      writePlaceholder: async () => undefined,
      enqueue: () => undefined,
      close: async (limit) => {
        limits.push(limit)
      },
    },
  ]
  const cancel = new AbortController()
  if (isCancelled) cancel.abort()
  await report.close(60_000, cancel.signal)
  expect(limits).toEqual([limitMs])
})
