/** GitHub failing at a single request of a run: nothing is sent twice, and no job is lost. */

import { expect } from '@jest/globals'
import { BAD_GATEWAY, type Fault, secondaryLimit } from './github.js'
import { inWorld, type RunOptions } from './pull-request.js'

export const INPUTS = { 'job-scope': 'pull-request', check: 'true', context: 'diff' }
/** Files, comments and checks are read; both placeholders take two requests; two edits of each follow. */
export const REQUESTS = 11

type Kind = readonly [name: string, answer: Fault['answer'], takesEffect: boolean]
const KINDS: readonly Kind[] = [
  ['502', BAD_GATEWAY, false],
  ['403', { status: 403, body: { message: 'Resource not accessible by integration' } }, false],
  ['a limit', secondaryLimit(1), false],
  ['a reset', 'reset', false],
  ['a reset after it took effect', 'reset', true],
  ['half a response', 'cut off', true],
  ['nonsense', { status: 200, body: 'hello' }, false],
]

/** Each kind of failure at each request, counted from the first. */
export const CASES = KINDS.flatMap((kind, nth) =>
  Array.from({ length: REQUESTS }, (_, index) => ({ name: kind[0], nth, index, kind })),
)

/** A run in which one request fails, and a re-run of it. */
export const expectNothingLost = ({ index, kind: [, answer, takesEffect] }: (typeof CASES)[number]) =>
  inWorld({}, async (world) => {
    let seen = 0
    const path = { test: () => seen++ === index } as unknown as RegExp
    world.github.faults.push({ path, answer, takesEffect })
    const first = await world.step({ ...INPUTS, wait: 'false' })
    const sent = world.emulator.requests.filter(({ method }) => method === 'POST').length
    // Either the run ended before it sent anything, or it has its job.
    expect([sent, first.outputs['job-id'] !== '']).toEqual(
      first.outputs.outcome === 'started' ? [1, true] : [0, false],
    )
    if (first.outputs.outcome !== 'started') expect(first.outputs['error-code']).toBe('github')
    world.github.faults.length = 0
    const rerun: RunOptions = { env: { GITHUB_RUN_ATTEMPT: '2' } }
    const second = await world.step(INPUTS, rerun)
    expect(second.outputs.outcome).toBe('pr-opened')
    expect(world.emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
    if (sent === 1) expect(second.outputs['job-id']).toBe(first.outputs['job-id'])
    expect(world.comments().length).toBeLessThanOrEqual(2)
  })
