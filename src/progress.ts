/** What is known of the job at any moment: what stands in the outputs and the summary if the step dies right now. */

import type { Job, Status } from './job.js'
import type { Clock } from './stop.js'

/** A state, and when it was first seen. */
export interface Moment {
  readonly date: Date
  /** Milliseconds since the step began. */
  readonly afterMs: number
  /** A status of the service, or what is said in place of any other word. */
  readonly state: Status | 'in an unlisted state'
}

/** So many states are remembered, the first and the last ones: a service may change its mind at every look. */
const MOMENTS_LIMIT = 20

export class Progress {
  /** Given, or learned from the answer to a create. */
  jobId = ''
  /** The job as last received. */
  job: Job | undefined
  /** The last word that is in the service's list. */
  status: Status | undefined
  /** An existing job was messaged or waited for. */
  reused = false
  /** A create or a message is on its way. */
  sending = false
  readonly moments: Moment[] = []

  readonly #clock: Clock
  readonly #startedAt: number

  /** @param startedAt on the clock, in milliseconds; the real one starts with the process */
  constructor(clock: Clock, startedAt = 0) {
    this.#clock = clock
    this.#startedAt = startedAt
  }

  /** Takes in what the service says of the job; true when a reader should be told. */
  see(job: Job): boolean {
    const state = job.status ?? 'in an unlisted state'
    const changed = state !== this.moments.at(-1)?.state || job.link !== this.job?.link
    if (state !== this.moments.at(-1)?.state) this.#remember(state)
    this.jobId ||= job.id
    this.job = job
    this.status = job.status ?? this.status
    return changed
  }

  /** Milliseconds since the step began. */
  elapsedMs(): number {
    return this.#clock.now() - this.#startedAt
  }

  #remember(state: Moment['state']): void {
    this.moments.push({ date: this.#clock.date(), afterMs: this.elapsedMs(), state })
    if (this.moments.length > MOMENTS_LIMIT) this.moments.splice(MOMENTS_LIMIT / 2, 1)
  }
}
