/** Dry runs of the bundle with a recorded payload of some events; the sweep runs it with all payloads of all of them. */

import { testDryRuns } from '../support/dry-runs.js'
import { RECORDED } from '../support/recorded.js'

const EVENTS = [
  'discussion_comment',
  'issue_comment',
  'issues',
  'pull_request',
  'push',
  'release',
  'repository_dispatch',
  'workflow_dispatch',
  'workflow_run',
]

testDryRuns(EVENTS.flatMap((name) => RECORDED.find(({ event }) => event === name) ?? []))
