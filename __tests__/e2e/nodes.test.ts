/** The bundle on every Node at hand: the one of these tests, and the one of the machine. */

import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { act } from '../support/action.js'
import { active, completed, created, LINK, startService } from '../support/service.js'

const folders = (process.env.PATH ?? '')
  .split(path.delimiter)
  .filter((folder) => !folder.includes('node_modules'))

/** Each Node's version and path, one of a version. */
const nodes = new Map(
  [process.execPath, ...folders.map((folder) => path.join(folder, 'node'))].flatMap((node) => {
    try {
      return [[execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(), node] as const]
    } catch {
      return []
    }
  }),
)

describe.each([...nodes])('on Node %s', (_, node) => {
  test.concurrent('the main job runs', async () => {
    const service = await startService({ posts: [created], looks: [active, completed] })
    const inputs = { prompt: 'Go', 'base-url': service.url, 'poll-interval-seconds': '0.1' }
    const { outputs, exitCode } = await act(inputs, { node }).finally(service.close)
    expect(outputs).toMatchObject({ outcome: 'pr-opened', 'pr-link': LINK })
    expect(service.connections()).toBe(1)
    expect(exitCode).toBe(0)
  })

  test.concurrent('bad input is told', async () => {
    const { outputs, exitCode } = await act({ wait: 'perhaps' }, { node })
    expect(outputs).toMatchObject({ outcome: 'error', 'error-code': 'input' })
    expect(exitCode).toBe(1)
  })
})
