/** What a run does: what its inputs ask for, what an earlier run leaves, or nothing. */

import type { Job } from '../agent/job.js'
import type { Waiting } from './facts.js'
import type { Skip } from './result.js'

/** `fingerprint` is of what the job gets, or has got, as later runs compare it. */
export type Task = Readonly<
  | Sending
  /** `job` is set if the service has just returned it. */
  | ({ kind: 'attach'; jobId: string; job?: Job | undefined } & Waiting)
>

/**
 * `previousLink` is the pull request that a new job is asked to continue. `look` plans anew, by
 * what is so by then.
 */
export type Sending = Readonly<{
  prompt: string
  fingerprint?: string
  previousLink?: string | undefined
  look?: (() => Promise<Plan>) | undefined
}> &
  Readonly<
    | { kind: 'create' }
    /**
     * `job`: one that an earlier run left, as it was before the message, if known. A new one in its
     * place gets the same prompt.
     */
    | { kind: 'message'; jobId: string; job?: Job | undefined }
  >

/** `isPrivate`: whoever reads the log may not read all of the prompt. */
export type Plan = (Task | Readonly<{ kind: 'skip'; skip: Skip }>) & {
  readonly isPrivate?: boolean | undefined
}
