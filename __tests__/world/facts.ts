/** What a step met, and what follows from it: the words in which the rules are said. */

import { parseOutputs } from '../../emulator/runner.mjs'
import type { Received } from '../support/github.js'
import { pullOf } from './changes.js'
import {
  BAD_JOB_ID,
  FAILURES,
  FINAL_POST_MS,
  LATE_POLL_MS,
  OTHER_PULL,
  PULL_REQUEST,
  TOKEN,
} from './draw.js'
import {
  askedFor,
  COMMIT,
  isBy,
  isConsent,
  isOfRelease,
  mayMerge,
  numberOf,
  shaOf,
} from './events.js'
import { labelsOf, type RunRecord, type StepRecord } from './execute.js'
import { isByGateway } from './github-plan.js'
import { type Marker, type Shown, shownTo, writtenBy } from './memory.js'
import type { PullPlan } from './plan.js'
import { type Entry, fateOf, isMessage, jobIdIn, jobIn, REQUEST_MS } from './service.js'
import { MAX_BYTES } from './service-plan.js'

/** How long a refusal has to be repeated before it is believed, and how often. */
const BELIEVED = { afterMs: 10_000, times: 4 }
/** What a refusal says of the key, the time or the limit, and not of the job. */
const NOT_OF_THE_JOB = [401, 402, 403, 408, 413, 425, 429]
/** What is temporary, however often it comes. */
const TEMPORARY = [408, 425, 429]
const NEVER = Number.POSITIVE_INFINITY
/** Outcomes of a job that was seen to its end. */
export const ENDED = ['pr-opened', 'no-changes', ...FAILURES]
/** States of a run that sent nothing, or nothing that was accepted. */
export const NOTHING = ['unsent', 'skipped']

const PULLS = /\/pulls\/[13]$/

/** What the facts follow from: their initializers need it. */
class Observed {
  readonly step: StepRecord

  constructor(
    readonly record: RunRecord,
    /** Which step, from 0. */
    readonly index: number,
  ) {
    this.step = record.steps[index] as StepRecord
  }
}

export class Facts extends Observed {
  readonly plan = this.record.plan
  readonly github = this.plan.github
  readonly inputs = this.step.plan.inputs
  readonly event = this.step.plan.event
  readonly task = this.step.plan.task
  readonly runId = this.step.plan.runId
  readonly attempt = this.step.plan.attempt
  readonly outputs = readOutputs(this.step.outputFile)
  readonly outcome = this.outputs.outcome ?? ''
  readonly code = this.outputs['error-code'] ?? ''
  readonly jobId = this.outputs['job-id'] ?? ''
  /** It ended with what is known of the job. */
  readonly isEnd = [...ENDED, 'started', 'timed-out'].includes(this.outcome)
  /** For messages. */
  readonly says = `the step says ${`${this.outcome} ${this.code}`.trim() || 'nothing'}`
  /** Of the log. */
  readonly lines = this.step.stdout.split(/\r\n|\r|\n/)
  /** The last one, in which the step says how it ended. */
  readonly finished = this.step.wrote.filter(({ line }) => line.startsWith('Finished after '))
  readonly posts = this.step.entries.filter(({ method }) => method === 'POST')
  readonly isDryRun = this.inputs['dry-run'] === 'true'

