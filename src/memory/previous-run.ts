/** What an earlier run or attempt left for this run: the job to wait for or to continue. */

import { isFinalOutcome, type Job, parsePullRequest } from '../agent/job.js'
import { InputError } from '../inputs/inputs.js'
import { pollUntilDone } from '../run/poll.js'
import type { PollTools, StepSubject } from '../run/step.js'
import type { Plan, Task } from '../run/task.js'
import { ActionError, WHERE_TO_LOOK } from '../text/errors.js'
import { oneLine, quote } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import type { Comment } from './comment.js'
import { decide, type Situation, whoLeft } from './decide.js'
import type { DocsPulls } from './docs-pull.js'
import { isOfThisAttempt, NOTHING_SENT, type StoredState } from './marker.js'

interface PreviousRunContext extends PollTools, StepSubject {
  /** Where earlier runs stored their state. */
  readonly comment: Comment
  readonly docsPulls: DocsPulls
}

/** What an earlier run left: what follows from it depends on what this run would send. */
type Earlier = Readonly<{
  kind: 'earlier'
  /**
   * `fingerprints`: as this run stores it, then as an earlier one may have stored it.
   * `refuse` is asked before something is planned to be sent.
   */
  plan(
    fingerprints: readonly [string, ...string[]],
    composeWith: (more?: string) => string,
    refuse: () => Promise<Plan | undefined>,
  ): Promise<Plan>
}>

type Attach = Extract<Task, { kind: 'attach' }>

/** What is remembered, as it is now. Whether this run has news isn't known yet. */
type Found = Omit<Situation, 'isNews'>

/**
 * Finds the job to continue, or for a re-run, to wait for.
 *
 * @throws ActionError `github` if the comment can't be read, `input` if this very attempt has
 * stored something already
 */
export async function findPreviousRun(
  context: PreviousRunContext,
): Promise<Earlier | Attach | undefined> {
  const { environment, tell, comment } = context
  const state = await comment.find()
  if (state === undefined) return undefined
  if (isOfThisAttempt(state, environment)) refuseSameAttempt(state, comment)
  noteIfUnknown(state, context)
  const { jobId, link } = state
  if (jobId !== '') tell({ kind: 'continuing', jobId, link })
  const by = whoLeft(state, environment.runId)
  // The service isn't asked yet: a run that turns out to send nothing doesn't need it.
  if (by === 'earlier run') return earlier(state, context)
  const found = await find(by, state, context)
  const decision = decide({ ...found, isNews: true })
  return decision.kind === 'wait'
    ? attachTo(state, found, decision.reason, context)
    : earlier(state, context, async () => found)
}

/** Asks the service for the docs job, and GitHub for its pull request. */
async function find(
  by: Situation['by'],
  state: StoredState,
  context: PreviousRunContext,
  known = state.link,
): Promise<Found> {
  const { inputs, docsPulls } = context
  const { jobId } = state
  let job: Situation['job']
  // A dry run sends not even this.
  if (jobId !== '') job = inputs.dryRun ? 'not requested' : await getJob(jobId, context)
  // The service leaves the link out while it works on a message.
  const link = (typeof job === 'object' ? job.link : undefined) ?? known
  // A job's own pull request is opened when it has finished.
  const isUnfinished = state.link === link && !isFinalOutcome(state.state)
  const isWaitedFor = by === 'unfinished attempt' && job !== undefined
  const pull = link === undefined || isWaitedFor ? undefined : await docsPulls.readState(link)
  return { by, unasked: findUnasked(context), job, isUnfinished, link, pull }
}

/** Whoever does anything but push asks anew, also a re-run of a schedule. [paid.asked.sends] */
function findUnasked({ inputs, event, environment }: PreviousRunContext): Situation['unasked'] {
  const { name, action, pullRequest } = event
  if (name === 'schedule' && environment.runAttempt === 1) return 'clock'
  if (action !== 'synchronize' || pullRequest === undefined) return undefined
  return [undefined, pullRequest.number].includes(inputs.issueNumber) ? 'own' : 'other'
}

