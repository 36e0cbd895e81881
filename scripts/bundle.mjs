/**
 * `node scripts/bundle.mjs dist` bundles what `tsc` wrote into a folder that the runner can
 * execute. The readable version, as ncc writes it, stays in build/ncc. With `--if-changed`, nothing
 * is done if the folder's bundle was made of the same; that is for build/dist, which nobody else
 * changes.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { minify } from 'terser'
import { calledEndpoints } from './endpoints.mjs'
import { runtimePackages } from './packages.mjs'

const CONFIG = 'scripts/tsconfig.bundle.json'
const COMPILED = 'build/src'
const READABLE = 'build/ncc'
const HINT = 'keepParentheses'
const PACKAGES = 'build/packages'
const undici = createRequire(import.meta.resolve('undici'))
const ENDPOINTS = '@octokit/plugin-rest-endpoint-methods'
/**
 * Files of packages that are replaced, because no run needs them. Of undici:
 *
 * - HTTP/2, which src/net/connect.ts refuses;
 * - bodies that are forms or blobs, with undici's own `fetch`;
 * - the second build of the parser, for platforms whose WebAssembly has no SIMD. Node has it since
 *   version 16.4;
 * - the text in Base64 that the parser is in: its bytes are a file of their own, which is a quarter
 *   smaller to download, and isn't decoded in every run;
 * - the tree of known names of headers, which saves time only after thousands of responses;
 * - of the parser's constants, those that undici's client doesn't read: they build tables of
 *   methods and characters whenever they are loaded.
 *
 * Of @actions/core: its step summary, which makes Node load `fs.promises` and readline; and the
 * name of the operating system, for which it starts a process.
 *
 * Of Octokit: the endpoints that the action doesn't call, which are a tenth of the download, and
 * are read in every run that uses GitHub.
 */
const REPLACED = {
  undici: {
    'lib/dispatcher/client-h2.js':
      "module.exports = () => { throw new Error('HTTP/2 is not supported.') }",
    'lib/web/fetch/body.js':
      "exports.extractBody = () => { throw new Error('A body is text or bytes.') }",
    'lib/llhttp/llhttp-wasm.js': "module.exports = require('./llhttp_simd-wasm.js')",
    'lib/llhttp/llhttp_simd-wasm.js':
      "module.exports = require('node:fs').readFileSync(new URL('./llhttp.wasm', import.meta.url))",
    'lib/core/tree.js': 'exports.tree = { lookup: () => null }',
    'lib/llhttp/constants.js': usedConstants(),
  },
  '@actions/core': {
    'lib/summary.js': 'export const summary = undefined\nexport const markdownSummary = undefined',
    'lib/platform.js': '',
  },
  [ENDPOINTS]: { 'dist-src/generated/endpoints.js': await usedEndpoints() },
}
/** From github.com/nodejs/llhttp. */
const LLHTTP_LICENSE = 'scripts/llhttp-license.txt'
const [target = 'dist', option] = process.argv.slice(2)
if (basename(target) !== 'dist')
  throw new Error(`${target} would be deleted first, so its name has to be dist.`)
/** What the folder was last made of. */
const madeOf = join('build', `${target.replace(/\W/g, '-')}.sha256`)
const hash = hashOfSources()
const isSame = existsSync(target) && existsSync(madeOf) && readFileSync(madeOf, 'utf8') === hash
if (option === '--if-changed' && isSame) process.exit()
rmSync(madeOf, { force: true })
for (const folder of [PACKAGES, READABLE, target]) rmSync(folder, { recursive: true, force: true })
copyPackages()
// ncc reads the `paths` of the tsconfig.json in its working folder, also for imports of packages.
cpSync(CONFIG, 'build/tsconfig.json')
const ncc = resolve('node_modules/@vercel/ncc/dist/ncc/cli.js')
execFileSync(
  process.execPath,
  [ncc, 'build', 'src/index.js', '--no-cache', '--quiet', '--out', resolve(READABLE)],
  { stdio: 'inherit', cwd: 'build' },
)
cpSync(READABLE, target, { recursive: true })
// ncc's own --minify leaves out every file but index.js.
for (const name of readdirSync(target).filter((file) => file.endsWith('.js'))) {
  const file = join(target, name)
  writeFileSync(file, await minified(readFileSync(file, 'utf8')))
}
writeFileSync(join(target, 'licenses.txt'), licenses())
writeFileSync(madeOf, hash)

