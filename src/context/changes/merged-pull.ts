/** Finds the pull request that a push has merged: the run is then about that one. */

import { type Commit, pushedCommits, type RunEnvironment, ZERO_SHA } from '../../event/event.js'
import { getPath, getSha, getString } from '../../event/payload.js'
import { asking, type GitHubRepo, readPages } from '../../github/client.js'
import { isMissing, keepMissing } from '../../github/errors.js'
import type { ApiPull } from '../../github/types.js'
import type { StepSubject } from '../../run/step.js'
import { shortSha } from '../../text/format.js'

/** Reading it needs less, but the comment on it needs this. [merge.unreadable] */
const NEEDS = 'pull-requests: write'

/**
 * The first line of a message: of a merge, by GitHub, by a bot (`Merge #9`, `Auto merge of #9`) or
 * an extension (`Merge PR #9: Title`), behind an emoji, a `:name:` or a `type(scope):` of the
 * house's; of a squash, which may name others before. [merge.late-list] [merge.consent]
 */
const NAMED =
  /^(?:[\w-]+(?:\([^()"]*\))?!?: |:[\w+-]+: ?|(?:\p{So}|\p{Sk}|\p{Cf}|\p{Mn})+ ?)?(?:(?:auto )?merge (?:pull request |PR |of )?#|.*\(#)(\d{1,9})(?!\d)/iu

/** `isConsent`: the push is about it, so its words count. */
export type MergedPull = Readonly<{ pull: ApiPull; isConsent: boolean }>

/**
 * The one pull request that accounts for the whole push of a branch, and whether the push is about
 * it. [merge.found] GitHub also calls a pull request merged if somebody pushed its head, or merged
 * another branch that has it: that is no consent to its words, which anyone may have written. The
 * message of a merge names the pull request. [merge.consent]
 *
 * @throws ActionError `github`
 */
export async function findMergedPull(
  step: StepSubject,
  repo: GitHubRepo,
): Promise<MergedPull | undefined> {
  const { environment, log } = step
  const { payload } = step.event
  const after = getSha(payload, 'after')
  const commits = commitsThatMayMerge(step)
  if (commits.length === 0) return undefined
  // If pull requests are turned off, GitHub responds 404 to whatever asks for them
  // (github.com/josegonzalez/python-github-backup/issues/511). [merge.pulls-off]
  const hasNoPulls = (repository: unknown): boolean => {
    const isOff = getPath(repository, 'has_pull_requests') === false
    if (isOff) log('Pull requests are turned off in this repository.')
    return isOff
  }
  if (hasNoPulls(getPath(payload, 'repository'))) return undefined
  const [, named] = NAMED.exec(getString(payload, 'head_commit.message')) ?? []
  const isNamed = (pull: ApiPull) => String(getPath(pull, 'number')) === named
  const isConsent = (pull: ApiPull): boolean => {
    const head = getSha(pull, 'head.sha')
    return head !== after && (isNamed(pull) || commits.every(({ sha }) => sha !== head))
  }
  // A pull request without `merge_commit_sha` may be one, too.
  const isMerge = (pull: ApiPull) => isMergedBy(['', after], pull, environment)
  let reading: Promise<readonly ApiPull[]> | undefined
  const readNamed = () => (reading ??= readPull(named, repo).then((list) => list.filter(isMerge)))
  const answer = await readPages(1, (page) =>
    repo.github.repos.listPullRequestsAssociatedWithCommit({
      ...asking(repo, `listing pull requests of ${shortSha(after)}`, {
        needs: NEEDS,
        // If the message names no pull request, none can be found in another way.
        early: async (list: readonly ApiPull[]) =>
          list.length === 0 && (await readNamed()).length === 0,
        expects: Array.isArray,
      }),
      commit_sha: after,
      ...page,
    }),
  ).catch(keepMissing)
  const listed = isMissing(answer) ? [] : answer.items.filter(isMerge)
  const isListed = listed.some((pull) => isNamed(pull) || isConsent(pull))
  const read = isListed ? [] : await readNamed()
  if (isMissing(answer) && read.length === 0) {
    // If that can't be read, either, the token lacks what the list needs.
    const known = await repo.github.repos
      .get(asking(repo, 'reading the repository', { needs: 'metadata: read' }))
      .catch(() => undefined)
    if (hasNoPulls(known?.data)) return undefined
    throw answer
  }
  const whole = []
  for (const pull of [...listed, ...read]) {
    if (await hasAll(pull, commits, after, repo)) whole.push(pull)
    else log(`This push is not just the merge of pull request ${pull.number}.`)
  }
  const [pull, ...more] = whole.some(isConsent) ? whole.filter(isConsent) : whole
  if (pull === undefined || more.length > 0) return undefined
  return { pull, isConsent: isConsent(pull) }
}

/** How many that are named are read one by one. */
const GROUP_LIMIT = 10

/** GitHub lists up to 250 commits of a pull request. */
const COMMIT_PAGES = 3

/**
 * The pull requests that a push of several has merged, as far as its commits name them; a rebase's
 * don't. Of many, there is a list, which may be seconds late. [skip.labels.merged]
 *
 * @throws ActionError `github`
 */
export async function readMergedGroup(step: StepSubject, repo: GitHubRepo) {
  const { environment, log } = step
  const commits = commitsThatMayMerge(step)
  const named = [...new Set(commits.flatMap(({ message }) => NAMED.exec(message)?.[1] ?? []))]
  const isMany = named.length > GROUP_LIMIT
  const answer = await readPages<ApiPull>(isMany ? 1 : 0, (page) =>
    repo.github.pulls.list({
      ...asking(repo, 'listing the merged pull requests', { needs: NEEDS, expects: Array.isArray }),
      ...{ state: 'closed', sort: 'updated', direction: 'desc' },
      base: environment.ref.replace('refs/heads/', ''),
      ...page,
    }),
  ).catch(keepMissing)
  if (isMissing(answer)) return [] // Pull requests are turned off.
  const { items: pulls } = answer
  const unlisted = named.filter((number) => !pulls.some((pull) => `${pull.number}` === number))
  for (const number of unlisted.slice(-GROUP_LIMIT)) pulls.push(...(await readPull(number, repo)))
  const unread = unlisted.length - GROUP_LIMIT
  if (unread > 0)
    log(`This push names many pull requests: the labels of ${unread} of them may be unseen.`)
  const shas = commits.map(({ sha }) => sha)
  return pulls.filter((pull) => isMergedBy(shas, pull, environment))
}

/**
 * The commits that a push brings to a branch, if what it merged counts; else none.
 * [merge.asked-when]
 */
function commitsThatMayMerge({ inputs, event, environment }: StepSubject): readonly Commit[] {
  const after = getSha(event.payload, 'after')
  const isAsked = inputs.jobScope === 'pull-request' && inputs.issueNumber === undefined
  const isNew = ZERO_SHA.test(getSha(event.payload, 'before'))
  if (!isAsked || isNew || !environment.ref.startsWith('refs/heads/')) return []
  const commits = pushedCommits(event)
  // A push that goes back to an earlier commit, or deletes the branch, brings no commits.
  return after !== '' && commits.some(({ sha }) => sha === after) ? commits : []
}

/** A synced fork has the same commits, and so may a release branch. [merge.here] */
function isMergedBy(
  commits: readonly string[],
  pull: ApiPull,
  { ref, repository }: RunEnvironment,
): boolean {
  return (
    getPath(pull, 'merged_at') !== undefined &&
    commits.includes(getSha(pull, 'merge_commit_sha')) &&
    `refs/heads/${getString(pull, 'base.ref')}` === ref &&
    getString(pull, 'base.repo.full_name').toLowerCase() === repository.toLowerCase()
  )
}

/** GitHub's list may be seconds late, the pull request itself isn't. [merge.late-list] */
async function readPull(number: string | undefined, repo: GitHubRepo) {
  if (number === undefined) return []
  const answer = await repo.github.pulls
    .get({
      ...asking(repo, `reading pull request ${number}`, { needs: NEEDS }),
      pull_number: Number(number),
    })
    .catch(keepMissing)
  // The number may be an issue's, or nothing's. A revert names a pull request, too: without the
  // merge commit, nobody can tell it from the merge.
  const isKnown = !isMissing(answer) && getSha(answer.data, 'merge_commit_sha') !== ''
  return isKnown ? [answer.data] : []
}

/**
 * Whether all commits are the pull request's, or merge it. A rebase keeps their messages. GitHub
 * lists up to 250. [merge.whole] From version 2026-03-10 on, its API has no `merge_commit_sha`:
 * then one of the pull request's own commits is no merge of it. [merge.no-merge-commit]
 */
async function hasAll(
  pull: ApiPull,
  commits: readonly Commit[],
  after: string,
  repo: GitHubRepo,
): Promise<boolean> {
  const isKnown = getSha(pull, 'merge_commit_sha') !== ''
  if (commits.length === 1 && isKnown) return true
  const { items } = await readPages(COMMIT_PAGES, (page) =>
    repo.github.pulls.listCommits({
      ...asking(repo, `listing the commits of pull request ${pull.number}`, {
        needs: NEEDS,
        // The last page has the head.
        early: (list: readonly { sha: string }[]) =>
          page.page < COMMIT_PAGES &&
          list.length < page.per_page &&
          list.every(({ sha }) => sha !== pull.head.sha),
        expects: Array.isArray,
      }),
      ...page,
      pull_number: pull.number,
    }),
  )
  if (!isKnown && items.some((commit) => getSha(commit, 'sha') === after)) return false
  const messages = items.map((commit) => getString(commit, 'commit.message'))
  const others = commits.filter(({ message }) => !messages.includes(message))
  return (
    others.every(({ sha }) => sha === after) && commits.length - others.length <= messages.length
  )
}
