/** Applies what changed: whether there is nothing to do, and the prompt with its context. Pure. */

import type { RunEvent } from '../event/event.js'
import type { Inputs } from '../inputs/inputs.js'
import { matchesPatterns } from '../inputs/path-patterns.js'
import type { SkipReason } from '../run/result.js'
import type { Step } from '../run/step.js'
import { composeContext } from './compose.js'
import type { ChangedFile, Changes } from './files.js'
import { describeTrigger } from './trigger.js'

/** Why there is nothing to do, or why that can't be told, for the log and the summary; undefined if there is something. */
export function judgeChanges(
  { contextPaths }: Pick<Inputs, 'contextPaths'>,
  { name }: Pick<RunEvent, 'name'>,
  { files, empty, unknown, unexpected, truncated, note = '' }: Changes,
): SkipReason | { readonly note: string } | undefined {
  if (name === 'schedule' && empty) return { reason: 'there are no new commits' }
  if (contextPaths.length === 0) return unexpected ? { note } : undefined
  if (unknown) return { note: `context-paths was ignored: ${note}` }
  if (files.some((file) => isIncluded(contextPaths, file))) return undefined
  if (truncated)
    return { note: 'context-paths was ignored: no listed file matches, but GitHub cut the list.' }
  if (name === 'workflow_dispatch') return undefined // Whoever pressed the button gets a job.
  return {
    reason: 'no changed file matches context-paths',
    advice: 'If a file that changed should count, correct its pattern in context-paths.',
  }
}

/** A renamed file counts if either name does; what a file was copied from has not changed. */
function isIncluded(
  patterns: Inputs['contextPaths'],
  { path, previousPath = path, status }: ChangedFile,
): boolean {
  return matchesPatterns(patterns, path) || (status !== 'copied' && matchesPatterns(patterns, previousPath))
}

/** The prompt with its context, in which the key is redacted: the agent may copy what it reads into a pull request. */
export function composePrompt(
  text: string,
  changes: Changes | undefined,
  step: Pick<Step, 'environment' | 'event' | 'nonce' | 'redact'> & {
    readonly inputs: Pick<Inputs, 'context' | 'contextPaths'>
  },
): string {
  const { inputs, environment, event, nonce, redact } = step
  if (inputs.context === 'none' || changes === undefined) return text
  const files = changes.files.filter((file) => isIncluded(inputs.contextPaths, file))
  const prompt = composeContext(text, {
    level: inputs.context,
    trigger: describeTrigger(environment, event, changes, redact),
    changes: { ...changes, files },
    boundary: nonce(),
    excluded: changes.files.length - files.length,
  })
  return text + redact(prompt.slice(text.length))
}
