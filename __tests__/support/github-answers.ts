/** What GitHub answers, object by object, complete as its published REST schemas have them. */

import type { components } from '@octokit/openapi-types'
import {
  type CommentState,
  type CommitState,
  type ComparisonState,
  type FileState,
  type PullState,
  type RepositoryState,
  type RunState,
  sha,
} from './github-state.js'

type Schemas = components['schemas']
export type User = Schemas['simple-user']
export type IssueComment = Schemas['issue-comment']
export type Label = Schemas['label']
export type DiffEntry = Schemas['diff-entry']
export type Commit = Schemas['commit']
export type Comparison = Schemas['commit-comparison']
export type RunList = { total_count: number; workflow_runs: WorkflowRun[] }
export type ErrorBody = Required<Pick<Schemas['basic-error'], 'message' | 'documentation_url' | 'status'>> &
  Pick<Schemas['validation-error'], 'errors'>

type Repository = Schemas['repository']
type FullPull = Schemas['pull-request']
type FullRun = Schemas['workflow-run']

// Where a fork was deleted, GitHub answers null for it, which its schemas leave out.
export type PullRequest = Omit<FullPull, 'head'> & {
  head: Omit<FullPull['head'], 'repo' | 'user'> & { repo: Repository | null; user: User | null }
}
export type WorkflowRun = Omit<FullRun, 'head_repository'> & {
  head_repository: FullRun['head_repository'] | null
}

const LONG_AGO = '2026-01-02T03:04:05Z'

const numberOf = (text: string): number => Number.parseInt(sha(text).slice(0, 7), 16)
const nodeId = (kind: string, id: number | string): string =>
  Buffer.from(`${kind}:${id}`).toString('base64url')

