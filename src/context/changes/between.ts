/** What changed between two commits, whatever way there is from one to the other. */

import { type GitHubRepo, inRepo } from '../../github/client.js'
import { ActionError } from '../../text/errors.js'
import { quote } from '../../text/escape.js'
import { shortSha } from '../../text/format.js'
import { canReadCommit, compareCommits } from './compare.js'
import { type Changes, unknownChanges } from './types.js'

/**
 * What changed from one commit to another; or why GitHub can't tell. [range.gone]
 *
 * @param base where the range begins: a commit, or what the input `since` names (`isNamed`), which
 * may be a tag or a branch, behind this commit, or on a line of its own
 * @param options.mayBeBehind nothing is new if `head` is an ancestor of `base`
 * @throws ActionError `github`, also if nobody knows the name: a docs job about the wrong commits
 * would be paid [range.since.unknown]
 */
export async function changesBetween(
  repo: GitHubRepo,
  base: string,
  head: string,
  { isNamed = false, mayBeBehind = isNamed }: { isNamed?: boolean; mayBeBehind?: boolean } = {},
): Promise<Changes> {
  const range = isNamed
    ? 'the commits since the one named in the input since'
    : `the commits ${shortSha(base)}..${shortSha(head)}`
  const about = { range, ...(isNamed && { since: base }) }
  const none = { kind: 'none', ...about } as const
  if (base === head) return none
  const comparison = await compareCommits(repo, { base, head, ...about })
  switch (comparison.kind) {
    case 'ahead':
      return comparison.changes
    case 'identical':
      return none
    case 'behind':
    case 'diverged': {
      if (mayBeBehind && comparison.kind === 'behind') return none
      return isNamed ? comparison.changes : { ...comparison.changes, gap: REWRITTEN }
    }
    case 'unrelated': {
      const both = isNamed
        ? 'what since names and this commit'
        : `commits ${shortSha(base)} and ${shortSha(head)}`
      return unknownChanges(`${both} have no history in common`)
    }
    case 'missing': {
      const { error: cause } = comparison
      // The head certainly exists: if it can't be read, the permission is missing.
      if (!(await canReadCommit(repo, head))) throw cause
      await refuseIfThere(repo, base, range, cause)
      if (!isNamed)
        return {
          kind: 'unknown',
          reason: `GitHub finds nothing to compare with: commit ${shortSha(base)} may be gone`,
          unexpected: true,
        }
      throw new ActionError(
        'github',
        `since: there is no tag, branch or commit ${quote(base)} in this repository.`,
        'Check the name, and that the tag or branch was pushed.',
        { cause },
      )
    }
  }
}

/**
 * What GitHub has and doesn't compare isn't gone.
 *
 * @throws ActionError `github`
 */
export async function refuseIfThere(repo: GitHubRepo, base: string, range: string, cause: unknown) {
  if (!(await canReadCommit(repo, base))) return
  const message = `GitHub doesn't find ${inRepo(repo, range)}, though it has both commits.`
  throw new ActionError('github', message, 'Re-run later.', { cause })
}

/** A comparison starts at the last common commit. [range.rewritten] */
const REWRITTEN =
  'History was rewritten, or the branch is another one: commits that are not on it are not listed.'
