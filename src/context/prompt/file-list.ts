/** The section of the prompt that lists the changed files. Pure. */

import { formatCount, formatInteger, joinParagraphs, takeFitting } from '../../text/format.js'
import { type ChangedFile, type Changes, explainMissing } from '../changes/types.js'
import { type Fence, quoteName } from './fence.js'

/**
 * Reports what a prompt lacks, as that is paid for, too. `isAll`: nothing of what was asked for is
 * left. [context.omitted.told]
 */
export type OnOmitted = (text: string, isAll?: boolean) => void

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
  omit: OnOmitted,
): string {
  const fixed = joinParagraphs(['## Changed files', describeFiles(changes, files)])
  // No name ends the fence. A file without a diff says so.
  const lines = files.map((file) => fence.safe(fileLine(file, level === 'diff')))
  const count = (omitted: number) =>
    `${formatInteger(omitted)} of ${formatCount(files.length, 'file')}`
  const note = (omitted: number) => omitted > 0 && `Omitted for length: ${count(omitted)}.`
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
      const { gap, range, truncated } = changes
      const excluded = changes.files.length - files.length
      const added = files.reduce((sum, { additions }) => sum + additions, 0)
      const deleted = files.reduce((sum, { deletions }) => sum + deletions, 0)
      const least = files.every(isCounted) ? '' : 'at least '
      const lines = `${least}${formatCount(added, 'line')} added, ${formatInteger(deleted)} deleted`
      const isEmpty = files.length === 0
      const sum = isEmpty ? 'no files' : `${formatCount(files.length, 'file')}, ${lines}`
      const sentences = [
        gap,
        // With a gap, or with files that were left out, "no files" may be wrong.
        !(isEmpty && (gap || excluded > 0)) && `Changed by ${range}: ${sum}.`,
        truncated && 'GitHub truncated this list: there are more changed files.',
        excluded > 0 &&
          `Not listed: ${formatCount(excluded, 'changed file')} excluded by context-paths.`,
      ]
      return sentences.filter(Boolean).join('\n')
    }
  }
}

/** GitHub may say that no line changed if it left the diff out. [context.omitted.no-fact] */
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
