/**
 * What a run does: what its inputs ask for, or what follows from an earlier run; or nothing, for a
 * reason.
 */

import type { Job } from '../agent/job.js'
import type { AskedTask } from '../inputs/inputs.js'
import type { SkipReason } from './result.js'

export type Task =
  | Extract<AskedTask, { kind: 'create' }>
  | (Extract<AskedTask, { kind: 'message' }> & { readonly remembered?: Remembered })
  /** With the job if the service has just returned it. */
  | (Extract<AskedTask, { kind: 'attach' }> & { readonly job?: Job | undefined })

/** A job that an earlier run left: a new one in its place gets the same prompt. */
export interface Remembered {
  /** As it was before the message, if known. */
  readonly job: Job | undefined
  /** Asks the service for it again; undefined if it does not exist. */
  readonly find: () => Promise<Job | undefined>
  /** The pull request that a new job is asked to continue, or empty. */
  readonly previousLink: string
}

export type Plan = Task | SkipReason
