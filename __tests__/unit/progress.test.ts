// What is known of the job at any moment, and which changes are news.
import { describe, expect, test } from '@jest/globals'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { job, LINK } from './scripted-run.js'

const create = () => new Progress(new FakeClock())

test('a new one knows nothing', () => {
  const texts = { jobId: '', previousLink: '', missedReason: '', notes: [], history: [] }
  const ofJob = { job: undefined, status: undefined, reuse: undefined, result: undefined }
  const ofRequests = { request: 'idle', posted: false, responded: false, accepted: false }
  expect(create()).toMatchObject({ ...texts, ...ofJob, ...ofRequests })
})

test('a job that was received replaces the last one, but not an id that is known', () => {
  const progress = create()
  const last = job('completed', { id: 'job-2' })
  progress.update(job('active'))
  progress.update(last)
  expect(progress).toMatchObject({ jobId: 'job-1', job: last, status: 'completed' })
})

test('a job is news if it is the first, or if its documented status or its link changed', () => {
  const progress = create()
  const updates: [status: string, isNews: boolean, fields?: Parameters<typeof job>[1]][] = [
    ['queued', true],
    ['paused', false],
    ['active', true],
    ['queued', false],
    ['active', false],
    ['active', true, { prLink: LINK }],
    ['active', false, { prLink: LINK }],
    ['completed', true, { prLink: LINK }],
    ['completed', false, { prLink: LINK, model: 'other' }],
    ['completed', true],
  ]
  for (const [status, isNews, fields] of updates) expect(progress.update(job(status, fields))).toBe(isNews)
})

test('an undocumented status leaves the last documented one', () => {
  const progress = create()
  for (const status of ['active', 'queued']) progress.update(job(status))
  expect(progress).toMatchObject({
    job: { rawStatus: 'queued' },
    status: 'active',
    history: [{ status: 'active' }],
  })
})

describe('a job that is followed', () => {
  const nothing = (): void => undefined
  test.each<[string, (progress: Progress) => void, object]>([
    ['is known by its id, with its link from before', nothing, { jobId: 'job-1', previousLink: LINK }],
    ['keeps that link if it is followed again', (one) => one.follow('job-1'), { previousLink: LINK }],
    ['has no link of another job', (one) => one.follow('job-2'), { jobId: 'job-2', previousLink: '' }],
    ['can be forgotten', (one) => one.forget(), { jobId: '', previousLink: '' }],
    ['can leave its link to a new job', (one) => one.forget(LINK), { jobId: '', previousLink: LINK }],
    ['is not accepted at first', nothing, { accepted: false, reuse: undefined }],
    ['is once it got a message', (one) => one.messageAccepted(), { accepted: true, reuse: 'message' }],
    ['is once it is waited for', (one) => one.attach(), { accepted: true, reuse: 'attach' }],
    ['is once it was received', (one) => one.update(job('active')), { accepted: true, reuse: undefined }],
  ])('%s', (_, change, expected) => {
    const progress = create()
    progress.follow('job-1', LINK)
    change(progress)
    expect(progress).toMatchObject(expected)
  })
})

test('a job was last seen when it was last received, and what was missed since is known', () => {
  const clock = new FakeClock()
  const progress = new Progress(clock)
  progress.update(job('active'))
  clock.advance(5000)
  progress.missed('the service responded 503')
  progress.missed('read ECONNRESET')
  expect(progress).toMatchObject({ sinceSeenMs: 5000, missedReason: 'read ECONNRESET' })
  clock.advance(1000)
  progress.update(job('active'))
  expect(progress).toMatchObject({ sinceSeenMs: 0, missedReason: '' })
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
