/** The changed files, and the section of the prompt that lists them. Pure. */

import type { Commit } from '../event/event.js'
import type { SkipReason } from '../run/result.js'
import { formatCount, formatInteger, joinParagraphs, takeFitting } from '../text/format.js'
import { type Fence, quoteName } from './fence.js'

/** A changed file, as GitHub's API returns it. Others wrote its names and its patch. */
export type ChangedFile = Readonly<{
  path: string
  previousPath?: string
  status: string
  additions: number
  deletions: number
  /** Unified diff hunks without file header; missing for binary files and large diffs. */
  patch?: string
  /** Of the content; only of a file without a patch. */
  sha?: string
}>

export type Changes = Readonly<{
  files: readonly ChangedFile[]
  truncated: boolean
  /** Of a comparison that GitHub cut: where it begins, a commit between, and where it ends. */
  halves?: readonly string[]
  /** There is certainly no commit in the range. */
  empty?: boolean
  /** For the reason in the note, a run that nobody asked for has nothing to do. */
  skips?: Pick<SkipReason, 'advice'> | undefined
  /**
   * There is no list, or not all of it. Then the files never decide that there is nothing to do.
   */
  unknown?: boolean
  /** Why it is unknown, or what else to know about it, in the action's own words. */
  note?: string
  /** GitHub should have had a list: readers of the log and the summary get the note, too. */
  unexpected?: boolean
  /**
   * What the changes belong to, in the action's own words, such as "the commits abc1234..def5678".
   */
  range: string
  /** The commits of the range; others wrote their texts. */
  commits?: CommitList
  /**
   * The input `since` names where the range begins, so the payload's commits are not those of the
   * range.
   */
  bySince?: boolean
  /** The pull request or issue that the step names, as received. Others wrote its words. */
  named?: unknown
  /** The tag of the release that the changes came after. Others wrote it. */
  previousRelease?: string
}>

export interface CommitList {
  readonly commits: readonly Commit[]
  /** There are certainly no more. */
  readonly complete: boolean
}

export function writeFileList(
  changes: Changes,
  { excluded, level }: { excluded: number; level: 'event' | 'diff' },
  fence: Fence,
  room: number,
): string {
  const { files } = changes
  const fixed = joinParagraphs(['## Changed files', describeFiles(changes, excluded)])
  const withReasons = level === 'diff' && !changes.unknown
  const lines = files.map((file) => fence.safe(fileLine(file, withReasons)))
  const note = (omitted: number) =>
    omitted === 0
      ? ''
      : `Omitted for length: ${formatInteger(omitted)} of ${formatCount(files.length, 'file')}.`
  const available =
    room - Buffer.byteLength(joinParagraphs([fixed, fence.around(['']), note(files.length)]))
  const kept = takeFitting(lines, available)
  return joinParagraphs([fixed, fence.around(kept), note(lines.length - kept.length)])
}

function describeFiles(
  { files, truncated, unknown, note = '', range }: Changes,
  excluded: number,
): string {
  const added = files.reduce((sum, { additions }) => sum + additions, 0)
  const deleted = files.reduce((sum, { deletions }) => sum + deletions, 0)
  const least = files.every(isCounted) ? '' : 'at least '
  const lines = `${least}${formatCount(added, 'line')} added, ${formatInteger(deleted)} deleted`
  const sentences = [
    note,
    files.length > 0 ? `Changed by ${range}: ${formatCount(files.length, 'file')}, ${lines}.` : '',
    files.length === 0 && !unknown && excluded === 0 ? `Changed by ${range}: no files.` : '',
    truncated ? 'GitHub truncated this list: there are more changed files.' : '',
    excluded > 0
      ? `Not listed: ${formatCount(excluded, 'changed file')} excluded by context-paths.`
      : '',
  ]
  return sentences.filter((sentence) => sentence !== '').join('\n')
}

/** Of a diff that it left out, GitHub may say that no line changed. */
function isCounted({ patch, status, additions, deletions }: ChangedFile): boolean {
  return Boolean(patch) || status === 'renamed' || additions + deletions > 0
}

/** No name can forge part of a line: one with blanks is in quotes. */
function fileLine(file: ChangedFile, withReasons: boolean): string {
  const { additions, deletions } = file
  const reason = withReasons && !file.patch ? ' (GitHub sent no diff)' : ''
  const counts = isCounted(file) ? ` +${additions} -${deletions}` : ''
  return `${statusLabel(file.status)}${counts} ${fileNames(file)}${reason}`
}

export function statusLabel(status: string): string {
  return status === 'removed' ? 'deleted' : status
}

export function fileNames({ path, previousPath }: ChangedFile): string {
  return previousPath === undefined || previousPath === path
    ? quoteName(path)
    : `${quoteName(previousPath)} -> ${quoteName(path)}`
}
