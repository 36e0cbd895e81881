/** Finds the changed files, and the range they come from, for each event that has one. */

import { type RunEnvironment, type RunEvent, ZERO_SHA } from '../event/event.js'
import { getPath, getSha, getString } from '../event/payload.js'
import { type GitHubRepo, requestParams } from '../github/client.js'
import { GitHubError, isMissing } from '../github/errors.js'
import type { Inputs } from '../inputs/inputs.js'
import { shortSha } from '../text/format.js'
import { isFileList, readFiles } from './compare.js'
import type { Changes, Findings, Thread } from './files.js'
import { changesBetween, sinceLastRelease, sinceLastSuccess, unknownChanges } from './ranges.js'

/**
 * Finds what changed, if the event has a range of commits, or if `issue-number` names a pull
 * request on an event that is not about one. [range.number]
 *
 * @param inputs.thread what `issue-number` names, if it was read before
 * @throws ActionError `github`
 */
export async function findChanges(
  environment: RunEnvironment,
  event: RunEvent,
  repo: GitHubRepo,
  {
    context,
    since,
    issueNumber,
    thread: known,
  }: Pick<Inputs, 'context' | 'since' | 'issueNumber'> & Pick<Findings, 'thread'>,
): Promise<Findings> {
  const { name, payload, pullRequest, issue } = event
  const isNamed = issueNumber !== undefined && issueNumber !== issue && pullRequest === undefined
  // The payload of a comment on a pull request has no branches. [context.facts.event]
  const branches =
    pullRequest !== undefined && pullRequest.fromFork === undefined && context !== 'none'
      ? await readBranches(pullRequest.number, repo)
      : undefined
  // [range.number] [merge.found]
  const thread = isNamed ? (known ?? (await readThread(issueNumber, repo))) : branches
  // [range.number] [range.pull-request]
  const ofNamedPull = isNamed && thread?.isPull === true
  // Of a tag that is pushed, `after` may be the name of a tag object. [range.tag] [range.since]
  const pushed = name === 'push' && (getSha(payload, 'head_commit.id') || getSha(payload, 'after'))
  const run = { ...environment, sha: pushed || environment.sha }
  // One, or a merge queue's. [range.since] [range.since.no-effect]
  const isOfPulls = ofNamedPull || pullRequest !== undefined || name === 'merge_group'
  // Else the event says where it begins. [range.since] [range.schedule.last-success] [range.tag]
  const bySince = since !== '' && !isOfPulls && !ZERO_SHA.test(run.sha)
  // By the number, else by since, else by the event. [range.number]
  const find = async (): Promise<Changes> => {
    // [range.number]
    if (ofNamedPull) return ofPullRequest(issueNumber, repo)
    // [range.since]
    if (bySince) return changesBetween(repo, since, run.sha, { isNamed: true })
    // [range.others]
    const changes = await (RANGES[name] ?? ofTag)(run, event, repo)
    return changes ?? unknownChanges(`there is no list of changes for ${name} events`)
  }
  // A list that GitHub can't make [range.list.never], what a number names [range.number], and
  // whether the range is longer than the payload's. [range.since]
  return { changes: await find().catch(toUnknown), thread, bySince }
}

/** A pull request that is too large for GitHub must not fail for ever. [range.list.never] */
function toUnknown(thrown: unknown): Changes {
  if (!(thrown instanceof GitHubError) || thrown.kind !== 'no-files') throw thrown
  const reason = 'GitHub has no list of the changed files: the diff may be too large'
  return { kind: 'unknown', reason, unexpected: true }
}

/**
 * Reads a pull request as one: reading it as an issue takes `issues: read`, which nothing else here
 * needs (docs.github.com/en/rest/authentication/permissions-required-for-github-apps). What is
 * none, or can't be read, is read as an issue. One that was transferred has another number.
 * [range.number.either]
 */
export async function readThread(number: number, repo: GitHubRepo): Promise<Thread> {
  const { github } = repo
  // [github.shape]
  const hasNumber = (data: { number?: unknown }) => Number.isSafeInteger(data.number)
  // [github.permission.named]
  const doing = `reading pull request or issue ${number}`
  const common = requestParams(repo, doing, 'issues: read or pull-requests: read', hasNumber)
  // [range.number.either] [range.number]
  try {
    return { isPull: true, data: (await github.pulls.get({ ...common, pull_number: number })).data }
  } catch (thrown) {
    const isNone = thrown instanceof GitHubError && ['missing', 'refused'].includes(thrown.kind)
    if (!isNone) throw thrown
  }
  // [range.number] [range.number.either]
  const { data } = await github.issues.get({ ...common, issue_number: number })
  return { isPull: getPath(data, 'pull_request') !== undefined, data }
}

/** It exists: the event is about it. [context.facts.event] */
async function readBranches(number: number, repo: GitHubRepo): Promise<Thread> {
  // [github.permission.named]
  const doing = `reading pull request ${number}`
  // [github.shape]
  const hasBase = (pull: unknown) => getString(pull, 'base.ref') !== ''
  // [github.early]
  const mode = { ...repo, isEarly: isMissing }
  // [github.permission.named]
  const common = requestParams(mode, doing, 'pull-requests: read', hasBase)
  // [context.facts.event]
  const { base, head } = (await repo.github.pulls.get({ ...common, pull_number: number })).data
  return { isPull: true, data: { base, head } }
}

