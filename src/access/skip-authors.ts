/**
 * Detects runs triggered by the agent itself, so that its own pull requests start no jobs; those of
 * a merge queue that has merged nothing yet; and those of a release that is no more. Pure.
 */

import { PUSH_COMMITS_LIMIT, pushedCommits, type RunEvent } from '../event/event.js'
import { getString } from '../event/payload.js'
import { DEFAULTS } from '../inputs/inputs.js'
import type { Skip } from '../run/result.js'

interface ByAuthors {
  readonly skip?: Skip
  /** The run is skipped if each of these commits is a merge, which GitHub has to be asked. */
  readonly mayBeMerges?: readonly string[]
}

const skip = (reason: string): ByAuthors => ({ skip: { reason } })

const skipBy = (what: string, login: string): ByAuthors =>
  skip(`${what} by ${login}, an account in skip-authors`)

/** How a comment by this action ends: a marker, or at first a nonce. [skip.own-comment] */
const ENDS_IN_MARKER = /<!-- (?:agent-job-action:2 [\w -]+|[0-9a-f]{32}) -->\s*$/

/**
 * The branches on which a merge queue tests what it is going to push to the branch that it is for
 * (docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue).
 * [skip.merge-queue]
 */
const QUEUE = 'refs/heads/gh-readonly-queue/'

/**
 * Skips releases that were taken back, and words that were deleted; comments by this action, which
 * are events if they were written with a personal token; pushes by a merge queue, which come again
 * if it merges them; and what these accounts triggered: their pull requests, comments and reviews,
 * every event they are the sender of, and pushes whose every non-merge commit is theirs. Whoever
 * sent a push may have
 * merged what others wrote, unless it is the agent, which also pushes in a person's name. The
 * payload of a push does not tell merges from other commits. [skip.authors.cause]
 * [skip.release.taken-back] [skip.deleted]
 *
 * A person's comment on a pull request by one of these accounts is not skipped.
 * [skip.authors.person]
 */
export function checkSkipAuthors(event: RunEvent, authors: ReadonlySet<string>): ByAuthors {
  const isListed = (login: string) => authors.has(login.toLowerCase())
  const { name, action, sender, pullRequest, payload } = event
  if (name === 'release' && ['deleted', 'unpublished'].includes(action))
    return skip('the release was taken back')
  if (action === 'deleted' && /^issue|^discussion|comment/.test(name))
    return skip('what the event is about was deleted')
  if (ENDS_IN_MARKER.test(getString(payload, 'comment.body')))
    return skip("the event is about this action's own comment")
  if (name === 'push' && getString(payload, 'ref').startsWith(QUEUE))
    return skip('the push is to a branch of a merge queue, so nothing is merged yet')
  const isCause = name !== 'push' || sender.toLowerCase() === DEFAULTS['skip-authors']
  if (isCause && isListed(sender)) return skipBy(`this ${name} event was triggered`, sender)
  if (event.authors.length > 0) {
    const author = event.authors.find(isListed)
    return author === undefined ? {} : skipBy('the comment, review or answer is', author)
  }
  if (pullRequest === undefined) return checkCommits(event, isListed)
  const { author } = pullRequest
  return isListed(author) ? skipBy('the pull request is', author) : {}
}

/** A push is by whom its commits are, not by whoever sent it. [skip.authors.push] */
function checkCommits(event: RunEvent, isListed: (login: string) => boolean): ByAuthors {
  const commits = pushedCommits(event)
  const others = commits.filter(({ author }) => !isListed(author))
  // The payload leaves out commits of a long push, which may be by anyone.
  if (commits.length === others.length || commits.length >= PUSH_COMMITS_LIMIT) return {}
  return others.length === 0
    ? skip('every commit in the push is by an account in skip-authors')
    : { mayBeMerges: others.map(({ sha }) => sha) }
}
