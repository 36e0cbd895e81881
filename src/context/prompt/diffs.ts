/** The section of the prompt that has the diffs of the changed files. */

import { formatCount, joinParagraphs, takeFitting } from '../../text/format.js'
import type { ChangedFile } from '../changes/types.js'
import type { Fence } from './fence.js'
import { fileNames, type OnOmitted, statusLabel } from './file-list.js'

/** The room for the heading, the fence and the note on what is omitted. */
const NOTES_LIMIT = 512

/**
 * Tests, and what stands beside the source and is none, by the names that most projects give to
 * folders and files. `spec/` and `spec.yaml` aren't among them: they may describe an API.
 */
const BESIDE =
  /(?:^|\/)_*(?:tests?|e2e|fixtures?|test-?(?:data|resources|utils)|mocks?|snapshots|examples?|samples?|demos?|locales?|translations)_*\/|(?:[._-]tests|_test)\/|(?:^|\/)test(?:_|s\.)|(?:\.(?!latest)[a-z]*|[_-](?:unit)?)tests?\.(?!json|ya?ml)|[._-](?:test-d|spec|e2e|stories)\.(?!json|ya?ml)|-lock\.(?:json|ya?ml)$|\.lock$|go\.sum$/i

/** Tests are also named in mixed case, as `FooTest.java` and `src/commonTest/`. */
const TEST_CLASS = /[a-z\d]Tests?[./]/

/**
 * The section with the diffs: as many as fit, of the source first, the smallest first. In GitHub's
 * order, the alphabet, fixtures and translations would leave no room for the source.
 * [context.diffs.order] A diff that is cut misleads. [context.diffs.whole]
 */
export function writeDiffs(
  files: readonly ChangedFile[],
  fence: Fence,
  room: number,
  omit: OnOmitted,
): string {
  const rankOf = ({ path }: ChangedFile) => Number(BESIDE.test(path) || TEST_CLASS.test(path))
  const sizeOf = ({ patch = '' }: ChangedFile) => patch.length
  const all = files
    // A file that was only renamed has no diff to send, and lacks none.
    .filter(({ patch }) => patch)
    .sort((one, other) => rankOf(one) - rankOf(other) || sizeOf(one) - sizeOf(other))
    .map((file) => writeDiff(file, fence))
  const kept = takeFitting(all, room - NOTES_LIMIT)
  const isAll = kept.length === 0
  const unsent = files.filter(({ patch }) => patch === undefined).length
  if (unsent > 0) omit(`GitHub sent no diff of ${formatCount(unsent, 'file')}.`, isAll)
  if (all.length === 0) return ''
  const omitted = formatCount(all.length - kept.length, 'file')
  const section = joinParagraphs(['## Diffs', fence.around(kept)])
  if (kept.length === all.length) return section
  omit(`The diffs of ${omitted} were left out for length.`, isAll)
  return joinParagraphs([section, `Omitted for length: the diffs of ${omitted}.`])
}

/** No patch can forge a title: its lines start with a blank, `+`, `-`, `@` or `\\`. */
function writeDiff(file: ChangedFile, fence: Fence): string {
  const { patch = '', status } = file
  // In a file with CR LF line ends, the CR means nothing.
  const lines = patch.replace(/\r$/gm, '').replace(/\n$/, '')
  return fence.safe(`=== ${statusLabel(status)} ${fileNames(file)}\n${lines}`)
}
