/** Opens other repositories, with whichever of the tokens may read them. */

import { getPath, getString } from '../../event/payload.js'
import { asking, createGitHub, type Gift, type GitHub } from '../../github/client.js'
import { describeWarning, GitHubError } from '../../github/errors.js'
import type { CodeRepository } from '../../inputs/code-repositories.js'
import type { Step } from '../../run/step.js'
import { MAX_REQUESTS } from './parts.js'

/** Another repository, and where its branch is. */
export type OpenedRepository = NonNullable<Awaited<ReturnType<ReturnType<typeof openCode>>>>

/**
 * Whether some who may read this run may not read that code: nobody knows it of what could not be
 * read. An internal repository is read by a whole enterprise. [code.readers]
 *
 * @param payload has what GitHub says of this run's repository
 * @param about what it says of that one
 */
export function isHiddenCode(
  payload: unknown,
  about?: Readonly<{ private: boolean; visibility?: string }>,
): boolean {
  if (about?.private === false) return false
  if (getPath(payload, 'repository.private') !== true) return true
  const isInternal = getPath(payload, 'repository.visibility') === 'internal'
  return isInternal && about?.visibility !== 'internal'
}

/** What a text says of hidden code, without its commits; where all may read, without its name. */
export const hideCommits = (text: string): string => text.replace(/\b[\da-f]{7,40}\b/g, '(hidden)')
export const hideCode = (text: string, name: string): string =>
  hideCommits(text).replaceAll(name, 'one of code-repositories')

/** A request that is answered with something at a path. */
const callFor = (path: string) => ({
  needs: 'contents: read',
  expects: (data: unknown) => getString(data, path) !== '',
})

/**
 * A token of another owner may read what this one may not: they are tried in their order, first the
 * one that has read contents of the same owner. [code.token]
 */
export function openCode({ inputs, ...tools }: Step) {
  const { codeTokens, githubToken } = inputs
  const { payload } = tools.event
  const isServer = !/\/\/(?:.*\.)?(?:github|ghe)\.com$/.test(tools.environment.serverUrl)
  const log = (line: string): void => tools.log(isHiddenCode(payload) ? hideCommits(line) : line)
  let clients = (codeTokens.length > 0 ? codeTokens : [githubToken]).flatMap((token, index, all) =>
    all.indexOf(token) < index
      ? []
      : createGitHub({
          ...tools,
          log,
          token,
          codeToken: codeTokens[index] ? `line ${index + 1} of code-token` : '',
        }),
  )
  const readers = new Map<string | undefined, GitHub>()
  /** What those got that are refused whatever they ask for, or are at their limit, yet untold. */
  const expired: GitHubError[] = []
  const elsewhere: Gift = { requests: MAX_REQUESTS }
  /**
   * Opens one; undefined if it has no commit yet, as its size and its commits say: for an hour after
   * the first push, its size is 0. [code.unchanged]
   *
   * @throws ActionError `github` of a token that has expired, else of the first
   */
  return async ({ name: repository, branch: named }: CodeRepository) => {
    const [owner] = repository.split('/')
    const first = clients.filter((one) => one === readers.get(owner))
    let refusal: GitHubError | undefined
    for (const github of new Set([...first, ...clients])) {
      const repo = { github, repository, elsewhere }
      try {
        const { data: about } = await github.repos.get(
          asking(repo, 'reading the name', callFor('default_branch')),
        )
        if (about.size === 0)
          await github.repos.listCommits({
            ...asking(repo, 'listing the commits', { needs: 'contents: read' }),
            per_page: 1,
          })
        const branch = named ?? about.default_branch
        const { data } = await github.repos.getBranch({
          ...asking(repo, `reading branch ${branch}`, { ...callFor('commit.sha'), early: true }),
          branch,
        })
        readers.set(owner, github)
        const isHidden = isHiddenCode(payload, about)
        for (const error of expired.splice(0)) {
          const told = describeWarning(error, 'Another line has read it.')
          const text = isHidden ? hideCode(told, repository) : told
          tools.tell({ kind: 'noted', text, level: 'warn' })
        }
        return { ...repo, about, head: data, isHidden, isServer }
      } catch (thrown) {
        if (!(thrown instanceof GitHubError)) throw thrown
        if (/ 409, .*repository is empty/i.test(thrown.message)) return undefined
        const isTemporary = thrown.kind === 'temporary'
        if (isTemporary && thrown.retryAfterMs === undefined) throw thrown
        refusal ??= thrown
        if (thrown.status !== 401 && !isTemporary) continue
        expired.push(thrown)
        clients = clients.filter((one) => one !== github)
        // A limit ends.
        if (isTemporary) clients.push(github)
      }
    }
    throw expired[0] ?? refusal
  }
}