/** Says why the step waits in place of sending, and how to ask again. [memory.rerun.told] */
function attachTo(
  state: StoredState,
  { job }: Found,
  reason: string,
  { tell }: PreviousRunContext,
): Attach {
  const { jobId, fingerprint } = state
  // It stays unknown for a further attempt, until the docs job's end is reported.
  const messageMayBeLost = ['sending', 'unknown'].includes(state.state)
  if (messageMayBeLost) tell({ kind: 'noted', text: MAY_BE_LOST, level: 'warn' })
  const text = `${reason} To ask for docs again, run a step with ${quote(`job-id: ${jobId}`)} and a prompt.`
  tell({ kind: 'noted', text })
  const seen = job === 'not requested' ? undefined : job
  return { kind: 'attach', jobId, job: seen, fingerprint, messageMayBeLost }
}

const MAY_BE_LOST =
  'The result of the last message is unknown: it may be lost. To send it again, re-run after the docs job has ended.'

/** If this attempt has stored something, another step did. [memory.identity.same-attempt] */
function refuseSameAttempt({ state, jobId }: StoredState, comment: Comment): void {
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

/**
 * Notes that a create request's result is unknown: no job is known that could be continued.
 * [memory.rerun.unknown]
 */
function noteIfUnknown({ state, jobId }: StoredState, { tell }: PreviousRunContext): void {
  if (jobId !== '' || NOTHING_SENT.includes(state)) return
  const text = `The result of the last create request is unknown: a docs job may exist. Look ${WHERE_TO_LOOK}.`
  tell({ kind: 'noted', text, level: 'warn' })
}

/** The job as the service has it; undefined if it does not exist. */
async function getJob(
  jobId: string,
  { inputs: { timeoutMs }, ...tools }: PreviousRunContext,
): Promise<Job | undefined> {
  // The step's own report begins later: only the debug log tells of these polls.
  const quietTools = { ...tools, tell: () => undefined, warn: tools.debug }
  try {
    const job = await pollUntilDone(
      { jobId, precededBy: { kind: 'nothing' }, once: true, timeoutMs },
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

function earlier(
  state: StoredState,
  context: PreviousRunContext,
  findNow = () => find('earlier run', state, context),
): Earlier {
  const { log, tell } = context
  const { jobId } = state
  return {
    kind: 'earlier',
    async plan(fingerprints, composeWith, refuse) {
      const found = await findNow()
      const findAgain = () => find('earlier run', state, context, link)
      const look = () => earlier(state, context, findAgain).plan(fingerprints, composeWith, refuse)
      const { job, link, pull } = found
      const [fingerprint] = fingerprints
      const isNews = !fingerprints.includes(state.fingerprint)
      const decision = decide({ ...found, isNews })
      tell({ kind: 'continuing', jobId, link })
      if (decision.kind === 'skip') return decision
      if (decision.kind === 'wait')
        return attachTo({ ...state, fingerprint }, found, decision.reason, context)
      const refused = await refuse()
      if (refused !== undefined) return refused
      // Only what is known to be open can be continued.
      const previousLink = pull === 'open' ? link : undefined
      const prompt = composeWith(askToContinue(previousLink))
      if (decision.kind === 'create') {
        if (jobId !== '') log(`The earlier docs job ${decision.reason}: a new one takes its place.`)
        return { kind: 'create', prompt, fingerprint, previousLink, look }
      }
      const seen = job === 'not requested' ? undefined : job
      return { kind: 'message', jobId, job: seen, prompt, fingerprint, previousLink, look }
    },
  }
}

/** More of a link would be words outside of the fence. [memory.run.open-pull] */
function askToContinue(link: string | undefined): string | undefined {
  const pull = parsePullRequest(link)
  if (link === undefined || pull === undefined) return undefined
  const url = `${new URL(link).origin}/${pull.repository}/pull/${pull.number}`
  return `The pull request ${url} is already open for this. Continue there: add to its branch, and open no second pull request.`
}
