/**
 * What the tests' GitHub answers: the fields that the action or a test reads, and no others. Each
 * answer is held to GitHub's own description of it.
 */

import {
  type CommentState,
  type CommitState,
  type ComparisonState,
  type FileState,
  type MoveState,
  type PullState,
  type RunState,
  sha,
  type Visibility,
} from './github-state.js'

export const comment = ({ id, body, author }: CommentState, isHidden = false) => ({
  id,
  minimized: isHidden ? { reason: 'outdated' } : null,
  body,
  // It has none if the account was deleted.
  user: author === '' ? null : { login: author, type: author.endsWith('[bot]') ? 'Bot' : 'User' },
})

export const labels = (pull: PullState) => [...pull.labels].map((name) => ({ name }))

/** What a pull request is and an issue, too. */
function ofBoth(pull: PullState) {
  const { number, title, body, state, draft, locked, author } = pull
  const html_url = `https://github.com/${pull.base[1]}/pull/${number}`
  const fields = { number, title, body, state, draft, locked, user: { login: author }, html_url }
  return { ...fields, labels: labels(pull), milestone: null }
}

/** In a list: there, only `merged_at` says that it was merged. */
export const listedPull = (state: PullState) => ({
  ...ofBoth(state),
  merge_commit_sha: state.mergeCommit,
  merged_at: state.merged ? '2026-11-20T11:00:00Z' : null,
  head: { sha: state.head, ref: 'feature', label: 'your-org:feature' },
  base: { ref: state.base[0], repo: { full_name: state.base[1] } },
})

export function pull(state: PullState, { private: isPrivate = false }: Visibility = {}) {
  const { base, ...listed } = listedPull(state)
  const repo = { ...base.repo, private: isPrivate }
  return { ...listed, merged: state.merged, base: { ...base, repo } }
}

export const issue = (number: number, repo: string) => ({
  number,
  title: `Number ${number}`,
  body: 'Explain it.',
  state: 'open',
  user: { login: 'octocat' },
  labels: [{ name: 'docs' }],
  milestone: null,
  html_url: `https://github.com/${repo}/issues/${number}`,
})

/** What an issue is if it is a pull request. */
export const pullAsIssue = (state: PullState) => ({
  ...ofBoth(state),
  pull_request: { url: `https://api.github.com/repos/${state.base[1]}/pulls/${state.number}` },
})

/**
 * So many lines the patches of one response have: of the files behind, GitHub sends neither a patch
 * nor counts (github.com/orgs/community/discussions/213491). And so many a patch has, in lines and
 * characters, before GitHub leaves it out (github.com/JabRef/jabref/issues/16101).
 */
const [RESPONSE_LINES, PATCH_LINES, PATCH_LENGTH] = [20_000, 3_000, 100_000]

/**
 * The files of one response.
 *
 * @param head the commit that the list is of
 */
export function files(states: readonly FileState[], head = sha('head')) {
  let sum = 0
  return states.map(({ patch, ...state }) => {
    const lines = patch?.split('\n') ?? []
    const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
    const isShort = patch && lines.length <= PATCH_LINES && patch.length <= PATCH_LENGTH
    if (isShort) sum += lines.length
    const isSent = sum <= RESPONSE_LINES
    return {
      // Of a patch that is sent, nobody needs it.
      sha: sha(`${state.filename}: ${isSent && isShort ? '' : patch}`),
      ...state,
      ...(isSent && isShort && { patch }),
      additions: isSent ? count('+') : 0,
      deletions: isSent ? count('-') : 0,
      contents_url: `https://api.github.com/contents/${encodeURIComponent(state.filename)}?ref=${head}`,
    }
  })
}

export const commit = ({ sha, author, message, parents, date }: CommitState) => ({
  sha,
  commit: {
    message,
    author: { name: 'The Octocat' },
    ...(date !== undefined && { committer: { date } }),
  },
  author: author === null ? null : { login: author },
  parents: parents.map((parent) => ({ sha: parent })),
})

export const move = (id: number, { branch, at, type, before, after }: MoveState) => ({
  id,
  before,
  after,
  ref: `refs/heads/${branch}`,
  timestamp: at,
  activity_type: type,
})

/** The commit's own object, without what it changes. */
export const gitCommit = ({ sha, message, parents }: CommitState) => ({
  sha,
  message,
  parents: parents.map((parent) => ({ sha: parent })),
})

/** @param page the commits and the files of one page */
export const comparison = (
  mergeBase: string,
  { status, commits }: ComparisonState,
  page: Pick<ComparisonState, 'commits' | 'files'>,
) => ({
  status,
  merge_base_commit: { sha: mergeBase },
  total_commits: commits.length,
  commits: page.commits.map(commit),
  files: files(page.files),
})

/** The schema has no null for a fork that was deleted, but GitHub does. */
export const run = ({ head_repository: name, ...state }: RunState) => ({
  ...state,
  head_repository: name === null ? null : { full_name: name },
})
