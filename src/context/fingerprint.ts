/** What later runs compare: whether they would send the same. Pure. */

import { createHash } from 'node:crypto'
import { getPath, getString } from '../event/payload.js'
import type { Findings } from './changes/types.js'
import { type ContextInputs, filesThatCount } from './judge.js'

/**
 * The same for a push that changes nothing of a pull request, such as a merge of its base, which at
 * most moves the line numbers of its hunks. [paid.push.unchanged] Undefined if not all is known:
 * that may be new. [paid.push.unknown] A release that changed it would pay for each open pull
 * request once more. [paid.fingerprint.pinned]
 */
export function fingerprint(
  prompt: string,
  findings: Findings | undefined,
  inputs: ContextInputs,
  payload: unknown,
): string | undefined {
  if (inputs.context === 'none' || !findings || 'reason' in findings.changes) return undefined
  const { changes, thread } = findings
  // Without commits, there are no files. [paid.schedule.unchanged]
  const listed = changes.kind === 'listed' ? changes : undefined
  if (listed?.gap !== undefined || listed?.truncated) return undefined
  const files = filesThatCount(listed?.files ?? [], inputs)
  if (files.some(({ patch, sha }) => !patch && !sha)) return undefined
  const [pull, issue] = ['pull_request', 'issue'].map((name) => getPath(payload, name))
  const words = ['title', 'body'].map((name) => getString(pull ?? issue ?? thread?.data, name))
  const parts = files.map(({ patch, ...file }) => [
    file,
    `\n${patch}`.replace(/\n@@[^\n]*/g, '\n@@'),
  ])
  const all = JSON.stringify([prompt, inputs.context, words, parts])
  return createHash('sha256').update(all).digest('base64url')
}
