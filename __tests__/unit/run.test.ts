// A whole run against a scripted service: what comes of it, what was asked of the service, what stood in the outputs.
import { describe, expect, test } from '@jest/globals'
import { ActionError, Cancelled } from '../../src/errors.js'
import type { Inputs, Task } from '../../src/inputs/inputs.js'
import { toRunResult, run } from '../../src/run/run.js'
import {
  cancelledThen,
  forever,
  gives,
  hangs,
  INPUTS,
  LINK,
  type Line,
  lost,
  MINUTE,
  noJob,
  refused,
  unsent,
  world,
} from './scripted-run.js'

const CREATE: Task = { kind: 'create', prompt: 'Do it' }
const MESSAGE: Task = { kind: 'message', jobId: 'job-1', prompt: 'Do more' }
const ATTACH: Task = { kind: 'attach', jobId: 'job-1' }

type Options = Partial<Pick<Inputs, 'wait' | 'timeoutMs'>> & { cancelAt?: number }

async function running(task: Task, lines: Iterable<Line>, options: Options = {}) {
  const { cancelAt = Number.POSITIVE_INFINITY, wait = true, timeoutMs = 30 * MINUTE } = options
  const around = world(lines, { timeoutMs, cancelAt, jobId: task.kind === 'create' ? '' : task.jobId })
  const inputs: Inputs = { ...INPUTS, task, wait, timeoutMs }
  const end = await run(inputs, around.service, around.ports)
  return { ...around, end, endedAt: around.clock.now(), asked: around.calls.map(({ what }) => what) }
}

const opened = gives('completed', { prLink: LINK })

describe('a fault of our own while a create is on its way', () => {
  test('leaves its fate unknown', async () => {
    const { end } = await running(CREATE, [
      () => {
        throw new Error('broken')
      },
    ])
    expect(end).toMatchObject({ outcome: 'error', error: { code: 'create-unknown' } })
  })
})

describe('a cancel while a create is on its way', () => {
  test.each([
    ['holds no job', noJob, { code: 'create-unknown' }],
    ['is cut', lost, { code: 'create-unknown' }],
    ['refuses it', refused(401), undefined],
    ['puts it off', refused(429, '1'), undefined],
    ['takes it', gives('active'), undefined],
  ])('is told with what is known where the answer %s', async (_, reply, error) => {
    for (const wait of [true, false]) {
      const { end, asked } = await running(CREATE, [cancelledThen(reply)], { wait })
      expect(end.outcome).toBe('cancelled')
      expect(end.error?.code).toBe(error?.code)
      expect(asked).toEqual(['create'])
    }
  })
})

