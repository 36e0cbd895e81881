/** The endpoints of the tests' GitHub: a table with the permission that each needs, and what each does. */

import { posix } from 'node:path'
import * as answers from './github-answers.js'
import { PEOPLE_ENDPOINTS } from './github-people.js'
import type { CommentState, CommitState, ComparisonState, PullState, Repository } from './github-state.js'

const COMMENT_LIMIT = 65_536
const COMPARE_FILES = 300
const PULL_FILES = 3000
const DEFAULT_LABELS: readonly unknown[] = ['bug', 'documentation', 'duplicate', 'enhancement', 'question']

export type Permission = 'issues' | 'pull_requests' | 'contents' | 'actions' | 'metadata'

export interface Answer {
  readonly status?: number
  readonly body: unknown
  readonly page?: Page
}

/** Which page it is, and how many there are. */
export interface Page {
  readonly number: number
  readonly last: number
}

/** A request that matched an endpoint. */
export interface Call {
  readonly repo: Repository
  /** Whom the token speaks for. */
  readonly login: string
  /** The groups of the endpoint's pattern, decoded. */
  readonly ids: readonly string[]
  readonly query: URLSearchParams
  readonly body: unknown
}

/** The method, the path below the repository, the minimal permission, what it does, and its own query parameters. */
export type Endpoint = readonly [
  method: string,
  path: RegExp,
  needs: readonly [permission: Permission, access: 'read' | 'write'],
  answer: (call: Call) => Answer,
  parameters?: readonly string[],
]

const COMMENTS = /^\/issues\/(\d+)\/comments$/
const COMMENT = /^\/issues\/comments\/(\d+)$/
const LABELS = /^\/issues\/(\d+)\/labels$/
const PULL = /^\/pulls\/(\d+)$/
const FILES = /^\/pulls\/(\d+)\/files$/
const COMPARE = /^\/compare\/(.+)\.\.\.(.+)$/
const COMMIT = /^\/commits\/(.+)$/
const RUNS = /^\/actions\/workflows\/([^/]+)\/runs$/

// On a pull request, comments and labels need the permission for pull requests. `issues: write` is refused, although the
// documentation names both (seen in public logs of workflows).
export const endpoints = (): readonly Endpoint[] => [...ENDPOINTS, ...PEOPLE_ENDPOINTS]

const ENDPOINTS: readonly Endpoint[] = [
  ['GET', COMMENTS, ['pull_requests', 'read'], listComments],
  ['POST', COMMENTS, ['pull_requests', 'write'], createComment],
  ['PATCH', COMMENT, ['pull_requests', 'write'], updateComment],
  ['POST', LABELS, ['pull_requests', 'write'], addLabels],
  ['GET', PULL, ['pull_requests', 'read'], getPull],
  ['GET', FILES, ['pull_requests', 'read'], listFiles],
  ['GET', COMPARE, ['contents', 'read'], compare],
  ['GET', COMMIT, ['contents', 'read'], getCommit],
  ['GET', RUNS, ['actions', 'read'], listRuns, ['branch', 'status', 'event']],
]

function listComments({ repo, ids, query }: Call): Answer {
  const { number } = findPull(repo, ids[0])
  const { items, page } = slice(
    [...repo.comments.values()].filter(({ issue }) => issue === number),
    query,
  )
  return { page, body: items.map(answers.comment) }
}

function createComment({ login, repo, ids, body }: Call): Answer {
  const pull = findPull(repo, ids[0])
  const text = commentBody(body)
  if (pull.locked) throw new Refusal(403, 'Unable to create comment because issue is locked.')
  return { status: 201, body: answers.comment(repo.addComment(pull.number, { author: login, body: text })) }
}

function updateComment({ repo, ids, body }: Call): Answer {
  const comment = findComment(repo, ids[0])
  comment.body = commentBody(body)
  return { body: answers.comment(comment) }
}

function addLabels({ repo, ids, body }: Call): Answer {
  const { labels } = findPull(repo, ids[0])
  const names = (body as { labels?: unknown }).labels
  if (!Array.isArray(names)) throw new Refusal(422, 'Invalid request.')
  // To create a label takes `issues: write` (docs.github.com/en/rest/issues/labels).
  if (names.some((name) => !DEFAULT_LABELS.includes(name)))
    throw new Refusal(403, 'You do not have permission to create labels on this repository.')
  for (const name of names) labels.add(name)
  return { body: [...labels].map(answers.label) }
}

function getPull({ repo, ids }: Call): Answer {
  return { body: answers.pull(findPull(repo, ids[0])) }
}

function listFiles({ repo, ids, query }: Call): Answer {
  const { items, page } = slice(findPull(repo, ids[0]).files.slice(0, PULL_FILES), query)
  return { page, body: items.map(answers.file) }
}

/** The first page has all files, the others have none (docs.github.com/en/rest/commits/commits#compare-two-commits). */
function compare({ repo, ids, query }: Call): Answer {
  const [base = '', head = ''] = ids.map((name) => repo.tags.get(name) ?? name)
  if (!repo.commits.has(base) || !repo.commits.has(head)) throw notFound()
  const identical: ComparisonState = { status: 'identical', files: [], commits: [] }
  const state = base === head ? identical : repo.comparisons.get(`${base}...${head}`)
  if (!state) throw new Error(`The test added no comparison of ${base} with ${head}`)
  const { items, page } = slice(state.commits, query)
  const files = page.number === 1 ? state.files.slice(0, COMPARE_FILES) : []
  return { page, body: answers.comparison(state, { commits: items, files }) }
}

function getCommit({ repo, ids }: Call): Answer {
  const commit: CommitState | undefined = repo.commits.get(ids[0] ?? '')
  if (!commit) throw new Refusal(422, `No commit found for SHA: ${ids[0]}`)
  return { body: answers.commit(commit) }
}

/** The newest run comes first. The parameter `status` accepts a conclusion, too. */
function listRuns({ repo, ids, query }: Call): Answer {
  const ofWorkflow = repo.runs.filter(({ path }) => posix.basename(path) === ids[0])
  if (ofWorkflow.length === 0) throw notFound()
  const is = (name: string, ...values: (string | null)[]): boolean =>
    !query.has(name) || values.includes(query.get(name))
  const matching = ofWorkflow
    .filter((run) => is('branch', run.head_branch) && is('event', run.event))
    .filter((run) => is('status', run.status, run.conclusion))
    .sort((one, other) => other.id - one.id)
  const { items, page } = slice(matching, query)
  return { page, body: { total_count: matching.length, workflow_runs: items.map(answers.run) } }
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

function commentBody(body: unknown): string {
  const text = (body as { body?: unknown } | undefined)?.body
  if (typeof text !== 'string') throw new Refusal(422, 'Invalid request.\n\n"body" wasn\'t supplied.')
  if (text.trim() === '') throw new Refusal(422, 'Validation Failed: Body cannot be blank')
  if (text.length > COMMENT_LIMIT)
    throw new Refusal(422, `Validation Failed: Body is too long (maximum is ${COMMENT_LIMIT} characters)`)
  return text
}

/** 30 per page by default, at most 100. */
export function slice<T>(all: readonly T[], query: URLSearchParams): { items: T[]; page: Page } {
  const size = Math.min(Number(query.get('per_page') ?? 30), 100)
  const number = Number(query.get('page') ?? 1)
  const last = Math.max(1, Math.ceil(all.length / size))
  return { items: all.slice((number - 1) * size, number * size), page: { number, last } }
}
