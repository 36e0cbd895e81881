// What is known of the job at any moment, and which changes are news.
import { describe, expect, test } from '@jest/globals'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { job, LINK } from './scripted-run.js'

test('a new one knows nothing', () => {
  expect(new Progress(new FakeClock())).toMatchObject({
    jobId: '',
    job: undefined,
    status: undefined,
    previousLink: '',
    reuse: undefined,
    sending: false,
    resultUnknown: false,
    posted: false,
    responded: false,
    notes: [],
    history: [],
    accepted: false,
  })
})

describe('a job that was received', () => {
  test('replaces the last one, but not an id that is known', () => {
    const progress = new Progress(new FakeClock())
    progress.update(job('active'))
    const last = job('completed', { id: 'job-2' })
    progress.update(last)
    expect(progress.jobId).toBe('job-1')
    expect(progress.job).toBe(last)
    expect(progress.status).toBe('completed')
  })

  test('is news if its status or its link changed', () => {
    const progress = new Progress(new FakeClock())
    const jobs = [
      job('active'),
      job('active'),
      job('active', { prLink: LINK }),
      job('active', { prLink: LINK }),
      job('completed', { prLink: LINK }),
      job('completed', { prLink: LINK, model: 'other' }),
      job('completed'),
    ]
    expect(jobs.map((one) => progress.update(one))).toEqual([true, false, true, false, true, false, true])
  })

  test('with an undocumented status is news only if it is the first, and keeps the last documented status', () => {
    const progress = new Progress(new FakeClock())
    const statuses = ['queued', 'paused', 'active', 'queued', 'active']
    expect(statuses.map((status) => progress.update(job(status)))).toEqual([true, false, true, false, false])
    expect(progress.update(job('queued'))).toBe(false)
    expect(progress.job).toMatchObject({ rawStatus: 'queued', status: undefined })
    expect(progress.status).toBe('active')
    expect(progress.history).toMatchObject([{ status: 'active' }])
  })
})

describe('a job that is followed', () => {
  const linked = (): Progress => {
    const progress = new Progress(new FakeClock())
    progress.follow('job-1', LINK)
    return progress
  }
  const known = ({ jobId, previousLink }: Progress) => [jobId, previousLink]

  test('is known by its id, with its link from before', () => {
    expect(known(linked())).toEqual(['job-1', LINK])
  })

  test('keeps that link if it is followed again, another job has none', () => {
    const progress = linked()
    progress.follow('job-1')
    expect(known(progress)).toEqual(['job-1', LINK])
    progress.follow('job-2')
    expect(known(progress)).toEqual(['job-2', ''])
  })

  test('is forgotten if it is of no use', () => {
    const progress = linked()
    progress.forget()
    expect(known(progress)).toEqual(['', ''])
  })

  test('is accepted once it got a message, is waited for or was received', () => {
    const [messaged, attached, received] = [linked(), linked(), linked()]
    messaged.messageAccepted()
    attached.attach()
    received.update(job('active'))
    const state = ({ accepted, reuse }: Progress) => [accepted, reuse]
    expect([linked(), messaged, attached, received].map(state)).toEqual([
      [false, undefined],
      [true, 'message'],
      [true, 'attach'],
      [true, undefined],
    ])
  })
})

test('each change of status has the time when it was first seen', () => {
  const clock = new FakeClock('2025-03-01T12:00:00.000Z')
  clock.advance(1000)
  const progress = new Progress(clock, 1000)
  for (const status of ['active', 'active', 'completed', 'active']) {
    progress.update(job(status))
    clock.advance(5000)
  }
  expect(progress.history).toEqual([
    { date: new Date('2025-03-01T12:00:01.000Z'), elapsedMs: 0, status: 'active' },
    { date: new Date('2025-03-01T12:00:11.000Z'), elapsedMs: 10_000, status: 'completed' },
    { date: new Date('2025-03-01T12:00:16.000Z'), elapsedMs: 15_000, status: 'active' },
  ])
  expect(progress.elapsedMs()).toBe(20_000)
})
