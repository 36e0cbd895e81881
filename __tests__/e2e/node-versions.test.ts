/**
 * The bundle on every Node that is installed: the one that runs these tests, and those on the PATH.
 */

import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { runAgainst, runStep } from '../support/action.js'
import { active, completed, created, LINK } from '../support/service.js'

const folders = (process.env.PATH ?? '')
  .split(path.delimiter)
  .filter((folder) => !folder.includes('node_modules'))

/** The path of one Node for each version. */
const nodes = new Map(
  [process.execPath, ...folders.map((folder) => path.join(folder, 'node'))].flatMap((node) => {
    try {
      return [[execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(), node] as const]
    } catch {
      return []
    }
  }),
)

describe.each([...nodes])('on Node %s [house.node]', (_, node) => {
  test.concurrent('a job runs, with one request for each poll, on one connection [house.node]', async () => {
    const script = { posts: [created], polls: [active, active, completed] }
    const { outputs, exitCode, service } = await runAgainst(script, { prompt: 'Go' }, { node })
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(exitCode).toBe(0)
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET'])
    expect(service.connections()).toBe(1)
  })

  test.concurrent('bad input is reported', async () => {
    const { outputs, exitCode } = await runStep({ wait: 'perhaps' }, { node })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
    expect(exitCode).toBe(1)
  })
})
