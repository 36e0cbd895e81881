/** What is sent to the service and when, and what is made of its responses. */

import { DOCS_TOKEN, FAILURES, LATE_POLL_MS, TOKEN } from './draw.js'
import {
  ENDED,
  isAboutTheJob,
  isForeign,
  isNotFound,
  isRefusal,
  isSuccess,
  statusOf,
} from './facts.js'
import type { Rule } from './rules.js'
import { type Entry, fateOf, isCreate, isMessage, jobIdIn, jobIn } from './service.js'
import { EPOCH } from './timers.js'

/** For so long after a create, a job may not show yet. */
const GRACE_MS = 30_000
/** For so long after a message, an end may be the one from before it. */
const SETTLE_MS = 30_000
/** A link may come so long after the end. */
const LINK_MS = 5_000
/**
 * The least part of an adaptive interval, with its jitter; and how long an address is tried that
 * never answers.
 */
const SHORTEST_INTERVAL_MS = 4_500
const UNREACHABLE_MS = 120_000
/** The longest wait between two attempts to connect, and the longest attempt. */
const CONNECT_MS = 20_000

export const SERVICE_RULES = {
  *'a request asks for what the step is about [secret.key.where]'({ step, inputs, plan, task }) {
    for (const entry of step.entries) {
      const { method, path, headers, body } = entry
      if (headers.authorization !== `Bearer ${inputs['api-key']}`)
        yield `${method} ${path} has no key`
      const sent = JSON.stringify(headers) + body
      if (sent.includes(TOKEN) || sent.includes(DOCS_TOKEN)) yield 'the service got a token'
      const project = encodeURIComponent(inputs['project-id'] ?? '')
      if (!path.startsWith(`/v2/agent/${project}/job`)) yield `${method} asks for ${path}`
      if (method === 'POST' && !('prompt' in JSON.parse(body))) yield 'a POST has no prompt'
      if (task !== 'create' && jobIdIn(entry) !== plan.knownJob)
        yield `asked for job ${jobIdIn(entry)}`
    }
  },

  *'a step that sends nothing sends nothing [access.wait.free]'({
    step,
    posts,
    isDryRun,
    code,
    task,
  }) {
    if (posts.length > 0 && task === 'attach') yield 'a step that only waits sent something'
    if (step.entries.length > 0 && isDryRun) yield 'a dry run asked the service'
    const isWritten = step.githubRequests.some(({ method }) => method !== 'GET')
    if (isWritten && isDryRun) yield 'a dry run wrote to GitHub'
    if (posts.length > 0 && code === 'input') yield 'the input is bad, and something was sent'
  },

  *'a POST is sent again only with proof that it was refused [send.never-twice]'(facts) {
    for (const index of facts.posts.slice(1).keys()) {
      const post = facts.posts[index] as Entry
      const status = statusOf(post)
      const isTemporary = status === 429 || (isMessage(post) && (status === 409 || status === 404))
      // To the same docs job, if that turns out to be busy; or it is replaced.
      const isReplaced = isMessage(post) && isAboutTheJob(post)
      if (!facts.mayBeRefused(post) || !(isTemporary || isReplaced))
        yield `POST ${index + 1} was sent again, and nothing proves that it was refused`
    }
  },

  *'Retry-After is waited for [send.limited]'(facts) {
    const { step, deadlineAt, lastPollMs, travelMs, posts } = facts
    const hasJumped = step.done.some(({ what }) => what === 'jump')
    for (const [index, entry] of step.entries.entries()) {
      const next = step.entries.slice(index + 1).find((other) => other.path === entry.path)
      const seconds = retryAfter(entry, hasJumped)
      const isPost = entry.method === 'POST'
      const isAsked = isPost ? statusOf(entry) === 429 : [429, 503].includes(statusOf(entry))
      if (next === undefined || seconds === undefined || !isAsked || !facts.wasRead(entry)) continue
      // The last poll is at the deadline, whatever the service asks for; a new job is another
      // matter.
      if (!isPost && next.startedAt >= deadlineAt - lastPollMs - travelMs) continue
      if (!isPost && posts.some(({ startedAt }) => startedAt > entry.startedAt)) continue
      const waitedMs = next.startedAt - (entry.respondedAt ?? 0)
      if (waitedMs < seconds * 1_000)
        yield `${entry.method} was sent again after ${waitedMs} ms, not ${seconds} s`
    }
  },

  *'a POST is the first request on its connection [net.post.new-connection]'({ step, posts }) {
    for (const { connection, startedAt } of posts)
      if (
        step.entries.some((other) => other.connection === connection && other.startedAt < startedAt)
      )
        yield `a POST was sent on connection ${connection}, which was used before`
  },

  *'what the service accepted is told [output.job-id]'(facts) {
    const { posts, jobId, givenJob, code, says } = facts
    const last = posts.at(-1)
    if (last === undefined) return
    const fate = fateOf(last)
    if (givenJob !== undefined && jobId !== givenJob && facts.fullAt > facts.step.endedAt)
      yield `the service answered with job ${givenJob}, job-id is ${jobId || 'empty'}`
    if (givenJob !== undefined && code === 'create-unknown')
      yield `the service answered with a job, ${says}`
    if (facts.gaveUpEarly(last)) yield `gave up on the POST before its time was up, ${says}`
    // If the process had to end at once, a retry may have begun that never arrived.
    const mayBeRetried =
      (statusOf(last) === 429 || isMessage(last)) && facts.secondSignalAt <= facts.step.endedAt
    if (fate === 'refused' && facts.wasRead(last) && !mayBeRetried && code === 'create-unknown')
      yield `the service refused, ${says}`
    if (facts.isUntold) return
    const isToldUnknown = code === 'create-unknown' || code === 'contract'
    if (!facts.mayBeRefused(last) && jobId === '' && !isToldUnknown)
      yield `the service may have accepted something, ${says}`
    if (fate === 'unknown' && code !== 'create-unknown')
      yield `nobody knows what became of the POST, ${says}`
  },

  *'what was refused is told as that, also if nobody can look behind it [send.look-again]'(facts) {
    const { posts, code, isReached, says, step } = facts
    const last = posts.at(-1)
    // What is planned after the look may be left no time.
    const isNext = step.stdout.includes('before the request could be sent')
    if (
      last &&
      code === 'network' &&
      !isNext &&
      isReached &&
      fateOf(last) === 'refused' &&
      facts.wasRead(last)
    )
      yield `the service refused with ${statusOf(last)}, ${says}`
  },

  /**
   * 4 requests in a row, over 10 s; never so soon after a create, of which the job may not show
   * yet.
   */
  *'a refused status request is believed when it is repeated [poll.refused]'(facts) {
    const { posts, code, jobId, step, says, isUntold, wasCancelled } = facts
    if (isUntold || wasCancelled) return
    const ofPolls = ['not-found', 'rejected', 'auth', 'contract'].includes(code)
    const last = posts.at(-1)
    if (!ofPolls || (last !== undefined && (facts.mayBeRefused(last) || fateOf(last) === 'no-job')))
      return
    if (!facts.isBelieved(jobId, step.endedAt))
      yield `${says} after refusals that were not repeated`
    const refusal = facts.polls(jobId).at(-1)
    const isEarly = last !== undefined && isCreate(last) && step.endedAt < last.startedAt + GRACE_MS
    if (isEarly && refusal !== undefined && statusOf(refusal) === 404)
      yield `${says} right after the create`
  },

  *'an error is the fault of an answer [output.error-code]'({
    step,
    code,
    isReached,
    says,
    usedItsTime,
  }) {
    const isBad = FAULTS[code]
    if (isBad !== undefined && isReached && !usedItsTime && !step.entries.some(isBad))
      yield `${says}, and no answer was like that`
  },

  /**
   * A remembered job is asked for, and then maybe waited for; and the last polls come too early for
   * one.
   */
  *'a refusal that was repeated ends the wait [poll.refused]'(facts) {
    const polls = facts.polls(facts.jobId)
    const newUntil = (facts.posts.findLast(isCreate)?.arrivedAt ?? 0) + GRACE_MS
    const mayBeNew = (one: Entry) => statusOf(one) === 404 && one.arrivedAt <= newUntil
    const isOther = (one: Entry) =>
      !isRefusal(one) || one.respondedAt === undefined || mayBeNew(one)
    const refusals = polls.length - polls.findLastIndex(isOther) - 1
    const waits = facts.hasComment ? 2 : 1
    if (refusals > 4 * waits + 1) yield `the job was refused ${refusals} times, ${facts.says}`
  },

  *'a job that runs has no end [poll.link.late]'(facts) {
    const { jobId, outcome } = facts
    if (!ENDED.includes(outcome) || facts.isUntold) return
    const last = facts.polls(jobId, facts.reportedAt).findLast((poll) => facts.wasRead(poll))
    if (last && facts.statusIn(last) === 'active') yield `the last answer says active: ${outcome}`
  },

  *'an end that may be the one from before a message is not told [poll.stale-end]'(facts) {
    const { posts, jobId, outcome, isUntold, reportedAt = 0, deadlineAt, lastPollMs } = facts
    const last = posts.at(-1)
    if (!ENDED.includes(outcome) || isUntold || !last || !isMessage(last)) return
    const settleMs = Math.min(SETTLE_MS, (deadlineAt - last.arrivedAt - lastPollMs) / 2)
    const answers = facts.polls(jobId, reportedAt).filter((poll) => facts.statusIn(poll) !== '')
    const since = answers.filter(({ startedAt }) => startedAt > last.startedAt)
    const told = ['completed', ...FAILURES].includes(facts.statusIn(last))
    const before = told ? last : answers[answers.indexOf(since[0] as Entry) - 1]
    const ends = [...(before ? [before] : []), ...since].map((one) => one.exchange.response.body)
    const isOne = new Set(ends.map(endIn)).size === 1
    if (before && since.length > 0 && isOne && reportedAt < last.sentAt + settleMs)
      yield `${facts.says}`
  },

  *'a job that ended without a link is asked for once more [poll.link.late]'(facts) {
    const { jobId, outcome, deadlineAt, travelMs, inputs } = facts
    if (outcome !== 'no-changes' || inputs.wait === 'false') return
    const ends = facts.step.entries.filter(
      (entry) => facts.statusIn(entry) === 'completed' && jobIn(entry)?.id === jobId,
    )
    // After a message, an end is not believed at once.
    const first = facts.posts.some(isMessage) ? undefined : ends[0]
    if (first === undefined || jobIn(first)?.prLink) return
    if (facts.wasCancelled && facts.cancelledAt >= first.arrivedAt + LINK_MS) return
    if (!facts.isReached) return // The connection for it may not be made.
    const hadTime = first.arrivedAt + LINK_MS < deadlineAt - 2 * facts.lastPollMs - 4 * travelMs
    const isAsked = facts
      .polls(jobId)
      .some(({ startedAt: at }) => at - first.startedAt >= LINK_MS - travelMs)
    if (hadTime && !isAsked && facts.freezes.length === 0)
      yield 'the job ended without a link, and was not asked for once more'
  },

  *'polls keep their interval [poll.interval]'(facts) {
    const { inputs, deadlineAt, lastPollMs, travelMs, task } = facts
    const fixed = inputs['poll-interval-seconds']
    const intervalMs = fixed ? Number(fixed) * 1_000 : SHORTEST_INTERVAL_MS
    // Before it sends something, a step may ask for the job that is remembered.
    const sentAt =
      facts.posts.at(-1)?.startedAt ?? (task === 'attach' ? 0 : Number.POSITIVE_INFINITY)
    const polls = facts.polls(facts.jobId).filter(({ startedAt }) => startedAt > sentAt)
    for (const [index, next] of polls.slice(1).entries()) {
      const poll = polls[index] as Entry
      // A refusal is repeated sooner, and so is the last poll.
      if (!isSuccess(poll) || isRefusal(poll) || facts.statusIn(poll) !== 'active') continue
      if (next.startedAt >= deadlineAt - lastPollMs - travelMs) continue
      const waitedMs = next.startedAt - (poll.respondedAt ?? 0)
      if (waitedMs < intervalMs)
        yield `a poll came ${waitedMs} ms after the one before, not ${intervalMs} ms`
    }
  },

  *'there is a last poll at the deadline [poll.last]'(facts) {
    const { outcome, jobId, deadlineAt, lastPollMs, inputs, step } = facts
    if (outcome !== 'timed-out' || !facts.isReached || inputs.wait === 'false') return
    if (lastPollMs <= 5 * facts.travelMs) return
    // A response that comes that late leaves no time for it.
    if (facts.posts.some(({ arrivedAt }) => facts.thawedAt(arrivedAt) >= deadlineAt - lastPollMs))
      return
    if (facts.wasCancelled) return
    // What is left after a freeze may be too short; so may be one that the poll was cut off by.
    const lastPollAt = deadlineAt - lastPollMs
    const isShort = ({ from, to }: (typeof facts.freezes)[number]) =>
      to >= lastPollAt && to < deadlineAt + (from < lastPollAt ? 0 : LATE_POLL_MS)
    if (facts.freezes.some(isShort)) return
    const last = facts.polls(jobId).at(-1)
    if (last === undefined || last.startedAt < deadlineAt - lastPollMs)
      yield `the last poll came ${deadlineAt - (last?.startedAt ?? step.spawnedAt)} ms before the deadline`
  },

  *'an address that never answers is tried for 2 minutes [send.unconnected]'({
    step,
    code,
    github,
    freezes,
    plan,
  }) {
    if (code !== 'network' || step.entries.length > 0 || github !== undefined) return
    if (freezes.length > 0 || plan.proxy !== undefined) return
    const tookMs = step.endedAt - step.spawnedAt
    if (tookMs > UNREACHABLE_MS + CONNECT_MS)
      yield `an address that never answered was tried for ${tookMs} ms`
    if (tookMs < Math.min(step.plan.timeoutMs, UNREACHABLE_MS) - 2 * CONNECT_MS)
      yield `gave up after ${tookMs} ms`
  },
} satisfies Record<string, Rule>

