/** A prompt file that becomes a link after its path was checked. */

import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, jest } from '@jest/globals'
import { newFolder } from '../support/folder.js'
import { posixTest } from '../support/platform.js'

// A built-in module: nothing else can happen between two calls of it. Links count as files, as if
// they had been.
const fs = await import('node:fs')
jest.unstable_mockModule('node:fs', () => ({ ...fs, realpathSync: (path: string) => path }))
const { readPromptFile } = await import('../../src/inputs/prompt-file.js')

posixTest('is not read [input.file.inside]', () => {
  const folder = newFolder('race')
  const workspace = join(folder, 'workspace')
  fs.mkdirSync(workspace)
  writeFileSync(join(folder, 'secret'), 'secret')
  symlinkSync(join(folder, 'secret'), join(workspace, 'prompt.md'))
  expect(() => readPromptFile('prompt.md', { workspace, temp: '' })).toThrow(
    'the value is, or is reached through, a symbolic link. Commit the file itself.',
  )
})
