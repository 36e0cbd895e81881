/** Decides whose permission a run needs to start a job, and refuses it if they have none: many events can be caused by anyone. */

import { ActionError } from '../errors.js'
import type { RunEnvironment, RunEvent } from '../event/event.js'
import { getString } from '../event/payload.js'
import type { Step } from '../run/ports.js'

/** Somebody who needs write access. */
export interface Person {
  /** Empty if nobody knows: the account may be gone. */
  readonly login: string
  /** What they did, as in "octocat, who triggered this run". */
  readonly did: string
}

/**
 * Whoever causes one of these can write to the repository already. Every other event asks, also one that GitHub will
 * add (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows).
 */
const WRITERS_ONLY = [
  'push',
  'create',
  'delete',
  'release',
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'merge_group',
]

/**
 * The people who need write access; none if nothing has to be asked.
 *
 * @param allowed in lower case; `*` is everyone
 */
export function whoNeedsAccess(
  event: RunEvent,
  { repository, actor }: Pick<RunEnvironment, 'repository' | 'actor'>,
  allowed: ReadonlySet<string>,
): readonly Person[] {
  if (allowed.has('*')) return []
  return peopleBehind(event, repository, actor)
    .filter(({ login }) => !allowed.has(login.toLowerCase()))
    .filter(
      ({ login }, index, all) =>
        all.findIndex((other) => other.login.toLowerCase() === login.toLowerCase()) === index,
    )
}

function peopleBehind(event: RunEvent, repository: string, actor: string): readonly Person[] {
  const { name, sender, pullRequest, commentAuthor, payload } = event
  // Every runner names the event: without a name, this is no run of a workflow.
  if (name === '' || WRITERS_ONLY.includes(name)) return []
  if (name === 'pull_request' && pullRequest?.fromFork === false) return []
  if (name === 'workflow_run') {
    return isByWriter(payload, repository)
      ? []
      : [
          {
            login: getString(payload, 'workflow_run.actor.login'),
            did: 'triggered the run before this one',
          },
        ]
  }
  const cause = { login: sender || actor, did: 'triggered this run' }
  return commentAuthor === undefined
    ? [cause]
    : [cause, { login: commentAuthor, did: 'wrote the comment or review' }]
}

/** Whether the run that a `workflow_run` event is about was caused by somebody who can write. */
function isByWriter(payload: unknown, repository: string): boolean {
  const event = getString(payload, 'workflow_run.event')
  // Another repository is a fork.
  const head = getString(payload, 'workflow_run.head_repository.full_name')
  const isHere = head.toLowerCase() === repository.toLowerCase()
  return isHere && (event === 'pull_request' || WRITERS_ONLY.includes(event))
}

/**
 * Why this run must not start a job; undefined if it may. A step that only waits starts none.
 *
 * Other inputs may be bad: a stranger's run may have no secrets, and should be skipped before that is an error.
 *
 * @param findRefusal asks GitHub; only called if somebody's permission counts
 * @throws ActionError `github`
 */
export async function refuseStrangers(
  { given, run, event, log }: Pick<Step, 'given' | 'run' | 'event' | 'log'>,
  findRefusal: (people: readonly Person[]) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (given.onlyWaits) return undefined
  const people = whoNeedsAccess(event, run, given.allowUsers)
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