describe('a create', () => {
  test.each([
    ['completed with a link', opened, 'pr-opened'],
    ['completed without one', gives('completed'), 'no-changes'],
    ['failed', gives('failed'), 'failed'],
    ['archived', gives('archived'), 'archived'],
  ])('whose job %s', async (_, last, outcome) => {
    const { end, asked, progress } = await running(CREATE, [gives('active'), gives('active'), last])
    expect(end).toEqual({ outcome })
    expect(asked).toEqual(['create', 'look', 'look'])
    expect(progress).toMatchObject({ jobId: 'job-1', reused: false, sending: false })
  })

  test('sends the prompt as it is and follows the job that the service named', async () => {
    const named = (status: string) => gives(status, { id: 'job-9' })
    const { calls } = await running(CREATE, [named('active'), named('completed')])
    expect(calls).toMatchObject([
      { what: 'create', prompt: 'Do it' },
      { what: 'look', jobId: 'job-9' },
    ])
  })

  test('has its job in the outputs before the first look', async () => {
    const { published } = await running(CREATE, [gives('active'), opened])
    expect(published.filter(({ calls }) => calls === 1)).toContainEqual(
      expect.objectContaining({ jobId: 'job-1', status: 'active', sending: false }),
    )
  })

  test.each([
    ['active', gives('active'), 'started'],
    ['queued', gives('queued'), 'started'],
    ['completed', opened, 'pr-opened'],
    ['failed', gives('failed'), 'failed'],
  ])('that is not waited for, answered %s', async (_, answer, outcome) => {
    const { end, asked } = await running(CREATE, [answer], { wait: false })
    expect(end).toEqual({ outcome })
    expect(asked).toEqual(['create'])
  })

  test.each([
    [refused(401), 'auth'],
    [refused(404), 'not-found'],
    [refused(400), 'rejected'],
    [refused(302), 'contract'],
    [noJob, 'contract'],
    [lost, 'create-unknown'],
    [refused(503, '1'), 'create-unknown'],
  ])('that met %j is sent once and ends in %s', async (reply, code) => {
    const { end, asked, progress } = await running(CREATE, [reply])
    expect(end).toMatchObject({ outcome: 'error', error: { code } })
    expect(asked).toEqual(['create'])
    expect(progress.jobId).toBe('')
  })

  test('whose job never ends is timed-out, whatever the last looks said', async () => {
    for (const line of [gives('active'), refused(503), unsent]) {
      const { end } = await running(
        CREATE,
        (function* () {
          yield gives('active')
          yield* forever(line)
        })(),
      )
      expect(end).toEqual({ outcome: 'timed-out' })
    }
  })

  test('whose job gets one strange status after the other leaves a short list of states', async () => {
    const lines = Array.from({ length: 60 }, (_, index) =>
      gives(index % 2 === 0 ? 'active' : `word ${index}`),
    )
    const { progress, end } = await running(CREATE, [...lines, opened])
    expect(end).toEqual({ outcome: 'pr-opened' })
    expect(progress.moments.map(({ status }) => status)).toEqual(['active', 'completed'])
  })

  test('that takes the whole time is unknown', async () => {
    const { end, endedAt } = await running(CREATE, [hangs(true)], { timeoutMs: MINUTE })
    expect(end).toMatchObject({ outcome: 'error', error: { code: 'create-unknown' } })
    expect(endedAt).toBe(MINUTE)
  })

  test('a look that is refused for good ends it, with the job known', async () => {
    const { end, progress } = await running(CREATE, [gives('active'), refused(403)])
    expect(end).toMatchObject({ outcome: 'error', error: { code: 'auth' } })
    expect(progress).toMatchObject({ jobId: 'job-1', status: 'active' })
  })
})

describe('a message', () => {
  test('goes to its job, which is then followed', async () => {
    const { end, calls, progress } = await running(MESSAGE, [gives('active'), gives('active'), opened])
    expect(end).toEqual({ outcome: 'pr-opened' })
    expect(calls).toMatchObject([
      { what: 'message', jobId: 'job-1', prompt: 'Do more' },
      { what: 'look', jobId: 'job-1' },
      { what: 'look', jobId: 'job-1' },
    ])
    expect(progress.reused).toBe(true)
  })

  test('that was taken without a job is followed', async () => {
    const { end, asked, published } = await running(MESSAGE, [noJob, gives('active'), opened])
    expect(end).toEqual({ outcome: 'pr-opened' })
    expect(asked).toEqual(['message', 'look', 'look'])
    expect(published.at(1)).toMatchObject({ calls: 1, jobId: 'job-1', reused: true, sending: false })
  })

  test('does not end with the end that was there before it', async () => {
    const before = gives('completed', { prLink: LINK })
    const { end } = await running(MESSAGE, [before, before, gives('active'), gives('failed')])
    expect(end).toEqual({ outcome: 'failed' })
  })

  test.each([gives('active'), gives('completed'), noJob])(
    'that is not waited for is started',
    async (answer) => {
      const { end, asked } = await running(MESSAGE, [answer], { wait: false })
      expect(end).toEqual({ outcome: 'started' })
      expect(asked).toEqual(['message'])
    },
  )

  test.each([
    [refused(404), 'not-found'],
    [refused(403), 'auth'],
    [lost, 'create-unknown'],
    [refused(500), 'create-unknown'],
  ])('that met %j is sent once, makes no new job, and ends in %s', async (reply, code) => {
    const { end, asked, progress } = await running(MESSAGE, [reply])
    expect(end).toMatchObject({ outcome: 'error', error: { code } })
    expect(asked).toEqual(['message'])
    expect(progress).toMatchObject({ jobId: 'job-1', reused: false })
  })

  test('to a job that stays busy is rejected at the deadline', async () => {
    const { end, asked } = await running(MESSAGE, forever(refused(409)))
    expect(end).toMatchObject({ outcome: 'error', error: { code: 'rejected' } })
    expect(new Set(asked)).toEqual(new Set(['message']))
  })
})

