/** What is paid for is paid for once, and what somebody asked for on purpose is sent. */

import { DOCS_TOKEN, FAILURES, OWN_DOCS_LINK, PULL_REQUEST } from './draw.js'
import { HEAD, numberOf, shaOf } from './events.js'
import { ENDED, type Facts, isAboutTheJob, isObject, NOTHING } from './facts.js'
import { isByGateway } from './github-plan.js'
import { markersIn, strangersJobs } from './memory.js'
import {
  canGoOn,
  hasTheSame,
  isCutOff,
  MISSED,
  ownTold,
  ownUnfinished,
  remembered,
} from './remembered.js'
import type { Rule } from './rules.js'
import { unsaid } from './rules-text.js'
import { type Entry, fateOf, isCreate, isMessage, jobIdIn } from './service.js'

/** So soon, whoever was refused once asks again, with the time that a request travels. */
const LOOK_MS = 5_000

export const PAID_RULES = {
  /** Unless that is proven to be of no use. */
  *'a re-run waits for the job of the attempt before [memory.rerun.waits]'(facts) {
    const [first] = facts.posts
    if (first === undefined || facts.task !== 'create') return
    const unfinished = ownUnfinished(facts)
    const isWrong = unfinished.every((jobId) => !facts.isGone(jobId, first.startedAt))
    if (unfinished.length > 0 && unfinished.length === remembered(facts).length && isWrong)
      yield 'a re-run has a job to wait for, and sent something'
  },

  /** A closed one is asked for again, and so is a job that can't go on. */
  *'a re-run with an open docs pull request sends nothing [memory.rerun.reported]'(facts) {
    const [first] = facts.posts
    if (first === undefined || facts.task === 'attach' || mayBeOver(facts)) return
    const told = ownTold(facts)
    const isWrong = told.every((jobId) => canGoOn(facts, jobId, first))
    if (told.length > 0 && told.length === remembered(facts).length && isWrong)
      yield 'an earlier attempt has told of a pull request, and something was sent'
  },

  *'a push, or a schedule, does not send again what the docs job has [paid.push.unchanged] [paid.schedule.unchanged]'(
    facts,
  ) {
    const { posts, hasComment } = facts
    const [first] = posts
    if (!isUnasked(facts) || !hasComment || first === undefined) return
    const shown = facts.shown()
    // If no run saw the docs job end, what it wrote last may not be in docs that were merged.
    const isWrong = shown.every(
      (one) =>
        one &&
        hasTheSame(facts, one) &&
        (isOver(facts)
          ? ENDED.includes(one.state) && !hadFailed(facts, one.jobId, 'failed')
          : canGoOn(facts, one.jobId, first)),
    )
    if (shown.length > 0 && isWrong) yield 'the same was sent again'
  },

  *'a push, or a schedule, with nothing new does not tell of docs that are merged or closed [paid.push.merged]'(
    facts,
  ) {
    const { outcome, hasComment, task } = facts
    if (!isUnasked(facts) || !hasComment || !ENDED.includes(outcome)) return
    const shown = facts.shown()
    const isSame = shown.length > 0 && shown.every((one) => one && hasTheSame(facts, one))
    const isAsked = task === 'attach' || ownUnfinished(facts).length > 0
    if (isSame && !isAsked && facts.posts.length === 0 && isOver(facts)) yield `${outcome} was told`
  },

  /** A comment, a label, a button; an edited title, a file more; a message that may be lost. */
  *'what was asked for is sent [paid.asked.sends]'(facts) {
    const { posts, hasComment, isGitHubWell, task } = facts
    if (!facts.isEnd || posts.length > 0 || task === 'attach') return
    const isTold = ownTold(facts, 'maybe').length > 0 && !(isGitHubWell && isOver(facts))
    if (ownUnfinished(facts).length > 0 || isTold) return
    const mayWait = remembered(facts).some(
      (one) => one && hasTheSame(facts, one) !== false && !hadFailed(facts, one.jobId),
    )
    if (!isUnasked(facts) || !hasComment || !mayWait) yield `nothing was sent, and ${facts.says}`
  },

  /** Whoever closed it wants none. */
  *'a push asks for no docs that somebody has refused [memory.run.closed]'(facts) {
    const { plan, posts, number, event } = facts
    const isPushed = event.action === 'synchronize' && numberOf(event) === number
    const links = remembered(facts).map((marker) => marker?.link ?? '')
    const isKnown =
      (plan.theme === 'well' && links.length > 0 && links.every((link) => canRead(facts, link))) ||
      facts.docsPullAnswers.length > 0
    const isClosed = number === PULL_REQUEST && isKnown && facts.docsPull === 'closed'
    // What is refused may have left before the docs job had a link.
    const isLate = posts.some(({ startedAt }) => startedAt > (facts.docsPullAnswers[0]?.at ?? 0))
    // With job-scope run, nobody knows of it but a re-run, which asks anew.
    if (isPushed && isClosed && facts.hasComment && isLate)
      yield 'the docs pull request was closed without a merge, and something was sent'
  },

  /** After a 404 that was a gateway's, the message is sent once more. */
  *'a message that an ended job refuses gives way to a new job [send.message.ended]'(facts) {
    const { posts, step, task } = facts
    const messages = posts.filter(isMessage)
    const count = (status: number) =>
      messages.filter(({ exchange }) => exchange.response.status === status).length
    const [first] = messages
    if (first === undefined || task !== 'create') return
    const seen = step.entries.filter(
      ({ method, startedAt }) => method === 'GET' && startedAt < first.startedAt,
    )
    const status = seen.map((poll) => facts.statusIn(poll)).findLast((one) => one !== '')
    const later = facts.polls(first.jobId).filter(({ startedAt }) => startedAt > first.startedAt)
    const isBusy = later.some((poll) => facts.statusIn(poll) === 'active')
    if (status === 'completed' && !isBusy && count(409) > 3 * (1 + count(404)))
      yield `it was sent ${messages.length} times`
  },

  /** Whatever it asks for: only a limit, and who is busy, are waited for. */
  *'an ended job that refuses a message is looked at again at once [send.message.ended]'(facts) {
    const { posts, task, deadlineAt, hasComment, isUntold } = facts
    const [first] = posts
    if (task !== 'create' || !hasComment || !first || !isMessage(first) || isUntold) return
    const { respondedAt: at = 0, exchange } = first
    const isFinal = isAboutTheJob(first) && ![404, 409].includes(exchange.response.status)
    const seen = facts
      .polls(first.jobId, first.startedAt)
      .map((poll) => facts.statusIn(poll))
      .findLast((one) => one !== '')
    const endsAt = Math.min(deadlineAt, facts.cancelledAt, facts.thrownAt)
    const hadTime = facts.wasRead(first) && facts.laterByFreezes(at + LOOK_MS) < endsAt
    if (!isFinal || seen !== 'completed' || !hadTime || !facts.isReached) return
    const looks = facts.polls(first.jobId).filter(({ startedAt }) => startedAt > at)
    const isSoon = looks.some(({ startedAt }) => startedAt < facts.laterByFreezes(at + LOOK_MS))
    if (!isSoon) yield `${facts.says}`
  },

  /** It is paid, and works on what somebody else has asked for. */
  *'a docs job that the service calls active is never replaced [send.look-again]'(facts) {
    const { posts, task } = facts
    const [message, create] = [posts.find(isMessage), posts.findLast(isCreate)]
    if (task !== 'create' || !message || !create || create.startedAt < message.startedAt) return
    const { jobId } = message
    const last = facts
      .polls(jobId, create.startedAt)
      .findLast((poll) => facts.wasRead(poll) && facts.statusIn(poll) !== '')
    const docs = facts.docsPullBefore(create.startedAt)
    const isOver = docs === 'merged' || docs === 'closed'
    if (
      last &&
      facts.statusIn(last) === 'active' &&
      !isOver &&
      !facts.isGone(jobId, create.startedAt)
    )
      yield `docs job ${jobId} was active, and replaced`
  },

  *'whoever has waited behind a refusal looks again [send.look-again]'(facts) {
    const { posts, task, hasComment } = facts
    if (task !== 'create' || !hasComment) return
    const jobs = remembered(facts).map((one) => one?.jobId ?? '')
    for (const [index, next] of posts.slice(1).entries()) {
      const refused = posts[index] as Entry
      const [from, to] = [refused.startedAt, next.startedAt]
      const isLimited = [409, 410, 422, 429].includes(refused.exchange.response.status)
      if (!isLimited || !jobs.every((jobId) => jobId !== '')) continue
      const looks = jobs.flatMap((jobId) => facts.polls(jobId, to))
      if (!looks.some(({ startedAt }) => startedAt > from)) yield 'nobody looked before a retry'
    }
  },

  /** Its refusal says nothing of its end. */
  *'a docs job that is busy by now is asked to the deadline [send.look-again]'(facts) {
    const { posts, code, hasComment, usedItsTime, wasCancelled } = facts
    const last = posts.at(-1)
    if (code !== 'rejected' || !hasComment || !last || !isMessage(last)) return
    const looks = facts.polls(last.jobId).filter(({ startedAt }) => startedAt > last.startedAt)
    const isBusy = looks.some((poll) => facts.wasRead(poll) && facts.statusIn(poll) === 'active')
    const { status } = last.exchange.response
    // What was accepted is only polled; what is gone, nobody asks.
    const isRefused = status >= 400 && status !== 404
    if (isBusy && isRefused && !usedItsTime && !wasCancelled) yield `${facts.says}`
  },

  /** Whoever has a key that leaked can sign as well as the step. */
  *"what a stranger's comment says is never sent to, waited for or linked [memory.marker.author]"(
    facts,
  ) {
    const { step, givenJob, inputs } = facts
    if (!/^ghs_|^$/.test(inputs['github-token'] ?? '')) return
    const [own, others] = [facts.shown().map((one) => one?.jobId), strangersJobs(step)]
    const made = step.entries.filter(isCreate).map((entry) => entry.jobId)
    for (const jobId of others) {
      if (own.includes(jobId) || made.includes(jobId) || jobId === givenJob) continue
      if (step.entries.some((entry) => jobIdIn(entry) === jobId)) yield `docs job ${jobId} was used`
    }
  },

  *'a re-run of a night that succeeded sends nothing [range.rerun.green]'(facts) {
    if (isGreenAgain(facts) && facts.posts.length > 0) yield 'an earlier attempt has sent it'
  },

  *'what nobody asked for is not sent once it was closed [skip.closed-meanwhile] [send.look-again]'(
    facts,
  ) {
    if (!isRefusedMeanwhile(facts)) return
    const { closedAt } = facts.record
    const isSeen = ({ startedAt }: Entry) =>
      facts
        .requestsTo(/\/pulls\/1$/)
        .some((read) => isObject(read) && read.at > closedAt && read.at < startedAt)
    for (const [index, post] of facts.posts.entries()) {
      const waitedAt = facts.posts[index - 1]?.arrivedAt ?? facts.step.spawnedAt
      const mayKnow = facts.isGitHubWell && closedAt <= waitedAt
      if (mayKnow || isSeen(post))
        yield `POST ${index + 1} was sent, and the pull request was closed`
    }
  },

  /** Who obeys would pay again. */
  *'no text promises that a re-run sends nothing if it would send [report.advice.rerun]'(facts) {
    const { step, jobId, isAlone, isUntold, github, task, runId, attempt } = facts
    const isOthers = github?.others.some(({ what }) => what !== 'comments')
    if (task === 'attach' || isUntold || !isAlone || isOthers) return
    const isKept = markersIn(step.comments).some(
      (one) =>
        one.run === String(runId) &&
        one.attempt === attempt &&
        one.jobId === jobId &&
        ![...ENDED, ...NOTHING].includes(one.state),
    )
    const isPromised = [step.summary, ...facts.lines].some((text) =>
      /this step then sends nothing/.test(text),
    )
    if (isPromised && !isKept) yield 'no comment has its docs job'
  },

  /** GitHub tells nobody of what is added to a branch after that. */
  *'what the agent adds to docs that were merged or closed meanwhile is told [docs.ended-early]'(
    facts,
  ) {
    const { outcome, step, reportedAt = 0, outputs, record, before } = facts
    const isOpen = facts.github?.docsPull === 'open' && record.docsEndedAt > step.endedAt
    if (isOpen && MISSED.test(step.stdout)) yield 'it is open'
    const isOfLink = rememberedLinks(facts).includes(outputs['pr-link'] ?? '')
    if (facts.isUntold || !isOfLink || !isCutOff(facts, facts.jobId, reportedAt)) return
    // Whoever sees the end at the deadline has no time to ask GitHub.
    if ([...before, facts].some((one) => one.usedItsTime && ENDED.includes(one.outcome))) return
    if (outcome === 'skipped' && /docs pull request .* was merged/.test(step.summary))
      yield 'the push is skipped'
    const wasTold = before.some(
      ({ outcome, jobId }) => jobId === facts.jobId && ENDED.includes(outcome),
    )
    const looks = facts.docsPullReads.filter(({ at }) => at >= reportedAt)
    const wasAsked = looks.some(({ status }) => status !== 200)
    if (outcome !== 'pr-opened' || wasTold || wasAsked || !facts.isGitHubWell) return
    yield* unsaid(facts, MISSED)
  },

  /** A bill can be made from the output, and from logs. */
  *'what was sent is told [output.sent]'(facts) {
    const { isUntold, outputs, step } = facts
    if (isUntold) return
    const { sent = '' } = outputs
    const expected = sentBy(facts)
    if (!expected.includes(sent))
      yield `the output says ${sent || 'nothing'}, and it was ${expected}`
    const words = `Sent: ${SENT[sent]}`
    const [last] = facts.finished
    if (last && !last.line.includes(words)) yield `the last line of the log does not say ${words}`
    if (!step.summary.includes(words)) yield `the summary does not say ${words}`
  },
} satisfies Record<string, Rule>

