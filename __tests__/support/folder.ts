/** Folders for the files of a test, removed after all tests of the test file. */

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll } from '@jest/globals'

const made: string[] = []
// On Windows a virus scanner may hold a file for a moment.
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/**
 * Makes an empty folder. Its path is the real one: the temp folder is a link on macOS, and a short
 * name on Windows.
 */
export function newFolder(name: string): string {
  const folder = realpathSync.native(mkdtempSync(path.join(tmpdir(), `${name}-`)))
  made.push(folder)
  return folder
}
