/** Whether a docs pull request is still open, as far as the tokens can tell. */

import { parsePullRequest } from '../agent/job.js'
import type { RunEnvironment } from '../event/event.js'
import { about, type GitHub, GitHubError } from '../github/client.js'

export type DocsPull =
  | { readonly state: 'open' | 'closed' }
  /** `reason` and what helps, in sentences. */
  | { readonly state: 'unknown'; readonly reason: string }

export interface DocsPullOptions {
  /** The link of the pull request. */
  readonly link: string
  readonly run: RunEnvironment
  readonly github: GitHub
  /** With the token for other repositories; undefined if there is none. */
  readonly docsGitHub: (() => GitHub) | undefined
}

/** @throws Cancelled */
export async function readDocsPull(options: DocsPullOptions): Promise<DocsPull> {
  const { link, run, github, docsGitHub } = options
  if (new URL(link).host !== new URL(run.serverUrl).host) {
    return { state: 'unknown', reason: 'It is on another host.' }
  }
  const { repository, number } = parsePullRequest(link)
  if (number === '') return { state: 'unknown', reason: "Its link doesn't look like a pull request's." }
  const isHere = repository.toLowerCase() === run.repository.toLowerCase()
  try {
    return await readState(repository, number, github)
  } catch (thrown) {
    if (!(thrown instanceof GitHubError)) throw thrown
    const advice = isHere
      ? thrown.advice
      : `Set docs-token to a token that can read pull requests in ${repository}.`
    // GitHub also refuses with 403 at its rate limit; another token has its own.
    const isRefused = thrown.status === 403 || thrown.status === 404
    if (isHere || !isRefused || docsGitHub === undefined) {
      const reason = isDenied(thrown) ? `${thrown.message} ${advice}` : thrown.message
      return { state: 'unknown', reason }
    }
  }
  try {
    return await readState(repository, number, docsGitHub())
  } catch (thrown) {
    if (!(thrown instanceof GitHubError)) throw thrown
    const advice = isDenied(thrown) ? ` Check that docs-token can read pull requests in ${repository}.` : ''
    return { state: 'unknown', reason: `With docs-token: ${thrown.message}${advice}` }
  }
}

/** GitHub answers 404 instead of 403 if it must not tell that a private repository exists. */
function isDenied({ status, temporary }: GitHubError): boolean {
  return !temporary && (status === 403 || status === 404)
}

async function readState(repository: string, number: string, github: GitHub): Promise<DocsPull> {
  const source = { github, repository, required: false }
  const common = about(source, `reading pull request ${repository}#${number}`, 'pull-requests: read')
  const { data } = await github.pulls.get({ ...common, pull_number: Number(number) })
  switch (data.state) {
    case 'open':
    case 'closed':
      return { state: data.state }
    default:
      return { state: 'unknown', reason: 'GitHub returned no state for it.' }
  }
}
