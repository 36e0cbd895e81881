/** The section of the prompt that has the diffs of the changed files. Pure. */

import { formatCount, formatInteger, joinParagraphs, takeFitting } from '../text/format.js'
import { type Fence, normalizeCrlfPatch, quoteName } from './fence.js'
import { type ChangedFile, fileNames, statusLabel } from './files.js'

/** The names of files whose diffs are omitted, in bytes. */
const NAMES_LIMIT = 1024

/** The room for the note on what is omitted, and for the heading and the fences. */
const NOTES_LIMIT = NAMES_LIMIT + 512

interface Diff {
  readonly title: string
  readonly patch: string
  readonly name: string
}

const textOf = ({ title, patch }: Diff): string => `${title}\n${patch}`

/**
 * The section with the diffs: as many whole ones as fit, in order, those of generated files last.
 */
export function writeDiffs(files: readonly ChangedFile[], fence: Fence, room: number): string {
  const withDiff = files.filter(({ patch }) => patch)
  const written = withDiff.filter(({ path }) => !isGenerated(path))
  const generated = withDiff.filter(({ path }) => isGenerated(path))
  const all = [...written, ...generated].map((file) => toDiff(file, fence))
  if (all.length === 0) return ''
  const kept = takeFitting(all, room - NOTES_LIMIT, textOf)
  const omitted = all.filter((diff) => !kept.includes(diff))
  return joinParagraphs(['## Diffs', fence.around(kept.map(textOf)), omissionNote(omitted, fence)])
}

/** No patch can forge a title: its lines start with a blank, `+`, `-`, `@` or `\\`. */
function toDiff(file: ChangedFile, fence: Fence): Diff {
  const { patch = '', path, status } = file
  return {
    title: fence.safe(`=== ${statusLabel(status)} ${fileNames(file)}`),
    patch: fence.safe(normalizeCrlfPatch(patch.replace(/\n$/, ''))),
    name: fence.safe(quoteName(path)),
  }
}

function omissionNote(omitted: readonly Diff[], fence: Fence): string {
  if (omitted.length === 0) return ''
  const named = takeFitting(omitted, NAMES_LIMIT, ({ name }) => `${name},`)
  const more = omitted.length - named.length
  const names =
    named.map(({ name }) => name).join(', ') +
    (more > 0 ? ` … and ${formatInteger(more)} more` : '')
  const sentence = `Omitted for length: the diffs of ${formatCount(omitted.length, 'file')}`
  return named.length === 0
    ? `${sentence}.`
    : joinParagraphs([`${sentence}:`, fence.around([names])])
}

const GENERATED = [
  /\.(?:lock|lockb|lockfile|map|snap)$/i,
  /(?:^|\/)(?:package-lock|npm-shrinkwrap|packages\.lock)\.json$/i,
  /(?:^|\/)(?:pnpm-lock\.ya?ml|go(?:\.work)?\.sum|package\.resolved|\.terraform\.lock\.hcl)$/i,
  /\.min\.(?:[cm]?js|css)$/i,
  /(?:\.pb\.(?:go|cc|h)|_pb2(?:_grpc)?\.pyi?|\.g\.dart)$/i,
  /[._](?:generated|gen)\.[^/.]+$/i,
  /(?:^|\/)(?:dist|vendor|node_modules|__snapshots__|__generated__)\//i,
]

function isGenerated(path: string): boolean {
  return GENERATED.some((pattern) => pattern.test(path))
}
