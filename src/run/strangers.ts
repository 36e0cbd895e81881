/** Refuses runs that were caused by somebody without write access, before anything else is read or sent. */

import { ActionError } from '../errors.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import { type Person, whoNeedsAccess } from '../event/who-may-start.js'
import type { RawInputs } from '../inputs/inputs.js'
import { parseLogins } from '../inputs/values.js'

/**
 * Why this run must not start a job; undefined if it may. A step that only waits starts none.
 *
 * Takes the raw inputs: a stranger's run may have no secrets, and should be skipped before that is an error.
 *
 * @param findRefusal asks GitHub; only called if somebody's permission counts
 * @throws ActionError `github`
 */
export async function refuseStrangers(
  raw: Pick<RawInputs, 'prompt' | 'prompt-file' | 'job-id' | 'allow-users'>,
  run: RunEnvironment,
  event: RunEvent,
  log: (line: string) => void,
  findRefusal: (people: readonly Person[]) => Promise<string | undefined>,
): Promise<string | undefined> {
  const hasPrompt = raw.prompt.trim() !== '' || raw['prompt-file'].trim() !== ''
  if (raw['job-id'].trim() !== '' && !hasPrompt) return undefined
  const people = whoNeedsAccess(event, run, parseLogins(raw['allow-users']))
  if (people.length === 0) return undefined
  if (event.problem !== undefined) {
    throw new ActionError(
      'github',
      `Can't tell who triggered this run: ${event.problem}.`,
      'Use a runner that provides the event payload, or let everyone start jobs with allow-users: "*".',
    )
  }
  if (run.runAttempt !== '1') {
    log('This is a re-run: what counts is the permission of whoever triggered the first attempt.')
  }
  return findRefusal(people)
}
