/** Finds the pull request that a push has merged: then the run is about it, as if `issue-number` named it. */

import { type Commit, pushedCommits, ZERO_SHA } from '../event/event.js'
import { getPath, getSha, getString } from '../event/payload.js'
import { readPages, requestParams, type Source } from '../github/client.js'
import { GitHubError } from '../github/errors.js'
import type { Step } from '../run/step.js'
import { shortSha } from '../text/format.js'

/** Reading it needs less, but the comment on it needs this. */
const NEEDS = 'pull-requests: write'

/** The first line of GitHub's own messages: of a merge, and of a squash, whose title may name others before. */
const NAMED = /^(?:Merge pull request #|.*\(#)(\d{1,9})(?!\d)/

/** The one pull request that accounts for the whole push of a branch. @throws ActionError `github` */
export async function findMergedPull(
  { inputs, event, environment, log }: Pick<Step, 'inputs' | 'event' | 'environment' | 'log'>,
  source: Source,
) {
  const { payload } = event
  const after = getSha(payload, 'after')
  const commits = pushedCommits(event)
  const isAsked = after !== '' && inputs.jobScope === 'pull-request' && inputs.issueNumber === undefined
  const isOfBranch = environment.ref.startsWith('refs/heads/') && !ZERO_SHA.test(getSha(payload, 'before'))
  // A push that goes back to an earlier commit, or deletes the branch, brings no commits.
  if (!isAsked || !isOfBranch || !commits.some(({ sha }) => sha === after)) return undefined
  // A fork has the commits of the repository that it comes from, and a release branch those of another branch. GitHub also
  // calls a pull request merged if somebody pushed its head: that is no consent to its words, which anyone may have written.
  const isMerge = (pull: unknown): boolean =>
    getPath(pull, 'merged_at') !== undefined &&
    getSha(pull, 'merge_commit_sha') === after &&
    getSha(pull, 'head.sha') !== after &&
    `refs/heads/${getString(pull, 'base.ref')}` === environment.ref &&
    getString(pull, 'base.repo.full_name').toLowerCase() === environment.repository.toLowerCase()
  const common = requestParams(source, `listing pull requests of ${shortSha(after)}`, NEEDS, Array.isArray)
  const params = { ...common, commit_sha: after, per_page: 100 }
  const { data } = await source.github.repos.listPullRequestsAssociatedWithCommit(params)
  const listed = data.filter(isMerge)
  const named = listed.length > 0 ? [] : await readNamed(getString(payload, 'head_commit.message'), source)
  const whole = []
  for (const pull of [...listed, ...named.filter(isMerge)]) {
    if (await hasAll(pull.number, commits, after, source)) whole.push(pull)
    else log(`Pull request ${pull.number} does not account for the whole push.`)
  }
  const [pull, ...more] = whole
  // Marked as GitHub marks a pull request that issue-number names, which is read as an issue.
  return pull === undefined || more.length > 0 ? undefined : { ...pull, pull_request: true }
}

/** The list is an index, which may be seconds late. The pull request itself is not. */
async function readNamed(message: string, source: Source) {
  const number = NAMED.exec(message)?.[1]
  if (number === undefined) return []
  const common = requestParams(source, `reading pull request ${number}`, NEEDS)
  try {
    return [(await source.github.pulls.get({ ...common, pull_number: Number(number) })).data]
  } catch (thrown) {
    const isNone = thrown instanceof GitHubError && [404, 410, 422].includes(thrown.status ?? 0)
    if (isNone && !thrown.temporary) return [] // It is an issue, or nothing.
    throw thrown
  }
}

/** Whether all commits are the pull request's, or merge it. A rebase keeps their messages. GitHub lists up to 250. */
async function hasAll(pull_number: number, commits: readonly Commit[], after: string, source: Source) {
  if (commits.length === 1) return true
  const doing = `listing the commits of pull request ${pull_number}`
  const common = requestParams(source, doing, NEEDS, Array.isArray)
  const { items } = await readPages(3, (page) =>
    source.github.pulls.listCommits({ ...common, ...page, pull_number }),
  )
  const messages = items.map((commit) => getString(commit, 'commit.message'))
  const others = commits.filter(({ message }) => !messages.includes(message))
  return others.every(({ sha }) => sha === after) && commits.length - others.length <= messages.length
}
