/**
 * What the tests' GitHub stores, and what a test adds to it. The names are those of GitHub's REST
 * API.
 */

import { createHash } from 'node:crypto'
import type { components } from '@octokit/openapi-types'

type Schemas = components['schemas']
type Collaborator = Pick<Schemas['repository-collaborator-permission'], 'permission' | 'role_name'>
type ReleaseState = Pick<Schemas['release'], 'tag_name' | 'draft' | 'prerelease' | 'published_at'>

/** A changed file; without a patch it is binary, or too large. */
export type FileState = Pick<
  Schemas['diff-entry'],
  'filename' | 'status' | 'patch' | 'previous_filename'
> &
  Partial<Pick<Schemas['diff-entry'], 'sha'>>

export interface CommitState {
  readonly sha: string
  /** Null: the email address belongs to no account. */
  readonly author: string | null
  readonly message: string
  /** Two or more for a merge. */
  readonly parents: readonly string[]
  /** What it changes; a merge changes what its other parents bring. */
  readonly files?: readonly FileState[]
  /** The committer's. */
  readonly date?: string
}

/** What moved a branch. */
export interface MoveState {
  readonly branch: string
  /** Forty zeros for none. */
  readonly before: string
  readonly after: string
  readonly at: string
  readonly type: Schemas['activity']['activity_type']
  /** From when on, of `performance.now()`, it is listed. */
  readonly listedAt: number
}

/** A push or a merge as a test tells it; without a head, of a new commit. */
interface PushOptions extends Partial<Pick<MoveState, 'type' | 'listedAt'>> {
  readonly branch?: string
  readonly head?: string
  /** Of the new commit. */
  readonly commit?: Partial<CommitState>
}

