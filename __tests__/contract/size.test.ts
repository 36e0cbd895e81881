/** How large the action is: what the runner downloads, and what is loaded. */

import { readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { download } from '../../bench/download.js'

describe('the download', () => {
  const { bytes, files } = download()

  test('is at most 165,000 bytes', () => {
    expect(bytes).toBeLessThanOrEqual(165_000)
  })

  test('contains what a run needs and the licence, and nothing else', () => {
    const roots = new Set(files.map((file) => file.replace(/\/.*/, '')))
    expect([...roots].sort()).toEqual(['LICENSE', 'action.yml', 'dist', 'emulator', 'run'])
    expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/licenses.txt', 'dist/package.json']))
    const emulator = files.filter((file) => /^emulator\/.*\.mjs$/.test(file))
    const imports = emulator.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/from '\.\/([\w-]+\.mjs)'/g)].map(
        ([, name]) => `emulator/${name}`,
      ),
    )
    expect(emulator).toEqual(expect.arrayContaining(imports))
    expect(emulator).not.toContain('emulator/start.mjs')
  })
})

test('what is loaded before the inputs are read is at most 66 kB', () => {
  expect(statSync('build/dist/index.js').size).toBeLessThanOrEqual(66_000)
})
