/** Applies what changed: whether there is nothing to do, and the prompt with its context. */

import { createHash } from 'node:crypto'
import type { Commit, RunEvent } from '../event/event.js'
import { getPath, getString } from '../event/payload.js'
import { InputError, type Inputs } from '../inputs/inputs.js'
import { findFolder, matchesPatterns } from '../inputs/path-patterns.js'
import type { SkipReason } from '../run/result.js'
import type { Step } from '../run/step.js'
import { quote } from '../text/escape.js'
import { formatCount } from '../text/format.js'
import { type Composed, composeContext } from './compose.js'
import type { ChangedFile, Changes } from './files.js'
import { describeTrigger } from './trigger.js'

/**
 * Why there is nothing to do, or why that can't be told, for the log and the summary; undefined if
 * there is something.
 *
 * @throws InputError if a pattern turns out to be a folder's name
 */
export function judgeChanges(
  { context, contextPaths, skipAuthors }: Pick<Inputs, 'context' | 'contextPaths' | 'skipAuthors'>,
  { name }: Pick<RunEvent, 'name'>,
  {
    files,
    commits,
    empty,
    skips,
    named,
    unknown,
    unexpected,
    truncated,
    note = '',
    previousRelease,
  }: Changes,
): SkipReason | { readonly note: string } | undefined {
  // Whoever pressed the button gets a job, unless it would have to know what changed. So does an
  // issue that the step names: its words are asked for as well.
  const hasWords = named !== undefined && context !== 'none'
  const isByHand = name === 'workflow_dispatch' && context !== 'diff'
  if (skips && !isByHand && !hasWords) {
    const reason = note.replace(/\.$/, '').replace(/^./, (first) => first.toLowerCase())
    return { ...skips, reason }
  }
  const none = 'there are no new commits'
  if (empty && previousRelease !== undefined && name !== 'workflow_dispatch') {
    const reason = `${quote(previousRelease)} is a release of the same commit`
    return { reason, advice: 'To ask for docs all the same, start a workflow by hand, with since.' }
  }
  const isKnown = name === 'schedule' && !unknown
  if (name === 'schedule' && empty) return { reason: none }
  // One commit may undo what another did.
  if (isKnown && !truncated && files.length === 0)
    return { reason: 'the new commits leave no file changed' }
  const isSkipped = ({ author, isMerge }: Commit) =>
    isMerge || skipAuthors.has(author.toLowerCase())
  if (isKnown && commits?.complete && commits.commits.every(isSkipped))
    return { reason: 'every new commit is a merge or by an account in skip-authors' }
  if (empty && (name === 'workflow_dispatch' || contextPaths.length === 0))
    return { note: `No changes are sent: ${none}.` }
  if (contextPaths.length === 0) {
    // Of an issue, for example, there are none to expect.
    if (!unexpected && !(unknown && context === 'diff')) return undefined
    return { note: files.length > 0 ? note : `No changes are sent: ${note}` }
  }
  if (unknown) return { note: `context-paths was ignored: ${note}` }
  const folder = findFolder(contextPaths, files.flatMap(namesOf))
  if (folder !== undefined) {
    throw new InputError([
      `context-paths: ${quote(folder)} is a folder, and patterns match files: write ${quote(`${folder}/**`)} for everything in it.`,
    ])
  }
  if (filesThatCount({ files }, { contextPaths }).length > 0) return undefined
  if (truncated)
    return { note: 'context-paths was ignored: no listed file matches, but GitHub cut the list.' }
  if (name === 'workflow_dispatch') return undefined
  const first = files[0] === undefined ? '' : `, the first is ${quote(files[0].path)}`
  return {
    reason: `no changed file matches context-paths (${formatCount(files.length, 'file')}${first})`,
    advice: 'If a file that changed should count, correct its pattern in context-paths.',
  }
}

/** A renamed file counts if either name does. */
function filesThatCount(
  { files }: Pick<Changes, 'files'>,
  { contextPaths }: Pick<Inputs, 'contextPaths'>,
): readonly ChangedFile[] {
  return files.filter((file) => namesOf(file).some((name) => matchesPatterns(contextPaths, name)))
}

/** What a file was copied from has not changed. */
function namesOf({ path, previousPath = path, status }: ChangedFile): readonly string[] {
  return status === 'copied' ? [path] : [path, previousPath]
}

/**
 * The same for a push that changes nothing of a pull request, such as a merge of its base, which at
 * most moves the line numbers of its hunks. Undefined if not all is known.
 */
export function fingerprint(
  prompt: string,
  changes: Changes | undefined,
  {
    inputs,
    event,
  }: Pick<Step, 'event'> & { readonly inputs: Pick<Inputs, 'context' | 'contextPaths'> },
): string | undefined {
  if (inputs.context === 'none' || !changes || changes.unknown || changes.truncated)
    return undefined
  const files = filesThatCount(changes, inputs)
  if (files.some(({ patch, sha }) => !patch && !sha)) return undefined
  const [pull, issue] = ['pull_request', 'issue'].map((name) => getPath(event.payload, name))
  const words = ['title', 'body'].map((name) => getString(pull ?? issue ?? changes.named, name))
  const parts = files.map(({ patch, ...file }) => [
    file,
    `\n${patch}`.replace(/\n@@[^\n]*/g, '\n@@'),
  ])
  const all = JSON.stringify([prompt, inputs.context, words, parts])
  return createHash('sha256').update(all).digest('base64url')
}

/**
 * The prompt with its context, in which the key is redacted: the agent may copy what it reads into
 * a pull request.
 */
export function composePrompt(
  text: string,
  changes: Changes | undefined,
  step: Pick<Step, 'environment' | 'event' | 'nonce' | 'redact'> & {
    readonly inputs: Pick<Inputs, 'context' | 'contextPaths'>
  },
): Composed {
  const { inputs, environment, event, nonce, redact } = step
  if (inputs.context === 'none' || changes === undefined) return { prompt: text, omissions: [] }
  const files = filesThatCount(changes, inputs)
  const { prompt, omissions } = composeContext(text, {
    level: inputs.context,
    trigger: describeTrigger(environment, event, changes, redact),
    changes: { ...changes, files },
    boundary: nonce(),
    excluded: changes.files.length - files.length,
  })
  return { prompt: text + redact(prompt.slice(text.length)), omissions }
}
