/** The section of the prompt that has the diffs of the changed files. Pure. */

import { formatCount, formatInteger } from '../format.js'
import {
  byteLength,
  type Chunk,
  joinParagraphs,
  type Section,
  takeFitting,
  textsOf,
  toChunk,
  totalSize,
} from './budget.js'
import { type ChangedFile, fileNames, statusLabel } from './changed-files.js'
import { type Fence, normalizeCrlfPatch, quoteName } from './fence.js'

/** The names of files whose diffs are omitted, in bytes. */
const NAMES_LIMIT = 1024

/** A file's whole diff. */
interface Diff extends Chunk {
  readonly title: string
  readonly patch: string
  readonly name: string
  readonly generated: boolean
}

/** The section with the diffs: as many as fit, generated files last. */
export function diffsSection(files: readonly ChangedFile[], fence: Fence): Section {
  const diffs = files.flatMap((file) => toDiff(file, fence))
  if (diffs.length === 0) return () => ''
  const heading = '## Diffs'
  return (room) => {
    const available = room - byteLength(joinParagraphs([heading, fence.around([''])]))
    const { kept, start, omitted } = selectDiffs(
      diffs,
      available,
      NOTES_LIMIT + byteLength(fence.around([''])),
    )
    return joinParagraphs([
      heading,
      fence.around(textsOf([...start, ...kept])),
      ...omissionNotes(start.length > 0, omitted, fence),
    ])
  }
}

/** No patch can forge a title: its lines start with a blank, `+`, `-`, `@` or `\`, and end with LF alone. */
function toDiff(file: ChangedFile, fence: Fence): Diff[] {
  if (!file.patch) return []
  const title = fence.safe(`=== ${statusLabel(file.status)} ${fileNames(file)}`)
  const patch = fence.safe(
    normalizeCrlfPatch(file.patch.endsWith('\n') ? file.patch.slice(0, -1) : file.patch),
  )
  const name = fence.safe(quoteName(file.path))
  return [{ ...toChunk(`${title}\n${patch}`), title, patch, name, generated: isGenerated(file.path) }]
}

interface Selection {
  readonly kept: readonly Chunk[]
  /** The start of the first diff, if that is too long by itself. */
  readonly start: readonly Chunk[]
  readonly omitted: readonly Diff[]
}

/**
 * Selects the diffs that fit: whole, in order, those of generated files last; one that doesn't fit is skipped.
 *
 * @param notes room for the note on what is omitted, if anything is
 */
function selectDiffs(diffs: readonly Diff[], available: number, notes: number): Selection {
  const written = diffs.filter(({ generated }) => !generated)
  const generated = diffs.filter(({ generated }) => generated)
  const ordered = [...written, ...generated]
  if (totalSize(ordered) <= available) return { kept: ordered, start: [], omitted: [] }
  const room = available - notes
  const whole = takeFitting(written, room)
  const [first] = ordered
  const start = first !== undefined && first.size > room ? truncateDiff(first, room - totalSize(whole)) : []
  const kept = [...whole, ...takeFitting(generated, room - totalSize(whole) - totalSize(start))]
  const included = new Set<Chunk | undefined>(start.length > 0 ? [first, ...kept] : kept)
  return { kept, start, omitted: ordered.filter((diff) => !included.has(diff)) }
}

/** As many whole lines of a diff as fit, or nothing. */
function truncateDiff({ title, patch }: Diff, room: number): Chunk[] {
  const total = formatInteger(patch.split('\n').length)
  const titled = (lines: string) => `${title} (truncated: the first ${lines} of ${total} lines)\n`
  const available = room - toChunk(titled(total)).size
  const encoded = Buffer.from(patch)
  const end = available > 0 ? encoded.lastIndexOf('\n', available) : -1
  if (end <= 0) return []
  const text = encoded.toString('utf8', 0, end)
  return [toChunk(titled(formatInteger(text.split('\n').length)) + text)]
}

/** The maximum size of `omissionNotes`, without its fence. */
const NOTES_LIMIT = NAMES_LIMIT + 256

function omissionNotes(isTruncated: boolean, omitted: readonly Diff[], fence: Fence): string[] {
  const truncated = isTruncated ? ['Omitted for length: the end of the first diff.'] : []
  if (omitted.length === 0) return truncated
  const named = takeFitting(
    omitted.map(({ name }) => toChunk(`${name},`)),
    NAMES_LIMIT,
  )
  const more = omitted.length - named.length
  const names = textsOf(named).join(' ').slice(0, -1) + (more > 0 ? ` … and ${formatInteger(more)} more` : '')
  const sentence = `Omitted for length: the diffs of ${formatCount(omitted.length, 'file')}`
  return [...truncated, ...(named.length === 0 ? [`${sentence}.`] : [`${sentence}:`, fence.around([names])])]
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
