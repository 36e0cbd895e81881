/** A run fails, or is cancelled, at a single request to GitHub: nothing is sent twice, and no job is lost. */

import { expect } from '@jest/globals'
import { BAD_GATEWAY, type Fault, secondaryLimit } from './github.js'
import { inWorld, type RunOptions } from './pull-request.js'

export const INPUTS = { 'job-scope': 'pull-request', check: 'true', context: 'diff' }
/** Files, comments and checks are read; both placeholders take two requests; two edits of each follow. */
export const REQUESTS = 11

interface Kind extends Pick<Fault, 'answer' | 'takesEffect'> {
  readonly name: string
  readonly cancels?: boolean
}
const KINDS: readonly Kind[] = [
  { name: '502', answer: BAD_GATEWAY },
  { name: '403', answer: { status: 403, body: { message: 'Resource not accessible by integration' } } },
  { name: 'a limit', answer: secondaryLimit(1) },
  { name: 'a reset', answer: 'reset' },
  { name: 'a reset after it took effect', answer: 'reset', takesEffect: true },
  { name: 'half a response', answer: 'cut off' },
  { name: 'nonsense', answer: { status: 200, body: 'hello' } },
  { name: 'a cancel', answer: { delayMs: 1 }, cancels: true },
]

/** Each kind of failure at each request, counted from the first. */
export const CASES = KINDS.flatMap((kind, nth) =>
  Array.from({ length: REQUESTS }, (_, index) => ({ ...kind, nth, index })),
)

/** The path of a fault that matches one request, counted from 0. */
export function atRequest(index: number, onMatch: () => unknown = () => undefined): RegExp {
  let seen = 0
  const test = (): boolean => {
    if (seen++ !== index) return false
    onMatch()
    return true
  }
  return { test } as unknown as RegExp
}

/** A run in which one request fails, and a re-run of it. */
export const expectNothingLost = ({ index, cancels = false, ...fault }: (typeof CASES)[number]) =>
  inWorld({}, async (world) => {
    let cancelNow = (): void => undefined
    const path = atRequest(index, () => cancels && cancelNow())
    world.github.faults.push({ ...fault, path })
    const first = await world.step(
      { ...INPUTS, wait: 'false' },
      {
        meanwhile: async ({ cancel }) => {
          cancelNow = cancel
        },
      },
    )
    const sent = world.emulator.requests.filter(({ method }) => method === 'POST').length
    // Either the run ended before it sent anything, or it has its job.
    const hasJob = first.outputs['job-id'] !== ''
    expect(sent).toBe(hasJob ? 1 : 0)
    const ended = cancels ? { outcome: 'cancelled' } : { 'error-code': 'github' }
    if (!hasJob) expect(first.outputs).toMatchObject(ended)
    if (cancels) {
      expect(world.comments()).toHaveLength(1)
      expect(world.checks().map(({ status }) => status)).toEqual(['completed'])
    }
    world.github.faults.length = 0
    const rerun: RunOptions = { env: { GITHUB_RUN_ATTEMPT: '2' } }
    const second = await world.step(INPUTS, rerun)
    expect(second.outputs.outcome).toBe('pr-opened')
    expect(world.emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
    if (hasJob) expect(second.outputs['job-id']).toBe(first.outputs['job-id'])
    expect(world.comments().length).toBeLessThanOrEqual(2)
  })
