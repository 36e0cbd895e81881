/** Who may start a job, what GitHub remembers of it, and what the next run makes of that. */

import type { Received } from '../support/github.js'
import { DOCS_TOKEN, FAILURES, REPOSITORY } from './draw.js'
import { ENDED, type Facts, NOTHING } from './facts.js'
import { isByGateway } from './github-plan.js'
import { type Marker, markersIn, textIn, type Written } from './memory.js'
import { remembered } from './remembered.js'
import type { Rule } from './rules.js'
import { hasNothingNew } from './rules-paid.js'
import { fateOf, isCreate, isMessage, jobIdIn, jobIn } from './service.js'

export const GITHUB_RULES = {
  *'who may start no job, and what asks for none, starts nothing [access.permission.write]'(facts) {
    const { asked, mayStart, posts, record, step } = facts
    if (posts.length === 0) return
    // By a push, whoever pushes does not consent to the words of another author.
    if (!mayStart) yield `all of these must have write access: ${asked.join(', ')}`
    if (facts.isByAgent) yield 'the agent itself is the cause'
    if (facts.isLabelled) yield 'it has a label of skip-labels'
    if (hasNothingNew(facts)) yield 'nothing is new'
    if (looksTheSame(facts)) yield 'another step of this attempt looks the same'
    const keys = new Set(record.steps.map(({ plan }) => plan.inputs['api-key']))
    if (step.isAboutOwn && keys.size === 1) yield "the event is about the step's own comment"
  },

  *'what GitHub could not say starts nothing [github.decides.retried]'(facts) {
    const { step, posts, task } = facts
    const [first] = posts
    if (first === undefined || task === 'attach') return
    const reads = step.githubRequests.filter(
      (read) => read.method === 'GET' && read.at < first.startedAt && decides(facts, read),
    )
    // A request that failed is repeated, a list by fewer items.
    const ofList = ({ path }: Received): string => path.replace(/[?&](?:per_)?page=\d+/g, '')
    const last = new Map(reads.map((read) => [ofList(read), read]))
    for (const read of last.values())
      if (!isAnswer(read, facts))
        yield `${read.path} was answered with ${read.status}, and something was sent`
  },

  *'docs-token is used for the docs pull request alone [docs.token.when]'({ step }) {
    for (const { path, headers } of step.githubRequests) {
      const isDocs = headers.authorization?.includes(DOCS_TOKEN) === true
      const isDocsPull =
        /\/pulls\/\d+(?:\/files\?per_page=100)?$/.test(path) && !path.includes(REPOSITORY)
      if (isDocs && !isDocsPull) yield `docs-token was used for ${path}`
    }
  },

  *'a create is remembered before it is sent [send.placeholder.first]'(facts) {
    const { posts, hasComment, written, runId, attempt } = facts
    const create = posts.find((post) => isCreate(post))
    if (create === undefined || !hasComment) return
    const isThere = written.some(
      ({ at, marker, tookEffect }) =>
        tookEffect && at < create.startedAt && isBy(marker, runId, attempt),
    )
    if (!isThere) yield 'a create was sent that no comment remembers'
  },

  *'there is one comment [memory.one-comment]'(facts) {
    const { record, index, isGitHubWell, github, step } = facts
    const created = creations(step).filter(({ tookEffect }) => tookEffect)
    // One that was deleted, that GitHub says it doesn't have, or that moved to an earlier page, is
    // replaced.
    const deleted = github?.others.filter(({ what }) => what.startsWith('deletes')) ?? []
    const told = created.filter(({ status }) => status === 201)
    const ids = told.map(({ answered }) => JSON.parse(answered).id)
    const edited = new Set<string>()
    const denied = step.githubRequests.filter(({ method, path, status }) => {
      if (method !== 'PATCH') return false
      if (status !== 404) edited.add(path)
      const isNew = ids.some((id) => path.endsWith(`/${id}`))
      return status === 404 && (!isNew || edited.has(path))
    })
    if (github?.lagMs === 0 && created.length > 1 + deleted.length + denied.length)
      yield `a step made ${created.length} comments`
    if (!isGitHubWell || record.steps.some(({ plan }) => plan.starts.after === 'start')) return
    const names = markersIn(step.comments).map(({ name }) => name)
    const keys = new Set(record.steps.slice(0, index + 1).map(({ plan }) => plan.inputs['api-key']))
    for (const name of new Set(names)) {
      const count = names.filter((other) => other === name).length
      if (count > keys.size) yield `${count} comments of one step`
    }
  },

  /** GitHub has shown it to this step, and the end has no time for what a moment hides. */
  *'a comment that a step has edited, and that is gone at the end, is made anew at once [memory.one-comment.no-twin]'({
    step,
  }) {
    const edits = step.githubRequests.filter(({ method }) => method === 'PATCH')
    for (const [index, { path, status, body }] of edits.entries()) {
      const before = edits.slice(0, index).filter((one) => one.path === path && one.status === 200)
      // The answer to the first edit may have come when its time was up.
      const isEdited = before.length > 1
      const next = edits.slice(index + 1).some((one) => one.path === path)
      const isEnd = !/^⏳ (?:Waiting|Asking)/u.test(textIn(body))
      if (status === 404 && isEdited && isEnd && next) yield `${path} was asked for again`
    }
  },

  /** GitHub mails what is created. */
  *'a run that sent nothing makes no comment about that [memory.silent]'({
    step,
    posts,
    waits,
    task,
  }) {
    const text = textIn(creations(step)[0]?.body)
    const sendsNothing = posts.length === 0 && task !== 'attach' && !waits
    if (sendsNothing && /^(?:❌|🛑)/u.test(text)) yield `it begins with ${text.slice(0, 50)}`
  },

  *'what is remembered is what was told [memory.nothing-sent]'(facts) {
    const { outcome, code, hasComment, isDryRun } = facts
    if (!facts.couldWrite || isDryRun || facts.isUntold) return
    const isCancelled = outcome === 'cancelled' && code === '' && facts.givenJob !== undefined
    const isKnown = facts.isEnd || isCancelled
    if (!isKnown && code !== 'create-unknown') return
    if (hasComment && !isOfEarlierRun(facts)) yield* wrongMarker(facts, isKnown)
  },

  *'a later run continues the job that is remembered [memory.run.continues]'(facts) {
    const { entries } = facts.step
    if (!facts.hasComment || facts.posts.length === 0) return
    const problems = remembered(facts).map((marker) => {
      const { jobId = '' } = marker ?? {}
      if (jobId === '') return ''
      const shown = entries.map(jobIn).filter((job) => job?.id === jobId)
      const isOver = shown.some((job) => FAILURES.includes(job?.status ?? ''))
      for (const post of facts.posts) {
        if (isMessage(post) && jobIdIn(post) !== jobId)
          return `a message to ${jobIdIn(post)}, not to ${jobId}`
        const docs = facts.docsPullBefore(post.startedAt)
        if (!isCreate(post) || isOver || docs === 'merged' || docs === 'closed') continue
        const isGone = facts.isGone(jobId, post.startedAt) || facts.refusedAsEnded(jobId, post)
        if (!isGone) return `another job was created, and job ${jobId} is remembered`
      }
      return ''
    })
    if (problems.length > 0 && problems.every((text) => text !== '')) yield problems[0] as string
  },

  /** Unless it has made a new job, or was killed just before. */
  *"a re-run does not hide a later run's job [memory.later-run]"(facts) {
    const { runId, attempt } = facts
    if (attempt === 1 || facts.wasKilled || facts.lostEdit || facts.posts.some(isCreate)) return
    const last = facts.written.findLast((one) => !isRefused(one))
    const hides = last !== undefined && isBy(last.marker, runId, attempt)
    if (facts.hasComment && hides && showsLaterJob(facts))
      yield "a re-run wrote over a later run's marker"
  },

  /** The placeholder got through, and what was to follow it did not. */
  *"a re-run that sends nothing puts back a later run's job [memory.later-run]"(facts) {
    const { hasComment, posts, wasKilled, isAlone, secondSignalAt, step, runId, attempt } = facts
    if (attempt === 1 || !hasComment || !isAlone) return
    if (posts.some((post) => !facts.mayBeRefused(post))) return
    if (wasKilled || facts.lostEdit || secondSignalAt <= step.endedAt) return
    const writes = facts.written
    const isOwn = ({ marker }: Written) => isBy(marker, runId, attempt)
    const last = writes.at(-1)
    if (
      !writes.some(isRefused) &&
      showsLaterJob(facts) &&
      last &&
      isOwn(last) &&
      writes.some((one) => one.tookEffect && isOwn(one))
    )
      yield 'its placeholder took the place of a job, and it was left at that'
  },

  *'nothing is written in a conversation that is locked [memory.locked]'({ isLocked, step }) {
    const write = step.githubRequests.find(({ method }) => method !== 'GET')
    if (isLocked && write !== undefined) yield `it sent ${write.method} ${write.path}`
  },

  *'a push that merged nothing is about no pull request [merge.found]'({
    step,
    number,
    inputs,
    event,
  }) {
    if (event.name === 'push' && number === undefined && creations(step).length > 0)
      yield `it made a comment with ${inputs['job-scope']}`
  },
} satisfies Record<string, Rule>

