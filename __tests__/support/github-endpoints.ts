/**
 * The endpoints of the tests' GitHub: a table with the permission that each needs, and what each
 * does.
 */

import { posix } from 'node:path'
import * as answers from './github-answers.js'
import type { ComparisonState, PullState, Repository } from './github-state.js'

const COMMENT_LIMIT = 65_536
const COMPARE_FILES = 300
/** Of a pull request and of a commit. */
const LISTED_FILES = 3000

export type Permission =
  | 'issues'
  | 'pull_requests'
  | 'contents'
  | 'actions'
  | 'checks'
  | 'statuses'
  | 'deployments'
  | 'metadata'

export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

/** A request that matched an endpoint. */
export interface Call {
  readonly repo: Repository
  /** What stands for the names in the path, decoded. */
  readonly ids: readonly string[]
  readonly query: URLSearchParams
  readonly body: unknown
}

export type Need = `${Permission}: ${'read' | 'write'}`

/** The method, GitHub's own path below the repository, the minimal permission, and what it does. */
type Endpoint = readonly [
  method: string,
  path: string,
  needs: Need | ((repo: Repository | undefined, id: string) => Need),
  answer: (call: Call) => Answer,
]

/** A comment on a pull request needs another permission than one on a plain issue. */
const onIssue =
  (access: 'read' | 'write') =>
  (repo: Repository | undefined, number: string): Need =>
    `${repo?.issues.has(Number(number)) ? 'issues' : 'pull_requests'}: ${access}`

const ofComment = (repo: Repository | undefined, id: string): Need =>
  onIssue('write')(repo, String(repo?.comments.get(Number(id))?.issue))

// On a pull request, comments need the permission for pull requests. `issues: write` is refused,
// although the documentation names both (seen in public logs of workflows).
export const ENDPOINTS: readonly Endpoint[] = [
  ['GET', '', 'metadata: read', getRepository],
  ['GET', '/issues/{issue_number}', 'issues: read', getIssue],
  ['GET', '/issues/{issue_number}/comments', onIssue('read'), listComments],
  ['POST', '/issues/{issue_number}/comments', onIssue('write'), createComment],
  ['PATCH', '/issues/comments/{comment_id}', ofComment, updateComment],
  ['POST', '/issues/{issue_number}/labels', onIssue('write'), addLabels],
  ['DELETE', '/issues/{issue_number}/labels/{name}', onIssue('write'), removeLabel],
  ['GET', '/pulls', 'pull_requests: read', listPulls],
  ['GET', '/pulls/{pull_number}', 'pull_requests: read', getPull],
  ['PATCH', '/pulls/{pull_number}', 'pull_requests: write', updatePull],
  ['POST', '/pulls/{pull_number}/requested_reviewers', 'pull_requests: write', requestReviewers],
  // GraphQL's two mutations for drafts, which need this permission as well as that for pull
  // requests.
  ['POST', '/graphql/pulls/{pull_number}/{change}', 'contents: write', changeDraft],
  ['GET', '/pulls/{pull_number}/files', 'pull_requests: read', listFiles],
  ['GET', '/pulls/{pull_number}/commits', 'pull_requests: read', listPullCommits],
  ['GET', '/compare/{basehead}', 'contents: read', compare],
  ['GET', '/commits/{ref}/check-runs', 'checks: read', listChecks],
  ['GET', '/commits/{commit_sha}/pulls', 'pull_requests: read', listCommitPulls],
  ['GET', '/commits/{ref}', 'contents: read', getCommit],
  ['GET', '/commits', 'contents: read', listCommits],
  ['GET', '/branches/{branch}', 'contents: read', getBranch],
  ['GET', '/activity', 'contents: read', listActivities],
  ['GET', '/actions/workflows/{workflow_id}/runs', 'actions: read', listRuns],
  ['GET', '/actions/runs/{run_id}', 'actions: read', getRun],
  ['GET', '/actions/runs/{run_id}/attempts/{attempt_number}', 'actions: read', getAttempt],
  ['GET', '/collaborators/{username}/permission', 'metadata: read', getPermission],
  ['GET', '/releases', 'contents: read', listReleases],
  ['GET', '/tags', 'contents: read', listTags],
  ['GET', '/git/commits/{commit_sha}', 'contents: read', getGitCommit],
  ['GET', '/deployments', 'deployments: read', listDeployments],
  ['GET', '/deployments/{deployment_id}/statuses', 'deployments: read', listDeploymentStatuses],
  ['POST', '/statuses/{sha}', 'statuses: write', createStatus],
]

