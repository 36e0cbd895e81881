/** Finds the changed files: of the pull request, of the push, or since the last successful run of this workflow. */

import { type RunEnvironment, type RunEvent, workflowPath } from '../event/event.js'
import type { ChangedFile, Changes } from '../prompt/changed-files.js'
import { expecting, GitHubError, type GitHubRequest, ownerAndRepo, type Rest, readPages } from './client.js'

/** The maximum number of files that GitHub lists of a compare, and of a pull request. */
export const COMPARE_LIMIT = 300
export const PULL_REQUEST_LIMIT = 3000

const ZERO_SHA = /^0+$/

export interface FoundChanges extends Changes {
  /** There is certainly no commit in the range. */
  readonly empty: boolean
}

/**
 * Finds what changed, if the event has a range of commits.
 *
 * @throws ActionError `github`
 */
export async function findChanges(
  run: RunEnvironment,
  event: RunEvent,
  request: GitHubRequest,
): Promise<FoundChanges> {
  switch (event.name) {
    case 'pull_request':
    case 'pull_request_target':
      return event.pullRequest === undefined
        ? unknownChanges('The event has no pull request.')
        : ofPullRequest(run, event.pullRequest.number, request)
    case 'push':
      return ofPush(run, event, request)
    case 'schedule':
    case 'workflow_dispatch':
      return sinceLastSuccess(run, request)
    default:
      return unknownChanges(`A ${event.name} event has no commit range, so there is no list of changes.`)
  }
}

/** @param missing why there is no list of changes, in a sentence of the action's own */
export function unknownChanges(missing: string): FoundChanges {
  return { files: [], truncated: false, missing, range: 'unknown', empty: false }
}

async function ofPullRequest(
  run: RunEnvironment,
  number: number,
  request: GitHubRequest,
): Promise<FoundChanges> {
  const operation = {
    description: `listing the files of pull request ${number}`,
    permission: 'pull-requests: read',
  }
  const files = await readPages(100, PULL_REQUEST_LIMIT / 100, (page) =>
    request(operation, (rest, signal) =>
      rest.pulls
        .listFiles({ ...ownerAndRepo(run), pull_number: number, per_page: 100, page, request: { signal } })
        .then(expecting(Array.isArray)),
    ),
  )
  const range = `pull request ${number}`
  return { files: files.map(toFile), truncated: files.length >= PULL_REQUEST_LIMIT, range, empty: false }
}

async function ofPush(
  run: RunEnvironment,
  { push }: RunEvent,
  request: GitHubRequest,
): Promise<FoundChanges> {
  if (push === undefined || push.before === '') return unknownChanges('The event has no commits.')
  if (ZERO_SHA.test(push.before))
    return unknownChanges('The branch or tag is new, so there is no commit to compare with.')
  if (ZERO_SHA.test(push.after)) return unknownChanges('The branch or tag was deleted.')
  return compare(run, push.before, push.after, request)
}

/**
 * Compares with the head of this workflow's last successful run on this branch.
 *
 * Its head repository has to be this one: a fork's run on its own branch of that name must not count.
 */
async function sinceLastSuccess(run: RunEnvironment, request: GitHubRequest): Promise<FoundChanges> {
  const workflow = workflowPath(run).split('/').at(-1) ?? ''
  const branch = run.ref.replace(/^refs\/heads\//, '')
  if (branch === run.ref)
    return unknownChanges('This run is not on a branch, so there is no earlier run to compare with.')
  if (workflow === '') return unknownChanges("Can't tell which workflow this run belongs to.")
  const operation = { description: `listing the earlier runs of ${workflow}`, permission: 'actions: read' }
  const events = ['schedule', 'workflow_dispatch', 'push']
  const found = await Promise.all(
    events.map((event) =>
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
  const last = found
    .flatMap(({ data }) => data.workflow_runs)
    .filter(
      ({ id, event, conclusion, head_branch, head_repository }) =>
        String(id) !== run.runId &&
        events.includes(event) &&
        conclusion === 'success' &&
        head_branch === branch &&
        isSameName(head_repository?.full_name, run.repository),
    )
    .sort((one, other) => other.id - one.id)[0]
  if (last === undefined)
    return unknownChanges(
      'There is no earlier successful run of this workflow on this branch to compare with.',
    )
  return compare(run, last.head_sha, run.sha, request)
}

async function compare(
  run: RunEnvironment,
  base: string,
  head: string,
  request: GitHubRequest,
): Promise<FoundChanges> {
  const range = `the commits ${base.slice(0, 7)}..${head.slice(0, 7)}`
  if (base === head) return { files: [], truncated: false, range, empty: true }
  const operation = { description: `comparing ${range}`, permission: 'contents: read' }
  const basehead = `${base}...${head}`
  try {
    const { data } = await request(operation, (rest, signal) =>
      rest.repos.compareCommitsWithBasehead({
        ...ownerAndRepo(run),
        basehead,
        per_page: 100,
        request: { signal },
      }),
    )
    const files = (data.files ?? []).map(toFile)
    // The comparison starts at the last common commit: what the removed commits changed is not in it.
    const rewritten = data.status === 'diverged' || data.status === 'behind'
    return {
      files,
      truncated: files.length >= COMPARE_LIMIT,
      range,
      empty: data.ahead_by === 0 && !rewritten,
      ...(rewritten && { missing: 'History was rewritten: commits removed from it are not listed.' }),
    }
  } catch (thrown) {
    if (!(thrown instanceof GitHubError) || thrown.status !== 404 || !(await exists(run, head, request)))
      throw thrown
    return unknownChanges(`Commit ${base.slice(0, 7)} no longer exists, so there is nothing to compare with.`)
  }
}

/** Whether a commit that certainly exists can be read: if not, the permission is missing. */
async function exists(run: RunEnvironment, ref: string, request: GitHubRequest): Promise<boolean> {
  const operation = { description: `reading commit ${ref.slice(0, 7)}`, permission: 'contents: read' }
  try {
    await request(operation, (rest, signal) =>
      rest.repos.getCommit({ ...ownerAndRepo(run), ref, per_page: 1, request: { signal } }),
    )
    return true
  } catch (thrown) {
    if (thrown instanceof GitHubError) return false
    throw thrown
  }
}

/** More commits than this are not all merges, most likely, so they are not read. */
const COMMITS_LIMIT = 20

/** Whether every one of these commits is a merge. */
export async function allMerges(
  run: RunEnvironment,
  commits: readonly string[],
  request: GitHubRequest,
): Promise<boolean> {
  if (commits.length > COMMITS_LIMIT) return false
  for (const ref of commits) {
    const operation = { description: `reading commit ${ref.slice(0, 7)}`, permission: 'contents: read' }
    const { data } = await request(operation, (rest, signal) =>
      rest.repos
        .getCommit({ ...ownerAndRepo(run), ref, per_page: 1, request: { signal } })
        .then(expecting(Array.isArray, 'parents')),
    )
    if (data.parents.length < 2) return false
  }
  return true
}

function isSameName(name: string | undefined, other: string): boolean {
  return name?.toLowerCase() === other.toLowerCase()
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
