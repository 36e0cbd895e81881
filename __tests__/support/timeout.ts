/**
 * Prepares each test file: gives its tests more time on a slow or busy machine, and its stories a
 * simulated world.
 */

import { jest } from '@jest/globals'
import { scaled } from './time.js'
import '../world/story.js'

jest.setTimeout(scaled(60_000))