function getRepository({ repo }: Call): Answer {
  const { full_name, hasPulls, defaultBranch, visibility, pushedAt } = repo
  const { private: isPrivate = false, internal } = visibility
  const kind = isPrivate ? 'private' : 'public'
  const seenBy = { private: isPrivate, visibility: internal ? 'internal' : kind }
  const about = { ...seenBy, default_branch: defaultBranch, pushed_at: pushedAt }
  const { size = repo.commits.size } = repo
  return { body: { full_name, has_pull_requests: hasPulls, size, ...about } }
}

/** GitHub redirects from a name that a branch had before. */
function getBranch({ repo, ids: [name = ''] }: Call): Answer {
  const renamed = repo.renamedBranches.get(name)
  if (renamed !== undefined) {
    const location = `/repos/${repo.full_name}/branches/${encodeURIComponent(renamed)}`
    const body = { message: 'Moved Permanently', url: `https://api.github.com${location}` }
    return { status: 301, headers: { location }, body }
  }
  const head = repo.branches.get(name)
  if (head === undefined) throw new Refusal(404, 'Branch not found')
  return { body: { name, commit: { sha: head } } }
}

/** The newest comes first, of all branches if none is named. Its pages have cursors, no numbers. */
function listActivities({ repo, query }: Call): Answer {
  const ref = query.get('ref')
  const all = repo.moves
    .map((state, id) => ({ state, id }))
    .filter(({ state }) => [null, `refs/heads/${state.branch}`, state.branch].includes(ref))
    .filter(({ state }) => state.listedAt <= performance.now())
    .reverse()
  const size = Math.min(Number(query.get('per_page') ?? 30), repo.pageSize)
  const start = all.findIndex(({ id }) => `cursor=${id}` === query.get('after')) + 1
  const page = all.slice(start, start + size)
  const last = encodeURIComponent(`cursor=${page.at(-1)?.id}`)
  const next = `<https://api.github.com/repositories/1/activity?per_page=${size}&after=${last}>; rel="next"`
  return {
    ...(start + size < all.length && { headers: { link: next } }),
    body: page.map(({ id, state }) => answers.move(id, state)),
  }
}

/** Of an empty repository, GitHub answers 409. */
function listCommits({ repo, query }: Call): Answer {
  if (repo.commits.size === 0) throw new Refusal(409, 'Git Repository is empty.')
  const since = Date.parse(query.get('since') ?? '1970-01-01')
  const all = repo.commitsOf(query.get('sha') ?? '')
  const { headers, body } = pageOf(
    all.filter(({ date = '' }) => Date.parse(date) >= since),
    query,
  )
  return { headers, body: body.map(answers.commit) }
}

function getRun({ repo, ids }: Call): Answer {
  return { body: answers.run(found(repo.runs.find(({ id }) => id === Number(ids[0])))) }
}

function getIssue({ repo, ids }: Call): Answer {
  const number = findIssue(repo, ids[0])
  const pull = repo.pulls.get(number)
  return { body: pull ? answers.pullAsIssue(pull) : answers.issue(number, repo.full_name) }
}

function listComments({ repo, ids, query }: Call): Answer {
  const number = findIssue(repo, ids[0])
  const ofIssue = repo.listed([...repo.comments.values()].filter(({ issue }) => issue === number))
  const shown = ofIssue.map((one) => answers.comment(one, repo.hides))
  return pageOf(shown, query, repo.pageSize)
}

