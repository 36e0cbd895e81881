/**
 * What access/ asks GitHub: who may write to the repository, and whose the commits of a push are.
 */

import { type GitHubRepo, requestParams } from '../github/client.js'
import { isMissing, succeeds } from '../github/errors.js'
import type { SkipReason } from '../run/result.js'
import { shortSha } from '../text/format.js'
import type { Person } from './who-may-start.js'

/**
 * Maintainers have `write` here, and a custom role the permission that it is based on.
 * [access.permission.write]
 */
const WRITERS = ['admin', 'write']

/**
 * Why the run must not start a job; undefined if it may. [access.refused.green]
 *
 * @param missingSecrets why the run has no key, if it has none: to let somebody in would only turn
 * the run red
 * @throws ActionError `github` if a permission can't be read
 */
export async function findRefusal(
  people: readonly Person[],
  repo: GitHubRepo,
  missingSecrets?: string,
): Promise<SkipReason | undefined> {
  for (const { login, did } of people) {
    if (login === '') return { reason: `the account that ${did} is unknown` }
    // [access.permission.write]
    const permission = await readPermission(repo, login)
    if (!WRITERS.includes(permission)) {
      // [access.refused.green]
      const reason = `${login}, who ${did}, has no write access to ${repo.repository}`
      // [access.refused.no-key]
      if (missingSecrets !== undefined) return { reason, advice: missingSecrets }
      // [access.refused.green] [report.advice.followed]
      const advice = 'To let them start docs jobs, add the login to allow-users.'
      return { reason: `${reason} and is not in allow-users`, advice }
    }
  }
  return undefined
}

// [access.permission.unknown]
async function readPermission(repo: GitHubRepo, login: string): Promise<string> {
  // [github.shape]
  const hasPermission = ({ permission }: { permission?: unknown }) => typeof permission === 'string'
  // [access.permission.unknown]
  const doing = `reading the permission of ${login}`
  const common = requestParams(repo, doing, 'metadata: read', hasPermission)
  // [access.permission.write] [access.refused.green]
  const params = { ...common, username: login }
  try {
    // [access.permission.write]
    return (await repo.github.repos.getCollaboratorPermissionLevel(params)).data.permission
  } catch (thrown) {
    // [access.permission.unknown]
    if (!isMissing(thrown)) throw thrown
    const isNoUser = /is not a user/i.test(thrown.message) // A bot, or an account that is gone.
    // GitHub also responds 404 to a token that can't see the repository.
    const params = requestParams(repo, 'reading the repository', 'metadata: read')
    if (isNoUser || (await succeeds(repo.github.repos.get(params)))) return 'none'
    throw thrown
  }
}

/**
 * A push with more commits than this is not checked: they are unlikely to be merges alone.
 * [skip.authors.unlisted]
 */
const COMMITS_LIMIT = 20

/**
 * [skip.authors.push] [skip.authors.unlisted]
 *
 * @throws ActionError `github`
 */
export async function areMerges(commits: readonly string[], repo: GitHubRepo): Promise<boolean> {
  // [skip.authors.unlisted]
  if (commits.length > COMMITS_LIMIT) return false
  // [github.shape]
  const hasParents = ({ parents }: { parents?: unknown }) => Array.isArray(parents)
  // [skip.authors.push]
  for (const commit_sha of commits) {
    // [github.permission.named]
    const doing = `reading commit ${shortSha(commit_sha)}`
    // [github.early]
    const mode = { ...repo, isEarly: isMissing }
    // [github.permission.named]
    const common = requestParams(mode, doing, 'contents: read', hasParents)
    // [skip.authors.push]
    const { data } = await repo.github.git.getCommit({ ...common, commit_sha })
    if (data.parents.length < 2) return false
  }
  return true
}
