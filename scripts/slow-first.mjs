/** Starts the tests that wait for real time limits first, so that the others run meanwhile. */

import Sequencer from '@jest/test-sequencer'

/** Those that wait longest come last here. */
const WAITING = [/[\\/]e2e[\\/]/, /[\\/]slow\.test\.js$/]

export default class SlowFirst extends Sequencer {
  /** @param {{ path: string }[]} tests */
  sort(tests) {
    const wait = (/** @type {{ path: string }} */ { path }) => WAITING.findLastIndex((one) => one.test(path))
    return [...super.sort(tests)].sort((one, other) => wait(other) - wait(one))
  }
}