function createComment({ repo, ids, body }: Call): Answer {
  const number = findIssue(repo, ids[0])
  if (repo.pulls.get(number)?.locked)
    throw new Refusal(403, 'Unable to create comment because issue is locked.')
  const author = 'github-actions[bot]'
  const comment = repo.addComment(number, { author, body: commentBody(body) })
  repo.record(comment)
  return { status: 201, body: answers.comment(comment) }
}

function updateComment({ repo, ids, body }: Call): Answer {
  const comment = found(repo.comments.get(Number(ids[0])))
  comment.body = commentBody(body)
  repo.record(comment)
  return { body: answers.comment(comment) }
}

/** The newest of each name, as by default (docs.github.com/en/rest/checks/runs). */
function listChecks({ repo, ids, query }: Call): Answer {
  const asked = query.get('check_name')
  const found = repo.checks.filter(
    ({ head_sha, name }) => head_sha === ids[0] && name === (asked ?? name),
  )
  const check_runs = [...new Map(found.map((check) => [check.name, check])).values()]
  return { body: { check_runs } }
}

function getPull({ repo, ids }: Call): Answer {
  return { body: answers.pull(findPull(repo, ids[0]), repo.visibility) }
}

function listPulls({ repo, query }: Call): Answer {
  if (!repo.hasPulls) throw notFound()
  const asked = query.get('state') ?? 'open'
  const listed = [...repo.pulls.values()].filter(({ state }) => asked === 'all' || state === asked)
  return pageOf(listed.map(answers.listedPull), query)
}

function updatePull({ repo, ids, body }: Call): Answer {
  const pull = findPull(repo, ids[0])
  const { state = pull.state, title = pull.title } = body as Partial<PullState>
  if (state === 'open' && pull.merged)
    throw new Refusal(
      422,
      'Validation Failed: state cannot be changed. The pull request cannot be reopened.',
    )
  return { body: answers.pull(Object.assign(pull, { state, title })) }
}

/** A review that was requested before is requested again. */
function requestReviewers({ repo, ids, body }: Call): Answer {
  const pull = findPull(repo, ids[0])
  const { reviewers = [], team_reviewers = [] } = body as Record<string, string[]>
  if (reviewers.length + team_reviewers.length === 0) throw new Refusal(422, 'Validation Failed')
  return { status: 201, body: answers.listedPull(pull) }
}

function changeDraft({ repo, ids }: Call): Answer {
  const pull = findPull(repo, ids[0])
  if (ids[1] === 'draft' && !repo.hasDrafts)
    throw new Refusal(422, 'Draft pull requests are not supported in this repository.')
  return { body: answers.pull(Object.assign(pull, { draft: ids[1] === 'draft' })) }
}

/**
 * A label that the repository doesn't have would be created, which `pull_requests: write` doesn't
 * allow.
 */
function addLabels({ repo, ids, body }: Call): Answer {
  const pull = findPull(repo, ids[0])
  const { labels: names = [] } = body as { labels?: readonly string[] }
  if (names.some((name) => !repo.labels.has(name)))
    throw new Refusal(403, 'You do not have permission to create labels on this repository.')
  for (const name of names) pull.labels.add(name)
  return { body: answers.labels(pull) }
}

function removeLabel({ repo, ids }: Call): Answer {
  const pull = findPull(repo, ids[0])
  if (!pull.labels.delete(ids[1] ?? '')) throw new Refusal(404, 'Label does not exist')
  return { body: answers.labels(pull) }
}

function listFiles({ repo, ids, query }: Call): Answer {
  const pull = findPull(repo, ids[0])
  const { head, files } =
    performance.now() < (pull.before?.until ?? 0) ? (pull.before ?? pull) : pull
  const { headers, body } = pageOf(files.slice(0, LISTED_FILES), query)
  return { headers, body: answers.files(body, head) }
}

