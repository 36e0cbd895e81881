/** Applies what changed: whether there is nothing to do, and the prompt with its context. Pure. */

import type { RunEvent } from '../event/event.js'
import type { Inputs } from '../inputs/inputs.js'
import { matchesPatterns } from '../inputs/path-patterns.js'
import type { SkipReason } from '../run/result.js'
import type { Step } from '../run/step.js'
import { composeContext } from './compose.js'
import type { ChangedFile, Changes } from './files.js'
import { describeTrigger } from './trigger.js'

/** Why there is nothing to do: a truncated or unknown list is no reason, and a manual run is never skipped. */
export function reasonToSkip(
  { contextPaths }: Pick<Inputs, 'contextPaths'>,
  { name }: Pick<RunEvent, 'name'>,
  changes: Changes | undefined,
): SkipReason | undefined {
  if (changes === undefined || name === 'workflow_dispatch') return undefined
  if (name === 'schedule' && changes.empty) return { reason: 'there are no new commits' }
  if (contextPaths.length === 0 || changes.truncated || changes.unknown) return undefined
  return changes.files.some((file) => isIncluded(contextPaths, file))
    ? undefined
    : {
        reason: 'no changed file matches context-paths',
        advice: 'If a file that changed should count, correct its pattern in context-paths.',
      }
}

/** Says that context-paths could not decide, for the log and the summary; undefined if it did. */
export function describePaths(
  { contextPaths }: Pick<Inputs, 'contextPaths'>,
  changes: Changes | undefined,
): string | undefined {
  if (contextPaths.length === 0 || changes === undefined) return undefined
  const { unknown, note, truncated, files } = changes
  if (unknown) return `context-paths was ignored: ${note}`
  return truncated && !files.some((file) => isIncluded(contextPaths, file))
    ? 'context-paths was ignored: no listed file matches, but GitHub cut the list.'
    : undefined
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
