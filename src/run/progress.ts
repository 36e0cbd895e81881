/**
 * The current state of the job: what the outputs and the summary contain if the step is killed now.
 */

import type { Job, Status } from '../agent/job.js'
import type { Clock } from '../net/deadline.js'
import type { RunResult } from './result.js'

export interface StatusChange {
  readonly date: Date
  /** Milliseconds since the step began. */
  readonly elapsedMs: number
  readonly status: Status
}

/** A file of the docs pull request, as GitHub's API returns it. Others wrote its name. */
export interface DocsFile {
  readonly filename: string
  readonly additions: number
  readonly deletions: number
}

/** How many of them are read. */
export const FILES_PAGE = 100

export class Progress {
  /**
   * The step's create request or message: in flight, or sent with an unknown result, so that it may
   * have been accepted.
   */
  request: 'idle' | 'sending' | 'unknown' = 'idle'
  result: RunResult | undefined
  /** What the reader of the summary has to know besides the result. */
  readonly notes: string[] = []
  /** A create request or a message has left this machine. */
  posted = false
  /** The service has responded to a request of this step. */
  responded = false
  /** What the service has accepted of this step. */
  accepted: 'job' | 'message' | 'nothing' = 'nothing'
  /** The step sends nothing, and waits for a job. */
  onlyWaits = false
  /** Of what this step sends; if it only waits, of what the job accepted last. */
  fingerprint = ''
  /** The same, as an earlier step may have stored it. */
  formerFingerprints: readonly string[] = []
  /** An earlier attempt sent a message whose result is unknown. */
  messageMayBeLost = false
  /** The step waits for the job to end. */
  waits = true
  /** The input `job-id` names the job. */
  isGiven = false
  /** Why the last status request did not show the job; empty if it did. */
  missedReason = ''
  /** Given, remembered, or from the response to a create request. */
  jobId = ''
  /**
   * The pull request that an earlier run left. The service leaves the link out while it works on a
   * message, so this one is shown meanwhile.
   */
  previousLink = ''
  /** The first files that its pull request changes, if they could be read: at most `FILES_PAGE`. */
  docsFiles: readonly DocsFile[] = []
  #job: Job | undefined
  #seenAt = 0
  readonly #history: StatusChange[] = []
  readonly #clock: Clock

  /** @param clock starts with the step */
  constructor(clock: Clock) {
    this.#clock = clock
  }

  get job(): Job | undefined {
    return this.#job
  }

  /** How long ago the job was last received, in milliseconds. */
  get sinceSeenMs(): number {
    return this.#clock.now() - this.#seenAt
  }

  get status(): Status | undefined {
    return this.#history.at(-1)?.status
  }

  get history(): readonly StatusChange[] {
    return this.#history
  }

  /** There is a docs job to wait for. */
  get hasJob(): boolean {
    return this.accepted !== 'nothing' || this.onlyWaits
  }

  /** What was accepted, or may have been. */
  get sent(): Progress['accepted'] {
    if (this.request === 'idle') return this.accepted
    return this.jobId === '' ? 'job' : 'message'
  }

  follow(jobId: string, previousLink = jobId === this.jobId ? this.previousLink : ''): void {
    this.jobId = jobId
    this.previousLink = previousLink
  }

  /**
   * The job that was followed is no longer of use.
   *
   * @param previousLink its pull request, if a new job continues there
   */
  forget(previousLink = ''): void {
    this.follow('', previousLink)
  }

  /** Records the latest job object; returns true if it changes what the user sees. */
  update(job: Job): boolean {
    const { status } = job
    const changed = status !== undefined && status !== this.status
    const isNews = changed || this.#job === undefined || job.link !== this.#job.link
    if (changed)
      this.#history.push({ date: this.#clock.date(), elapsedMs: this.elapsedMs(), status })
    this.jobId ||= job.id
    this.#job = job
    this.#seenAt = this.#clock.now()
    this.missedReason = ''
    return isNews
  }

  elapsedMs(): number {
    return this.#clock.now()
  }
}
