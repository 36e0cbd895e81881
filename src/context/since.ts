/** Finds what changed since what the input `since` names. */

import { ActionError } from '../errors.js'
import { quote } from '../escape.js'
import { getSha } from '../event/payload.js'
import { about, type Source } from '../github/client.js'
import type { Since } from '../inputs/values.js'
import { compare, exists, type FoundChanges, missingList, unknownChanges } from './compare.js'

/**
 * Compares with a tag, a branch, a commit, or the last commit at or before a date.
 *
 * @param head the commit that the run is about
 * @throws ActionError `github` if there is no such tag, branch or commit
 */
export async function sinceNamed(since: Since, head: string, source: Source): Promise<FoundChanges> {
  const base = 'ref' in since ? since.ref : await lastCommitBefore(since.date, head, source)
  if (base === '') {
    return unknownChanges(
      'There is no commit at or before the date in since, so there is nothing to compare with.',
    )
  }
  const range = 'the commits since the one that the input since names'
  const comparison = await compare(source, { base, head, range })
  switch (comparison.relation) {
    case 'ahead':
    case 'identical':
    case 'diverged': // Compared with the last common commit.
      return comparison.changes
    case 'behind':
      return { files: [], truncated: false, range, empty: true }
    case 'unrelated':
      return unknownChanges('What since names and this commit have no history in common.')
    case 'unknown':
      return missingList(range)
    case 'not found':
      if (!(await exists(source, head))) throw comparison.error
      throw new ActionError(
        'github',
        `since: there is no tag, branch or commit ${quote(base)} in this repository. Nothing was sent.`,
        'Check the name, and that the tag or branch was pushed.',
        { cause: comparison.error },
      )
  }
}

/** Empty if there is none. */
async function lastCommitBefore(date: string, head: string, source: Source): Promise<string> {
  const common = about(source, 'looking up the commit at the date in since', 'contents: read', Array.isArray)
  const { data } = await source.github.repos.listCommits({ ...common, sha: head, until: date, per_page: 1 })
  return getSha(data[0], 'sha')
}
