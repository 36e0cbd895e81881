/** Decides what the run does, by GitHub's data: skip, wait, message or create, and the prompt. */

import { areMerges, findRefusal } from './access/ask-github.js'
import { checkSkipLabels } from './access/skip-labels.js'
import type { Person } from './access/who-may-start.js'
import type { AgentService } from './agent/client.js'
import { findChanges, readThread } from './context/changes/find.js'
import { findMergedPull, type MergedPull, readMergedGroup } from './context/changes/merged-pull.js'
import type { ChangedFile, Findings, Thread } from './context/changes/types.js'
import { fingerprint } from './context/fingerprint.js'
import { filesThatCount, judgeChanges } from './context/judge.js'
import { composePrompt } from './context/prompt/compose.js'
import { explainMissingSecrets, hasReadOnlyToken } from './event/event.js'
import { getPath, getString } from './event/payload.js'
import { createGitHub } from './github/client.js'
import type { Inputs } from './inputs/inputs.js'
import { type Memory, type MemoryStep, openDocsPulls, openMemory } from './memory/memory.js'
import type { Skip } from './run/result.js'
import type { Step } from './run/step.js'
import type { Plan } from './run/task.js'

/** What talks to GitHub. */
export type GitHubDoor = ReturnType<typeof openGitHub>

/** Each request names the permission that it needs. [github.permission.least] */
export function openGitHub(step: Step) {
  const { inputs, event, ...tools } = step
  const { repository, actor } = step.environment
  const github = createGitHub({
    ...tools,
    token: inputs.githubToken,
    fromFork: hasReadOnlyToken(event),
  })
  const repo = { github, repository }
  const docsPulls = openDocsPulls(step, repo)
  const missingSecrets = inputs.apiKey === '' ? explainMissingSecrets(event, actor) : undefined
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
    planRun: planRun.bind(undefined, { ...step, repo, docsPulls }),
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
  if (mayBeMerges !== undefined && (await areMerges(mayBeMerges, repo))) {
    const reason = 'every non-merge commit in the push is by an account in skip-authors'
    return { kind: 'skip', skip: { reason } }
  }
  const found = await findMergedPull(step, repo)
  if (step.inputs.skipAuthors.has(getString(found, 'pull.user.login').toLowerCase())) {
    const reason = 'the push merged a pull request by an account in skip-authors'
    return { kind: 'skip', skip: { reason } }
  }
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
    memory.stop() // A skipped run is no news for those who read the comment.
    return { kind: 'skip', skip }
  }
  const named = found?.isConsent ? { isPull: true, data: found.pull } : await readNamed(step)
  const recalled = await memory.recall(service)
  if (recalled?.kind === 'attach') return recalled
  const { task } = inputs
  if (task.kind === 'attach') return task
  const labelled = await findSkipLabel(step, [found?.pull, named?.data])
  if (labelled !== undefined) return skipAndStop(labelled)

  // Without them, a job would be paid that can't know what changed.
  const needsChanges = inputs.context !== 'none' || inputs.contextPaths.length > 0
  const all = needsChanges
    ? await findChanges(environment, event, repo, { ...inputs, thread: named })
    : undefined
  const thread = all === undefined ? named : all.thread
  const isOpen = thread?.isPull === true && getString(thread.data, 'state') === 'open'
  if (isOpen || (all === undefined && mayNamePull(step, named))) tell({ kind: 'code-is-open' })
  if (inputs.since !== '' && all?.bySince === false)
    log('since was ignored: the run is about a pull request, a merge group or a deletion.')
  const { findings, judged } = await judgeWhole(inputs, event.name, all)
  if (judged?.kind === 'skip') return skipAndStop(judged.skip)
  if (judged?.kind === 'note') tell({ kind: 'noted', text: judged.note, level: 'log' })
  // If a part of the changes isn't known, they are equal to no others.
  const fingerprints = memory.keyed(
    fingerprint(task.prompt, findings, inputs, event.payload) ?? step.nonce(),
  )
  const omit = (text: string, isAll = false): void =>
    isAll ? tell({ kind: 'noted', text, level: 'log' }) : log(text)
  const composeWith = (...more: string[]): string =>
    composePrompt([task.prompt, ...more].join('\n\n'), findings, step, omit)
  if (recalled !== undefined) return recalled.plan(fingerprints, composeWith)
  return { ...task, prompt: composeWith(), fingerprint: fingerprints[0] }
}

/**
 * Judged before parts are read: what is skipped takes no requests for them, and only diffs need
 * them. A list that was cut is then judged as a whole. [range.cut.judged]
 */
async function judgeWhole(inputs: Inputs, eventName: string, findings: Findings | undefined) {
  if (findings === undefined) return {}
  const { changes } = findings
  const judged = judgeChanges(inputs, eventName, findings)
  const readMore = changes.kind === 'listed' && inputs.context === 'diff' && changes.readMore
  if (!readMore || judged?.kind === 'skip') return { findings, judged }
  const counts = (file: ChangedFile): boolean => filesThatCount([file], inputs).length > 0
  // What is told of the range stays.
  const whole = { ...findings, changes: { ...changes, ...(await readMore(counts)) } }
  return { findings: whole, judged: judgeChanges(inputs, eventName, whole) }
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
 * What `issue-number` names, if its labels count.
 *
 * @throws ActionError `github`
 */
async function readNamed({ inputs, event, repo }: MemoryStep): Promise<Thread | undefined> {
  const { task, issueNumber, skipLabels } = inputs
  if (issueNumber === undefined || task.kind === 'attach' || skipLabels.size === 0) return undefined
  const isOther = ![event.issue, event.pullRequest?.number].includes(issueNumber)
  return isOther ? readThread(issueNumber, repo) : undefined
}