/**
 * The last one is the head. GitHub lists no more than 250
 * (docs.github.com/en/rest/pulls/pulls#list-commits-on-a-pull-request).
 */
function listPullCommits({ repo, ids, query }: Call): Answer {
  const { commits, head } = findPull(repo, ids[0])
  const listed = commits.map(({ sha, message }, nth) => ({
    sha: nth === commits.length - 1 ? head : sha,
    commit: { message },
  }))
  return pageOf(listed.slice(0, 250), query)
}

/** What merged the commit, and what has it as its head. */
function listCommitPulls({ repo, ids, query }: Call): Answer {
  if (!repo.hasPulls) throw notFound()
  const has = ({ mergeCommit, head }: PullState): boolean =>
    [mergeCommit, head].includes(ids[0] ?? '')
  return pageOf([...repo.pulls.values()].filter(has).map(answers.listedPull), query)
}

/**
 * The first page has all files, the others have none
 * (docs.github.com/en/rest/commits/commits#compare-two-commits).
 */
function compare({ repo, ids, query }: Call): Answer {
  const range = ids[0]?.split('...') ?? []
  const [base = '', head = ''] = range.map((name) => repo.tags.get(name) ?? name)
  if (!repo.commits.has(base) || !repo.commits.has(head)) throw notFound()
  const identical: ComparisonState = { status: 'identical', files: [], commits: [] }
  const state = base === head ? identical : repo.compare(base, head)
  if (!state) throw new Error(`The test added no comparison of ${base} with ${head}`)
  const { headers, body: commits } = pageOf(state.commits, query)
  const files = pageAsked(query) === 1 ? state.files.slice(0, COMPARE_FILES) : []
  return { headers, body: answers.comparison(state.mergeBase ?? base, state, { commits, files }) }
}

/**
 * Of a commit, or of a tag or a branch by its name. Of a merge, the files are those that it brings
 * to its first parent.
 */
function getCommit({ repo, ids: [ref = ''], query }: Call): Answer {
  const commit = repo.commits.get(repo.tags.get(ref) ?? ref)
  if (!commit) throw new Refusal(422, `No commit found for SHA: ${ref}`)
  const [first = '', ...others] = commit.parents
  const changed = others.length > 0 && repo.compare(first, commit.sha)?.files
  const { headers, body } = pageOf((changed || commit.files || []).slice(0, LISTED_FILES), query)
  return { headers, body: { ...answers.commit(commit), files: answers.files(body) } }
}

function getGitCommit({ repo, ids }: Call): Answer {
  return { body: answers.gitCommit(found(repo.commits.get(ids[0] ?? ''))) }
}

/**
 * The newest run comes first. The parameter `status` accepts a conclusion, too. The filters are a
 * search, which has been months behind (github.com/nrwl/nx-set-shas/issues/219).
 */
function listRuns({ repo, ids, query }: Call): Answer {
  const ofWorkflow = repo.runs.filter(({ path }) => posix.basename(path) === ids[0])
  if (ofWorkflow.length === 0) throw notFound()
  const is = (name: string, ...values: (string | null)[]): boolean =>
    repo.unfiltered || !query.has(name) || values.includes(query.get(name))
  const isSearch = ['branch', 'event', 'status'].some((name) => query.has(name))
  const matching = (isSearch ? ofWorkflow.slice(0, repo.searchable) : ofWorkflow)
    .filter((run) => is('branch', run.head_branch) && is('event', run.event))
    .filter((run) => is('status', run.status, run.conclusion))
    .sort((one, other) => other.id - one.id)
  const { headers, body: workflow_runs } = pageOf(matching.map(answers.run), query)
  return { headers, body: { total_count: matching.length, workflow_runs } }
}

/** Of a run that isn't listed, each attempt failed. */
function getAttempt({ repo, ids }: Call): Answer {
  const [id, attempt] = ids.map(Number)
  const conclusion = repo.attempts.get(`${id} ${attempt}`) ?? 'failure'
  return { body: { id, run_attempt: attempt, status: 'completed', conclusion } }
}

