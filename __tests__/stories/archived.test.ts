/** A docs job that somebody archives. */

import { expect, test } from '@jest/globals'
import { inWorld } from '../support/pull-request.js'

test('archived while waiting, with a comment, says so once', () =>
  inWorld({}, async (world) => {
    const archived = { job: { status: 'archived', archivedAt: '2026-01-02T03:10:00.000Z' } }
    const running = { times: 2, job: { status: 'active' } }
    const { url } = await world.serve({ poll: [running, { times: 99, ...archived }] })
    const { outputs, commands } = await world.step({ comment: 'true', 'base-url': url })
    expect(outputs).toMatchObject({ outcome: 'archived', status: 'archived' })
    expect(commands('error')).toEqual([expect.stringContaining('was archived')])
    expect(commands('warning')).toEqual([])
    expect(world.comments()).toEqual([expect.stringMatching(/^🗄️ /)])
  }))
