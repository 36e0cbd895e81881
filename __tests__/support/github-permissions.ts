/**
 * GitHub's own table of permissions, of the endpoints that the tests' GitHub has, as it says them
 * in the header `x-accepted-github-permissions`: one of those between semicolons suffices
 * (github.com/github/docs, src/github-apps/data/fpt-2026-03-10/server-to-server-permissions.json).
 */
export const ACCEPTED: Readonly<Record<string, string>> = {
  'GET ': 'metadata=read',
  'GET /issues/{issue_number}': 'issues=read',
  'GET /issues/{issue_number}/comments': 'issues=read; pull_requests=read',
  'POST /issues/{issue_number}/comments': 'issues=write; pull_requests=write',
  'PATCH /issues/comments/{comment_id}': 'issues=write; pull_requests=write',
  'POST /issues/{issue_number}/labels': 'issues=write; pull_requests=write',
  'DELETE /issues/{issue_number}/labels/{name}': 'issues=write; pull_requests=write',
  'GET /pulls': 'pull_requests=read',
  'GET /pulls/{pull_number}': 'pull_requests=read; contents=read',
  'PATCH /pulls/{pull_number}': 'pull_requests=write',
  'POST /pulls/{pull_number}/requested_reviewers': 'pull_requests=write',
  'GET /pulls/{pull_number}/files': 'pull_requests=read',
  'GET /pulls/{pull_number}/commits': 'pull_requests=read',
  'GET /compare/{basehead}': 'contents=read',
  'GET /commits/{ref}/check-runs': 'checks=read',
  'GET /commits/{commit_sha}/pulls': 'pull_requests=read',
  'GET /commits/{ref}': 'contents=read',
  'GET /commits': 'contents=read',
  'GET /branches/{branch}': 'contents=read',
  'GET /activity': 'contents=read',
  'GET /actions/runs/{run_id}': 'actions=read',
  'GET /actions/workflows/{workflow_id}/runs': 'actions=read',
  'GET /actions/runs/{run_id}/attempts/{attempt_number}': 'actions=read',
  'GET /collaborators/{username}/permission': 'metadata=read',
  'GET /releases': 'contents=read',
  'GET /tags': 'contents=read',
  'GET /git/commits/{commit_sha}': 'contents=read',
  'GET /deployments': 'deployments=read',
  'GET /deployments/{deployment_id}/statuses': 'deployments=read',
  'POST /statuses/{sha}': 'statuses=write',
}
