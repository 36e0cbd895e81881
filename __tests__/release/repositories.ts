/** Git repositories in temporary folders, for the tests of the scripts that read and change one. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { newFolder } from '../support/folder.js'

/** What a developer's own settings of git must not change here. */
const ENV = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@localhost',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@localhost',
}

export class Clone {
  constructor(readonly folder: string) {}

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.folder, env: ENV, encoding: 'utf8', stdio: 'pipe' }).trim()
  }

  path(file: string): string {
    return path.join(this.folder, file)
  }

  write(file: string, content: string): void {
    mkdirSync(path.dirname(this.path(file)), { recursive: true })
    writeFileSync(this.path(file), content)
  }

  commit(files: Readonly<Record<string, string>> = {}): string {
    for (const [file, content] of Object.entries(files)) this.write(file, content)
    this.git('add', '--all')
    this.git('commit', '--quiet', '--allow-empty', '--message', 'Change')
    return this.git('rev-parse', 'HEAD')
  }
}

/** A repository with one commit: this one's tracked files as they are now. */
export function copyOfThis(): Clone {
  const clone = emptyClone('copy')
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
  for (const file of files.split('\0').filter((name) => name !== '')) cpSync(file, clone.path(file))
  clone.commit()
  return clone
}

export function emptyClone(name: string): Clone {
  const clone = new Clone(newFolder(name))
  clone.git('init', '--quiet', '--initial-branch', 'main')
  return clone
}
