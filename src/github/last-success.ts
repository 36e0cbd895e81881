/** Finds what changed since this workflow's last successful run on this branch. */

import { type RunEnvironment, workflowPath } from '../event/event.js'
import { getPath, getSha, getString } from '../event/payload.js'
import { expecting, type GitHubRequest, ownerAndRepo } from './client.js'
import { changesBetween, type FoundChanges, unknownChanges } from './compare.js'

/** The events whose runs have seen what was on the branch. */
const EVENTS = ['schedule', 'workflow_dispatch', 'push']

/**
 * Compares with the head of this workflow's last successful run on this branch.
 *
 * Its head repository has to be this one: a fork's run on its own branch of that name must not count. On a re-run, that
 * run may be later than this one: then its commits are a part of this branch's future, and nothing is new.
 *
 * @throws ActionError `github`
 */
export async function sinceLastSuccess(run: RunEnvironment, request: GitHubRequest): Promise<FoundChanges> {
  const workflow = workflowPath(run).split('/').at(-1) ?? ''
  const branch = run.ref.replace(/^refs\/heads\//, '')
  if (branch === run.ref) {
    return unknownChanges('This run is not on a branch, so there is no earlier run to compare with.')
  }
  if (workflow === '') return unknownChanges("Can't tell which workflow this run belongs to.")
  const last = await findLastRun(run, workflow, branch, request)
  if (last === undefined) {
    return unknownChanges(
      'There is no earlier successful run of this workflow on this branch to compare with.',
    )
  }
  return changesBetween(run, last.head_sha, run.sha, request, { mayBeBehind: last.id > Number(run.runId) })
}

async function findLastRun(
  run: RunEnvironment,
  workflow: string,
  branch: string,
  request: GitHubRequest,
): Promise<{ readonly id: number; readonly head_sha: string } | undefined> {
  const operation = { description: `listing the earlier runs of ${workflow}`, permission: 'actions: read' }
  const answers = await Promise.all(
    EVENTS.map((event) =>
      request(operation, (rest, signal) =>
        rest.actions
          .listWorkflowRuns({
            ...ownerAndRepo(run),
            workflow_id: workflow,
            branch,
            event,
            status: 'success',
            per_page: 20,
            request: { signal },
          })
          .then(expecting(Array.isArray, 'workflow_runs')),
      ),
    ),
  )
  return answers
    .flatMap(({ data }) => data.workflow_runs)
    .filter(
      (found) =>
        String(getPath(found, 'id')) !== run.runId &&
        EVENTS.includes(getString(found, 'event')) &&
        getString(found, 'conclusion') === 'success' &&
        getString(found, 'head_branch') === branch &&
        getString(found, 'head_repository.full_name').toLowerCase() === run.repository.toLowerCase() &&
        getSha(found, 'head_sha') !== '',
    )
    .sort((one, other) => other.id - one.id)[0]
}
