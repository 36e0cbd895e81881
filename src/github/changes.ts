/** Which files changed: in the pull request, in the push, or since the last successful run of this workflow. */

import type { ChangedFile, Changes } from '../prompt/compose.js'
import type { GitHub, Question, Rest } from './client.js'
import type { RunEnvironment, RunEvent } from './event.js'

/** GitHub lists at most so many files of a compare, and of a pull request. */
export const COMPARE_LIMIT = 300
export const PULL_REQUEST_LIMIT = 3000

const NOBODY = /^0+$/

/** The files, and whether there was any commit at all. */
export interface FoundChanges extends Changes {
  /** It is certain that there is no commit in the range. */
  readonly empty: boolean
}

/** How GitHub is asked: again for a while where the answer decides, else once. */
export type Ask = GitHub['decide']

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
        ? unknown('The event names no pull request.')
        : ofPullRequest(run, event.pullRequest.number, ask)
    case 'push':
      return ofPush(run, event, ask)
    case 'schedule':
    case 'workflow_dispatch':
      return sinceLastSuccess(run, ask)
    default:
      return unknown(
        `An event of the kind ${event.name} has no range of commits, so there is no list of changes.`,
      )
  }
}

function unknown(missing: string): FoundChanges {
  return { files: [], cut: false, missing, range: 'unknown', empty: false }
}

async function ofPullRequest(run: RunEnvironment, number: number, ask: Ask): Promise<FoundChanges> {
  const question = { what: `listing the files of pull request ${number}`, permission: 'pull-requests: read' }
  const files = await pages(100, PULL_REQUEST_LIMIT / 100, (page) =>
    ask(question, (rest, signal) =>
      rest.pulls.listFiles({
        ...repositoryOf(run),
        pull_number: number,
        per_page: 100,
        page,
        request: { signal },
      }),
    ),
  )
  const range = `pull request ${number}`
  return { files: files.map(toFile), cut: files.length >= PULL_REQUEST_LIMIT, range, empty: false }
}

async function ofPush(run: RunEnvironment, { push }: RunEvent, ask: Ask): Promise<FoundChanges> {
  if (push === undefined || push.before === '') return unknown('The event names no commits.')
  if (NOBODY.test(push.before))
    return unknown('The branch or tag is new, so there is no commit to compare with.')
  if (NOBODY.test(push.after)) return unknown('The branch or tag was deleted.')
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
  if (workflow === '' || branch === run.ref)
    return unknown('It is not known which workflow and branch this run is of.')
  const question = { what: `listing the earlier runs of ${workflow}`, permission: 'actions: read' }
  const events = ['schedule', 'workflow_dispatch', 'push']
  const found = await Promise.all(
    events.map((event) =>
      ask(question, (rest, signal) =>
        rest.actions.listWorkflowRuns({
          ...repositoryOf(run),
          workflow_id: workflow,
          branch,
          event,
          status: 'success',
          per_page: 20,
          request: { signal },
        }),
      ),
    ),
  )
  const last = found
    .flatMap(({ data }) => data.workflow_runs)
    .filter(
      ({ id, head_branch, head_repository }) =>
        String(id) !== run.runId &&
        head_branch === branch &&
        sameName(head_repository?.full_name, run.repository),
    )
    .sort((one, other) => other.id - one.id)[0]
  if (last === undefined)
    return unknown('There is no earlier successful run of this workflow on this branch to compare with.')
  return compare(run, last.head_sha, run.sha, ask)
}

async function compare(run: RunEnvironment, base: string, head: string, ask: Ask): Promise<FoundChanges> {
  const range = `the commits ${base.slice(0, 7)}..${head.slice(0, 7)}`
  if (base === head) return { files: [], cut: false, range, empty: true }
  const question: Question = { what: `comparing ${range}`, permission: 'contents: read' }
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
    return {
      files,
      cut: files.length >= COMPARE_LIMIT,
      range,
      empty: data.ahead_by === 0 && files.length === 0,
    }
  } catch (thrown) {
    if ((thrown as { status?: number }).status !== 404) throw thrown
    return unknown(`The commit ${base.slice(0, 7)} is gone, so there is nothing to compare with.`)
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
      rest.repos.getCommit({ ...repositoryOf(run), ref, per_page: 1, request: { signal } }),
    )
    if (data.parents.length < 2) return false
  }
  return true
}

/** All pages of a list: until one is not full. */
export async function pages<T>(
  size: number,
  most: number,
  page: (number: number) => Promise<{ data: T[] }>,
): Promise<T[]> {
  const all: T[] = []
  for (let number = 1; number <= most; number++) {
    const { data } = await page(number)
    all.push(...data)
    if (data.length < size) break
  }
  return all
}

export function repositoryOf({ repository }: RunEnvironment): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/')
  return { owner, repo }
}

/** The workflow's path, without its ref: `.github/workflows/docs.yml`. */
export function workflowPath({ workflowRef }: RunEnvironment): string {
  return workflowRef.replace(/@.*$/, '').split('/').slice(2).join('/')
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
