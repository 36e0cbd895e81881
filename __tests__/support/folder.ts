/** Folders for what a test puts on the disk, removed after the tests of the file. */

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll } from '@jest/globals'

const made: string[] = []
// On Windows a file may still be held for a moment by what scans it.
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** Makes an empty folder. Its path is the real one: macOS has its temp folder behind a link, Windows by a short name. */
export function newFolder(name: string): string {
  const folder = realpathSync.native(mkdtempSync(path.join(tmpdir(), `${name}-`)))
  made.push(folder)
  return folder
}
