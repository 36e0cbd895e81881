/** Finds what changed since this workflow's last successful run on this branch. */

import { type RunEnvironment, workflowPath } from '../event/event.js'
import { getPath, getSha, getString } from '../event/payload.js'
import { about, type Source } from '../github/client.js'
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
export async function sinceLastSuccess(run: RunEnvironment, source: Source): Promise<FoundChanges> {
  const workflow = workflowPath(run).split('/').at(-1) ?? ''
  const branch = run.ref.replace(/^refs\/heads\//, '')
  if (branch === run.ref) {
    return unknownChanges('This run is not on a branch, so there is no earlier run to compare with.')
  }
  if (workflow === '') return unknownChanges("Can't tell which workflow this run belongs to.")
  const last = await findLastRun(run, workflow, branch, source)
  if (last === undefined) {
    return unknownChanges(
      'There is no earlier successful run of this workflow on this branch to compare with.',
    )
  }
  return changesBetween(source, last.head_sha, run.sha, { mayBeBehind: last.id > Number(run.runId) })
}

async function findLastRun(
  run: RunEnvironment,
  workflow: string,
  branch: string,
  source: Source,
): Promise<{ readonly id: number; readonly head_sha: string } | undefined> {
  const doing = `listing the earlier runs of ${workflow}`
  const common = {
    ...about(source, doing, 'actions: read', ({ workflow_runs }: { workflow_runs?: unknown }) =>
      Array.isArray(workflow_runs),
    ),
    workflow_id: workflow,
    branch,
    status: 'success',
    per_page: 20,
  } as const
  const answers = await Promise.all(
    EVENTS.map((event) => source.github.actions.listWorkflowRuns({ ...common, event })),
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
