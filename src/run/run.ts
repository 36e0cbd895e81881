/** The main flow of a run: create, message or attach, then poll the job to its end. */

import { type FinalOutcome, type FinalStatus, isFinal, type Job, outcomeOf } from '../agent/job.js'
import { Refusal } from '../agent/problems.js'
import { refusesMessage } from '../agent/verdict.js'
import type { Inputs } from '../inputs/inputs.js'
import { Cancelled } from '../text/errors.js'
import { type PrecededBy, pollUntilDone } from './poll.js'
import type { RunResult } from './result.js'
import { send } from './send.js'
import type { RunTools } from './step.js'
import type { MessageTask, NewJob, Task } from './task.js'

/**
 * How long after an end without a pull request the job is asked for once more, in milliseconds.
 * [poll.link.late]
 */
const LINK_MS = 5_000

/** The docs job that is followed, and as it is now, if the service has returned it. */
type Begun = Readonly<{
  jobId: string
  precededBy: PrecededBy
  job?: Job | undefined
}>

/**
 * Runs the task to its end. [output.timed-out] [poll.stale-end]
 *
 * @throws ActionError
 * @throws Cancelled
 */
export async function run(
  task: Task,
  { wait, pollIntervalMs, timeoutMs }: Pick<Inputs, 'wait' | 'pollIntervalMs' | 'timeoutMs'>,
  tools: RunTools,
): Promise<RunResult> {
  // [input.task]
  const { jobId, precededBy, job: begun } = await begin(task, wait, tools)
  // [cancel.first]
  if (tools.deadline.cancelled()) throw new Cancelled()
  // A message begins with no job: its final status may be the earlier one. [poll.stale-end]
  // [poll.once]
  const hasEnded = isFinal(begun?.status)
  // [poll.once] [poll.link.late]
  if (!wait && !hasEnded && precededBy.kind !== 'nothing') return { outcome: 'started' }
  // [poll.interval]
  const options = { jobId, precededBy, once: !wait, pollIntervalMs, timeoutMs }
  // [input.task] [poll.last]
  const job = hasEnded ? begun : await pollUntilDone(options, tools)
  // [output.timed-out]
  if (job === undefined) return { outcome: 'timed-out' }
  // [poll.once]
  if (!isFinal(job.status)) return { outcome: 'started' }
  // [poll.link.late]
  return { outcome: await outcomeOfEnded(job, job.status, tools) }
}

/** Sends what the task has to send. [input.task] */
async function begin(task: Task, wait: boolean, tools: RunTools): Promise<Begun> {
  switch (task.kind) {
    case 'create':
      return create(task, tools)
    case 'message':
      return messageOrCreate(task, wait, tools)
    case 'attach': {
      // [memory.rerun.unknown] [poll.once] [skip.wait.never]
      const { jobId, job, fingerprint = '', messageMayBeLost = false } = task
      tools.tell({ kind: 'waiting', fingerprint, messageMayBeLost, job })
      // [poll.interval] [poll.once] [poll.link.late]
      return { jobId, job, precededBy: { kind: job === undefined ? 'nothing' : 'status' } }
    }
  }
}

/**
 * Sends a message; to a remembered job, or creates a new one if that job is gone, or has ended and
 * takes no more messages.
 *
 * A 404 is believed if status requests say the same; otherwise the message, which was not accepted,
 * is sent once more. [send.message.ended] [send.message.gone]
 */
async function messageOrCreate(
  task: MessageTask,
  wait: boolean,
  tools: RunTools,
  isRepeated = false,
): Promise<Begun> {
  const { remembered } = task
  // [send.message.ended]
  if (remembered === undefined) return message(task, wait, tools)
  const createInstead = (reason: string): Promise<Begun> => {
    tools.log(`The earlier docs job ${reason}: a new one takes its place.`)
    // [memory.run.open-pull]
    return create({ ...task, previousLink: remembered.previousLink }, tools)
  }
  const replaceable = isFinal(remembered.job?.status)
  // [send.message.gone] [send.message.ended]
  try {
    return await message(task, wait, tools, replaceable)
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    // [send.message.gone]
    if (thrown.response.status === 404 && !isRepeated) {
      const job = await remembered.find()
      if (job === undefined) return createInstead('no longer exists')
      tools.log(`${thrown.message} But the docs job exists: sending the message once more.`)
      return messageOrCreate({ ...task, remembered: { ...remembered, job } }, wait, tools, true)
    }
    // [send.message.ended]
    if (!replaceable || !refusesMessage(thrown)) throw thrown
    tools.log(thrown.message)
    return createInstead('has ended and takes no more messages')
  }
}

// [send.placeholder.first] [memory.run.open-pull]
async function create(
  { prompt, fingerprint = '', previousLink }: NewJob,
  tools: RunTools,
): Promise<Begun> {
  // Before the placeholder, which must not store the docs job that is replaced.
  // [send.placeholder.first] [memory.run.open-pull]
  tools.tell({ kind: 'continuing', jobId: '', link: previousLink })
  // [send.placeholder.first]
  await tools.writePlaceholder()
  // [send.never-twice]
  const job = await send({ kind: 'create' }, prompt, tools)
  // [output.sent] [paid.push.unchanged] [memory.run.continues]
  tools.tell({ kind: 'accepted', asked: 'job', fingerprint, job })
  // [poll.new-job.grace] [poll.link.late] [send.message.ended]
  return { jobId: job?.id ?? '', job, precededBy: { kind: 'create', at: tools.clock.now() } }
}

// [poll.stale-end]
async function message(
  { jobId, prompt, fingerprint = '', remembered }: MessageTask,
  wait: boolean,
  tools: RunTools,
  // [send.message.ended]
  replaceable = false,
): Promise<Begun> {
  // [send.never-twice] [send.message.ended]
  const job = await send({ kind: 'message', jobId }, prompt, tools, replaceable)
  // [poll.stale-end]
  const mayBeStale = isFinal(job?.status)
  // A final status in this response may predate the message: it is reported only if no poll
  // follows. [poll.stale-end]
  const reported = wait && mayBeStale ? undefined : job
  // [output.sent] [paid.push.unchanged]
  tools.tell({ kind: 'accepted', asked: 'message', fingerprint, job: reported })
  // [poll.stale-end]
  const before = mayBeStale ? job : (remembered?.job ?? job)
  return { jobId, precededBy: { kind: 'message', at: tools.clock.now(), job: before } }
}

/**
 * A pull request's link may come a moment after `completed`: if there is none, the job is asked for
 * once more. [poll.link.late]
 */
async function outcomeOfEnded(
  job: Job,
  status: FinalStatus,
  { service, clock, deadline, tell }: RunTools,
): Promise<FinalOutcome> {
  // [output.outcome]
  const outcome = outcomeOf(status, job.link)
  // [poll.link.late]
  if (outcome !== 'no-changes' || deadline.remainingMs() <= LINK_MS) return outcome
  // [cancel.killed]
  tell({ kind: 'pausing' })
  // [poll.link.late]
  await clock.sleep(LINK_MS, deadline.signal)
  // Many servers close a connection that was idle for 5 s, just as the request is sent.
  // [poll.link.late]
  service.close()
  const result = await service.getJob(job.id, deadline)
  if (result.kind === 'job' && result.job.id === job.id && isFinal(result.job.status)) {
    tell({ kind: 'seen', job: result.job })
    return outcomeOf(result.job.status, result.job.link)
  }
  // [cancel.first]
  if (deadline.cancelled()) throw new Cancelled() // A re-run asks for the link.
  // [poll.link.late]
  return outcome
}
