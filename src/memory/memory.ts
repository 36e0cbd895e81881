/** What a step remembers of earlier runs, and keeps for later ones: the one door to this folder. */

import type { AgentService } from '../agent/client.js'
import type { RunEvent } from '../event/event.js'
import { getPath, getString } from '../event/payload.js'
import { createGitHub, type GitHub } from '../github/client.js'
import type { Inputs, Task } from '../inputs/inputs.js'
import type { Plan } from '../run/result.js'
import type { Step } from '../run/step.js'
import { readDocsPull } from './docs-pull.js'
import { openCheck, openComment } from './places.js'
import { continueOrCreate, findPreviousRun } from './previous-run.js'
import type { Slot } from './slot.js'

/** What is remembered for this run. */
export interface Recalled {
  /** An attempt before this one didn't see its docs job finish: it is waited for, and nothing is sent. */
  readonly ofThisRun?: Task
  /** There is a docs job, or its pull request, to continue: with a message, or with a job that takes its place. */
  readonly ofEarlierRun?: {
    /** @param composeWith composes the prompt, with more paragraphs after the user's own */
    continueOrCreate(composeWith: (...more: string[]) => string): Promise<Plan>
  }
}

/** Opens the memory of a step, and its check if one is asked for. Nothing is sent yet. */
export function openMemory(step: Step, github: GitHub) {
  const { inputs, environment, log } = step
  const slots: Slot[] = []
  let comment: Slot | undefined

  function keep(slot: Slot | undefined): Slot | undefined {
    if (slot === undefined) return undefined
    slots.push(slot)
    if (!inputs.dryRun) step.addPlace(slot)
    return slot
  }

  if (inputs.check) keep(openCheck(step, github, () => comment?.role === 'decides'))

  return {
    /** From now on the comment is kept, too, if the step has one: on what these inputs name. @throws ActionError `github` */
    openComment(inputs: Inputs): void {
      comment = keep(openComment({ ...step, inputs }, github))
    },
    /** Whether a comment by this action triggered the run: with a personal token, what the step writes does. */
    async isAbout({ name, payload }: RunEvent): Promise<boolean> {
      const id = getPath(payload, 'comment.id')
      if (name !== 'issue_comment' || comment === undefined || typeof id !== 'number') return false
      return comment.isByAction(id, getString(payload, 'comment.body'))
    },
    /** @throws ActionError `github`, which names the permission that the comment needs */
    async readComment(): Promise<void> {
      await comment?.find(true)
    },
    /** @throws ActionError, Cancelled */
    async recall(service: AgentService): Promise<Recalled> {
      const context = { ...step, service, slots }
      const previous = await findPreviousRun(context)
      if (previous === undefined) return {}
      if (previous.unfinished) {
        log(
          "This is a re-run, and an earlier attempt didn't see its docs job finish: waiting for it, and sending nothing.",
        )
        const { state, job } = previous
        const known = job === 'not requested' ? undefined : job
        return { ofThisRun: { kind: 'attach', jobId: state.jobId, job: known } }
      }
      const { docsToken: token } = inputs
      const docsGitHub = token === '' ? undefined : () => createGitHub({ ...step, token, fromFork: false })
      const readPull = (link: string) => readDocsPull(link, environment, github, docsGitHub)
      const withPull = { ...context, readDocsPull: readPull }
      return {
        ofEarlierRun: {
          continueOrCreate: (composeWith) => continueOrCreate(previous, composeWith, withPull),
        },
      }
    },
    /** Nothing is written to the comment any more. */
    stopComment: () => comment?.stop(),
    /** Nothing is written any more. */
    stop(): void {
      for (const slot of slots) slot.stop()
    },
  }
}

export type Memory = ReturnType<typeof openMemory>
