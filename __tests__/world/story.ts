/**
 * The simulated world of a story, inside a test: its time and its network. jest loads this before
 * each test file, so that whatever the file imports can be in it; outside of a story everything is
 * Node's own.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll } from '@jest/globals'
import undiciTimers from 'undici/lib/util/timers.js'
import { Network } from './network.js'
import { Random } from './random.js'
import { Time } from './time.js'
import { replaceTimers } from './timers.js'

/** What travels takes a millisecond. */
const NETWORK = { travelMs: [1, 1], parts: 1 } as const

/** A story that goes on after this does not end. */
const LONGEST_MS = 24 * 60 * 60_000

const time = new Time()
const network = new Network(time, () => undefined)
const story = new AsyncLocalStorage<Random>()
const isInStory = (): boolean => story.getStore() !== undefined
const machine = { startedAt: 0, jumpedMs: 0, random: () => story.getStore()?.next() ?? 0 }

const putBack = [replaceTimers(time, () => machine, isInStory), network.install(isInStory)]
// The next test file has the same Node.
afterAll(() => {
  for (const call of putBack) call()
})

/** The stories of a test file have one world, so they take turns. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Tells a story: everything that it starts takes place in the simulated world, and nothing in it
 * waits.
 */
export function inSimulation<T>(tell: () => Promise<T>): Promise<T> {
  if (isInStory()) return tell()
  const told = last.catch(() => undefined).then(() => story.run(new Random(1), () => run(tell)))
  last = told
  return told
}

async function run<T>(tell: () => Promise<T>): Promise<T> {
  time.clear()
  undiciTimers.reset()
  network.begin({ seed: 1, plan: NETWORK, connecting: () => 'open' })
  return time.finish(tell(), 'the story', LONGEST_MS)
}
