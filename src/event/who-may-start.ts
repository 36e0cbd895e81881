/** Decides whose permission a run needs to start a job: many events can be caused by anyone. Pure. */

import type { RunEnvironment, RunEvent } from './event.js'
import { getString } from './payload.js'

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
