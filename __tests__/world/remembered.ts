/**
 * What a step finds of earlier ones: what GitHub has shown it, and what the service was really
 * sent.
 */

import { changesOf, countedIn, isCut, isWhole } from './changes.js'
import { FAILURES, PULL_REQUEST } from './draw.js'
import { numberOf } from './events.js'
import { ENDED, Facts, NOTHING } from './facts.js'
import type { Marker } from './memory.js'
import { type Entry, fateOf, isCreate, isMessage, jobIdIn, jobIn } from './service.js'

/** States of a request of which nobody knows whether it was accepted. */
const LOST = ['sending', 'unknown']
/** What the comment may have said. Nothing if its list was never shown. */
export function remembered(facts: Facts): (Marker | undefined)[] {
  return facts.hasComment ? facts.shown() : [undefined]
}

/** For each of these, what an earlier attempt left, if it left a job. */
function ownMarkers(facts: Facts): Marker[] {
  const { runId, attempt } = facts
  return remembered(facts).flatMap((one) =>
    one?.run === String(runId) && one.attempt !== attempt && one.jobId !== '' ? [one] : [],
  )
}

/** The jobs of an attempt before that nobody saw end. */
export function ownUnfinished(facts: Facts): string[] {
  const unfinished = ownMarkers(facts).filter(
    ({ state }) => ![...ENDED, ...NOTHING].includes(state),
  )
  return unfinished.map(({ jobId }) => jobId)
}

/**
 * The jobs of an attempt before that has told of its pull request, and knew that the last request
 * was accepted.
 */
export function ownTold(facts: Facts, isKnown: 'certainly' | 'maybe' = 'certainly'): string[] {
  const told = ownMarkers(facts).filter(({ state }) => state === 'pr-opened')
  return told
    .map(({ jobId }) => jobId)
    .filter((jobId) => {
      const last = lastPost(facts, jobId)
      // What another run sent at the same time, this one may not know of.
      const isOthers = last !== undefined && last.step.plan.runId !== facts.runId
      if (isKnown === 'maybe') return last?.isAccepted || isOthers
      return last?.isAccepted && last.isStored
    })
}

/**
 * Whether nobody knows what became of the message that an earlier attempt sent last, by the
 * service's own record.
 */
export function hasLostMessage(facts: Facts): boolean {
  const attempts = facts.before.filter(({ runId }) => runId === facts.runId)
  const shown = remembered(facts)
  const isOwn = shown.length > 0 && shown.every((one) => one?.run === String(facts.runId))
  const sender = attempts.findLast(({ posts }) => posts.length > 0)
  const last = sender?.posts.at(-1)
  if (!isOwn || !sender || !last || !isMessage(last) || fateOf(last) === 'refused') return false
  return (
    attempts.every(({ couldWrite }) => couldWrite) &&
    !(fateOf(last) === 'job' && sender.wasRead(last))
  )
}

/** Whether an earlier attempt's last request is unknown, whatever was shown. */
export function ownIsLost(facts: Facts): boolean {
  const markers = ownMarkers(facts)
  const isLost = markers.length === remembered(facts).length
  return markers.length > 0 && isLost && markers.every(({ state }) => LOST.includes(state))
}

/**
 * Whether somebody ended the docs pull request after the agent had got its last message, and before
 * a step has seen it end.
 */
export function isCutOff(facts: Facts, jobId: string, before = facts.step.endedAt): boolean {
  const { docsEndedAt } = facts.record
  const last = lastPost(facts, jobId, facts.index + 1)
  if (!last?.isAccepted || !isMessage(last.post)) return false
  // Else a later run doesn't know that it was sent.
  if (last.by < facts.index && (!last.isStored || wereTogether(facts))) return false
  const isSeen = facts.before.some(
    ({ index, outcome, reportedAt = 0 }) =>
      index >= last.by && ENDED.includes(outcome) && reportedAt < docsEndedAt,
  )
  // The docs job may have opened another one since.
  const [, named] = /The pull request (\S+) is already open/.exec(last.post.body) ?? []
  const isNamed = named !== undefined && [named, ''].includes(facts.outputs['pr-link'] ?? '')
  return isNamed && !isSeen && last.post.startedAt < docsEndedAt && docsEndedAt < before
}

