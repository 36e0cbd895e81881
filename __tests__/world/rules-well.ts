/**
 * What must come of a day on which nothing goes wrong. The other rules say what must not happen;
 * these demand.
 */

import { numberOf } from './events.js'
import type { Facts } from './facts.js'
import { ownUnfinished } from './remembered.js'
import type { Rule } from './rules.js'
import { isOfEarlierRun, looksTheSame } from './rules-github.js'
import { hasNothingNew, isGreenAgain, isUnasked } from './rules-paid.js'
import { isLost, matchesNothing } from './rules-sent.js'

export const WELL_RULES = {
  *'if nothing goes wrong, a step ends as planned [output.outcome]'(facts) {
    if (facts.plan.theme !== 'well') return
    const { outcome, code, outputs, jobId, posts } = facts
    const { ends, end } = plannedEnds(facts)
    const ended = `${outcome} ${code}`.trim()
    if (outcome === 'skipped' && isGreenAgain(facts)) return
    if (!ends.includes(ended)) yield `${ended || 'nothing'} instead of ${ends.join(' or ')}`
    if (![end.outcome, 'started'].includes(outcome)) return
    if (jobId === '') yield 'there is no job'
    const [, repository = '', number = ''] = /com\/(.*)\/pull\/(\d+)/.exec(end.link ?? '') ?? []
    const told = [outputs['pr-link'], outputs['pr-repository'], outputs['pr-number']].join(' ')
    if (outcome === end.outcome && end.link && told !== `${end.link} ${repository} ${number}`)
      yield `instead of ${end.link}: ${told}`
    if (posts.length > 1) yield `${posts.length} POSTs were sent`
  },

  *'if nothing goes wrong, the summary and the comment say what the agent changed [docs.files.told]'(
    facts,
  ) {
    const { plan, inputs, github, outcome, step, isDryRun } = facts
    if (plan.theme !== 'well' || outcome !== 'pr-opened' || github === undefined || isDryRun) return
    const asked = facts.requestsTo(/\/pulls\/17\/files\?/)
    const isAsked = inputs['job-scope'] || inputs.comment === 'true'
    if (isAsked && asked.length === 0) yield 'GitHub was not asked'
    // Not a page, which says nothing.
    if (!asked.some(({ status, answered }) => status === 200 && answered.startsWith('['))) return
    // If nothing depends on the comment, a read that fails is not repeated.
    const informs = inputs.comment === 'true' && github.failing.length === 0
    const isWritten = (facts.hasComment || informs) && !facts.isLocked && !isOfEarlierRun(facts)
    const texts = [step.summary, ...(isWritten ? step.comments.slice(-1) : [])]
    for (const text of texts)
      if (text.includes(facts.jobId) && !/^\d+\+? files?: .* \+\d+ −\d+(?:, …)?$/m.test(text))
        yield 'a text does not say it'
  },
} satisfies Record<string, Rule>

/** How the job ends, and all the ways in which the step may end. */
function plannedEnds(facts: Facts) {
  const { inputs, posts, event, task } = facts
  const end = plannedEnd(facts)
  const all = (...ends: string[]) => ({ ends, end })
  if (facts.isByAgent || !facts.mayStart) return all('skipped')
  if (looksTheSame(facts)) return all('error input')
  const isAlone = task !== 'attach' && ownUnfinished(facts).length === 0
  if (facts.isLabelled && isAlone) return all('skipped')
  const isOver = facts.isDocsOver && isUnasked(facts)
  const hasNothing = isAlone && (hasNothingNew(facts) || matchesNothing(facts))
  const maySkip = event.isOwnComment || (task !== 'attach' && (isOver || hasNothing))
  // Whoever names a number by issue-number has a memory there, or nothing.
  if ((isAlone && isLost(facts)) || (inputs['job-scope'] && facts.isLockedOut))
    return all('error github')
  // Without commits, whoever writes is asked for all the same.
  const hasCommits = facts.compared !== 'identical' && facts.compared !== 'behind'
  if (isAlone && hasCommits && numberOf(event) !== undefined && matchesNothing(facts))
    return all('skipped')
  const usual = facts.isDryRun ? 'dry-run' : inputs.wait === 'false' ? 'started' : end.outcome
  // A step that only waits asks once.
  const asksOnce = usual === 'started' && posts.length === 0
  return all(usual, ...(maySkip ? ['skipped'] : []), ...(asksOnce ? [end.outcome] : []))
}

/** The last answer to a status request is given again and again. */
function plannedEnd({ plan }: Facts): { readonly outcome: string; readonly link: string | null } {
  const { status, prLink: link } = JSON.parse(plan.service.gets.at(-1)?.response.body ?? '{}')
  return {
    outcome: status !== 'completed' ? status : link === null ? 'no-changes' : 'pr-opened',
    link,
  }
}
