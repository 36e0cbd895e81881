/**
 * How a step reports: what is written when, what a failed write does, and the outputs that the
 * texts leave out.
 */

import { describe, expect, test } from '@jest/globals'
import { createDeadline } from '../../src/net/deadline.js'
import { OUTPUT_NAMES } from '../../src/report/outputs.js'
import { StepReport } from '../../src/report/report.js'
import { Progress } from '../../src/run/progress.js'
import type { StatusUpdate, StatusWriter } from '../../src/run/status-update.js'
import { ActionError } from '../../src/text/errors.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS, job, LINK } from './scripted-run.js'

const ENOSPC = new Error('ENOSPC')

/** A step whose writes are recorded, with the time limits of its last edits. */
function createStep({
  broken = [] as readonly ('outputs' | 'summary')[],
  failure = ENOSPC as Error,
} = {}) {
  const clock = new FakeClock()
  const progress = new Progress(clock)
  const written: [to: string, text: string][] = []
  const updates: StatusUpdate[] = []
  const limits: number[][] = []
  const recorder = (to: string) => (text: string) => void written.push([to, text])
  const report = new StepReport({
    writer: {
      ...{ log: recorder('log'), debug: recorder('debug'), warn: recorder('warn') },
      ...{ notice: recorder('notice'), error: recorder('error'), group: recorder('group') },
      outputs: (values) => {
        if (broken.includes('outputs')) throw failure
        written.push(['outputs', values.map(([name, value]) => `${name}=${value}`).join(' ')])
      },
      summary: (text) => {
        if (broken.includes('summary')) throw ENOSPC
        written.push(['summary', text.split('\n')[0] ?? ''], ['advice', text])
      },
    },
    progress,
    redact: (text) => text,
    environment: { serverUrl: '', repository: '', runId: '', workflow: '' },
    inputs: INPUTS,
  })
  report.comment = {
    failure: '',
    memory: 'none',
    writePlaceholder: async (update) => void updates.push(update),
    enqueue: (update) => updates.push(update),
    close: async ({ usualMs, memoryMs, cancelledMs }) =>
      void limits.push([usualMs, memoryMs, cancelledMs]),
  }
  const to = (place: string): string[] =>
    written.filter(([at]) => at === place).map(([, text]) => text)
  return { clock, progress, report, updates, limits, to }
}

describe('while the step runs', () => {
  test('the outputs that are known are written, at the end all of them', () => {
    const { report, to } = createStep()
    report.publish()
    report.end({ outcome: 'timed-out' })
    const counts = to('outputs').map((line) => line.split(' ').length)
    expect(counts).toEqual([OUTPUT_NAMES.length - 2, OUTPUT_NAMES.length])
  })

  test('a final status leaves the report to the end, and no news is no report', () => {
    const { report, progress, updates, to } = createStep()
    progress.accepted = 'job'
    report.onJob(job('active'))
    report.onJob(job('active'))
    report.onJob(job('failed'))
    expect(updates.map(({ stored }) => stored.state)).toEqual(['active'])
    expect(to('log')).toHaveLength(2)
    expect(to('summary')).toHaveLength(1)
  })

  test('a link that is not passed on is logged once', () => {
    const { report, to } = createStep()
    for (const status of ['active', 'completed'])
      report.onJob({ ...job(status), linkRejected: true })
    expect(to('log').filter((line) => line.includes('dropped'))).toHaveLength(1)
  })
})

describe('what can not be written', () => {
  test('as outputs before anything was accepted ends the step, as long as nothing is lost', () => {
    const { progress, report, to, updates } = createStep({ broken: ['outputs'] })
    expect(() => report.publish()).toThrow('Writing the outputs failed: ENOSPC. Nothing was sent.')
    expect([to('summary').length, updates.length]).toEqual([1, 0])
    progress.onlyWaits = true
    report.publish()
    expect(updates).toHaveLength(1)
  })

  test("as outputs by the container's user says what that user needs", () => {
    const failure = Object.assign(new Error('EACCES'), { code: 'EACCES' })
    const { progress, report } = createStep({ broken: ['outputs'], failure })
    report.end({ outcome: 'skipped', reason: 'a reason' })
    expect(progress.result).toMatchObject({
      error: {
        advice: expect.stringMatching(
          /^With `options: --user root`, the container's user can write /,
        ),
      },
    })
  })

  test('as outputs at the end is the result, with its cause', () => {
    const { progress, report, to } = createStep({ broken: ['outputs'] })
    report.end({ outcome: 'skipped', reason: 'a reason' })
    expect(progress.result).toMatchObject({
      outcome: 'error',
      error: { code: 'internal', cause: ENOSPC },
    })
    expect([report.exitCode, to('error').length]).toEqual([1, 1])
  })

  test('as the summary is one warning', () => {
    const { report, to } = createStep({ broken: ['summary'] })
    report.publish()
    report.end({ outcome: 'dry-run' })
    expect(to('warn')).toEqual(['Writing the summary failed: ENOSPC'])
    expect(report.exitCode).toBe(0)
  })
})

