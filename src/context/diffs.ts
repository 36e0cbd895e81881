/** The section of the prompt that has the diffs of the changed files. Pure. */

import { formatCount, joinParagraphs, takeFitting } from '../text/format.js'
import type { Fence } from './fence.js'
import { type ChangedFile, fileNames, statusLabel } from './files.js'

/** The room for the heading, the fence and the note on what is omitted. */
const NOTES_LIMIT = 512

interface Diff {
  readonly title: string
  readonly patch: string
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
  const omitted = all.length - kept.length
  const note = omitted && `Omitted for length: the diffs of ${formatCount(omitted, 'file')}.`
  return joinParagraphs(['## Diffs', fence.around(kept.map(textOf)), note || ''])
}

/** No patch can forge a title: its lines start with a blank, `+`, `-`, `@` or `\\`. */
function toDiff(file: ChangedFile, fence: Fence): Diff {
  const { patch = '', status } = file
  return {
    title: fence.safe(`=== ${statusLabel(status)} ${fileNames(file)}`),
    // In a file with CR LF, the CR means nothing.
    patch: fence.safe(patch.replace(/\r$/gm, '').replace(/\n$/, '')),
  }
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
