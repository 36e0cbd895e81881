// What is known of the job at any moment, and when a reader is told.
import { describe, expect, test } from '@jest/globals'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { job, LINK } from './scripted-run.js'

test('before anything is known, nothing is', () => {
  expect(new Progress(new FakeClock())).toMatchObject({
    jobId: '',
    job: undefined,
    status: undefined,
    reused: false,
    sending: false,
    moments: [],
  })
})

describe('a job that is seen', () => {
  test('is the last one, its id only where none was known', () => {
    const progress = new Progress(new FakeClock())
    progress.see(job('active'))
    const last = job('completed', { id: 'job-2' })
    progress.see(last)
    expect(progress.jobId).toBe('job-1')
    expect(progress.job).toBe(last)
    expect(progress.status).toBe('completed')
  })

  test('is news where its status or its link changed', () => {
    const progress = new Progress(new FakeClock())
    const seen = [
      job('active'),
      job('active'),
      job('active', { prLink: LINK }),
      job('active', { prLink: LINK }),
      job('completed', { prLink: LINK }),
      job('completed', { prLink: LINK, model: 'other' }),
      job('completed'),
    ]
    expect(seen.map((one) => progress.see(one))).toEqual([true, false, true, false, true, false, true])
  })

  test('with a word that is not in the list is news only where it is the first, and keeps the last status', () => {
    const progress = new Progress(new FakeClock())
    const words = ['queued', 'paused', 'active', 'queued', 'active']
    expect(words.map((word) => progress.see(job(word)))).toEqual([true, false, true, false, false])
    expect(progress.see(job('queued'))).toBe(false)
    expect(progress.job).toMatchObject({ word: 'queued', status: undefined })
    expect(progress.status).toBe('active')
    expect(progress.moments).toMatchObject([{ status: 'active' }])
  })
})

test('each change of status stands with the time when it was first seen', () => {
  const clock = new FakeClock('2025-03-01T12:00:00.000Z')
  clock.advance(1000)
  const progress = new Progress(clock, 1000)
  for (const status of ['active', 'active', 'completed', 'active']) {
    progress.see(job(status))
    clock.advance(5000)
  }
  expect(progress.moments).toEqual([
    { date: new Date('2025-03-01T12:00:01.000Z'), afterMs: 0, status: 'active' },
    { date: new Date('2025-03-01T12:00:11.000Z'), afterMs: 10_000, status: 'completed' },
    { date: new Date('2025-03-01T12:00:16.000Z'), afterMs: 15_000, status: 'active' },
  ])
  expect(progress.elapsedMs()).toBe(20_000)
})
