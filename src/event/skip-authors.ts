/** Whether a run was brought about by the agent itself, so that its own pull request starts no job. Pure. */

import type { PushEvent, RunEvent } from './event.js'

/** What the event alone says. */
export interface Verdict {
  /** Why the run is skipped; undefined where it is not, or not yet. */
  readonly skip: string | undefined
  /** It is skipped all the same where each of these commits is a merge. */
  readonly unlessMerges: readonly string[]
}

const skipped = (skip: string): Verdict => ({ skip, unlessMerges: [] })

/**
 * Pull requests by these authors are skipped; so are pushes whose sender, or whose every non-merge commit's author, is
 * one of them. The payload of a push does not tell merges from other commits.
 *
 * @param authors in lower case; empty: nobody
 */
export function skipAuthors(event: RunEvent, authors: ReadonlySet<string>): Verdict {
  const listed = (login: string): boolean => login !== '' && authors.has(login.toLowerCase())
  const { pullRequest, push } = event
  if (pullRequest !== undefined && listed(pullRequest.author)) {
    return skipped(`the pull request is by ${pullRequest.author}`)
  }
  if (push !== undefined) {
    if (listed(push.sender)) return skipped(`the push is by ${push.sender}`)
    return commitsVerdict(push, listed)
  }
  return { skip: undefined, unlessMerges: [] }
}

function commitsVerdict({ commits }: PushEvent, listed: (login: string) => boolean): Verdict {
  const others = commits.filter(({ author }) => !listed(author))
  if (commits.length === others.length) return { skip: undefined, unlessMerges: [] }
  return others.length === 0
    ? skipped('every commit of the push is by one of skip-authors')
    : { skip: undefined, unlessMerges: others.map(({ sha }) => sha) }
}
