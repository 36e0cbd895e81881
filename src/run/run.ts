/** The main flow of a run: create, message or attach, then poll the job to its end. */

import { isFinal, type Job, outcomeOf } from '../agent/job.js'
import { Refusal } from '../agent/problems.js'
import { refusesMessage } from '../agent/verdict.js'
import type { Inputs } from '../inputs/inputs.js'
import { Cancelled } from '../text/errors.js'
import { type PrecededBy, pollUntilDone } from './poll.js'
import type { RunResult } from './result.js'
import { hasEnded, type LookAgain, sendUntilAccepted } from './send.js'
import type { RunTools } from './step.js'
import type { Plan, Sending, Task } from './task.js'

/** How long after an end without a pull request the job is asked for once more, in milliseconds. */
const LINK_MS = 5_000

/** The docs job that is followed, and as it is now, if the service has returned it. */
type Begun = Readonly<{
  jobId: string
  precededBy: PrecededBy
  job?: Job | undefined
}>

/**
 * Runs the task to its end. A known docs job can be waited for, so a time-out is no error.
 * [output.timed-out] An end that the service has just told is not asked for again. [poll.once]
 *
 * @throws ActionError
 * @throws Cancelled
 */
export async function run(
  task: Task,
  { wait, pollIntervalMs, timeoutMs }: Inputs,
  tools: RunTools,
): Promise<RunResult> {
  const first = await begin(task, wait, tools)
  if ('skip' in first) return { outcome: 'skipped', ...first.skip }
  const { jobId, precededBy, job: begun } = first
  if (tools.deadline.cancelled()) throw new Cancelled()
  // A message begins with no job: its final status may be the earlier one.
  const hasEnded = isFinal(begun?.status)
  if (!wait && !hasEnded && precededBy.kind !== 'nothing') return { outcome: 'started' }
  const options = { jobId, precededBy, once: !wait, pollIntervalMs, timeoutMs }
  for (let job = hasEnded ? begun : await pollUntilDone(options, tools); ; ) {
    if (job === undefined) return { outcome: 'timed-out' }
    if (!isFinal(job.status)) return { outcome: 'started' }
    const next = await askForLink(job, tools)
    if (isFinal(next.status)) return { outcome: outcomeOf(next.status, next.link) }
    // What the next answer takes back was no end.
    const polled = { ...options, precededBy: { kind: 'status' } as const }
    job = wait ? await pollUntilDone(polled, tools) : next
  }
}

type Skipped = Extract<Plan, { kind: 'skip' }>

/** Sends what the plan has to send. */
async function begin(task: Plan, wait: boolean, tools: RunTools): Promise<Begun | Skipped> {
  switch (task.kind) {
    case 'skip':
      return task
    case 'create':
    case 'message':
      return send(task, wait, tools)
    case 'attach': {
      const { jobId, job } = task
      tools.tell({ ...task, kind: 'waiting' })
      return { jobId, job, precededBy: { kind: job === undefined ? 'nothing' : 'status' } }
    }
  }
}

/**
 * Sends a request, or does what is planned by now, if it had to wait. [send.look-again] If it is a
 * message to a remembered job that has ended and takes none, a new job takes its place.
 * [send.message.ended]
 *
 * A 404 is believed if status requests say the same; otherwise the message, which was not accepted,
 * is sent once more. [send.message.gone]
 */
async function send(
  task: Sending,
  wait: boolean,
  tools: RunTools,
  isRepeated = false,
): Promise<Begun | Skipped> {
  let { look } = task
  let now: Plan = task
  const lookAgain: LookAgain | undefined =
    look &&
    (async (refused) => {
      const found = await look?.().catch((failed) => {
        // Nothing else is known.
        throw failed.code === 'network' ? refused : failed
      })
      now = found ?? now
      if (now.kind !== task.kind) return undefined
      // It knows what this one has shown, such as a link that the service leaves out later.
      look = now.look
      tellNew(now, tools)
      return now
    })
  tellNew(task, tools)
  if (task.kind === 'create') await tools.writePlaceholder()
  try {
    const job = await sendUntilAccepted(task, tools, lookAgain)
    return tellAccepted(now, job, wait, tools)
  } catch (thrown) {
    // What a look has met says nothing of the message.
    if (!(thrown instanceof Refusal) || thrown.request === 'poll') throw thrown
    const isDoubted = 'job' in task && thrown.response.status === 404 && !isRepeated
    if (isDoubted) await lookAgain?.(thrown)
    if (now.kind !== task.kind) return begin(now, wait, tools)
    if (isDoubted) {
      tools.log(`${thrown.message} But the docs job exists: sending the message once more.`)
      return send(now, wait, tools, true)
    }
    if (!hasEnded(now) || !refusesMessage(thrown)) throw thrown
    tools.log(
      'The earlier docs job has ended and takes no more messages: a new one takes its place.',
    )
    return begin(inPlaceOf(now), wait, tools)
  }
}

/** Asks for a new docs job, unless the one that was to get the message is busy by then. */
function inPlaceOf(task: Plan): Plan {
  if (task.kind !== 'message' || !hasEnded(task)) return task
  const { prompt, fingerprint = '', previousLink, look } = task
  const next = look && (async () => inPlaceOf(await look()))
  return { kind: 'create', prompt, fingerprint, previousLink, look: next }
}

/** This is told before the placeholder, which must not store the docs job that is replaced. */
function tellNew(task: Sending, { tell }: RunTools): void {
  if (task.kind === 'create') tell({ kind: 'continuing', jobId: '', link: task.previousLink })
}

function tellAccepted(
  task: Sending,
  job: Job | undefined,
  wait: boolean,
  { tell, clock }: RunTools,
): Begun {
  const { fingerprint = '' } = task
  const at = clock.now()
  if (task.kind === 'create') {
    tell({ kind: 'accepted', asked: 'job', fingerprint, job })
    return { jobId: job?.id ?? '', job, precededBy: { kind: 'create', at } }
  }
  const mayBeStale = isFinal(job?.status)
  // A final status in this response may predate the message: it is reported only if no poll
  // follows.
  const reported = wait && mayBeStale ? undefined : job
  tell({ kind: 'accepted', asked: 'message', fingerprint, job: reported })
  const before = mayBeStale ? job : (task.job ?? job)
  return { jobId: task.jobId, precededBy: { kind: 'message', at, job: before } }
}

/**
 * A pull request's link may come a moment after `completed`: if there is none, the job is asked for
 * once more, and may not have ended after all. [poll.link.late]
 */
async function askForLink(job: Job, { service, clock, deadline, tell }: RunTools): Promise<Job> {
  const mayGetLink = job.status === 'completed' && job.link === undefined
  if (!mayGetLink || deadline.remainingMs() <= LINK_MS) return job
  tell({ kind: 'pausing' })
  await clock.sleep(LINK_MS, deadline.signal)
  // Many servers close a connection that was idle for 5 s, just as the request is sent.
  service.close()
  const result = await service.getJob(job.id, deadline)
  if (result.kind === 'job' && result.job.id === job.id) {
    tell({ kind: 'seen', job: result.job })
    return result.job
  }
  if (deadline.cancelled()) throw new Cancelled() // A re-run asks for the link.
  return job
}
