/** What must hold for every run, whatever it met. */

import { parseOutputs } from '../../emulator/runner.mjs'
import type { Done, RunRecord, StepRecord } from './execute.js'
import { type Fate, fateOf, isId, jobOf } from './fate.js'
import { INJECTED, keyForms } from './hostile.js'
import { type Marker, type Memory, markerIn, markersIn, memoryAfter } from './memory.js'
import {
  DOCS_LINK,
  DOCS_TOKEN,
  FINAL_POST_MS,
  type Person,
  type Plan,
  REPOSITORY,
  type StepPlan,
  TOKEN,
} from './plan.js'
import { type Entry, isCreate, isMessage, jobIdIn } from './service.js'
import type { Exchange } from './service-plan.js'

const OUTCOMES =
  'started pr-opened no-changes failed archived timed-out cancelled skipped dry-run error'.split(' ')
const ERROR_CODES =
  'input auth not-found rejected rate-limited network create-unknown contract github internal'.split(' ')
const STATUSES = ['active', 'completed', 'archived', 'failed']
const LINK = /^https?:\/\/[A-Za-z0-9._~:/?#@%=+,-]+$/

/** How slow this machine is: what a process takes from its start to its first line, in milliseconds. */
export interface Machine {
  readonly startupMs: number
}

/** How long bytes may be on their way from one process to another. */
const DELIVERY_MS = 100
/** How long GitHub is asked who may start a job, at most. */
const GITHUB_MS = 60_000
/** How long the check of a step with bad input may take. */
const LATE_CHECK_MS = 10_000
/** How long the comment may take after that. */
const COMMENT_MS = { cancelled: 3_000, deadline: 5_000 }
/** Outcomes of a job that was seen to its end. */
const ENDED = ['pr-opened', 'no-changes', 'failed', 'archived']
/** What a refusal says of the key, the time or the limit, and not of the job. */
const NOT_OF_THE_JOB = [401, 403, 408, 425, 429]
/** How long a 404 has to be repeated before it is believed, less what timers may be early. */
const GONE_MS = 10_000 - DELIVERY_MS
/** States of a run that sent nothing, or nothing that was accepted. */
const NOTHING = ['unsent', 'skipped']

/** A list of what is violated, empty if all is well. */
export function violations(record: RunRecord, machine: Machine): string[] {
  return record.steps.flatMap((step, index) => {
    const done = step.done.map(({ what, at }) => `${what} at ${Math.round(at - step.spawnedAt)} ms`)
    return new Checker(record.plan, step, record.steps[index - 1], machine)
      .check()
      .map((text) => (record.steps.length > 1 ? `step ${index + 1}: ${text}` : text))
      .map((text) => (done.length > 0 ? `${text} (${done.join(', ')})` : text))
  })
}

class Checker {
  readonly #found: string[] = []
  readonly #outputs: Readonly<Record<string, string>>
  readonly #posts: readonly Entry[]
  readonly #lines: readonly string[]
  /** Waits of this length or less are the machine's. */
  readonly #toleranceMs: number
  readonly #signals: readonly Done[]
  readonly #wasKilled: boolean
  readonly #lostLog: boolean

  constructor(
    readonly plan: Plan,
    readonly step: StepRecord,
    /** The step before it, if there was one. */
    readonly previous: StepRecord | undefined,
    machine: Machine,
  ) {
    this.#posts = step.entries.filter(({ method }) => method.startsWith('P'))
    this.#lines = step.stdout.split(/\r\n|\r|\n/)
    const ownStartupMs = (step.firstOutputAt ?? step.spawnedAt) - step.spawnedAt
    this.#toleranceMs = 1_000 + 4 * Math.max(machine.startupMs, ownStartupMs)
    this.#signals = step.done.filter(({ what }) => what === 'SIGINT' || what === 'SIGTERM')
    this.#wasKilled = step.done.some(({ what }) => what === 'SIGKILL')
    this.#lostLog = step.done.some(({ what }) => what === 'close-log')
    this.#outputs = this.#parse()
  }

  check(): string[] {
    this.#checkRequests()
    this.#checkLog()
    this.#checkKey()
    this.#checkSubmits()
    this.#checkJob()
    this.#checkNotFound()
    if (this.plan.github !== undefined) {
      this.#checkGitHub()
      this.#checkMemory()
      this.#checkRefused()
    }
    if (!this.#wasKilled) {
      this.#checkExit()
      this.#checkTime()
      if (!this.step.plan.fullDisk) this.#checkOutputs()
      if (!this.#lostLog) this.#checkAnnotations()
    }
    return this.#found
  }

  #must(holds: boolean, text: string): void {
    if (!holds) this.#found.push(text)
  }

  #parse(): Readonly<Record<string, string>> {
    try {
      return parseOutputs(this.step.outputFile)
    } catch (thrown) {
      this.#found.push(`the output file is malformed: ${thrown}`)
      return {}
    }
  }

  /** Every request carries the key and asks for what the step is about; a step that sends nothing sends nothing. */
  #checkRequests(): void {
    const { inputs, task } = this.step.plan
    const expected = `authorization: Bearer ${inputs['api-key']}`
    for (const { method, path, headers, complete, body } of this.step.entries) {
      if (!complete) continue
      this.#must(headers.split('\n').includes(expected), `${method} ${path} has no key`)
      const start = `${this.plan.transport.prefix}/v2/agent/${encodeURIComponent(inputs['project-id'] ?? '')}/job`
      this.#must(path.startsWith(start), `${method} asks for ${path}`)
      if (method === 'POST') this.#must('prompt' in JSON.parse(body), 'a POST has no prompt')
    }
    if (task === 'bad-input') this.#must(this.step.entries.length === 0, 'bad input, and something was sent')
    if (task === 'attach' || inputs['dry-run'] === 'true')
      this.#must(this.#posts.length === 0, 'a step that must send nothing sent something')
    if (task === 'message' || task === 'attach') {
      const { knownJob } = this.plan
      for (const entry of this.step.entries)
        if (entry.complete) this.#must(jobIdIn(entry) === knownJob, `asked for job ${jobIdIn(entry)}`)
    }
  }

  /** A POST is followed by another only if a whole response proves that it was refused. */
  #checkSubmits(): void {
    this.#posts.slice(0, -1).forEach((entry, index) => {
      const fate = this.#fateOf(entry)
      const status = entry.exchange?.response.status ?? 0
      const temporary = status === 429 || (isMessage(entry) && (status === 409 || status === 404))
      const next = this.#posts[index + 1]
      const isReplaced = isMessage(entry) && next !== undefined && isCreate(next) && isAboutTheJob(status)
      this.#must(
        (fate === 'refused' || fate === 'any') && (temporary || isReplaced),
        `POST ${index + 1} was sent again without proof that it was refused`,
      )
    })
  }

  /** A 404 of a job is believed when it is repeated, and never of one that this step has just created. */
  #checkNotFound(): void {
    const { 'error-code': code, 'job-id': jobId = '' } = this.#outputs
    const last = this.#posts.at(-1)
    const wasRefused = last !== undefined && ['refused', 'any'].includes(this.#fateOf(last))
    if (code !== 'not-found' || wasRefused) return
    const { spawnedAt, endedAt, timeoutMs } = this.step
    // Who only waits has no time to ask again at the deadline.
    const wasLast = last === undefined && endedAt - spawnedAt > timeoutMs * 0.9 - 100
    const isOwn = last !== undefined && isCreate(last)
    this.#must(
      !isOwn && (wasLast || this.#isGone(jobId, endedAt)),
      `a 404 of job ${jobId} was believed too early`,
    )
  }

  /** The status requests before a certain time. */
  #polls(jobId: string, before: number): readonly Entry[] {
    return this.step.entries.filter(
      (entry) => entry.method === 'GET' && jobIdIn(entry) === jobId && entry.startedAt < before,
    )
  }

  /** Whether the last of them all got a 404, for long enough. */
  #isGone(jobId: string, before: number): boolean {
    const polls = this.#polls(jobId, before)
    const isMissing = ({ exchange }: Entry): boolean => exchange?.response.status === 404
    const from = polls.findLastIndex((entry) => !isMissing(entry)) + 1
    const [first, last] = [polls[from], polls.at(-1)]
    return first !== undefined && last !== undefined && last.startedAt - first.startedAt >= GONE_MS
  }

  /** Whether the job had ended, as far as this step knew, and then refused the message before this create. */
  #refusedAsEnded(jobId: string, create: Entry): boolean {
    const before = this.#posts.slice(0, this.#posts.indexOf(create))
    const last = before.at(-1)
    const status = last?.exchange?.response.status ?? 0
    const conflicts = before.slice(-3).filter(({ exchange }) => exchange?.response.status === 409)
    if (last === undefined || !isMessage(last) || !isAboutTheJob(status)) return false
    if (status === 409 && conflicts.length < 3) return false
    const seen = this.#polls(jobId, last.startedAt).findLast((entry) => this.#statusIn(entry) !== '')
    return seen !== undefined && this.#statusIn(seen) !== 'active'
  }

  /** The job's status in a whole response. */
  #statusIn(entry: Entry): string {
    const { status, body } = entry.exchange?.response ?? {}
    const isWhole = entry.respondedAt !== undefined && status !== undefined && status >= 200 && status < 300
    return isWhole && body !== undefined && 'status' in body ? body.status : ''
  }

  /** Nobody without write access starts a job; and nothing is sent if GitHub doesn't say what has to be known first. */
  #checkRefused(): void {
    const { plan, githubRequests, spawnedAt, endedAt, timeoutMs } = this.step
    const { context, check, 'context-paths': paths } = plan.inputs
    if (plan.task === 'attach' || this.#gitHubLies()) return
    const { isComment } = memoryAfter(this.step, plan)
    const asks = asksWhoMayStart(plan)
    const mustNot = (reason: string): void =>
      this.#must(this.#posts.length === 0, `${reason}, and something was sent`)
    if (asks && !mayStart(plan)) mustNot('somebody without write access is the cause')
    const hasOwnComment =
      plan.cause.ownComment && isComment && markersIn(this.previous?.comments ?? []).length > 0
    if (hasOwnComment) {
      mustNot("the event is about the step's own comment")
      // A step that is cancelled, or has no time to read the comments, says that instead.
      const wasInTime = this.#signals.length === 0 && endedAt < spawnedAt + timeoutMs
      if (mayStart(plan) && wasInTime && this.#couldWrite())
        this.#must(this.#outputs.outcome === 'skipped', `its own comment is ${this.#outputs.outcome}`)
    }
    const decisive = [
      ...(asks ? [/\/permission$/] : []),
      ...(context !== 'none' || paths !== undefined ? [/\/files\?/, /\/actions\//, /\/compare\//] : []),
      ...(isComment ? [/\/comments\?/] : []),
      ...(check === 'true' && plan.attempt > 1 ? [/\/check-runs\?/] : []),
    ]
    for (const { method, path, status } of githubRequests) {
      const isDecisive = method === 'GET' && decisive.some((pattern) => pattern.test(path))
      if (isDecisive && this.#isRefusal(status)) mustNot(`GitHub answered ${status} to ${path}`)
    }
  }

  /** With `Retry-After`, 403 is a limit. */
  #isRefusal(status: number | string): boolean {
    const isLimit = this.plan.github?.faults.some(
      ({ answer }) => typeof answer === 'object' && 'headers' in answer && answer.headers['retry-after'],
    )
    return status === 401 || status === 404 || (status === 403 && !isLimit)
  }

  /** What the service may have accepted is told. */
  #checkJob(): void {
    const last = this.#posts.at(-1)
    if (last === undefined || this.step.plan.fullDisk) return
    const { outcome = '', 'error-code': code = '', 'job-id': jobId = '' } = this.#outputs
    const says = `the step says ${outcome} ${code}`
    const fate = this.#fateOf(last)
    const wasRead = this.#readInTime(last.respondedAt)
    if (fate === 'job' && wasRead) {
      const id = isMessage(last) ? jobIdIn(last) : jobOf(last)
      // An id with the key in it is redacted.
      this.#must(
        jobId === id || id.includes(this.plan.key),
        `the service answered with job ${id}, job-id is ${jobId || 'empty'}`,
      )
      const { transport } = this.plan
      // A proxy that wants other credentials ends the polls, too.
      const wants = transport.kind === 'proxy' && transport.connects.includes(407)
      this.#must(
        !['create-unknown', 'rate-limited', ...(wants ? [] : ['network'])].includes(code),
        `the service answered with a job, ${says}`,
      )
    }
    if (this.#gaveUpEarly(last)) this.#must(false, `gave up on the POST before its time was up, ${says}`)
    // A POST on a connection that breaks before anything is read is sent, and the service knows nothing of it.
    const isLast = this.plan.service.connections.every((what) => what === 'ok')
    if (fate === 'refused' && wasRead && isLast)
      this.#must(code !== 'create-unknown', `the service refused, ${says}`)
    if (this.#wasKilled) return
    const knows = code === 'create-unknown' || code === 'contract'
    if (fate !== 'refused' && fate !== 'any' && jobId === '')
      this.#must(knows, `the service may have accepted something, ${says}`)
    if (fate === 'unknown')
      this.#must(code === 'create-unknown', `nobody knows what became of the POST, ${says}`)
  }

  /** Node's TLS drops what has arrived but was not read yet, if a reset follows it. */
  #fateOf(entry: Entry): Fate {
    const isReset = entry.respondedAt !== undefined && entry.exchange?.response.afterwards === 'reset'
    return isReset && this.plan.transport.kind !== 'http' ? 'any' : fateOf(entry)
  }

  /** Whether the step ended while the service was about to respond with a job, and there was time for that. */
  #gaveUpEarly(post: Entry): boolean {
    const { spawnedAt, timeoutMs, endedAt } = this.step
    const isPending = post.complete && post.exchange?.breaksAt === 'never' && this.#fateOf(post) === 'unknown'
    const [first, second] = this.#signals
    if (!isPending || second !== undefined) return false
    if (post.respondedAt !== undefined || this.#fateOf({ ...post, respondedAt: endedAt }) !== 'job')
      return false
    const limit = Math.min(spawnedAt + timeoutMs, first?.at ?? Number.POSITIVE_INFINITY) + FINAL_POST_MS
    return !this.#wasKilled && endedAt + DELIVERY_MS < limit
  }

  /** Whether the process was there to read what had come by then, within its own limits. */
  #readInTime(at: number | undefined): boolean {
    if (at === undefined) return false
    const { spawnedAt, timeoutMs, endedAt, done, entries } = this.step
    const [first, second] = this.#signals
    const post = entries.findLast(({ respondedAt }) => respondedAt === at)
    const limits = [
      spawnedAt + timeoutMs + FINAL_POST_MS,
      (first?.at ?? Number.POSITIVE_INFINITY) + FINAL_POST_MS,
      (post?.startedAt ?? at) + 60_000,
    ]
    const limit = Math.min(...limits)
    const frozen = freezes(done, endedAt)
    const ends = [second, done.find(({ what }) => what === 'SIGKILL')].map((event) => {
      const end = event?.at ?? Number.POSITIVE_INFINITY
      // What is frozen then reads nothing more.
      return frozen.find(({ from, to }) => from <= end && end <= to)?.from ?? end
    })
    if (at + this.#toleranceMs > Math.min(...ends)) return false
    return this.#arrivedBefore(at, limit)
  }

  /**
   * Whether a response that was whole at this time was in the process's socket at its limit. The action reads what has
   * arrived before it acts on a limit, so it doesn't matter how busy the machine is, unless there is a proxy between; or
   * for how long the process froze, if it froze before the limit.
   */
  #arrivedBefore(at: number, limit: number): boolean {
    const marginMs = this.plan.transport.kind === 'proxy' ? this.#toleranceMs : DELIVERY_MS
    if (at + marginMs < limit) return true
    return freezes(this.step.done, this.step.endedAt).some(
      ({ from, to }) => from + DELIVERY_MS < limit && at + marginMs < to,
    )
  }

  #checkExit(): void {
    const { exitCode, signal, plan, stderr } = this.step
    this.#must(
      exitCode === 0 || exitCode === 1,
      `ended with ${signal === undefined ? `exit code ${exitCode}` : signal}`,
    )
    // Node itself warns of NODE_TLS_REJECT_UNAUTHORIZED, which the action does not honour.
    const own = stderr.replace(/^\(node:\d+\) Warning: Setting the NODE_TLS.*\n\(Use .*\n/, '')
    this.#must(own === '', `stderr: ${own.slice(0, 500)}`)
    if (plan.fullDisk) {
      const nothingToWrite = this.#posts.length === 0
      this.#must(exitCode === 1, 'the outputs could not be written, and the step is green')
      this.#must(nothingToWrite, 'the outputs could not be written, and something was sent')
      return
    }
    const failOn = (plan.inputs['fail-on'] ?? 'failed,archived,timed-out').split(/[\s,]+/)
    const { outcome = '' } = this.#outputs
    const fails = outcome === 'error' || outcome === 'cancelled' || failOn.includes(outcome)
    this.#must(exitCode === (fails ? 1 : 0), `exit code ${exitCode} with ${outcome || 'no outcome'}`)
  }

  #checkTime(): void {
    const { spawnedAt, endedAt, done, firstOutputAt = spawnedAt } = this.step
    const frozen = freezes(done, endedAt)
    const usesGitHub = this.plan.github !== undefined
    // Bad input may be a bad time limit: then GitHub's own count.
    const isBad = this.step.plan.task === 'bad-input'
    const timeoutMs = Math.max(
      this.step.timeoutMs,
      isBad ? LATE_CHECK_MS : 0,
      isBad && asksWhoMayStart(this.step.plan) ? GITHUB_MS : 0,
    )
    const limits = [
      {
        name: 'its deadline',
        at:
          firstOutputAt +
          timeoutMs +
          (this.#postPendingAt(spawnedAt + timeoutMs) ? FINAL_POST_MS : 0) +
          (usesGitHub ? COMMENT_MS.deadline : 0),
      },
      ...this.#deliveredSignals(frozen).map(({ at }, index) => ({
        name: index === 0 ? 'a signal' : 'a second signal',
        at:
          at +
          1_000 +
          (index === 0 && this.#postPendingAt(at) ? FINAL_POST_MS : 0) +
          (index === 0 && usesGitHub ? COMMENT_MS.cancelled : 0),
      })),
    ]
    for (const { name, at } of limits) {
      // A signal that comes while the process is frozen comes when it goes on.
      const frozenMs = frozen.reduce(
        (sum, { from, to }) => sum + (from < at + this.#toleranceMs ? to - from : 0),
        0,
      )
      const lateMs = endedAt - at - frozenMs
      this.#must(lateMs < this.#toleranceMs, `ended ${Math.round(lateMs)} ms too late after ${name}`)
    }
  }

  /** Without those that may have been dropped: a process has at most one pending signal of each kind (signal(7)). */
  #deliveredSignals(frozen: ReturnType<typeof freezes>): readonly Done[] {
    return this.#signals.filter(({ what, at }, index) => {
      const before = this.#signals[index - 1]
      if (before?.what !== what) return true
      const areBothIn = frozen.some(({ from, to }) => from <= before.at && at <= to)
      return at - before.at > DELIVERY_MS && !areBothIn
    })
  }

  /** Whether a POST had been begun, and not been responded to, at or shortly after this time. */
  #postPendingAt(at: number): boolean {
    return this.#posts.some(
      ({ startedAt, respondedAt = Number.POSITIVE_INFINITY }) =>
        startedAt < at + this.#toleranceMs && respondedAt > at - this.#toleranceMs,
    )
  }

  #checkOutputs(): void {
    const outputs = this.#outputs
    const { outcome = '', 'error-code': code = '', status = '' } = outputs
    const { 'pr-link': link = '', 'job-id': jobId = '', job = '' } = outputs
    const isOne = (name: string, words: readonly string[]): void =>
      this.#must(words.includes(outputs[name] ?? '(none)'), `${name} is ${outputs[name]}`)
    isOne('outcome', OUTCOMES)
    isOne('status', ['', ...STATUSES])
    isOne('reused', ['true', 'false'])
    isOne('error-code', ['', ...ERROR_CODES])
    this.#must(
      (code !== '') === (outcome === 'error') || (outcome === 'cancelled' && code === 'create-unknown'),
      `error-code ${code} with ${outcome}`,
    )
    this.#must(code !== 'internal', 'error-code is internal')
    this.#must(/^\d+$/.test(outputs['elapsed-seconds'] ?? ''), 'elapsed-seconds is no number')
    this.#must(link === '' || (LINK.test(link) && !/\/\/[^/]*@/.test(link)), `pr-link is ${link}`)
    this.#must(/^\d*$/.test(outputs['pr-number'] ?? ''), `pr-number is ${outputs['pr-number']}`)
    this.#must(jobId === '' || isId(jobId) || jobId.includes('***'), `job-id is ${jobId}`)
    this.#must(
      (outcome === 'pr-opened') ===
        (outcome !== 'no-changes' &&
          link !== '' &&
          status === 'completed' &&
          !['error', 'cancelled', 'timed-out', 'started'].includes(outcome)),
      `${outcome} with ${status} and link ${link}`,
    )
    this.#must(outcome !== 'cancelled' || this.#signals.length > 0, 'cancelled without a signal')
    if (outcome === 'timed-out') {
      const elapsedMs = this.step.endedAt - this.step.spawnedAt
      this.#must(elapsedMs > this.step.timeoutMs * 0.9 - 100, `timed out after ${elapsedMs} ms`)
    }
    if (['failed', 'archived'].includes(outcome)) this.#must(status === outcome, `${outcome} with ${status}`)
    if (job !== '') {
      try {
        JSON.parse(job)
      } catch {
        this.#must(false, 'the output job is not JSON')
      }
    }
    // Who may start a job is asked first.
    const isAsked = asksWhoMayStart(this.step.plan) && ['skipped', 'github'].includes(code || outcome)
    if (this.step.plan.task === 'bad-input' && this.#signals.length === 0 && !isAsked)
      this.#must(code === 'input', `bad input is ${outcome} ${code}`)
    this.#checkSummary()
    this.#checkEnding()
  }

  #checkSummary(): void {
    const { summary } = this.step
    this.#must(summary.startsWith('### ') && summary.endsWith('\n'), 'the summary has no title')
    this.#must(!/undefined|\[object|NaN/.test(summary), 'the summary has an undefined value')
    this.#checkMarkup(summary, 'the summary')
    this.#checkTruth(summary, 'the summary')
  }

  /** "Nothing was sent" only if nothing was, and "is running" only if the last response said so. */
  #checkTruth(text: string, where: string): void {
    const saysRunning = /\b(?:keeps|is still) running\b/.exec(text)?.[0]
    const last = this.step.entries.at(-1)
    if (saysRunning !== undefined && (last === undefined || this.#fateOf(last) !== 'any')) {
      const isActive = last !== undefined && this.#statusIn(last) === 'active'
      const { 'job-id': jobId = '' } = this.#outputs
      // An id that has the key in it is redacted in the outputs.
      const isIt = this.step.plan.fullDisk || jobId.includes('***') || (last && jobOf(last) === jobId)
      this.#must(isActive && isIt === true, `${where} says "${saysRunning}" without knowing`)
    }
    const saysNothing = /nothing was sent|had not accepted anything/i.exec(text)?.[0]
    const unrefused = this.#posts.filter((entry) => !['refused', 'any'].includes(this.#fateOf(entry)))
    if (saysNothing === undefined) return
    const sent = /sent/i.test(saysNothing) ? this.#posts : unrefused
    this.#must(sent.length === 0, `${where} says "${saysNothing}", but it was`)
  }

  #checkMarkup(text: string, where: string): void {
    // Text in code is not markup; entities are no tags.
    const live = text.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')
    this.#must(!live.includes(INJECTED), `${where} has live markup from outside`)
    this.#must(!/[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]/.test(text), `${where} has control characters`)
  }

  /** A job that was seen to end is told to have ended. */
  #checkEnding(): void {
    const { plan, timeoutMs, entries } = this.step
    const { outcome = '' } = this.#outputs
    // A later step also asks for the job of the step before it.
    if (
      this.previous !== undefined ||
      plan.inputs.wait === 'false' ||
      this.#signals.length > 0 ||
      this.#posts.some(isMessage)
    )
      return
    for (const entry of entries) {
      const { exchange, respondedAt, method } = entry
      if (method !== 'GET' || exchange === undefined || respondedAt === undefined) continue
      const { status, body } = exchange.response
      if (
        status < 200 ||
        status > 299 ||
        status === 204 ||
        body.kind !== 'job' ||
        this.#fateOf(entry) === 'any'
      )
        continue
      const isEnd = ['completed', 'failed', 'archived'].includes(body.status)
      const inTime = this.#arrivedBefore(respondedAt, this.step.spawnedAt + timeoutMs)
      if (!isEnd || !inTime) continue
      const expected = body.status === 'completed' ? ['pr-opened', 'no-changes'] : [body.status]
      this.#must(
        expected.includes(outcome),
        `the job was told to be ${body.status}, the step says ${outcome}`,
      )
    }
  }

  /** No line is a command but the action's own. */
  #checkLog(): void {
    let masks = true
    for (const line of this.#lines) {
      this.#must(
        !/[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]/.test(line),
        `control characters: ${JSON.stringify(line)}`,
      )
      const [, name = '', data = ''] = /^\s*::(.*?)(?: .*?)?::(.*)$/.exec(line) ?? []
      const isMask = name === 'add-mask'
      this.#must(isMask || !line.includes('##['), `a command: ${line}`)
      this.#must(!isMask || masks, `a mask in the middle: ${line}`)
      masks &&= isMask
      if (!line.trimStart().startsWith('::')) continue
      this.#must(
        /^::(?:add-mask|debug|notice|warning|error|group|endgroup)(?: [^:]*)?::/.test(line) &&
          !data.startsWith(INJECTED),
        `a command: ${line}`,
      )
    }
  }

  #checkAnnotations(): void {
    const errors = this.#commands('error')
    const notices = this.#commands('notice')
    this.#must(
      errors.length === (this.step.exitCode === 1 ? 1 : 0),
      `${errors.length} error annotations with exit code ${this.step.exitCode}`,
    )
    this.#must(errors.length + notices.length <= 1, 'a notice and an error')
    for (const text of [...errors, ...notices]) this.#checkTruth(text, 'the annotation')
    const ends = this.#lines.filter((line) => line.startsWith('Finished after '))
    this.#must(
      ends.length === 1 &&
        (this.step.plan.fullDisk || ends[0]?.includes(`: ${this.#outputs.outcome}`) === true),
      `the log ends ${ends.length} times: ${ends.join(', ')}`,
    )
  }

  #commands(name: string): string[] {
    return this.#lines.flatMap((line) => new RegExp(`^::${name}(?: [^:]*)?::(.*)$`).exec(line)?.[1] ?? [])
  }

  /** The key is nowhere, in no form, neither in base64 nor as entities, and no large part of it. */
  #checkKey(): void {
    const log = this.#lines.filter((line) => !line.startsWith('::add-mask::')).join('\n')
    const places = {
      'the log': log,
      stderr: this.step.stderr,
      'the outputs': this.step.outputFile,
      'the summary': this.step.summary,
      'a request to GitHub': this.step.githubRequests
        .map(({ path, body }) => `${path}\n${textsIn(body).join('\n')}`)
        .join('\n'),
    }
    const { key } = this.plan
    // Half a key is a leak, too.
    const part = key.slice(5, 21)
    for (const [where, text] of Object.entries(places)) {
      for (const token of [TOKEN, DOCS_TOKEN]) this.#must(!text.includes(token), `a token is in ${where}`)
      for (const decoded of decodings(text)) {
        const form = [...keyForms(key), part].find((candidate) => decoded.includes(candidate))
        this.#must(form === undefined, `the key is in ${where}: ${form}`)
      }
    }
  }

  /** Each token goes where it may go, and what is written is well-formed. */
  #checkGitHub(): void {
    const { comments, checks, entries, githubRequests } = this.step
    for (const { path, headers } of githubRequests) {
      const isDocs = headers.authorization?.includes(DOCS_TOKEN) === true
      this.#must(
        !isDocs || (/\/pulls\/\d+$/.test(path) && !path.includes(REPOSITORY)),
        `docs-token was used for ${path}`,
      )
    }
    for (const { headers, body } of entries)
      this.#must(
        !headers.includes(TOKEN) && !headers.includes(DOCS_TOKEN) && !body.includes(TOKEN),
        'the service got a token',
      )
    const texts = [...comments, ...checks.map(({ output }) => output.summary ?? '')]
    for (const text of texts) this.#checkMarkup(text.replace(/<!--[^<>]*-->/g, ''), 'a comment or check')
    // A run that is stopped between creating its comment and signing it leaves one that nobody can trust.
    const most = this.plan.steps.indexOf(this.step.plan) + 1
    if (this.plan.github?.healthy !== true) return
    const count = markersIn(comments).length
    this.#must(count <= most, `${count} comments`)
  }

  #checkMemory(): void {
    const memory = memoryAfter(this.step, this.step.plan)
    const create = this.#posts.find(
      (entry) => isCreate(entry) && !['refused', 'any'].includes(this.#fateOf(entry)),
    )
    if (create !== undefined && memory.isComment && !this.#gitHubLies())
      this.#must(
        memory.comment?.run === String(this.step.plan.runId),
        'a create was sent that no comment remembers',
      )
    if (this.#couldWrite()) this.#checkWritten(memory)
    if (this.previous !== undefined && !this.#gitHubLies()) this.#checkContinued(this.previous)
  }

  /** GitHub answers 200 with what it does not mean: whoever believes it is not to blame. */
  #gitHubLies(): boolean {
    return (
      this.plan.github?.faults.some(
        ({ answer }) => typeof answer === 'object' && 'status' in answer && answer.status === 200,
      ) === true
    )
  }

  /** Whether nothing kept the step from writing what it remembers, and from its last edit. */
  #couldWrite(): boolean {
    const { plan, done, spawnedAt, timeoutMs, endedAt } = this.step
    const [first, second] = this.#signals
    const wasHindered = this.#wasKilled || second !== undefined || done.some(({ what }) => what === 'freeze')
    if (wasHindered || plan.fullDisk || plan.inputs['dry-run'] !== undefined) return false
    if (this.plan.github?.healthy !== true) return false
    // The last edits have 1 s after the deadline, 3 s after a cancel. A step that took less was not cut short.
    return endedAt < spawnedAt + timeoutMs + 950 && (first === undefined || endedAt < first.at + 2_950)
  }

  /** What is remembered is what was told. */
  #checkWritten({ isComment, isCheck, comment, check }: Memory): void {
    const { outcome = '', 'error-code': code = '', 'job-id': jobId = '' } = this.#outputs
    const isKnown = [...ENDED, 'started', 'timed-out'].includes(outcome) && !jobId.includes('***')
    if (isKnown || code === 'create-unknown') {
      if (isComment) this.#checkMarker('comment', comment, isKnown)
      if (isCheck) this.#checkMarker('check', check, isKnown)
    }
    if (isCheck) this.#checkConclusion()
  }

  #checkMarker(where: string, marker: Marker | undefined, isKnown: boolean): void {
    const { plan } = this.step
    const { outcome = '', 'job-id': told = '' } = this.#outputs
    const { run, attempt, jobId, state = '' } = marker ?? {}
    const isOwn = run === String(plan.runId) && attempt === plan.attempt
    this.#must(isOwn, `the ${where} does not remember this attempt`)
    if (!isKnown) {
      this.#must(state === 'unknown', `the ${where} remembers ${state}, and the result is unknown`)
      return
    }
    this.#must(jobId === told, `the ${where} remembers job ${jobId}, job-id is ${told}`)
    this.#must(
      ENDED.includes(state) === ENDED.includes(outcome),
      `the ${where} remembers ${state}, the outcome is ${outcome}`,
    )
  }

  #checkConclusion(): void {
    const { plan, checks, exitCode } = this.step
    const { outcome = '' } = this.#outputs
    const isStranger = asksWhoMayStart(plan) && !mayStart(plan) && outcome === 'skipped'
    if (isStranger && plan.event.startsWith('issue')) {
      const count = checks.length - (this.previous?.checks.length ?? 0)
      this.#must(count === 0, 'a stranger left a check on a commit that the event does not name')
      return
    }
    const conclusions: Readonly<Record<string, string>> = {
      'pr-opened': 'success',
      cancelled: 'cancelled',
      skipped: 'skipped',
      'timed-out': exitCode === 1 ? 'timed_out' : 'neutral',
    }
    const expected = conclusions[outcome] ?? (exitCode === 1 ? 'failure' : 'neutral')
    const own = checks.at(-1)
    this.#must(
      own?.conclusion === expected,
      `the check is concluded as ${own?.conclusion}, not as ${expected}`,
    )
    if (plan.task === 'bad-input' || outcome === 'skipped') return
    for (const { output, status } of checks)
      this.#must(
        markerIn(output.text ?? '')?.run !== String(plan.runId) || status === 'completed',
        'a check is left in progress',
      )
  }

  /** A step that shares the job of an earlier one waits for it or messages it, unless that is proven to be of no use. */
  #checkContinued(previous: StepRecord): void {
    const { plan, entries } = this.step
    const { github } = this.plan
    const { comment, check } = memoryAfter(previous, plan)
    const own = [check, comment].filter((memory) => memory?.run === String(plan.runId))
    const rerun = own.find((memory) => memory?.jobId !== '') ?? own[0]
    const seen = (jobId: string, isIt: (exchange: Exchange) => boolean): boolean =>
      entries.some(
        (entry) => jobIdIn(entry) === jobId && entry.exchange !== undefined && isIt(entry.exchange),
      )
    const [first] = this.#posts
    if (rerun !== undefined && rerun.jobId !== '' && ![...ENDED, ...NOTHING].includes(rerun.state)) {
      const mayWait = first === undefined || this.#isGone(rerun.jobId, first.startedAt)
      this.#must(mayWait, `a re-run has to wait for job ${rerun.jobId}, and sent something`)
    }
    if (comment === undefined || comment.jobId === '') return
    const { jobId, link } = comment
    const isOver = seen(
      jobId,
      ({ response: { body } }) => body.kind === 'job' && ['failed', 'archived'].includes(body.status),
    )
    const hasDocsToken = plan.inputs['docs-token'] !== undefined
    const isClosed = hasDocsToken && github?.docsPull === 'closed'
    for (const post of this.#posts) {
      if (isMessage(post)) {
        this.#must(jobIdIn(post) === jobId, `a message to ${jobIdIn(post)}, and job ${jobId} is remembered`)
        continue
      }
      if (!isCreate(post)) continue
      const isGone = this.#isGone(jobId, post.startedAt) || this.#refusedAsEnded(jobId, post)
      const hasReason = isGone || isOver || isClosed
      this.#must(hasReason, `another job was created, and job ${jobId} is remembered`)
      const isOpen = hasDocsToken && github?.docsPull === 'open' && github.healthy
      const hasOtherLink = seen(
        jobId,
        ({ response: { body } }) => body.kind === 'job' && !!body.link && body.link !== link,
      )
      if (
        post.complete &&
        link === DOCS_LINK &&
        isOpen &&
        !hasOtherLink &&
        freezes(this.step.done, 0).length === 0
      )
        this.#must(
          JSON.parse(post.body).prompt.includes(link),
          'the prompt does not name the open pull request',
        )
    }
  }
}

