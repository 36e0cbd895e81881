/** The main flow of a run: create, message or attach, then poll the job to its end. */

import { type FinalOutcome, isFinal, outcomeOf } from '../agent/job.js'
import { Refusal } from '../agent/problems.js'
import { refusesMessage } from '../agent/verdict.js'
import type { Inputs } from '../inputs/inputs.js'
import { Cancelled } from '../text/errors.js'
import { type PollResult, type PrecededBy, pollUntilDone } from './poll.js'
import type { Progress } from './progress.js'
import { type RunResult, toRunResult } from './result.js'
import { send } from './send.js'
import type { RunTools } from './step.js'
import type { Task } from './task.js'

/** How long after an end without a pull request the job is asked for once more, in milliseconds. */
const LINK_MS = 5_000

/** Runs the task to its end. Never throws. */
export async function run(
  task: Task,
  { wait, pollIntervalMs, timeoutMs }: Pick<Inputs, 'wait' | 'pollIntervalMs' | 'timeoutMs'>,
  tools: RunTools,
): Promise<RunResult> {
  try {
    let precededBy: PrecededBy = { kind: 'nothing' }
    if (task.kind === 'create') precededBy = await create(task.prompt, tools)
    else if (task.kind === 'message') precededBy = await messageOrCreate(task, wait, tools)
    else {
      tools.progress.onlyWaits = true
      if (task.job === undefined) tools.publish()
      else {
        tools.onJob(task.job)
        precededBy = { kind: 'status' }
      }
    }
    if (tools.deadline.cancelled()) throw new Cancelled()
    const ended = endAlreadySeen(precededBy.kind, tools.progress)
    if (ended !== undefined) return { outcome: await outcomeOfEnded(ended, tools) }
    if (!wait && precededBy.kind !== 'nothing') return { outcome: 'started' }
    const { jobId } = tools.progress
    const polled = await pollUntilDone(
      { jobId, precededBy, once: !wait, pollIntervalMs, timeoutMs },
      tools,
    )
    switch (polled.kind) {
      case 'ended':
        return { outcome: await outcomeOfEnded(polled, tools) }
      case 'active':
        return { outcome: 'started' }
      case 'deadline':
        return { outcome: 'timed-out' }
    }
  } catch (thrown) {
    return toRunResult(thrown)
  }
}

/**
 * Sends a message; to a remembered job, or creates a new one if that job is gone, or has ended and
 * takes no more messages.
 *
 * A 404 is believed if status requests say the same; otherwise the message, which was not accepted,
 * is sent once more.
 */
async function messageOrCreate(
  task: Extract<Task, { kind: 'message' }>,
  wait: boolean,
  tools: RunTools,
  isRepeated = false,
): Promise<PrecededBy> {
  const { remembered } = task
  if (remembered === undefined) return message(task, wait, tools)
  const createInstead = (reason: string): Promise<PrecededBy> => {
    tools.log(`The earlier docs job ${reason}: a new one takes its place.`)
    tools.progress.forget(remembered.previousLink)
    return create(task.prompt, tools)
  }
  const replaceable = isFinal(remembered.job?.status)
  try {
    return await message(task, wait, tools, replaceable)
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    if (thrown.status === 404 && !isRepeated) {
      const job = await remembered.find()
      if (job === undefined) return createInstead('no longer exists')
      tools.log(`${thrown.message} But the docs job exists: sending the message once more.`)
      return messageOrCreate({ ...task, remembered: { ...remembered, job } }, wait, tools, true)
    }
    if (!replaceable || !refusesMessage(thrown)) throw thrown
    tools.log(thrown.message)
    return createInstead('has ended and takes no more messages')
  }
}

async function create(prompt: string, tools: RunTools): Promise<PrecededBy> {
  await tools.writePlaceholder()
  const job = await send({ kind: 'create' }, prompt, tools)
  tools.progress.accepted = 'job'
  if (job !== undefined) tools.onJob(job)
  return { kind: 'create', at: tools.clock.now() }
}

async function message(
  { jobId, prompt, remembered }: Extract<Task, { kind: 'message' }>,
  wait: boolean,
  tools: RunTools,
  replaceable = false,
): Promise<PrecededBy> {
  const job = await send({ kind: 'message', jobId }, prompt, tools, { replaceable })
  const mayBeStale = isFinal(job?.status)
  tools.progress.accepted = 'message'
  // A final status in this response may predate the message: it is reported only if no poll
  // follows.
  if (job === undefined || (wait && mayBeStale)) tools.publish()
  else tools.onJob(job)
  return {
    kind: 'message',
    at: tools.clock.now(),
    job: mayBeStale ? job : (remembered?.job ?? job),
  }
}

/** The job may have ended already; but after a message, a final status may be the earlier one. */
function endAlreadySeen(kind: PrecededBy['kind'], { job }: Progress): JobEnd | undefined {
  return kind !== 'message' && isFinal(job?.status) ? { job, status: job.status } : undefined
}

type JobEnd = Pick<Extract<PollResult, { kind: 'ended' }>, 'job' | 'status'>

/**
 * A pull request's link may come a moment after `completed`: if there is none, the job is asked for
 * once more.
 */
async function outcomeOfEnded(
  { job, status }: JobEnd,
  { service, clock, deadline, onJob, publish }: RunTools,
): Promise<FinalOutcome> {
  const outcome = outcomeOf(status, job.link)
  const mayHaveLink = outcome === 'no-changes' && !job.linkRejected
  if (!mayHaveLink || deadline.remainingMs() <= LINK_MS) return outcome
  publish() // The step may be killed while it waits.
  await clock.sleep(LINK_MS, deadline.signal)
  // Many servers close a connection that was idle for 5 s, just as the request is sent.
  service.close()
  const result = await service.getJob(job.id, deadline)
  if (result.kind === 'job' && result.job.id === job.id && isFinal(result.job.status)) {
    onJob(result.job)
    return outcomeOf(result.job.status, result.job.link)
  }
  if (deadline.cancelled()) throw new Cancelled() // A re-run asks for the link.
  return outcome
}
