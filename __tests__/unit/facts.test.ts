// What is known of a step after its events, but for what the tests of a run and of its texts say.
import { expect, test } from '@jest/globals'
import { factsAfter, factsAtStart, type StepEvent, wasPosted } from '../../src/run/facts.js'
import { job, LINK } from './scripted-run.js'

/** An event each second. */
const after = (...events: StepEvent[]) =>
  events.reduce(
    (facts, event, index) =>
      factsAfter(facts, event, { now: () => index * 1000, date: () => new Date(0) }),
    factsAtStart(''),
  )
const sees = (status: string, fields = {}): StepEvent => ({
  kind: 'seen',
  job: job(status, fields),
})

test('a job that was received replaces the last one, but not an id that is known', () => {
  const facts = after(sees('active'), sees('completed', { id: 'job-2' }))
  expect(facts).toMatchObject({ jobId: 'job-1', seen: { job: { id: 'job-2' }, at: 1000 } })
})

test('a new job has neither the id nor the pull request of the one before', () => {
  const left: StepEvent = { kind: 'remembered', jobId: 'job-1', link: LINK }
  expect(after(left)).toMatchObject({ jobId: 'job-1', previousLink: LINK })
  expect(after(left, { kind: 'replaced', link: '' })).toMatchObject({ jobId: '', previousLink: '' })
})

test('what was missed is known until the job is seen, and each new status is kept', () => {
  const missed: StepEvent = { kind: 'missed', reason: 'read ECONNRESET' }
  const before = after(sees('active'), missed)
  expect(before).toMatchObject({ seen: { at: 0 }, missedReason: 'read ECONNRESET' })
  const { missedReason, history } = after(sees('active'), missed, sees('active'), sees('failed'))
  expect(missedReason).toBe('')
  expect(history.map(({ elapsedMs }) => elapsedMs)).toEqual([0, 3000])
})

test('a request that left stays one that left, also if the next does not', () => {
  const sending: StepEvent = { kind: 'sending', asked: 'job' }
  const refused = (posted: boolean): StepEvent => ({ kind: 'not-accepted', posted })
  const isPosted = (...events: StepEvent[]): boolean => wasPosted(after(...events))
  expect(isPosted(sending, refused(false))).toBe(false)
  expect(isPosted(sending, refused(true), sending)).toBe(true)
  expect(isPosted(sending, refused(true), sending, refused(false))).toBe(true)
})
