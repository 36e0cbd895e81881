/** A dry run of the bundle with one recorded payload of each event; the sweep runs it with all of them. */

import { testDryRuns } from '../support/dry-runs.js'
import { RECORDED } from '../support/recorded.js'

const isFirst = (event: string, index: number): boolean =>
  RECORDED.findIndex((one) => one.event === event) === index

testDryRuns(RECORDED.filter(({ event }, index) => isFirst(event, index)))
