/** Asks GitHub about the commits of a push, if the payload can't tell whether all of them are the agent's. */

import type { RunEvent } from '../event/event.js'
import { getArray, getPath, getSha, getString } from '../event/payload.js'
import { shortSha } from '../format.js'
import { about, type Source } from '../github/client.js'
import type { ToConfirm } from './skip-authors.js'

/** More commits than this are not all merges, most likely, so they are not read. */
const COMMITS_LIMIT = 20

/**
 * Whether every non-merge commit of a push is by one of these accounts.
 *
 * @param authors in lower case
 * @throws ActionError `github`
 */
export async function isBySkipAuthors(
  { mayBeMerges, mayBeCut }: ToConfirm,
  event: RunEvent,
  authors: ReadonlySet<string>,
  source: Source,
): Promise<boolean> {
  return mayBeCut ? allBy(event, authors, source) : allMerges(mayBeMerges, source)
}

async function allMerges(commits: readonly string[], source: Source): Promise<boolean> {
  if (commits.length > COMMITS_LIMIT) return false
  for (const ref of commits) {
    const hasParents = ({ parents }: { parents?: unknown }) => Array.isArray(parents)
    const common = about(source, `reading commit ${shortSha(ref)}`, 'contents: read', hasParents)
    const { data } = await source.github.repos.getCommit({ ...common, ref, per_page: 1 })
    if (data.parents.length < 2) return false
  }
  return true
}

/** Reads the whole push as a comparison, which has the parents of each commit, too. */
async function allBy({ payload }: RunEvent, authors: ReadonlySet<string>, source: Source): Promise<boolean> {
  const [before, after] = [getSha(payload, 'before'), getSha(payload, 'after')]
  const hasCommits = ({ commits }: { commits?: unknown }) => Array.isArray(commits)
  const { data } = await source.github.repos.compareCommitsWithBasehead({
    ...about(source, 'reading the commits of the push', 'contents: read', hasCommits),
    basehead: `${before}...${after}`,
    per_page: 100,
  })
  const commits = getArray(data, 'commits')
  const isTheirs = (commit: unknown): boolean =>
    getArray(commit, 'parents').length > 1 || authors.has(getString(commit, 'author.login').toLowerCase())
  return commits.length === getPath(data, 'total_commits') && commits.every(isTheirs)
}
