/**
 * What the tests' GitHub answers: the fields that the action or a test reads, and no others. Their
 * names and types are those of GitHub's own schemas.
 */

import type { components } from '@octokit/openapi-types'
import {
  type CommentState,
  type CommitState,
  type ComparisonState,
  type FileState,
  type PullState,
  type RunState,
  sha,
  type Visibility,
} from './github-state.js'

type Schemas = components['schemas']
/** Some of the fields of a schema, and of what is in them. */
type Part<T> = T extends object ? { readonly [Name in keyof T]?: Part<T[Name]> } : T

export const comment = ({ id, body, author }: CommentState) =>
  ({ id, body, user: { login: author } }) satisfies Part<Schemas['issue-comment']>

export const labels = (pull: PullState) => [...pull.labels].map((name) => ({ name }))

/** What a pull request is and an issue, too. */
function ofBoth(pull: PullState) {
  const { number, title, body, state, draft, locked, author } = pull
  const html_url = `https://github.com/${pull.base[1]}/pull/${number}`
  const fields = { number, title, body, state, draft, locked, user: { login: author }, html_url }
  return { ...fields, labels: labels(pull), milestone: null }
}

/** In a list: there, only `merged_at` says that it was merged. */
export const listedPull = (state: PullState) =>
  ({
    ...ofBoth(state),
    merge_commit_sha: state.mergeCommit,
    merged_at: state.merged ? '2026-11-20T11:00:00Z' : null,
    head: { sha: state.head, ref: 'feature', label: 'your-org:feature' },
    base: { ref: state.base[0], repo: { full_name: state.base[1] } },
  }) satisfies Part<Schemas['pull-request-simple']>

export function pull(state: PullState, { private: isPrivate = false }: Visibility = {}) {
  const { base, ...listed } = listedPull(state)
  const repo = { ...base.repo, private: isPrivate }
  return {
    ...{ ...listed, merged: state.merged },
    base: { ...base, repo },
  } satisfies Part<Schemas['pull-request']>
}

export const issue = (number: number, repo: string) =>
  ({
    ...{
      number,
      title: `Number ${number}`,
      body: 'Explain it.',
      state: 'open',
      user: { login: 'octocat' },
    },
    labels: [{ name: 'docs' }],
    milestone: null,
    html_url: `https://github.com/${repo}/issues/${number}`,
  }) satisfies Part<Schemas['issue']>

/** What an issue is if it is a pull request. */
export const pullAsIssue = (state: PullState) =>
  ({
    ...ofBoth(state),
    pull_request: { url: `https://api.github.com/repos/${state.base[1]}/pulls/${state.number}` },
  }) satisfies Part<Schemas['issue']>

/** @param head the commit that the list is of */
export function file(state: FileState, head = sha('head')) {
  const lines = state.patch?.split('\n') ?? []
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  const contents_url = `https://api.github.com/contents/${encodeURIComponent(state.filename)}?ref=${head}`
  const counts = { additions: count('+'), deletions: count('-') }
  const blob = sha(`${state.filename}: ${state.patch}`)
  return { sha: blob, ...state, ...counts, contents_url } satisfies Part<Schemas['diff-entry']>
}

export const commit = ({ sha, author, message, parents }: CommitState) =>
  ({
    sha,
    commit: { message, author: { name: 'The Octocat' } },
    author: author === null ? null : { login: author },
    parents: parents.map((parent) => ({ sha: parent })),
  }) satisfies Part<Schemas['commit']>

/** The commit's own object, without what it changes. */
export const gitCommit = ({ sha, message, parents }: CommitState) =>
  ({
    ...{ sha, message },
    parents: parents.map((parent) => ({ sha: parent })),
  }) satisfies Part<Schemas['git-commit']>

/** @param page the commits and the files of one page */
export const comparison = (
  { status, commits }: ComparisonState,
  page: Pick<ComparisonState, 'commits' | 'files'>,
) =>
  ({
    status,
    total_commits: commits.length,
    commits: page.commits.map(commit),
    files: page.files.map((one) => file(one)),
  }) satisfies Part<Schemas['commit-comparison']>

/** The schema has no null for a fork that was deleted, but GitHub does. */
export const run = ({ head_repository: name, ...state }: RunState) => ({
  ...state,
  head_repository:
    name === null
      ? null
      : ({ full_name: name } satisfies Part<Schemas['workflow-run']['head_repository']>),
})
