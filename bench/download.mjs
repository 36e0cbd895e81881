/** What the runner downloads for every job: the repository's archive, as `git archive | gzip` makes it. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Archives the working tree as if it were committed. The repository itself stays unchanged.
 * @param {string[]} [paths] only these (default: all)
 * @returns {{ bytes: number, files: string[] }}
 */
export function download(paths = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'archive-'))
  /** @type {(args: string[], env?: Record<string, string>) => string} */
  const git = (args, env) =>
    execFileSync('git', args, { encoding: 'utf8', env: { ...process.env, ...env } }).trim()
  try {
    const objects = path.join(folder, 'objects')
    mkdirSync(objects)
    const env = {
      GIT_INDEX_FILE: path.join(folder, 'index'),
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: path.resolve(git(['rev-parse', '--git-path', 'objects'])),
    }
    git(['read-tree', 'HEAD'], env)
    git(['add', '--all'], env)
    const tree = git(['write-tree'], env)
    const tar = path.join(folder, 'archive.tar')
    git(['archive', '--output', tar, tree, ...paths], env)
    const files = execFileSync('tar', ['tf', tar], { encoding: 'utf8' }).trim().split('\n')
    return { bytes: gzipSize(tar), files: files.filter((file) => !file.endsWith('/')) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} file */
export const gzipSize = (file) => execFileSync('gzip', ['-c', file]).length
