/** What the tests' GitHub can be asked: each endpoint, the permission it needs, and its answer. */

import { posix } from 'node:path'
import type * as answers from './github-answers.js'
import {
  type CommentState,
  type CommitState,
  type ComparisonState,
  type PullState,
  type Repository,
  type RepositoryState,
  seconds,
} from './github-state.js'

const COMMENT_LIMIT = 65_536
const COMPARE_FILES = 300
const COMPARE_COMMITS = 250
const PULL_FILES = 3000
const FILTERED_RUNS = 1000
const DOCS = 'https://docs.github.com/rest'
const DEFAULT_LABELS: readonly unknown[] = ['bug', 'documentation', 'duplicate', 'enhancement', 'question']
const RUN_FILTERS = ['branch', 'status', 'event', 'head_sha']

export type Permission = 'issues' | 'pull_requests' | 'contents' | 'actions'

export interface Reply {
  readonly status?: number
  /** What comes back, and which page of how many. */
  readonly body?:
    | readonly answers.IssueComment[]
    | answers.IssueComment
    | readonly answers.Label[]
    | answers.PullRequest
    | readonly answers.DiffEntry[]
    | answers.Comparison
    | answers.Commit
    | answers.RunList
    | answers.WorkflowRun
  readonly page?: Page
}

export interface Page {
  readonly number: number
  readonly last: number
}

/** What an endpoint is asked. */
export interface Call {
  readonly answers: answers.Answers
  /** Whom the token speaks for. */
  readonly login: string
  readonly now: () => Date
  readonly find: (fullName: string | null) => RepositoryState | null
  readonly repo: Repository
  /** The parts of the path, decoded. */
  readonly ids: readonly string[]
  readonly query: URLSearchParams
  readonly body: unknown
}

/** The method, the path below the repository, the least permission and GitHub's own words for it, the documentation. */
export type Endpoint = readonly [
  method: string,
  path: RegExp,
  needs: readonly [permission: Permission, access: 'read' | 'write', accepted: string],
  docs: string,
  answer: (call: Call) => Reply,
  /** That it takes besides those of paging. */
  parameters?: readonly string[],
]

// A comment on a pull request needs the permission for pull requests: `issues: write` alone is refused, although the
// header and the documentation name both (seen in public logs of workflows).
const READ_COMMENT = ['pull_requests', 'read', 'issues=read; pull_requests=read'] as const
const WRITE_COMMENT = ['pull_requests', 'write', 'issues=write; pull_requests=write'] as const
const READ_PULL = ['pull_requests', 'read', 'pull_requests=read'] as const
const READ_CONTENTS = ['contents', 'read', 'contents=read'] as const
const READ_ACTIONS = ['actions', 'read', 'actions=read'] as const

const COMMENTS = /^\/issues\/(\d+)\/comments$/
const COMMENT = /^\/issues\/comments\/(\d+)$/
const LABELS = /^\/issues\/(\d+)\/labels$/
const PULL = /^\/pulls\/(\d+)$/
const FILES = /^\/pulls\/(\d+)\/files$/
const COMPARE = /^\/compare\/(.+)$/
const COMMIT = /^\/commits\/(.+)$/
const RUNS = /^\/actions\/workflows\/([^/]+)\/runs$/
const RUN = /^\/actions\/runs\/(\d+)$/

export const ENDPOINTS: readonly Endpoint[] = [
  ['GET', COMMENTS, READ_COMMENT, '/issues/comments#list-issue-comments', listComments],
  ['POST', COMMENTS, WRITE_COMMENT, '/issues/comments#create-an-issue-comment', createComment],
  ['GET', COMMENT, READ_COMMENT, '/issues/comments#get-an-issue-comment', getComment],
  ['PATCH', COMMENT, WRITE_COMMENT, '/issues/comments#update-an-issue-comment', updateComment],
  ['DELETE', COMMENT, WRITE_COMMENT, '/issues/comments#delete-an-issue-comment', deleteComment],
  ['POST', LABELS, WRITE_COMMENT, '/issues/labels#add-labels-to-an-issue', addLabels],
  ['GET', PULL, READ_PULL, '/pulls/pulls#get-a-pull-request', getPull],
  ['GET', FILES, READ_PULL, '/pulls/pulls#list-pull-requests-files', listFiles],
  ['GET', COMPARE, READ_CONTENTS, '/commits/commits#compare-two-commits', compare],
  ['GET', COMMIT, READ_CONTENTS, '/commits/commits#get-a-commit', getCommit],
  [
    'GET',
    RUNS,
    READ_ACTIONS,
    '/actions/workflow-runs#list-workflow-runs-for-a-workflow',
    listRuns,
    RUN_FILTERS,
  ],
  ['GET', RUN, READ_ACTIONS, '/actions/workflow-runs#get-a-workflow-run', getRun],
]

