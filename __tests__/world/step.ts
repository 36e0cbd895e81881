/** A step of the action: what it gets, how it ends, and what can be done to its process. */

import type { Mishap, Signal } from './process.js'

/** What can be done to the process of a step. */
export interface Child {
  readonly exitCode: number | null
  readonly signalCode: string | null
  kill(signal: Signal): void
  /** Called with the first thing that it writes. */
  onFirstOutput(call: () => void): void
  suffer(what: Mishap): void
  /** Sets its wall clock. */
  jumpedMs: number
}

export interface StepOptions {
  readonly inputs: Record<string, string>
  readonly env: Record<string, string>
  readonly event: object
  /** What the event's file holds instead. */
  readonly eventFile?: string | undefined
  readonly onStart: (child: Child) => void
  readonly onLine?: (line: string) => void
}

export interface StepEnd {
  /** Times are of `performance.now()`. */
  readonly startedAt: number
  readonly endedAt: number
  /** Null if a signal ended the process. */
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly outputFile: string
  readonly summary: string
}
