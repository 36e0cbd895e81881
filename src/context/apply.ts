/**
 * What the changes are for: whether there is anything to do, what later runs compare, and the
 * prompt with its context.
 */

import { createHash } from 'node:crypto'
import type { Commit } from '../event/event.js'
import { getPath, getString } from '../event/payload.js'
import { InputError, type Inputs } from '../inputs/inputs.js'
import { findFolder, matchesPatterns } from '../inputs/path-patterns.js'
import type { SkipReason } from '../run/result.js'
import type { Step } from '../run/step.js'
import { quote } from '../text/escape.js'
import { formatCount } from '../text/format.js'
import { composeContext, type Omit } from './compose.js'
import {
  type ChangedFile,
  type Changes,
  explainMissing,
  type Findings,
  type ListedChanges,
} from './files.js'
import { describeTrigger } from './trigger.js'

/** What the changes decide before anything is sent. */
export type Judgement =
  | Readonly<{ kind: 'skip'; skip: SkipReason }>
  /** For the log and the summary. */
  | Readonly<{ kind: 'note'; note: string }>

/** Those that say what changes are for. */
type ContextInputs = Pick<Inputs, 'context' | 'contextPaths' | 'skipAuthors'>

// [skip.paths.none-left] [skip.nothing-to-compare]
const skip = (reason: string, advice?: string): Judgement => ({
  kind: 'skip',
  skip: { reason, advice },
})

// [context.omitted.told]
const note = (text: string): Judgement => ({ kind: 'note', note: text })

// [skip.schedule.no-commits]
const NOTHING_NEW = 'there are no new commits'

/**
 * Why there is nothing to do, or why that can't be told; undefined if there is something.
 * [skip.paths.none-left]
 *
 * @throws InputError if a pattern turns out to be a folder's name
 */
export function judgeChanges(
  inputs: ContextInputs,
  eventName: string,
  { changes, thread }: Findings,
): Judgement | undefined {
  const { context, contextPaths } = inputs
  // [skip.nothing-to-compare.by-hand]
  const isByHand = eventName === 'workflow_dispatch'
  // Whoever presses the button gets a job, unless it would have to know what changed.
  // [skip.nothing-to-compare.by-hand] [skip.nothing-to-compare]
  const isWanted = isByHand && context !== 'diff'
  // So does whoever names an issue: its words are asked for as well. [skip.nothing-to-compare]
  const hasWords = thread !== undefined && context !== 'none'
  switch (changes.kind) {
    // [skip.schedule.no-commits]
    case 'none': {
      // [skip.release.same-commit]
      const { previousRelease } = changes
      if (previousRelease !== undefined && !isWanted) {
        const advice =
          'To ask for docs all the same, start a workflow by hand, on the tag or with since.'
        return skip(`${quote(previousRelease)} is a release of the same commit`, advice)
      }
      // [skip.schedule.no-commits] [context.omitted.told]
      const isPaid = isByHand || (eventName !== 'schedule' && contextPaths.length === 0)
      return isPaid ? note(`No changes are sent: ${NOTHING_NEW}.`) : skip(NOTHING_NEW)
    }
    // [skip.nothing-to-compare]
    case 'first':
      return isWanted || hasWords ? noteMissing(inputs, changes) : skip(changes.reason, NEXT_BEGINS)
    // [skip.list.cut]
    case 'unknown':
      return noteMissing(inputs, changes)
    // [skip.paths.none-left]
    case 'listed':
      return (
        // [skip.schedule.undone] [skip.schedule.agents-own]
        (eventName === 'schedule' && skipSchedule(inputs, changes)) ||
        // [skip.paths.none-left]
        judgeFiles(inputs, isByHand, changes)
      )
  }
}

// [skip.nothing-to-compare] [skip.nothing-to-compare.by-hand]
const NEXT_BEGINS =
  'The next run begins here. For earlier changes, set since to a tag, a branch or a commit.'

// [context.omitted.told]
function noteMissing(
  { context, contextPaths }: ContextInputs,
  changes: Extract<Changes, { kind: 'first' | 'unknown' }>,
): Judgement | undefined {
  const why = explainMissing(changes)
  // [context.paths.no-list]
  if (contextPaths.length > 0) return note(`context-paths was ignored: ${why}`)
  // [context.omitted.told]
  const isAsked = context === 'diff' || (changes.kind === 'unknown' && changes.unexpected)
  return isAsked ? note(`No changes are sent: ${why}`) : undefined
}

/**
 * Nobody asked for docs of commits that undo each other, or that are all the agent's.
 * [skip.schedule.undone] [skip.schedule.agents-own]
 */
function skipSchedule(
  { skipAuthors }: ContextInputs,
  { files, truncated, gap, commits }: ListedChanges,
): Judgement | undefined {
  // [range.rewritten]
  if (gap !== undefined) return undefined
  // [skip.schedule.undone]
  if (!truncated && files.length === 0) return skip('the new commits leave no file changed')
  // [skip.schedule.agents-own]
  const isSkipped = ({ author, isMerge }: Commit) =>
    isMerge || skipAuthors.has(author.toLowerCase())
  return commits?.complete && commits.commits.every(isSkipped)
    ? skip('every new commit is a merge or by an account in skip-authors')
    : undefined
}

