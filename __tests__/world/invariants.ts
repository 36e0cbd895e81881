/** What must hold for every run, whatever it met. */

import { STATUSES } from '../../src/agent/job.js'
import { OUTPUTS } from '../../src/report/messages.js'
import { DOCS_TOKEN, FINAL_POST_MS, REPOSITORY, TOKEN } from './draw.js'
import type { RunRecord, StepRecord } from './execute.js'
import {
  DELIVERY_MS,
  Facts,
  isAboutTheJob,
  type Marker,
  markerIn,
  markersIn,
  memoryAfter,
  statusOf,
} from './facts.js'
import { INJECTED, keyForms } from './hostile.js'
import { type Entry, fateOf, isCreate, isId, isMessage, jobIdIn, jobIn } from './service.js'

const LINK = /^https?:\/\/[A-Za-z0-9._~:/?#@%=+,-]+$/
const CONTROL_CHARACTERS = /[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]/

/** How long the comment may take after a cancel or the deadline. */
const COMMENT_MS = { cancelled: 3_000, deadline: 5_000 }
/** How long the last poll may take after a freeze over the deadline. */
const LATE_POLL_MS = 2_000
/** Outcomes of a job that was seen to its end. */
const ENDED = ['pr-opened', 'no-changes', 'failed', 'archived']
/** States of a run that sent nothing, or nothing that was accepted. */
const NOTHING = ['unsent', 'skipped']

/** A list of what is violated, empty if all is well. */
export function violations({ plan, steps }: RunRecord, startupMs: number): string[] {
  return steps.flatMap((step, index) => {
    const after = (at: number): number => Math.round(at - step.spawnedAt)
    const done = step.done.map(({ what, at, until = at }) => `${what} at ${after(at)} to ${after(until)} ms`)
    const found = new Checker(plan, step, steps[index - 1], startupMs).check()
    return found.map((text) => [`step ${index + 1}: ${text}`, ...done].join('; '))
  })
}

class Checker extends Facts {
  readonly #found: string[] = []

  check(): string[] {
    const { malformed } = this.outputs
    this.#must(malformed === undefined, `the outputs are malformed: ${malformed}`)
    this.#checkRequests()
    this.#checkLog()
    this.#checkKey()
    this.#checkSubmits()
    this.#checkJob()
    this.#checkNotFound()
    if (this.github !== undefined) {
      this.#checkGitHub()
      this.#checkMemory()
      this.#checkRefused()
    }
    if (!this.wasKilled) {
      this.#checkExit()
      this.#checkTime()
      this.#checkOutputs()
      this.#checkSummary()
      this.#checkEnding()
      this.#checkAnnotations()
    }
    return this.#found
  }

  #must(holds: boolean, text: string): void {
    if (!holds) this.#found.push(text)
  }

  /** Every request carries the key and asks for what the step is about; a step that sends nothing sends nothing. */
  #checkRequests(): void {
    const { inputs, step } = this
    const { task } = step.plan
    const { knownJob } = this.plan
    for (const entry of step.entries) {
      const { method, path, headers, body } = entry
      const hasKey = headers.authorization === `Bearer ${inputs['api-key']}`
      this.#must(hasKey, `${method} ${path} has no key`)
      const project = encodeURIComponent(inputs['project-id'] ?? '')
      const isAsked = path.startsWith(`/v2/agent/${project}/job`)
      this.#must(isAsked, `${method} asks for ${path}`)
      if (method === 'POST') this.#must('prompt' in JSON.parse(body), 'a POST has no prompt')
      if (task !== 'create') this.#must(jobIdIn(entry) === knownJob, `asked for job ${jobIdIn(entry)}`)
    }
    if (task === 'attach') this.#must(this.posts.length === 0, 'a step that only waits sent something')
  }

  /** A POST is followed by another only if a whole response proves that it was refused. */
  #checkSubmits(): void {
    for (const [index, next] of this.posts.slice(1).entries()) {
      const post = this.posts[index] as Entry
      const status = statusOf(post)
      const isTemporary = status === 429 || (isMessage(post) && (status === 409 || status === 404))
      const isReplaced = isMessage(post) && isCreate(next) && isAboutTheJob(status)
      this.#must(
        this.mayBeRefused(post) && (isTemporary || isReplaced),
        `POST ${index + 1} was sent again without proof that it was refused`,
      )
      const { delayMs, response } = post.exchange
      const [, seconds] = response.headers.find(([name]) => name === 'retry-after') ?? []
      const waitedMs = next.startedAt - post.startedAt - delayMs
      const isEarly = status === 429 && waitedMs + DELIVERY_MS < Number(seconds) * 1_000
      this.#must(!isEarly, `POST ${index + 1} was sent again after ${waitedMs} ms, not ${seconds} s`)
    }
  }

  /** A 404 of a job is believed when it is repeated, and never of one that this step has just created. */
  #checkNotFound(): void {
    const last = this.posts.at(-1)
    if (this.code !== 'not-found' || (last !== undefined && this.mayBeRefused(last))) return
    // Who only waits has no time to ask again at the deadline.
    const wasLast = last === undefined && this.usedItsTime
    const isOwn = last !== undefined && isCreate(last)
    const isBelievable = !isOwn && (wasLast || this.isGone(this.jobId, this.step.endedAt))
    this.#must(isBelievable, `a 404 of job ${this.jobId} was believed too early`)
  }

  /** Nobody without write access starts a job; and nothing is sent if GitHub doesn't say what has to be known first. */
  #checkRefused(): void {
    const { asked, inputs, memory } = this
    const { plan, githubRequests } = this.step
    if (plan.task === 'attach') return
    const mustNot = (reason: string): void =>
      this.#must(this.posts.length === 0, `${reason}, and something was sent`)
    if (!this.mayStart) mustNot('somebody without write access is the cause')
    const mayBeOwn = plan.isOwnComment && memory.isComment
    if (mayBeOwn && markersIn(this.previous?.comments ?? []).length > 0)
      mustNot("the event is about the step's own comment")
    const usesChanges = inputs.context !== 'none' || inputs['context-paths'] !== undefined
    const decisive = [
      ...(asked.length > 0 ? [/\/permission$/] : []),
      ...(usesChanges ? [/\/files\?/, /\/actions\//, /\/compare\//] : []),
      ...(memory.isComment ? [/\/comments\?/] : []),
      ...(inputs.check === 'true' && plan.attempt > 1 ? [/\/check-runs\?/] : []),
    ]
    for (const { method, path, status } of githubRequests) {
      const isDecisive = method === 'GET' && decisive.some((pattern) => pattern.test(path))
      const isFinal = [401, 403, 404].some((refusal) => refusal === status)
      if (isDecisive && isFinal) mustNot(`GitHub answered ${status} to ${path}`)
    }
  }

  /** What the service may have accepted is told. */
  #checkJob(): void {
    const { code, jobId } = this
    const last = this.posts.at(-1)
    if (last === undefined) return
    const says = `the step says ${this.outcome} ${code}`
    const fate = fateOf(last)
    const wasRead = this.wasRead(last)
    if (fate === 'job' && wasRead) {
      const id = isMessage(last) ? jobIdIn(last) : jobIn(last)?.id
      this.#must(jobId === id, `the service answered with job ${id}, job-id is ${jobId || 'empty'}`)
      // A proxy that wants other credentials ends the polls, too.
      const mayLose = this.plan.proxy?.includes(407)
      const isLost = ['create-unknown', 'rate-limited'].includes(code) || (code === 'network' && !mayLose)
      this.#must(!isLost, `the service answered with a job, ${says}`)
    }
    this.#must(!this.gaveUpEarly(last), `gave up on the POST before its time was up, ${says}`)
    if (fate === 'refused' && wasRead) this.#must(code !== 'create-unknown', `the service refused, ${says}`)
    if (this.wasKilled) return
    if (!this.mayBeRefused(last) && jobId === '') {
      const isKnown = code === 'create-unknown' || code === 'contract'
      this.#must(isKnown, `the service may have accepted something, ${says}`)
    }
    if (fate === 'unknown')
      this.#must(code === 'create-unknown', `nobody knows what became of the POST, ${says}`)
  }

  #checkExit(): void {
    const { exitCode, signal, stderr } = this.step
    const how = signal === undefined ? `exit code ${exitCode}` : signal
    this.#must(exitCode === 0 || exitCode === 1, `ended with ${how}`)
    this.#must(stderr === '', `stderr: ${stderr.slice(0, 500)}`)
    const fails = ['error', 'cancelled', 'failed', 'archived', 'timed-out'].includes(this.outcome)
    this.#must(exitCode === (fails ? 1 : 0), `exit code ${exitCode} with ${this.outcome || 'no outcome'}`)
  }

  #checkTime(): void {
    const { spawnedAt, timeoutMs, firstOutputAt = spawnedAt } = this.step
    const commentMs = this.github === undefined ? { cancelled: 0, deadline: 0 } : COMMENT_MS
    const postMs = (at: number): number => (this.isPostPendingAt(at) ? FINAL_POST_MS : 0)
    const limit = firstOutputAt + timeoutMs
    // A process that starts slowly can be late as well.
    const isLate =
      timeoutMs < 1_000 || this.freezes.some(({ from, to }) => from <= limit && to >= this.deadlineAt)
    const lastMs = postMs(this.deadlineAt) + commentMs.deadline + (isLate ? LATE_POLL_MS : 0)
    this.#mustEndBy(limit + lastMs, 'its deadline')
    for (const [index, { at }] of this.cancels.slice(0, 2).entries()) {
      if (index === 0) this.#mustEndBy(at + 1_000 + postMs(at) + commentMs.cancelled, 'a signal')
      else this.#mustEndBy(at + 1_000, 'a second signal')
    }
  }

  #mustEndBy(limit: number, name: string): void {
    // A signal that comes while the process is frozen comes when it goes on.
    const frozenMs = this.freezes
      .filter(({ from }) => from < limit + this.toleranceMs)
      .reduce((sum, { from, to }) => sum + to - from, 0)
    const lateMs = this.step.endedAt - limit - frozenMs
    this.#must(lateMs < this.toleranceMs, `ended ${Math.round(lateMs)} ms too late after ${name}`)
  }

  #checkOutputs(): void {
    const { outputs, outcome, code, jobId, step } = this
    const { status = '', 'pr-link': link = '' } = outputs
    for (const name of OUTPUTS) this.#must(name in outputs, `the output ${name} is missing`)
    this.#must(['', ...STATUSES].includes(status), `status is ${status}`)
    this.#must(
      (code !== '') === (outcome === 'error') || (outcome === 'cancelled' && code === 'create-unknown'),
      `error-code ${code} with ${outcome}`,
    )
    this.#must(code !== 'internal', 'error-code is internal')
    this.#must(/^\d+$/.test(outputs['elapsed-seconds'] ?? ''), 'elapsed-seconds is no number')
    this.#must(link === '' || (LINK.test(link) && !/\/\/[^/]*@/.test(link)), `pr-link is ${link}`)
    this.#must(jobId === '' || isId(jobId), `job-id is ${jobId}`)
    const result = status === 'completed' ? (link === '' ? 'no-changes' : 'pr-opened') : status
    const isResult = outcome === result || !ENDED.includes(outcome)
    this.#must(isResult, `${outcome} with ${status} and link ${link}`)
    this.#must(outcome !== 'cancelled' || this.wasCancelled, 'cancelled without a signal')
    const elapsedMs = step.endedAt - step.spawnedAt
    this.#must(outcome !== 'timed-out' || this.usedItsTime, `timed out after ${elapsedMs} ms`)
  }

  #checkSummary(): void {
    const { summary } = this.step
    this.#must(summary.startsWith('### ') && summary.endsWith('\n'), 'the summary has no title')
    this.#must(!/\bundefined\b|\[object|\bNaN\b/.test(summary), 'the summary has an undefined value')
    this.#checkMarkup(summary, 'the summary')
    this.#checkTruth(summary, 'the summary')
  }

  /** "Nothing was sent" only if nothing was, and "is running" only if the last response said so. */
  #checkTruth(text: string, where: string): void {
    const running = /\b(?:keeps|is still) running\b/.exec(text)?.[0]
    const last = this.step.entries.at(-1)
    if (running !== undefined && (last === undefined || fateOf(last) !== 'any')) {
      const isActive = last !== undefined && this.statusIn(last) === 'active'
      this.#must(isActive && jobIn(last)?.id === this.jobId, `${where} says "${running}" without knowing`)
    }
    const nothing = /nothing was sent|had not accepted anything/i.exec(text)?.[0]
    if (nothing === undefined) return
    const sent = /sent/i.test(nothing) ? this.posts : this.posts.filter((post) => !this.mayBeRefused(post))
    this.#must(sent.length === 0, `${where} says "${nothing}", but it was`)
  }

  #checkMarkup(text: string, where: string): void {
    // Text in code is not markup; entities are no tags.
    const live = text.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '')
    this.#must(!live.includes(INJECTED), `${where} has live markup from outside`)
    this.#must(!CONTROL_CHARACTERS.test(text), `${where} has control characters`)
  }

  /** A job that was seen to end is told to have ended. */
  #checkEnding(): void {
    // A later step also asks for the job of the step before it.
    if (this.previous !== undefined || this.inputs.wait === 'false') return
    if (this.wasCancelled || this.posts.some(isMessage)) return
    for (const entry of this.step.entries) {
      const { method, respondedAt } = entry
      if (method !== 'GET' || jobIn(entry)?.id !== entry.jobId || respondedAt === undefined) continue
      const status = this.statusIn(entry)
      const isEnd = ['completed', 'failed', 'archived'].includes(status)
      if (!isEnd || !this.arrivedBefore(respondedAt, this.deadlineAt)) continue
      const isTold = ENDED.includes(this.outcome) && this.outputs.status === status
      this.#must(isTold, `the job was told to be ${status}, the step says ${this.outcome}`)
    }
  }

  /** No line is a command but the action's own. */
  #checkLog(): void {
    let masks = true
    for (const line of this.lines) {
      this.#must(!CONTROL_CHARACTERS.test(line), `control characters: ${JSON.stringify(line)}`)
      const [, name = '', data = ''] = /^\s*::(.*?)(?: .*?)?::(.*)$/.exec(line) ?? []
      const isMask = name === 'add-mask'
      this.#must(isMask || !line.includes('##['), `a command: ${line}`)
      this.#must(!isMask || masks, `a mask in the middle: ${line}`)
      masks &&= isMask
      const isOwn = /^::(?:add-mask|debug|notice|warning|error|group|endgroup)(?: [^:]*)?::/.test(line)
      if (line.trimStart().startsWith('::'))
        this.#must(isOwn && !data.startsWith(INJECTED), `a command: ${line}`)
    }
  }

  #checkAnnotations(): void {
    const { exitCode } = this.step
    const [errors, notices] = [this.#commands('error'), this.#commands('notice')]
    const has = `${errors.length} error annotations with exit code ${exitCode}`
    this.#must(errors.length === (exitCode === 1 ? 1 : 0), has)
    this.#must(errors.length + notices.length <= 1, 'a notice and an error')
    for (const text of [...errors, ...notices]) this.#checkTruth(text, 'the annotation')
    const ends = this.lines.filter((line) => line.startsWith('Finished after '))
    const saysOutcome = ends[0]?.includes(`: ${this.outputs.outcome}`) === true
    this.#must(ends.length === 1 && saysOutcome, `the log ends ${ends.length} times: ${ends.join(', ')}`)
  }

  #commands(name: string): string[] {
    return this.lines.flatMap((line) => new RegExp(`^::${name}(?: [^:]*)?::(.*)$`).exec(line)?.[1] ?? [])
  }

  /** The key is nowhere, in no form, neither in base64 nor as entities, and no large part of it. */
  #checkKey(): void {
    const { stderr, outputFile, summary, githubRequests } = this.step
    const { key } = this.plan
    const places = {
      'the log': this.lines.filter((line) => !line.startsWith('::add-mask::')).join('\n'),
      stderr,
      'the outputs': outputFile,
      'the summary': summary,
      'a request to GitHub': githubRequests.flatMap(({ path, body }) => [path, ...textsIn(body)]).join('\n'),
    }
    // Half a key is a leak, too.
    const forms = [...keyForms(key), key.slice(5, 21)]
    for (const [where, text] of Object.entries(places)) {
      for (const token of [TOKEN, DOCS_TOKEN]) this.#must(!text.includes(token), `a token is in ${where}`)
      for (const decoded of decodings(text)) {
        const form = forms.find((candidate) => decoded.includes(candidate))
        this.#must(form === undefined, `the key is in ${where}: ${form}`)
      }
    }
  }

  /** Each token goes where it may go, and what is written is well-formed. */
  #checkGitHub(): void {
    const { comments, checks, entries, githubRequests, plan } = this.step
    for (const { path, headers } of githubRequests) {
      const isDocs = headers.authorization?.includes(DOCS_TOKEN) === true
      const isDocsPull = /\/pulls\/\d+$/.test(path) && !path.includes(REPOSITORY)
      this.#must(!isDocs || isDocsPull, `docs-token was used for ${path}`)
    }
    for (const { headers, body } of entries) {
      const sent = JSON.stringify(headers) + body
      this.#must(!sent.includes(TOKEN) && !sent.includes(DOCS_TOKEN), 'the service got a token')
    }
    const texts = [...comments, ...checks.map(({ output }) => output.summary ?? '')]
    for (const text of texts) this.#checkMarkup(text.replace(/<!--[^<>]*-->/g, ''), 'a comment or check')
    // A run that is stopped between creating its comment and signing it leaves one that nobody can trust.
    const most = this.plan.steps.indexOf(plan) + 1
    const count = markersIn(comments).length
    this.#must(this.github?.healthy !== true || count <= most, `${count} comments`)
  }

  #checkMemory(): void {
    const { isComment, comment } = this.memory
    const create = this.posts.find((post) => isCreate(post) && !this.mayBeRefused(post))
    if (create !== undefined && isComment)
      this.#must(comment?.run === String(this.step.plan.runId), 'a create was sent that no comment remembers')
    if (this.couldWrite) this.#checkWritten()
    if (this.previous !== undefined) this.#checkContinued(this.previous)
  }

  /** What is remembered is what was told. */
  #checkWritten(): void {
    const { isComment, isCheck, comment, check } = this.memory
    const isKnown = [...ENDED, 'started', 'timed-out'].includes(this.outcome)
    if (isKnown || this.code === 'create-unknown') {
      if (isComment) this.#checkMarker('comment', comment, isKnown)
      if (isCheck) this.#checkMarker('check', check, isKnown)
    }
    if (isCheck) this.#checkConclusion()
  }

  #checkMarker(where: string, marker: Marker | undefined, isKnown: boolean): void {
    const { outcome, jobId } = this
    const { plan } = this.step
    const { run, attempt, state = '' } = marker ?? {}
    const isOwn = run === String(plan.runId) && attempt === plan.attempt
    this.#must(isOwn, `the ${where} does not remember this attempt`)
    if (!isKnown) {
      this.#must(state === 'unknown', `the ${where} remembers ${state}, and the result is unknown`)
      return
    }
    this.#must(marker?.jobId === jobId, `the ${where} remembers job ${marker?.jobId}, job-id is ${jobId}`)
    const isTold = ENDED.includes(state) === ENDED.includes(outcome)
    this.#must(isTold, `the ${where} remembers ${state}, the outcome is ${outcome}`)
  }

  #checkConclusion(): void {
    const { plan, checks } = this.step
    if (this.outcome === 'skipped') return
    for (const { output, status } of checks) {
      const isOwn = markerIn(output.text ?? '')?.run === String(plan.runId)
      this.#must(!isOwn || status === 'completed', 'a check is left in progress')
    }
    const conclusion = checks.at(-1)?.conclusion
    const isRight = (conclusion === 'success') === (this.outcome === 'pr-opened')
    this.#must(isRight, `the check is concluded as ${conclusion}, the outcome is ${this.outcome}`)
  }

  /** A step that shares the job of an earlier one waits for it or messages it, unless that is proven to be of no use. */
  #checkContinued(previous: StepRecord): void {
    const { plan, entries } = this.step
    const { comment, check } = memoryAfter(previous, plan)
    const own = [check, comment].filter((marker) => marker?.run === String(plan.runId))
    const rerun = own.find((marker) => marker?.jobId !== '') ?? own[0]
    const [first] = this.posts
    if (rerun !== undefined && rerun.jobId !== '' && ![...ENDED, ...NOTHING].includes(rerun.state)) {
      const mayWait = first === undefined || this.isGone(rerun.jobId, first.startedAt)
      this.#must(mayWait, `a re-run has to wait for job ${rerun.jobId}, and sent something`)
    }
    if (comment === undefined || comment.jobId === '') return
    const { jobId } = comment
    const shown = entries.map(jobIn).filter((job) => job?.id === jobId)
    const isOver = shown.some((job) => job?.status === 'failed' || job?.status === 'archived')
    for (const post of this.posts) {
      if (isMessage(post))
        this.#must(jobIdIn(post) === jobId, `a message to ${jobIdIn(post)}, and job ${jobId} is remembered`)
      else if (isCreate(post)) {
        const isGone = this.isGone(jobId, post.startedAt) || this.refusedAsEnded(jobId, post)
        this.#must(isGone || isOver, `another job was created, and job ${jobId} is remembered`)
      }
    }
  }
}

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function* decodings(text: string): Generator<string> {
  yield text
  yield text
    .replaceAll('%0A', '\n')
    .replaceAll('%0D', '\r')
    .replaceAll('%25', '%')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_=-]{24,}/g)) {
    yield Buffer.from(run, 'base64url').toString('latin1')
    yield Buffer.from(run, 'base64').toString('latin1')
  }
}
