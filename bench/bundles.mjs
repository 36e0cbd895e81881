/** Builds what the measurements need beside the action's own bundle. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The action's bundle. */
export const ACTION = path.resolve('build/dist')
export const ALTERNATIVES = path.resolve('bench/alternatives')

const FLAG_CALL = /\(0,\s*[\w$]+\.setFlagsFromString\)\("--wasm-tiering-budget=\d+"\)/g

/**
 * Bundles an action from bench/alternatives with ncc, not minified, which is ncc's default.
 * @param {string} name
 * @param {string} folder for the source and the bundle
 * @returns {string} the folder of the bundle
 */
export function bundleAlternative(name, folder) {
  const source = path.join(folder, name)
  mkdirSync(source)
  cpSync(path.join(ALTERNATIVES, `${name}.mjs`), path.join(source, 'index.mjs'))
  symlinkSync(path.resolve('node_modules'), path.join(source, 'node_modules'))
  writeFileSync(path.join(source, 'package.json'), '{"type": "module"}')
  const ncc = path.resolve('node_modules/@vercel/ncc/dist/ncc/cli.js')
  const args = [ncc, 'build', 'index.mjs', '--no-cache', '--quiet', '--out', 'dist']
  execFileSync(process.execPath, args, { cwd: source, stdio: 'inherit' })
  return path.join(source, 'dist')
}

/**
 * Copies the action's bundle without the call that sets the V8 flag.
 * @param {string} folder for the copy
 * @returns {string} the folder of the copy
 * @throws {Error} no file has the call, or one has it in another form
 */
export function copyWithoutFlag(folder) {
  const copy = path.join(folder, 'without-flag')
  cpSync(ACTION, copy, { recursive: true })
  let removed = 0
  for (const name of readdirSync(copy).filter((file) => file.endsWith('.js'))) {
    const file = path.join(copy, name)
    const code = readFileSync(file, 'utf8').replace(FLAG_CALL, () => {
      removed++
      return '0'
    })
    if (code.includes('wasm-tiering-budget')) throw new Error(`${name} sets the V8 flag in an unknown way.`)
    writeFileSync(file, code)
  }
  // webpack repeats a small module in every chunk that needs it.
  if (removed === 0) throw new Error('The bundle does not set the V8 flag.')
  return copy
}
