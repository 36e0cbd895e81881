/** Reads the prompt file safely: whoever can push to the checkout must not choose what is sent to the service. */

import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The largest prompt file, in bytes. */
export const FILE_LIMIT = 1024 * 1024

/** The folders that a prompt file may lie in. */
export interface Roots {
  /** The checkout; relative paths start here. */
  readonly workspace: string
  /** The runner's folder for the job's temporary files, or empty. */
  readonly temp: string
}

export type FileText = { readonly text: string } | { readonly fault: string }

/**
 * Reads a file inside the workspace or the runner's temp folder as UTF-8, without its byte order mark, trimmed.
 *
 * Refused: anything outside, behind a symbolic link below the folder, under `.git`, no regular file, empty, over
 * 1 MiB, not UTF-8. Never waits: a FIFO is opened without blocking.
 *
 * @returns the text, or what is wrong and what to do, to follow `got "path", `.
 */
export function readPromptFile(path: string, roots: Roots): FileText {
  const place = placeOf(path, roots)
  if ('fault' in place) return place
  try {
    const real = realpathSync(place.root)
    const file = join(real, place.below)
    if (realpathSync(file) !== file) {
      return {
        fault: 'which is a symbolic link or lies behind one; takes a regular file. Commit the file itself.',
      }
    }
    const bytes = readRegular(file)
    return typeof bytes === 'string' ? { fault: bytes } : decode(bytes)
  } catch (thrown) {
    return { fault: faultOf(thrown) }
  }
}

type Place = { readonly root: string; readonly below: string } | { readonly fault: string }

function placeOf(path: string, roots: Roots): Place {
  if (path.includes('\0')) return { fault: 'which has a NUL character; takes the path of a file.' }
  const whole = resolve(roots.workspace, path)
  const inside = [roots.workspace, roots.temp]
    .filter((root) => root !== '')
    .flatMap((root) => [root, realPath(root)])
    .map((root) => ({ root, below: relative(root, whole) }))
    .find(({ below }) => below !== '' && below.split(sep)[0] !== '..' && !isAbsolute(below))
  if (inside === undefined) {
    return {
      fault:
        "which lies outside of the workspace and the runner's temp folder; takes a file inside. " +
        'Copy it to ${{ runner.temp }} first.',
    }
  }
  if (inside.below.split(sep).some(isPrivate)) {
    return {
      fault: 'which is a place where git keeps its own files, credentials among them; takes any other file.',
    }
  }
  return inside
}

/** A folder by its real name, by which a path may call it too. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder // It does not exist: told when the file is opened.
  }
}

/**
 * `.git`, in any spelling that Windows and macOS take for it; and the files that actions/checkout from v6 on keeps
 * its token in, in the temp folder (actions/checkout, src/git-auth-helper.ts), also by the short name of Windows.
 */
function isPrivate(segment: string): boolean {
  const seen = segment.replace(/\p{Cf}/gu, '') // HFS+ passes over these.
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/i.test(seen) || /^git-cr(?:edentials-|~\d)/i.test(seen)
}

/** Reads a regular file of 1 byte to 1 MiB, or tells what is wrong with it. */
function readRegular(file: string): Buffer | string {
  // O_NONBLOCK: opening a FIFO for reading would wait for a writer. Both flags are missing on Windows.
  const descriptor = openSync(
    file,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  )
  try {
    if (!fstatSync(descriptor).isFile()) return 'which is no regular file; takes a text file.'
    // The size is what is read, not what the file system says: /proc says 0.
    const bytes = Buffer.alloc(FILE_LIMIT + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null)
    }
    if (length > FILE_LIMIT) return 'which is larger than 1 MiB (1,048,576 bytes); shorten it.'
    return bytes.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

function decode(bytes: Buffer): FileText {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim()
    return text === '' ? { fault: 'which is empty; write the instruction into it.' } : { text }
  } catch {
    return { fault: 'which is not valid UTF-8; save it as UTF-8.' }
  }
}

function faultOf(thrown: unknown): string {
  const reason = (thrown as NodeJS.ErrnoException).code
  switch (reason) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'which does not exist; check the path, and that actions/checkout ran before this step.'
    case 'ELOOP':
      return 'which is a symbolic link or lies behind one; takes a regular file. Commit the file itself.'
    case 'EACCES':
    case 'EPERM':
      return 'which may not be read; check its permissions.'
    default:
      return `which can't be read (${String(reason ?? thrown)}); takes a text file.`
  }
}
