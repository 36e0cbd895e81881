/** The entry: runs the action, nothing else. [house.bundle.small] */

import { main } from './main.js'

// [house.bundle.small]
await main()
