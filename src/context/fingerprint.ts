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
  if (inputs.context === 'none' || findings?.changes.kind !== 'listed') return undefined
  const { changes, thread } = findings
  if (changes.gap !== undefined || changes.truncated) return undefined
  const files = filesThatCount(changes.files, inputs)
  if (files.some(({ patch, sha }) => !patch && !sha)) return undefined
  const [pull, issue] = ['pull_request', 'issue'].map((name) => getPath(payload, name))
  const words = ['title', 'body'].map((name) => getString(pull ?? issue ?? thread?.data, name))
  // An empty file had no diff when this was pinned, and one that was only renamed had an empty one.
  const parts = files.map(({ patch, ...file }) => [
    file,
    `\n${patch || (file.status === 'renamed' ? patch : undefined)}`.replace(/\n@@[^\n]*/g, '\n@@'),
  ])
  const all = JSON.stringify([prompt, inputs.context, words, parts])
  return createHash('sha256').update(all).digest('base64url')
}
