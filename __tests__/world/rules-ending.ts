/** How and when a step ends, and what it says of its end in the outputs. */

import { BAD_INPUTS, FAILURES, FINAL_POST_MS, LATE_POLL_MS } from './draw.js'
import { askedFor } from './events.js'
import { ENDED } from './facts.js'
import type { Rule } from './rules.js'
import { isId, isMessage, jobIn, REQUEST_MS } from './service.js'

const STATUSES = ['active', 'completed', ...FAILURES]
const OUTPUTS = 'job-id status pr-link pr-number pr-repository outcome error-code sent'.split(' ')
const LINK = /^https?:\/\/[A-Za-z0-9._~:/?#@%=+,-]+$/

/**
 * How long the comment may take: after a cancel; and after the deadline, when a creation that is in
 * flight has 0.5 s, the last edit has 20 s (30 s, if the next run would not find the docs job), and
 * one with a note that came with it has as long again.
 */
const EDITS_MS = { cancelled: 3_000, informs: 40_500, decides: 60_500 }
/** How long a step with bad input has to say so. */
const BAD_INPUT_MS = 60_000
/** How soon after its start a step may send its request. */
const FIRST_POST_MS = 20
/** Node's shortest timer. */
const TIMER_MS = 1
/** How soon after a cancel everything but the comment is written. */
const REPORT_MS = 1_000

export const ENDING_RULES = {
  *'a step ends with 0 or 1 [output.exit-code]'({ step, wasKilled, isUntold, outcome, inputs }) {
    if (wasKilled) return
    const { exitCode, signal } = step
    if (exitCode !== 0 && exitCode !== 1) yield `ended with ${signal ?? exitCode}`
    if (isUntold) return
    const failOn = inputs['fail-on']?.split(/[\s,]+/) ?? [...FAILURES, 'timed-out']
    const fails = ['error', 'cancelled', ...failOn].includes(outcome)
    if (exitCode !== (fails ? 1 : 0)) yield `exit code ${exitCode} with ${outcome || 'no outcome'}`
  },

  *'a step ends by its deadline [net.deadline]'(facts) {
    const { step, deadlineAt, cancelledAt, github, wasKilled, inputs } = facts
    if (wasKilled) return
    const startedAt = step.wrote[0]?.at ?? step.spawnedAt
    // A step that starts after its deadline may send its request all the same.
    const firstPostAt = facts.posts[0]?.startedAt ?? 0
    const isPending = facts.isPostPendingAt(
      facts.thawedAt(Math.max(deadlineAt, Math.min(startedAt + FIRST_POST_MS, firstPostAt))),
    )
    const postMs = isPending ? FINAL_POST_MS : 0
    // The last poll has its time even if the response to the POST came in the last moment.
    const isDead = facts.plan.connecting.service.length > 0
    const firstPollAt =
      facts.polls(facts.jobId)[0]?.sentAt ?? (isDead ? Number.POSITIVE_INFINITY : 0)
    const isLate =
      facts.posts.some(
        ({ arrivedAt: at }) => at <= deadlineAt && at >= deadlineAt - facts.lastPollMs,
      ) ||
      startedAt >= deadlineAt - facts.lastPollMs ||
      (facts.posts.length === 0 && firstPollAt >= deadlineAt - facts.lastPollMs) ||
      facts.freezes.some(
        ({ from, to }) => from <= deadlineAt + TIMER_MS && to >= deadlineAt - facts.lastPollMs,
      )
    const limit =
      (hasBadInput(inputs) ? startedAt + BAD_INPUT_MS : Math.max(deadlineAt, startedAt)) +
      postMs +
      (isLate ? LATE_POLL_MS + TIMER_MS : 0) +
      (github === undefined ? 0 : EDITS_MS[facts.hasComment ? 'decides' : 'informs'])
    // A cancel before that has its own time.
    const afterCancel =
      cancelledAt <= limit ? cancelledAt + postMs + REPORT_MS + EDITS_MS.cancelled : 0
    const lateMs = step.endedAt - facts.laterByFreezes(Math.max(limit, afterCancel) + TIMER_MS)
    if (lateMs > 0) yield `ended ${lateMs} ms too late after its deadline`
  },

  *'a step ends soon after a signal [cancel.first]'(facts) {
    const { step, cancelledAt, secondSignalAt, github, wasCancelled, wasKilled } = facts
    if (!wasCancelled || wasKilled) return
    const postMs = facts.isPostPendingAt(cancelledAt) ? FINAL_POST_MS : 0
    const reportBy = facts.laterByFreezes(cancelledAt + postMs + REPORT_MS)
    const [reported] = facts.finished
    if (reported !== undefined && reported.at > reportBy)
      yield `reported its end ${reported.at - cancelledAt} ms after a signal`
    const editsMs = github === undefined ? 0 : EDITS_MS.cancelled
    const toldAt = Math.max(cancelledAt, reported?.at ?? 0)
    const lateMs = step.endedAt - facts.laterByFreezes(toldAt + editsMs + TIMER_MS)
    if (lateMs > 0) yield `ended ${lateMs} ms too late after a signal`
    if (secondSignalAt < step.endedAt)
      yield `ended ${step.endedAt - secondSignalAt} ms after a second signal`
  },

  *'the outputs are well-formed [output.unwritable]'({
    outputs,
    outcome,
    code,
    jobId,
    isUntold,
    thrownAt,
    step,
  }) {
    const { status = '', 'pr-link': link = '', malformed } = outputs
    if (malformed !== undefined) yield `the outputs are malformed: ${malformed}`
    if (isUntold) return
    for (const name of OUTPUTS) if (!(name in outputs)) yield `the output ${name} is missing`
    for (const name of Object.keys(outputs))
      if (!OUTPUTS.includes(name)) yield `there is an output ${name}`
    if (!['', ...STATUSES].includes(status)) yield `status is ${status}`
    const mayHaveCode = outcome === 'cancelled' && code === 'create-unknown'
    if ((code !== '') !== (outcome === 'error') && !mayHaveCode)
      yield `error-code ${code} with ${outcome}`
    if (code === 'internal' && thrownAt > step.endedAt) yield 'error-code is internal'
    if (link !== '' && (!LINK.test(link) || /\/\/[^/]*@/.test(link))) yield `pr-link is ${link}`
    if (jobId !== '' && !isId(jobId)) yield `job-id is ${jobId}`
  },

  *'a full disk loses no job [output.unwritable]'(facts) {
    const { step, givenJob, fullAt, lines } = facts
    if (
      fullAt >= (facts.reportedAt ?? 0) ||
      Math.min(facts.killedAt, facts.thrownAt) <= step.endedAt
    )
      return
    if (step.exitCode !== 1) yield `ended with ${step.exitCode}`
    if (!lines.some((line) => /^::error.*Writing the outputs failed/.test(line)))
      yield 'nobody is told'
    if (givenJob !== undefined && !lines.some((line) => line.includes(givenJob)))
      yield `job ${givenJob} is lost`
  },

  *'bad input is said to be bad [input.problems.together]'(facts) {
    const { inputs, outcome, code, wasCancelled, mayStart, isByAgent, step, event } = facts
    if (!hasBadInput(inputs) || facts.isUntold || wasCancelled || !mayStart || isByAgent) return
    if (facts.thrownAt <= facts.step.endedAt) return
    // Who may start a job is asked first, whatever is wrong with the prompt.
    const asked = askedFor(event, inputs['allow-users'] ?? '')
    const isStrangers = asked.some((person) => person !== 'writer')
    const maySkip = facts.isDenied || facts.isLabelled || step.isAboutOwn || isStrangers
    if (code !== 'input' && !(outcome === 'skipped' && maySkip))
      yield `the input is bad: ${outcome} ${code}`
  },

  *'the outputs say how the step ended [output.outcome]'({
    outputs,
    outcome,
    wasCancelled,
    isUntold,
    isDryRun,
    ...facts
  }) {
    if (isUntold) return
    const { status = '', 'pr-link': link = '' } = outputs
    const result = status === 'completed' ? (link === '' ? 'no-changes' : 'pr-opened') : status
    if (ENDED.includes(outcome) && outcome !== result)
      yield `${outcome} with ${status} and link ${link}`
    if (outcome === 'cancelled' && !wasCancelled) yield 'cancelled without a signal'
    if (outcome === 'timed-out' && !facts.usedItsTime) {
      yield `timed out after ${facts.step.endedAt - facts.step.spawnedAt} ms`
    }
    if (isDryRun && !['dry-run', 'skipped', 'cancelled', 'error'].includes(outcome))
      yield `a dry run says ${outcome}`
  },

  *'a job that was seen to end is told to have ended [report.true]'(facts) {
    const { index, inputs, step, posts, outcome, outputs } = facts
    // A later step also asks for the job of the step before it.
    if (index > 0 || inputs.wait === 'false' || facts.wasCancelled || facts.isUntold) return
    // One that is only remembered is not told.
    if (posts.some(isMessage) || (outputs.sent === 'nothing' && !facts.waits)) return
    for (const entry of step.entries) {
      const { method, respondedAt, arrivedAt } = entry
      if (method !== 'GET' || jobIn(entry)?.id !== facts.jobId || respondedAt === undefined)
        continue
      const status = facts.statusIn(entry)
      const link = JSON.parse(entry.exchange.response.body).prLink
      const isEnd = FAILURES.includes(status) || (status === 'completed' && isPlain(link))
      // The poll before the last one is given up for it.
      const limit = entry.sentAt < facts.deadlineAt - facts.lastPollMs ? facts.lastPollMs : 0
      const until = Math.min(facts.deadlineAt - limit, entry.sentAt + REQUEST_MS.GET)
      if (!isEnd || arrivedAt >= facts.thrownAt || !facts.arrivedBefore(arrivedAt, until)) continue
      if (!ENDED.includes(outcome) || outputs.status !== status)
        yield `the job was told to be ${status}, ${facts.says}`
    }
  },
} satisfies Record<string, Rule>

/** One that is drawn as bad, was so as the key of an earlier step, or has the key in it. */
export const hasBadInput = (inputs: Record<string, string>): boolean =>
  BAD_INPUTS.some((bad) => Object.entries(bad).every(([name, value]) => inputs[name] === value)) ||
  /\s/.test(inputs['previous-api-key'] ?? '') ||
  [inputs['api-key'], inputs['previous-api-key']].includes(inputs['job-key'] ?? 'none')

/** A link that is passed on as it is. */
function isPlain(link: unknown): boolean {
  return typeof link === 'string' && /^https:\/\/github\.com\/[\w/-]+$/.test(link)
}
