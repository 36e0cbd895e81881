/** Finds the tools that check and run workflows. */

import { spawnSync } from 'node:child_process'

/**
 * The path of a tool in the version that go.mod pins. Go builds it at the first call, which takes a
 * minute or two.
 */
export function tool(name: 'act' | 'actionlint'): string {
  const { stdout, stderr, error } = spawnSync(
    'go',
    ['-C', '__tests__/runner', 'tool', '-n', name],
    {
      encoding: 'utf8',
    },
  )
  const path = stdout?.trim()
  if (!path)
    throw new Error(`Go 1.25 or newer (https://go.dev/dl) has to build ${name}: ${error ?? stderr}`)
  return path
}
