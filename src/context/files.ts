/** What changed: the files that are known, and the section of the prompt that lists them. Pure. */

import type { Commit } from '../event/event.js'
import { formatCount, formatInteger, joinParagraphs, takeFitting } from '../text/format.js'
import type { Omit } from './compose.js'
import { type Fence, quoteName } from './fence.js'

/** A changed file, as GitHub's API returns it. Others wrote its names and its patch. */
export type ChangedFile = Readonly<{
  path: string
  previousPath?: string | undefined
  status: string
  additions: number
  deletions: number
  /**
   * Unified diff hunks without file header; empty of a file that was only renamed. Missing if
   * GitHub sent none: of binary files, large diffs, and of all files after many lines.
   */
  patch?: string | undefined
  /** Of the content; only of a file without a patch. */
  sha?: string | undefined
}>

/** What changed, or why there is no list of it. Reasons are in the action's own words. */
export type Changes =
  | ListedChanges
  /** There is certainly no commit in the range. */
  | Readonly<{ kind: 'none' } & Range>
  /** There is nothing to compare with yet: the next run begins here. The reason is a clause. */
  | Readonly<{ kind: 'first'; reason: string }>
  /** `unexpected`: GitHub should have had a list. Of an issue, for example, there is none. */
  | Readonly<{ kind: 'unknown'; reason: string; unexpected?: boolean }>

export type Range = Readonly<{
  /** What the changes belong to, such as "the commits abc1234..def5678". */
  range: string
  /** The tag of the release that the changes came after. Others wrote it. */
  previousRelease?: string
}>

export type ListedChanges = Readonly<
  {
    kind: 'listed'
    files: readonly ChangedFile[]
    /** GitHub cut the list: there are more. */
    truncated: boolean
    /** Why more changed than what the list is of: then it never decides that nothing is to do. */
    gap?: string
    /** The commits of the range. Others wrote their texts. */
    commits?: CommitList
  } & Range
>

export interface CommitList {
  readonly commits: readonly Commit[]
  /** There are certainly no more. */
  readonly complete: boolean
}

/** What a number names, as GitHub returned it. Others wrote its words. */
export interface Thread {
  readonly isPull: boolean
  readonly data: unknown
}

/** What GitHub was asked for the context of the prompt. */
export type Findings = Readonly<{
  changes: Changes
  /**
   * What `issue-number` names, if that isn't what triggered the run; or the branches of the pull
   * request that did, if the payload lacks them.
   */
  thread?: Thread | undefined
  /** The range begins where `since` says, so it isn't that of the payload's commits. */
  bySince?: boolean
}>

/** Why there is no list, as a sentence. */
export function explainMissing({ reason }: { readonly reason: string }): string {
  return `${reason.replace(/^./, (first) => first.toUpperCase())}.`
}

/**
 * The section that lists the changed files.
 *
 * @param files those of the changes that count
 */
export function writeFileList(
  changes: Changes,
  { files, level }: FileListOptions,
  fence: Fence,
  room: number,
  omit: Omit,
): string {
  const fixed = joinParagraphs(['## Changed files', describeFiles(changes, files)])
  // No name ends the fence. A file without a diff says so.
  const lines = files.map((file) => fence.safe(fileLine(file, level === 'diff')))
  const count = (omitted: number) =>
    `${formatInteger(omitted)} of ${formatCount(files.length, 'file')}`
  const note = (omitted: number) => (omitted === 0 ? '' : `Omitted for length: ${count(omitted)}.`)
  const available =
    room - Buffer.byteLength(joinParagraphs([fixed, fence.around(['']), note(files.length)]))
  const kept = takeFitting(lines, available)
  const omitted = lines.length - kept.length
  if (omitted > 0) omit(`The names of ${count(omitted)} were left out for length.`)
  return joinParagraphs([fixed, fence.around(kept), note(omitted)])
}

export type FileListOptions = Readonly<{
  /** `event`: what triggered the run and the list of files; `diff`: the same plus the diffs. */
  level: 'event' | 'diff'
  files: readonly ChangedFile[]
}>

function describeFiles(changes: Changes, files: readonly ChangedFile[]): string {
  switch (changes.kind) {
    case 'none':
      return `Changed by ${changes.range}: no files.`
    case 'first':
    case 'unknown':
      return explainMissing(changes)
    case 'listed': {
      const { gap = '', range, truncated } = changes
      const excluded = changes.files.length - files.length
      const added = files.reduce((sum, { additions }) => sum + additions, 0)
      const deleted = files.reduce((sum, { deletions }) => sum + deletions, 0)
      const least = files.every(isCounted) ? '' : 'at least '
      const lines = `${least}${formatCount(added, 'line')} added, ${formatInteger(deleted)} deleted`
      const isEmpty = files.length === 0
      const sum = isEmpty ? 'no files' : `${formatCount(files.length, 'file')}, ${lines}`
      const sentences = [
        gap,
        // "no files" may not be true of those.
        isEmpty && (gap !== '' || excluded > 0) ? '' : `Changed by ${range}: ${sum}.`,
        truncated ? 'GitHub truncated this list: there are more changed files.' : '',
        excluded > 0
          ? `Not listed: ${formatCount(excluded, 'changed file')} excluded by context-paths.`
          : '',
      ]
      return sentences.filter((sentence) => sentence !== '').join('\n')
    }
  }
}

/** Of a diff that it left out, GitHub may say that no line changed. [context.omitted.no-fact] */
function isCounted({ patch, additions, deletions }: ChangedFile): boolean {
  return patch !== undefined || additions + deletions > 0
}

/** No name can forge part of a line: one with blanks is in quotes. */
function fileLine(file: ChangedFile, withReason: boolean): string {
  const { additions, deletions, patch } = file
  const reason = withReason && patch === undefined ? ' (GitHub sent no diff)' : ''
  const counts = isCounted(file) ? ` +${additions} -${deletions}` : ''
  return `${statusLabel(file.status)}${counts} ${fileNames(file)}${reason}`
}

export function statusLabel(status: string): string {
  return status === 'removed' ? 'deleted' : status
}

/** Both names of a renamed file, neither of which can look like a line of the list. */
export function fileNames({ path, previousPath }: ChangedFile): string {
  return previousPath === undefined || previousPath === path
    ? quoteName(path)
    : `${quoteName(previousPath)} -> ${quoteName(path)}`
}
