/** Opens other repositories, with whichever of the tokens may read them. */

import { getPath, getString } from '../../event/payload.js'
import { asking, createGitHub, type GitHub, type GitHubRepo } from '../../github/client.js'
import { describeWarning, GitHubError } from '../../github/errors.js'
import type { CodeRepository } from '../../inputs/code-repositories.js'
import type { Step } from '../../run/step.js'
import { MAX_REQUESTS } from './parts.js'

/** Another repository, and where its branch is. */
export interface OpenedRepository extends GitHubRepo {
  /** In GitHub's words: it redirects from the name that a branch had before. */
  readonly branch: string
  readonly tip: string
  /** When somebody last pushed, to whatever branch, in milliseconds since 1970. */
  readonly pushedAt: number
  /** Some who may read this run may not read that code. */
  readonly isHidden: boolean
}

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
  const { codeRepositories, codeTokens, githubToken } = step.inputs
  const home = visibilityOf(getPath(step.event.payload, 'repository'))
  /** Some who may read this run may not read these, or nobody has read them yet. */
  const hidden = new Set(home === 'private' ? [] : codeRepositories.map(({ name }) => name))
  /** The one that is read now: all that is said meanwhile is about it. */
  let current = ''
  /**
   * What a text about it says: none of its commits. Its name stands in the log alone, as in the
   * workflow file. [code.readers]
   */
  const hide = (text: string, isLog = false): string => {
    if (!hidden.has(current)) return text
    const named = isLog ? text : text.replaceAll(current, 'one of code-repositories')
    return named.replace(/\b[\da-f]{7,64}\b/g, '(hidden)')
  }
  let clients = (codeTokens.length > 0 ? codeTokens : [githubToken]).map((token, index) =>
    createGitHub({
      ...step,
      token,
      codeToken: codeTokens[index] ? `line ${index + 1} of code-token` : '',
      log: (line) => step.log(hide(line, true)),
      debug: (line) => step.debug(hide(line, true)),
    }),
  )
  const readers = new Map<string | undefined, GitHub>()
  const elsewhere = { requests: MAX_REQUESTS }
  const openBy = async (github: GitHub, { name: repository, branch: named }: CodeRepository) => {
    const repo = { github, repository, elsewhere }
    const { data: about } = await github.repos.get(
      asking(repo, 'reading the name', callFor('default_branch')),
    )
    const visibility = visibilityOf(about)
    if (visibility === 'public' || (visibility === 'internal' && home === visibility))
      hidden.delete(repository)
    // Its new name isn't told to those who may not read it.
    const { full_name: now = repository } = about
    if (now.toLowerCase() !== repository.toLowerCase())
      step.log(
        `${repository}: it has moved. Write its new name in code-repositories, as another one may take the old name.`,
      )
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
    return {
      ...repo,
      branch: data.name,
      tip: data.commit.sha,
      pushedAt: Date.parse(about.pushed_at),
      isHidden: hidden.has(repository),
    }
  }
  /**
   * Opens one; undefined if it has no commit yet, as its size and its commits say: for an hour
   * after the first push, its size is 0. [code.unchanged]
   *
   * @throws ActionError `github` of a token that has expired, or is at its limit, else of the first
   */
  const open = async (repository: CodeRepository): Promise<OpenedRepository | undefined> => {
    current = repository.name
    const [owner] = current.split('/')
    const refusals: GitHubError[] = []
    for (const github of new Set([readers.get(owner) ?? [], clients].flat())) {
      const opened = await openBy(github, repository).catch((thrown) => {
        if (!(thrown instanceof GitHubError)) throw thrown
        if (/ 409, .*repository is empty/i.test(thrown.message)) return undefined
        if (thrown.kind === 'temporary' && thrown.retryAfterMs === undefined) throw thrown
        refusals.push(thrown)
        if (isExpired(thrown)) clients = clients.filter((one) => one !== github)
        return thrown
      })
      if (opened instanceof GitHubError) continue
      readers.set(owner, github)
      for (const error of refusals.filter(isExpired)) {
        const text = hide(describeWarning(error, 'Another line has read it.'))
        step.tell({ kind: 'noted', text, level: 'warn' })
      }
      return opened
    }
    throw refusals.find((error) => isExpired(error) || error.kind === 'temporary') ?? refusals[0]
  }
  return { open, hide }
}

const isExpired = ({ status }: GitHubError) => status === 401