// [skip.paths.none-left]
function judgeFiles(
  { context, contextPaths }: ContextInputs,
  isByHand: boolean,
  { files, truncated, gap }: ListedChanges,
): Judgement | undefined {
  // [context.paths.folder]
  const folder = findFolder(contextPaths, files.flatMap(namesOf))
  if (folder !== undefined) {
    throw new InputError([
      `context-paths: ${quote(folder)} is a folder, and patterns match files: write ${quote(`${folder}/**`)} for everything in it.`,
    ])
  }
  // [skip.paths.none-left]
  if (filesThatCount(files, { contextPaths }).length > 0)
    // [range.rewritten] [context.omitted.told]
    return gap !== undefined && context === 'diff' ? note(gap) : undefined
  // [skip.list.cut] [context.omitted.told]
  const hasPaths = contextPaths.length > 0
  // Either may hide what counts. [skip.list.cut] [range.rewritten]
  const why = gap ?? (truncated ? 'GitHub cut the list.' : '')
  // [context.omitted.told]
  const none = 'No changes are sent:'
  // [skip.list.cut] [context.omitted.told]
  if (why !== '' && hasPaths)
    return note(
      `context-paths can't tell that nothing is to do: ${why} ${none} no listed file matches.`,
    )
  // [context.omitted.told]
  if (why !== '') return note(`${none} ${why}`)
  // [context.omitted.told] [skip.paths.none-left]
  if (files.length === 0 && !hasPaths) return note(`${none} no file changed.`)
  // [skip.paths.none-left]
  if (isByHand) return note(`${none} no changed file matches context-paths.`)
  const first = files[0] === undefined ? '' : `, the first is ${quote(files[0].path)}`
  return skip(
    `no changed file matches context-paths (${formatCount(files.length, 'file')}${first})`,
    'If a file that changed should count, correct its pattern in context-paths.',
  )
}

/**
 * What doesn't count is nowhere in the prompt. [context.paths.excluded] A renamed file counts if
 * either name does. [context.paths.renamed]
 */
function filesThatCount(
  files: readonly ChangedFile[],
  { contextPaths }: Pick<ContextInputs, 'contextPaths'>,
): readonly ChangedFile[] {
  return files.filter((file) => namesOf(file).some((name) => matchesPatterns(contextPaths, name)))
}

/** What a file was copied from has not changed. [context.paths.renamed] */
function namesOf({ path, previousPath = path, status }: ChangedFile): readonly string[] {
  return status === 'copied' ? [path] : [path, previousPath]
}

/**
 * The same for a push that changes nothing of a pull request, such as a merge of its base, which at
 * most moves the line numbers of its hunks. Undefined if not all is known.
 * [paid.push.unchanged] [paid.fingerprint.pinned] [memory.marker.stable]
 */
export function fingerprint(
  prompt: string,
  findings: Findings | undefined,
  inputs: ContextInputs,
  payload: unknown,
): string | undefined {
  // [paid.push.unknown]
  if (inputs.context === 'none' || findings?.changes.kind !== 'listed') return undefined
  // [paid.push.unchanged]
  const { changes, thread } = findings
  // [paid.push.unknown]
  if (changes.gap !== undefined || changes.truncated) return undefined
  // [paid.push.unchanged]
  const files = filesThatCount(changes.files, inputs)
  // [paid.push.unknown]
  if (files.some(({ patch, sha }) => !patch && !sha)) return undefined
  // [paid.push.unchanged]
  const [pull, issue] = ['pull_request', 'issue'].map((name) => getPath(payload, name))
  const words = ['title', 'body'].map((name) => getString(pull ?? issue ?? thread?.data, name))
  // [paid.fingerprint.pinned]
  const parts = files.map(({ patch, ...file }) => [
    file,
    // [paid.push.unchanged]
    `\n${patch}`.replace(/\n@@[^\n]*/g, '\n@@'),
  ])
  // [paid.fingerprint.pinned]
  const all = JSON.stringify([prompt, inputs.context, words, parts])
  return createHash('sha256').update(all).digest('base64url')
}

/**
 * The prompt with its context, in which the key is redacted: the agent may copy what it reads into
 * a pull request. [context.level]
 */
export function composePrompt(
  text: string,
  findings: Findings | undefined,
  step: Pick<Step, 'environment' | 'event' | 'nonce' | 'redactKeys'> & {
    readonly inputs: ContextInputs
  },
  omit: Omit,
): string {
  const { inputs, environment, event, nonce, redactKeys } = step
  if (inputs.context === 'none' || findings === undefined) return text
  const { changes } = findings
  const context = {
    // [context.level]
    level: inputs.context,
    // [context.facts.event]
    trigger: describeTrigger(environment, event, findings, redactKeys),
    // [context.level] [context.facts.commits]
    changes,
    // [context.paths.excluded] [range.others]
    files: changes.kind === 'listed' ? filesThatCount(changes.files, inputs) : [],
    // [context.fence.data]
    boundary: nonce(),
  }
  // [context.secret.none]
  return text + redactKeys(composeContext(text, context, omit).slice(text.length))
}
