/** Prepares a run of the tests, before jest starts its workers. */

import { execFileSync, spawnSync } from 'node:child_process'

/** `node -e 0` takes this long on an idle machine, in milliseconds. */
const IDLE_MS = 40

/** Tests that need no bundle, which takes longer to make than they take to run. */
const PURE = /\bunit\b/

export default function globalSetup({
  nonFlagArgs,
}: {
  readonly nonFlagArgs: readonly string[]
}): void {
  if (nonFlagArgs.length === 0 || !nonFlagArgs.every((name) => PURE.test(name)))
    execFileSync(process.execPath, ['scripts/bundle.mjs', 'build/dist', '--if-changed'], {
      stdio: 'inherit',
    })
  // Not UTC, in which nobody would notice a date that is read as local time. Set here because
  // `process.env` inside a test is a copy, which does not change the time zone, and a variable in
  // front of a command would not work on Windows.
  process.env.TZ = 'America/New_York'
  process.env.TESTS_SLOWNESS = String(measureSlowness())
}

/** How many times slower than an idle machine this one is. */
function measureSlowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now()
    spawnSync(process.execPath, ['-e', '0'])
    return performance.now() - start
  })
  return Math.max(1, ...times.map((milliseconds) => milliseconds / IDLE_MS))
}
