/**
 * Decides whose permission a run needs to start a job, and refuses a run that lacks it: anyone can
 * trigger many events.
 */

import type { RunEnvironment, RunEvent } from '../event/event.js'
import { getString } from '../event/payload.js'
import type { Skip } from '../run/result.js'
import type { StepSubject } from '../run/step.js'
import { ActionError } from '../text/errors.js'

export interface Person {
  /** It is empty if nobody knows: the account may be gone. */
  readonly login: string
  /** It says what they did, as in "octocat, who triggered this run". */
  readonly did: string
}

/**
 * Whoever triggers one of these can write to the repository already. Every other event is checked,
 * also those that GitHub will add
 * (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows).
 * [access.events.writers]
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
 * The people who need write access; none if nothing has to be asked. [access.allow-users.first] Of
 * a re-run, it is whoever triggered the first attempt, whose words it plays again.
 * [access.rerun.first-sender]
 *
 * @param allowed in lower case; `*` is everyone
 */
export function whoNeedsAccess(
  event: RunEvent,
  environment: RunEnvironment,
  allowed: ReadonlySet<string>,
): readonly Person[] {
  if (allowed.has('*')) return []
  return peopleBehind(event, environment).filter(({ login }) => !allowed.has(login.toLowerCase()))
}

/**
 * Any other event asks for its sender, and for whoever wrote what it is about.
 * [access.events.others] Whoever labels a stranger's pull request has read it, and is asked alone.
 * [access.label.consent]
 */
function peopleBehind(event: RunEvent, { repository, actor }: RunEnvironment): readonly Person[] {
  const { name, sender, authors, payload } = event
  // Every runner names the event: without a name, this is no run of a workflow.
  if (name === '' || WRITERS_ONLY.includes(name)) return []
  const first = sender || actor
  if (isPullRequestByWriter(event)) return authorBehind(event, first)
  if (name === 'workflow_run') {
    if (isEarlierRunByWriter(payload, repository)) return []
    const login = getString(payload, 'workflow_run.actor.login')
    return [{ login, did: 'triggered the run before this one' }]
  }
  const others = authors.filter((login) => login.toLowerCase() !== first.toLowerCase())
  return [
    { login: first, did: 'triggered this run' },
    ...others.map((login) => ({ login, did: 'wrote the comment, review or answer' })),
    ...(event.action === 'synchronize' ? authorBehind(event, first) : []),
  ]
}

/**
 * Whether a `pull_request` event shows write access to this repository: a push to a branch of it,
 * or an app, which somebody has installed. Readers can open a pull request from an existing branch,
 * and triage can edit, label, close and reopen it
 * (docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization).
 * [access.pull-request.readers]
 */
function isPullRequestByWriter({ name, action, pullRequest, payload }: RunEvent): boolean {
  const isApp = getString(payload, 'sender.type') === 'Bot'
  return (
    name === 'pull_request' &&
    pullRequest?.fromFork === false &&
    (action === 'synchronize' || isApp)
  )
}

/**
 * Whoever opened a pull request, and wrote its title and description: a push to it by somebody who
 * can write is no consent to those. [access.words.asked]
 */
function authorBehind({ pullRequest, payload }: RunEvent, sender: string): readonly Person[] {
  if (pullRequest === undefined) return []
  const login = pullRequest.author
  const isSender = login !== '' && login.toLowerCase() === sender.toLowerCase()
  const isApp = getString(payload, 'pull_request.user.type') === 'Bot'
  return isSender || isApp ? [] : [{ login, did: 'opened the pull request' }]
}

/** Whether a writer triggered the run that `workflow_run` is about. [access.workflow-run.before] */
function isEarlierRunByWriter(payload: unknown, repository: string): boolean {
  const event = getString(payload, 'workflow_run.event')
  // Another repository is a fork.
  const head = getString(payload, 'workflow_run.head_repository.full_name')
  const isHere = head.toLowerCase() === repository.toLowerCase()
  return isHere && WRITERS_ONLY.includes(event)
}

/**
 * Why this run must not start a job; undefined if it may. A step that only waits starts none.
 * [access.wait.free]
 *
 * Other inputs may be bad: a stranger's run may have no secrets, and should be skipped before that
 * is an error. [access.refused.first]
 *
 * @throws ActionError `github`
 */
export async function refuseStrangers(
  { inputs, environment, event, log }: StepSubject,
  findRefusal: (people: readonly Person[]) => Promise<Skip | undefined>,
): Promise<Skip | undefined> {
  if (inputs.task.kind === 'attach' && !inputs.hasPromptFile) return undefined
  const people = whoNeedsAccess(event, environment, inputs.allowUsers)
  if (people.length === 0) return undefined
  if (event.problem !== undefined) {
    throw new ActionError(
      'github',
      `Can't tell who triggered this run: ${event.problem}.`,
      'Use a runner that provides the event payload.',
    )
  }
  if (environment.runAttempt !== 1) {
    log('This is a re-run: what counts is the permission of whoever triggered the first attempt.')
  }
  return findRefusal(people)
}
