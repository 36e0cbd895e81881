/** Gives each test more time on a slow or busy machine. jest loads this before each test file. */

import { jest } from '@jest/globals'
import { scaled } from './time.js'

jest.setTimeout(scaled(60_000))
