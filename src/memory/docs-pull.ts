/**
 * What the tokens can read of a docs pull request: whether it is still open, and which files it
 * changes.
 */

import { parsePullRequest } from '../agent/job.js'
import { getPath } from '../event/payload.js'
import { createGitHub, type GitHub, type RequestMode, requestParams } from '../github/client.js'
import { GitHubError } from '../github/errors.js'
import { type DocsFile, type DocsRead, FILES_PAGE, hasJob, type StepFacts } from '../run/facts.js'
import type { Step } from '../run/step.js'
import { joinSentences } from '../text/format.js'

/** `reason` and what helps, in sentences. */
type UnknownPull = Readonly<{ state: 'unknown'; reason: string; isTokenRefused?: boolean }>
export type DocsPull = Readonly<{ state: 'open' | 'merged' | 'closed' }> | UnknownPull

export type DocsPulls = ReturnType<typeof openDocsPulls>

// [docs.open.unreadable] [docs.token.when]
export function openDocsPulls(step: Step, github: GitHub) {
  const { environment, inputs, event } = step
  const { docsToken: token } = inputs
  // [docs.files.readers]
  const isHere = (repository = ''): boolean =>
    repository.toLowerCase() === environment.repository.toLowerCase()

  /**
   * Reads something of a docs pull request with whichever token can, or says why none can.
   *
   * @throws GitHubError if it could not be read for a moment
   */
  async function readWithAny<T>(link: string, read: Read<T>): Promise<T | UnknownPull> {
    if (new URL(link).host !== new URL(environment.serverUrl).host)
      return { state: 'unknown', reason: 'It is on another host.' }
    const pull = parsePullRequest(link)
    if (pull === undefined)
      return { state: 'unknown', reason: "Its link doesn't look like a pull request's." }
    const { repository, number } = pull
    const isOwn = isHere(repository)
    try {
      return await read(github, repository, number)
    } catch (thrown) {
      if (!(thrown instanceof GitHubError)) throw thrown
      if (isOwn || !mayOtherTokenRead(thrown) || token === '') {
        const advice = `Set docs-token to a token that can read pull requests in ${repository}.`
        return unknownFor(thrown, !mayOtherTokenRead(thrown) ? '' : isOwn ? thrown.advice : advice)
      }
    }
    try {
      const docsGitHub = createGitHub({ ...step, token, fromFork: false })
      return await read(docsGitHub, repository, number)
    } catch (thrown) {
      if (!(thrown instanceof GitHubError)) throw thrown
      const advice = `Renew docs-token, or let it read pull requests in ${repository}.`
      const isTokenRefused = thrown.kind !== 'invalid'
      return { ...unknownFor(thrown, advice, 'With docs-token: '), isTokenRefused }
    }
  }

  return {
    async readState(link: string): Promise<DocsPull> {
      const pull = await readWithAny<DocsPull>(link, async (...one) =>
        stateOf(await readPull(...one)),
      )
      if (pull.state === 'unknown') {
        const text = `Can't tell whether the docs job's pull request ${link} is still open, so it counts as open. ${pull.reason}`
        // [docs.token.refused]
        if (pull.isTokenRefused) step.tell({ kind: 'noted', text, level: 'warn' })
        else step.log(text)
      }
      return pull
    },
    /**
     * What is told of it at the end. Nothing depends on it, and nothing is told where people read
     * it who can't read the docs. [docs.files.told]
     */
    async readAtEnd(facts: StepFacts, signal: AbortSignal): Promise<DocsRead> {
      const link = facts.seen?.job.link ?? ''
      // By this step's request, or by that of an earlier run, whose end this one waited for.
      // [docs.ended-early]
      const isContinued = hasJob(facts) && link === facts.previousLink
      // [docs.files.readers]
      const hasReaders =
        isHere(parsePullRequest(link)?.repository) ||
        getPath(event.payload, 'repository.private') === true
      const mode = { retried: false, signal }
      const ask = <T>(read: (...pull: [...Parameters<Read<T>>, RequestMode]) => Promise<T>) =>
        readWithAny<T>(link, (...pull) => read(...pull, mode)).catch(() => undefined)
      // Side by side if both are asked for: together they have little time.
      const pull = isContinued || !hasReaders ? ask(readPull) : undefined
      const isTold = hasReaders || getPath(await pull, 'base.repo.private') === false
      const files = isTold ? await ask(readFiles) : undefined
      const { state } = stateOf(await pull)
      const isEnded = isContinued && (state === 'merged' || state === 'closed')
      return {
        files: files !== undefined && 'length' in files ? files : [],
        endedEarly: isEnded ? state : undefined,
      }
    },
  }
}

type Read<T> = (github: GitHub, repository: string, number: string) => Promise<T>

/**
 * Whether another token may get more: it has a rate limit of its own. GitHub answers 404 instead of
 * 403 if it must not tell that a private repository exists. [docs.token.when]
 */
function mayOtherTokenRead({ status, kind, retryAfterMs }: GitHubError): boolean {
  const isLimited = retryAfterMs !== undefined
  return (kind !== 'temporary' || isLimited) && (status === 403 || status === 404)
}

/**
 * [docs.open.unreadable]
 *
 * @param advice what helps if the token may not read the pull request
 * @throws GitHubError `error` if it may pass
 */
function unknownFor(error: GitHubError, advice: string, prefix = ''): UnknownPull {
  if (error.kind === 'temporary') throw error
  return { state: 'unknown', reason: joinSentences(prefix + error.message, advice) }
}

// [docs.open.unreadable]
async function readPull(
  github: GitHub,
  repository: string,
  number: string,
  mode: Partial<RequestMode> = {},
): Promise<object> {
  const doing = `reading pull request ${repository}#${number}`
  const common = requestParams({ repository, ...mode }, doing, 'pull-requests: read')
  return (await github.pulls.get({ ...common, pull_number: Number(number) })).data
}

// [docs.open.unreadable]
function stateOf(pull: object | undefined): DocsPull {
  switch (getPath(pull, 'state')) {
    case 'open':
      return { state: 'open' }
    case 'closed':
      return { state: getPath(pull, 'merged') || getPath(pull, 'merged_at') ? 'merged' : 'closed' }
    default:
      return { state: 'unknown', reason: 'GitHub returned no state for it.' }
  }
}

// [docs.files.told]
async function readFiles(
  github: GitHub,
  repository: string,
  number: string,
  mode: RequestMode,
): Promise<readonly DocsFile[]> {
  const doing = `listing the files of pull request ${repository}#${number}`
  const common = requestParams({ repository, ...mode }, doing, 'pull-requests: read', isList)
  return (
    await github.pulls.listFiles({ ...common, pull_number: Number(number), per_page: FILES_PAGE })
  ).data
}

// [docs.files.told]
function isList(data: unknown): boolean {
  const isFile = (file: Partial<DocsFile> | null) =>
    typeof file?.filename === 'string' &&
    Number.isInteger(Number(file.additions) + Number(file.deletions))
  return Array.isArray(data) && data.every(isFile)
}
