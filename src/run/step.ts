/** The step: what the runner says of it, and what its parts may use. */

import type { AgentService } from '../agent/client.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { Inputs } from '../inputs/inputs.js'
import type { Clock, Deadline } from '../net/deadline.js'
import type { NetworkSettings } from '../net/proxy.js'
import type { Redact } from '../text/redact.js'
import type { StepEvent } from './facts.js'

export interface RunTools extends StepTools {
  readonly service: AgentService
}

type StepTools = Readonly<{
  clock: Clock
  deadline: Deadline
  /** From 0 to 1, for jitter. */
  random: () => number
  log: (line: string) => void
  debug: (line: string) => void
  warn: (line: string) => void
  /**
   * Records what happens, and reports what a reader has to know of it.
   *
   * @throws ActionError `internal`, before anything was accepted, if it can't be reported
   */
  tell: (event: StepEvent) => void
}>

export interface Step extends StepTools {
  readonly inputs: Inputs
  readonly environment: RunEnvironment
  readonly event: RunEvent
  readonly network: NetworkSettings
  readonly redact: Redact
  /** For what the agent reads. */
  readonly redactKeys: Redact
  readonly nonce: () => string
}
