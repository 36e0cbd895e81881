/** The table of permissions: each row suffices for what it names, and every permission in it is needed. */

import { expect, test } from '@jest/globals'
import { rows } from '../support/documents.js'
import { type Permissions, sha } from '../support/github.js'
import { type RunOptions, startWorld, type World } from '../support/pull-request.js'

type Case = readonly [inputs: Record<string, string>, run: (world: World) => RunOptions]

const pullRequest: Case[1] = () => ({})
const onMain = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: sha('after') }
const push: Case[1] = ({ repository }) => {
  repository.addComparison(sha('before'), sha('after'), {})
  const payload = { before: sha('before'), after: sha('after'), commits: [], sender: { login: 'octocat' } }
  return { event: 'push', payload, env: onMain }
}
const schedule: Case[1] = ({ repository }) => {
  repository.addRun({ head_sha: sha('before') })
  repository.addComparison(sha('before'), sha('after'), {})
  return { event: 'schedule', payload: {}, env: onMain }
}
const comment: Case[1] = () => ({
  event: 'issue_comment',
  payload: {
    issue: { number: 1, pull_request: {} },
    comment: { user: { login: 'octocat' }, body: 'Please' },
    sender: { login: 'octocat' },
  },
})
const release: Case[1] = ({ repository }) => {
  repository.addRelease('v1', '2026-01-01T00:00:00Z')
  repository.addComparison(sha('v1'), sha('after'), {})
  const payload = { action: 'published', release: { tag_name: 'v2', published_at: '2026-01-02T00:00:00Z' } }
  return { event: 'release', payload, env: onMain }
}
const mergeGroup: Case[1] = ({ repository }) => {
  repository.addComparison(sha('before'), sha('after'), {})
  const payload = { merge_group: { base_sha: sha('before'), head_sha: sha('after') } }
  return { event: 'merge_group', payload, env: onMain }
}
const tracking: Case[1] = ({ repository }) => {
  repository.issues.add(40)
  return { event: 'workflow_dispatch', payload: { inputs: {} } }
}
const since: Case[1] = ({ repository }) => {
  repository.addComparison('v1', sha('after'), {})
  return { event: 'workflow_dispatch', payload: { inputs: {} }, env: onMain }
}
const dispatched: Case[1] = ({ repository }) => {
  repository.issues.add(40)
  return { event: 'repository_dispatch', payload: { action: 'docs' }, env: onMain }
}
const labelled: Case[1] = ({ repository }) => {
  repository.issues.add(40)
  return {
    event: 'issues',
    payload: { action: 'labeled', issue: { number: 40 }, sender: { login: 'octocat' } },
  }
}
const mixedPush: Case[1] = ({ repository }) => {
  repository.addCommit({ sha: sha('b') })
  const commits = [
    { id: sha('a'), author: { username: 'mintlify[bot]' } },
    { id: sha('b'), author: { username: 'octocat' } },
  ]
  return {
    event: 'push',
    payload: { before: sha('x'), after: sha('b'), commits, sender: { login: 'octocat' } },
  }
}

/** By the first cell of the row. */
const CASES: Record<string, readonly Case[]> = {
  '`job-scope: pull-request`, `comment: true`': [
    [{ 'job-scope': 'pull-request' }, pullRequest],
    [{ comment: 'true' }, pullRequest],
  ],
  '`job-scope: issue`, `comment: true` on an issue': [
    [{ 'job-scope': 'issue', 'issue-number': '40' }, tracking],
    [{ comment: 'true', 'allow-users': 'octocat' }, labelled],
  ],
  '`check: true`': [[{ check: 'true' }, pullRequest]],
  '`context`, `context-paths` on a pull request, its comments and its reviews': [
    [{ context: 'diff' }, pullRequest],
    [{ 'context-paths': '**' }, pullRequest],
    [{ 'context-paths': '**', 'allow-users': 'octocat' }, comment],
  ],
  '`context`, `context-paths` on a push, a release or a merge group': [
    [{ context: 'diff', 'context-paths': '**' }, push],
    [{ context: 'diff', 'context-paths': '**' }, release],
    [{ context: 'diff', 'context-paths': '**' }, mergeGroup],
  ],
  '`context`, `context-paths` on a schedule or `workflow_dispatch`': [
    [{ context: 'diff', 'context-paths': '**' }, schedule],
  ],
  '`context`, `context-paths` with `since`': [
    [{ context: 'diff', 'context-paths': '**', since: 'v1' }, since],
  ],
  "`context`, `context-paths` with a pull request's number in `issue-number`": [
    [{ context: 'diff', 'context-paths': '**', 'issue-number': '1' }, dispatched],
  ],
  "`context`, `context-paths` with an issue's number in `issue-number`": [
    [{ context: 'diff', 'issue-number': '40' }, dispatched],
  ],
  "`skip-authors`, when a push mixes their commits with others'": [
    [{ 'skip-authors': 'mintlify[bot]' }, mixedPush],
  ],
}

const TABLE = rows('docs/reference.md', 'Permissions') as [string, string][]

test('every row of the table is tested', () => {
  expect(TABLE.map(([what]) => what)).toEqual(Object.keys(CASES))
})

test.each(TABLE)('%s: %s', async (what, cell) => {
  const given = [...cell.matchAll(/`([a-z-]+): (read|write)`/g)].map(([, name = '', access]) => [
    name.replace('-', '_'),
    access,
  ])
  expect(given.length).toBeGreaterThan(0)
  const none: Permissions = {
    issues: 'none',
    pull_requests: 'none',
    contents: 'none',
    actions: 'none',
    checks: 'none',
  }
  for (const [inputs, run] of CASES[what] ?? []) {
    const world = await startWorld({ github: { permissions: { ...none, ...Object.fromEntries(given) } } })
    const ended = await world.step(inputs, run(world)).finally(world.close)
    expect(ended.outputs.outcome).toBe('pr-opened')
    expect(ended.commands('warning')).toEqual([])
    const used = new Set(world.github.requests.map(({ needs }) => needs?.split(':')[0]))
    expect([...used].sort()).toEqual(given.map(([name]) => name).sort())
  }
})
