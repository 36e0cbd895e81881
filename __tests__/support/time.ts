/**
 * Time in tests: limits that grow with the load of the machine, and waiting for what happens
 * instead of for a while.
 */

/**
 * A step takes this long from its start to its first line, on an idle machine with two cores, in
 * milliseconds.
 */
const IDLE_START_MS = 80
/** At most this many steps of a test file run at the same time: `maxConcurrency` of jest. */
const CONCURRENT = 8

/**
 * How many times longer than that the last starts took; before the first one, what global-setup.ts
 * found.
 */
const slowness = [Number(process.env.TESTS_SLOWNESS ?? 1)]

/** Records how long a step took to start: the measure of how busy the machine is. */
export function recordStart(milliseconds: number): void {
  slowness.push(milliseconds / IDLE_START_MS)
  if (slowness.length > CONCURRENT) slowness.shift()
}

/** How long this machine needs for what takes an idle one this long. */
export const scaled = (milliseconds: number): number => milliseconds * Math.max(1, ...slowness)

/** The limit for what has to happen after this time: it may take a second of an idle machine. */
export const soonAfter = (milliseconds: number): number => milliseconds + scaled(1_000)

/**
 * A deadline that a test waits for: a step has time to start and to retry, which takes 2 s for a
 * response.
 */
export const shortDeadline = (): number => 4_000 + scaled(500)

/** A time as the input `timeout-minutes`. */
export const minutes = (milliseconds: number): string => String(milliseconds / 60_000)

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise<void>((resolve) => void setTimeout(resolve, 5).unref())
}
