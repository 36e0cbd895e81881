/** What GitHub is asked for access/: who may write here, and whose a push's commits are. */

import { asking, type GitHubRepo } from '../github/client.js'
import { isMissing, succeeds } from '../github/errors.js'
import type { Skip } from '../run/result.js'
import { shortSha } from '../text/format.js'
import type { Person } from './who-may-start.js'

/** A custom role has the permission that it is based on. [access.permission.write] */
const WRITERS = ['admin', 'write']

/**
 * Why the run must not start a job; undefined if it may: a stranger must not turn a workflow red.
 * [access.refused.green]
 *
 * @param missingSecrets why the run has no key, if it has none: to let somebody in would only turn
 * the run red [access.refused.no-key]
 * @throws ActionError `github` if a permission can't be read
 */
export async function findRefusal(
  people: readonly Person[],
  repo: GitHubRepo,
  missingSecrets?: string,
): Promise<Skip | undefined> {
  for (const { login, did } of people) {
    if (login === '') return { reason: `the account that ${did} is unknown` }
    const permission = await readPermission(repo, login)
    if (!WRITERS.includes(permission)) {
      const reason = `${login}, who ${did}, has no write access to ${repo.repository}`
      if (missingSecrets !== undefined) return { reason, advice: missingSecrets }
      const advice = 'To let them start docs jobs, add the login to allow-users.'
      return { reason: `${reason} and is not in allow-users`, advice }
    }
  }
  return undefined
}

/** GitHub answers 404 also to a token that sees nothing. [access.permission.unknown] */
async function readPermission(repo: GitHubRepo, login: string): Promise<string> {
  try {
    const { data } = await repo.github.repos.getCollaboratorPermissionLevel({
      ...asking(repo, `reading the permission of ${login}`, {
        needs: 'metadata: read',
        expects: ({ permission }) => typeof permission === 'string',
      }),
      username: login,
    })
    return data.permission
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown
    const isNoUser = /is not a user/i.test(thrown.message) // The account is a bot, or gone.
    // GitHub also responds 404 to a token that can't see the repository.
    const params = asking(repo, 'reading the repository', { needs: 'metadata: read' })
    if (isNoUser || (await succeeds(repo.github.repos.get(params)))) return 'none'
    throw thrown
  }
}

/** A push with more commits by others is hardly all merges. [skip.authors.unlisted] */
const COMMITS_LIMIT = 20

/**
 * Tells whether all of these are merges.
 *
 * @throws ActionError `github`
 */
export async function areMerges(commits: readonly string[], repo: GitHubRepo): Promise<boolean> {
  if (commits.length > COMMITS_LIMIT) return false
  for (const commit_sha of commits) {
    const { data } = await repo.github.git.getCommit({
      ...asking(repo, `reading commit ${shortSha(commit_sha)}`, {
        needs: 'contents: read',
        early: true,
        expects: ({ parents }) => Array.isArray(parents),
      }),
      commit_sha,
    })
    if (data.parents.length < 2) return false
  }
  return true
}
