/** What the runner downloads, and how much of it Node loads. */

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import path from 'node:path'
import { ACTION } from './bundles.mjs'
import { download, gzipSize } from './download.mjs'
import { barChart, table } from './markdown.mjs'
import { loadedFiles } from './measure.mjs'
import { BAD_INPUT, COMMENT, JOB, PULL_REQUEST, TOOLKIT } from './setup.mjs'

/** @import { Bench } from './setup.mjs' */

/**
 * @param {Bench} bench
 * @returns {Promise<{ size: string, loaded: string }>}
 */
export async function measureSize({ folder, github, commands, toolkitAction, commentAction }) {
  const action = download().bytes
  const emulator = action - download(['action.yml', 'LICENSE', 'dist']).bytes
  const toolkit = archiveSize(toolkitAction)
  const comment = archiveSize(commentAction)

  const loaded = []
  for (const name of [BAD_INPUT, JOB, PULL_REQUEST]) {
    github.deleteComments()
    const command = commands[name]
    if (command === undefined) throw new Error(`There is no command '${name}'.`)
    const files = await loadedFiles(command, folder)
    const sizes = files.filter((file) => path.dirname(file) === ACTION).map((file) => statSync(file).size)
    loaded.push([name, kB(sizes.reduce((sum, size) => sum + size, 0))])
  }
  return {
    size: [
      barChart('Download, compressed', 'kB', [
        ['this action', kB(action)],
        [TOOLKIT, kB(toolkit)],
        [COMMENT, kB(comment)],
      ]),
      table(
        ['kB, compressed', 'download'],
        [
          ['this action', kB(action)],
          ['of which the emulator', kB(emulator)],
          [TOOLKIT, kB(toolkit)],
          [COMMENT, kB(comment)],
        ],
      ),
    ].join('\n\n'),
    loaded: table(['kB, not compressed', 'loaded'], loaded),
  }
}

/** @param {string} folder */
function archiveSize(folder) {
  const tar = `${folder}.tar`
  execFileSync('tar', ['cf', tar, '-C', path.dirname(folder), path.basename(folder)])
  return gzipSize(tar)
}

/** @param {number} bytes */
const kB = (bytes) => (bytes / 1000).toFixed(0)
