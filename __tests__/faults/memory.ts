/** What GitHub holds after a step, read without the key. */

import type { StepRecord } from './execute.js'
import type { StepPlan } from './plan.js'

/** What a run leaves for the next one. */
export type Marker = NonNullable<ReturnType<typeof markerIn>>

/** Reads without the key what only a genuine step has written here. */
export function markerIn(text: string) {
  const data = /<!-- agent-job-action:2 [\w-]{22} ([\w-]+) [\w-]{43} -->/.exec(text)?.[1]
  if (data === undefined) return undefined
  const stored = JSON.parse(Buffer.from(data, 'base64url').toString())
  const [jobId, link, run, attempt, state]: [string, string, string, number, string] = stored
  return { jobId, link, run, attempt, state }
}

export function markersIn(texts: readonly string[]): Marker[] {
  return texts.map(markerIn).filter((marker) => marker !== undefined)
}

/** What GitHub holds after a step for a step with these inputs. */
export function memoryAfter({ comments, checks }: StepRecord, step: StepPlan) {
  const { inputs, event, runId, task } = step
  const scope = inputs['job-scope']
  const hasNumber = event === 'pull_request' || inputs['issue-number'] !== undefined
  const isComment = task === 'create' && (scope === 'issue' || (scope === 'pull-request' && hasNumber))
  const isCheck = inputs.check === 'true' && event !== 'issue_comment'
  const ofChecks = markersIn(checks.map(({ output }) => output.text ?? ''))
  return {
    /** Whether the comment decides, and whether there has to be a check. */
    isComment,
    isCheck,
    comment: isComment ? markersIn(comments).at(-1) : undefined,
    /** That of the newest check of this run. */
    check: isCheck ? ofChecks.findLast(({ run }) => run === String(runId)) : undefined,
  }
}
