/**
 * What the runner downloads for every job: the repository's archive, as `git archive | gzip` makes
 * it.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Archives the working tree as if it were committed. The repository itself stays unchanged.
 *
 * @param to a folder to unpack it into
 */
export function download(to?: string): {
  readonly bytes: number
  readonly files: readonly string[]
} {
  const folder = mkdtempSync(path.join(tmpdir(), 'archive-'))
  try {
    const env: NodeJS.ProcessEnv = { ...process.env }
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', env }).trim()
    env.GIT_ALTERNATE_OBJECT_DIRECTORIES = path.resolve(git('rev-parse', '--git-path', 'objects'))
    env.GIT_OBJECT_DIRECTORY = path.join(folder, 'objects')
    env.GIT_INDEX_FILE = path.join(folder, 'index')
    mkdirSync(env.GIT_OBJECT_DIRECTORY)
    git('read-tree', 'HEAD')
    git('add', '--all')
    const tar = path.join(folder, 'archive.tar')
    git('archive', '--output', tar, git('write-tree'))
    if (to !== undefined) execFileSync('tar', ['xf', tar, '-C', to])
    const entries = execFileSync('tar', ['tf', tar], { encoding: 'utf8' }).trim().split('\n')
    return {
      bytes: execFileSync('gzip', ['-c', tar]).length,
      files: entries.filter((entry) => !entry.endsWith('/')),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
