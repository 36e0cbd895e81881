/** What a step met, and what follows from it: the words in which the invariants are said. */

import { parseOutputs } from '../../emulator/runner.mjs'
import { FINAL_POST_MS } from './draw.js'
import type { StepRecord } from './execute.js'
import type { Person, Plan, StepPlan } from './plan.js'
import { type Entry, fateOf, isMessage, jobIdIn, jobIn } from './service.js'

/** How long bytes may be on their way from one process to another. */
export const DELIVERY_MS = 100
/** The time limit of a POST. */
const POST_MS = 60_000
/** How long a 404 has to be repeated before it is believed, less what timers may be early. */
const GONE_MS = 10_000 - DELIVERY_MS
/** What a refusal says of the key, the time or the limit, and not of the job. */
const NOT_OF_THE_JOB = [401, 403, 408, 425, 429]
const NEVER = Number.POSITIVE_INFINITY

/** What the facts follow from: their initializers need it. */
class Observed {
  constructor(
    readonly plan: Plan,
    readonly step: StepRecord,
    /** The step before it, if there was one. */
    readonly previous: StepRecord | undefined,
    /** How slow this machine is: what a process takes from its start to its first line. */
    readonly usualStartupMs: number,
  ) {}
}

export class Facts extends Observed {
  readonly github = this.plan.github
  readonly inputs = this.step.plan.inputs
  readonly outputs = readOutputs(this.step.outputFile)
  readonly outcome = this.outputs.outcome ?? ''
  readonly code = this.outputs['error-code'] ?? ''
  readonly jobId = this.outputs['job-id'] ?? ''
  /** The lines of the log. */
  readonly lines = this.step.stdout.split(/\r\n|\r|\n/)
  readonly posts = this.step.entries.filter(({ method }) => method === 'POST')

  readonly deadlineAt = this.step.spawnedAt + this.step.timeoutMs
  readonly cancels = this.step.done.filter(({ what }) => what === 'cancel')
  readonly wasCancelled = this.cancels.length > 0
  readonly cancelledAt = this.cancels[0]?.at ?? NEVER
  readonly secondSignalAt = this.cancels[1]?.at ?? NEVER
  readonly killedAt = this.step.done.find(({ what }) => what === 'SIGKILL')?.at ?? NEVER
  readonly wasKilled = this.killedAt < NEVER
  /** When the process stood still. */
  readonly freezes = this.step.done
    .filter(({ what }) => what === 'freeze')
    .map(({ at: from, until: to = this.step.endedAt }) => ({ from, to }))
  /** Waits of this length or less are the machine's. */
  readonly toleranceMs = 1_000 + 4 * Math.max(this.usualStartupMs, startupMs(this.step))
  /** The step took about as long as it was allowed to. */
  readonly usedItsTime = this.step.endedAt - this.step.spawnedAt > this.step.timeoutMs * 0.9 - 100

  /** Those who have to have write access. */
  readonly asked = askedFor(this.step.plan)
  readonly mayStart = this.asked.every((person) => person === 'writer')
  /** What GitHub holds after the step. */
  readonly memory = memoryAfter(this.step, this.step.plan)

  mayBeRefused(post: Entry): boolean {
    return ['refused', 'any'].includes(fateOf(post))
  }

  /** The job's status in a whole response, or empty. */
  statusIn(entry: Entry): string {
    const { status } = entry.exchange.response
    const isWhole = entry.respondedAt !== undefined && status >= 200 && status < 300
    return (isWhole && jobIn(entry)?.status) || ''
  }

