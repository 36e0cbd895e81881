/** Every request of a run fails once, each in one of the ways in turn; the sweep does it in every way. */

import { expect, test } from '@jest/globals'
import { CASES, expectNothingLost, INPUTS, REQUESTS } from '../support/each-request.js'
import { inWorld } from '../support/pull-request.js'

test('a run without a fault takes that many requests', () =>
  inWorld({}, async (world) => {
    await world.step(INPUTS)
    expect(world.github.requests).toHaveLength(REQUESTS)
  }))

const WAYS = CASES.length / REQUESTS
test.each(CASES.filter(({ index, nth }) => index % WAYS === nth))(
  '$name at request $index',
  expectNothingLost,
)
