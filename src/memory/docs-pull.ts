/**
 * What the tokens can read of a docs pull request: whether it is still open, and which files it
 * changes.
 */

import { parsePullRequest } from '../agent/job.js'
import type { RunEnvironment } from '../event/event.js'
import { type GitHub, requestParams } from '../github/client.js'
import { GitHubError } from '../github/errors.js'
import { type DocsFile, FILES_PAGE } from '../run/progress.js'
import { joinSentences } from '../text/format.js'

/** `reason` and what helps, in sentences. */
type UnknownPull = {
  readonly state: 'unknown'
  readonly reason: string
  readonly isTokenRefused?: boolean
}
export type DocsPull = { readonly state: 'open' | 'merged' | 'closed' } | UnknownPull

/**
 * Reads something of a docs pull request with whichever token can, or says why none can.
 *
 * @throws GitHubError if it could not be read for a moment
 */
export async function readDocsPull<T>(
  link: string,
  environment: RunEnvironment,
  github: GitHub,
  docsGitHub: (() => GitHub) | undefined,
  read: (github: GitHub, repository: string, number: string) => Promise<T>,
): Promise<T | UnknownPull> {
  if (new URL(link).host !== new URL(environment.serverUrl).host) {
    return { state: 'unknown', reason: 'It is on another host.' }
  }
  const { repository, number } = parsePullRequest(link)
  if (number === '')
    return { state: 'unknown', reason: "Its link doesn't look like a pull request's." }
  const isHere = repository.toLowerCase() === environment.repository.toLowerCase()
  try {
    return await read(github, repository, number)
  } catch (thrown) {
    if (!(thrown instanceof GitHubError)) throw thrown
    if (isHere || !mayOtherTokenRead(thrown) || docsGitHub === undefined) {
      const advice = `Set docs-token to a token that can read pull requests in ${repository}.`
      return unknownFor(thrown, !mayOtherTokenRead(thrown) ? '' : isHere ? thrown.advice : advice)
    }
  }
  try {
    return await read(docsGitHub(), repository, number)
  } catch (thrown) {
    if (!(thrown instanceof GitHubError)) throw thrown
    const advice = `Renew docs-token, or let it read pull requests in ${repository}.`
    return { ...unknownFor(thrown, advice, 'With docs-token: '), isTokenRefused: thrown.refused }
  }
}

/**
 * Whether another token may get more: it has a rate limit of its own. GitHub answers 404 instead of
 * 403 if it must not tell that a private repository exists.
 */
function mayOtherTokenRead({ status, temporary, retryAfterMs }: GitHubError): boolean {
  const isLimited = retryAfterMs !== undefined
  return (!temporary || isLimited) && (status === 403 || status === 404)
}

/**
 * @param advice what helps if the token may not read the pull request
 * @throws GitHubError `error` if it may pass
 */
function unknownFor(error: GitHubError, advice: string, prefix = ''): UnknownPull {
  if (error.temporary) throw error
  return { state: 'unknown', reason: joinSentences(prefix + error.message, advice) }
}

export async function readState(
  github: GitHub,
  repository: string,
  number: string,
): Promise<DocsPull> {
  const doing = `reading pull request ${repository}#${number}`
  const common = requestParams({ repository }, doing, 'pull-requests: read')
  const { data } = await github.pulls.get({ ...common, pull_number: Number(number) })
  switch (data.state) {
    case 'open':
      return { state: 'open' }
    case 'closed':
      return { state: data.merged || data.merged_at ? 'merged' : 'closed' }
    default:
      return { state: 'unknown', reason: 'GitHub returned no state for it.' }
  }
}

/** The files that it changes, as many as GitHub lists in one answer. Nothing depends on them. */
export async function readFiles(
  github: GitHub,
  repository: string,
  number: string,
  signal: AbortSignal,
): Promise<readonly DocsFile[]> {
  const doing = `listing the files of pull request ${repository}#${number}`
  const mode = { repository, retried: false, signal }
  const common = requestParams(mode, doing, 'pull-requests: read', isList)
  return (
    await github.pulls.listFiles({ ...common, pull_number: Number(number), per_page: FILES_PAGE })
  ).data
}

function isList(data: unknown): boolean {
  const isFile = (file: Partial<DocsFile> | null) =>
    typeof file?.filename === 'string' &&
    Number.isInteger(Number(file.additions) + Number(file.deletions))
  return Array.isArray(data) && data.every(isFile)
}