/** Makes answers. `api` and `html` are the addresses that stand in them, without a slash at the end. */
export function createAnswers(api: string, html: string) {
  /** Only the logins of bots end in `[bot]`: brackets are not allowed in others. */
  function user(login: string): User {
    const url = `${api}/users/${encodeURIComponent(login)}`
    const bot = login.endsWith('[bot]')
    return {
      login,
      id: numberOf(login),
      node_id: nodeId('User', numberOf(login)),
      avatar_url: `https://avatars.githubusercontent.com/u/${numberOf(login)}?v=4`,
      gravatar_id: '',
      url,
      html_url: `${html}/${bot ? `apps/${login.slice(0, -'[bot]'.length)}` : login}`,
      followers_url: `${url}/followers`,
      following_url: `${url}/following{/other_user}`,
      gists_url: `${url}/gists{/gist_id}`,
      starred_url: `${url}/starred{/owner}{/repo}`,
      subscriptions_url: `${url}/subscriptions`,
      organizations_url: `${url}/orgs`,
      repos_url: `${url}/repos`,
      events_url: `${url}/events{/privacy}`,
      received_events_url: `${url}/received_events`,
      type: bot ? 'Bot' : 'User',
      site_admin: false,
    }
  }

  function minimalRepository(state: RepositoryState) {
    const { id, full_name } = state
    const [owner = '', name = ''] = full_name.split('/')
    const url = `${api}/repos/${full_name}`
    return {
      id,
      node_id: nodeId('Repository', id),
      name,
      full_name,
      private: state.private,
      owner: user(owner),
      html_url: `${html}/${full_name}`,
      description: null,
      fork: false,
      url,
      forks_url: `${url}/forks`,
      keys_url: `${url}/keys{/key_id}`,
      collaborators_url: `${url}/collaborators{/collaborator}`,
      teams_url: `${url}/teams`,
      hooks_url: `${url}/hooks`,
      issue_events_url: `${url}/issues/events{/number}`,
      events_url: `${url}/events`,
      assignees_url: `${url}/assignees{/user}`,
      branches_url: `${url}/branches{/branch}`,
      tags_url: `${url}/tags`,
      blobs_url: `${url}/git/blobs{/sha}`,
      git_tags_url: `${url}/git/tags{/sha}`,
      git_refs_url: `${url}/git/refs{/sha}`,
      trees_url: `${url}/git/trees{/sha}`,
      statuses_url: `${url}/statuses/{sha}`,
      languages_url: `${url}/languages`,
      stargazers_url: `${url}/stargazers`,
      contributors_url: `${url}/contributors`,
      subscribers_url: `${url}/subscribers`,
      subscription_url: `${url}/subscription`,
      commits_url: `${url}/commits{/sha}`,
      git_commits_url: `${url}/git/commits{/sha}`,
      comments_url: `${url}/comments{/number}`,
      issue_comment_url: `${url}/issues/comments{/number}`,
      contents_url: `${url}/contents/{+path}`,
      compare_url: `${url}/compare/{base}...{head}`,
      merges_url: `${url}/merges`,
      archive_url: `${url}/{archive_format}{/ref}`,
      downloads_url: `${url}/downloads`,
      issues_url: `${url}/issues{/number}`,
      pulls_url: `${url}/pulls{/number}`,
      milestones_url: `${url}/milestones{/number}`,
      notifications_url: `${url}/notifications{?since,all,participating}`,
      labels_url: `${url}/labels{/name}`,
      releases_url: `${url}/releases{/id}`,
      deployments_url: `${url}/deployments`,
    } satisfies Schemas['minimal-repository']
  }

  function repository(state: RepositoryState): Repository {
    const { html_url, ...minimal } = minimalRepository(state)
    return {
      ...minimal,
      html_url,
      git_url: `${html_url.replace(/^https?/, 'git')}.git`,
      ssh_url: `git@${new URL(html).host}:${state.full_name}.git`,
      clone_url: `${html_url}.git`,
      svn_url: html_url,
      mirror_url: null,
      homepage: null,
      language: null,
      license: null,
      forks: 0,
      forks_count: 0,
      stargazers_count: 0,
      watchers: 0,
      watchers_count: 0,
      open_issues: 0,
      open_issues_count: 0,
      size: 1,
      default_branch: 'main',
      has_issues: true,
      has_projects: true,
      has_wiki: true,
      has_pages: false,
      has_downloads: true,
      archived: false,
      disabled: false,
      visibility: state.private ? 'private' : 'public',
      pushed_at: LONG_AGO,
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
    }
  }

  function comment(repo: RepositoryState, state: CommentState): IssueComment {
    const url = `${api}/repos/${repo.full_name}/issues`
    return {
      id: state.id,
      node_id: nodeId('IssueComment', state.id),
      url: `${url}/comments/${state.id}`,
      html_url: `${html}/${repo.full_name}/pull/${state.issue}#issuecomment-${state.id}`,
      issue_url: `${url}/${state.issue}`,
      user: state.author === null ? null : user(state.author),
      author_association: 'NONE',
      body: state.body,
      created_at: state.created_at,
      updated_at: state.updated_at,
      performed_via_github_app: null,
    }
  }

  function label(repo: RepositoryState, name: string): Label {
    const id = numberOf(name)
    return {
      id,
      node_id: nodeId('Label', id),
      url: `${api}/repos/${repo.full_name}/labels/${encodeURIComponent(name)}`,
      name,
      description: null,
      color: 'ededed',
      default: false,
    }
  }

  function file(repo: RepositoryState, at: string, state: FileState): DiffEntry {
    const path = encodeURIComponent(state.filename)
    const lines = state.patch?.split('\n') ?? []
    const additions = lines.filter((line) => line.startsWith('+')).length
    const deletions = lines.filter((line) => line.startsWith('-')).length
    return {
      sha: sha(`${at}:${state.filename}`),
      additions,
      deletions,
      changes: additions + deletions,
      blob_url: `${html}/${repo.full_name}/blob/${at}/${path}`,
      raw_url: `${html}/${repo.full_name}/raw/${at}/${path}`,
      contents_url: `${api}/repos/${repo.full_name}/contents/${path}?ref=${at}`,
      ...state,
    }
  }

  function commit(repo: RepositoryState, state: CommitState): Commit {
    const url = `${api}/repos/${repo.full_name}`
    const person = { name: state.author ?? 'Somebody', email: 'somebody@example.com', date: LONG_AGO }
    const account = state.author === null ? null : user(state.author)
    return {
      sha: state.sha,
      node_id: nodeId('Commit', state.sha),
      commit: {
        author: person,
        committer: person,
        message: state.message,
        tree: { sha: sha(`${state.sha}:`), url: `${url}/git/trees/${sha(`${state.sha}:`)}` },
        url: `${url}/git/commits/${state.sha}`,
        comment_count: 0,
        verification: {
          verified: false,
          reason: 'unsigned',
          signature: null,
          payload: null,
          verified_at: null,
        },
      },
      url: `${url}/commits/${state.sha}`,
      html_url: `${html}/${repo.full_name}/commit/${state.sha}`,
      comments_url: `${url}/commits/${state.sha}/comments`,
      author: account,
      committer: account,
      parents: state.parents.map((parent) => ({
        sha: parent,
        url: `${url}/commits/${parent}`,
        html_url: `${html}/${repo.full_name}/commit/${parent}`,
      })),
    }
  }

  function commitWithFiles(repo: RepositoryState, state: CommitState): Commit {
    const files = state.files.map((entry) => file(repo, state.sha, entry))
    const { additions, deletions } = sums(files)
    return {
      ...commit(repo, state),
      stats: { additions, deletions, total: additions + deletions },
      files,
    }
  }

  /** `commits` and `files` are the ones of this page; without files the answer says so by an empty list. */
  function comparison(
    repo: RepositoryState,
    between: { base: CommitState; head: CommitState; state: ComparisonState },
    page: Pick<ComparisonState, 'commits' | 'files'>,
  ): Comparison {
    const { base, head, state } = between
    const basehead = `${base.sha}...${head.sha}`
    const pageUrl = `${html}/${repo.full_name}/compare/${basehead}`
    return {
      url: `${api}/repos/${repo.full_name}/compare/${basehead}`,
      html_url: pageUrl,
      permalink_url: pageUrl,
      diff_url: `${pageUrl}.diff`,
      patch_url: `${pageUrl}.patch`,
      base_commit: commit(repo, base),
      merge_base_commit: commit(repo, base),
      status: state.status,
      ahead_by: state.commits.length,
      behind_by: state.status === 'behind' || state.status === 'diverged' ? 1 : 0,
      total_commits: state.commits.length,
      commits: page.commits.map((entry) => commit(repo, entry)),
      files: page.files.map((entry) => file(repo, head.sha, entry)),
    }
  }

  function pull(
    repo: RepositoryState,
    state: PullState,
    head: RepositoryState | null,
    comments: number,
  ): PullRequest {
    const apiUrl = `${api}/repos/${repo.full_name}`
    const url = `${apiUrl}/pulls/${state.number}`
    const issue_url = `${apiUrl}/issues/${state.number}`
    const html_url = `${html}/${repo.full_name}/pull/${state.number}`
    const statuses_url = `${apiUrl}/statuses/${state.head.sha}`
    const [owner = ''] = repo.full_name.split('/')
    const [headOwner = 'unknown'] = head?.full_name.split('/') ?? []
    const closedAt = state.state === 'closed' ? LONG_AGO : null
    return {
      url,
      id: numberOf(html_url),
      node_id: nodeId('PullRequest', numberOf(html_url)),
      html_url,
      diff_url: `${html_url}.diff`,
      patch_url: `${html_url}.patch`,
      issue_url,
      number: state.number,
      state: state.state,
      locked: state.locked,
      title: state.title,
      user: user(state.author),
      body: state.body,
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
      closed_at: closedAt,
      merged_at: state.merged ? closedAt : null,
      merge_commit_sha: state.state === 'open' || state.merged ? sha(`merge of ${html_url}`) : null,
      assignee: null,
      assignees: [],
      requested_reviewers: [],
      requested_teams: [],
      labels: [],
      milestone: null,
      draft: false,
      commits_url: `${url}/commits`,
      review_comments_url: `${url}/comments`,
      review_comment_url: `${apiUrl}/pulls/comments{/number}`,
      comments_url: `${issue_url}/comments`,
      statuses_url,
      head: {
        label: `${headOwner}:${state.head.ref}`,
        ref: state.head.ref,
        sha: state.head.sha,
        user: head ? user(headOwner) : null,
        repo: head ? repository(head) : null,
      },
      base: {
        label: `${owner}:${state.base.ref}`,
        ...state.base,
        user: user(owner),
        repo: repository(repo),
      },
      _links: {
        self: { href: url },
        html: { href: html_url },
        issue: { href: issue_url },
        comments: { href: `${issue_url}/comments` },
        review_comments: { href: `${url}/comments` },
        review_comment: { href: `${apiUrl}/pulls/comments{/number}` },
        commits: { href: `${url}/commits` },
        statuses: { href: statuses_url },
      },
      author_association: 'NONE',
      auto_merge: null,
      active_lock_reason: null,
      merged: state.merged,
      mergeable: state.state === 'open' ? true : null,
      rebaseable: null,
      mergeable_state: state.state === 'open' ? 'clean' : 'unknown',
      merged_by: state.merged ? user('octocat') : null,
      comments,
      review_comments: 0,
      maintainer_can_modify: false,
      commits: 1,
      ...sums(state.files.map((entry) => file(repo, state.head.sha, entry))),
      changed_files: state.files.length,
    }
  }

  function run(repo: RepositoryState, state: RunState, head: RepositoryState | null): WorkflowRun {
    const url = `${api}/repos/${repo.full_name}/actions/runs/${state.id}`
    const html_url = `${html}/${repo.full_name}/actions/runs/${state.id}`
    return {
      ...state,
      name: 'Docs',
      node_id: nodeId('WorkflowRun', state.id),
      check_suite_id: state.id + 1,
      check_suite_node_id: nodeId('CheckSuite', state.id + 1),
      display_title: 'Docs',
      run_number: 1,
      url,
      html_url,
      pull_requests: [],
      created_at: LONG_AGO,
      updated_at: LONG_AGO,
      run_started_at: LONG_AGO,
      actor: user('octocat'),
      triggering_actor: user('octocat'),
      referenced_workflows: [],
      jobs_url: `${url}/jobs`,
      logs_url: `${url}/logs`,
      check_suite_url: `${api}/repos/${repo.full_name}/check-suites/${state.id + 1}`,
      artifacts_url: `${url}/artifacts`,
      cancel_url: `${url}/cancel`,
      rerun_url: `${url}/rerun`,
      previous_attempt_url: state.run_attempt > 1 ? `${url}/attempts/${state.run_attempt - 1}` : null,
      workflow_url: `${api}/repos/${repo.full_name}/actions/workflows/${state.workflow_id}`,
      head_commit: null,
      repository: minimalRepository(repo),
      head_repository: head && minimalRepository(head),
    }
  }

  return { comment, label, file, commitWithFiles, comparison, pull, run }
}

export type Answers = ReturnType<typeof createAnswers>

function sums(files: readonly DiffEntry[]): { additions: number; deletions: number } {
  const sum = (key: 'additions' | 'deletions'): number =>
    files.reduce((total, entry) => total + entry[key], 0)
  return { additions: sum('additions'), deletions: sum('deletions') }
}
