// One signal for deadline and cancellation, and which of the two aborted it.
import { expect, test } from '@jest/globals'
import { aborted, createDeadline } from '../../src/net/deadline.js'
import { FakeClock } from './fake-clock.js'

const never = new AbortController().signal

test('the deadline aborts the signal, and is not a cancel', async () => {
  const clock = new FakeClock()
  const deadline = createDeadline(5000, never, clock)
  await clock.sleep(4999, never)
  expect(deadline.signal.aborted).toBe(false)
  await clock.sleep(1, never)
  expect(deadline.signal.aborted).toBe(true)
  expect(deadline.cancelled()).toBe(false)
})

test('a cancel before the deadline aborts it immediately', async () => {
  const clock = new FakeClock()
  const cancel = new AbortController()
  const deadline = createDeadline(5000, cancel.signal, clock)
  await clock.sleep(1000, never)
  expect(deadline.cancelled()).toBe(false)
  cancel.abort()
  expect(deadline.signal.aborted).toBe(true)
  expect(deadline.cancelled()).toBe(true)
  await clock.sleep(9000, never)
  expect(deadline.cancelled()).toBe(true)
})

test('a cancel after the deadline does not count', async () => {
  const clock = new FakeClock()
  const cancel = new AbortController()
  const deadline = createDeadline(5000, cancel.signal, clock)
  await clock.sleep(6000, never)
  cancel.abort()
  expect(deadline.cancelled()).toBe(false)
})

test('a cancel before the deadline was created counts', () => {
  const deadline = createDeadline(5000, AbortSignal.abort(), new FakeClock())
  expect(deadline.signal.aborted).toBe(true)
  expect(deadline.cancelled()).toBe(true)
})

test('the remaining time is measured on the clock, never below 0', async () => {
  const clock = new FakeClock()
  const deadline = createDeadline(5000, never, clock)
  expect(deadline.remainingMs()).toBe(5000)
  await clock.sleep(2000, never)
  expect(deadline.remainingMs()).toBe(3000)
  await clock.sleep(9000, never)
  expect(deadline.remainingMs()).toBe(0)
})

test('a deadline that has already passed aborts the signal', async () => {
  const clock = new FakeClock()
  await clock.sleep(6000, never)
  const deadline = createDeadline(5000, never, clock)
  await clock.sleep(0, never)
  expect(deadline.signal.aborted).toBe(true)
  expect(deadline.cancelled()).toBe(false)
})

test('aborted waits for the signal, unless it is aborted already', async () => {
  const cancel = new AbortController()
  let ended = false
  const waiting = aborted(cancel.signal).then(() => {
    ended = true
  })
  await new Promise(setImmediate)
  expect(ended).toBe(false)
  cancel.abort()
  await waiting
  expect(ended).toBe(true)
  await aborted(cancel.signal)
})
