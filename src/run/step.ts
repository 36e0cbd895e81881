/** The step: what the runner says of it, and what its parts may use. */

import type { AgentService } from '../agent/client.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import type { Inputs } from '../inputs/inputs.js'
import type { Clock, Deadline } from '../net/deadline.js'
import type { NetworkSettings } from '../net/proxy.js'
import type { Redact } from '../text/redact.js'
import type { Happening } from './facts.js'

export type Step = Readonly<{
  inputs: Inputs
  environment: RunEnvironment
  event: RunEvent
  network: NetworkSettings
  redact: Redact
  /** Hides the keys alone, in what the agent reads. */
  redactKeys: Redact
  nonce: () => string
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
  tell: (happening: Happening) => void
}>

/** What a step is asked for, by which run. */
export type StepSubject = Pick<Step, 'inputs' | 'environment' | 'event' | 'log'>

/** What asks the service: it needs neither the inputs nor the secrets among them. */
export interface PollTools
  extends Pick<Step, 'clock' | 'deadline' | 'random' | 'log' | 'debug' | 'warn' | 'tell'> {
  readonly service: AgentService
}

export interface RunTools extends PollTools {
  /**
   * Stores that a create request is about to be sent, if later runs need to know.
   *
   * @throws ActionError `github`
   */
  readonly writePlaceholder: () => Promise<void>
}
