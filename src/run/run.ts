/** The main flow of a run: create, message or attach, then poll the job to its end. */

import type { AgentService } from '../agent/client.js'
import { type FinalOutcome, isFinal, outcomeOf } from '../agent/job.js'
import { Refusal } from '../agent/problems.js'
import { refusesMessage } from '../agent/verdict.js'
import { Cancelled } from '../errors.js'
import type { Inputs, Remembered, Task } from '../inputs/inputs.js'
import { type PrecededBy, pollUntilDone } from './poll.js'
import { type Ports, type RunResult, toRunResult } from './ports.js'
import type { Progress } from './progress.js'
import { send } from './send.js'

/** Runs the task to its end. Never throws. */
export async function run(
  task: Task,
  { wait, pollIntervalMs, timeoutMs }: Pick<Inputs, 'wait' | 'pollIntervalMs' | 'timeoutMs'>,
  service: AgentService,
  ports: Ports,
): Promise<RunResult> {
  try {
    const precededBy = await start(task, wait, service, ports)
    if (ports.deadline.cancelled()) throw new Cancelled()
    const ended = outcomeOfCreated(precededBy.kind, ports.progress)
    if (ended !== undefined) return { outcome: ended }
    if (!wait && precededBy.kind !== 'nothing') return { outcome: 'started' }
    const { jobId } = ports.progress
    const polled = await pollUntilDone(
      { jobId, precededBy, once: !wait, pollIntervalMs, timeoutMs },
      service,
      ports,
    )
    switch (polled.kind) {
      case 'ended':
        return { outcome: outcomeOf(polled.status, polled.job.link) }
      case 'active':
        return { outcome: 'started' }
      case 'deadline':
        if (polled.notFound !== undefined) throw polled.notFound
        return { outcome: 'timed-out' }
    }
  } catch (thrown) {
    return toRunResult(thrown)
  }
}

/** Creates, messages or attaches to the job, and publishes what is known right away. */
async function start(task: Task, wait: boolean, service: AgentService, ports: Ports): Promise<PrecededBy> {
  switch (task.kind) {
    case 'create':
      return create(task.prompt, service, ports)
    case 'message':
      return task.remembered === undefined
        ? message(task, wait, service, ports)
        : messageOrCreate(task, task.remembered, wait, service, ports)
    case 'attach':
      ports.progress.attach()
      ports.publish()
      return { kind: 'nothing' }
  }
}

/**
 * Sends a message to a remembered job, or creates a new one if that job is gone, or has ended and takes no more messages.
 *
 * A 404 is believed if status requests say the same; otherwise the message, which was not accepted, is sent once more.
 */
async function messageOrCreate(
  task: Extract<Task, { kind: 'message' }>,
  remembered: Remembered,
  wait: boolean,
  service: AgentService,
  ports: Ports,
  isRepeated = false,
): Promise<PrecededBy> {
  const createInstead = (reason: string): Promise<PrecededBy> => {
    ports.log(`The earlier job ${reason}: creating a new one.`)
    ports.progress.forget(remembered.previousLink)
    return create(remembered.prompt, service, ports)
  }
  const replaceable = isFinal(remembered.job?.status)
  try {
    return await message({ ...task, remembered }, wait, service, ports, replaceable)
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    if (thrown.status === 404 && !isRepeated) {
      const job = await remembered.find()
      if (job === undefined) return createInstead('no longer exists')
      ports.log(`${thrown.message} But the job exists: sending the message once more.`)
      return messageOrCreate(task, { ...remembered, job }, wait, service, ports, true)
    }
    if (!replaceable || !refusesMessage(thrown)) throw thrown
    ports.log(thrown.message)
    return createInstead('has ended and takes no more messages')
  }
}

async function create(prompt: string, service: AgentService, ports: Ports): Promise<PrecededBy> {
  await ports.writePlaceholder()
  const job = await send({ kind: 'create' }, prompt, service, ports)
  if (job !== undefined) ports.onJob(job)
  return { kind: 'create', at: ports.clock.now() }
}

async function message(
  { jobId, prompt, remembered }: Extract<Task, { kind: 'message' }>,
  wait: boolean,
  service: AgentService,
  ports: Ports,
  replaceable = false,
): Promise<PrecededBy> {
  const job = await send({ kind: 'message', jobId }, prompt, service, ports, { replaceable })
  const mayBeStale = isFinal(job?.status)
  ports.progress.messageAccepted()
  // A final status in this response may predate the message: it is reported only if no poll follows.
  if (job === undefined || (wait && mayBeStale)) ports.publish()
  else ports.onJob(job)
  return { kind: 'message', at: ports.clock.now(), job: mayBeStale ? job : (remembered?.job ?? job) }
}

/** A job that was just created may already have ended; after a message, a final status may be the earlier one. */
function outcomeOfCreated(kind: PrecededBy['kind'], { job }: Progress): FinalOutcome | undefined {
  return kind === 'create' && isFinal(job?.status) ? outcomeOf(job.status, job.link) : undefined
}
