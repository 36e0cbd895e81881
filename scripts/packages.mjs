/** The packages that a user of the action runs. */

import { readFileSync } from 'node:fs'

/** @returns those of the lock that are neither for development nor optional */
export function runtimePackages() {
  /** @type {{ packages: Record<string, Record<string, any>> }} */
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  return Object.entries(packages)
    .filter(
      ([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional,
    )
    .map(([path, { version, license }]) => ({
      path,
      name: path.replace(/^.*node_modules\//, ''),
      version,
      license,
    }))
}
