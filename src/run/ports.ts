/** What a run needs from outside, and how it ends. */

import type { Job, Outcome } from '../agent/job.js'
import type { ActionError } from '../errors.js'
import type { Clock, Stop } from '../net/deadline.js'
import type { Progress } from './progress.js'

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
  /** Writes the memory of a create before it is sent, where there is one to write. */
  readonly place: () => Promise<void>
  /** Writes what is known to the outputs and the summary. */
  readonly publish: () => void
}

/** How a run ended. `error` is set with `error`, and with `cancelled` where a request's fate is unknown. */
export interface End {
  readonly outcome: Outcome
  readonly error?: ActionError
  /** Why, with `skipped`. */
  readonly reason?: string
}
