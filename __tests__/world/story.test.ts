/** The simulated world of stories: who is in it, and who is not. */

import { createServer, get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { startListening } from '../support/listening.js'
import { inSimulation } from './story.js'

const HOUR = 3_600_000

async function request(port: number): Promise<number | undefined> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, agent: false }, resolve).on('error', reject)
  })
  return response.resume().statusCode
}

test('in a story, an hour passes at once and exactly', () =>
  inSimulation(async () => {
    const wallClock = Date.now()
    await sleep(HOUR)
    expect(performance.now()).toBe(HOUR)
    expect(Date.now() - wallClock).toBe(HOUR)
  }))

test('what runs beside a story has the real time and the real network', async () => {
  const real = await startListening(createServer((_, response) => void response.end()))
  const startedAt = performance.now()
  const [status] = await Promise.all([
    sleep(20).then(() => request(real.port)),
    inSimulation(async () => {
      await sleep(HOUR)
      await expect(request(real.port)).rejects.toThrow('ECONNREFUSED')
    }),
  ]).finally(real.close)
  expect(status).toBe(200)
  // Timers count whole milliseconds.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19)
})

test('a story that nothing can end says so', async () => {
  const endless = () => inSimulation(() => new Promise<void>(() => undefined))
  await expect(endless()).rejects.toThrow('At 0 ms the story has not ended')
})

test('stories take turns, and each begins at 0', async () => {
  const tell = () =>
    inSimulation(async () => {
      const startedAt = performance.now()
      await sleep(HOUR)
      return startedAt
    })
  expect(await Promise.all([tell(), tell()])).toEqual([0, 0])
})