describe('a wait for a job', () => {
  test('sends nothing', async () => {
    const { end, asked, progress } = await running(ATTACH, [gives('active'), opened])
    expect(end).toEqual({ outcome: 'pr-opened' })
    expect(asked).toEqual(['look', 'look'])
    expect(progress.reused).toBe(true)
  })

  test('has its job in the outputs before the first look', async () => {
    const { published } = await running(ATTACH, [opened])
    expect(published[0]).toMatchObject({ calls: 0, jobId: 'job-1', reused: true, sending: false })
  })

  test.each([
    ['active', gives('active'), 'started'],
    ['completed', opened, 'pr-opened'],
    ['completed without a link', gives('completed'), 'no-changes'],
    ['failed', gives('failed'), 'failed'],
    ['archived', gives('archived'), 'archived'],
  ])('without a wait is one look: %s', async (_, reply, outcome) => {
    const { end, asked } = await running(ATTACH, [reply], { wait: false })
    expect(end).toEqual({ outcome })
    expect(asked).toEqual(['look'])
  })

  test.each([
    ['that never got an answer', forever(unsent), { outcome: 'error', error: { code: 'network' } }],
    ['that got 503s to the deadline', forever(refused(503)), { outcome: 'timed-out' }],
    ['for a job that is gone', [refused(404)], { outcome: 'error', error: { code: 'not-found' } }],
    [
      'at an address that is no agent service',
      forever(noJob),
      { outcome: 'error', error: { code: 'contract' } },
    ],
  ])('%s', async (_, lines, end) => {
    expect((await running(ATTACH, lines)).end).toMatchObject(end)
  })
})

describe('a cancel', () => {
  const cancelled = { outcome: 'cancelled' }
  const unknown = { outcome: 'cancelled', error: { code: 'create-unknown' } }

  test.each([
    ['during a create', CREATE, [hangs(true)], unknown],
    ['during a message', MESSAGE, [hangs(true)], unknown],
    ['before a create was sent', CREATE, [hangs(false)], cancelled],
    ['between two tries', CREATE, [refused(429, '600')], cancelled],
    ['during a create that is cut', CREATE, [cancelledThen(lost)], unknown],
    ['between two looks', CREATE, forever(gives('active')), cancelled],
    ['during a look', CREATE, [gives('active'), hangs(true)], cancelled],
    ['during a message whose answer still comes', MESSAGE, [cancelledThen(gives('active'))], cancelled],
    ['during a wait', ATTACH, [gives('active'), hangs(true)], cancelled],
    ['during the first look', ATTACH, [hangs(false)], cancelled],
  ])('%s', async (_, task, lines, end) => {
    const result = await running(task, lines, { cancelAt: 7000 })
    expect(result.end).toMatchObject(end)
    expect('error' in result.end).toBe('error' in end)
    expect(result.endedAt).toBeLessThanOrEqual(7000)
  })

  test('during a create whose answer still comes tells the job', async () => {
    const { end, progress, asked, published } = await running(CREATE, [cancelledThen(gives('active'))])
    expect(end).toEqual({ outcome: 'cancelled' })
    expect(progress).toMatchObject({ jobId: 'job-1', status: 'active' })
    expect(published.at(-1)).toMatchObject({ jobId: 'job-1' })
    expect(asked).toEqual(['create'])
  })
})

describe('what a run that threw ends as', () => {
  const error = new ActionError('auth', 'a', 'b')
  test.each([
    ['a cancel', new Cancelled(), { outcome: 'cancelled' }],
    ['a cancel with something unknown', new Cancelled(error), { outcome: 'cancelled', error }],
    ['an error of the action', error, { outcome: 'error', error }],
  ])('%s', (_, thrown, end) => {
    expect(toRunResult(thrown)).toEqual(end)
  })

  test.each([[new TypeError('x is undefined')], ['a text'], [undefined]])(
    'anything else is internal: %p',
    (thrown) => {
      expect(toRunResult(thrown)).toMatchObject({ outcome: 'error', error: { code: 'internal', cause: thrown } })
    },
  )

  test('a run itself never throws', async () => {
    const { end } = await running(ATTACH, [])
    expect(end).toMatchObject({ outcome: 'error', error: { code: 'internal' } })
  })
})
