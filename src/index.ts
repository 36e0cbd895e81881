/** The entry: runs the action, nothing else. */

import { main } from './main.js'

await main()
