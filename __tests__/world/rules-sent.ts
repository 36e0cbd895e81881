/**
 * What somebody asked for is in the service's record, or a reader was told why not. A reason counts
 * if the world can prove it from what it knows itself, whatever the step said.
 */

import { changesOf, countedIn, isWhole } from './changes.js'
import { headOf, numberOf } from './events.js'
import { type Facts, isObject } from './facts.js'
import type { StepPlan } from './plan.js'
import { hasLostMessage, hasTheSame, ownIsLost } from './remembered.js'
import type { Rule } from './rules.js'
import { hasBadInput } from './rules-ending.js'
import { isOfEarlierRun } from './rules-github.js'
import {
  asksForCommits,
  hadFailed,
  hasNothingNew,
  isGreenAgain,
  isRefusedMeanwhile,
  isUnasked,
  mayBeOver,
} from './rules-paid.js'
import { decodings, unsaid } from './rules-text.js'

/** For so long, GitHub is asked again, if the step has the time. */
const GITHUB_MS = 90_000
/** The longest pause between two of these. */
const RETRY_MS = 10_000

export const SENT_RULES = {
  *'what is skipped brings nothing [skip.list.cut]'(facts) {
    const { outcome, step, isByAgent, mayStart, isLabelled } = facts
    if (outcome !== 'skipped') return
    // With a file that is missing, it would have sent something.
    if (facts.onlyWaits) {
      if (!isByAgent && !step.isAboutOwn) yield 'a step that only waits was skipped'
    } else if (isByAgent || !mayStart || facts.isDenied || isLabelled || step.isAboutOwn) return
    else if (isRefusedMeanwhile(facts) || isGreenAgain(facts)) return
    else if (!hasNothingNew(facts) && !matchesNothing(facts) && !hasDocs(facts))
      yield 'nothing says that no docs are asked for'
  },

  *'what GitHub could say is no error [github.decides.retried]'(facts) {
    const { code, step, inputs, isGitHubWell, github, posts } = facts
    const { eventFile, lateMs, timeoutMs } = step.plan
    const isLate = lateMs + RETRY_MS > Math.min(GITHUB_MS, timeoutMs) || isPushedBack(step.plan)
    const isHindered = !isGitHubWell || facts.usedItsTime || eventFile !== undefined || isLate
    const isUnknown =
      inputs.since === 'unknown' || isLost(facts) || (github?.failing.length ?? 0) > 0
    if (code === 'github' && posts.length === 0 && !isHindered && !isUnknown)
      yield 'GitHub was well, and nothing was sent'
  },

  *'what is no bad input is not said to be [input.blank.default]'(facts) {
    const { code, inputs, step, record, runId } = facts
    const isAttempt = record.steps.some(({ plan }) => plan !== step.plan && plan.runId === runId)
    const hasNoIssue = inputs['job-scope'] === 'issue' && facts.number === undefined
    if (code === 'input' && !hasBadInput(inputs) && !isAttempt && !hasNoIssue)
      yield 'the inputs are good, and nothing was sent'
  },

  *'whoever gets nothing is told why [report.true]'(facts) {
    const { outcome, step, posts, isUntold, jobId, lines, isDryRun, isEnd, task } = facts
    if (isUntold || posts.length > 0 || isDryRun || task === 'attach') return
    const words =
      outcome === 'skipped' ? /Nothing was sent: \S/ : /To ask for docs again, run a step/
    if (outcome !== 'skipped' && !isEnd) return
    const isWritten = isEnd && facts.hasComment && facts.couldWrite && !isOfEarlierRun(facts)
    const texts = {
      'the log': lines.filter((line) => words.test(line)).join('\n'),
      'the summary': step.summary,
      ...(isWritten && { 'the comment': step.comments.join('\n') }),
    }
    for (const [where, text] of Object.entries(texts)) {
      const forms = [...decodings(text)]
      if (!words.test(text)) yield `${where} does not say it`
      else if (isEnd && !forms.some((form) => form.includes(jobId))) yield `${where} names no job`
    }
  },

  *'a message that may be lost is told of until it is known [memory.rerun.unknown]'(facts) {
    if (facts.isUntold || facts.posts.length > 0 || !facts.isEnd) return
    if (!hasLostMessage(facts) && !ownIsLost(facts)) return
    yield* unsaid(facts, /it may be lost/)
  },

  *'an agent is told of the docs pull request that is open [memory.run.open-pull]'(facts) {
    const { posts, hasComment } = facts
    if (!hasComment) return
    for (const { body, startedAt } of posts) {
      const read = facts.docsPullReads.findLast(({ at }) => at < startedAt)
      const [, name] = /^\/repos\/(.*)\/pulls\/17$/.exec(read?.path ?? '') ?? []
      const isOpen = read && isObject(read) && facts.docsPullBefore(startedAt) === 'open'
      if (!isOpen) continue
      if (!JSON.parse(body).prompt.includes(`https://github.com/${name}/pull/17`))
        yield `the prompt does not name ${name}#17`
    }
  },
} satisfies Record<string, Rule>

/** Whether nobody can know since when there are changes. A person who asks gets docs anyway. */
export function isLost(facts: Facts): boolean {
  const { inputs, lastRun, event } = facts
  const isNight = event.name === 'schedule' && inputs.since === undefined
  return isNight && asksForCommits(facts) && lastRun === 'lost'
}

/**
 * Whether a second push went back to the head before this one: no list tells that from a list that
 * is late.
 */
function isPushedBack({ event, attempt, pull }: StepPlan): boolean {
  const { action, before, head } = event
  const isFirst = action === 'synchronize' && attempt === 1
  return isFirst && before === headOf(pull) && before !== head
}

/** Whether there is a whole list of files, and no file in it counts. */
export function matchesNothing(facts: Facts): boolean {
  const { inputs, event } = facts
  const changes = changesOf(facts)
  const isByHand = event.name === 'workflow_dispatch' && inputs.context !== 'diff'
  if (inputs['context-paths'] === undefined || isByHand) return false
  return changes !== undefined && isWhole(facts) && countedIn(changes, inputs).length === 0
}

/**
 * Whether a push, or the clock, brings nothing new to docs that are merged or closed, or a push
 * whose docs nobody wants.
 */
function hasDocs(facts: Facts): boolean {
  const { inputs, number, event } = facts
  if (!isUnasked(facts) || !inputs['job-scope']) return false
  const isOwn = event.action === 'synchronize' && number === numberOf(event)
  // Nothing was accepted, so the last read of it decided.
  const isClosed = facts.docsPullBefore(facts.step.endedAt) === 'closed'
  if (isOwn && facts.docsPullAnswers.length > 0 && isClosed) return true
  if (!mayBeOver(facts)) return false
  return facts
    .shown()
    .some(
      (one) => one && hasTheSame(facts, one) !== false && !hadFailed(facts, one.jobId, 'failed'),
    )
}
