/** Finds the changed files, and the range they come from, for each event that has one. */

import { type RunEnvironment, type RunEvent, ZERO_SHA } from '../../event/event.js'
import { getPath, getSha, getString } from '../../event/payload.js'
import { asking, type GitHubRepo } from '../../github/client.js'
import { GitHubError } from '../../github/errors.js'
import type { ApiFile } from '../../github/types.js'
import { CODE_EVENTS } from '../../inputs/code-repositories.js'
import type { StepSubject } from '../../run/step.js'
import { shortSha } from '../../text/format.js'
import { changesBetween } from './between.js'
import { isFileList, readFiles } from './compare.js'
import { sinceLastRelease } from './since-release.js'
import { sinceLastSuccess } from './since-success.js'
import { type Changes, type Findings, type Thread, unknownChanges } from './types.js'

/**
 * Finds what changed, if the event has a range of commits, or if `issue-number` names a pull
 * request on an event that is not about one. [range.number]
 *
 * @param known what `issue-number` names, if it was read before
 * @throws ActionError `github`, also if GitHub refuses for good: a docs job that knows of no
 * changes is money lost [github.context.refused]
 */
export async function findChanges(
  { inputs, environment, event }: StepSubject,
  repo: GitHubRepo,
  known?: Thread,
): Promise<Findings> {
  const { context, since, issueNumber } = inputs
  const { name, payload, pullRequest, issue } = event
  const isNamed = issueNumber !== undefined && issueNumber !== issue && pullRequest === undefined
  let thread = isNamed ? (known ?? (await readThread(issueNumber, repo))) : undefined
  // The payload of a comment on a pull request has no branches.
  if (pullRequest && pullRequest.fromFork === undefined && context !== 'none') {
    const { base, head } = await readPull(pullRequest.number, repo)
    thread = { isPull: true, data: { base, head } }
  }
  const ofNamedPull = isNamed && thread?.isPull === true
  // If a tag is pushed, `after` may be the name of a tag object.
  const pushed = name === 'push' && (getSha(payload, 'head_commit.id') || getSha(payload, 'after'))
  const run = { ...environment, sha: pushed || environment.sha }
  // The run is about one pull request, or about those of a merge queue.
  const isOfPulls = ofNamedPull || pullRequest !== undefined || name === 'merge_group'
  // Otherwise, the event says where the range begins.
  const bySince = since !== '' && !isOfPulls && !ZERO_SHA.test(run.sha)
  // The number leads, then since, then the event.
  const find = async (): Promise<Changes> => {
    if (ofNamedPull) {
      // Nobody pushes to what is closed.
      const isClosed = getString(thread?.data, 'state') === 'closed'
      return ofPullRequest(issueNumber, repo, '', isClosed ? getSha(thread?.data, 'head.sha') : '')
    }
    if (bySince) return changesBetween(repo, since, run.sha, { isNamed: true })
    const changes = await (RANGES[name] ?? ofTag)(run, event, repo)
    return changes ?? unknownChanges(`there is no list of changes for ${name} events`)
  }
  // A list that GitHub can't make, what a number names, and
  // whether the range is longer than the payload's.
  const changes = await find().catch(unknownIfUnlistable)
  return { changes, thread, bySince, isMark: !isOfPulls && movesMark(environment) }
}

/** Whether the next run's changes begin where this run's end, if it is about no pull request. */
export function movesMark({ eventName, ref }: RunEnvironment, isElsewhere = false): boolean {
  const events = isElsewhere ? CODE_EVENTS : ['schedule', 'workflow_dispatch']
  return events.includes(eventName) && !ref.startsWith('refs/tags/')
}

/** A pull request that is too large for GitHub must not fail for ever. [range.list.never] */
export function unknownIfUnlistable(thrown: unknown): Changes {
  if (!(thrown instanceof GitHubError) || thrown.kind !== 'no-files') throw thrown
  const reason = 'GitHub has no list of the changed files: the diff may be too large'
  return { kind: 'unknown', reason, unexpected: true }
}

/**
 * Reads a pull request as one: reading it as an issue takes `issues: read`, which nothing else here
 * needs (docs.github.com/en/rest/authentication/permissions-required-for-github-apps). If there is
 * no such pull request, or it can't be read, the number is read as an issue's. An issue that was
 * transferred has another number. [range.number.either]
 */
export async function readThread(number: number, repo: GitHubRepo): Promise<Thread> {
  const { github } = repo
  const asked = asking(repo, `reading pull request or issue ${number}`, {
    needs: 'issues: read or pull-requests: read',
    expects: (data) => Number.isSafeInteger(data.number),
  })
  try {
    return { isPull: true, data: (await github.pulls.get({ ...asked, pull_number: number })).data }
  } catch (thrown) {
    const isNone = thrown instanceof GitHubError && ['missing', 'refused'].includes(thrown.kind)
    if (!isNone) throw thrown
  }
  const { data } = await github.issues.get({ ...asked, issue_number: number })
  return { isPull: getPath(data, 'pull_request') !== undefined, data }
}

