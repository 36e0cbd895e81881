/** Opens other repositories, with whichever of the tokens may read them. */

import { getString } from '../../event/payload.js'
import { asking, createGitHub, type Gift, type GitHub } from '../../github/client.js'
import { describeWarning, GitHubError } from '../../github/errors.js'
import type { CodeRepository } from '../../inputs/code-repositories.js'
import type { Step } from '../../run/step.js'
import { MAX_REQUESTS } from './parts.js'

/** Another repository, and where its branch is. */
export type OpenedRepository = NonNullable<Awaited<ReturnType<ReturnType<typeof openCode>>>>

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
  let clients = (codeTokens.length > 0 ? codeTokens : [githubToken]).map((token, index) =>
    createGitHub({
      ...tools,
      token,
      codeToken: codeTokens[index] ? `line ${index + 1} of code-token` : '',
    }),
  )
  const orders = new Map<string | undefined, readonly GitHub[]>()
  /** What those got that are refused whatever they ask for, or are at their limit, yet untold. */
  const expired: GitHubError[] = []
  const elsewhere: Gift = { requests: MAX_REQUESTS }
  /**
   * Opens one; undefined if it has no commit yet, which its size says, too: a branch that GitHub
   * has just named may not be found for a moment. [code.unchanged]
   *
   * @throws ActionError `github` of a token that has expired, else of the first
   */
  return async ({ name: repository, branch: named }: CodeRepository) => {
    const [owner] = repository.split('/')
    let refusal: GitHubError | undefined
    for (const github of orders.get(owner) ?? clients) {
      const repo = { github, repository, elsewhere }
      let isEmpty = false
      try {
        const { data: about } = await github.repos.get(
          asking(repo, 'reading the name', callFor('default_branch')),
        )
        const branch = named ?? about.default_branch
        isEmpty = named === undefined && about.size === 0
        const { data } = await github.repos.getBranch({
          ...asking(repo, `reading branch ${branch}`, { ...callFor('commit.sha'), early: true }),
          branch,
        })
        orders.set(owner, [github, ...clients])
        for (const error of expired.splice(0)) {
          const text = describeWarning(error, 'Another line has read it.')
          tools.tell({ kind: 'noted', text, level: 'warn' })
        }
        return { ...repo, about, head: data }
      } catch (thrown) {
        if (!(thrown instanceof GitHubError)) throw thrown
        const isTemporary = thrown.kind === 'temporary'
        if (isTemporary && thrown.retryAfterMs === undefined) throw thrown
        if (isEmpty && thrown.status === 404) return undefined
        refusal ??= thrown
        if (thrown.status !== 401 && !isTemporary) continue
        expired.push(thrown)
        clients = clients.filter((one) => one !== github)
      }
    }
    throw expired[0] ?? refusal
  }
}
