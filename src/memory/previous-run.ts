/** What an earlier run or attempt left for this run: the job to wait for or to continue. */

import { isFinalOutcome, type Job, parsePullRequest } from '../agent/job.js'
import { InputError } from '../inputs/inputs.js'
import { pollUntilDone } from '../run/poll.js'
import type { RunTools, Step } from '../run/step.js'
import type { Plan, Task } from '../run/task.js'
import { ActionError, WHERE_TO_LOOK } from '../text/errors.js'
import { oneLine, quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import type { Comment } from './comment.js'
import { decide, type Situation } from './decide.js'
import type { DocsPull } from './docs-pull.js'
import { NOTHING_SENT, type StoredState } from './marker.js'

interface PreviousRunContext
  extends Omit<RunTools, 'writePlaceholder'>,
    Pick<Step, 'environment' | 'event' | 'inputs'> {
  /** Where earlier runs stored their state. */
  readonly comment: Pick<Comment, 'find' | 'stop'>
  // [docs.open.unreadable]
  readonly readDocsPull: (link: string) => Promise<DocsPull>
}

/** What an earlier run left: what follows from it depends on what this run would send. */
type Earlier = Readonly<{
  kind: 'earlier'
  plan(fingerprints: Fingerprints, composeWith: (...more: string[]) => string): Promise<Plan>
}>

type Attach = Extract<Task, { kind: 'attach' }>

/**
 * Finds the job to continue, or for a re-run, to wait for. [memory.rerun.waits]
 *
 * @throws ActionError `github` if the comment can't be read, `input` if this very attempt has
 * stored something already
 */
export async function findPreviousRun(
  context: PreviousRunContext,
): Promise<Earlier | Attach | undefined> {
  const { environment, tell, comment, readDocsPull } = context
  const state = await comment.find()
  if (state === undefined) return undefined
  const isOfThisRun = state.run === environment.runId
  if (isOfThisRun && state.attempt === environment.runAttempt) refuseSameAttempt(state, comment)
  noteIfUnknown(state, context)
  const earlier = (
    /**
     * Asks the service, which a run that turns out to send nothing doesn't need.
     * [skip.service.unasked]
     */
    findJob: () => Promise<Situation['job']>,
    pull?: Situation['pull'],
  ): Earlier => ({
    kind: 'earlier',
    plan: async (...sent) => planFor(state, await findJob(), pull, ...sent, context),
  })
  const { jobId, link } = state
  if (jobId === '') return link === '' ? undefined : earlier(async () => undefined)
  tell({ kind: 'continuing', jobId, link })
  const by = isOfThisRun ? howItEnded(state) : undefined
  if (by === undefined) return earlier(() => getJobUnlessDry(jobId, context))
  const job = await getJobUnlessDry(jobId, context)
  const now = linkOf(state, job)
  const isReported = by === 'reported attempt' && now !== undefined
  const pull = isReported ? (await readDocsPull(now)).state : undefined
  // Whether there is news isn't known.
  const situation = situationOf(state, job, pull, true, context)
  const decision = decide({ ...situation, by })
  return decision.kind === 'wait'
    ? attachTo(state, job, decision.reason, context)
    : earlier(async () => job, pull)
}

/** As an earlier run left it. [memory.run.continues] */
function situationOf(
  state: StoredState,
  job: Situation['job'],
  pull: Situation['pull'],
  isNews: boolean,
  context: PreviousRunContext,
): Situation {
  const link = linkOf(state, job)
  // A job's own pull request is opened when it has finished.
  const isUnfinished = state.link === link && !isFinalOutcome(state.state)
  return { by: 'earlier run', push: findPush(context), isNews, job, isUnfinished, link, pull }
}

/**
 * Undefined for an attempt after which a re-run is a run like any other.
 * [memory.rerun.reported]
 */
function howItEnded({ state, link, fingerprint }: StoredState): Situation['by'] | undefined {
  if (!isFinalOutcome(state) && !NOTHING_SENT.includes(state)) return 'unfinished attempt'
  return state === 'pr-opened' && link !== '' && fingerprint !== '' ? 'reported attempt' : undefined
}

// [memory.run.closed] [paid.asked.sends]
function findPush({ inputs, event }: PreviousRunContext): Situation['push'] {
  const { action, pullRequest } = event
  if (action !== 'synchronize' || pullRequest === undefined) return undefined
  // [memory.run.closed]
  return [undefined, pullRequest.number].includes(inputs.issueNumber) ? 'own' : 'other'
}

/** The service leaves it out while it works on a message. [memory.run.open-pull] */
function linkOf({ link }: StoredState, job: Situation['job']): string | undefined {
  return (job !== 'not requested' && job?.link) || link || undefined
}

// [memory.rerun.told]
function attachTo(
  state: StoredState,
  job: Situation['job'],
  reason: string,
  context: PreviousRunContext,
): Attach {
  const { jobId, fingerprint } = state
  const messageMayBeLost = noteIfLost(state, context)
  const text = `${reason} To ask for docs again, run a step with ${quote(`job-id: ${jobId}`)} and a prompt.`
  context.tell({ kind: 'noted', text, level: 'log' })
  const seen = job === 'not requested' ? undefined : job
  return { kind: 'attach', jobId, job: seen, fingerprint, messageMayBeLost }
}

/**
 * What this very attempt stored is another step's: a re-run has a higher attempt.
 * [memory.identity.same-attempt]
 */
function refuseSameAttempt(
  { state, jobId }: StoredState,
  comment: PreviousRunContext['comment'],
): void {
  if (NOTHING_SENT.includes(state)) return
  comment.stop()
  const text = joinSentences(
    'job-key: another step of this run has the same workflow, job, step ID and project,',
    `and has already ${jobId === '' ? 'sent a request' : `used docs job ${quote(jobId)}`}.`,
    'Give each step or matrix leg its own job-key.',
    jobId === '' ? '' : `To wait for that docs job, set job-id: ${oneLine(jobId)} and no prompt.`,
  )
  throw new InputError([text])
}

/** Of a create request: no job is known that could be continued. [memory.rerun.unknown] */
function noteIfUnknown({ state, jobId }: StoredState, { tell }: PreviousRunContext): void {
  if (jobId !== '' || NOTHING_SENT.includes(state)) return
  const text = `The result of the last create request is unknown: a docs job may exist. Look ${WHERE_TO_LOOK}.`
  tell({ kind: 'noted', text, level: 'warn' })
}

/**
 * Of a message. It stays unknown for a further attempt, until the docs job's end is reported.
 * [memory.rerun.unknown]
 */
function noteIfLost({ state }: StoredState, { tell }: PreviousRunContext): boolean {
  const mayBeLost = ['sending', 'unknown'].includes(state)
  const text =
    'The result of the last message is unknown: it may be lost. To send it again, re-run after the docs job has ended.'
  if (mayBeLost) tell({ kind: 'noted', text, level: 'warn' })
  return mayBeLost
}

/**
 * The job as the service has it; undefined if it does not exist. [memory.run.continues]
 * [skip.service.unasked] [memory.run.continues]
 */
async function getJob(
  jobId: string,
  { inputs: { timeoutMs }, ...tools }: PreviousRunContext,
): Promise<Job | undefined> {
  // What this step reports begins later.
  const quietTools = { ...tools, tell: () => undefined, warn: tools.debug }
  try {
    const job = await pollUntilDone(
      { jobId, precededBy: { kind: 'nothing' }, once: true, pollIntervalMs: undefined, timeoutMs },
      quietTools,
    )
    if (job !== undefined) return job
  } catch (thrown) {
    if (thrown instanceof ActionError && thrown.code === 'not-found') return undefined
    throw thrown
  }
  throw new ActionError(
    'network',
    'Timed out while checking the earlier docs job.',
    'Re-run later, or raise timeout-minutes.',
  )
}

/** A dry run sends not even this. [output.dry-run] */
function getJobUnlessDry(jobId: string, context: PreviousRunContext): Promise<Situation['job']> {
  return context.inputs.dryRun ? Promise.resolve('not requested') : getJob(jobId, context)
}

/** Of what this run would send, as it stores it; then, as an earlier one may have stored it. */
type Fingerprints = readonly [string, ...string[]]

// [memory.run.continues] [paid.push.unchanged]
async function planFor(
  state: StoredState,
  job: Situation['job'],
  known: Situation['pull'],
  fingerprints: Fingerprints,
  composeWith: (...more: string[]) => string,
  context: PreviousRunContext,
): Promise<Plan> {
  const { log, tell, readDocsPull } = context
  const { jobId } = state
  const link = linkOf(state, job)
  const pull = link === undefined ? undefined : (known ?? (await readDocsPull(link)).state)
  const [fingerprint] = fingerprints
  const isNews = !fingerprints.includes(state.fingerprint)
  const decision = decide(situationOf(state, job, pull, isNews, context))
  tell({ kind: 'continuing', jobId, link: link ?? '' })
  if (decision.kind === 'skip') return decision
  if (decision.kind === 'wait')
    return attachTo({ ...state, fingerprint }, job, decision.reason, context)
  // Only what is known to be open can be continued.
  const previousLink = pull === 'open' && link ? link : ''
  const prompt = composeWith(...(previousLink ? askToContinue(previousLink) : []))
  if (decision.kind === 'create') {
    if (jobId !== '') log(`The earlier docs job ${decision.reason}: a new one takes its place.`)
    return { kind: 'create', prompt, fingerprint, previousLink }
  }
  const message = { kind: 'message', jobId, prompt, fingerprint } as const
  if (job === 'not requested') return message
  return { ...message, remembered: { job, find: () => getJob(jobId, context), previousLink } }
}

/**
 * Names the pull request alone: what else is in a link would be words outside of the fence.
 * [memory.marker.untrusted] [memory.run.open-pull]
 */
function askToContinue(link: string): readonly string[] {
  const pull = parsePullRequest(link)
  if (pull === undefined) return []
  const url = `${new URL(link).origin}/${pull.repository}/pull/${pull.number}`
  return [
    `The pull request ${url} is already open for this. ` +
      'Continue there: add to its branch, and open no second pull request.',
  ]
}
