/** Why a run was given no secrets. */

import { readFileSync } from 'node:fs'
import type { RunEnvironment } from './event.js'

/**
 * Why the runner handed this run no Actions secrets, in words for the reader; undefined where nothing speaks for it.
 *
 * Neither a pull request from a fork nor a run by Dependabot gets them
 * (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request and
 * docs.github.com/en/code-security/reference/supply-chain-security/dependabot-on-actions).
 */
export function secretsWithheld({
  actor,
  eventName,
  eventPath,
}: Pick<RunEnvironment, 'actor' | 'eventName' | 'eventPath'>): string | undefined {
  if (actor === 'dependabot[bot]') {
    return (
      'This run was triggered by Dependabot, which gets Dependabot secrets and no Actions secrets. ' +
      "Add the key to the repository's Dependabot secrets too, or skip the step: " +
      "if: github.actor != 'dependabot[bot]'."
    )
  }
  // pull_request_target and its like run with the base's secrets.
  if (/^pull_request(?:_review|_review_comment)?$/.test(eventName) && isFromFork(eventPath)) {
    return (
      'This pull request comes from a fork, and such runs get no secrets. ' +
      'Skip the step for forks: if: github.event.pull_request.head.repo.full_name == github.repository.'
    )
  }
  return undefined
}

function isFromFork(path: string): boolean {
  try {
    const payload = JSON.parse(readFileSync(path, 'utf8'))
    const { head, base } = payload.pull_request
    return head.repo === null || head.repo.full_name !== base.repo.full_name
  } catch {
    return false // No payload to read, nothing that speaks for a fork.
  }
}
