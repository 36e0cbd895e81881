/** Git repositories in temporary folders, for the tests of the scripts that read and change one. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { filesLike } from './files.js'
import { newFolder } from './folder.js'

/**
 * A developer's own settings of git must not change what happens here, nor may git write to a
 * device: root could.
 */
export const ENV: NodeJS.ProcessEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: path.join(newFolder('git'), 'config'),
  GIT_CONFIG_NOSYSTEM: '1',
  // Nothing here lives long enough to be tidied up.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@localhost',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@localhost',
}

/** What stands in files, by their paths. */
export type Files = Readonly<Record<string, string | Buffer>>

export class Clone {
  constructor(readonly folder: string) {}

  git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.folder,
      env: ENV,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  }

  path(file: string): string {
    return path.join(this.folder, file)
  }

  write(file: string, content: string | Buffer): void {
    mkdirSync(path.dirname(this.path(file)), { recursive: true })
    writeFileSync(this.path(file), content)
  }

  commit(files: Files = {}): string {
    for (const [file, content] of Object.entries(files)) this.write(file, content)
    this.git('add', '--all')
    this.git('commit', '--quiet', '--allow-empty', '--message', 'Change')
    return this.git('rev-parse', 'HEAD')
  }
}

/** A repository with one commit: this one's tracked files as they are now. */
export function copyOfThis(): Clone {
  const clone = emptyClone('copy')
  for (const file of filesLike([])) cpSync(file, clone.path(file))
  clone.commit()
  return clone
}

export function emptyClone(name: string): Clone {
  const clone = new Clone(newFolder(name))
  clone.git('init', '--quiet', '--initial-branch', 'main')
  return clone
}

/** The version to release, older ones, one without text and one without a date. */
const changelog = (version: string): string => `# Changelog

## ${version} - 2026-01-02

### Added

- A new thing.

## 1.2.2 - 2026-01-01

- An old thing.

## 1.2.1 - 2026-01-01

### Fixed

## 1.2.0
`

/** Stands in for the real build, whose result is only a copy. */
const BUILD = `import { cpSync, existsSync, rmSync } from 'node:fs'
const [step, target] = process.argv.slice(2)
if (existsSync('broken-' + step)) process.exit(127)
if (step === 'compile') rmSync('build', { recursive: true, force: true })
else for (const folder of [target, 'build/ncc']) cpSync('source', folder, { recursive: true })
`

const releasableFiles = (version: string): Readonly<Record<string, string>> => ({
  'package.json': JSON.stringify({
    name: 'agent-job-action',
    version,
    private: true,
    type: 'module',
    repository: 'github:one/action',
    scripts: { compile: 'node make.mjs compile', bundle: 'node make.mjs bundle' },
  }),
  'package-lock.json': JSON.stringify({
    name: 'agent-job-action',
    version,
    lockfileVersion: 3,
    packages: { '': { name: 'agent-job-action', version } },
  }),
  '.gitignore': 'build/\nbroken-*\n',
  '.github/CODEOWNERS': '* @one\n',
  'CHANGELOG.md': changelog(version),
  'README.md': '[Here](#here) and [there](https://github.com/one/action/blob/HEAD/there.md).\n',
  'action.yml': 'name: One\n',
  'dist/index.js': 'one\n',
  'dist/sub/two.js': 'two\n',
  'make.mjs': BUILD,
  'scripts/release.mjs': readFileSync('scripts/release.mjs', 'utf8'),
  'source/index.js': 'one\n',
  'source/sub/two.js': 'two\n',
})

/** By version. To copy them takes a tenth of the time that git needs to make them. */
const templates = new Map<string, string>()

/**
 * A small action that can be released as `version`, with main at a bare repository as its origin.
 */
export class Releasable extends Clone {
  readonly origin: Clone

  constructor(version: string) {
    const folder = newFolder('releasable')
    const template = templates.get(version)
    if (template !== undefined) cpSync(template, folder, { recursive: true })
    super(path.join(folder, 'action'))
    this.origin = new Clone(path.join(folder, 'origin'))
    if (template !== undefined) return
    for (const { folder } of [this, this.origin]) mkdirSync(folder)
    this.origin.git('init', '--quiet', '--bare', '--initial-branch', 'main')
    this.git('init', '--quiet', '--initial-branch', 'main')
    this.git('remote', 'add', 'origin', '../origin')
    this.push(releasableFiles(version))
    templates.set(version, newFolder('template'))
    cpSync(folder, templates.get(version) as string, { recursive: true })
  }

  /** Commits these files, and pushes main. Returns the commit. */
  push(files: Readonly<Record<string, string>> = {}): string {
    const commit = this.commit(files)
    this.git('push', '--quiet', 'origin', 'main')
    return commit
  }

  /** Sets tags at origin, each at HEAD. */
  tag(...names: readonly string[]): void {
    if (names.length > 0)
      this.git('push', '--quiet', 'origin', ...names.map((name) => `HEAD:refs/tags/${name}`))
  }

  /** The tags at origin. */
  tags(): Record<string, string> {
    const lines = this.origin.git(
      'for-each-ref',
      '--format=%(refname:short) %(objectname)',
      'refs/tags',
    )
    return Object.fromEntries(
      lines
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [line.split(' ') as [string, string]])),
    )
  }
}