const SENT: Readonly<Record<string, string>> = {
  job: 'a new docs job',
  message: 'a message',
  nothing: 'nothing',
}

/** What the service may have accepted, by its own record: more than one if nobody can tell. */
function sentBy(facts: Facts): string[] {
  const { posts, code, step, task } = facts
  const last = posts.findLast((post) => fateOf(post) !== 'refused' || !facts.wasRead(post))
  if (last === undefined) {
    // A request that was cut on its way never came, nor did a retry of one that was refused.
    const request = task === 'message' ? ['message'] : ['job', 'message']
    const mayBeCut = posts.length === 0 || facts.secondSignalAt <= step.endedAt
    return code === 'create-unknown' && mayBeCut ? request : ['nothing']
  }
  const kind = isCreate(last) ? 'job' : 'message'
  return ['job', 'no-job', 'unknown'].includes(fateOf(last)) ? [kind] : [kind, 'nothing']
}

/** Whether a job had failed, or ended as one of these, when the step first saw it. */
export function hadFailed(facts: Facts, jobId: string, ...as: string[]): boolean {
  const first = facts
    .polls(jobId)
    .find((poll) => facts.wasRead(poll) && facts.statusIn(poll) !== '')
  const failures = as.length > 0 ? as : FAILURES
  return first !== undefined && failures.includes(facts.statusIn(first))
}