describe('the end', () => {
  test('is reported once', async () => {
    const { report, to, progress } = createStep()
    report.end({ outcome: 'dry-run' })
    report.end({ outcome: 'cancelled' })
    report.publish()
    expect(progress.result).toEqual({ outcome: 'dry-run' })
    expect([to('summary').length, to('outputs').length]).toEqual([1, 1])
  })

  test.each([
    [0, 1],
    [1, 2],
  ])(
    'with %i files of the pull request that it names writes the summary %i times, and edits once',
    async (count, summaries) => {
      const { clock, report, updates, to, progress } = createStep()
      report.end({ outcome: 'pr-opened' })
      expect(updates).toEqual([])
      progress.docsFiles = Array(count).fill({ filename: 'a.md', additions: 1, deletions: 0 })
      await report.closeComment(createDeadline(30 * 60_000, new AbortController().signal, clock))
      expect([updates.length, to('summary').length, to('outputs').length]).toEqual([
        1,
        summaries,
        1,
      ])
    },
  )

  test.each([
    ['long before the deadline', 0, false, [10_000, 30_000, 3_000]],
    ['close to it', 30 * 60_000 - 4_000, false, [4_000, 4_000, 3_000]],
    ['past it', 31 * 60_000, false, [1_000, 1_000, 3_000]],
    ['after a cancel', 0, true, [3_000, 3_000, 3_000]],
  ])('leaves the last edits some time: %s', async (_, elapsedMs, isCancelled, expected) => {
    const { clock, report, limits } = createStep()
    clock.advance(elapsedMs)
    const cancel = isCancelled ? AbortSignal.abort() : new AbortController().signal
    await report.closeComment(createDeadline(30 * 60_000, cancel, clock))
    expect(limits).toEqual([expected])
  })

  test('writes the summary again once the job is stored: then a re-run finds it', async () => {
    const { clock, progress, report, to } = createStep()
    const comment: { memory: StatusWriter['memory'] } = { memory: 'pending' }
    const close = async (): Promise<void> => {
      comment.memory = 'stored'
    }
    const writes = { writePlaceholder: async () => undefined, enqueue: () => undefined }
    report.comment = Object.assign(comment, { failure: '', close, ...writes })
    progress.accepted = 'job'
    progress.update(job('active'))
    report.end({ outcome: 'timed-out' })
    await report.closeComment(createDeadline(60_000, new AbortController().signal, clock))
    const advice = to('advice')
    expect(advice).toHaveLength(2)
    expect(advice[0]).toContain('A re-run starts another docs job.')
    expect(advice[1]).toContain('re-run the workflow job: this step then sends nothing.')
  })

  test('names the request that is in flight: the new job, if the earlier one is gone', () => {
    const { progress, report } = createStep()
    expect(report.resultUnknown()).toBeUndefined()
    progress.follow('job-1')
    progress.request = 'sending'
    expect(report.resultUnknown(ENOSPC)).toMatchObject({
      message: expect.stringMatching(/^The message/),
      cause: ENOSPC,
    })
    progress.forget(LINK)
    expect(report.resultUnknown()?.message).toMatch(/^The create request/)
  })

  test('has the details of an error in the debug lines, not truncated before they are redacted', () => {
    const { report, to } = createStep()
    const cause = { data: 'x'.repeat(20_000) }
    report.end({ outcome: 'error', error: new ActionError('network', 'Broken.', '', { cause }) })
    expect(to('debug').join()).toContain(`'${cause.data}'`)
  })
})
