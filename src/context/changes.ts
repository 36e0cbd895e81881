/** Finds the changed files, and the range they come from, for each event that has one. */

import { type RunEnvironment, type RunEvent, ZERO_SHA } from '../event/event.js'
import { getPath, getSha, getString } from '../event/payload.js'
import { type GitHubRepo, readPages, requestParams } from '../github/client.js'
import { GitHubError, isMissing } from '../github/errors.js'
import type { Inputs } from '../inputs/inputs.js'
import { shortSha } from '../text/format.js'
import { FILES_LIMIT, FILES_PAGE, isFileList, toFiles } from './compare.js'
import type { Changes, Findings, Thread } from './files.js'
import {
  changesBetween,
  isPreReleaseTag,
  sinceLastRelease,
  sinceLastSuccess,
  sinceNamed,
  unknownChanges,
} from './ranges.js'

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
    since,
    issueNumber,
    thread: known,
  }: Pick<Inputs, 'since' | 'issueNumber'> & Pick<Findings, 'thread'>,
): Promise<Findings> {
  const isNamed =
    issueNumber !== undefined && issueNumber !== event.issue && event.pullRequest === undefined
  const thread = isNamed ? (known ?? (await readThread(issueNumber, repo))) : undefined
  const ofNamedPull = isNamed && thread?.isPull === true
  const { name, payload } = event
  const pushed = name === 'push' && (getSha(payload, 'head_commit.id') || getSha(payload, 'after'))
  const head = pushed || environment.sha
  // One, or a merge queue's.
  const isOfPulls = ofNamedPull || event.pullRequest !== undefined || name === 'merge_group'
  const bySince = since !== '' && !isOfPulls && !ZERO_SHA.test(head)
  const find = async (): Promise<Changes> => {
    if (ofNamedPull) return ofPullRequest(issueNumber, repo)
    // [range.since]
    if (bySince) return sinceNamed(since, head, repo)
    const changes = await RANGES[name]?.(environment, event, repo)
    return changes ?? unknownChanges(`there is no list of changes for ${name} events`)
  }
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
  // [range.number]
  const hasNumber = (data: { number?: unknown }) => Number.isSafeInteger(data.number)
  const doing = `reading pull request or issue ${number}`
  const common = requestParams(repo, doing, 'issues: read or pull-requests: read', hasNumber)
  try {
    return { isPull: true, data: (await github.pulls.get({ ...common, pull_number: number })).data }
  } catch (thrown) {
    const isNone = thrown instanceof GitHubError && ['missing', 'refused'].includes(thrown.kind)
    if (!isNone) throw thrown
  }
  const { data } = await github.issues.get({ ...common, issue_number: number })
  return { isPull: getPath(data, 'pull_request') !== undefined, data }
}

type FindRange = (
  environment: RunEnvironment,
  event: RunEvent,
  repo: GitHubRepo,
) => Promise<Changes> | Changes

// [range.pull-request.late]
const ofItsPullRequest: FindRange = ({ runAttempt }, event, repo) => {
  const { name, pullRequest, headSha, payload } = event
  const before = getSha(payload, 'before')
  // By the time of a re-run, somebody may have pushed that commit again.
  const late = runAttempt === 1 && before !== headSha ? before : ''
  if (pullRequest !== undefined) return ofPullRequest(pullRequest.number, repo, late)
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
 * for some seconds
 */
async function ofPullRequest(number: number, repo: GitHubRepo, late = ''): Promise<Changes> {
  const doing = `listing the files of pull request ${number}`
  const mode = { ...repo, ofFiles: true, isEarly: isMissing }
  const isList = (data: unknown): boolean => {
    if (isListOf(late, data))
      throw new Error(`the list is still that of commit ${shortSha(late)}, before the push`)
    // [range.list.unknown]
    return isFileList(data)
  }
  const common = requestParams(mode, doing, 'pull-requests: read', isList)
  const { items: files, truncated } = await readPages(
    FILES_LIMIT / FILES_PAGE,
    async (page) => {
      const params = { ...common, ...page, pull_number: number }
      const { data, headers } = await repo.github.pulls.listFiles(params)
      return { data: toFiles(data).files, headers }
    },
    FILES_PAGE,
  )
  return {
    kind: 'listed',
    files,
    truncated: truncated || files.length >= FILES_LIMIT,
    range: `pull request ${number}`,
  }
}

/**
 * Whether GitHub made a list for this commit: it stands in the URLs of the files.
 * [range.pull-request.late]
 */
function isListOf(sha: string, data: unknown): boolean {
  const isOfCommit = (file: unknown): boolean =>
    getString(file, 'contents_url').endsWith(`?ref=${sha}`)
  return sha !== '' && Array.isArray(data) && data.some(isOfCommit)
}

// [range.push]
const ofPush: FindRange = (environment, { payload }, repo) => {
  // Forty zeros stand for no commit. For a tag, each may be the name of a tag object.
  const [before, after] = [getSha(payload, 'before'), getSha(payload, 'after')]
  if (before === '' || after === '') return unknownChanges("the event's payload has no commits")
  if (ZERO_SHA.test(after)) return unknownChanges('the branch or tag was deleted')
  const changes = ofTag(environment, getSha(payload, 'head_commit.id') || after, repo)
  if (changes !== undefined) return changes
  if (!ZERO_SHA.test(before)) return changesBetween(repo, before, after)
  const hasCommits = getPath(payload, 'commits.length') !== 0
  const reason = 'the branch is new, so there is no commit to compare with'
  return { kind: hasCommits ? 'unknown' : 'first', reason }
}

/** Undefined if the run is not on a tag. [range.tag] */
function ofTag(
  { ref, eventName }: RunEnvironment,
  head: string,
  repo: GitHubRepo,
): Promise<Changes> | undefined {
  const tag = /^refs\/tags\/(.*)$/.exec(ref)?.[1]
  if (tag === undefined) return undefined
  const isByHand = eventName === 'workflow_dispatch'
  const preRelease = isPreReleaseTag(tag)
  return sinceLastRelease(repo, { tag, preRelease, publishedAt: '', head, isByHand })
}

// [range.push]
const ofMergeGroup: FindRange = (_, { payload }, repo) => {
  const base = getSha(payload, 'merge_group.base_sha')
  const head = getSha(payload, 'merge_group.head_sha')
  if (base === '' || head === '') return unknownChanges("the event's payload has no commits")
  return changesBetween(repo, base, head)
}

// [skip.release.taken-back]
const ofRelease: FindRange = ({ sha: head }, { payload }, repo) => {
  const tag = getString(payload, 'release.tag_name')
  if (tag === '') return unknownChanges("the event's payload has no release")
  const preRelease = getPath(payload, 'release.prerelease') === true
  const publishedAt = getString(payload, 'release.published_at')
  return sinceLastRelease(repo, { tag, preRelease, publishedAt, head, isByHand: false })
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
  release: ofRelease,
  schedule: (environment, _, repo) => sinceLastSuccess(environment, repo),
  // Of a tag: a release that a workflow makes with its own token starts nothing, so that workflow
  // runs this one on the tag.
  workflow_dispatch: (environment, _, repo) =>
    ofTag(environment, environment.sha, repo) ?? sinceLastSuccess(environment, repo),
}
