/**
 * Prints the list of the packages that a user of the action runs (an SBOM, as CycloneDX), from
 * package-lock.json. The same commit gives the same bytes: npm adds a time, a random number and the
 * folder's name, which are replaced here, and calls the action a package of its registry.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { runtimePackages } from './packages.mjs'

process.chdir(resolve(import.meta.dirname, '..'))
const { status, stdout } = spawnSync(
  'npm',
  ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell: process.platform === 'win32' },
)
if (status !== 0) throw new Error(`\`npm sbom\` ended with ${status}.`)
const { serialNumber, metadata, components, dependencies, ...sbom } = JSON.parse(stdout)
const { timestamp, component, ...rest } = metadata
const { name, version, repository } = JSON.parse(readFileSync('package.json', 'utf8'))
const committed = execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' })
const authors = `The authors of ${name}` // As in LICENSE.
const page = repository.replace('github:', 'https://github.com/')

// `npm sbom --omit=dev` would also omit what users run if a development dependency needs it, too.
const refs = new Set([
  component['bom-ref'],
  ...runtimePackages().map(({ name, version }) => `${name}@${version}`),
])
const isRun = (/** @type {string} */ ref) => refs.has(ref)
const runs = {
  components: components.filter((/** @type {any} */ one) => isRun(one['bom-ref'])),
  dependencies: dependencies
    .filter((/** @type {any} */ { ref }) => isRun(ref))
    .map((/** @type {any} */ { ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isRun) })),
}
const about = {
  ...rest,
  timestamp: new Date(Number(committed) * 1000).toISOString(),
  authors: [{ name: authors }],
  supplier: { name: authors, url: [page] },
  component: { ...component, name, purl: `pkg:${repository.replace(':', '/')}@${version}` },
}
console.log(JSON.stringify({ ...sbom, metadata: about, ...runs }, null, 2))
