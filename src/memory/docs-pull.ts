/** What the tokens can read of a docs pull request: its state, and the files that it changes. */

import { parsePullRequest } from '../agent/job.js'
import { getPath } from '../event/payload.js'
import { asking, type Call, createGitHub, type GitHub, type GitHubRepo } from '../github/client.js'
import { GitHubError } from '../github/errors.js'
import type { ApiPull } from '../github/types.js'
import {
  DOCS_FILES_PAGE,
  type DocsFile,
  type DocsRead,
  hasJob,
  type StepFacts,
} from '../run/facts.js'
import type { Step } from '../run/step.js'
import { joinSentences } from '../text/format.js'

export type PullState = 'open' | 'merged' | 'closed'

export type DocsPulls = ReturnType<typeof openDocsPulls>

/**
 * None of the tokens can read it. The message has the reason and what helps, in sentences. If
 * docs-token was refused, that is warned of: else nobody sees it. [docs.token.refused]
 */
class Unreadable extends Error {
  constructor(
    message: string,
    readonly isTokenRefused = false,
  ) {
    super(message)
  }
}

/** How something of a pull request is read. */
type Read<T> = (
  repo: GitHubRepo,
  pull_number: number,
  call: Omit<Call, 'doing'>,
) => Promise<{ data: T }>

export function openDocsPulls(step: Step, { github }: GitHubRepo) {
  const { environment, event } = step
  const token = step.inputs.docsToken
  let byDocsToken: GitHub | undefined
  // GitHub ignores the case of a repository's name.
  const isHere = (repository = '') =>
    repository.toLowerCase() === environment.repository.toLowerCase()

  /**
   * Reads something of a docs pull request with whichever token can.
   *
   * @throws Unreadable
   * @throws GitHubError if it could not be read for a moment
   */
  async function readWithAny<T>(link: string, read: Read<T>, mode = {}): Promise<T> {
    if (new URL(link).host !== new URL(environment.serverUrl).host)
      throw new Unreadable('It is on another host.')
    const pull = parsePullRequest(link)
    if (pull === undefined) throw new Unreadable("Its link doesn't look like a pull request's.")
    const { repository, number } = pull
    const mayRead = `read pull requests in ${repository}.`
    const call = { ...mode, needs: 'pull-requests: read' }
    const readBy = async (one: GitHub) =>
      (await read({ github: one, repository }, Number(number), call)).data
    try {
      return await readBy(github)
    } catch (thrown) {
      if (!mayOtherTokenRead(thrown)) throw unreadable(thrown, '')
      if (isHere(repository)) throw unreadable(thrown, thrown.advice)
      if (token === '') throw unreadable(thrown, `Set docs-token to a token that can ${mayRead}`)
    }
    try {
      byDocsToken ??= createGitHub({ ...step, token })
      return await readBy(byDocsToken)
    } catch (thrown) {
      throw unreadable(thrown, `Renew docs-token, or let it ${mayRead}`, 'With docs-token: ')
    }
  }

  /** Whether this step could read them. */
  const couldRead = new Map<string, boolean>()
  return {
    /** Undefined if it can't be read, which is told once. [docs.open.unreadable] */
    async readState(link: string): Promise<PullState | undefined> {
      if (couldRead.get(link) === false) return undefined
      try {
        const state = stateOf(await readWithAny(link, readDocsPull))
        if (state === undefined) throw new Unreadable('GitHub returned no state for it.')
        couldRead.set(link, true)
        return state
      } catch (thrown) {
        if (!(thrown instanceof Unreadable)) throw thrown
        couldRead.set(link, false)
        const text = `Can't tell whether the docs job's pull request ${link} is still open, so it counts as open. ${thrown.message}`
        if (thrown.isTokenRefused) step.tell({ kind: 'noted', text, level: 'warn' })
        else step.log(text)
        return undefined
      }
    },
    /**
     * Whether it is still open, if the docs job was to go on there: the next run depends on it.
     * [docs.ended-early] And what it changes, which is only told, and not where people read it who
     * can't read the docs: a whole enterprise reads what is internal. [docs.files.told]
     * [docs.files.readers]
     */
    async readAtEnd(facts: StepFacts, signal: AbortSignal): Promise<DocsRead> {
      const isOpened = facts.result?.outcome === 'pr-opened'
      const link = facts.seen?.job.link ?? facts.previousLink
      if (link === undefined) return { files: [] }
      // By this step's request, or by that of an earlier run, whose end this one waited for.
      const isContinued = hasJob(facts) && link === facts.previousLink
      const hasReaders =
        isHere(parsePullRequest(link)?.repository) ||
        (getPath(event.payload, 'repository.private') === true &&
          getPath(event.payload, 'repository.visibility') !== 'internal')
      const readPull = () =>
        readWithAny(link, readDocsPull, { retried: isContinued, signal }).catch((thrown) => {
          if (thrown instanceof Unreadable && !couldRead.has(link)) couldRead.set(link, false)
          return undefined
        })
      // Side by side if both are asked for: together they have little time.
      const pull = isContinued || (isOpened && !hasReaders) ? readPull() : undefined
      const isTold = hasReaders || getPath(await pull, 'base.repo.private') === false
      const asked = { retried: false, signal }
      const files =
        isOpened && isTold ? await readWithAny(link, readDocsFiles, asked).catch(() => []) : []
      const state = isContinued ? stateOf(await pull) : undefined
      return {
        files,
        endedEarly: state === 'open' ? undefined : state,
        // It may have been merged. What failed is replaced, and what was archived adds nothing.
        isUnseen:
          isContinued &&
          state === undefined &&
          facts.seen?.job.status === 'completed' &&
          couldRead.get(link) !== false,
      }
    },
  }
}

