/** Opens other repositories, with whichever of the tokens may read them. */

import { getPath, getString } from '../../event/payload.js'
import { asking, createGitHub, type Gift, type GitHub } from '../../github/client.js'
import { describeWarning, GitHubError } from '../../github/errors.js'
import type { CodeRepository } from '../../inputs/code-repositories.js'
import type { Step } from '../../run/step.js'
import { MAX_REQUESTS } from './parts.js'

/** Another repository, and where its branch is. */
export type OpenedRepository = NonNullable<Awaited<ReturnType<ReturnType<typeof openCode>['open']>>>

/** A request that is answered with something at a path. */
const callFor = (path: string) => ({
  needs: 'contents: read',
  expects: (data: unknown) => getString(data, path) !== '',
})

/** Who may read it, in GitHub's word; of `internal`, some answers say only that it is private. */
function visibilityOf(repository: unknown): string {
  const isPrivate = getPath(repository, 'private')
  return (
    getString(repository, 'visibility') ||
    (isPrivate === undefined ? '' : isPrivate ? 'private' : 'public')
  )
}

/**
 * A token of another owner may read what this one may not: they are tried in their order, first the
 * one that has read contents of the same owner. [code.token]
 */
export function openCode(step: Step) {
  const { codeTokens, githubToken } = step.inputs
  const home = visibilityOf(getPath(step.event.payload, 'repository'))
  /** Whether some who may read this run may not read that code, or nobody could read it. */
  const isHidden = (visibility?: string) =>
    home !== 'private' &&
    visibility !== 'public' &&
    (visibility !== 'internal' || home !== visibility)
  /** What a text says where all may read it. [code.readers] */
  const hide = (text: string, name: string, visibility?: string) =>
    isHidden(visibility)
      ? text.replaceAll(name, 'one of code-repositories').replace(/\b[\da-f]{7,40}\b/g, '(hidden)')
      : text
  const isServer = !/\/\/(?:.*\.)?(?:github|ghe)\.com$/.test(step.environment.serverUrl)
  let clients = (codeTokens.length > 0 ? codeTokens : [githubToken]).map((token, index) =>
    createGitHub({
      ...step,
      token,
      codeToken: codeTokens[index] ? `line ${index + 1} of code-token` : '',
    }),
  )
  const readers = new Map<string | undefined, GitHub>()
  /** What those got that are refused whatever they ask for, or are at their limit, yet untold. */
  const expired: GitHubError[] = []
  const tellExpired = (name: string, visibility?: string): void => {
    for (const error of expired.splice(0)) {
      const text = hide(describeWarning(error, 'Another line has read it.'), name, visibility)
      step.tell({ kind: 'noted', text, level: 'warn' })
    }
  }
  const elsewhere: Gift = { requests: MAX_REQUESTS }
  /**
   * Opens one; undefined if it has no commit yet, as its size and its commits say: for an hour
   * after the first push, its size is 0. [code.unchanged]
   *
   * @throws ActionError `github` of a token that has expired, else of the first
   */
  const open = async ({ name: repository, branch: named }: CodeRepository) => {
    const [owner] = repository.split('/')
    const first = clients.filter((one) => one === readers.get(owner))
    let refusal: GitHubError | undefined
    for (const github of new Set([...first, ...clients])) {
      const repo = { github, repository, elsewhere }
      try {
        const { data: known } = await github.repos.get(
          asking(repo, 'reading the name', callFor('default_branch')),
        )
        const about = { ...known, visibility: visibilityOf(known) }
        if (about.size === 0)
          await github.repos.listCommits({
            ...asking(repo, 'listing commits', { needs: 'contents: read' }),
            per_page: 1,
          })
        const branch = named ?? about.default_branch
        const { data } = await github.repos.getBranch({
          ...asking(repo, `reading branch ${branch}`, { ...callFor('commit.sha'), early: true }),
          branch,
        })
        readers.set(owner, github)
        tellExpired(repository, about.visibility)
        return { ...repo, about, head: data, isHidden: isHidden(about.visibility), isServer }
      } catch (thrown) {
        if (!(thrown instanceof GitHubError)) throw thrown
        if (/ 409, .*repository is empty/i.test(thrown.message)) {
          tellExpired(repository)
          return undefined
        }
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
  return { open, hide }
}