function hashOfSources() {
  const hash = createHash('sha256')
  for (const file of [
    ...compiledFiles().sort(),
    'scripts/bundle.mjs',
    'scripts/endpoints.mjs',
    CONFIG,
    LLHTTP_LICENSE,
    'package-lock.json',
  ])
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/**
 * Copies packages to where tsconfig.bundle.json finds them, and replaces the files that no run
 * needs.
 */
function copyPackages() {
  for (const [name, replaced] of Object.entries(REPLACED)) {
    const copy = join(PACKAGES, name)
    const [folder = ''] = Object.keys(replaced)[0]?.split('/') ?? []
    // Its package.json says whether these files are CommonJS.
    for (const part of ['package.json', folder])
      cpSync(join('node_modules', name, part), join(copy, part), { recursive: true })
    for (const [path, code] of Object.entries(replaced)) {
      const file = join(copy, path)
      if (!existsSync(file)) throw new Error(`${name} has no ${path} any more: see REPLACED.`)
      writeFileSync(file, `${code}\n`)
    }
  }
  const parser = undici('./lib/llhttp/llhttp_simd-wasm.js')
  writeFileSync(join(PACKAGES, 'undici/lib/llhttp/llhttp.wasm'), parser)
}

/** The constants of undici's parser, with those that its client reads. */
function usedConstants() {
  const client = readFileSync(undici.resolve('./lib/dispatcher/client-h1.js'), 'utf8')
  const all = undici('./lib/llhttp/constants.js')
  const names = new Set([...client.matchAll(/\bconstants\.([A-Z]\w*)/g)].map(([, name]) => name))
  return [...names].map((name) => `exports.${name} = ${JSON.stringify(all[name])}`).join('\n')
}

/** Octokit's table of endpoints, with those that the action calls. */
async function usedEndpoints() {
  const { default: all } = await import(
    `../node_modules/${ENDPOINTS}/dist-src/generated/endpoints.js`
  )
  const called = await Promise.all(compiledFiles().map((file) => withoutComments(file)))
  return `export default ${JSON.stringify(calledEndpoints(called.join('\n'), all), null, 2)}`
}

/** @param {string} file */
async function withoutComments(file) {
  const code = readFileSync(file, 'utf8')
  const options = { module: true, compress: false, mangle: false, format: { comments: false } }
  return String((await minify(code, options)).code)
}

function compiledFiles() {
  const files = readdirSync(COMPILED, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.js')).map((file) => join(COMPILED, file))
}

/**
 * Class names are kept because errors show them. Licence comments are dropped because licenses.txt
 * has their texts.
 *
 * @param {string} code of one file
 * @returns {Promise<string>}
 */
async function minified(code) {
  const { code: short = '' } = await minify(keepEagerCompileHints(code), {
    module: true,
    ecma: 2020,
    compress: { passes: 2 },
    keep_classnames: true,
    format: { comments: false },
  })
  return `${short.replaceAll(`${HINT}(`, '(')}\n`
}

/**
 * V8 compiles a function in parentheses at once; others it parses first, and compiles them when
 * they are called (v8.dev/blog/preparser). webpack wraps each module in parentheses, and terser
 * removes them, except after the name of a function. So they get one until terser has run. Over
 * three series of 61 interleaved pairs, a job with them used 6 to 14 ms less CPU time (about 5 %).
 *
 * @param {string} code
 */
function keepEagerCompileHints(code) {
  const hinted = code.replace(/^\/\*{3}\/ (?=\(\()/gm, `$&${HINT}`)
  if (hinted === code)
    throw new Error('webpack writes its modules in another form: see keepEagerCompileHints.')
  return hinted
}

/**
 * The licences of everything that may be in the bundle. undici holds llhttp, compiled, without its
 * licence.
 */
function licenses() {
  const packages = runtimePackages()
  const { version } = packages.find(({ name }) => name === 'undici')
  const llhttp = `llhttp, part of undici ${version} (MIT)\n\n${readFileSync(LLHTTP_LICENSE, 'utf8')}`
  return packages
    .map(({ path, name, version, license }) => {
      const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry))
      if (file === undefined) throw new Error(`${name} has no licence file.`)
      return `${name} ${version} (${license})\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
    })
    .concat(llhttp)
    .join(`\n${'-'.repeat(80)}\n\n`)
}