/** A pull request that exists: the event is about it. */
export async function readPull(number: number, repo: GitHubRepo, retried = true) {
  const { data } = await repo.github.pulls.get({
    ...asking(repo, `reading pull request ${number}`, {
      needs: 'pull-requests: read',
      retried,
      early: true,
      expects: (pull) => getString(pull, 'base.ref') !== '',
    }),
    pull_number: number,
  })
  return data
}

type FindRange = (
  run: RunEnvironment,
  event: RunEvent,
  repo: GitHubRepo,
) => Promise<Changes> | Changes | undefined

const ofItsPullRequest: FindRange = ({ runAttempt }, { name, pullRequest, payload }, repo) => {
  const before = getSha(payload, 'before')
  // By the time of a re-run, somebody may have pushed that commit again.
  const mayBeLate = runAttempt === 1 && before !== getSha(payload, 'pull_request.head.sha')
  if (pullRequest !== undefined)
    return ofPullRequest(pullRequest.number, repo, mayBeLate ? before : '')
  return unknownChanges(
    name === 'issue_comment'
      ? 'the comment is on an issue, so there is no list of changes'
      : "the event's payload has no pull request",
  )
}

/**
 * The files of a pull request, by pages: in one response, many diffs would be missing.
 * [range.pull-request]
 *
 * @param late the head before the push that the run is about: GitHub may go on listing its files
 * for some seconds, whose URLs name it [range.pull-request.late]
 * @param head the one that it has for good: other URLs are late; empty if it has none
 * [github.late]
 */
async function ofPullRequest(
  number: number,
  repo: GitHubRepo,
  late = '',
  head = '',
): Promise<Changes> {
  const isLate = (file: ApiFile) =>
    late !== '' && getString(file, 'contents_url').endsWith(`?ref=${late}`)
  // What was removed may be named where it was last.
  const isOfAnother = ({ contents_url: url, status }: ApiFile) =>
    /\?ref=/.test(url) && !url.endsWith(head) && status !== 'removed'
  const isList = (data: unknown): boolean => {
    if (Array.isArray(data) && data.some(isLate))
      throw new Error(`the list is still that of commit ${shortSha(late)}, before the push`)
    return isFileList(data)
  }
  const list = await readFiles(
    (page) =>
      repo.github.pulls.listFiles({
        ...asking(repo, `listing the files of pull request ${number}`, {
          needs: 'pull-requests: read',
          ofFiles: true,
          early: (files: readonly ApiFile[]) => files.some(isOfAnother),
          expects: isList,
        }),
        ...page,
        pull_number: number,
      }),
    repo,
  )
  return { kind: 'listed', ...list, range: `pull request ${number}` }
}

const NO_COMMITS = unknownChanges("the event's payload has no commits")

/** Nothing says where the commits of a new branch begin. [range.push] */
const ofPush: FindRange = (run, event, repo) => {
  const { payload } = event
  const [before, after] = [getSha(payload, 'before'), getSha(payload, 'after')]
  if (before === '' || after === '') return NO_COMMITS
  // Forty zeros stand for no commit.
  if (ZERO_SHA.test(after)) return unknownChanges('the branch or tag was deleted')
  const changes = ofTag(run, event, repo)
  if (changes !== undefined) return changes
  if (!ZERO_SHA.test(before)) return changesBetween(repo, before, after)
  const hasCommits = getPath(payload, 'commits.length') !== 0
  const reason = 'the branch is new, so there is no commit to compare with'
  return { kind: hasCommits ? 'unknown' : 'first', reason }
}

/** Undefined if the run is not on a tag. [range.tag] */
const ofTag: FindRange = ({ ref, sha: head, eventName }, { payload }, repo) => {
  const release = getPath(payload, 'release')
  const tag = getString(release, 'tag_name') || /^refs\/tags\/(.*)$/.exec(ref)?.[1]
  if (tag === undefined) return undefined
  // If somebody starts the run by hand, a release of the same commit doesn't end the search.
  return sinceLastRelease(repo, { tag, head, release, isByHand: eventName === 'workflow_dispatch' })
}

const ofMergeGroup: FindRange = (_, { payload }, repo) => {
  const base = getSha(payload, 'merge_group.base_sha')
  const head = getSha(payload, 'merge_group.head_sha')
  return base === '' || head === '' ? NO_COMMITS : changesBetween(repo, base, head)
}

/** The events that have a range of their own. docs/reference.md lists them, too. [range.others] */
export const RANGES: Readonly<Record<string, FindRange>> = {
  pull_request: ofItsPullRequest,
  pull_request_target: ofItsPullRequest,
  pull_request_review: ofItsPullRequest,
  pull_request_review_comment: ofItsPullRequest,
  issue_comment: ofItsPullRequest,
  push: ofPush,
  merge_group: ofMergeGroup,
  release: ofTag,
  schedule: (run, _, repo) => sinceLastSuccess(run, repo),
  // It may be started on a tag: a release that a workflow makes with its own token starts nothing,
  // so that workflow starts this one on the tag.
  workflow_dispatch: (run, event, repo) => ofTag(run, event, repo) ?? sinceLastSuccess(run, repo),
}
