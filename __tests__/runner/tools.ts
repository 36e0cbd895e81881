/** Finds the tools that check and run workflows. Go builds the versions that go.mod pins. */

import { execFileSync } from 'node:child_process'

/** Go takes half a second to find one. */
const found = new Map<string, string>()

/** The path of a tool. The first call on a machine downloads and builds it, which takes up to a minute or two. */
export function tool(name: 'act' | 'actionlint'): string {
  const path = found.get(name) ?? find(name)
  found.set(name, path)
  return path
}

function find(name: string): string {
  try {
    const go = ['-C', '__tests__/runner', 'tool', '-n', name]
    return execFileSync('go', go, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  } catch (error) {
    // Not instanceof: errors of Node's own modules come from another realm than jest's.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(
      `${name} is missing. Install Go 1.25 or newer from https://go.dev/dl, which then builds it.`,
    )
  }
}
