/** What an earlier run, or an earlier attempt of this one, left for this run: the job to wait for or to continue. */

import { isFinalOutcome, type Job, parsePullRequest, reasonNotContinuable } from '../agent/job.js'
import { InputError, type Task } from '../inputs/inputs.js'
import { pollUntilDone } from '../run/poll.js'
import { Progress } from '../run/progress.js'
import type { Plan } from '../run/result.js'
import type { RunTools, Step } from '../run/step.js'
import { ActionError } from '../text/errors.js'
import { oneLine, quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import type { DocsPull } from './docs-pull.js'
import { NOTHING_SENT, type StoredState } from './marker.js'
import type { Slot } from './slot.js'

export interface PreviousRunContext extends RunTools, Pick<Step, 'environment' | 'event' | 'inputs'> {
  /** Where this step's state may be stored: the check, then the comment. */
  readonly slots: readonly Pick<Slot, 'role' | 'find' | 'stop'>[]
  readonly readDocsPull: (link: string) => Promise<DocsPull>
}

/** A job that is remembered, as it is now. */
export interface PreviousRun {
  readonly state: StoredState
  /** Undefined if it no longer exists. */
  readonly job: Job | 'not requested' | undefined
}

/** The docs job has what this run would send, or an earlier attempt didn't see it finish: it is waited for. */
export type Attach = Extract<Task, { kind: 'attach' }>

/**
 * Finds the job to continue. The check decides for a re-run, the comment for a later run.
 *
 * @throws ActionError `github` if what decides can't be read, `input` if this very attempt has stored something already
 */
export async function findPreviousRun(
  context: PreviousRunContext,
): Promise<PreviousRun | Attach | undefined> {
  const { inputs, environment, event, progress, slots, log, readDocsPull } = context
  const states = await Promise.all(
    slots.map(async (slot) => (slot.role === 'informs' ? undefined : slot.find())),
  )
  for (const state of states) refuseSameAttempt(state, context)
  const ofComment = states[slots.findIndex(({ role }) => role === 'decides')]
  const { task } = inputs
  const ofThisRun = states
    .filter((state) => state?.run === environment.runId && state.attempt !== environment.runAttempt)
    // A step with a job-id is about that job alone.
    .filter((state) => task.kind === 'create' || state?.jobId === task.jobId)
  // An edit that failed may have left one of them without the job.
  const rerun = ofThisRun.find((state) => state?.jobId !== '') ?? ofThisRun[0]
  noteIfUnknown(rerun ?? ofComment, context)

  let known: PreviousRun | undefined
  const { state = 'unsent', jobId = '', link = '', sent = '' } = rerun ?? {}
  const isTold = state === 'pr-opened' && sent !== '' && task.kind !== 'attach'
  const isFinished = isFinalOutcome(state) || NOTHING_SENT.includes(state)
  if (rerun !== undefined && jobId !== '' && (isTold || !isFinished)) {
    progress.follow(jobId, link)
    const job = await getJobUnlessDry(jobId, context)
    if (isTold ? !reasonNotReusable(job) && !isOver(await readDocsPull(link)) : job) {
      noteIfLost(rerun, context)
      const orClose = event.action === 'synchronize' ? '' : ', or close that pull request'
      const why = isTold
        ? `its docs job has opened a pull request: reporting it, and sending nothing. To ask for docs again, start a new run${orClose}.`
        : "an earlier attempt didn't see its docs job finish: waiting for it, and sending nothing."
      log(`This is a re-run, and ${why}`)
      return attachTo(rerun, job, progress)
    }
    known = { state: rerun, job }
    progress.forget()
    if (ofComment === undefined) return known
  }
  if (ofComment === undefined || (ofComment.jobId === '' && ofComment.link === '')) return undefined
  if (ofComment.jobId === '') return { state: ofComment, job: undefined }
  progress.follow(ofComment.jobId, ofComment.link)
  const isKnown = ofComment.jobId === known?.state.jobId
  const job = isKnown ? known?.job : await getJobUnlessDry(ofComment.jobId, context)
  return { state: ofComment, job }
}

function attachTo({ jobId, link, sent }: StoredState, job: PreviousRun['job'], progress: Progress): Attach {
  progress.follow(jobId, link)
  progress.fingerprint = sent
  return { kind: 'attach', jobId, job: job === 'not requested' ? undefined : job }
}

/**
 * What this very attempt stored is another step's: a re-run has a higher attempt. A step that only waits for that job may
 * go on.
 *
 * @throws InputError
 */
function refuseSameAttempt(
  state: StoredState | undefined,
  { inputs, environment, slots }: PreviousRunContext,
): void {
  if (state?.run !== environment.runId || state.attempt !== environment.runAttempt) return
  const onlyWaits = inputs.task.kind === 'attach' && inputs.task.jobId === state.jobId
  if (NOTHING_SENT.includes(state.state) || onlyWaits) return
  for (const slot of slots) slot.stop()
  const { jobId } = state
  const text = joinSentences(
    'job-key: another step of this run has the same workflow, job, step ID and project,',
    `and has already ${jobId === '' ? 'sent a request' : `used docs job ${quote(jobId)}`}.`,
    'Give each step or matrix leg its own job-key.',
    jobId === '' ? '' : `To wait for that docs job, set job-id: ${oneLine(jobId)} and no prompt.`,
  )
  throw new InputError([text])
}

/** Of a create request: no job is known that could be continued. */
function noteIfUnknown(state: StoredState | undefined, { note, service }: PreviousRunContext): void {
  if (state === undefined || state.jobId !== '' || NOTHING_SENT.includes(state.state)) return
  note(
    `The result of the last create request is unknown: a docs job may exist. Look ${service.facts.whereToLook}.`,
  )
}

/** Of a message. It stays unknown for a further attempt, until the docs job's end is reported. */
function noteIfLost({ state }: StoredState, { note, progress }: PreviousRunContext): void {
  if (!['sending', 'unknown'].includes(state)) return
  progress.messageMayBeLost = true
  note('The result of the last message is unknown: it may be lost. To send it again, start a new run.')
}

/**
 * The job as the service has it; undefined if it does not exist.
 *
 * @throws ActionError
 * @throws Cancelled
 */
async function getJob(jobId: string, { inputs, ...tools }: PreviousRunContext): Promise<Job | undefined> {
  const options = { jobId, precededBy: { kind: 'nothing' }, once: true, pollIntervalMs: undefined } as const
  // What this step reports begins later.
  const progress = new Progress(tools.clock)
  const quietTools = { ...tools, progress, onJob: () => undefined, warn: tools.debug }
  try {
    const result = await pollUntilDone({ ...options, timeoutMs: inputs.timeoutMs }, quietTools)
    if (result.kind !== 'deadline') return result.job
  } catch (thrown) {
    if (thrown instanceof ActionError && thrown.code === 'not-found') return undefined
    throw thrown
  } finally {
    tools.progress.responded ||= progress.responded
  }
  throw new ActionError(
    'network',
    'Timed out while checking the earlier docs job.',
    'Start a new run later, or raise timeout-minutes.',
  )
}

/** A dry run sends not even this. */
function getJobUnlessDry(jobId: string, context: PreviousRunContext): Promise<PreviousRun['job']> {
  return context.inputs.dryRun ? Promise.resolve('not requested') : getJob(jobId, context)
}

/**
 * Sends a message to the remembered job, or creates a new one if that job is no longer usable. Whoever closed its pull
 * request wants none: a further push to the code does not ask for another.
 *
 * @param composeWith composes the prompt, with more paragraphs after the user's own
 */
export async function continueOrCreate(
  { state, job }: PreviousRun,
  composeWith: (...more: string[]) => string,
  context: PreviousRunContext,
): Promise<Plan> {
  const { inputs, event, log, progress, readDocsPull } = context
  const { jobId } = state
  const prompt = composeWith()
  const link = (job !== 'not requested' && job?.link) || state.link
  const pull = link === '' ? undefined : await readDocsPull(link)
  const isPush = event.action === 'synchronize' && inputs.jobScope !== 'run'
  const pushed = event.pullRequest?.number
  if (pull?.state === 'closed' && isPush && pushed === (inputs.issueNumber ?? pushed)) {
    const reason = `the docs pull request ${link} was closed without a merge`
    const advice =
      'To get docs after all, reopen it, or trigger the workflow other than by a push to this pull request.'
    return { reason, advice }
  }
  if (isPush && state.sent === progress.fingerprint && !reasonNotReusable(job)) {
    log('This push changed nothing of what the docs job was last sent: waiting for it, and sending nothing.')
    return attachTo({ ...state, link }, job, progress)
  }
  // Only what is known to be open can be continued.
  const forNewJob =
    pull?.state === 'open'
      ? { prompt: composeWith(askToContinue(link)), previousLink: link }
      : { prompt, previousLink: '' }
  const reason = reasonNotReusable(job, pull)
  if (reason === undefined) {
    if (job === 'not requested') return { kind: 'message', jobId, prompt }
    progress.follow(jobId, link)
    const find = () => getJob(jobId, context)
    return { kind: 'message', jobId, prompt, remembered: { job, find, ...forNewJob } }
  }
  if (jobId !== '') log(`The earlier docs job ${reason}: creating a new one.`)
  // A dry run reports what is stored.
  if (!inputs.dryRun) progress.forget(forNewJob.previousLink)
  return { kind: 'create', prompt: forNewJob.prompt }
}

/** Names the pull request alone: what else is in a link would be words outside of the fence. */
function askToContinue(link: string): string {
  const { repository, number } = parsePullRequest(link)
  const url = `${new URL(link).origin}/${repository}/pull/${number}`
  return (
    `An earlier docs job has already opened the pull request ${url}, which is still open. ` +
    'Continue there: add to its branch, and open no second pull request.'
  )
}

function reasonNotReusable(job: PreviousRun['job'], pull?: DocsPull): string | undefined {
  if (job === undefined) return 'no longer exists'
  const reason = job === 'not requested' ? '' : reasonNotContinuable(job)
  if (reason !== '') return reason
  return pull && isOver(pull) ? `has a pull request that was ${pull.state}` : undefined
}

function isOver({ state }: DocsPull): boolean {
  return state === 'merged' || state === 'closed'
}