function listComments({ answers, repo, ids, query }: Call): Reply {
  const { number } = findPull(repo, ids[0])
  const all = [...repo.comments.values()]
    .filter(({ issue }) => issue === number)
    .sort((one, other) => one.id - other.id)
  const { items, page } = slice(all, query)
  return { page, body: items.map((comment) => answers.comment(repo, comment)) }
}

function createComment({ answers, login, repo, ids, body }: Call): Reply {
  const pull = findPull(repo, ids[0])
  const text = commentBody(body)
  if (pull.locked) throw new Refusal(403, 'Unable to create comment because issue is locked.')
  const comment = repo.addComment(pull.number, { author: login, body: text })
  return { status: 201, body: answers.comment(repo, comment) }
}

function getComment({ answers, repo, ids }: Call): Reply {
  return { body: answers.comment(repo, findComment(repo, ids[0])) }
}

function updateComment({ answers, now, repo, ids, body }: Call): Reply {
  const comment = findComment(repo, ids[0])
  comment.body = commentBody(body)
  comment.updated_at = seconds(now())
  return { body: answers.comment(repo, comment) }
}

function deleteComment({ repo, ids }: Call): Reply {
  repo.comments.delete(findComment(repo, ids[0]).id)
  return { status: 204 }
}

function addLabels({ answers, repo, ids, body }: Call): Reply {
  const { labels } = findPull(repo, ids[0])
  const names = (body as { labels?: unknown }).labels
  if (!Array.isArray(names)) throw new Refusal(422, 'Invalid request.')
  // A label that is not there yet is made, which takes `issues: write` (docs.github.com/en/rest/issues/labels).
  if (names.some((name) => !DEFAULT_LABELS.includes(name)))
    throw new Refusal(403, 'You do not have permission to create labels on this repository.')
  for (const name of names) labels.add(String(name))
  return { body: [...labels].map((name) => answers.label(repo, name)) }
}

function getPull({ answers, find, repo, ids }: Call): Reply {
  const pull = findPull(repo, ids[0])
  const comments = [...repo.comments.values()].filter(({ issue }) => issue === pull.number).length
  return { body: answers.pull(repo, pull, find(pull.head.repo), comments) }
}

function listFiles({ answers, repo, ids, query }: Call): Reply {
  const pull = findPull(repo, ids[0])
  const { items, page } = slice(pull.files.slice(0, PULL_FILES), query)
  return { page, body: items.map((entry) => answers.file(repo, pull.head.sha, entry)) }
}

/**
 * With a parameter of paging: commits from the oldest on, the files on the first page alone. Without: the latest 250
 * (docs.github.com/en/rest/commits/commits#compare-two-commits).
 */
function compare({ answers, repo, ids, query }: Call): Reply {
  const [from = '', to = ''] = (ids[0] ?? '').split('...')
  const base = findCommit(repo, from)
  const head = findCommit(repo, to)
  if (!base || !head) throw notFound()
  const state = findComparison(repo, base, head)
  const paged = query.has('page') || query.has('per_page')
  const { items, page } = paged
    ? slice(state.commits, query)
    : { items: state.commits.slice(-COMPARE_COMMITS), page: { number: 1, last: 1 } }
  const files = page.number === 1 ? state.files.slice(0, COMPARE_FILES) : []
  return { page, body: answers.comparison(repo, { base, head, state }, { commits: items, files }) }
}

