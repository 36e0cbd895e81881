/** Decides what the run does, by GitHub's data: skip, wait, message or create, and the prompt. */

import { areMerges, findRefusal } from './access/ask-github.js'
import { checkSkipLabels } from './access/skip-labels.js'
import type { Person } from './access/who-may-start.js'
import type { AgentService } from './agent/client.js'
import { findChanges, movesMark, readPull, readThread } from './context/changes/find.js'
import { findMergedPull, type MergedPull, readMergedGroup } from './context/changes/merged-pull.js'
import { hasSucceeded } from './context/changes/since-success.js'
import type { Thread } from './context/changes/types.js'
import { fingerprint } from './context/fingerprint.js'
import { NEXT_BEGINS } from './context/judge.js'
import { judgeWhole } from './context/judge-whole.js'
import { composePrompt } from './context/prompt/compose.js'
import { explainMissingSecrets, hasReadOnlyToken, isUnasked } from './event/event.js'
import { getPath, getString } from './event/payload.js'
import { createGitHub } from './github/client.js'
import { GitHubError } from './github/errors.js'
import { type Memory, type MemoryStep, openDocsPulls, openMemory } from './memory/memory.js'
import type { Skip } from './run/result.js'
import type { Step } from './run/step.js'
import type { Plan } from './run/task.js'
import { joinParagraphs, joinSentences } from './text/format.js'

/** What talks to GitHub. */
export type GitHubDoor = ReturnType<typeof openGitHub>

/** Each request names the permission that it needs. [github.permission.least] */
export function openGitHub(step: Step) {
  const { inputs, event } = step
  const { repository, actor } = step.environment
  const github = createGitHub({
    ...step,
    token: inputs.githubToken,
    fromFork: hasReadOnlyToken(event),
  })
  const repo = { github, repository }
  const docsPulls = openDocsPulls(step, repo)
  const missingSecrets = inputs.apiKey === '' ? explainMissingSecrets(event, actor) : undefined
  const said = new Set<string>()
  // Whoever had to wait plans again, and says nothing twice.
  const log = (line: string): void => {
    if (!said.has(line)) step.log(line)
    said.add(line)
  }
  return {
    /** Why these people must not start a job; undefined if they may. */
    findRefusal: (people: readonly Person[]) => findRefusal(people, repo, missingSecrets),
    readDocs: docsPulls.readAtEnd,
    /**
     * Decides what to do. Only reads: from GitHub, and the job's status from the service.
     *
     * @param mayBeMerges the commits that are by nobody in skip-authors: the run is skipped if all
     * are merges
     * @param keep gets what keeps the readers up to date, if anything does
     * @throws ActionError `github` if something that decides can't be read
     * @throws Cancelled
     */
    planRun: planRun.bind(undefined, { ...step, log, repo, docsPulls }),
  }
}

/**
 * Finds out what the run is about. The agent's own merged work must start nothing.
 * [skip.authors.merged] On a locked pull request nobody can comment, and the docs job goes on.
 * [memory.locked]
 */
async function planRun(
  step: MemoryStep,
  mayBeMerges: readonly string[] | undefined,
  service: AgentService,
  keep: (comment: Memory['comment']) => void,
): Promise<Plan> {
  const { repo, log } = step
  const skip = (reason: string): Plan => ({ kind: 'skip', skip: { reason } })
  if (mayBeMerges !== undefined && (await areMerges(mayBeMerges, repo)))
    return skip('every non-merge commit in the push is by an account in skip-authors')
  const found = await findMergedPull(step, repo)
  if (step.inputs.skipAuthors.has(getString(found, 'pull.user.login').toLowerCase()))
    return skip('the push merged a pull request by an account in skip-authors')
  const merged = found?.isConsent ? found.pull : undefined
  const isLocked = getPath(merged, 'locked') === true
  const unnamed = merged ? '' : ', but not as GitHub merges one, so the run is about the push'
  const but = isLocked ? ', whose conversation is locked, so no comment is written' : unnamed
  if (found !== undefined) log(`This push merged pull request ${found.pull.number}${but}.`)
  const inputs = { ...step.inputs, issueNumber: merged?.number ?? step.inputs.issueNumber }
  const about = { ...step, inputs }
  const memory = openMemory(about, merged !== undefined)
  if (!inputs.dryRun && !isLocked) keep(memory.comment)
  return planAbout(about, found, memory, service)
}

