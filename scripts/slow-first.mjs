/** Starts slow.test.ts first: it only waits, and the others run meanwhile. Without a cache, jest sorts by size. */

import Sequencer from '@jest/test-sequencer'

export default class SlowFirst extends Sequencer {
  sort(tests) {
    const isSlow = ({ path }) => path.endsWith('slow.test.js')
    return super.sort(tests).sort((one, other) => isSlow(other) - isSlow(one))
  }
}
