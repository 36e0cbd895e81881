/**
 * Gives each module that imports from undici an entry of undici with what it imports, and no more.
 *
 * undici's own entry requires all its parts, and a bundler keeps them all: it can't know that to require one has no
 * effect but its exports. Here that is told to terser, which then leaves out what nothing uses.
 */

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { minify } from 'terser'

const IMPORT = /^import \{ ([^}]+) \} from 'undici';$/m
/** By `@actions/github`. */
const IMPORTED_BY_PACKAGES = ['fetch']
/** Gives dispatchers `request`, `stream` and the like; `dispatch` and `fetch` are all that is called here. */
const DISPATCHER_METHODS = 'Object.assign(Dispatcher.prototype, api)'

/**
 * @param {string} from the folder of modules, as tsc wrote them
 * @param {string} to a copy of it, in which the imports are replaced; its tsconfig.json leads the packages that import
 *   from undici to an entry as well
 */
export async function slimUndici(from, to) {
  cpSync(from, to, { recursive: true })
  const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
  for (const file of files.map((name) => join(to, name))) {
    const code = readFileSync(file, 'utf8')
    if (!code.includes(`'undici'`)) continue
    const names = IMPORT.exec(code)?.[1]?.split(', ')
    if (names === undefined)
      throw new Error(`${file} imports from undici otherwise than \`import { a, b }\`.`)
    const entry = file.replace(/\.js$/, '.undici.cjs')
    writeFileSync(entry, await entryOf(names))
    writeFileSync(file, code.replace(/from 'undici'/, `from './${basename(entry)}'`))
  }
  const entry = join(to, 'undici.cjs')
  writeFileSync(entry, await entryOf(IMPORTED_BY_PACKAGES))
  const { paths } = JSON.parse(readFileSync('tsconfig.json', 'utf8')).compilerOptions
  const compilerOptions = { baseUrl: relative(to, '.'), paths: { ...paths, undici: [`./${entry}`] } }
  writeFileSync(join(to, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
}

/**
 * @param {string[]} names of exports
 * @returns {Promise<string>} undici's entry with these exports alone
 */
async function entryOf(names) {
  const whole = readFileSync('node_modules/undici/index.js', 'utf8')
  if (/^require\(/m.test(whole)) throw new Error("undici's entry requires a part for its effects.")
  if (!whole.includes(DISPATCHER_METHODS)) throw new Error("undici's entry adds its methods in another way.")
  const code = whole
    .replace(DISPATCHER_METHODS, '')
    .replaceAll("require('./", "require('undici/")
    .replace(/^module\.exports\.(\w+)(?:\.\w+)* = /gm, (assigns, name) =>
      names.includes(name) ? assigns : 'void ',
    )
  const { code: slim } = await minify(`(() => {${code}})()`, {
    ecma: 2020,
    compress: {
      passes: 3,
      pure_funcs: ['require', 'makeDispatcher'],
      pure_getters: true,
      pure_new: true,
      global_defs: { '@__filename': 'undefined' },
    },
    mangle: false,
    format: { beautify: true },
  })
  return `${slim}\n`
}
