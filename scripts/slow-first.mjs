/** Starts the tests that wait for real time limits first, so that the others run meanwhile. */

import Sequencer from '@jest/test-sequencer'

export default class SlowFirst extends Sequencer {
  /** @param {{ path: string }[]} tests */
  sort(tests) {
    const slow = (/** @type {{ path: string }} */ { path }) => Number(/slow\.test\.js$/.test(path))
    return [...super.sort(tests)].sort((one, other) => slow(other) - slow(one))
  }
}
