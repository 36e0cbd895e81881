/** Which files changed: in the pull request, in the push, or since the last successful run of this workflow. */

import { type RunEnvironment, type RunEvent, workflowPath } from '../event/event.js'
import type { ChangedFile, Changes } from '../prompt/compose.js'
import { type Ask, expecting, GitHubFault, pages, type Rest, repositoryOf } from './client.js'

/** GitHub lists at most so many files of a compare, and of a pull request. */
export const COMPARE_LIMIT = 300
export const PULL_REQUEST_LIMIT = 3000

const NOBODY = /^0+$/

/** The files, and whether there was any commit at all. */
export interface FoundChanges extends Changes {
  /** It is certain that there is no commit in the range. */
  readonly empty: boolean
}

/**
 * Finds what changed, as far as the event has a range of commits.
 *
 * @throws ActionError `github`
 */
export async function findChanges(run: RunEnvironment, event: RunEvent, ask: Ask): Promise<FoundChanges> {
  switch (event.name) {
    case 'pull_request':
    case 'pull_request_target':
      return event.pullRequest === undefined
        ? unknownChanges('The event names no pull request.')
        : ofPullRequest(run, event.pullRequest.number, ask)
    case 'push':
      return ofPush(run, event, ask)
    case 'schedule':
    case 'workflow_dispatch':
      return sinceLastSuccess(run, ask)
    default:
      return unknownChanges(
        `An event of the kind ${event.name} has no range of commits, so there is no list of changes.`,
      )
  }
}

/** No list of changes, for a reason. */
export function unknownChanges(missing: string): FoundChanges {
  return { files: [], cut: false, missing, range: 'unknown', empty: false }
}

async function ofPullRequest(run: RunEnvironment, number: number, ask: Ask): Promise<FoundChanges> {
  const question = { what: `listing the files of pull request ${number}`, permission: 'pull-requests: read' }
  const files = await pages(100, PULL_REQUEST_LIMIT / 100, (page) =>
    ask(question, (rest, signal) =>
      rest.pulls
        .listFiles({ ...repositoryOf(run), pull_number: number, per_page: 100, page, request: { signal } })
        .then(expecting(Array.isArray)),
    ),
  )
  const range = `pull request ${number}`
  return { files: files.map(toFile), cut: files.length >= PULL_REQUEST_LIMIT, range, empty: false }
}

async function ofPush(run: RunEnvironment, { push }: RunEvent, ask: Ask): Promise<FoundChanges> {
  if (push === undefined || push.before === '') return unknownChanges('The event names no commits.')
  if (NOBODY.test(push.before))
    return unknownChanges('The branch or tag is new, so there is no commit to compare with.')
  if (NOBODY.test(push.after)) return unknownChanges('The branch or tag was deleted.')
  return compare(run, push.before, push.after, ask)
}

/**
 * Compares with the head of this workflow's last successful run on this branch.
 *
 * Its head repository has to be this one: a fork's run on its own branch of the same name must not move the mark.
 */
async function sinceLastSuccess(run: RunEnvironment, ask: Ask): Promise<FoundChanges> {
  const workflow = workflowPath(run).split('/').at(-1) ?? ''
  const branch = run.ref.replace(/^refs\/heads\//, '')
  if (branch === run.ref)
    return unknownChanges('This run is on no branch, so there is no earlier run to compare with.')
  if (workflow === '') return unknownChanges('It is not known which workflow this run is of.')
  const question = { what: `listing the earlier runs of ${workflow}`, permission: 'actions: read' }
  const events = ['schedule', 'workflow_dispatch', 'push']
  const found = await Promise.all(
    events.map((event) =>
      ask(question, (rest, signal) =>
        rest.actions
          .listWorkflowRuns({
            ...repositoryOf(run),
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
  const last = found
    .flatMap(({ data }) => data.workflow_runs)
    .filter(
      ({ id, event, conclusion, head_branch, head_repository }) =>
        String(id) !== run.runId &&
        events.includes(event) &&
        conclusion === 'success' &&
        head_branch === branch &&
        sameName(head_repository?.full_name, run.repository),
    )
    .sort((one, other) => other.id - one.id)[0]
  if (last === undefined)
    return unknownChanges(
      'There is no earlier successful run of this workflow on this branch to compare with.',
    )
  return compare(run, last.head_sha, run.sha, ask)
}

async function compare(run: RunEnvironment, base: string, head: string, ask: Ask): Promise<FoundChanges> {
  const range = `the commits ${base.slice(0, 7)}..${head.slice(0, 7)}`
  if (base === head) return { files: [], cut: false, range, empty: true }
  const question = { what: `comparing ${range}`, permission: 'contents: read' }
  const basehead = `${base}...${head}`
  try {
    const { data } = await ask(question, (rest, signal) =>
      rest.repos.compareCommitsWithBasehead({
        ...repositoryOf(run),
        basehead,
        per_page: 100,
        request: { signal },
      }),
    )
    const files = (data.files ?? []).map(toFile)
    // The comparison starts at the last commit that both have: what the old ones brought is not in it.
    const rewritten = data.status === 'diverged' || data.status === 'behind'
    return {
      files,
      cut: files.length >= COMPARE_LIMIT,
      range,
      empty: data.ahead_by === 0 && !rewritten,
      ...(rewritten && { missing: 'History was rewritten: what was taken out of it is not listed.' }),
    }
  } catch (thrown) {
    if (!(thrown instanceof GitHubFault) || thrown.status !== 404 || !(await exists(run, head, ask)))
      throw thrown
    return unknownChanges(`The commit ${base.slice(0, 7)} is gone, so there is nothing to compare with.`)
  }
}

/** Whether a commit can be read that has to be there: if not, the permission is missing. */
async function exists(run: RunEnvironment, ref: string, ask: Ask): Promise<boolean> {
  const question = { what: `reading commit ${ref.slice(0, 7)}`, permission: 'contents: read' }
  try {
    await ask(question, (rest, signal) =>
      rest.repos.getCommit({ ...repositoryOf(run), ref, per_page: 1, request: { signal } }),
    )
    return true
  } catch (thrown) {
    if (thrown instanceof GitHubFault) return false
    throw thrown
  }
}

/** So many commits are looked at; more of them are hardly all merges. */
const COMMITS_LIMIT = 20

/** Whether every one of these commits is a merge. */
export async function allMerges(run: RunEnvironment, commits: readonly string[], ask: Ask): Promise<boolean> {
  if (commits.length > COMMITS_LIMIT) return false
  for (const ref of commits) {
    const question = { what: `reading commit ${ref.slice(0, 7)}`, permission: 'contents: read' }
    const { data } = await ask(question, (rest, signal) =>
      rest.repos
        .getCommit({ ...repositoryOf(run), ref, per_page: 1, request: { signal } })
        .then(expecting(Array.isArray, 'parents')),
    )
    if (data.parents.length < 2) return false
  }
  return true
}

function sameName(one: string | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase()
}

type ApiFile = Awaited<ReturnType<Rest['pulls']['listFiles']>>['data'][number]

function toFile({ filename, previous_filename, status, additions, deletions, patch }: ApiFile): ChangedFile {
  return {
    path: filename,
    status,
    additions,
    deletions,
    ...(previous_filename !== undefined && { previousPath: previous_filename }),
    ...(patch !== undefined && { patch }),
  }
}
