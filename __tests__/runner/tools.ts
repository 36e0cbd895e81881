/** Finds the tools that read and run workflows as GitHub does, built by Go as go.mod pins them. */

import { execFileSync } from 'node:child_process'

/** The path of a tool. The first call on a machine downloads and builds it, which takes up to a minute or two. */
export function tool(name: 'act' | 'actionlint'): string {
  try {
    const go = ['-C', '__tests__/runner', 'tool', '-n', name]
    return execFileSync('go', go, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Error(`${name} needs Go to build it: install Go 1.25 or newer, from https://go.dev/dl.`)
    throw error
  }
}