/**
 * Once it is known what the run is about. A docs job that is only waited for is paid already, so no
 * label counts. [skip.wait.never]
 */
async function planAbout(
  step: MemoryStep,
  found: MergedPull | undefined,
  memory: Memory,
  service: AgentService,
): Promise<Plan> {
  const { inputs, environment, event, repo, log, tell } = step
  const skipAndStop = (skip: Skip): Plan => {
    memory.comment?.stop() // A skipped run is no news for those who read the comment.
    return { kind: 'skip', skip }
  }
  const named = found?.isConsent ? { isPull: true, data: found.pull } : await readNamed(step)
  const recalled = await memory.recall(service)
  if (recalled?.kind === 'attach') return recalled
  const { task } = inputs
  if (task.kind === 'attach') return task
  const labelled = await findSkipLabel(step, [found?.pull, named?.data])
  // Without the changes, a job would be paid that can't know what changed.
  const needsChanges = inputs.context !== 'none' || inputs.contextPaths.length > 0
  const isElsewhere = inputs.codeRepositories.length > 0
  if (labelled !== undefined) {
    const isMark = needsChanges && !named?.isPull && movesMark(environment, isElsewhere)
    return skipAndStop({ advice: isMark ? NEXT_BEGINS : undefined, ...labelled })
  }
  const find = isElsewhere
    ? (await import('./context/other-repositories.js')).findElsewhere
    : findChanges
  const all = needsChanges ? await find(step, repo, named) : undefined
  if (all && 'reason' in all) return skipAndStop(all)
  const thread = all === undefined ? named : all.thread
  const isOpen = thread?.isPull === true && getString(thread.data, 'state') === 'open'
  if (isOpen || (all === undefined && mayNamePull(step, named))) tell({ kind: 'code-is-open' })
  if (inputs.since !== '' && all?.bySince === false)
    log('since was ignored: the run is about a pull request, a merge group or a deletion.')
  // GitHub's list of runs doesn't say what they were about.
  if (all && thread?.isPull && movesMark(environment))
    log('If this workflow has a schedule, its next run begins here.')
  const whole = all && (await judgeWhole(inputs, event.name, all, repo))
  const { findings, judged } = whole ?? {}
  if (judged?.kind === 'skip') return skipAndStop(judged.skip)
  const { isMark, bySince } = findings ?? {}
  // What is remembered knows more of a re-run.
  if (isMark && !bySince && !memory.comment?.isMemory) {
    if (await hasSucceeded(environment, repo)) return skipAndStop(ALREADY_SENT)
    tell({ kind: 'sent-once' })
  }
  if (isMark && inputs.dryRun) tell({ kind: 'noted', text: MOVES_MARK })
  if (judged?.kind === 'note') tell({ kind: 'noted', text: judged.note })
  // If a part of the changes isn't known, they are equal to no others.
  const fingerprints = memory.keyed(
    fingerprint(task.prompt, findings, inputs, event.payload) ?? step.nonce(),
  )
  let omit = (text: string, isAll = false) => (isAll ? tell({ kind: 'noted', text }) : log(text))
  const composeWith = (more?: string): string => {
    const prompt = composePrompt(joinParagraphs([task.prompt, more]), findings, step, omit)
    omit = () => undefined // Once: it may be composed again.
    return prompt
  }
  const refuse = async (): Promise<Plan | undefined> => {
    const closed = await findClosed(step, findings !== undefined || memory.comment?.isMemory)
    return closed && skipAndStop(closed)
  }
  const look = async (): Promise<Plan> =>
    (await refuse()) ?? { ...task, prompt: composeWith(), fingerprint: fingerprints[0], look }
  const plan = await (recalled ? recalled.plan(fingerprints, composeWith, refuse) : look())
  return { ...plan, isPrivate: findings?.isPrivate }
}

