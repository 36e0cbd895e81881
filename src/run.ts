/** The story of a run: create, message or attach, then follow the job to its end. */

import { ActionError, Cancelled, internalError } from './errors.js'
import type { Inputs } from './inputs.js'
import { hasEnded, type Job, type Outcome, outcomeOf } from './job.js'
import type { Progress } from './progress.js'
import { send } from './send.js'
import type { Service } from './service/api.js'
import type { Clock, Stop } from './stop.js'
import { follow, type Wait } from './wait.js'

/** What a run needs from outside. */
export interface Ports {
  readonly clock: Clock
  readonly stop: Stop
  readonly progress: Progress
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  readonly log: (line: string) => void
  readonly debug: (line: string) => void
  readonly warn: (line: string) => void
  /** Takes in what the service says of the job, and tells it where it is news. */
  readonly see: (job: Job) => void
  /** Writes what is known to the outputs and the summary. */
  readonly publish: () => void
}

/** How a run ended. `error` is set with `error`, and with `cancelled` where a request's fate is unknown. */
export interface End {
  readonly outcome: Outcome
  readonly error?: ActionError
}

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
  const { clock, progress, see, publish } = ports
  switch (task.kind) {
    case 'create': {
      const job = await send({ kind: 'create' }, task.prompt, service, ports)
      if (job !== undefined) see(job)
      return { kind: 'create', at: clock.now() }
    }
    case 'message': {
      const answer = await send({ kind: 'message', jobId: task.jobId }, task.prompt, service, ports)
      progress.reused = true
      // An end in this answer may be the one from before the message: told only where nothing is looked at after it.
      if (answer === undefined || (wait && hasEnded(answer.status))) publish()
      else see(answer)
      return { kind: 'message', at: clock.now(), answer }
    }
    case 'attach':
      progress.reused = true
      publish()
      return { kind: 'nothing' }
  }
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
