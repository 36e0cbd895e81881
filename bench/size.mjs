/** What the runner downloads, and how much of it Node loads. */

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import path from 'node:path'
import { ACTION } from './bundles.mjs'
import { download, gzipSize } from './download.mjs'
import { barChart, table } from './markdown.mjs'
import { loadedFiles } from './measure.mjs'
import { NAMES } from './setup.mjs'

/** @import { Command } from './measure.mjs' */
/** @import { Bench } from './setup.mjs' */

/**
 * @param {Bench} bench
 * @returns {Promise<{ size: string, loaded: string }>}
 */
export async function measureSize({ folder, github, commands }) {
  const action = download().bytes
  const emulator = action - download(['action.yml', 'LICENSE', 'dist']).bytes
  const toolkit = archiveSize(commands.toolkit)
  const comment = archiveSize(commands.comment)

  const loaded = []
  for (const name of /** @type {const} */ (['badInput', 'job', 'pullRequest'])) {
    github.deleteComments()
    const files = await loadedFiles(commands[name], folder)
    const sizes = files.filter((file) => path.dirname(file) === ACTION).map((file) => statSync(file).size)
    loaded.push([NAMES[name], kB(sizes.reduce((sum, size) => sum + size, 0))])
  }
  return {
    size: [
      barChart('Download in kB, compressed', [
        ['this action', kB(action)],
        [NAMES.toolkit, kB(toolkit)],
        [NAMES.comment, kB(comment)],
      ]),
      table(
        ['kB, compressed', 'download'],
        [
          ['this action', kB(action)],
          ['of which the emulator', kB(emulator)],
          [NAMES.toolkit, kB(toolkit)],
          [NAMES.comment, kB(comment)],
        ],
      ),
    ].join('\n\n'),
    loaded: table(['kB, not compressed', 'loaded'], loaded),
  }
}

/** @param {Command} command of a bundle */
function archiveSize({ argv }) {
  const dist = path.dirname(argv[1] ?? '')
  const tar = `${dist}.tar`
  execFileSync('tar', ['cf', tar, '-C', path.dirname(dist), path.basename(dist)])
  return gzipSize(tar)
}

/** @param {number} bytes */
const kB = (bytes) => (bytes / 1000).toFixed(0)
