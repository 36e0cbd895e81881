/** The entry: runs the action, nothing else. [house.node] */

import { main } from './main.js'

await main()
