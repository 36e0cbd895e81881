/** What changed since the last run of this workflow on this branch that succeeded. */

import { type RunEnvironment, withoutRef } from '../../event/event.js'
import { getPath, getSha, getString } from '../../event/payload.js'
import { asking, type GitHubRepo, readPages, WITHOUT_LIST } from '../../github/client.js'
import { isMissing, keepMissing } from '../../github/errors.js'
import type { ApiRun } from '../../github/types.js'
import { ActionError } from '../../text/errors.js'
import { formatInteger } from '../../text/format.js'
import { changesBetween } from './between.js'
import { type Changes, unknownChanges } from './types.js'

/** How many pages of runs are read without filters, at most. */
const RUN_PAGES = 10

/** The events whose runs have seen what was on the branch. [range.schedule.last-success] */
const RUN_EVENTS = ['schedule', 'workflow_dispatch', 'push']

/**
 * What changed since the head of this workflow's last successful run on this branch.
 *
 * On a re-run, that run may be later than this one: then its commits are a part of this branch's
 * future, and nothing is new. [range.schedule.rerun]
 *
 * @throws ActionError `github`
 */
export async function sinceLastSuccess(
  environment: RunEnvironment,
  repo: GitHubRepo,
): Promise<Changes> {
  const found = await findSuccesses(environment, repo, RUN_EVENTS)
  if ('kind' in found) return found
  const mayBeBehind = found.last.id > Number(environment.runId)
  return changesBetween(repo, found.last.head_sha, environment.sha, { mayBeBehind })
}

/**
 * This workflow's last successful run on this branch, and the others that were read on the way; or
 * why there is none. If GitHub lists too few runs to tell, the step ends: green, it would lose what
 * came before. [range.schedule.unlisted]
 *
 * @param events those whose runs count
 * @throws ActionError `github`
 */
export async function findSuccesses(
  environment: RunEnvironment,
  repo: GitHubRepo,
  events: readonly string[],
) {
  const workflow = withoutRef(environment.workflowRef).replace(/.*\//, '')
  const branch = environment.ref.replace(/^refs\/heads\//, '')
  if (branch === environment.ref)
    return unknownChanges('this run is not on a branch, so there is no earlier run to compare with')
  if (workflow === '') return unknownChanges("can't tell which workflow this run belongs to")
  const { marks, count } = await findRuns(environment, workflow, branch, repo, events)
  const { eventName, runNumber } = environment
  const [last] = marks
  if (last !== undefined) return { last, marks }
  const isListed = runNumber <= count
  const runs = `${formatInteger(count)} of the ${formatInteger(runNumber)} runs of ${workflow}`
  const reason = isListed
    ? 'there is no earlier successful run of this workflow on this branch to compare with'
    : `GitHub lists ${runs}, and none that succeeded on this branch`
  if (isListed || eventName === 'workflow_dispatch') return { kind: 'first', reason } as const
  // If this run ended green, the next one would begin here, and what came before would be lost.
  throw new ActionError(
    'github',
    `${reason}.`,
    'Start the workflow by hand once, with since: without it, earlier changes are not sent. If runs are deleted, keep one that succeeded.',
  )
}

/**
 * Whether an earlier attempt of this run was green, and has dealt with what was new.
 * [range.rerun.green]
 */
export async function hasSucceeded(
  environment: RunEnvironment,
  repo: GitHubRepo,
): Promise<boolean> {
  const { runId, runAttempt } = environment
  const attempt_number = runAttempt - 1
  if (attempt_number === 0) return false
  const answer = await repo.github.actions
    .getWorkflowRunAttempt({
      ...asking(repo, `reading attempt ${attempt_number} of a run`, { needs: 'actions: read' }),
      run_id: Number(runId),
      attempt_number,
    })
    // The runs could be listed, so what isn't found isn't there.
    .catch(keepMissing)
  const isGreen = !isMissing(answer) && answer.data.conclusion === 'success'
  return isGreen || hasSucceeded({ ...environment, runAttempt: attempt_number }, repo)
}

/**
 * The last runs that count, the last one first, and how many up to this one GitHub lists.
 *
 * GitHub's filters are a search, which was stale or empty for days
 * (github.com/dawidd6/action-download-artifact/issues/147): the list without filters is read until
 * it has a run that counts; the filters are used only for what is behind its last page.
 * [range.schedule.stale-search]
 *
 * @throws ActionError `github`
 */
async function findRuns(
  environment: RunEnvironment,
  workflow_id: string,
  branch: string,
  repo: GitHubRepo,
  events: readonly string[],
) {
  // Other repositories' changes are sent: a run of a push has never read them.
  const isElsewhere = !events.includes('push')
  // The run before may have ended, and GitHub doesn't know yet. [github.late]
  const isLate = ({ workflow_runs: runs }: { workflow_runs: readonly ApiRun[] }) =>
    runs.find((run) => isHere(run) && run.id < Number(runId))?.conclusion === null
  const list = async (params: object) => {
    const { data, headers } = await repo.github.actions.listWorkflowRuns({
      ...asking(repo, `listing the earlier runs of ${workflow_id}`, {
        needs: 'actions: read',
        instead: isElsewhere ? '' : WITHOUT_LIST,
        early: isLate,
        expects: (answer) => Array.isArray(answer.workflow_runs),
      }),
      workflow_id,
      ...params,
    })
    return { data: data.workflow_runs, headers }
  }
  const { eventName, repository, runId } = environment
  /**
   * Whether a run succeeded, and had what was on the branch then: a fork's branch may have the same
   * name. [range.schedule.fork] Schedules, and signals, run on the default branch, whatever it was
   * called, and what they read elsewhere has nothing to do with it. [range.schedule.renamed]
   */
  const isHere = (run: ApiRun): boolean => {
    const event = getString(run, 'event')
    const isScheduled = [event, isElsewhere ? event : eventName].every((name) =>
      /^schedule|^repository/.test(name),
    )
    return (
      String(getPath(run, 'id')) !== runId &&
      events.includes(event) &&
      (isScheduled || getString(run, 'head_branch') === branch) &&
      getString(run, 'head_repository.full_name').toLowerCase() === repository.toLowerCase() &&
      getSha(run, 'head_sha') !== ''
    )
  }
  const isMark = (run: ApiRun) => run.conclusion === 'success' && isHere(run)
  const { items, truncated } = await readPages(RUN_PAGES, async (page) => {
    const { data, headers } = await list({ exclude_pull_requests: true, ...page })
    // No page behind a run that counts is needed: this one is made the last.
    return { data, headers: data.some(isMark) ? { link: '' } : headers }
  })
  for (const run of items.filter(isHere)) {
    // What an attempt has dealt with, no later one takes away. [range.schedule.attempts]
    const { id, run_attempt: runAttempt = 1 } = run
    if (isMark(run) || (await hasSucceeded({ ...environment, runId: `${id}`, runAttempt }, repo))) {
      run.conclusion = 'success'
      break
    }
    // It may send what this run would. [code.running]
    if (isLate({ workflow_runs: [run] }) && isElsewhere)
      throw new ActionError(
        'github',
        `An earlier run of this workflow is still in progress (${environment.serverUrl}/${repository}/actions/runs/${id}).`,
        'Re-run this one when that one has ended.',
      )
  }
  const ids = items.map(({ id }) => id).filter((id) => id <= Number(runId))
  for (const event of truncated ? events : [])
    items.push(...(await list({ event, branch, status: 'success', per_page: 20 })).data)
  const marks = items.filter(isMark).sort((one, other) => other.id - one.id)
  return { marks, count: new Set(ids).size }
}