/** Green says nothing of what was sent: the step may have had `continue-on-error`. */
const ALREADY_SENT: Skip = {
  reason: 'this is a re-run, and an earlier attempt was green, so the changes count as sent',
  advice: 'To send them, start the workflow by hand, with since.',
}

/** A dry run that succeeds is one that the next run takes for done. [range.dry-run] */
const MOVES_MARK =
  'The next run begins where this dry run ended. To send what it showed, start the workflow by hand, with the same since, or with since set to where its changes begin.'

/**
 * Why nobody wants docs any more, if somebody closed the pull request while the run waited: for a
 * runner, for an approval, or for the run before. Whoever re-runs it asks. Only what is seen stops
 * it. [skip.closed-meanwhile]
 *
 * @param isNeeded nothing is sent if GitHub is down
 */
async function findClosed(
  { event, environment, repo, log }: MemoryStep,
  isNeeded = false,
): Promise<Skip | undefined> {
  const { number } = event.pullRequest ?? {}
  const isAsked = environment.runAttempt > 1 || !isUnasked(event)
  if (number === undefined || isAsked) return undefined
  const pull = await readPull(number, repo, isNeeded).catch((thrown) => {
    if (!(thrown instanceof GitHubError) || (isNeeded && thrown.kind === 'temporary')) throw thrown
    log(joinSentences(thrown.message, 'It counts as open.', thrown.advice))
  })
  if (pull?.state !== 'closed' || pull.merged) return undefined
  return { reason: `pull request ${number} was closed without a merge while this run waited` }
}

/**
 * Whether a number that nothing was read of may be an open pull request's; with `job-scope: issue`,
 * it is meant as an issue's.
 */
function mayNamePull({ inputs, event }: MemoryStep, named: Thread | undefined): boolean {
  const { issueNumber, jobScope } = inputs
  const isUnread = named === undefined && event.pullRequest === undefined
  return isUnread && jobScope !== 'issue' && ![undefined, event.issue].includes(issueNumber)
}

/**
 * Why the labels of what the run is about, or of what a push of several merged, say no.
 * [skip.labels.no-effect]
 *
 * @throws ActionError `github`
 */
async function findSkipLabel(
  step: MemoryStep,
  others: readonly unknown[],
): Promise<Skip | undefined> {
  const { inputs, event, repo, log } = step
  const { skipLabels } = inputs
  if (skipLabels.size === 0) return undefined
  const isKnown = [...others, event.pullRequest, event.issue].some((one) => one !== undefined)
  const group = isKnown ? [] : await readMergedGroup(step, repo)
  if (!isKnown && group.length === 0)
    log('skip-labels was ignored: the run is about no single pull request or issue.')
  const skip = checkSkipLabels(event, skipLabels, [...others, ...group])
  const advice = 'For the docs of the others that were merged, start a workflow with issue-number.'
  return skip && group.length > 1 ? { ...skip, advice } : skip
}

/**
 * What `issue-number` names, if its labels count, or if it has to be an issue's.
 *
 * @throws ActionError `github`
 */
async function readNamed({ inputs, event, repo }: MemoryStep): Promise<Thread | undefined> {
  const { task, issueNumber, skipLabels, codeRepositories } = inputs
  const isRead = skipLabels.size + codeRepositories.length > 0
  if (issueNumber === undefined || task.kind === 'attach' || !isRead) return undefined
  const isOther = ![event.issue, event.pullRequest?.number].includes(issueNumber)
  return isOther ? readThread(issueNumber, repo) : undefined
}
