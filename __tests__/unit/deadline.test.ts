// One signal for the end of the step's time, and which of deadline and cancel raised it.
import { expect, test } from '@jest/globals'
import { createDeadline } from '../../src/net/deadline.js'
import { FakeClock } from './fake-clock.js'

const never = new AbortController().signal

test('the deadline raises the signal, and that is no cancel', async () => {
  const clock = new FakeClock()
  const stop = createDeadline(5000, never, clock)
  await clock.sleep(4999, never)
  expect(stop.signal.aborted).toBe(false)
  await clock.sleep(1, never)
  expect(stop.signal.aborted).toBe(true)
  expect(stop.cancelled()).toBe(false)
})

test('a cancel before the deadline raises it at once', async () => {
  const clock = new FakeClock()
  const cancel = new AbortController()
  const stop = createDeadline(5000, cancel.signal, clock)
  await clock.sleep(1000, never)
  expect(stop.cancelled()).toBe(false)
  cancel.abort()
  expect(stop.signal.aborted).toBe(true)
  expect(stop.cancelled()).toBe(true)
  await clock.sleep(9000, never)
  expect(stop.cancelled()).toBe(true)
})

test('a cancel after the deadline is none', async () => {
  const clock = new FakeClock()
  const cancel = new AbortController()
  const stop = createDeadline(5000, cancel.signal, clock)
  await clock.sleep(6000, never)
  cancel.abort()
  expect(stop.cancelled()).toBe(false)
})

test('a cancel that came before it was made counts', () => {
  const stop = createDeadline(5000, AbortSignal.abort(), new FakeClock())
  expect(stop.signal.aborted).toBe(true)
  expect(stop.cancelled()).toBe(true)
})

test('the time that is left is counted on the clock, never below 0', async () => {
  const clock = new FakeClock()
  const stop = createDeadline(5000, never, clock)
  expect(stop.remainingMs()).toBe(5000)
  await clock.sleep(2000, never)
  expect(stop.remainingMs()).toBe(3000)
  await clock.sleep(9000, never)
  expect(stop.remainingMs()).toBe(0)
})

test('a deadline that has passed already raises the signal', async () => {
  const clock = new FakeClock()
  await clock.sleep(6000, never)
  const stop = createDeadline(5000, never, clock)
  await clock.sleep(0, never)
  expect(stop.signal.aborted).toBe(true)
  expect(stop.cancelled()).toBe(false)
})
