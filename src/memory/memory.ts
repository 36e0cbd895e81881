/**
 * What a step remembers of earlier runs, and stores for later ones: in its comment on a pull request
 * or an issue. Other folders import this file and docs-pull.ts alone.
 */

import type { AgentService } from '../agent/client.js'
import type { GitHub } from '../github/client.js'
import type { Step } from '../run/step.js'
import type { Plan } from '../run/task.js'
import { Comment } from './comment.js'
import { type Conversation, findConversation, openComments } from './conversation.js'
import type { DocsPulls } from './docs-pull.js'
import { deriveMarkerKeys, identify } from './marker.js'
import { type Attach, findPreviousRun, planFor } from './previous-run.js'

/** What an earlier run left: what follows from it depends on what this run would send. */
interface Earlier {
  readonly kind: 'earlier'
  plan(composeWith: (...more: string[]) => string): Promise<Plan>
}

/** Opens the memory of a step, if it has one, and keeps its comment from now on. */
export function openMemory(step: Step, github: GitHub, docsPulls: DocsPulls) {
  const comment = openComment(step, github)
  if (comment !== undefined && !step.inputs.dryRun) step.keepComment(comment)
  return {
    /**
     * What is remembered for this run: a job to wait for, sending nothing; or what to continue.
     *
     * @throws ActionError `github`
     */
    async recall(service: AgentService): Promise<Attach | Earlier | undefined> {
      if (!comment?.isMemory) return undefined
      const context = { ...step, service, comment, readDocsPull: docsPulls.readState }
      const previous = await findPreviousRun(context)
      if (previous === undefined || 'kind' in previous) return previous
      return {
        kind: 'earlier',
        plan: (composeWith) => planFor(previous, composeWith, context),
      }
    },
    /** Writes nothing from now on. */
    stop: () => comment?.stop(),
  }
}

function openComment(step: Step, github: GitHub): Comment | undefined {
  const { inputs, event, log } = step
  const { jobScope, issueNumber } = inputs
  const needsMemory = jobScope !== 'run'
  if (!needsMemory && !inputs.comment) return undefined
  const conversation = findConversation(event, jobScope, issueNumber)
  if (conversation !== undefined) return commentOn(conversation, needsMemory, step, github)
  const what = needsMemory ? 'pull request' : 'pull request or issue'
  const consequence = needsMemory ? 'job-scope works like run' : 'there is nothing to comment on'
  log(
    `The event (${event.name}) is not about a single ${what}, and issue-number is not set: ${consequence}.`,
  )
  const other = inputs.comment ? findConversation(event, 'run', issueNumber) : undefined
  return other && commentOn(other, false, step, github)
}

function commentOn(
  conversation: Conversation,
  isMemory: boolean,
  step: Step,
  github: GitHub,
): Comment {
  const { inputs, environment, nonce } = step
  return new Comment({
    ...step,
    comments: openComments(github, environment.repository, conversation, nonce()),
    identity: identify(step, conversation.number),
    markerKeys: deriveMarkerKeys(inputs.apiKey, inputs.previousApiKey),
    isMemory,
  })
}
