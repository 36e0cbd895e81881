/**
 * Prints the list of the packages that a user of the action runs (an SBOM, as CycloneDX), from package-lock.json. The same
 * lock gives the same bytes: npm adds a time, a random number and the folder's name, which are removed here.
 */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

process.chdir(resolve(import.meta.dirname, '..'))
const { status, stdout } = spawnSync(
  'npm',
  [
    'sbom',
    '--package-lock-only',
    ...['--omit=dev', '--omit=optional'],
    ...['--sbom-format=cyclonedx', '--sbom-type=application'],
  ],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell: process.platform === 'win32' },
)
if (status !== 0) throw new Error(`\`npm sbom\` ended with ${status}.`)
const { serialNumber, metadata, ...sbom } = JSON.parse(stdout)
const { timestamp, component, ...rest } = metadata
const { name } = JSON.parse(readFileSync('package.json', 'utf8'))
console.log(JSON.stringify({ ...sbom, metadata: { ...rest, component: { ...component, name } } }, null, 2))
