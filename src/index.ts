/** The entry: runs the action, nothing else. [house.node] */

import { main } from './main.js'

// [house.node]
await main()
