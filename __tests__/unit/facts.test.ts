// What is known of a step after what happened, but for what the tests of its run and texts say.
import { expect, test } from '@jest/globals'
import { factsAfter, factsAtStart, type Happening } from '../../src/run/facts.js'
import { job } from './scripted-run.js'

/** Something happens each second. */
const after = (...happenings: Happening[]) =>
  happenings.reduce(
    (facts, happening, index) =>
      factsAfter(facts, happening, { now: () => index * 1000, date: () => new Date(0) }),
    factsAtStart(''),
  )
const sees = (status: string, fields = {}): Happening => ({
  kind: 'seen',
  job: job(status, fields),
})

test('a job that was received replaces the last one, but not an id that is known [report.facts.one]', () => {
  const facts = after(sees('active'), sees('completed', { id: 'job-2' }))
  expect(facts).toMatchObject({ jobId: 'job-1', seen: { job: { id: 'job-2' }, at: 1000 } })
})

test('what was missed is known until the job is seen, and each new status is kept [report.facts.one]', () => {
  const notSeen: Happening = { kind: 'not-seen', reason: 'read ECONNRESET' }
  const before = after(sees('active'), notSeen)
  expect(before).toMatchObject({ seen: { at: 0 }, notSeen: { reason: 'read ECONNRESET' } })
  const { notSeen: last, history } = after(sees('active'), notSeen, sees('active'), sees('failed'))
  expect(last).toBeUndefined()
  expect(history.map(({ elapsedMs }) => elapsedMs)).toEqual([0, 3000])
})

test('a request that left stays one that left, also if the next does not [report.true]', () => {
  const sending: Happening = { kind: 'sending', asked: 'job' }
  const refused = (posted: boolean): Happening => ({ kind: 'not-accepted', posted })
  const isPosted = (...happenings: Happening[]): boolean => after(...happenings).isRefused
  expect(isPosted(sending, refused(false))).toBe(false)
  expect(isPosted(sending, refused(true), sending)).toBe(true)
  expect(isPosted(sending, refused(true), sending, refused(false))).toBe(true)
})
