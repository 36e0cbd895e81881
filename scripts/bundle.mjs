/**
 * Bundles what `tsc` wrote into a folder that the runner can execute: `node scripts/bundle.mjs dist`. What ncc makes of
 * it, which can be read, stays in build/ncc.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { minify } from 'terser'
import { slimUndici } from './slim.mjs'

const SLIM = 'build/slim'
const READABLE = 'build/ncc'
const [target = 'dist'] = process.argv.slice(2)
if (basename(target) !== 'dist')
  throw new Error(`The folder is made anew, so it has to be named dist: ${target}`)
for (const folder of [SLIM, READABLE, target]) rmSync(folder, { recursive: true, force: true })
await slimUndici('build/src', SLIM)
execFileSync(
  process.execPath,
  [
    resolve('node_modules/@vercel/ncc/dist/ncc/cli.js'),
    'build',
    'index.js',
    '--no-cache',
    '--quiet',
    '--out',
    resolve(READABLE),
  ],
  { stdio: 'inherit', cwd: SLIM },
)
cpSync(READABLE, target, { recursive: true })
for (const name of readdirSync(target).filter((file) => file.endsWith('.js'))) {
  const file = join(target, name)
  writeFileSync(file, await minified(readFileSync(file, 'utf8')))
}
writeFileSync(join(target, 'licenses.txt'), licenses())

/**
 * The names of classes stay: they are seen in errors. The licences' comments go: licenses.txt has their texts.
 *
 * So do webpack's parentheses around each module stay: V8 compiles a function in parentheses at once, and else looks
 * it through first and compiles it when it is called (v8.dev/blog/preparser). terser drops them, except in a call.
 *
 * @param {string} code of a chunk, as webpack writes it
 * @returns {Promise<string>}
 */
async function minified(code) {
  const called = code.replace(/^\/\*{3}\/ (?=\(\()/gm, '$&inParentheses')
  if (called === code) throw new Error('webpack writes its modules in another way.')
  const { code: minifiedCode } = await minify(called, {
    module: true,
    ecma: 2020,
    compress: { passes: 2 },
    keep_classnames: true,
    format: { comments: false },
  })
  return `${minifiedCode?.replaceAll('inParentheses(', '(')}\n`
}

/** The licences of everything that may be in the bundle: the packages of the lock that a user runs. */
function licenses() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== '' && !dev && !optional)
    .map(([path, { version, license }]) => {
      const name = path.replace(/^.*node_modules\//, '')
      const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry))
      if (file === undefined) throw new Error(`${name} has no licence file.`)
      return `${name} ${version} (${license})\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