  /** Every attempt to connect to the service succeeds. */
  readonly isReached = !this.plan.proxy && this.plan.connecting.service.length === 0
  /** The longest time that bytes may be on their way. */
  readonly travelMs = this.plan.network.travelMs[1] * (this.plan.proxy ? 2 : 1)
  /** When the process stood still. */
  readonly freezes = this.step.done
    .filter(({ what }) => what === 'freeze')
    .map(({ at: from, until: to = this.step.endedAt }) => ({ from, to }))
  readonly deadlineAt = this.step.spawnedAt + this.step.plan.timeoutMs
  /** When the signals reached the process. */
  readonly cancels = this.step.done
    .filter(({ what }) => what === 'cancel')
    .map(({ at }) => this.thawedAt(at))
    .filter((at) => at <= this.step.endedAt)
  readonly wasCancelled = this.cancels.length > 0
  readonly cancelledAt = this.cancels[0] ?? NEVER
  readonly thrownAt = this.thawedAt(
    this.step.done.find(({ what }) => what === 'exception')?.at ?? NEVER,
  )
  /** When it had to end at once. */
  readonly secondSignalAt = Math.min(this.cancels[1] ?? NEVER, this.thrownAt)
  readonly killedAt = this.step.done.find(({ what }) => what === 'SIGKILL')?.at ?? NEVER
  readonly wasKilled = this.killedAt < NEVER
  /** When the step began to end. */
  readonly reportedAt = this.step.wrote.find(({ line }) =>
    /^(?:Finished after |::notice::Docs pull request: )/.test(line),
  )?.at
  /** From then on, nothing can be written to the runner's files. */
  readonly fullAt = this.step.done.find(({ what }) => what === 'disk full')?.at ?? NEVER
  /** The outputs and the summary don't say how the step ended. */
  readonly isUntold = this.wasKilled || this.fullAt <= (this.reportedAt ?? this.step.endedAt)
  /** How long before the deadline the last poll begins. */
  readonly lastPollMs = Math.min(2_000, this.step.plan.timeoutMs / 20)
  /** The step said that it only waits for a job. */
  readonly waits = this.lines.some((line) => line.endsWith('; nothing is sent to it.'))
  /** The step took as long as it was allowed to. */
  readonly usedItsTime = this.step.endedAt >= this.deadlineAt - this.lastPollMs

  /** As long as its inputs are good. */
  readonly onlyWaits =
    this.task === 'attach' &&
    this.inputs['prompt-file'] === undefined &&
    this.inputs['job-id'] !== BAD_JOB_ID
  /** Those who have to have write access. */
  readonly asked = this.onlyWaits ? [] : askedFor(this.event, this.inputs['allow-users'] ?? '')
  readonly mayStart = this.asked.every((person) => person === 'writer')
  readonly hasEvent = this.github !== undefined && this.step.plan.eventFile === undefined
  /** Whether the push is known to have merged the pull request. */
  readonly hasMerged = this.#hasMerged()
  /**
   * It is about the pull request then, unless it only brought its head, without a word about it.
   */
  readonly isMerge = this.hasMerged && isConsent(this.event)
  /** What the step is about. */
  readonly number =
    Number(this.inputs['issue-number']) ||
    (this.isMerge ? PULL_REQUEST : this.hasEvent ? numberOf(this.event) : undefined)
  /** Whether what the step is about, or has merged, has a label of skip-labels. */
  readonly isLabelled = this.#isLabelled()
  /** Whether the agent is the cause, or a queue's push, or a release that was taken back. */
  readonly isByAgent = this.#isByAgent()
  /** Whether the comment decides. */
  readonly hasComment = keepsComment(this.step, this.number) && !this.isLocked
  readonly written = writtenBy(this.step)

  /** What GitHub was asked, by the paths. */
  requestsTo(pattern: RegExp): readonly Received[] {
    return this.step.githubRequests.filter(({ path }) => pattern.test(path))
  }

  /** Of the steps before. */
  get before(): Facts[] {
    return this.record.steps.slice(0, this.index).map((_, at) => new Facts(this.record, at))
  }

  /** To a token that may not see it, nobody has access. */
  get isDenied(): boolean {
    return this.requestsTo(/\/permission$/).some(({ status }) => status === 404)
  }

  get docsPullReads() {
    return this.requestsTo(/\/pulls\/17$/)
  }

  /** Those that GitHub answered with the pull request. */
  get docsPullAnswers() {
    return this.docsPullReads.filter(isObject)
  }

  /** As the step found the docs pull request before it sent anything. */
  get docsPull(): NonNullable<typeof this.github>['docsPull'] | undefined {
    return this.docsPullBefore(this.posts[0]?.startedAt ?? this.reportedAt ?? NEVER)
  }

  /** As it was when the step read it last before this. */
  docsPullBefore(until: number): NonNullable<typeof this.github>['docsPull'] | undefined {
    const { docsPull, docsEnd } = this.github ?? {}
    const read = this.docsPullAnswers.findLast(({ at }) => at < until)
    const isEnded = this.record.docsEndedAt <= (read?.at ?? this.step.spawnedAt)
    return isEnded ? docsEnd?.how : docsPull
  }

  get isDocsOver(): boolean {
    return this.docsPull === 'merged' || this.docsPull === 'closed'
  }