/** The requests for a new comment. */
function creations({ githubRequests }: Facts['step']) {
  return githubRequests.filter(({ method, path }) => method === 'POST' && /\/comments$/.test(path))
}

/** Whether something depends on what GitHub answers: on all but what only informs, and parts. */
function decides(facts: Facts, { path, at }: Received): boolean {
  const whole = facts
    .requestsTo(/\/compare\/.*page=100/)
    .find((read) => read.status === 200 && !isByGateway(read))
  const isPart = whole !== undefined && at > whole.at && /\/compare\/|\/commits\/\w+\?/.test(path)
  // Whether it was closed meanwhile only stops what it asks GitHub for.
  const informs = facts.inputs.context === 'none' ? /\/comments\?|\/pulls\/1$/ : /\/comments\?/
  return !isPart && (facts.hasComment || !informs.test(path))
}

/**
 * Whether GitHub said something: what was asked for, or by a refusal that there is no such thing.
 */
function isAnswer(read: Received, { github, event, inputs }: Facts): boolean {
  const { path, status, answered } = read
  if (isByGateway(read)) return false
  if (status === 200) return true
  if (typeof status !== 'number' || /rate limit/i.test(answered)) return false
  const cannotList = [406, 422].includes(status) || /^Sorry, /.test(messageIn(answered))
  if (cannotList && /\/files\?|\/compare\//.test(path)) return true
  const isNamed = event.name !== 'push' || inputs['issue-number'] !== undefined
  const [, refusals = []] = [
    // Whatever can't be read of the docs pull request, it may be open.
    [/\/pulls\/17$/, [301, 400, 401, 403, 404, 422]],
    // What is no pull request is an issue.
    [/\/pulls\/\d+$/, isNamed ? [301, 401, 403, 404, 422] : [404]],
    [/\/issues\/\d+$/, github?.transferred ? [301] : []],
    [/\/compare\//, [404]],
    [/\/commits\/\w+\/pulls/, github?.turnsOffPulls ? [404] : []],
  ].find(([pattern]) => (pattern as RegExp).test(path)) ?? [undefined, []]
  return (refusals as number[]).includes(status)
}

function messageIn(answered: string): string {
  try {
    return JSON.parse(answered)?.message ?? ''
  } catch {
    return ''
  }
}

const isBy = (marker: Marker, run: number, attempt: number): boolean =>
  marker.run === String(run) && marker.attempt === attempt

/** What GitHub refuses for good is not tried again. */
const isRefused = ({ status }: Written): boolean =>
  typeof status === 'number' && [401, 403, 404, 422].includes(status)

/** Whether another step of this attempt has stored something under the same name. */
export function looksTheSame(facts: Facts): boolean {
  const { runId, attempt } = facts
  // A list that is read anew has shown none of its first pages.
  const markers = remembered(facts).flatMap((marker) => marker ?? [])
  return (
    markers.length > 0 &&
    markers.every((marker) => isBy(marker, runId, attempt) && !NOTHING.includes(marker.state))
  )
}

/** Whether the comment had a later run's job, each time that it was read. */
function showsLaterJob(facts: Facts): boolean {
  const shown = facts.shown()
  return shown.length > 0 && shown.every((one) => one?.jobId && Number(one.run) > facts.runId)
}

/** What a later run stored stays. */
export function isOfEarlierRun(facts: Facts): boolean {
  return facts.shown().some((marker) => Number(marker?.run) > facts.runId)
}

/**
 * Whether a reader was told that nobody knows whether the docs pull request was open at the end,
 * and GitHub did not say so: then the end is not remembered, as what came last may have missed a
 * merge.
 */
function isUnseen(facts: Facts): boolean {
  const { outcome, jobId, docsPullAnswers, lines, travelMs, deadlineAt } = facts
  const ended = facts.polls(jobId).findLast((poll) => facts.statusIn(poll) === 'completed')
  const isTold = lines.some((line) => line.startsWith("GitHub didn't say whether the docs pull"))
  const isSaid = docsPullAnswers.some(
    ({ at }) => at > (ended?.startedAt ?? 0) && at + travelMs < deadlineAt,
  )
  return isTold && !isSaid && ['pr-opened', 'no-changes'].includes(outcome)
}

function* wrongMarker(facts: Facts, isKnown: boolean): Iterable<string> {
  const { outcome, jobId, written, runId, attempt } = facts
  const last = written.findLast(({ tookEffect }) => tookEffect)?.marker
  if (last === undefined || !isBy(last, runId, attempt)) {
    yield `the comment does not remember this attempt`
    return
  }
  const { state } = last
  if (!isKnown) {
    if (state !== 'unknown') yield `the comment remembers ${state}, and the result is unknown`
    // A later run would wait for the one before.
    const isNew = facts.posts.some((post) => isCreate(post) && fateOf(post) === 'unknown')
    if (isNew && last.jobId !== '')
      yield `the comment remembers job ${last.jobId}, and the new one is unknown`
    return
  }
  if (last.jobId !== jobId) yield `the comment remembers job ${last.jobId}, job-id is ${jobId}`
  const link = facts.outputs['pr-link'] ?? ''
  if (ENDED.includes(outcome) && link !== '' && last.link !== link)
    yield `the comment remembers ${last.link || 'no link'}, pr-link is ${link}`
  const isSeen = ENDED.includes(outcome) && !isUnseen(facts)
  if (ENDED.includes(state) !== isSeen)
    yield `the comment remembers ${state}, the outcome is ${outcome}`
}
