/** What the tests' GitHub stores, and what a test adds to it. The names are those of GitHub's REST API. */

import { createHash } from 'node:crypto'
import type { components } from '@octokit/openapi-types'

type Schemas = components['schemas']
export type Collaborator = Pick<Schemas['repository-collaborator-permission'], 'permission' | 'role_name'>
export type ReleaseState = Pick<Schemas['release'], 'tag_name' | 'draft' | 'prerelease' | 'published_at'>

/** A changed file; without a patch it is binary, or too large. */
export type FileState = Pick<Schemas['diff-entry'], 'filename' | 'status' | 'patch' | 'previous_filename'>

export interface CommitState {
  readonly sha: string
  /** Null: the email address belongs to no account. */
  readonly author: string | null
  readonly message: string
  /** Two or more for a merge. */
  readonly parents: readonly string[]
}

export interface ComparisonState {
  readonly status: Schemas['commit-comparison']['status']
  readonly files: readonly FileState[]
  /** Oldest first. */
  readonly commits: readonly CommitState[]
}

export interface CommentState {
  readonly id: number
  /** The number of its issue or pull request. */
  readonly issue: number
  readonly author: string
  body: string
}

export interface CheckState {
  readonly id: number
  readonly name: string
  readonly head_sha: string
  readonly external_id: string
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  output: { readonly title: string | null; readonly summary: string | null; readonly text: string | null }
}

export interface PullState {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly author: string
  readonly state: Schemas['pull-request']['state']
  readonly merged: boolean
  readonly labels: Set<string>
  files: readonly FileState[]
}

type RunFields = 'event' | 'status' | 'conclusion' | 'head_branch' | 'head_sha' | 'path'
export type RunState = Pick<Schemas['workflow-run'], RunFields> & {
  readonly id: number
  /** The full name; null if the fork was deleted. */
  readonly head_repository: string | null
}

export interface Repository {
  readonly full_name: string
  readonly private: boolean
  /** The token is for another repository: here it may only read, and only if this one is public. */
  readonly foreign: boolean
  readonly pulls: Map<number, PullState>
  /** The numbers of plain issues, which share them with pull requests. */
  readonly issues: Set<number>
  /** By id. */
  readonly comments: Map<number, CommentState>
  /** By id. */
  readonly checks: Map<number, CheckState>
  /** By sha. */
  readonly commits: Map<string, CommitState>
  /** By `base...head`, each a sha. */
  readonly comparisons: Map<string, ComparisonState>
  readonly runs: RunState[]
  /** How many items a page of comments or checks has at most; whether the last page repeats, and none is named. */
  readonly paging: { most: number; repeats: boolean }
  /** Whether the list of runs ignores the filters, as other servers may. */
  unfiltered: boolean
  /** Oldest first. */
  readonly releases: ReleaseState[]
  /** Tags and their commits. */
  readonly tags: Map<string, string>
  /** Objects of annotated tags, and their commits. */
  readonly tagObjects: Map<string, string>
  /** By login; others have what everybody has. */
  readonly collaborators: Map<string, Collaborator>
  readonly addPull: (fields?: Partial<PullState>) => PullState
  readonly addCheck: (fields?: Partial<CheckState>) => CheckState
  readonly addComment: (issue: number, fields?: Partial<CommentState>) => CommentState
  readonly addCommit: (fields?: Partial<CommitState>) => CommitState
  /** Between two shas. Adds their commits, too; if none are given, `head` is the only one since `base`. */
  readonly addComparison: (base: string, head: string, fields?: Partial<ComparisonState>) => void
  readonly addRelease: (tag: string, published: string | null, fields?: Partial<ReleaseState>) => void
  readonly addRun: (fields?: Partial<RunState>) => RunState
}

/** The sha of a commit that is known by any text. */
export const sha = (text: string): string => createHash('sha1').update(text).digest('hex')

/** A changed file with a patch; null for a binary file. */
export function file(
  filename: string,
  patch: string | null = '@@ -1 +1 @@\n-old\n+new',
  fields: Partial<FileState> = {},
): FileState {
  return { filename, status: 'modified', ...(patch !== null && { patch }), ...fields }
}

export function createRepository(
  base: Pick<Repository, 'full_name' | 'private' | 'foreign'>,
  nextId: () => number,
): Repository {
  const pulls: Repository['pulls'] = new Map()
  const issues: Repository['issues'] = new Set()
  const checks: Repository['checks'] = new Map()
  const comments: Repository['comments'] = new Map()
  const commits: Repository['commits'] = new Map()
  const comparisons: Repository['comparisons'] = new Map()
  const runs: Repository['runs'] = []
  const releases: Repository['releases'] = []
  const tags: Repository['tags'] = new Map()
  const tagObjects: Repository['tagObjects'] = new Map()
  const collaborators: Repository['collaborators'] = new Map()

  const addPull: Repository['addPull'] = (fields = {}) => {
    const pull: PullState = {
      number: Math.max(0, ...pulls.keys()) + 1,
      title: 'Change the API',
      body: null,
      author: 'octocat',
      state: 'open',
      merged: false,
      labels: new Set(),
      files: [file('docs/api.md')],
      ...fields,
    }
    pulls.set(pull.number, pull)
    return pull
  }
  const addCheck: Repository['addCheck'] = (fields = {}) => {
    const check: CheckState = {
      id: nextId(),
      name: 'check',
      head_sha: sha('head'),
      external_id: '',
      status: 'queued',
      conclusion: null,
      output: { title: null, summary: null, text: null },
      ...fields,
    }
    checks.set(check.id, check)
    return check
  }
  const addComment: Repository['addComment'] = (issue, fields = {}) => {
    const comment = { id: nextId(), issue, author: 'octocat', body: 'Nice.', ...fields }
    comments.set(comment.id, comment)
    return comment
  }
  const addCommit: Repository['addCommit'] = (fields = {}) => {
    const commit: CommitState = {
      sha: sha(`commit ${nextId()}`),
      author: 'octocat',
      message: 'Change the API',
      parents: [sha('root')],
      ...fields,
    }
    commits.set(commit.sha, commit)
    return commit
  }
  const addComparison: Repository['addComparison'] = (from, to, fields = {}) => {
    for (const commit of fields.commits ?? []) commits.set(commit.sha, commit)
    if (!commits.has(from)) addCommit({ sha: from })
    const last = commits.get(to) ?? addCommit({ sha: to, parents: [from] })
    const state = { status: 'ahead' as const, files: [file('docs/api.md')], commits: [last], ...fields }
    comparisons.set(`${from}...${to}`, state)
  }
  const addRun: Repository['addRun'] = (fields = {}) => {
    const run: RunState = {
      id: nextId(),
      path: '.github/workflows/docs.yml',
      event: 'schedule',
      status: 'completed',
      conclusion: 'success',
      head_branch: 'main',
      head_sha: sha('head'),
      head_repository: base.full_name,
      ...fields,
    }
    runs.push(run)
    return run
  }
  const addRelease: Repository['addRelease'] = (tag_name, published_at, fields = {}) => {
    releases.push({ tag_name, published_at, draft: published_at === null, prerelease: false, ...fields })
    tags.set(tag_name, addCommit({ sha: sha(tag_name) }).sha)
  }
  const paging: Repository['paging'] = { most: 100, repeats: false }
  const kept = { paging, unfiltered: false, pulls, issues, checks, comments, commits, comparisons, runs }
  const state = { ...kept, releases, tags, tagObjects, collaborators }
  const add = { addRelease, addPull, addCheck, addComment, addCommit, addComparison, addRun }
  return { ...base, ...state, ...add }
}
