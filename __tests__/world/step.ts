/** A step of the action, in either world: in the simulation, or as a process. */

import type { ChildProcess } from 'node:child_process'
import { runBundle } from '../../emulator/runner.mjs'
import type { Mishap, Signal } from './process.js'

/** What can be done to the process of a step. */
export interface Child {
  readonly exitCode: number | null
  readonly signalCode: string | null
  kill(signal: Signal): void
  /** Called with the first thing that it writes. */
  onFirstOutput(call: () => void): void
  /** Not possible outside the simulation. */
  suffer(what: Mishap): void
  /** Sets its wall clock; not possible outside the simulation. */
  jumpedMs: number
}

export interface StepOptions {
  readonly inputs: Record<string, string>
  readonly env: Record<string, string>
  readonly event: object
  /** What the event's file holds instead; not possible outside the simulation. */
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

/** A process that still runs after this hangs. */
const HANG_MS = 180_000

/** Runs the step with the bundle, as a process. */
export async function runProcess(
  { onStart, ...options }: StepOptions,
  { bundle, node }: { readonly bundle: string; readonly node: string },
): Promise<StepEnd> {
  let endedAt = 0
  const end = await runBundle({
    ...options,
    bundle,
    node,
    // A frozen process must not outlive a Ctrl-C.
    detached: false,
    onStart: (child) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), HANG_MS)
      child.once('exit', () => {
        clearTimeout(timer)
        endedAt = performance.now()
      })
      onStart(asChild(child))
    },
  })
  return { ...end, endedAt }
}

function asChild(child: ChildProcess): Child {
  return {
    get exitCode() {
      return child.exitCode
    },
    get signalCode() {
      return child.signalCode
    },
    kill: (signal) => void child.kill(signal),
    onFirstOutput: (call) => void child.stdout?.once('data', call),
    suffer: () => undefined,
    jumpedMs: 0,
  }
}
