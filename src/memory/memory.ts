/**
 * What a step remembers of earlier runs, and stores for later ones. Other folders import this file
 * alone.
 */

import type { AgentService } from '../agent/client.js'
import { createGitHub, type GitHub } from '../github/client.js'
import type { Inputs } from '../inputs/inputs.js'
import type { DocsFile } from '../run/progress.js'
import type { Step } from '../run/step.js'
import type { Plan } from '../run/task.js'
import { type DocsPull, readDocsPull, readFiles, readState } from './docs-pull.js'
import { openCheck, openComment } from './open-slots.js'
import { type Attach, findPreviousRun, planFor } from './previous-run.js'
import type { Slot } from './slot.js'

/** What an earlier run left: what follows from it depends on what this run would send. */
interface Earlier {
  readonly kind: 'earlier'
  plan(composeWith: (...more: string[]) => string): Promise<Plan>
}

/** Opens the memory of a step, and its check if one is asked for. Nothing is sent yet. */
export function openMemory(step: Step, github: GitHub) {
  const { inputs, environment } = step
  const slots: Slot[] = []
  let comment: Slot | undefined

  function keep(slot: Slot | undefined): Slot | undefined {
    if (slot === undefined) return undefined
    slots.push(slot)
    step.progress.isRemembered ||= slot.role !== 'informs'
    if (!inputs.dryRun) step.addPlace(slot)
    return slot
  }

  const { docsToken: token } = inputs
  const docsGitHub =
    token === '' ? undefined : () => createGitHub({ ...step, token, fromFork: false })
  const readDocs = <T>(link: string, read: Parameters<typeof readDocsPull<T>>[4]) =>
    readDocsPull(link, environment, github, docsGitHub, read)

  async function readDocsState(link: string): Promise<DocsPull> {
    const pull = await readDocs(link, readState)
    if (pull.state === 'unknown') {
      const tell = pull.isTokenRefused ? step.note : step.log
      tell(
        `Can't tell whether the docs job's pull request ${link} is still open, so it counts as open. ${pull.reason}`,
      )
    }
    return pull
  }

  if (inputs.check) keep(openCheck(step, github, () => comment?.role === 'decides'))

  return {
    /**
     * From now on the comment is kept, too, if the step has one: on what these inputs name.
     *
     * @throws ActionError `github`
     */
    openComment(inputs: Inputs): void {
      comment = keep(openComment({ ...step, inputs }, github))
    },
    /** What is remembered for this run: a job to wait for, sending nothing; or what to continue. */
    async recall(service: AgentService): Promise<Attach | Earlier | undefined> {
      const context = { ...step, service, slots, readDocsPull: readDocsState }
      const previous = await findPreviousRun(context)
      if (previous === undefined || 'kind' in previous) return previous
      return {
        kind: 'earlier',
        plan: (composeWith) => planFor(previous, composeWith, context),
      }
    },
    async readDocsFiles(link: string, signal: AbortSignal): Promise<readonly DocsFile[]> {
      const files = await readDocs(link, (...pull) => readFiles(...pull, signal)).catch(() => [])
      return 'state' in files ? [] : files
    },
    stopComment: () => comment?.stop(),
    stop(): void {
      for (const slot of slots) slot.stop()
    },
  }
}

export type Memory = ReturnType<typeof openMemory>