/** The answers that an error may be told of. */
const FAULTS: Readonly<Record<string, (entry: Entry) => boolean>> = {
  auth: (entry) => [401, 403].includes(statusOf(entry)) && !isForeign(entry),
  'not-found': isNotFound,
  rejected: (entry) => statusOf(entry) >= 400 && statusOf(entry) < 500,
  'rate-limited': (entry) => statusOf(entry) === 429,
  contract: (entry) =>
    fateOf(entry) === 'any' ||
    (statusOf(entry) < 400 && (statusOf(entry) >= 300 || jobIn(entry)?.id !== entry.jobId)),
  network: (entry) => !isSuccess(entry),
}

/** What tells one end from another. */
function endIn(body: string): string {
  const { status, prLink, archivedAt } = JSON.parse(body)
  return JSON.stringify([status, prLink, archivedAt])
}

/** In seconds; undefined if the header is no number, and no date of a clock that jumps. */
function retryAfter({ exchange, respondedAt }: Entry, hasJumped: boolean): number | undefined {
  const [, value = ''] = exchange.response.headers.find(([name]) => name === 'retry-after') ?? []
  if (value.endsWith('GMT'))
    return hasJumped ? undefined : (Date.parse(value) - EPOCH - (respondedAt ?? 0)) / 1_000
  return /^\d+(?:\.\d+)?$/.test(value) && Number(value) > 0 ? Number(value) : undefined
}
