/** Reads the prompt file: whoever can push to the checkout must not get other files sent. */

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'

// [input.file.text]
export const FILE_LIMIT = 1024 * 1024

export interface PromptRoots {
  /** The checkout; relative paths start here. */
  readonly workspace: string
  /** The runner's folder for the job's temporary files, or empty. */
  readonly temp: string
}

export type PromptFile = Readonly<{ text: string } | { problem: string }>

// [input.file.inside]
const SYMBOLIC_LINK = 'is, or is reached through, a symbolic link. Commit the file itself.'

/**
 * Reads a file inside the workspace or the runner's temp folder as UTF-8, without its byte order
 * mark, trimmed.
 *
 * Refused: anything outside, behind a symbolic link below the folder, under `.git`, not a regular
 * file, empty, over 1 MiB, not UTF-8. Never blocks, not even on a FIFO. [input.file.inside]
 */
export function readPromptFile(path: string, roots: PromptRoots): PromptFile {
  try {
    const { root, relativePath } = resolveInRoots(path, roots)
    const file = join(realpathSync(root), relativePath)
    if (realpathSync(file) !== file) throw new FileProblem(SYMBOLIC_LINK)
    return { text: decode(readRegularFile(file)) }
  } catch (thrown) {
    return { problem: thrown instanceof FileProblem ? thrown.message : describeFileError(thrown) }
  }
}

/**
 * What is wrong with the file, for the user: it completes a sentence that begins with the path.
 * [input.problems.together]
 */
class FileProblem extends Error {}

/**
 * [input.file.inside]
 *
 * @throws FileProblem
 */
function resolveInRoots(path: string, roots: PromptRoots) {
  const absolute = resolve(roots.workspace, path)
  const inside = [roots.workspace, roots.temp]
    .filter((root) => root !== '')
    .flatMap((root) => [root, realPath(root)])
    .map((root) => ({ root, relativePath: relative(root, absolute) }))
    .find(({ relativePath }) => relativePath.split(sep)[0] !== '..' && !isAbsolute(relativePath))
  if (inside === undefined) {
    throw new FileProblem(
      "is outside the workspace and the runner's temp folder. Copy it to ${{ runner.temp }} first.",
    )
  }
  if (inside.relativePath.split(sep).some(isGitInternal)) {
    throw new FileProblem(
      'is in a folder that git uses for its own files, including credentials. Use another file.',
    )
  }
  return inside
}

/**
 * A folder by its real path: the path of the prompt file may start with either.
 * [input.file.inside]
 */
function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder // It does not exist: opening the file reports that.
  }
}

/**
 * `.git`, in any case; and the files in the temp folder in which actions/checkout keeps its token
 * from v6 on (actions/checkout, src/git-auth-helper.ts). [input.file.inside]
 */
function isGitInternal(segment: string): boolean {
  return /^(?:\.git$|git-credentials-)/i.test(segment)
}

/**
 * Reads a regular file of at most 1 MiB. [input.file.inside]
 *
 * @throws FileProblem
 */
function readRegularFile(file: string): Buffer {
  // O_NONBLOCK: opening a FIFO for reading would wait for a writer. Both flags are missing on
  // Windows.
  const descriptor = openSync(
    file,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  )
  try {
    const stats = fstatSync(descriptor)
    if (stats.isDirectory()) throw new FileProblem('is a folder. Name a file in it.')
    if (!stats.isFile()) throw new FileProblem('is not a regular file.')
    // The file system's own size can't be trusted: /proc says 0.
    const bytes = Buffer.alloc(FILE_LIMIT + 1)
    let length = 0
    for (let read = -1; read !== 0; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null)
    }
    if (length > FILE_LIMIT)
      throw new FileProblem('is larger than 1 MiB (1,048,576 bytes). Shorten it.')
    return bytes.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * [input.file.text]
 *
 * @throws FileProblem
 */
function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FileProblem('is not valid UTF-8. Save it as UTF-8.')
  const text = new TextDecoder().decode(bytes).trim()
  if (text === '') throw new FileProblem('is empty. Write the instruction into it.')
  return text
}

// [input.problems.together]
function describeFileError(thrown: unknown): string {
  const reason = (thrown as NodeJS.ErrnoException).code
  switch (reason) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist. Check the path, and that actions/checkout ran before this step.'
    case 'ELOOP':
      return SYMBOLIC_LINK
    default:
      return `can't be read (${String(reason ?? thrown)}).`
  }
}
