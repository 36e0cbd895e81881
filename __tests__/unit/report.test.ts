/**
 * How a step reports: what is written when, what a failed write does, and the outputs that the
 * texts leave out.
 */

import { describe, expect, test } from '@jest/globals'
import { createDeadline } from '../../src/net/deadline.js'
import { StepReport } from '../../src/report/report.js'
import type { KeptComment, StatusUpdate } from '../../src/run/status-update.js'
import { ActionError } from '../../src/text/errors.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS, job } from './scripted-run.js'

const ENOSPC = new Error('ENOSPC')
const end = (outcome: 'timed-out' | 'dry-run' | 'pr-opened') =>
  ({ kind: 'ended', result: { outcome } }) as const
const SKIPPED = { kind: 'ended', result: { outcome: 'skipped', reason: 'a reason' } } as const

/** A step whose writes are recorded, with the time limits of its last edits. */
function createStep({
  broken = [] as readonly ('outputs' | 'summary')[],
  failure = ENOSPC as Error,
  isDebug = true,
} = {}) {
  const clock = new FakeClock()
  const written: [to: string, text: string][] = []
  const updates: StatusUpdate[] = []
  const recorder = (to: string) => (text: string) => void written.push([to, text])
  const report = new StepReport({
    writer: {
      ...{ log: recorder('log'), debug: recorder('debug'), warn: recorder('warn') },
      isDebug,
      ...{ notice: recorder('notice'), error: recorder('error'), group: recorder('group') },
      outputs: (values) => {
        if (broken.includes('outputs')) throw failure
        written.push(['outputs', JSON.stringify(values)])
      },
      summary: (text) => {
        if (broken.includes('summary')) throw ENOSPC
        written.push(['summary', text.split('\n')[0] ?? ''], ['advice', text])
      },
    },
    clock,
    redact: (text) => text,
    environment: { serverUrl: '', repository: '', runId: '', workflow: '' },
    inputs: INPUTS,
  })
  report.comment = {
    failure: '',
    memory: 'none',
    writePlaceholder: async (update) => void updates.push(update),
    enqueue: (update) => updates.push(update),
    close: async () => undefined,
  }
  const to = (place: string): string[] =>
    written.filter(([at]) => at === place).map(([, text]) => text)
  return { clock, report, updates, to }
}

describe('what can not be written [output.unwritable]', () => {
  test("as outputs by the container's user says what that user needs", () => {
    const failure = Object.assign(new Error('EACCES'), { code: 'EACCES' })
    const { report } = createStep({ broken: ['outputs'], failure })
    report.tell(SKIPPED)
    expect(report.facts.result).toMatchObject({
      error: {
        advice: expect.stringMatching(
          /^With `options: --user root`, the container's user can write /,
        ),
      },
    })
  })
})

describe('the end [report.summary]', () => {
  test('writes the summary again once the job is stored: then a re-run finds it', async () => {
    const { clock, report, to } = createStep()
    const comment: { memory: KeptComment['memory'] } = { memory: 'pending' }
    const close = async (): Promise<void> => {
      comment.memory = 'stored'
    }
    const writes = { writePlaceholder: async () => undefined, enqueue: () => undefined }
    report.comment = Object.assign(comment, { failure: '', close, ...writes })
    report.tell({ kind: 'accepted', asked: 'job', fingerprint: '', job: job('active') })
    report.tell(end('timed-out'))
    await report.closeComment(createDeadline(60_000, new AbortController().signal, clock))
    const advice = to('advice')
    expect(advice).toHaveLength(3)
    expect(advice[1]).toMatch(/and no prompt\. To wait longer/)
    expect(advice[2]).toContain('re-run the workflow job: this step then sends nothing.')
  })

  test('has the details of an error in the debug lines, not truncated before they are redacted', () => {
    const { report, to } = createStep()
    const cause = { data: 'x'.repeat(20_000) }
    const error = new ActionError('network', 'Broken.', '', { cause })
    report.tell({ kind: 'ended', result: { outcome: 'error', error } })
    report.endLog()
    expect(to('debug').join()).toContain(`'${cause.data}'`)
  })

  test('has no such lines if nobody sees them', () => {
    const { report, to } = createStep({ isDebug: false })
    const error = new ActionError('network', 'Broken.', '')
    report.tell({ kind: 'ended', result: { outcome: 'error', error } })
    report.endLog()
    expect([to('error').length, to('debug')]).toEqual([1, []])
  })
})
