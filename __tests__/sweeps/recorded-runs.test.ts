/** Dry runs of the bundle with every recorded payload, each with one of three sets of inputs. */

import { testDryRuns } from '../support/dry-runs.js'
import { RECORDED } from '../support/recorded.js'

testDryRuns(RECORDED)
