/** Every request of a run to GitHub fails in every way. */

import { test } from '@jest/globals'
import { CASES, expectNothingLost } from '../support/each-request.js'

test.each(CASES)('$name at request $index', expectNothingLost)
