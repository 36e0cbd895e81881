/** How large the action is: what the runner downloads, and what is loaded. */

import { statSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { download } from '../../bench/download.js'

test('the download is at most 147,000 bytes: the actions, the licence, and nothing else [house.bundle.small]', () => {
  const { bytes, files } = download()
  expect(bytes).toBeLessThanOrEqual(147_000)
  const roots = new Set(files.map((file) => file.replace(/\/.*/, '')))
  expect([...roots].sort()).toEqual(['LICENSE', 'action.yml', 'dist', 'emulator'])
  expect(files).toContain('dist/licenses.txt')
  expect(files).not.toContain('emulator/start.mjs')
})

test('what is loaded before the inputs are read is at most 66 kB [net.cheap]', () => {
  expect(statSync('build/dist/index.js').size).toBeLessThanOrEqual(66_000)
})
