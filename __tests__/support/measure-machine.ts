/** Measures, before the tests, how many times slower than an idle machine this one is. jest calls it once. */

import { spawnSync } from 'node:child_process'

/** `node -e 0` takes this long on an idle machine, in milliseconds. */
const IDLE_MS = 40

export default function measureMachine(): void {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now()
    spawnSync(process.execPath, ['-e', '0'])
    return performance.now() - start
  })
  process.env.TESTS_SLOWNESS = String(Math.max(1, ...times.map((milliseconds) => milliseconds / IDLE_MS)))
}