/** Of a public repository, everybody may read; a bot is no user. */
function getPermission({ repo, ids }: Call): Answer {
  const [login = ''] = ids
  const given = [...repo.collaborators].find(
    ([name]) => name.toLowerCase() === login.toLowerCase(),
  )?.[1]
  if (given !== undefined) return { body: given }
  if (login.endsWith('[bot]')) throw new Refusal(404, `${login} is not a user`)
  const permission = repo.visibility.private ? 'none' : 'read'
  return { body: { permission, role_name: permission } }
}

/** The newest comes first. Drafts are among them for whoever may write. */
function listReleases({ repo, query }: Call): Answer {
  return pageOf([...repo.releases].reverse(), query)
}

/** In the reverse order of their names. */
function listTags({ repo, query }: Call): Answer {
  const names = [...repo.tags].sort().reverse()
  return pageOf(
    names.map(([name, sha]) => ({ name, commit: { sha, url: 'https://api.github.com/x' } })),
    query,
  )
}

function listDeployments({ repo, query }: Call): Answer {
  return {
    body: repo.deployments.flatMap(({ sha }, id) =>
      sha === query.get('sha') ? [{ id, sha }] : [],
    ),
  }
}

function listDeploymentStatuses({ repo, ids }: Call): Answer {
  const { environment_url } = found(repo.deployments[Number(ids[0])])
  return { body: [{ state: 'success', environment_url }] }
}

function createStatus({ body }: Call): Answer {
  const { state = '', description = '' } = body as Record<string, string>
  if (!['error', 'failure', 'pending', 'success'].includes(state) || description.length > 140)
    throw new Refusal(422, 'Validation Failed')
  return { status: 201, body: { state, description } }
}

/** A request that is refused, with GitHub's text. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

export const notFound = (): Refusal => new Refusal(404, 'Not Found')

function found<T>(stored: T | undefined): T {
  if (stored === undefined) throw notFound()
  return stored
}

const findPull = (repo: Repository, number: string | undefined) =>
  found(repo.hasPulls ? repo.pulls.get(Number(number)) : undefined)

/** To GitHub, a pull request is an issue, too. */
function findIssue(repo: Repository, text: string | undefined): number {
  const number = Number(text)
  return repo.issues.has(number) ? number : findPull(repo, text).number
}

function commentBody(body: unknown): string {
  const text = (body as { body?: unknown } | undefined)?.body
  if (typeof text !== 'string')
    throw new Refusal(422, 'Invalid request.\n\n"body" wasn\'t supplied.')
  if (text.trim() === '') throw new Refusal(422, 'Validation Failed: Body cannot be blank')
  if (text.length > COMMENT_LIMIT)
    throw new Refusal(
      422,
      `Validation Failed: Body is too long (maximum is ${COMMENT_LIMIT} characters)`,
    )
  return text
}

const pageAsked = (query: URLSearchParams): number => Number(query.get('page') ?? 1)

/**
 * 30 per page by default, at most 100. Of the header `link`, the action reads only which other
 * pages there are.
 */
function pageOf<T>(all: readonly T[], query: URLSearchParams, most = 100) {
  const size = Math.min(Number(query.get('per_page') ?? 30), most)
  const last = Math.max(1, Math.ceil(all.length / size))
  const page = pageAsked(query)
  const others = [...(page > 1 ? ['first', 'prev'] : []), ...(page < last ? ['next', 'last'] : [])]
  const pages: Record<string, number> = { first: 1, prev: page - 1, next: page + 1, last }
  const link = others
    .map((rel) => `<https://api.github.com/list?page=${pages[rel]}>; rel="${rel}"`)
    .join(', ')
  const headers: Record<string, string> = link === '' ? {} : { link }
  return { headers, body: all.slice((page - 1) * size, page * size) }
}