/** A push asks for nothing on purpose, and neither does the clock; whoever re-runs a night does. */
export function isUnasked({ event, attempt }: Facts): boolean {
  return event.name === 'schedule' ? attempt === 1 : event.action === 'synchronize'
}

/**
 * Whether the docs pull request was merged or closed, and the step can read it: the one that it
 * asked for, which the service may have named since, or what is remembered.
 */
function isOver(facts: Facts): boolean {
  const links = facts.docsPullReads.map(
    ({ path }) => `https://github.com/${path.replace(/^\/repos\/(.*)\/pulls\//, '$1/pull/')}`,
  )
  const known = links.length > 0 ? links : rememberedLinks(facts)
  return mayBeOver(facts) && known.every((link) => canRead(facts, link))
}

export function mayBeOver(facts: Facts): boolean {
  // The service may name another pull request than the one that is remembered.
  const wasRead = facts.docsPullAnswers.length > 0
  return (
    facts.isDocsOver && (wasRead || rememberedLinks(facts).some((link) => canRead(facts, link)))
  )
}

function rememberedLinks(facts: Facts): string[] {
  return remembered(facts)
    .map((marker) => marker?.link ?? '')
    .filter((link) => link !== '')
}

function canRead({ inputs }: Facts, link: string): boolean {
  return link === OWN_DOCS_LINK || (link !== '' && inputs['docs-token'] === DOCS_TOKEN)
}

