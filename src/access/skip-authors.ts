/** Detects runs triggered by the agent itself, so that its own pull requests start no jobs. Pure. */

import { type Commit, PUSH_COMMITS_LIMIT, pushedCommits, type RunEvent } from '../event/event.js'

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
 * Skips what these accounts caused: their pull requests, comments and reviews, and every event they are the sender of,
 * such as a push to somebody's pull request; also pushes whose every non-merge commit is theirs. The payload of a push
 * does not tell merges from other commits.
 *
 * A person's comment on a pull request of theirs is the person's.
 *
 * @param authors in lower case
 */
export function checkSkipAuthors(event: RunEvent, authors: ReadonlySet<string>): SkipDecision {
  const isListed = (login: string): boolean => authors.has(login.toLowerCase())
  const { name, sender, commentAuthor, pullRequest } = event
  if (isListed(sender))
    return skip(name === 'push' ? `the push is by ${sender}` : `this ${name} event was caused by ${sender}`)
  if (commentAuthor !== undefined) {
    return isListed(commentAuthor) ? skip(`the comment or review is by ${commentAuthor}`) : NO_SKIP
  }
  if (pullRequest !== undefined) {
    return isListed(pullRequest.author) ? skip(`the pull request is by ${pullRequest.author}`) : NO_SKIP
  }
  return checkCommits(pushedCommits(event), isListed)
}

function checkCommits(commits: readonly Commit[], isListed: (login: string) => boolean): SkipDecision {
  const others = commits.filter(({ author }) => !isListed(author))
  // Those that the payload leaves out may be by anyone.
  if (commits.length === others.length || commits.length >= PUSH_COMMITS_LIMIT) return NO_SKIP
  return others.length === 0
    ? skip('every commit in the push is by one of skip-authors')
    : { reason: undefined, commitsToCheck: others.map(({ sha }) => sha) }
}
