/** Starts slow.test.ts first: it only waits, and the others run meanwhile. Without a cache, jest sorts by size. */

import Sequencer from '@jest/test-sequencer'

/** Those that wait longest come last here. */
const WAITING = [/[\\/]e2e[\\/]/, /[\\/]slow\.test\.js$/]

export default class SlowFirst extends Sequencer {
  sort(tests) {
    const wait = (/** @type {{ path: string }} */ { path }) => WAITING.findLastIndex((one) => one.test(path))
    return [...super.sort(tests)].sort((one, other) => wait(other) - wait(one))
  }
}