type FindRange = (
  run: RunEnvironment,
  event: RunEvent,
  repo: GitHubRepo,
) => Promise<Changes> | Changes | undefined

// [range.pull-request.late]
const ofItsPullRequest: FindRange = ({ runAttempt }, { name, pullRequest, payload }, repo) => {
  const before = getSha(payload, 'before')
  // By the time of a re-run, somebody may have pushed that commit again. [range.pull-request.late]
  const mayBeLate = runAttempt === 1 && before !== getSha(payload, 'pull_request.head.sha')
  // [range.pull-request]
  if (pullRequest !== undefined)
    return ofPullRequest(pullRequest.number, repo, mayBeLate ? before : '')
  // [range.others] [context.paths.no-list]
  return unknownChanges(
    name === 'issue_comment'
      ? 'the comment is on an issue, so there is no list of changes'
      : "the event's payload has no pull request",
  )
}

/**
 * [range.pull-request]
 *
 * @param late the head before the push that the run is about: GitHub may go on listing its files
 * for some seconds, whose URLs name it
 */
async function ofPullRequest(number: number, repo: GitHubRepo, late = ''): Promise<Changes> {
  // [range.pull-request.late]
  const isLate = (file: unknown): boolean =>
    late !== '' && getString(file, 'contents_url').endsWith(`?ref=${late}`)
  // [range.pull-request.late]
  const isList = (data: unknown): boolean => {
    if (Array.isArray(data) && data.some(isLate))
      throw new Error(`the list is still that of commit ${shortSha(late)}, before the push`)
    // [range.list.unknown]
    return isFileList(data)
  }
  // [range.pull-request]
  const common = requestParams(
    // A list that GitHub can't make [range.list.never], one that isn't found yet. [github.early]
    { ...repo, ofFiles: true, isEarly: isMissing },
    // [github.permission.named]
    `listing the files of pull request ${number}`,
    'pull-requests: read',
    // [range.list.unknown]
    isList,
  )
  const list = await readFiles((page) =>
    repo.github.pulls.listFiles({ ...common, ...page, pull_number: number }),
  )
  return { kind: 'listed', ...list, range: `pull request ${number}` }
}

// [range.list.unknown]
const NO_COMMITS = unknownChanges("the event's payload has no commits")

// [range.push]
const ofPush: FindRange = (run, event, repo) => {
  const { payload } = event
  const [before, after] = [getSha(payload, 'before'), getSha(payload, 'after')]
  // [range.list.unknown]
  if (before === '' || after === '') return NO_COMMITS
  // Forty zeros stand for no commit. [range.push]
  if (ZERO_SHA.test(after)) return unknownChanges('the branch or tag was deleted')
  // [range.tag]
  const changes = ofTag(run, event, repo)
  if (changes !== undefined) return changes
  // [range.push]
  if (!ZERO_SHA.test(before)) return changesBetween(repo, before, after)
  // [skip.nothing-to-compare]
  const hasCommits = getPath(payload, 'commits.length') !== 0
  const reason = 'the branch is new, so there is no commit to compare with'
  return { kind: hasCommits ? 'unknown' : 'first', reason }
}

/** Undefined if the run is not on a tag. [range.tag] */
function ofTag(
  { ref, sha: head, eventName }: RunEnvironment,
  { payload }: RunEvent,
  repo: GitHubRepo,
): Promise<Changes> | undefined {
  const release = getPath(payload, 'release')
  const tag = getString(release, 'tag_name') || /^refs\/tags\/(.*)$/.exec(ref)?.[1]
  if (tag === undefined) return undefined
  // [range.tag] By hand, a release of the same commit is no end. [skip.release.same-commit]
  return sinceLastRelease(repo, { tag, head, release, isByHand: eventName === 'workflow_dispatch' })
}

// [range.push]
const ofMergeGroup: FindRange = (_, { payload }, repo) => {
  const base = getSha(payload, 'merge_group.base_sha')
  const head = getSha(payload, 'merge_group.head_sha')
  // [range.list.unknown]
  return base === '' || head === '' ? NO_COMMITS : changesBetween(repo, base, head)
}

/** The events that have a range of their own. docs/reference.md lists them, too. [range.others] */
export const RANGES: Readonly<Record<string, FindRange>> = {
  // [range.pull-request]
  pull_request: ofItsPullRequest,
  pull_request_target: ofItsPullRequest,
  pull_request_review: ofItsPullRequest,
  pull_request_review_comment: ofItsPullRequest,
  issue_comment: ofItsPullRequest,
  // [range.push]
  push: ofPush,
  merge_group: ofMergeGroup,
  // [range.tag]
  release: ofTag,
  // [range.schedule.last-success]
  schedule: (run, _, repo) => sinceLastSuccess(run, repo),
  // Of a tag: a release that a workflow makes with its own token starts nothing, so that workflow
  // runs this one on the tag. [range.tag] [range.schedule.last-success]
  workflow_dispatch: (run, event, repo) => ofTag(run, event, repo) ?? sinceLastSuccess(run, repo),
}
