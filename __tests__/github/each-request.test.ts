/** GitHub failing at each single request of a run in turn: nothing is sent twice, and no job is lost. */

import { expect, test } from '@jest/globals'
import { BAD_GATEWAY, type Fault, secondaryLimit } from '../support/github.js'
import { inWorld, type RunOptions } from '../support/pull-request.js'

const INPUTS = { 'job-scope': 'pull-request', check: 'true', context: 'diff' }
/** Files, comments and checks are read; both placeholders take two requests; two edits of each follow. */
const REQUESTS = 11
const forbidden = { status: 403, body: { message: 'Resource not accessible by integration' } }
const answers: [string, Fault['answer'], boolean][] = [
  ['502', BAD_GATEWAY, false],
  ['403', forbidden, false],
  ['a limit', secondaryLimit(1), false],
  ['a reset', 'reset', false],
  ['a reset after it took effect', 'reset', true],
  ['half a response', 'cut off', true],
  ['nonsense', { status: 200, body: 'hello' }, false],
]

/** A fault at the request with this index, counted from the first. */
function faultAt(index: number, answer: Fault['answer'], takesEffect: boolean): Fault {
  let seen = 0
  const path = { test: () => seen++ === index } as unknown as RegExp
  return { path, answer, takesEffect }
}

const cases = answers.flatMap(([name, answer, takesEffect]) =>
  Array.from({ length: REQUESTS }, (_, index) => [name, index, answer, takesEffect] as const),
)

test.concurrent('a run without a fault takes that many requests', () =>
  inWorld({}, async (world) => {
    await world.step(INPUTS)
    expect(world.github.requests).toHaveLength(REQUESTS)
  }))

test.concurrent.each(cases)('%s at request %i', (_, index, answer, takesEffect) =>
  inWorld({}, async (world) => {
    world.github.faults.push(faultAt(index, answer, takesEffect))
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
  }),
)
