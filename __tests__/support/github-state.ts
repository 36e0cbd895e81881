/** What the tests' GitHub keeps, in the terms of GitHub's published REST schemas, and what a test adds to it. */

import { createHash } from 'node:crypto'
import type { components } from '@octokit/openapi-types'

type Schemas = components['schemas']

/** A changed file; without a patch it is binary, or too large. */
export type FileState = Pick<Schemas['diff-entry'], 'filename' | 'status' | 'patch' | 'previous_filename'>

/** A commit; no author is one whose address belongs to no account. */
export interface CommitState {
  readonly sha: string
  readonly author: string | null
  readonly message: string
  /** Two or more for a merge. */
  readonly parents: readonly string[]
  readonly files: readonly FileState[]
}

export interface ComparisonState {
  readonly status: Schemas['commit-comparison']['status']
  readonly files: readonly FileState[]
  /** Oldest first. */
  readonly commits: readonly CommitState[]
}

export interface CommentState {
  readonly id: number
  readonly issue: number
  readonly author: string | null
  body: string
  readonly created_at: string
  updated_at: string
}

export interface PullState {
  readonly number: number
  title: string
  body: string | null
  readonly author: string
  /** `repo` is the full name; null where the fork was deleted. */
  head: { repo: string | null; ref: string; sha: string }
  base: { ref: string; sha: string }
  state: Schemas['pull-request']['state']
  merged: boolean
  locked: boolean
  readonly labels: Set<string>
  files: readonly FileState[]
}

export interface RunState
  extends Pick<
    Schemas['workflow-run'],
    'event' | 'status' | 'conclusion' | 'head_branch' | 'head_sha' | 'path'
  > {
  readonly id: number
  readonly workflow_id: number
  readonly run_attempt: number
  /** The full name; null where the fork was deleted. */
  readonly head_repository: string | null
}

export interface RepositoryState {
  readonly id: number
  readonly full_name: string
  readonly private: boolean
}

export interface Repository extends RepositoryState {
  /** Whether the token was given for another repository: it may do nothing here but read what is public. */
  readonly foreign: boolean
  readonly pulls: Map<number, PullState>
  /** By id. */
  readonly comments: Map<number, CommentState>
  /** By sha; one that is taken out is gone. */
  readonly commits: Map<string, CommitState>
  /** Branches and their commits. */
  readonly refs: Map<string, string>
  /** By `base...head`, each a sha. */
  readonly comparisons: Map<string, ComparisonState>
  readonly runs: Map<number, RunState>
  readonly addPull: (fields?: Partial<PullState>) => PullState
  readonly addComment: (issue: number, fields?: Partial<CommentState>) => CommentState
  readonly addCommit: (fields?: Partial<CommitState>) => CommitState
  /** Between two shas. Adds their commits, too; where none are given, `head` is the only one since `base`. */
  readonly addComparison: (base: string, head: string, fields?: Partial<ComparisonState>) => void
  readonly addRun: (fields?: Partial<RunState>) => RunState
}

/** A commit's name, as any text has one. */
export const sha = (text: string): string => createHash('sha1').update(text).digest('hex')

/** A changed file of one line, or of the patch that is given; null for a binary one. */
export function file(
  filename: string,
  patch: string | null = '@@ -1 +1 @@\n-old\n+new',
  fields: Partial<FileState> = {},
): FileState {
  return { filename, status: 'modified', ...(patch !== null && { patch }), ...fields }
}

export const seconds = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z')

export function createRepository(
  base: RepositoryState & { readonly foreign: boolean },
  nextId: () => number,
  now: () => Date,
): Repository {
  const pulls: Repository['pulls'] = new Map()
  const comments: Repository['comments'] = new Map()
  const commits: Repository['commits'] = new Map()
  const refs: Repository['refs'] = new Map()
  const comparisons: Repository['comparisons'] = new Map()
  const runs: Repository['runs'] = new Map()

  const addPull: Repository['addPull'] = (fields = {}) => {
    const pull: PullState = {
      number: Math.max(0, ...pulls.keys()) + 1,
      title: 'Change the API',
      body: null,
      author: 'octocat',
      head: { repo: base.full_name, ref: 'change', sha: sha('head') },
      base: { ref: 'main', sha: sha('base') },
      state: 'open',
      merged: false,
      locked: false,
      labels: new Set(),
      files: [file('docs/api.md')],
      ...fields,
    }
    pulls.set(pull.number, pull)
    return pull
  }
  const addComment: Repository['addComment'] = (issue, fields = {}) => {
    const at = seconds(now())
    const id = nextId()
    const comment = { id, issue, author: 'octocat', body: 'Nice.', created_at: at, updated_at: at, ...fields }
    comments.set(comment.id, comment)
    return comment
  }
  const addCommit: Repository['addCommit'] = (fields = {}) => {
    const commit: CommitState = {
      sha: sha(`commit ${nextId()}`),
      author: 'octocat',
      message: 'Change the API',
      parents: [sha('root')],
      files: [],
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
      workflow_id: 4711,
      path: '.github/workflows/docs.yml',
      event: 'schedule',
      status: 'completed',
      conclusion: 'success',
      head_branch: 'main',
      head_sha: sha('head'),
      head_repository: base.full_name,
      run_attempt: 1,
      ...fields,
    }
    runs.set(run.id, run)
    return run
  }
  const state = { pulls, comments, commits, refs, comparisons, runs }
  return { ...base, ...state, addPull, addComment, addCommit, addComparison, addRun }
}
