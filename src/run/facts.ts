/** What happens in a step, and the facts that follow from it. Pure. */

import type { Job, Status } from '../agent/job.js'
import type { Clock } from '../net/deadline.js'
import type { RunResult } from './result.js'

/** What a request asks for: a new docs job, or that a docs job reads a message. */
export type Asked = 'job' | 'message'

export type Happening = Readonly<
  /**
   * The step is about this docs job from now on, which an earlier run left, or (empty) about a new
   * one; and this is the pull request that it continues.
   */
  | { kind: 'continuing'; jobId: string; link: string | undefined }
  | { kind: 'sending'; asked: Asked }
  /** `posted`: the request has left this machine. */
  | { kind: 'not-accepted'; posted: boolean }
  /** The request may have been accepted. */
  | { kind: 'unknown'; asked: Asked }
  /** `fingerprint` is of what the docs job got, as later runs compare it; empty if unknown. */
  | { kind: 'accepted'; asked: Asked; fingerprint: string; job?: Job | undefined }
  /** The step sends nothing, and waits for a docs job, which the service may have returned. */
  | (Waiting & { kind: 'waiting'; job?: Job | undefined })
  | { kind: 'seen'; job: Job }
  /** A status request did not show the docs job, or has no response yet. `advice` if refused. */
  | ({ kind: 'not-seen' } & NotSeen)
  /** The step waits now, and may be killed meanwhile. */
  | { kind: 'pausing' }
  | { kind: 'heartbeat' }
  /** For whoever reads the log, the summary and the comment. */
  | { kind: 'noted'; text: string; level?: 'warn' }
  /** The run is about a pull request that isn't merged yet: its docs have to wait for it. */
  | { kind: 'code-is-open' }
  /** If the run ends green, a re-run of it sends nothing. */
  | { kind: 'sent-once' }
  | { kind: 'ended'; result: RunResult }
  | ({ kind: 'docs-read' } & DocsRead)
>

type NotSeen = Readonly<{ reason: string; advice?: string | undefined }>
/**
 * `fingerprint` is of what the docs job got last. `messageMayBeLost`: an earlier attempt sent a
 * message whose result is unknown.
 */
export type Waiting = { fingerprint?: string; messageMayBeLost?: boolean }

/** What has become of what the step asks the service for: the last that happened to it. */
type RequestState =
  | Readonly<{ kind: 'none' }>
  | Extract<Happening, { kind: 'sending' | 'unknown' | 'accepted' | 'waiting' }>

type StatusChange = Readonly<{
  date: Date
  /** Milliseconds since the step began. */
  elapsedMs: number
  status: Status
}>

/** A file of the docs pull request, as GitHub's API returns it. Others wrote its name. */
export type DocsFile = Readonly<{
  filename: string
  additions: number
  deletions: number
}>

/** How many of them are read. */
export const DOCS_FILES_PAGE = 100

/** What GitHub says of the docs pull request at the end. */
export type DocsRead = Readonly<{
  /** The first files that it changes, if they could be read: at most `DOCS_FILES_PAGE`. */
  files: readonly DocsFile[]
  /** How somebody ended it while the docs job was asked to continue it. */
  endedEarly?: 'merged' | 'closed' | undefined
  /** Nobody could tell, for a moment. */
  isUnseen?: boolean
}>

/** What the outputs, the summary and the comment contain if the step is killed now. */
export type StepFacts = Readonly<{
  /** When this is known, in milliseconds since the step began. */
  now: number
  /** The docs job's ID: given, remembered, or from the response to a create request; or empty. */
  jobId: string
  /** The ID of the docs job that the last run left, also if a new one is asked for; or empty. */
  recordedId: string
  /**
   * The pull request that an earlier run left. The service leaves the link out while it works on a
   * message, so this one is shown meanwhile.
   */
  previousLink?: string | undefined
  request: RequestState
  /** A request has left this machine, and was not accepted. */
  isRefused: boolean
  /** The docs job as last received, and when, in milliseconds since the step began. */
  seen?: { readonly job: Job; readonly at: number }
  /** Why the last status request did not show the docs job, and what to do about a refusal. */
  notSeen?: NotSeen | undefined
  history: readonly StatusChange[]
  /** What a reader of the summary has to know besides the result. */
  notes: readonly string[]
  codeIsOpen: boolean
  isSentOnce: boolean
  result?: RunResult
  docs: DocsRead
}>

/** @param jobId what the input `job-id` names, or empty */
export function factsAtStart(jobId: string): StepFacts {
  return {
    now: 0,
    jobId,
    recordedId: jobId,
    request: { kind: 'none' },
    isRefused: false,
    history: [],
    notes: [],
    codeIsOpen: false,
    isSentOnce: false,
    docs: { files: [] },
  }
}

/**
 * What follows from what happens. [report.facts.one]
 *
 * @param clock starts with the step, and says when it happens
 */
export function factsAfter(
  before: StepFacts,
  happening: Happening,
  clock: Pick<Clock, 'now' | 'date'>,
): StepFacts {
  const facts = { ...before, now: clock.now() }
  switch (happening.kind) {
    case 'continuing': {
      const { jobId, link } = happening
      return { ...facts, jobId, recordedId: jobId || facts.recordedId, previousLink: link }
    }
    case 'sending':
    case 'unknown':
      return { ...facts, request: happening }
    case 'not-accepted': {
      const isRefused = facts.isRefused || happening.posted
      return { ...facts, request: { kind: 'none' }, isRefused }
    }
    case 'accepted':
    case 'waiting':
      return withJob({ ...facts, request: happening }, happening.job, clock)
    case 'seen':
      return withJob(facts, happening.job, clock)
    case 'not-seen':
      return { ...facts, notSeen: happening }
    case 'noted':
      return { ...facts, notes: [...facts.notes, happening.text] }
    case 'code-is-open':
      return { ...facts, codeIsOpen: true }
    case 'sent-once':
      return { ...facts, isSentOnce: true }
    case 'ended':
      return { ...facts, result: happening.result }
    case 'docs-read':
      return { ...facts, docs: happening }
    case 'pausing':
    case 'heartbeat':
      return facts
  }
}

function withJob(facts: StepFacts, job: Job | undefined, clock: Pick<Clock, 'date'>): StepFacts {
  // An answer without a docs job shows nothing of it.
  if (job === undefined) return facts
  const { status } = job
  const isChanged = status !== undefined && status !== statusIn(facts)
  const change = isChanged ? [{ date: clock.date(), elapsedMs: facts.now, status }] : []
  return {
    ...facts,
    jobId: job.id,
    seen: { job, at: facts.now },
    notSeen: undefined,
    history: [...facts.history, ...change],
  }
}

/** The last status of the docs job that the service documents. */
export function statusIn({ history }: StepFacts): Status | undefined {
  return history.at(-1)?.status
}

/** Whether there is a docs job to wait for. */
export function hasJob({ request: { kind } }: StepFacts): boolean {
  return kind === 'accepted' || kind === 'waiting'
}

export function acceptedIn({ request }: StepFacts): Asked | 'nothing' {
  return request.kind === 'accepted' ? request.asked : 'nothing'
}

/** What was accepted, or may have been. */
export function sentIn({ request }: StepFacts): Asked | 'nothing' {
  return 'asked' in request ? request.asked : 'nothing'
}
