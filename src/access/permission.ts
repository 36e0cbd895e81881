/** Asks GitHub whether those who caused the run may write to the repository. */

import { ActionError } from '../errors.js'
import { about, GitHubError, type Source } from '../github/client.js'
import type { Person } from './who-may-start.js'

/** Maintainers have `write` here, and a custom role the permission that it is based on. Gitea has owners. */
const WRITERS = ['admin', 'write', 'owner']

/**
 * Why the run must not start a job; undefined if it may.
 *
 * @throws ActionError `github` if a permission can't be read
 * @throws Cancelled
 */
export async function findRefusal(people: readonly Person[], source: Source): Promise<string | undefined> {
  for (const { login, did } of people) {
    if (login === '') return `the account that ${did} is unknown`
    const permission = await readPermission(source, login)
    if (!WRITERS.includes(permission)) {
      return `${login}, who ${did}, has no write access to ${source.repository} and is not in allow-users`
    }
  }
  return undefined
}

async function readPermission(source: Source, login: string): Promise<string> {
  const hasPermission = ({ permission }: { permission?: unknown }) => typeof permission === 'string'
  const common = about(source, `reading the permission of ${login}`, 'metadata: read', hasPermission)
  try {
    const { data } = await source.github.repos.getCollaboratorPermissionLevel({ ...common, username: login })
    return data.permission
  } catch (thrown) {
    if (!(thrown instanceof GitHubError)) throw thrown
    if (thrown.status === 404 && (saysNoUser(thrown) || (await canReadRepository(source)))) return 'none'
    throw new ActionError(
      'github',
      `${thrown.message} Nothing was sent, because the step can't tell whether this run may start a job.`,
      'Check github-token, re-run later, or list in allow-users who may start jobs.',
      { cause: thrown },
    )
  }
}

/** A bot is no user, and neither is an account that is gone. */
function saysNoUser({ message }: GitHubError): boolean {
  return /is not a user|user does not exist/i.test(message)
}

/** GitHub also responds 404 to a token that can't see the repository. */
async function canReadRepository(source: Source): Promise<boolean> {
  try {
    await source.github.repos.get(about(source, 'reading the repository', 'metadata: read'))
    return true
  } catch (thrown) {
    if (thrown instanceof GitHubError && thrown.refused) return false
    throw thrown
  }
}