/**
 * Whether nothing has changed, as far as GitHub knows: there was no run before, or the agent alone
 * has worked since.
 */
export function hasNothingNew(facts: Facts): boolean {
  const { inputs, github, lastRun, compared, event } = facts
  const { context = 'none', 'issue-number': number, since } = inputs
  if (!asksForCommits(facts)) return false
  // The words of an issue that the step names are asked for as well.
  const hasWords = number !== undefined && context !== 'none'
  const isByHand = event.name === 'workflow_dispatch'
  // Whoever presses a button to get docs of what changed doesn't pay for a prompt without changes.
  const isWanted = isByHand && context !== 'diff'
  const isAsked =
    (isByHand && hasWords) || isWanted || /^issue|^discussion|comment/.test(event.name)
  if (!github) return !isAsked && !isByHand && listsNobodys(facts)
  if (event.name === 'push' && event.push === 'empty branch' && since === undefined)
    return !hasWords
  if (event.name === 'release' && event.action === 'deleted') return true
  // Then the commit of the run before is gone, or GitHub has no list, as far as it says at last.
  const whole = facts.requestsTo(/\/compare\//).find(({ status }) => status === 200)
  const last = whole ?? facts.requestsTo(/\/compare\//).at(-1)
  const isGone = last && [404, 406, 422].includes(Number(last.status)) && !isByGateway(last)
  if (github.undiffable || isGone) {
    if (since !== undefined || !['schedule', 'workflow_dispatch'].includes(event.name)) return false
  }
  if (since === undefined && (isByHand || event.name === 'schedule')) {
    if (lastRun === 'none') return !isAsked && !hasWords
    if (lastRun === 'lost') return isByHand && !isAsked
    if (lastRun === 'later' && !github.undiffable && !isGone) return !isAsked
  }
  // The head of a pull request has commits of its own.
  const isOfHead = event.name === 'merge_group' || shaOf(event) === HEAD
  const isByAgent = isOfHead
    ? listsNobodys(facts)
    : !isByHand && !github.committers.includes('octocat') && inputs['skip-authors'] !== ''
  // What was removed from history is in no list.
  const isParted = since !== undefined && compared === 'diverged'
  const isKnown = compared === 'ahead' || compared === 'undone' || isParted
  // By hand, with diffs: a list without a file leaves nothing to send.
  const isUndone = compared === 'undone' && (isByHand || event.name === 'schedule')
  const isSame = compared === 'identical' || isUndone
  // A merge group has a range of its own, whatever since says.
  const isOld =
    isSame || (since !== undefined && event.name !== 'merge_group' && compared === 'behind')
  // What a push has merged has no range.
  const isRange = event.name === 'schedule' || last?.status === 200
  const isNothing = isOld || (isKnown && isByAgent && !isByHand)
  return !isAsked && isRange && !github.undiffable && !isGone && isNothing
}

/**
 * Whether GitHub lists all commits, and they are merges, or by skip-authors, as of a merged group.
 */
function listsNobodys(facts: Facts): boolean {
  const own = facts.inputs['skip-authors']?.toLowerCase()
  const authors = own ? `${own} mintlify[bot]` : ''
  const [whole] = facts
    .requestsTo(/\/compare\//)
    .filter(({ status, answered }) => status === 200 && answered.startsWith('{'))
  const {
    status,
    total_commits,
    commits = [],
  } = JSON.parse(whole?.answered ?? '{}') as {
    status?: string
    total_commits?: number
    commits?: readonly { parents: readonly unknown[]; author?: { login: string } | null }[]
  }
  return (
    status === 'ahead' &&
    total_commits === commits.length &&
    commits.every(
      ({ parents, author }) =>
        parents.length > 1 || (author && authors.includes(author.login.toLowerCase())),
    )
  )
}

/** Whether what has changed is asked for, and no pull request says it. */
export function asksForCommits({ inputs, hasEvent, task }: Facts): boolean {
  const { context = 'none', 'context-paths': paths, 'issue-number': number } = inputs
  const hasContext = context !== 'none' || paths !== undefined
  return task !== 'attach' && hasEvent && hasContext && number !== String(PULL_REQUEST)
}

/** Whether a schedule or a manual run without a memory has succeeded in an earlier attempt. */
export function isGreenAgain(facts: Facts): boolean {
  const { event, attempt, runId, inputs, hasComment, before } = facts
  const isNight = ['schedule', 'workflow_dispatch'].includes(event.name)
  const isRange = isNight && inputs.since === undefined && asksForCommits(facts) && !hasComment
  return (
    isRange &&
    before.some((one) => one.runId === runId && one.attempt < attempt && one.step.exitCode === 0)
  )
}

/** Whether somebody closed the pull request, and nobody asks for docs but by a push or the like. */
export function isRefusedMeanwhile(facts: Facts): boolean {
  const { event, github, attempt } = facts
  const isUnasked = ['opened', 'synchronize', 'reopened', 'ready_for_review', 'edited'].includes(
    event.action,
  )
  const isOfPull = /^pull_request(?:_target)?$/.test(event.name) && event.pull === PULL_REQUEST
  const isClosed = facts.record.closedAt < facts.step.endedAt && github?.merges !== 'here'
  // Whoever re-runs it asks.
  return isClosed && isUnasked && isOfPull && attempt === 1
}