/**
 * Whether another token may get more: it has a rate limit of its own. GitHub answers 404 instead of
 * 403 if it must not tell that a private repository exists. [docs.token.when]
 */
function mayOtherTokenRead(thrown: unknown): thrown is GitHubError {
  if (!(thrown instanceof GitHubError)) return false
  const { status, kind, retryAfterMs } = thrown
  const isLimited = retryAfterMs !== undefined
  return (kind !== 'temporary' || isLimited) && (status === 403 || status === 404)
}

/**
 * What is thrown if a token can't read the pull request: the error itself, if it may pass.
 *
 * @param prefix names docs-token, if that is the token
 */
function unreadable(thrown: unknown, advice: string, prefix = ''): unknown {
  if (!(thrown instanceof GitHubError) || thrown.kind === 'temporary') return thrown
  const isTokenRefused = prefix !== '' && thrown.kind !== 'invalid'
  return new Unreadable(joinSentences(prefix + thrown.message, advice), isTokenRefused)
}

const readDocsPull: Read<ApiPull> = (repo, pull_number, call) =>
  repo.github.pulls.get({
    ...asking(repo, `reading pull request ${repo.repository}#${pull_number}`, call),
    pull_number,
  })

/** Undefined if GitHub doesn't say. */
function stateOf(pull: ApiPull | undefined): PullState | undefined {
  const state = getPath(pull, 'state')
  if (state === 'closed') return getPath(pull, 'merged_at') ? 'merged' : 'closed'
  return state === 'open' ? state : undefined
}

const readDocsFiles: Read<readonly DocsFile[]> = (repo, pull_number, call) =>
  repo.github.pulls.listFiles({
    ...asking(repo, `listing the files of pull request ${repo.repository}#${pull_number}`, {
      ...call,
      expects: isList,
    }),
    pull_number,
    per_page: DOCS_FILES_PAGE,
  })

function isList(data: unknown): boolean {
  const isFile = (file: Partial<DocsFile> | null) =>
    typeof file?.filename === 'string' &&
    Number.isInteger(Number(file.additions) + Number(file.deletions))
  return Array.isArray(data) && data.every(isFile)
}
