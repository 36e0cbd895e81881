/** Detects runs triggered by the agent itself, so that its own pull requests start no jobs. Pure. */

import type { PushEvent, RunEvent } from './event.js'

/** What the event alone decides. */
export interface SkipDecision {
  /** Why the run is skipped; undefined if it is not, or not yet. */
  readonly reason: string | undefined
  /** The run is skipped all the same if each of these commits is a merge. */
  readonly commitsToCheck: readonly string[]
}

const NO_SKIP: SkipDecision = { reason: undefined, commitsToCheck: [] }

const skip = (reason: string): SkipDecision => ({ reason, commitsToCheck: [] })

/**
 * Skips pull requests by these authors, and pushes whose sender, or whose every non-merge commit's author, is one of
 * them. The payload of a push does not tell merges from other commits.
 *
 * @param authors in lower case
 */
export function checkSkipAuthors(event: RunEvent, authors: ReadonlySet<string>): SkipDecision {
  const isListed = (login: string): boolean => authors.has(login.toLowerCase())
  const { pullRequest, push } = event
  if (pullRequest !== undefined) {
    return isListed(pullRequest.author) ? skip(`the pull request is by ${pullRequest.author}`) : NO_SKIP
  }
  if (push === undefined) return NO_SKIP
  return isListed(push.sender) ? skip(`the push is by ${push.sender}`) : checkCommits(push, isListed)
}

function checkCommits({ commits }: PushEvent, isListed: (login: string) => boolean): SkipDecision {
  const others = commits.filter(({ author }) => !isListed(author))
  if (commits.length === others.length) return NO_SKIP
  return others.length === 0
    ? skip('every commit in the push is by one of skip-authors')
    : { reason: undefined, commitsToCheck: others.map(({ sha }) => sha) }
}