  /** Whether GitHub said so of the conversation of the pull request that was merged. */
  get isLocked(): boolean {
    const reads = this.requestsTo(/\/commits\/\w+\/pulls|\/pulls\/\d+$/)
    return this.isMerge && reads.some(({ answered }) => answered.includes('"locked":true'))
  }

  /** Whether GitHub refused a comment because the conversation is locked. */
  get isLockedOut(): boolean {
    return this.step.githubRequests.some(({ answered }) => / is locked/.test(answered))
  }

  /** Whether a push may be about what it has merged. */
  get #isMergeAsked(): boolean {
    const { 'job-scope': scope, 'issue-number': number } = this.inputs
    const areOff = this.github?.turnsOffPulls && this.event.name === 'push'
    return this.hasEvent && !areOff && scope === 'pull-request' && number === undefined
  }

  #hasMerged(): boolean {
    const { github, event } = this
    if (github?.merges !== 'here' || !this.#isMergeAsked || !mayMerge(event)) return false
    // An empty list is read again if nothing else tells.
    const isFound = github.unindexed < 1_000 || (event.names === 'pull' && this.#canReadMerged)
    if (event.push === 'head') return isFound && !github.omitsMerges
    return isFound && (event.push === 'usual' || github.mergesAll)
  }

  /** Whether a pull request that a message names says which commit merged it. */
  get #canReadMerged(): boolean {
    const wasDenied = this.requestsTo(PULLS).some(
      (read) => read.status === 404 && !isByGateway(read),
    )
    return !wasDenied && this.github?.omitsMerges === false
  }

  /** The labels of an event are the payload's, others those that GitHub has when it is asked. */
  #isLabelled(): boolean {
    const { github, inputs, event, number, hasMerged } = this
    const pull = this.#pullWhenRead
    const skipped = inputs['skip-labels']?.toLowerCase().split('\n') ?? []
    const has = (one: number | undefined, changes: number) =>
      github !== undefined &&
      labelsOf(github, one ?? 0, changes).some((name) => skipped.includes(name.toLowerCase()))
    const own = this.hasEvent ? numberOf(event) : undefined
    const others = [number, ...(hasMerged ? [PULL_REQUEST] : this.#mergedByGroup())]
    return (
      has(own, event.words.labels) || others.some((one) => one !== own && has(one, pull.labels))
    )
  }

  /** As the last step that had begun by then found it. */
  get #pullWhenRead(): PullPlan {
    const { record, step } = this
    const read = this.requestsTo(PULLS).find(isObject)
    const begun = record.steps.filter(({ spawnedAt }) => read && spawnedAt <= read.at)
    return (begun.at(-1) ?? step).plan.pull
  }

  /** What a push of several has merged, as far as its commits name it. */
  #mergedByGroup(): number[] {
    const { event } = this
    const isGroup = event.name === 'push' && event.push === 'group'
    if (!this.#isMergeAsked || !this.#canReadMerged) return []
    const isNamed = this.github?.merges === 'here' && event.names === 'pull'
    return [
      ...(isNamed && (isGroup || mayMerge(event)) ? [PULL_REQUEST] : []),
      ...(isGroup ? [OTHER_PULL] : []),
    ]
  }

  /** Whether another pull request of the same head is merged: nobody can tell whose push it is. */
  get #hasTwin(): boolean {
    return this.requestsTo(/\/commits\/\w+\/pulls/).some(
      ({ status, answered }) => status === 200 && answered.split('"merged_at":"').length > 2,
    )
  }

  #isByAgent(): boolean {
    const { 'skip-authors': authors = '' } = this.inputs
    const { event } = this
    if (!this.hasEvent) return false
    if (event.name === 'push' && event.push === 'queue') return true
    if (event.name === 'release' && event.action === 'deleted') return true
    if (authors === '') return false
    const accounts = [...authors.split(', '), 'mintlify[bot]']
    return (
      isBy(
        accounts,
        event,
        this.github?.committers.at(-1) === 'merge' && shaOf(event) === COMMIT,
      ) ||
      (this.hasMerged && !this.#hasTwin && accounts.includes(this.github?.pullAuthor ?? ''))
    )
  }

  /** When the process went on, if it stood still at this time. */
  thawedAt(at: number): number {
    return this.freezes.find(({ from, to }) => from <= at && at <= to)?.to ?? at
  }

  /** A moment later by what the process stood still before it. */
  laterByFreezes(limit: number): number {
    let later = limit
    for (const { from, to } of this.freezes) if (from <= later) later += to - from
    return later
  }

  mayBeRefused(post: Entry): boolean {
    return ['refused', 'any'].includes(fateOf(post))
  }

  /** The job's status in a whole response, or empty. */
  statusIn(entry: Entry): string {
    return (isSuccess(entry) && jobIn(entry)?.status) || ''
  }

  /** The status requests for a job before a certain time. */
  polls(jobId: string, before = NEVER): readonly Entry[] {
    return this.step.entries.filter(
      (entry) => entry.method === 'GET' && jobIdIn(entry) === jobId && entry.startedAt < before,
    )
  }

  /** Whether the last of them all were refused, often and for long enough. */
  isBelieved(jobId: string, before: number): boolean {
    const polls = this.polls(jobId, before)
    const from = polls.findLastIndex((entry) => !isRefusal(entry)) + 1
    const [first, last] = [polls[from], polls.at(-1)]
    if (first === undefined || last === undefined || polls.length - from < BELIEVED.times)
      return false
    return last.startedAt - first.startedAt >= BELIEVED.afterMs - this.travelMs
  }

  isGone(jobId: string, before: number): boolean {
    const last = this.polls(jobId, before).at(-1)
    return last !== undefined && isNotFound(last) && this.isBelieved(jobId, before)
  }

  /**
   * Whether the job had ended, as far as this step knew, and then refused the message before this
   * create.
   */
  refusedAsEnded(jobId: string, create: Entry): boolean {
    const before = this.posts.slice(0, this.posts.indexOf(create))
    const last = before.findLast(isMessage) // The create itself may be sent again.
    if (last === undefined || !isAboutTheJob(last)) return false
    const conflicts = before.filter((post) => isMessage(post) && statusOf(post) === 409)
    if (statusOf(last) === 409 && conflicts.length < 3) return false
    const seen = this.polls(jobId, last.startedAt)
      .map((poll) => this.statusIn(poll))
      .findLast((status) => status !== '')
    return seen !== undefined && seen !== 'active'
  }

  /**
   * When the step has to be done with a POST that is in flight: some time after its deadline or a
   * cancel.
   */
  get lastPostAt(): number {
    return Math.min(this.deadlineAt, this.cancelledAt) + FINAL_POST_MS
  }

  /**
   * Whether the step ended while the service was about to respond with a job, and there was time
   * for that.
   */
  gaveUpEarly(post: Entry): boolean {
    const { endedAt } = this.step
    const isPending = post.exchange.breaksAt === 'never' && post.respondedAt === undefined
    const wasToBeRead =
      fateOf(post) === 'unknown' && fateOf({ ...post, respondedAt: endedAt }) === 'job'
    const hadTime = endedAt < Math.min(this.lastPostAt, post.sentAt + REQUEST_MS.POST)
    return isPending && wasToBeRead && hadTime && this.secondSignalAt === NEVER && !this.wasKilled
  }

  /**
   * Whether the process was there to read the whole response to a request, within its own limits.
   * The poll that follows a freeze over the deadline has a time of its own.
   */
  wasRead(entry: Entry): boolean {
    const { method, sentAt, arrivedAt } = entry
    const end = Math.min(this.secondSignalAt, this.killedAt)
    // What is frozen then reads nothing more.
    const readUntil = this.freezes.find(({ from, to }) => from <= end && end <= to)?.from ?? end
    const isLate = method === 'GET' && sentAt > this.deadlineAt
    const limit = isLate
      ? sentAt + LATE_POLL_MS
      : Math.min(this.lastPostAt, sentAt + REQUEST_MS[method === 'POST' ? 'POST' : 'GET'])
    return isWhole(entry) && arrivedAt < readUntil && this.arrivedBefore(arrivedAt, limit)
  }

  /** The job of the last POST, if its response was read. */
  get givenJob(): string | undefined {
    const last = this.posts.at(-1)
    if (last === undefined || fateOf(last) !== 'job' || !this.wasRead(last)) return undefined
    return isMessage(last) ? jobIdIn(last) : jobIn(last)?.id
  }

  /**
   * Whether a response was in the process's socket at its limit. The action reads what has arrived
   * before it acts on a limit, also if it was frozen when the limit came.
   */
  arrivedBefore(at: number, limit: number): boolean {
    return (
      at <= limit || this.freezes.some(({ from, to }) => from < limit && limit <= to && at <= to)
    )
  }

  /** Whether a POST had been begun, and its response had not arrived, at this time. */
  isPostPendingAt(at: number): boolean {
    const sendingMs = 2 * this.travelMs // A long body is written in two parts.
    return this.posts.some(
      ({ startedAt, arrivedAt }) => startedAt - sendingMs <= at && arrivedAt >= at,
    )
  }

  /** Whether no other step was under way at the same time. */
  get isAlone(): boolean {
    const { spawnedAt, endedAt } = this.step
    return this.record.steps.every(
      (other) => other === this.step || other.endedAt <= spawnedAt || other.spawnedAt >= endedAt,
    )
  }

  /**
   * What GitHub knows of the last run that succeeded. It is `lost` if it was deleted: then nobody
   * knows that there was none. If the branch had another name, only a schedule knows that it is
   * the same.
   */
  get lastRun(): 'later' | 'known' | 'lost' | 'none' {
    const { runs } = this.github ?? {}
    const { succeeded = 0, areDeleted, areOnMaster, later } = runs ?? {}
    if (later === 'succeeded' && this.attempt > 1) return 'later'
    if (succeeded === 0) return 'none'
    if (areDeleted) return 'lost'
    return areOnMaster && this.event.name !== 'schedule' ? 'none' : 'known'
  }

  /** How the commits of the list relate. Those since a release may be the same. */
  get compared(): NonNullable<typeof this.github>['compared'] | undefined {
    const { event } = this
    const isBranch =
      ['an older version', 'several lines'].includes(event.habit) && this.inputs.since === undefined
    const isAhead = isOfRelease(event) && (isBranch || this.github?.compared !== 'identical')
    return isAhead ? 'ahead' : this.github?.compared
  }

  /** Whether the files of a pull request have so many lines that a page of them is cut. */
  get isOfLongPull(): boolean {
    return pullOf(this) !== undefined && (this.github?.lines ?? 0) > 0
  }

  /** Whether GitHub did all that it was asked, at once. */
  get isGitHubWell(): boolean {
    const {
      healthy = false,
      lagMs = 0,
      others = [],
      keepAliveMs = 0,
      failing = [],
    } = this.github ?? {}
    const connects = this.plan.connecting.github.length === 0
    const isKnown = (this.inputs['github-token'] ?? TOKEN) === TOKEN
    return (
      healthy &&
      !this.isLockedOut &&
      failing.every(({ times }) => times === 1) &&
      isKnown &&
      lagMs === 0 &&
      others.length === 0 &&
      keepAliveMs >= 60_000 &&
      connects
    )
  }

  /** Whether nothing kept the step from writing what it remembers, and from its last edit. */
  get couldWrite(): boolean {
    const wasHindered = this.wasKilled || this.secondSignalAt < NEVER || this.freezes.length > 0
    if (wasHindered || !this.isGitHubWell || !this.isAlone) return false
    return !this.#hadNoTime
  }

  /**
   * The last edits have 20 s, whenever the step ends; 3 s after a cancel. A step that took less was
   * not cut short.
   */
  get #hadNoTime(): boolean {
    const { endedAt, githubRequests } = this.step
    const reportedAt = this.reportedAt ?? 0
    // A request that is never answered takes all the time that the last edits have.
    const hadNoAnswer = githubRequests.some(
      ({ at, status }) => at >= reportedAt && typeof status !== 'number',
    )
    return hadNoAnswer || endedAt >= reportedAt + 20_000 || endedAt >= this.cancelledAt + 3_000
  }

  /**
   * Whether an edit of the comment went out that never came as a whole: the time was up on its way.
   */
  get lostEdit(): boolean {
    const sent = this.lines.filter((line) => /^::debug::PATCH \S+\/comments\/\d+ /.test(line))
    const came = this.step.githubRequests.filter(
      ({ method, path, body }) =>
        method === 'PATCH' && path.includes('/comments/') && body !== undefined,
    )
    return sent.length > came.length && this.#hadNoTime
  }

  /** What the comment decided, in each way in which its list may have been read. */
  shown(): (Marker | undefined)[] {
    return shownTo(this.step).map(
      (list) =>
        list.filter((shown) => this.#isOfThisStep(shown)).sort((one, other) => other.id - one.id)[0]
          ?.marker,
    )
  }

  /**
   * Whether a marker is of this step in another run or attempt: whoever signed it has the same key
   * for the step.
   */
  #isOfThisStep({ at: shownAt, id, marker }: Shown): boolean {
    const text = JSON.stringify(marker)
    const writes = this.record.steps.flatMap((step) =>
      writtenBy(step)
        .filter((one) => one.id === id && JSON.stringify(one.marker) === text)
        .map(({ at }) => ({ at, by: step, ...step.plan })),
    )
    // A run that sends nothing signs anew what the one before has stored.
    const last = writes
      .filter(({ at }) => at <= shownAt)
      .sort((one, other) => other.at - one.at)
      .find(({ by }) => by !== this.step)
    if (last === undefined || last.workflow !== this.step.plan.workflow) return false
    const { inputs } = last
    const isSame = (input: string) => (inputs[input] ?? '') === (this.inputs[input] ?? '')
    const isKeyKnown = isSame('api-key') || inputs['api-key'] === this.inputs['previous-api-key']
    return isSame('job-key') && isSame('project-id') && isKeyKnown
  }
}

