// What is known of the job at any moment, but for what the tests of a run and of its texts say.
import { expect, test } from '@jest/globals'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { job, LINK } from './scripted-run.js'

test('a job that was received replaces the last one, but not an id that is known', () => {
  const progress = new Progress(new FakeClock())
  const last = job('completed', { id: 'job-2' })
  progress.update(job('active'))
  progress.update(last)
  expect(progress).toMatchObject({ jobId: 'job-1', job: last, status: 'completed' })
})

test.each([
  ['job-1', LINK],
  ['job-2', ''],
])(
  'a job keeps its link from before if it is followed again, and no other has it: %s',
  (jobId, previousLink) => {
    const progress = new Progress(new FakeClock())
    progress.follow('job-1', LINK)
    progress.follow(jobId)
    expect(progress).toMatchObject({ jobId, previousLink })
  },
)

test('a job was last seen when it was last received, and what was missed since is known', () => {
  const clock = new FakeClock()
  const progress = new Progress(clock)
  progress.update(job('active'))
  clock.advance(5000)
  progress.missedReason = 'read ECONNRESET'
  expect(progress).toMatchObject({ sinceSeenMs: 5000, missedReason: 'read ECONNRESET' })
  clock.advance(1000)
  progress.update(job('completed'))
  expect(progress).toMatchObject({ sinceSeenMs: 0, missedReason: '' })
  expect(progress.history.map(({ elapsedMs }) => elapsedMs)).toEqual([0, 6000])
})
