/**
 * What a step remembers of earlier runs and stores for later ones, in its comment on a pull request
 * or an issue; and the docs pull request that is remembered. Other folders import this file alone.
 */

import type { AgentService } from '../agent/client.js'
import type { GitHubRepo } from '../github/client.js'
import type { Step } from '../run/step.js'
import { type Comment, keepComment } from './comment.js'
import type { DocsPulls } from './docs-pull.js'
import { deriveMarkerKeys, identify, keyed, type MarkerKeys } from './marker.js'
import { findPreviousRun } from './previous-run.js'
import { findThread, openComments } from './thread.js'

export { openDocsPulls } from './docs-pull.js'

export type Memory = ReturnType<typeof openMemory>

export interface MemoryStep extends Step {
  readonly repo: GitHubRepo
  readonly docsPulls: DocsPulls
}

/**
 * Opens the memory of a step; nothing is read yet.
 *
 * @param isMerged the step is about the pull request that a push has merged
 */
export function openMemory(step: MemoryStep, isMerged: boolean) {
  const { apiKey, previousApiKey } = step.inputs
  const markerKeys = deriveMarkerKeys(apiKey, previousApiKey)
  const comment = openComment(step, isMerged, markerKeys)
  return {
    /** Undefined if the step has none. */
    comment,
    /**
     * What is remembered for this run: a job to wait for, sending nothing; or what to continue.
     *
     * @throws ActionError `github`
     */
    recall: async (service: AgentService) =>
      comment?.isMemory ? findPreviousRun({ ...step, service, comment }) : undefined,
    keyed: (fingerprint: string) => keyed(fingerprint, markerKeys),
  }
}

/** Without a pull request or an issue, a scope works like `run`. [input.scope] */
function openComment(
  step: MemoryStep,
  isMerged: boolean,
  markerKeys: MarkerKeys,
): Comment | undefined {
  const { inputs, event, repo, log, nonce } = step
  const { jobScope, issueNumber } = inputs
  const needsMemory = jobScope !== 'run'
  const thread = findThread(event, issueNumber, isMerged)
  const isOther =
    jobScope === 'pull-request' && thread?.kind === 'issue' && issueNumber === undefined
  const isMemory = needsMemory && thread !== undefined && !isOther
  if (!isMemory && (needsMemory || (inputs.comment && thread === undefined))) {
    const what = needsMemory ? 'pull request' : 'pull request or issue'
    const consequence = needsMemory ? 'its docs job is its own' : 'there is nothing to comment on'
    log(`This run (${event.name}) is about no single ${what}: ${consequence}.`)
  }
  if (thread === undefined || !(isMemory || inputs.comment)) return undefined
  return keepComment({
    ...step,
    comments: openComments(repo, thread, nonce()),
    identity: identify(step, thread.number),
    markerKeys,
    isMemory,
  })
}