export const isObject = ({ status, answered }: Received): boolean =>
  status === 200 && answered.startsWith('{')

/** Whether a step keeps its memory in a comment. */
function keepsComment({ plan: { inputs, task } }: StepRecord, number: number | undefined): boolean {
  const scope = inputs['job-scope']
  if (task !== 'create' || inputs['dry-run'] === 'true') return false
  if (scope === 'issue') return true
  return (
    scope === 'pull-request' && (number === PULL_REQUEST || inputs['issue-number'] !== undefined)
  )
}

/** The only one is `malformed` if the runner could not read the file. */
export function readOutputs(file: string): Readonly<Record<string, string>> {
  try {
    return parseOutputs(file)
  } catch (thrown) {
    return { malformed: String(thrown) }
  }
}

/** Of the response, or of the one that was to come. */
export function statusOf({ exchange }: Entry): number {
  return exchange.response.status
}

/** Whether a response came as a whole, and not larger than the action reads. */
function isWhole({ respondedAt, exchange }: Entry): boolean {
  return respondedAt !== undefined && exchange.response.body.length <= MAX_BYTES
}

export function isSuccess(entry: Entry): boolean {
  return isWhole(entry) && statusOf(entry) >= 200 && statusOf(entry) < 300
}

/**
 * A whole response to a status request that says something, and not the job; or what may be taken
 * for one.
 */
