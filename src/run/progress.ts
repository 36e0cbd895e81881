/** What is known of the job at any moment: what stands in the outputs and the summary if the step dies right now. */

import type { Job, Status } from '../agent/job.js'
import type { Clock } from '../net/deadline.js'

/** A status of the service's list, and when it was first seen. */
export interface Moment {
  readonly date: Date
  /** Milliseconds since the step began. */
  readonly afterMs: number
  readonly status: Status
}

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

  /** The service has a job or a message of this step, or the step waits for a job: there is something to pick up. */
  get taken(): boolean {
    return this.job !== undefined || this.reused
  }

  /** Takes in what the service says of the job; true when it is news for a reader. */
  see(job: Job): boolean {
    const { status } = job
    const changed = status !== undefined && status !== this.status
    const news = changed || this.job === undefined || job.link !== this.job.link
    if (changed) {
      this.status = status
      this.moments.push({ date: this.#clock.date(), afterMs: this.elapsedMs(), status })
    }
    this.jobId ||= job.id
    this.job = job
    return news
  }

  /** Milliseconds since the step began. */
  elapsedMs(): number {
    return this.#clock.now() - this.#startedAt
  }
}
