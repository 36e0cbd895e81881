/** Bundles what `tsc` wrote into a folder that the runner can execute: `node scripts/bundle.mjs dist`. */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [target] = process.argv.slice(2)
rmSync(target, { recursive: true, force: true })
execFileSync(
  process.execPath,
  [
    'node_modules/@vercel/ncc/dist/ncc/cli.js',
    'build',
    'build/src/index.js',
    '--no-cache',
    '--quiet',
    '--out',
    target,
  ],
  { stdio: 'inherit' },
)
writeFileSync(join(target, 'licenses.txt'), licenses())

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
