/** The step: what the runner says of it, what its parts may use, and what has happened so far. */

import type { AgentService } from '../agent/client.js'
import type { Job } from '../agent/job.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { InputError, Inputs } from '../inputs/inputs.js'
import type { Clock, Deadline } from '../net/deadline.js'
import type { NetworkSettings } from '../net/proxy.js'
import type { Redact } from '../text/redact.js'
import type { Progress } from './progress.js'
import type { StatusWriter } from './status-update.js'

export interface RunTools extends StepTools {
  readonly service: AgentService
}

export interface StepTools {
  readonly clock: Clock
  readonly deadline: Deadline
  readonly progress: Progress
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  readonly log: (line: string) => void
  readonly debug: (line: string) => void
  readonly warn: (line: string) => void
  /** Warns, and leaves a note in the summary and the comment. */
  readonly note: (line: string) => void
  /** Records the latest job object and reports it if it changed. */
  readonly onJob: (job: Job) => void
  /** Stores the state before a create request, if it is stored at all. */
  readonly writePlaceholder: () => Promise<void>
  readonly publish: () => void
}

export interface Step extends StepTools {
  readonly inputs: Inputs
  readonly inputProblem: InputError | undefined
  readonly environment: RunEnvironment
  readonly event: RunEvent
  readonly network: NetworkSettings
  readonly redact: Redact
  /** For what the agent reads. */
  readonly redactKeys: Redact
  readonly nonce: () => string
  /** Keeps this comment up to date from now on. */
  readonly keepComment: (comment: StatusWriter) => void
}
