/** The story of a run: create, message or attach, then follow the job to its end. */

import type { Service } from '../agent/client.js'
import { hasEnded, type Outcome, outcomeOf } from '../agent/job.js'
import { ActionError, Cancelled, internalError } from '../errors.js'
import type { Inputs } from '../inputs/inputs.js'
import { follow, type Wait } from './poll.js'
import type { End, Ports } from './ports.js'
import type { Progress } from './progress.js'
import { send } from './send.js'

/** Runs the task to its end. Never throws. */
export async function run(inputs: Inputs, service: Service, ports: Ports): Promise<End> {
  try {
    const after = await submit(inputs, service, ports)
    if (ports.stop.cancelled()) throw new Cancelled()
    if (!inputs.wait && after.kind !== 'nothing')
      return { outcome: outcomeUnwaited(after.kind, ports.progress) }

    const { pollIntervalMs, timeoutMs } = inputs
    const jobId = ports.progress.jobId
    const end = await follow({ jobId, after, once: !inputs.wait, pollIntervalMs, timeoutMs }, service, ports)
    switch (end.kind) {
      case 'ended':
        return { outcome: outcomeOf(end.status, ports.progress.job?.link ?? '') }
      case 'active':
        return { outcome: 'started' }
      case 'deadline':
        return { outcome: 'timed-out' }
    }
  } catch (thrown) {
    return endOf(thrown)
  }
}

/** Creates or messages the job, or only says which one it is; what is known then is told at once. */
async function submit({ task, wait }: Inputs, service: Service, ports: Ports): Promise<Wait['after']> {
  switch (task.kind) {
    case 'create':
      return create(task.prompt, service, ports)
    case 'message':
      try {
        return await message(task, wait, service, ports)
      } catch (thrown) {
        if (!task.orCreate || !(thrown instanceof ActionError) || thrown.code !== 'not-found') throw thrown
        ports.log('The job of the last run is gone: creating a new one.')
        ports.progress.jobId = ''
        return create(task.prompt, service, ports)
      }
    case 'attach':
      ports.progress.reused = true
      ports.publish()
      return { kind: 'nothing' }
  }
}

async function create(prompt: string, service: Service, ports: Ports): Promise<Wait['after']> {
  await ports.place()
  const job = await send({ kind: 'create' }, prompt, service, ports)
  if (job !== undefined) ports.see(job)
  return { kind: 'create', at: ports.clock.now() }
}

type Message = Extract<Inputs['task'], { kind: 'message' }>

async function message(task: Message, wait: boolean, service: Service, ports: Ports): Promise<Wait['after']> {
  const answer = await send({ kind: 'message', jobId: task.jobId }, task.prompt, service, ports)
  const mayBeStale = hasEnded(answer?.status)
  ports.progress.reused = true
  // An end in this answer may be the one from before the message: told only where nothing is looked at after it.
  if (answer === undefined || (wait && mayBeStale)) ports.publish()
  else ports.see(answer)
  return { kind: 'message', at: ports.clock.now(), answer: mayBeStale ? answer : (task.before ?? answer) }
}

/** A job that was only just created may have ended already; after a message, an end may be the one from before. */
function outcomeUnwaited(kind: 'create' | 'message', { job }: Progress): Outcome {
  return kind === 'create' && hasEnded(job?.status) ? outcomeOf(job.status, job.link) : 'started'
}

/** What a run that threw ends as. */
export function endOf(thrown: unknown): End {
  if (thrown instanceof Cancelled) {
    return thrown.unknown === undefined
      ? { outcome: 'cancelled' }
      : { outcome: 'cancelled', error: thrown.unknown }
  }
  return { outcome: 'error', error: thrown instanceof ActionError ? thrown : internalError(thrown) }
}
