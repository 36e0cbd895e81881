import { expect, test } from '@jest/globals'
import { StatusReport } from '../../src/report/status-report.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'

function createReport(progress: Progress): StatusReport {
  const redact = (text: string): string => text
  return new StatusReport({
    progress,
    redact,
    runUrl: '',
    summaryOptions: (result) => ({ inputs: undefined, progress, result, redact }),
    failOn: () => new Set(),
  })
}

test.each([
  [true, 3_000],
  [false, 10_000],
])('limits the last edits, cancelled before: %s', async (isCancelled, limitMs) => {
  const report = createReport(new Progress(new FakeClock()))
  const limits: number[] = []
  report.writers.push({
    writePlaceholder: async () => undefined,
    enqueue: () => undefined,
    close: async (limit) => {
      limits.push(limit)
    },
  })
  const cancel = new AbortController()
  if (isCancelled) cancel.abort()
  await report.close(60_000, cancel.signal)
  expect(limits).toEqual([limitMs])
})

test.each([
  ['a create request that is sent', '', true, 'sending'],
  ['a create request that was refused and will be sent again', '', false, 'sending'],
  ['a message that is sent', 'job-1', true, 'sending'],
  ['a message that was refused, which a re-run must send', 'job-1', false, 'unsent'],
])('stores the state of %s', (_, jobId, sending, state) => {
  const progress = new Progress(new FakeClock())
  progress.follow(jobId)
  progress.sending = sending
  const report = createReport(progress)
  const states: string[] = []
  report.writers.push({
    writePlaceholder: async () => undefined,
    enqueue: (update) => states.push(update.state),
    close: async () => undefined,
  })
  report.update(undefined)
  expect(states).toEqual([state])
})