  /** The status requests before a certain time. */
  #polls(jobId: string, before: number): readonly Entry[] {
    return this.step.entries.filter(
      (entry) => entry.method === 'GET' && jobIdIn(entry) === jobId && entry.startedAt < before,
    )
  }

  /** Whether the last of them all got a 404, for long enough. */
  isGone(jobId: string, before: number): boolean {
    const polls = this.#polls(jobId, before)
    const from = polls.findLastIndex((entry) => statusOf(entry) !== 404) + 1
    const [first, last] = [polls[from], polls.at(-1)]
    return first !== undefined && last !== undefined && last.startedAt - first.startedAt >= GONE_MS
  }

  /** Whether the job had ended, as far as this step knew, and then refused the message before this create. */
  refusedAsEnded(jobId: string, create: Entry): boolean {
    const before = this.posts.slice(0, this.posts.indexOf(create))
    const last = before.at(-1)
    if (last === undefined || !isMessage(last) || !isAboutTheJob(statusOf(last))) return false
    const conflicts = before.filter((post) => isMessage(post) && statusOf(post) === 409)
    if (statusOf(last) === 409 && conflicts.length < 3) return false
    const seen = this.#polls(jobId, last.startedAt)
      .map((poll) => this.statusIn(poll))
      .findLast((status) => status !== '')
    return seen !== undefined && seen !== 'active'
  }

  /** When the step has to be done with a POST that is in flight: some time after its deadline or a cancel. */
  get #lastPostAt(): number {
    return Math.min(this.deadlineAt, this.cancelledAt) + FINAL_POST_MS
  }

  /** Whether the step ended while the service was about to respond with a job, and there was time for that. */
  gaveUpEarly(post: Entry): boolean {
    const { endedAt } = this.step
    const isPending = post.exchange.breaksAt === 'never' && post.respondedAt === undefined
    const wasToBeRead = fateOf(post) === 'unknown' && fateOf({ ...post, respondedAt: endedAt }) === 'job'
    const hadTime =
      endedAt + DELIVERY_MS < this.#lastPostAt && this.secondSignalAt === NEVER && !this.wasKilled
    return isPending && wasToBeRead && hadTime
  }

  /** Whether the process was there to read the response to a POST, within its own limits. */
  wasRead({ startedAt, respondedAt: at = NEVER }: Entry): boolean {
    const end = Math.min(this.secondSignalAt, this.killedAt)
    // What is frozen then reads nothing more.
    const readUntil = this.freezes.find(({ from, to }) => from <= end && end <= to)?.from ?? end
    return (
      at + this.toleranceMs <= readUntil &&
      this.arrivedBefore(at, Math.min(this.#lastPostAt, startedAt + POST_MS))
    )
  }

  /**
   * Whether a response that was whole at this time was in the process's socket at its limit. The action reads what has
   * arrived before it acts on a limit, so it doesn't matter how busy the machine is, unless there is a proxy between; or
   * for how long the process froze, if it froze before the limit.
   */
  arrivedBefore(at: number, limit: number): boolean {
    const marginMs = this.plan.proxy ? this.toleranceMs : DELIVERY_MS
    const isIn = (before: number): boolean => at + marginMs < before
    return isIn(limit) || this.freezes.some(({ from, to }) => from + DELIVERY_MS < limit && isIn(to))
  }

  /** Whether a POST had been begun, and not been responded to, at or shortly after this time. */
  isPostPendingAt(at: number): boolean {
    return this.posts.some(
      ({ startedAt, respondedAt = NEVER }) =>
        startedAt < at + this.toleranceMs && respondedAt > at - this.toleranceMs,
    )
  }

  /** Whether nothing kept the step from writing what it remembers, and from its last edit. */
  get couldWrite(): boolean {
    const { endedAt } = this.step
    const wasHindered = this.wasKilled || this.secondSignalAt < NEVER || this.freezes.length > 0
    if (wasHindered) return false
    // The last edits have 1 s after the deadline, 3 s after a cancel. A step that took less was not cut short.
    const wasCut = endedAt >= this.deadlineAt + 950 || endedAt >= this.cancelledAt + 2_950
    return this.github?.healthy === true && !wasCut
  }
}

/** The only one is `malformed` if the runner could not read the file, or a workflow not the job. */
export function readOutputs(file: string): Readonly<Record<string, string>> {
  try {
    const outputs = parseOutputs(file)
    JSON.parse(outputs.job || 'null')
    return outputs
  } catch (thrown) {
    return { malformed: String(thrown) }
  }
}

function startupMs({ spawnedAt, firstOutputAt = spawnedAt }: StepRecord): number {
  return firstOutputAt - spawnedAt
}

/** Of the response, or of the one that was to come. */
export function statusOf({ exchange }: Entry): number {
  return exchange.response.status
}

/** Whether a refusal says something about the job that the message was for. */
export function isAboutTheJob(status: number): boolean {
  return status >= 400 && status < 500 && !NOT_OF_THE_JOB.includes(status)
}

/** A push shows write access already, and so does an app's event on a branch of the repository. */
function askedFor({ event, inputs, cause: { action, sender, author } }: StepPlan): Person[] {
  const showsAccess =
    event === 'workflow_dispatch' ||
    (event === 'pull_request' && (action === 'synchronize' || sender === 'app[bot]'))
  const allowed = (inputs['allow-users'] ?? '').toLowerCase().split(', ')
  const people = showsAccess ? [] : event === 'issue_comment' ? [sender, author] : [sender]
  return people.filter((person) => !allowed.includes('*') && !allowed.includes(person))
}

/** What a run leaves for the next one. */
export type Marker = NonNullable<ReturnType<typeof markerIn>>

export const MARKER = /(<!-- agent-job-action:2 [\w-]{22} )([\w-]+)( [\w-]{43} -->)/

/** Reads without the key what only a genuine step has written here. */
export function markerIn(text: string) {
  const data = MARKER.exec(text)?.[2]
  if (data === undefined) return undefined
  const stored = JSON.parse(Buffer.from(data, 'base64url').toString())
  const [jobId, link, run, attempt, state]: [string, string, string, number, string] = stored
  return { jobId, link, run, attempt, state }
}

export function markersIn(texts: readonly string[]): Marker[] {
  return texts.map(markerIn).filter((marker) => marker !== undefined)
}

/** What GitHub holds after a step for a step with these inputs. */
export function memoryAfter({ comments, checks }: StepRecord, step: StepPlan) {
  const { inputs, event, runId, task } = step
  const scope = inputs['job-scope']
  const hasNumber = event === 'pull_request' || inputs['issue-number'] !== undefined
  const isComment = task === 'create' && (scope === 'issue' || (scope === 'pull-request' && hasNumber))
  const isCheck = inputs.check === 'true' && event !== 'issue_comment'
  const ofChecks = markersIn(checks.map(({ output }) => output.text ?? ''))
  return {
    /** Whether the comment decides, and whether there has to be a check. */
    isComment,
    isCheck,
    comment: isComment ? markersIn(comments).at(-1) : undefined,
    /** That of the newest check of this run. */
    check: isCheck ? ofChecks.findLast(({ run }) => run === String(runId)) : undefined,
  }
}