function getCommit({ answers, repo, ids }: Call): Reply {
  const commit = findCommit(repo, ids[0] ?? '')
  if (!commit) throw new Refusal(422, `No commit found for SHA: ${ids[0]}`)
  return { body: answers.commitWithFiles(repo, commit) }
}

/** `status` takes a conclusion, too; the newest run comes first. */
function listRuns({ answers, find, repo, ids, query }: Call): Reply {
  const [workflow = ''] = ids
  const ofWorkflow = [...repo.runs.values()].filter(
    (run) => String(run.workflow_id) === workflow || posix.basename(run.path) === workflow,
  )
  if (ofWorkflow.length === 0) throw notFound()
  const asked = (name: string, ...values: (string | null)[]): boolean =>
    !query.has(name) || values.includes(query.get(name))
  const matching = ofWorkflow
    .filter((run) => asked('branch', run.head_branch) && asked('event', run.event))
    .filter((run) => asked('status', run.status, run.conclusion) && asked('head_sha', run.head_sha))
    .sort((one, other) => other.id - one.id)
  const filtered = RUN_FILTERS.some((name) => query.has(name))
  const { items, page } = slice(filtered ? matching.slice(0, FILTERED_RUNS) : matching, query)
  const workflow_runs = items.map((run) => answers.run(repo, run, find(run.head_repository)))
  return { page, body: { total_count: matching.length, workflow_runs } }
}

function getRun({ answers, find, repo, ids }: Call): Reply {
  const run = repo.runs.get(Number(ids[0]))
  if (!run) throw notFound()
  return { body: answers.run(repo, run, find(run.head_repository)) }
}

/** A request that is turned down, in GitHub's words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: answers.ErrorBody['errors'],
  ) {
    super(message)
  }
}

export const notFound = (): Refusal => new Refusal(404, 'Not Found')

export function errorBody(
  status: number,
  message: string,
  docs: string,
  errors?: answers.ErrorBody['errors'],
): answers.ErrorBody {
  return { message, ...(errors && { errors }), documentation_url: `${DOCS}${docs}`, status: String(status) }
}

function findPull(repo: Repository, number: string | undefined): PullState {
  const pull = repo.pulls.get(Number(number))
  if (!pull) throw notFound()
  return pull
}

function findComment(repo: Repository, id: string | undefined): CommentState {
  const comment = repo.comments.get(Number(id))
  if (!comment) throw notFound()
  return comment
}

function findCommit(repo: Repository, ref: string): CommitState | undefined {
  return repo.commits.get(repo.refs.get(ref) ?? ref)
}

function findComparison(repo: Repository, base: CommitState, head: CommitState): ComparisonState {
  if (base === head) return { status: 'identical', files: [], commits: [] }
  const state = repo.comparisons.get(`${base.sha}...${head.sha}`)
  if (!state) throw new Error(`The test set up no comparison of ${base.sha} with ${head.sha}`)
  return state
}

function commentBody(body: unknown): string {
  if (typeof body !== 'object' || body === null) throw new Refusal(400, 'Problems parsing JSON')
  if (!('body' in body) || typeof body.body !== 'string') {
    throw new Refusal(422, 'Invalid request.\n\n"body" wasn\'t supplied.')
  }
  if (body.body.trim() !== '' && body.body.length <= COMMENT_LIMIT) return body.body
  const message = body.body.trim()
    ? `Body is too long (maximum is ${COMMENT_LIMIT} characters)`
    : 'Body cannot be blank'
  throw new Refusal(422, 'Validation Failed', [
    { resource: 'IssueComment', code: 'unprocessable', field: 'data', message },
  ])
}

/** 30 a page unless asked otherwise, at most 100. */
function slice<T>(all: readonly T[], query: URLSearchParams): { items: T[]; page: Page } {
  const size = Math.min(positive(query.get('per_page'), 30), 100)
  const number = positive(query.get('page'), 1)
  const last = Math.max(1, Math.ceil(all.length / size))
  return { items: all.slice((number - 1) * size, number * size), page: { number, last } }
}

function positive(text: string | null, fallback: number): number {
  return /^0*[1-9]\d*$/.test(text ?? '') ? Number(text) : fallback
}
