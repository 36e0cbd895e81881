/**
 * What the tokens can read of a docs pull request: whether it is still open, and which files it
 * changes.
 */

import { parsePullRequest } from '../agent/job.js'
import type { RunEnvironment } from '../event/event.js'
import { getPath } from '../event/payload.js'
import { createGitHub, type GitHub, requestParams } from '../github/client.js'
import { GitHubError } from '../github/errors.js'
import { type DocsFile, FILES_PAGE } from '../run/facts.js'
import type { Step } from '../run/step.js'
import { joinSentences } from '../text/format.js'

/** `reason` and what helps, in sentences. */
type UnknownPull = Readonly<{ state: 'unknown'; reason: string; isTokenRefused?: boolean }>
export type DocsPull = Readonly<{ state: 'open' | 'merged' | 'closed' }> | UnknownPull

export type DocsPulls = ReturnType<typeof openDocsPulls>

export function openDocsPulls(step: Step, github: GitHub) {
  const { environment, inputs } = step
  const { docsToken: token } = inputs
  const docsGitHub =
    token === '' ? undefined : () => createGitHub({ ...step, token, fromFork: false })
  return {
    async readState(link: string): Promise<DocsPull> {
      const pull = await readDocsPull(link, environment, github, docsGitHub, readState)
      if (pull.state === 'unknown') {
        const text = `Can't tell whether the docs job's pull request ${link} is still open, so it counts as open. ${pull.reason}`
        if (pull.isTokenRefused) step.tell({ kind: 'noted', text, level: 'warn' })
        else step.log(text)
      }
      return pull
    },
    /**
     * The files that it changes, as many as GitHub lists in one answer. Nothing depends on them. Of
     * what only docs-token can read, nothing is told where everybody may read it.
     */
    async readFiles(link: string, signal: AbortSignal): Promise<readonly DocsFile[]> {
      const isPrivate = getPath(step.event.payload, 'repository.private') === true
      const other = isPrivate ? docsGitHub : undefined
      const read: Read<readonly DocsFile[]> = (...pull) => readFiles(...pull, signal)
      const files = await readDocsPull(link, environment, github, other, read).catch(() => [])
      return 'state' in files ? [] : files
    },
  }
}

type Read<T> = (github: GitHub, repository: string, number: string) => Promise<T>

/**
 * Reads something of a docs pull request with whichever token can, or says why none can.
 *
 * @throws GitHubError if it could not be read for a moment
 */
async function readDocsPull<T>(
  link: string,
  environment: RunEnvironment,
  github: GitHub,
  docsGitHub: (() => GitHub) | undefined,
  read: Read<T>,
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

async function readState(github: GitHub, repository: string, number: string): Promise<DocsPull> {
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

async function readFiles(
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
