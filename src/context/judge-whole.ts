/** Reads what GitHub left out of the changes, if the run isn't skipped anyway. */

import type { GitHubRepo } from '../github/client.js'
import { readParts } from './changes/parts.js'
import type { ChangedFile, Findings } from './changes/types.js'
import { type ContextInputs, filesThatCount, judgeChanges } from './judge.js'

/**
 * Judged before parts are read: what is skipped takes no requests for them, and only diffs need
 * them. A list that was cut is then judged as a whole. [range.cut.judged]
 */
export async function judgeWhole<F extends Findings>(
  inputs: ContextInputs,
  eventName: string,
  findings: F,
  repo: GitHubRepo,
) {
  const judged = judgeChanges(inputs, eventName, findings)
  const { changes } = findings
  if (judged?.kind === 'skip' || inputs.context !== 'diff' || changes.kind !== 'listed')
    return { findings, judged }
  const counts = (file: ChangedFile) => filesThatCount([file], inputs).length > 0
  const whole = { ...findings, changes: await readParts(repo, changes, counts) }
  return { findings: whole, judged: judgeChanges(inputs, eventName, whole) }
}
