/** Reads the prompt file: whoever can push to the checkout must not get other files sent. */

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { InvalidInput, unfit } from './values.js'

export const FILE_LIMIT = 1024 * 1024

export interface PromptRoots {
  /** The checkout is here, where relative paths start. */
  readonly workspace: string
  /** The runner keeps the job's temporary files there; it may be empty. */
  readonly temp: string
}

const SYMBOLIC_LINK = 'is, or is reached through, a symbolic link. Commit the file itself.'

/**
 * Reads a file inside the workspace or the runner's temp folder as UTF-8, without its byte order
 * mark, trimmed.
 *
 * Refused: anything outside, behind a symbolic link below the folder, under `.git`, not a regular
 * file, empty, over 1 MiB, not UTF-8. Never blocks, not even on a FIFO. [input.file.inside]
 *
 * @throws InvalidInput
 */
export function readPromptFile(path: string, roots: PromptRoots): string {
  try {
    const { root, relativePath } = resolveInRoots(path, roots)
    const file = join(realpathSync(root), relativePath)
    if (realpathSync(file) !== file) throw unfit(SYMBOLIC_LINK)
    return decodeText(readRegularFile(file))
  } catch (thrown) {
    throw thrown instanceof InvalidInput ? thrown : unfit(describeFileError(thrown))
  }
}

function resolveInRoots(path: string, roots: PromptRoots) {
  const absolute = resolve(roots.workspace, path)
  const inside = [roots.workspace, roots.temp]
    .filter((root) => root !== '')
    .flatMap((root) => [root, realPath(root)])
    .map((root) => ({ root, relativePath: relative(root, absolute) }))
    .find(({ relativePath }) => relativePath.split(sep)[0] !== '..' && !isAbsolute(relativePath))
  if (inside === undefined) {
    throw unfit(
      "is outside the workspace and the runner's temp folder. Copy it to ${{ runner.temp }} first.",
    )
  }
  if (inside.relativePath.split(sep).some(isGitInternal)) {
    throw unfit(
      'is in a folder that git uses for its own files, including credentials. Use another file.',
    )
  }
  return inside
}

/** A folder by its real path: the path of the prompt file may start with either. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder // It does not exist: opening the file reports that.
  }
}

/**
 * `.git`, in any case; and the files in the temp folder in which actions/checkout keeps its token
 * from v6 on (actions/checkout, src/git-auth-helper.ts).
 */
function isGitInternal(segment: string): boolean {
  return /^(?:\.git$|git-credentials-)/i.test(segment)
}

/** Reads a regular file of at most 1 MiB. */
function readRegularFile(file: string): Buffer {
  // Without O_NONBLOCK, opening a FIFO for reading would wait for a writer. On Windows both flags
  // are undefined, which sets no bit.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (stats.isDirectory()) throw unfit('is a folder. Name a file in it.')
    if (!stats.isFile()) throw unfit('is not a regular file.')
    // A file that says that it has no bytes, such as one below /proc, may have some.
    const bytes = stats.size > FILE_LIMIT ? undefined : readFileSync(descriptor)
    if (bytes === undefined || bytes.length > FILE_LIMIT)
      throw unfit('is larger than 1 MiB (1,048,576 bytes). Shorten it.')
    return bytes
  } finally {
    closeSync(descriptor)
  }
}

/** A prompt that is longer than the environment has room for comes in a file. [input.file.text] */
function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw unfit('is not valid UTF-8. Save it as UTF-8.')
  const text = new TextDecoder().decode(bytes).trim()
  if (text === '') throw unfit('is empty. Write the instruction into it.')
  return text
}

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
