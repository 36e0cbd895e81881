/** What follows from the changes: is there anything to do? And which of the files count. Pure. */

import type { Commit } from '../event/event.js'
import { InputError, type Inputs } from '../inputs/inputs.js'
import { findFolder, matchesPatterns } from '../inputs/path-patterns.js'
import type { Skip } from '../run/result.js'
import { quote } from '../text/escape.js'
import { formatCount, joinSentences } from '../text/format.js'
import {
  type ChangedFile,
  explainMissing,
  type Findings,
  type ListedChanges,
  type Unlisted,
} from './changes/types.js'

/** What the changes decide before anything is sent. */
type Judgement =
  | Readonly<{ kind: 'skip'; skip: Skip }>
  /** For the log and the summary. */
  | Readonly<{ kind: 'note'; note: string }>

/** The inputs that say what changes are for. */
export type ContextInputs = Pick<Inputs, 'context' | 'contextPaths' | 'skipAuthors'>

const skip = (reason: string, advice?: string): Judgement => ({
  kind: 'skip',
  skip: { reason, advice },
})

const note = (text: string): Judgement => ({ kind: 'note', note: text })

/** A docs job without them would be paid, and has nothing to tell. [skip.schedule.no-commits] */
const NOTHING_NEW = 'there are no new commits'

/**
 * Why there is nothing to do, or why that can't be told; undefined if there is something. What
 * GitHub doesn't list may count, so it never leads to a skip. [skip.list.cut]
 *
 * @throws InputError if a pattern turns out to be a folder's name
 */
export function judgeChanges(
  inputs: ContextInputs,
  eventName: string,
  { changes, thread, isMark }: Findings,
): Judgement | undefined {
  const { context } = inputs
  const isByHand = eventName === 'workflow_dispatch'
  const hasWords = thread !== undefined && context !== 'none'
  // Whoever presses the button gets a job, unless it would have to know what changed; so does
  // whoever writes, or names an issue by hand: its words are asked for as well.
  const isAsked =
    (isByHand && (context !== 'diff' || hasWords)) || /issue|discussion|comment/.test(eventName)
  switch (changes.kind) {
    case 'none': {
      const { previousRelease } = changes
      if (isAsked) return note(`No changes are sent: ${NOTHING_NEW}.`)
      if (previousRelease === undefined) return skip(NOTHING_NEW, isByHand ? EARLIER : undefined)
      const how = isByHand ? 'it again' : 'a workflow by hand, on the tag or'
      const advice = `To ask for docs all the same, start ${how} with since.`
      return skip(`${quote(previousRelease)} is a release of the same commit`, advice)
    }
    case 'first':
      // The words of what a setting names are sent once.
      return isAsked || hasWords ? noteMissing(inputs, changes) : skip(changes.reason, NEXT_BEGINS)
    case 'unknown':
      return noteMissing(inputs, changes)
    case 'listed':
      return (
        (!isAsked && !isByHand && skipUnasked(inputs, eventName === 'schedule', changes)) ||
        judgeFiles(inputs, isByHand && isAsked, isByHand, changes, isMark)
      )
  }
}

/**
 * A docs job that knows of no changes is money lost, unless somebody asks by hand.
 * [skip.nothing-to-compare] [skip.nothing-to-compare.by-hand]
 */
const EARLIER =
  'For earlier changes, set since to a tag, a branch or a commit (with code-repositories, to a date).'
export const NEXT_BEGINS = `The next run begins here. ${EARLIER}`

/** Says that what was asked for is missing, and why. [context.paths.no-list] */
function noteMissing(
  { context, contextPaths }: ContextInputs,
  changes: Unlisted,
): Judgement | undefined {
  const why = explainMissing(changes)
  if (contextPaths.length > 0) return note(`context-paths was ignored: ${why}`)
  const isAsked = context === 'diff' || (changes.kind === 'unknown' && changes.unexpected)
  return isAsked ? note(`No changes are sent: ${why}`) : undefined
}

/**
 * Nobody asked for docs of commits that undo each other, or that are all the agent's, as in a
 * queue. [skip.schedule.undone] [skip.schedule.agents-own]
 */
function skipUnasked(
  { skipAuthors }: ContextInputs,
  isScheduled: boolean,
  { files, truncated, gap, commits }: ListedChanges,
): Judgement | undefined {
  if (gap !== undefined) return undefined
  if (isScheduled && !truncated && files.length === 0)
    return skip('the new commits leave no file changed')
  const isSkipped = ({ author, isMerge }: Commit) =>
    isMerge || skipAuthors.has(author.toLowerCase())
  return commits?.every((list) => list.complete && list.commits.every(isSkipped))
    ? skip('every new commit is a merge or by an account in skip-authors')
    : undefined
}

/** Nothing is sent if no file counts, unless somebody asks by hand. [skip.paths.none-left] */
function judgeFiles(
  { context, contextPaths }: ContextInputs,
  isAsked: boolean,
  isByHand: boolean,
  { files, truncated, gap: full, shownGap: gap = full }: ListedChanges,
  isMark = false,
): Judgement | undefined {
  const folder = findFolder(contextPaths, files.flatMap(namesOf))
  if (folder !== undefined) {
    throw new InputError([
      `context-paths: ${quote(folder)} is a folder, and patterns match files: write ${quote(`${folder}/**`)} for everything in it.`,
    ])
  }
  if (filesThatCount(files, { contextPaths }).length > 0)
    return gap !== undefined && context === 'diff' ? note(gap) : undefined
  const hasPaths = contextPaths.length > 0
  // A gap or a cut may hide what counts.
  const why = gap ?? (truncated ? 'GitHub cut the list.' : '')
  const none = 'No changes are sent:'
  if (why !== '')
    return note(
      hasPaths
        ? `context-paths can't tell that nothing is to do: ${why} ${none} no listed file matches.`
        : `${none} ${why}`,
    )
  // Without patterns, each file counts: there is none.
  if (!hasPaths)
    return isByHand && !isAsked
      ? skip('no file changed', EARLIER)
      : note(`${none} no file changed.`)
  if (isAsked) return note(`${none} no changed file matches context-paths.`)
  const first = files[0] === undefined ? '' : `, the first is ${quote(files[0].path)}`
  return skip(
    `no changed file matches context-paths (${formatCount(files.length, 'file')}${first})`,
    joinSentences(
      'If a file that changed should count, correct its pattern in context-paths.',
      isMark && NEXT_BEGINS,
    ),
  )
}

/**
 * What doesn't count is nowhere in the prompt. [context.paths.excluded] A renamed file counts if
 * either name does. [context.paths.renamed]
 */
export function filesThatCount(
  files: readonly ChangedFile[],
  { contextPaths }: Pick<ContextInputs, 'contextPaths'>,
): readonly ChangedFile[] {
  // To normalize a name for nothing costs a run on a pull request 2 %.
  if (contextPaths.length === 0) return files
  return files.filter((file) => namesOf(file).some((name) => matchesPatterns(contextPaths, name)))
}

/** What a file was copied from has not changed. macOS parts letters from their accents. */
function namesOf({ path, previousPath = path, status }: ChangedFile): readonly string[] {
  const names = status === 'copied' ? [path] : [path, previousPath]
  return names.map((name) => name.normalize('NFC'))
}
