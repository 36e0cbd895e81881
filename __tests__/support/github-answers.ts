/**
 * What the tests' GitHub answers: the fields that the action or a test reads, and no others. Their names and types are
 * those of GitHub's own schemas.
 */

import type { components } from '@octokit/openapi-types'
import {
  type CheckState,
  type CommentState,
  type CommitState,
  type ComparisonState,
  type FileState,
  type PullState,
  type RunState,
  sha,
} from './github-state.js'

type Schemas = components['schemas']

export type Comment = Pick<Schemas['issue-comment'], 'id' | 'body'> & {
  readonly user: Pick<Schemas['simple-user'], 'login'>
}
export type PullRequest = Pick<Schemas['pull-request'], 'number' | 'state' | 'merged'>
export type File = Pick<
  Schemas['diff-entry'],
  'filename' | 'previous_filename' | 'status' | 'additions' | 'deletions' | 'patch' | 'contents_url'
>
export type Commit = Pick<Schemas['commit'], 'sha'> & {
  readonly commit: Pick<Schemas['commit']['commit'], 'message'>
  readonly author: Pick<Schemas['simple-user'], 'login'> | null
  readonly parents: readonly Pick<Schemas['commit']['parents'][number], 'sha'>[]
}
export type Comparison = Pick<Schemas['commit-comparison'], 'status' | 'total_commits'> & {
  readonly commits: readonly Commit[]
  readonly files: readonly File[]
}
export type Run = Omit<RunState, 'head_repository'> & {
  readonly head_repository: Pick<Schemas['minimal-repository'], 'full_name'> | null
}

export const comment = ({ id, body, author }: CommentState): Comment => ({
  id,
  body,
  user: { login: author },
})

type CheckFields = 'id' | 'name' | 'head_sha' | 'external_id' | 'status' | 'conclusion'
export type Check = Pick<Schemas['check-run'], CheckFields> & {
  readonly output: Pick<Schemas['check-run']['output'], 'title' | 'summary' | 'text'>
}

export const check = (state: CheckState): Check => ({
  ...state,
  conclusion: state.conclusion as Check['conclusion'],
})

export const pull = ({ number, state, merged }: PullState): PullRequest => ({ number, state, merged })

/** What an issue has if it is a pull request. */
export const pullAsIssue = ({ title, body, state, author }: PullState) => ({
  ...{ title, body, state, user: { login: author } },
  pull_request: { url: 'https://api.github.com/pulls' },
})

export function file(state: FileState): File {
  const lines = state.patch?.split('\n') ?? []
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  const contents_url = `https://api.github.com/contents/${encodeURIComponent(state.filename)}?ref=${sha('head')}`
  return { ...state, additions: count('+'), deletions: count('-'), contents_url }
}

export const commit = ({ sha, author, message, parents }: CommitState): Commit => ({
  sha,
  commit: { message },
  author: author === null ? null : { login: author },
  parents: parents.map((parent) => ({ sha: parent })),
})

/** @param page the commits and the files of one page */
export const comparison = (
  { status, commits }: ComparisonState,
  page: Pick<ComparisonState, 'commits' | 'files'>,
): Comparison => ({
  status,
  total_commits: commits.length,
  commits: page.commits.map(commit),
  files: page.files.map(file),
})

export const run = ({ head_repository: name, ...state }: RunState): Run => ({
  ...state,
  head_repository: name === null ? null : { full_name: name },
})