export interface ComparisonState {
  readonly status: Schemas['commit-comparison']['status']
  /** The last commit that both have (default: where it begins). */
  readonly mergeBase?: string
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

type CheckState = Pick<Schemas['check-run'], 'name' | 'head_sha' | 'status' | 'conclusion'>

type PullFields = 'number' | 'title' | 'body' | 'state' | 'merged'
export type PullState = Pick<Schemas['pull-request'], PullFields> & {
  readonly author: string
  readonly draft: boolean
  /** Its conversation: then the token of a workflow can't comment. */
  readonly locked: boolean
  /** The sha of its last commit. */
  readonly head: string
  readonly labels: Set<string>
  /** The branch, and the full name of the repository. */
  readonly base: readonly [ref: string, repo: string]
  /** The last commit that its merge added to the branch. */
  readonly mergeCommit: string | null
  readonly commits: readonly Pick<CommitState, 'sha' | 'message'>[]
  files: readonly FileState[]
  /**
   * What its list of files says for some seconds after a push, until this time of
   * `performance.now()`. The URLs of the files name that head.
   */
  readonly before?: Pick<PullState, 'head' | 'files'> & { readonly until: number }
}

type RunFields =
  | 'event'
  | 'status'
  | 'conclusion'
  | 'head_branch'
  | 'head_sha'
  | 'path'
  | 'created_at'
  | 'run_attempt'
export type RunState = Pick<Schemas['workflow-run'], RunFields> & {
  readonly id: number
  /** The full name; null if the fork was deleted. */
  readonly head_repository: string | null
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

/**
 * What commits change one after the other, as GitHub lists it: by the alphabet, each file once, and
 * none that is as it was before.
 */
export function joinFiles(commits: readonly CommitState[]): FileState[] {
  const joined = new Map<string, FileState>()
  for (const file of commits.flatMap(({ files = [] }) => files)) {
    const name = file.previous_filename ?? file.filename
    const before = joined.get(name)
    joined.delete(name)
    if (before?.patch && file.patch === undoing(before.patch)) continue
    const { status, patch } = before ?? {}
    const whole = before && {
      patch: `${patch}\n${file.patch}`,
      ...(status === 'added' && { status }),
    }
    joined.set(file.filename, { ...file, ...whole })
  }
  return [...joined.values()].sort((one, other) => (one.filename < other.filename ? -1 : 1))
}

/** The patch that changes back what a patch has changed. */
const undoing = (patch: string): string =>
  patch.replaceAll(/^[+-]/gm, (sign) => (sign === '+' ? '-' : '+'))

/** What it is to the token of the run. */
export interface Visibility {
  readonly private?: boolean
  /** Private, but for the members of its enterprise. */
  readonly internal?: boolean
  /** The token is for another repository: here it may only read, and only if this one is public. */
  readonly foreign?: boolean
}

export class Repository {
  readonly pulls = new Map<number, PullState>()
  /** Those that a pull request can have. */
  readonly labels = new Set<string>()
  /** Whether pull requests are turned on. */
  hasPulls = true
  /** Whether the plan has draft pull requests. */
  hasDrafts = true
  readonly deployments: { readonly sha: string; readonly environment_url: string }[] = []
  /** The numbers of plain issues, which share them with pull requests. */
  readonly issues = new Set<number>()
  /** By id. */
  /** Its comments are hidden. */
  hides = false
  /** How earlier attempts of a run ended, by its id and the attempt. */
  readonly attempts = new Map<string, string>()
  readonly comments = new Map<number, CommentState>()
  /** Oldest first. */
  readonly checks: CheckState[] = []
  /** By sha. */
  readonly commits = new Map<string, CommitState>()
  /** By `base...head`, each a sha. */
  readonly comparisons = new Map<string, ComparisonState>()
  readonly runs: RunState[] = []
  /** In kilobytes, counted once an hour: for some time after the first push, it is 0. */
  size: number | undefined
  /** How many items a page of comments, or of activity, has at most. */
  pageSize = 100
  /** How late the lists show what was written, in milliseconds. */
  lagMs = 0
  readonly #written = new Map<number, { readonly at: number; readonly comment: CommentState }[]>()
  /** Whether the list of runs ignores the filters, as other servers may. */
  unfiltered = false
  /** How many of the runs, the oldest first, a list with filters knows. */
  searchable = Number.POSITIVE_INFINITY
  /** Oldest first. */
  readonly releases: ReleaseState[] = []
  /** Tags and their commits. */
  readonly tags = new Map<string, string>()
  defaultBranch = 'main'
  /** Their heads. */
  readonly branches = new Map<string, string>()
  /** What a branch that was renamed is called now. */
  readonly renamedBranches = new Map<string, string>()
  /** Oldest first. */
  readonly moves: MoveState[] = []
  /** The last push to any branch, or when it was made. */
  pushedAt = '2025-01-01T00:00:00Z'
  /** By login; others have what everybody has. */
  readonly collaborators = new Map<string, Collaborator>()

  constructor(
    readonly full_name: string,
    readonly visibility: Visibility,
    private readonly nextId: () => number,
  ) {}

  /** Records what a list shows of a comment from now on. */
  record(comment: CommentState): void {
    const written = this.#written.get(comment.id) ?? []
    const now = { at: performance.now(), comment: structuredClone(comment) }
    this.#written.set(comment.id, [...written, now])
  }

  /** What a list shows of these: what was written some time ago. */
  listed(comments: readonly CommentState[]): CommentState[] {
    if (this.lagMs === 0) return [...comments]
    const shownUntil = performance.now() - this.lagMs
    return comments.flatMap((comment) => {
      const written = this.#written.get(comment.id)
      if (written === undefined) return [comment]
      const shown = written.findLast(({ at }) => at <= shownUntil)
      return shown === undefined ? [] : [shown.comment]
    })
  }

  addPull(fields: Partial<PullState> = {}): PullState {
    const pull: PullState = {
      number: Math.max(0, ...this.pulls.keys()) + 1,
      title: 'Change the API',
      body: null,
      author: 'octocat',
      state: 'open',
      merged: false,
      draft: false,
      locked: false,
      head: sha('head'),
      labels: new Set(),
      base: ['main', this.full_name],
      mergeCommit: null,
      commits: [],
      files: [file('docs/api.md')],
      ...fields,
    }
    this.pulls.set(pull.number, pull)
    return pull
  }

  addComment(issue: number, fields: Partial<CommentState> = {}): CommentState {
    const comment = { id: this.nextId(), issue, author: 'octocat', body: 'Nice.', ...fields }
    this.comments.set(comment.id, comment)
    return comment
  }

  addCommit(fields: Partial<CommitState> = {}): CommitState {
    const commit: CommitState = {
      sha: sha(`commit ${this.nextId()}`),
      author: 'octocat',
      message: 'Change the API',
      parents: [sha('root')],
      ...fields,
    }
    this.commits.set(commit.sha, commit)
    return commit
  }

  /**
   * Between two shas. Adds their commits, too; if none are given, `to` is the only one since
   * `from`.
   */
  addComparison(from: string, to: string, fields: Partial<ComparisonState> = {}): void {
    for (const commit of fields.commits ?? []) this.commits.set(commit.sha, commit)
    if (!this.commits.has(from)) this.addCommit({ sha: from })
    const last = this.commits.get(to) ?? this.addCommit({ sha: to, parents: [from] })
    const usual = { status: 'ahead' as const, files: [file('docs/api.md')], commits: [last] }
    this.comparisons.set(`${from}...${to}`, { ...usual, ...fields })
  }

  /** Between two commits: what a test has added, or what the commits between them say. */
  compare(base: string, head: string): ComparisonState | undefined {
    const added = this.comparisons.get(`${base}...${head}`)
    if (added !== undefined) return added
    const [ofBase, ofHead] = [this.#historyOf(base), this.#historyOf(head)]
    const mergeBase = [...ofHead].findLast((one) => ofBase.has(one))
    if (mergeBase === undefined) return undefined
    const shas = [...ofHead].filter((one) => !ofBase.has(one))
    const commits = shas.flatMap((one) => this.commits.get(one) ?? [])
    const status = ofHead.has(base) ? 'ahead' : ofBase.has(head) ? 'behind' : 'diverged'
    const files = joinFiles(commits)
    return { status: base === head ? 'identical' : status, mergeBase, files, commits }
  }

  /** A commit and those before it, as far as they are known, in the order of the branch. */
  #historyOf(sha: string, known = new Set<string>()): Set<string> {
    const { parents } = this.commits.get(sha) ?? {}
    if (parents === undefined || known.has(sha)) return known
    for (const parent of parents) this.#historyOf(parent, known)
    return known.add(sha)
  }

  /** Moves a branch: by a commit on its head, unless another head is named. */
  push(
    at: string,
    { branch = this.defaultBranch, head, commit, ...how }: PushOptions = {},
  ): string {
    const before = this.branches.get(branch)
    const parents = before === undefined ? [] : [before]
    const after = head ?? this.addCommit({ parents, date: at, ...commit }).sha
    const type = how.type ?? (before === undefined ? 'branch_creation' : 'push')
    const { listedAt = 0 } = how
    this.moves.push({ branch, before: before ?? '0'.repeat(40), after, at, type, listedAt })
    this.branches.set(branch, after)
    if (at > this.pushedAt) this.pushedAt = at
    return after
  }

  /** A commit and those before it, the newest first. */
  commitsOf(sha: string): CommitState[] {
    return [...this.#historyOf(sha)].reverse().flatMap((one) => this.commits.get(one) ?? [])
  }

  addRun(fields: Partial<RunState> = {}): RunState {
    const run: RunState = {
      id: this.nextId(),
      path: '.github/workflows/docs.yml',
      event: 'schedule',
      status: 'completed',
      conclusion: 'success',
      head_branch: 'main',
      head_sha: sha('head'),
      head_repository: this.full_name,
      created_at: '2026-11-20T03:17:00Z',
      run_attempt: 1,
      ...fields,
    }
    this.runs.push(run)
    return run
  }

  addRelease(
    tag_name: string,
    published_at: string | null,
    fields: Partial<ReleaseState> = {},
  ): void {
    this.releases.push({
      tag_name,
      published_at,
      draft: published_at === null,
      prerelease: false,
      ...fields,
    })
    this.tags.set(tag_name, this.addCommit({ sha: sha(tag_name) }).sha)
  }
}