/** Several steps were under way: one may have written over what another one stored. */
function wereTogether({ plan }: Facts): boolean {
  return plan.steps.some(({ starts }) => starts.after !== 'end')
}

/** A step says that what the agent wrote last may have missed its pull request. */
export const MISSED = /wrote last may be missing/

/**
 * What was sent to a job last, before this step, and was not refused; and whether its sender could
 * store in this step's comment what became of it.
 */
function lastPost(facts: Facts, jobId: string, until = facts.index) {
  const { record, step, inputs } = facts
  const isOfJob = (post: Entry) =>
    (isMessage(post) && jobIdIn(post) === jobId) || (isCreate(post) && jobIn(post)?.id === jobId)
  const posts = record.steps
    .slice(0, until)
    .flatMap((earlier, by) => earlier.entries.map((post) => ({ post, by, step: earlier })))
    .filter(({ post }) => isOfJob(post) && fateOf(post) !== 'refused')
  const last = posts.sort((one, other) => one.post.startedAt - other.post.startedAt).at(-1)
  if (last === undefined) return undefined
  const sender = new Facts(record, last.by)
  const isAccepted = fateOf(last.post) === 'job' && sender.wasRead(last.post)
  const isSame =
    sender.step.plan.workflow === step.plan.workflow &&
    sender.inputs['job-key'] === inputs['job-key']
  const isStored =
    isSame &&
    sender.written.some(
      ({ at, tookEffect, marker }) =>
        tookEffect && at >= last.post.startedAt && marker.state !== 'sending',
    )
  return { ...last, isAccepted, isStored }
}

/**
 * Whether the job that is remembered has what this step would send; undefined if nobody can tell,
 * as when several steps were under way, or one could not store what it knew.
 */
export function hasTheSame(facts: Facts, marker: Marker): boolean | undefined {
  const { record, step } = facts
  if (wereTogether(facts)) return undefined
  if (marker.jobId === '' || LOST.includes(marker.state)) return false
  const last = lastPost(facts, marker.jobId)
  const storedBy = record.steps.findIndex(
    ({ plan }) =>
      String(plan.runId) === marker.run &&
      plan.attempt === marker.attempt &&
      plan.workflow === step.plan.workflow,
  )
  if (!last?.isStored || storedBy < last.by) return undefined
  // What was merged too early is sent again, as a reader was told.
  const teller = facts.before.findLast(
    ({ index, step }) => index >= last.by && MISSED.test(step.stdout),
  )
  const isKnown = teller?.couldWrite && teller.index === storedBy
  if (teller) return isKnown && facts.docsPull === 'merged' ? false : undefined
  // A range that GitHub cuts is read in parts, for diffs alone.
  if (isCutOff(facts, marker.jobId) || isCut(facts)) return undefined
  const own = contentOf(facts)
  return last.isAccepted && own !== undefined && own === contentOf(new Facts(record, last.by))
}

/**
 * What a step sends, but for the line numbers in diffs; undefined if a part is unknown, or cut:
 * what was removed from history is in no list.
 */
function contentOf(facts: Facts): string | undefined {
  const { inputs, event, number, step } = facts
  const { pull } = step.plan
  const { prompt, 'prompt-file': file, context } = inputs
  const changes = changesOf(facts, { ...pull, lines: 0 })
  if (changes === undefined || context === 'none' || !isWhole(facts)) return undefined
  // GitHub had no list of it, as it may say once.
  if (facts.requestsTo(/\/files\?|\/compare\//).some(({ status }) => status === 422))
    return undefined
  // Those of an issue that a step names stay as they are.
  const named = number === PULL_REQUEST ? pull : undefined
  const words = numberOf(event) === undefined ? named : event.words
  const told = [prompt, file, context, words?.title, words?.body]
  return JSON.stringify([...told, countedIn(changes, inputs)])
}

/** Whether nothing shows that a job can't go on, before this request. */
export function canGoOn(facts: Facts, jobId: string, post: Entry): boolean {
  const statuses = facts.polls(jobId, post.startedAt).map((poll) => facts.statusIn(poll))
  const hasFailed = statuses.some((status) => FAILURES.includes(status))
  return jobId !== '' && !facts.isGone(jobId, post.startedAt) && !hasFailed
}