/** Those who have to have write access. A push shows it already, and so does an app's event on a branch of the repository. */
function askedFor({ event, inputs, cause: { action, sender, before, author } }: StepPlan): Person[] {
  const showsAccess =
    event === 'workflow_dispatch' ||
    (event === 'workflow_run' && before === 'push') ||
    (event === 'pull_request' && (action === 'synchronize' || sender === 'app[bot]'))
  const hasAuthor = event === 'issue_comment' || event === 'pull_request_review'
  const allowed = (inputs['allow-users'] ?? '').toLowerCase().split(', ')
  const people = showsAccess ? [] : hasAuthor ? [sender, author] : [sender]
  return people.filter((person) => !allowed.includes('*') && !allowed.includes(person))
}

function asksWhoMayStart(plan: StepPlan): boolean {
  return askedFor(plan).length > 0
}

function mayStart(plan: StepPlan): boolean {
  return askedFor(plan).every((person) => person === 'writer')
}

/** Whether a refusal says something about the job that the message was for. */
function isAboutTheJob(status: number): boolean {
  return status >= 400 && status < 500 && !NOT_OF_THE_JOB.includes(status)
}

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function* decodings(text: string): Generator<string> {
  yield text
  const plain = text
    .replaceAll('%0A', '\n')
    .replaceAll('%0D', '\r')
    .replaceAll('%25', '%')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
  yield plain
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_=-]{24,}/g)) {
    yield Buffer.from(run, 'base64url').toString('latin1')
    yield Buffer.from(run, 'base64').toString('latin1')
  }
}

/** When the process stood still. */
function freezes(done: readonly Done[], endedAt: number): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  let from: number | undefined
  for (const { what, at } of done) {
    if (what === 'freeze') from ??= at
    if (what === 'thaw' && from !== undefined) {
      found.push({ from, to: at })
      from = undefined
    }
  }
  if (from !== undefined) found.push({ from, to: endedAt })
  return found
}
