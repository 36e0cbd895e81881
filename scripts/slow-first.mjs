/** Starts the tests first that wait for most of their time, so that others run meanwhile. */

import Sequencer from '@jest/test-sequencer'

/** Those that wait longest come last here. */
const WAITING = [
  /[\\/](?:e2e|emulator)[\\/]/,
  /[\\/](?:slow|outcomes|edges|network|simulation)\.test\.js$/,
]

export default class SlowFirst extends Sequencer {
  sort(tests) {
    const wait = (/** @type {{ path: string }} */ { path }) =>
      WAITING.findLastIndex((one) => one.test(path))
    return [...super.sort(tests)].sort((one, other) => wait(other) - wait(one))
  }
}