export function isRefusal(entry: Entry): boolean {
  const { framing, body } = entry.exchange.response
  if (entry.respondedAt === undefined ? framing !== 'close' : body.length > MAX_BYTES) return false
  const status = statusOf(entry)
  // Nobody can tell that a body that only the end of the connection delimits was cut.
  if (status < 300) return entry.respondedAt === undefined || jobIn(entry)?.id !== entry.jobId
  return status < 500 && !TEMPORARY.includes(status)
}

/**
 * Whether a gateway has refused: it writes pages; and what says something of the key or of a docs
 * job is JSON if it is the service's own, and a 404 of its own has an `error`.
 */
export function isForeign(entry: Entry): boolean {
  const { body, headers } = entry.exchange.response
  const [, type = ''] = headers.find(([name]) => name === 'content-type') ?? []
  const isOwn =
    type.includes('json') && body !== '' && (statusOf(entry) !== 404 || hasErrorIn(body))
  return /^\s*<[a-z!?]/i.test(body) || ([401, 403, 404].includes(statusOf(entry)) && !isOwn)
}

function hasErrorIn(body: string): boolean {
  try {
    const { error } = JSON.parse(body)
    return typeof error === 'string' && error !== ''
  } catch {
    return false
  }
}

export function isNotFound(entry: Entry): boolean {
  return statusOf(entry) === 404 && !isForeign(entry)
}

/** Whether a refusal says something about the job that the message was for. */
export function isAboutTheJob(entry: Entry): boolean {
  const status = statusOf(entry)
  const isRefused = status >= 400 && status < 500
  return isRefused && !isForeign(entry) && !NOT_OF_THE_JOB.includes(status)
}
