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
  /**
   * The input `since` says where the range begins, so the payload's commits are not those of the
   * range.
   */
  bySince?: boolean
}>

/** Why there is no list, as a sentence. [context.omitted.told] */
export function explainMissing({ reason }: { readonly reason: string }): string {
  return `${reason.replace(/^./, (first) => first.toUpperCase())}.`
}

/**
 * [context.level]
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
  // No name ends the fence. [context.fence.data] A file without a diff says so.
  // [context.omitted.told]
  const lines = files.map((file) => fence.safe(fileLine(file, level === 'diff')))
  // [context.omitted.told]
  const count = (omitted: number) =>
    `${formatInteger(omitted)} of ${formatCount(files.length, 'file')}`
  const note = (omitted: number) => (omitted === 0 ? '' : `Omitted for length: ${count(omitted)}.`)
  // [context.budget]
  const available =
    room - Buffer.byteLength(joinParagraphs([fixed, fence.around(['']), note(files.length)]))
  const kept = takeFitting(lines, available)
  const omitted = lines.length - kept.length
  // [context.omitted.told]
  if (omitted > 0) omit(`The names of ${count(omitted)} were left out for length.`)
  // [context.fence.data] [context.budget] [context.omitted.told]
  return joinParagraphs([fixed, fence.around(kept), note(omitted)])
}

export type FileListOptions = Readonly<{
  /** `event`: what triggered the run and the list of files; `diff`: the same plus the diffs. */
  level: 'event' | 'diff'
  files: readonly ChangedFile[]
}>

// [context.level]
function describeFiles(changes: Changes, files: readonly ChangedFile[]): string {
  switch (changes.kind) {
    // [context.omitted.told]
    case 'none':
      return `Changed by ${changes.range}: no files.`
    case 'first':
    case 'unknown':
      return explainMissing(changes)
    // [context.level]
    case 'listed': {
      const { gap = '', range, truncated } = changes
      // [context.paths.excluded]
      const excluded = changes.files.length - files.length
      // [context.level]
      const added = files.reduce((sum, { additions }) => sum + additions, 0)
      const deleted = files.reduce((sum, { deletions }) => sum + deletions, 0)
      // [context.omitted.no-fact]
      const least = files.every(isCounted) ? '' : 'at least '
      const lines = `${least}${formatCount(added, 'line')} added, ${formatInteger(deleted)} deleted`
      // [context.level]
      const isEmpty = files.length === 0
      const sum = isEmpty ? 'no files' : `${formatCount(files.length, 'file')}, ${lines}`
      // [range.rewritten] [context.omitted.told] [context.paths.excluded]
      const sentences = [
        // [range.rewritten]
        gap,
        // "no files" may not be true of those.
        // [context.omitted.no-fact] [context.level] [context.paths.excluded]
        isEmpty && (gap !== '' || excluded > 0) ? '' : `Changed by ${range}: ${sum}.`,
        // [context.omitted.told]
        truncated ? 'GitHub truncated this list: there are more changed files.' : '',
        // [context.paths.excluded]
        excluded > 0
          ? `Not listed: ${formatCount(excluded, 'changed file')} excluded by context-paths.`
          : '',
      ]
      // [range.rewritten] [context.omitted.told] [context.paths.excluded]
      return sentences.filter((sentence) => sentence !== '').join('\n')
    }
  }
}

/**
 * Of a diff that it left out, GitHub may say that no line changed.
 * [context.omitted.no-fact] [context.level]
 */
function isCounted({ patch, additions, deletions }: ChangedFile): boolean {
  return patch !== undefined || additions + deletions > 0
}

/** No name can forge part of a line: one with blanks is in quotes. [context.fence.line] */
function fileLine(file: ChangedFile, withReason: boolean): string {
  const { additions, deletions, patch } = file
  // [context.omitted.told]
  const reason = withReason && patch === undefined ? ' (GitHub sent no diff)' : ''
  // [context.omitted.no-fact]
  const counts = isCounted(file) ? ` +${additions} -${deletions}` : ''
  // [context.fence.line] [context.level] [context.omitted.told]
  return `${statusLabel(file.status)}${counts} ${fileNames(file)}${reason}`
}

// [context.level]
export function statusLabel(status: string): string {
  return status === 'removed' ? 'deleted' : status
}

// Both names of a renamed file [context.level], neither of them like a line. [context.fence.line]
export function fileNames({ path, previousPath }: ChangedFile): string {
  return previousPath === undefined || previousPath === path
    ? quoteName(path)
    : `${quoteName(previousPath)} -> ${quoteName(path)}`
}
