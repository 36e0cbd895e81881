// A whole run against a scripted service: its result, the requests it sent, what it published.
import { describe, expect, test } from '@jest/globals'
import { ActionError, Cancelled } from '../../src/errors.js'
import type { Inputs, Task } from '../../src/inputs/inputs.js'
import { errorOf } from '../../src/run/ports.js'
import { run, toRunResult } from '../../src/run/run.js'
import {
  cancelThen,
  createScriptedRun,
  errorResponse,
  forever,
  hangs,
  INPUTS,
  job,
  jobResult,
  LINK,
  MINUTE,
  noJob,
  noResponse,
  notSent,
  type ScriptedResult,
} from './scripted-run.js'

const CREATE: Task = { kind: 'create', prompt: 'Do it' }
const MESSAGE: Task = { kind: 'message', jobId: 'job-1', prompt: 'Do more' }
const ATTACH: Task = { kind: 'attach', jobId: 'job-1' }

type Options = Partial<Pick<Inputs, 'wait' | 'timeoutMs'>> & { cancelAt?: number }

async function runTask(task: Task, script: Iterable<ScriptedResult>, options: Options = {}) {
  const { cancelAt, wait = true, timeoutMs = 30 * MINUTE } = options
  const jobId = task.kind === 'create' ? '' : task.jobId
  const scripted = createScriptedRun(script, { timeoutMs, cancelAt, jobId })
  const result = await run(task, { ...INPUTS, wait, timeoutMs }, scripted.service, scripted.ports)
  const requests = scripted.calls.map(({ kind }) => kind)
  return { ...scripted, result, endedAt: scripted.clock.now(), requests }
}

const opened = jobResult('completed', { prLink: LINK })

describe('an error in the action while a create request is in flight', () => {
  test('leaves its result unknown', async () => {
    const { result } = await runTask(CREATE, [
      () => {
        throw new Error('broken')
      },
    ])
    expect(result).toMatchObject({ outcome: 'error', error: { code: 'create-unknown' } })
  })
})

describe('a cancel while a create request is in flight', () => {
  test.each([
    ['contains no job', noJob, { code: 'create-unknown' }],
    ['breaks off', noResponse, { code: 'create-unknown' }],
    ['refuses it', errorResponse(401), undefined],
    ['asks for a wait', errorResponse(429, '1'), undefined],
    ['accepts it', jobResult('active'), undefined],
  ])('is reported with what is known if the response %s', async (_, scripted, error) => {
    for (const wait of [true, false]) {
      const { result, requests } = await runTask(CREATE, [cancelThen(scripted)], { wait })
      expect(result.outcome).toBe('cancelled')
      expect(errorOf(result)?.code).toBe(error?.code)
      expect(requests).toEqual(['create'])
    }
  })
})

describe('a create request', () => {
  test.each([
    ['completed with a link', opened, 'pr-opened'],
    ['completed without one', jobResult('completed'), 'no-changes'],
    ['failed', jobResult('failed'), 'failed'],
    ['archived', jobResult('archived'), 'archived'],
  ])('whose job %s', async (_, last, outcome) => {
    const { result, requests, progress } = await runTask(CREATE, [
      jobResult('active'),
      jobResult('active'),
      last,
    ])
    expect(result).toEqual({ outcome })
    expect(requests).toEqual(['create', 'poll', 'poll'])
    expect(progress).toMatchObject({ jobId: 'job-1', reuse: undefined, sending: false })
  })

  test('sends the prompt unchanged and polls the job in the response', async () => {
    const otherJob = (status: string) => jobResult(status, { id: 'job-9' })
    const { calls } = await runTask(CREATE, [otherJob('active'), otherJob('completed')])
    expect(calls).toMatchObject([
      { kind: 'create', prompt: 'Do it' },
      { kind: 'poll', jobId: 'job-9' },
    ])
  })

  test('has its job in the outputs before the first poll', async () => {
    const { published } = await runTask(CREATE, [jobResult('active'), opened])
    expect(published.filter(({ calls }) => calls === 1)).toContainEqual(
      expect.objectContaining({ jobId: 'job-1', status: 'active', sending: false }),
    )
  })

  test.each([
    ['active', jobResult('active'), 'started'],
    ['queued', jobResult('queued'), 'started'],
    ['completed', opened, 'pr-opened'],
    ['failed', jobResult('failed'), 'failed'],
  ])('that is not waited for, with a job that is %s', async (_, scripted, outcome) => {
    const { result, requests } = await runTask(CREATE, [scripted], { wait: false })
    expect(result).toEqual({ outcome })
    expect(requests).toEqual(['create'])
  })

  test.each([
    [errorResponse(401), 'auth'],
    [errorResponse(404), 'not-found'],
    [errorResponse(400), 'rejected'],
    [errorResponse(302), 'contract'],
    [noJob, 'contract'],
    [noResponse, 'create-unknown'],
    [errorResponse(503, '1'), 'create-unknown'],
  ])('that got %j is sent once and ends with %s', async (scripted, code) => {
    const { result, requests, progress } = await runTask(CREATE, [scripted])
    expect(result).toMatchObject({ outcome: 'error', error: { code } })
    expect(requests).toEqual(['create'])
    expect(progress.jobId).toBe('')
  })

  test('whose job never ends is timed-out, whatever the last polls got', async () => {
    for (const scripted of [jobResult('active'), errorResponse(503), notSent]) {
      const { result } = await runTask(
        CREATE,
        (function* () {
          yield jobResult('active')
          yield* forever(scripted)
        })(),
      )
      expect(result).toEqual({ outcome: 'timed-out' })
    }
  })

  test('whose job has one undocumented status after the other has a short history', async () => {
    const script = Array.from({ length: 60 }, (_, index) =>
      jobResult(index % 2 === 0 ? 'active' : `status ${index}`),
    )
    const { progress, result } = await runTask(CREATE, [...script, opened])
    expect(result).toEqual({ outcome: 'pr-opened' })
    expect(progress.history.map(({ status }) => status)).toEqual(['active', 'completed'])
  })

  test('that hangs until the deadline has an unknown result', async () => {
    const { result, endedAt } = await runTask(CREATE, [hangs(true)], { timeoutMs: MINUTE })
    expect(result).toMatchObject({ outcome: 'error', error: { code: 'create-unknown' } })
    expect(endedAt).toBe(MINUTE)
  })

  test('writes a placeholder first, once, however often it is sent', async () => {
    const { placeholders, requests } = await runTask(CREATE, [notSent, jobResult('active'), opened])
    expect(placeholders).toEqual([0])
    expect(requests).toEqual(['create', 'create', 'poll'])
  })

  test('is not sent if the placeholder cannot be written', async () => {
    const { service, ports, calls } = createScriptedRun([])
    const error = new ActionError('github', 'a', 'b')
    const writePlaceholder = (): Promise<void> => Promise.reject(error)
    expect(await run(CREATE, INPUTS, service, { ...ports, writePlaceholder })).toEqual({
      outcome: 'error',
      error,
    })
    expect(calls).toEqual([])
  })

  test.each(['completed', 'failed', 'archived'] as const)(
    'whose job has already ended (%s) is not polled, whether or not the step waits',
    async (status) => {
      for (const wait of [true, false]) {
        const { result, requests, progress } = await runTask(CREATE, [jobResult(status)], { wait })
        expect(result).toEqual({ outcome: status === 'completed' ? 'no-changes' : status })
        expect(requests).toEqual(['create'])
        expect(progress.status).toBe(status)
      }
    },
  )

  test('ends with the job known if a poll is refused', async () => {
    const { result, progress } = await runTask(CREATE, [jobResult('active'), errorResponse(403)])
    expect(result).toMatchObject({ outcome: 'error', error: { code: 'auth' } })
    expect(progress).toMatchObject({ jobId: 'job-1', status: 'active' })
  })
})

describe('a message', () => {
  test('is sent to its job, which is then polled', async () => {
    const { result, calls, progress } = await runTask(MESSAGE, [
      jobResult('active'),
      jobResult('active'),
      opened,
    ])
    expect(result).toEqual({ outcome: 'pr-opened' })
    expect(calls).toMatchObject([
      { kind: 'message', jobId: 'job-1', prompt: 'Do more' },
      { kind: 'poll', jobId: 'job-1' },
      { kind: 'poll', jobId: 'job-1' },
    ])
    expect(progress.reuse).toBe('message')
  })

  test('that was accepted without a job in the response is followed by polls', async () => {
    const { result, requests, published } = await runTask(MESSAGE, [noJob, jobResult('active'), opened])
    expect(result).toEqual({ outcome: 'pr-opened' })
    expect(requests).toEqual(['message', 'poll', 'poll'])
    expect(published.at(1)).toMatchObject({ calls: 1, jobId: 'job-1', reused: true, sending: false })
  })

  test('does not end with the final status from before it', async () => {
    const before = jobResult('completed', { prLink: LINK })
    const { result } = await runTask(MESSAGE, [before, before, jobResult('active'), jobResult('failed')])
    expect(result).toEqual({ outcome: 'failed' })
  })

  test.each([jobResult('active'), jobResult('completed'), noJob])(
    'that is not waited for is started: %j',
    async (scripted) => {
      const { result, requests } = await runTask(MESSAGE, [scripted], { wait: false })
      expect(result).toEqual({ outcome: 'started' })
      expect(requests).toEqual(['message'])
    },
  )

  test.each([
    [errorResponse(404), 'not-found'],
    [errorResponse(403), 'auth'],
    [noResponse, 'create-unknown'],
    [errorResponse(500), 'create-unknown'],
  ])('that got %j is sent once, creates no new job, and ends with %s', async (scripted, code) => {
    const { result, requests, progress } = await runTask(MESSAGE, [scripted])
    expect(result).toMatchObject({ outcome: 'error', error: { code } })
    expect(requests).toEqual(['message'])
    expect(progress).toMatchObject({ jobId: 'job-1', reuse: undefined })
  })

  test('writes no placeholder', async () => {
    const { placeholders } = await runTask(MESSAGE, [jobResult('active'), opened])
    expect(placeholders).toEqual([])
  })

  describe('with the job as it was before', () => {
    const previousJob = job('completed', { prLink: LINK })
    const task: Task = { ...MESSAGE, previousJob }
    const unchanged = jobResult('completed', { prLink: LINK })
    const changed = jobResult('completed', { prLink: `${LINK}0` })

    test('does not trust a poll that returns the same', async () => {
      const script = [jobResult('active'), unchanged, unchanged, jobResult('active'), jobResult('failed')]
      const { result, requests } = await runTask(task, script)
      expect(result).toEqual({ outcome: 'failed' })
      expect(requests).toEqual(['message', 'poll', 'poll', 'poll', 'poll'])
    })

    test('trusts a poll that returns another final status, the first one too', async () => {
      const { result, requests } = await runTask(task, [jobResult('active'), changed])
      expect(result).toEqual({ outcome: 'pr-opened' })
      expect(requests).toEqual(['message', 'poll'])
    })

    test('prefers the job in the response if its status is final', async () => {
      const { result, requests } = await runTask(task, [
        changed,
        changed,
        jobResult('active'),
        jobResult('failed'),
      ])
      expect(result).toEqual({ outcome: 'failed' })
      expect(requests).toEqual(['message', 'poll', 'poll', 'poll'])
    })
  })

  test.each([
    ['an active job is reported', jobResult('active'), true, ['active']],
    ['a final status is not, if a poll follows', jobResult('completed'), true, []],
    ['a final status is, if no poll follows', jobResult('completed'), false, ['completed']],
    ['no job is published as accepted', noJob, true, []],
    ['no job is published as accepted, if no poll follows', noJob, false, []],
  ])('as soon as it is accepted: %s', async (_, scripted, wait, reported) => {
    const never = hangs(true)
    const { published, reportedStatuses } = await runTask(MESSAGE, [scripted, never], {
      wait,
      timeoutMs: MINUTE,
    })
    expect(reportedStatuses).toEqual(reported)
    expect(published.at(1)).toMatchObject({ calls: 1, jobId: 'job-1', reused: true, sending: false })
    expect(published).toHaveLength(2)
  })

  describe('that creates a job if its own no longer exists', () => {
    const task: Task = { ...MESSAGE, forNewJob: { prompt: 'Do it anew', previousLink: LINK } }

    test('does so after a 404', async () => {
      const newJob = (status: string) => jobResult(status, { id: 'job-2' })
      const script = [errorResponse(404), newJob('active'), newJob('completed')]
      const { result, calls, lines, placeholders, progress, published } = await runTask(task, script)
      expect(result).toEqual({ outcome: 'no-changes' })
      expect(calls).toMatchObject([
        { kind: 'message', jobId: 'job-1', prompt: 'Do more' },
        { kind: 'create', prompt: 'Do it anew' },
        { kind: 'poll', jobId: 'job-2' },
      ])
      expect(lines.log).toEqual(['The earlier job no longer exists: creating a new one.'])
      expect(placeholders).toEqual([1])
      expect(published[1]).toMatchObject({ calls: 1, jobId: '', sending: true })
      expect(progress).toMatchObject({ jobId: 'job-2', reuse: undefined, previousLink: LINK })
    })

    test.each([
      [errorResponse(403), 'auth'],
      [errorResponse(500), 'create-unknown'],
      [noResponse, 'create-unknown'],
    ])('does not after %j', async (scripted, code) => {
      const { result, requests } = await runTask(task, [scripted])
      expect(result).toMatchObject({ outcome: 'error', error: { code } })
      expect(requests).toEqual(['message'])
    })

    test('does not if the job is missing only later', async () => {
      const { result, requests } = await runTask(task, [jobResult('active'), errorResponse(404)])
      expect(result).toMatchObject({ outcome: 'error', error: { code: 'not-found' } })
      expect(requests).toEqual(['message', 'poll'])
    })

    test('does not after a cancel', async () => {
      const { result, requests } = await runTask(task, [cancelThen(errorResponse(404))])
      expect(result).toEqual({ outcome: 'cancelled' })
      expect(requests).toEqual(['message'])
    })
  })

  test('to a job that stays busy is rejected at the deadline', async () => {
    const { result, requests } = await runTask(MESSAGE, forever(errorResponse(409)))
    expect(result).toMatchObject({ outcome: 'error', error: { code: 'rejected' } })
    expect(new Set(requests)).toEqual(new Set(['message']))
  })
})

describe('a step that only waits for a job', () => {
  test('sends nothing', async () => {
    const { result, requests, progress } = await runTask(ATTACH, [jobResult('active'), opened])
    expect(result).toEqual({ outcome: 'pr-opened' })
    expect(requests).toEqual(['poll', 'poll'])
    expect(progress.reuse).toBe('attach')
  })

  test('has its job in the outputs before the first poll', async () => {
    const { published } = await runTask(ATTACH, [opened])
    expect(published[0]).toMatchObject({ calls: 0, jobId: 'job-1', reused: true, sending: false })
  })

  test.each([
    ['active', jobResult('active'), 'started'],
    ['completed', opened, 'pr-opened'],
    ['completed without a link', jobResult('completed'), 'no-changes'],
    ['failed', jobResult('failed'), 'failed'],
    ['archived', jobResult('archived'), 'archived'],
  ])('with wait: false polls once: %s', async (_, scripted, outcome) => {
    const { result, requests } = await runTask(ATTACH, [scripted], { wait: false })
    expect(result).toEqual({ outcome })
    expect(requests).toEqual(['poll'])
  })

  test.each([
    ['that never gets a response', forever(notSent), { outcome: 'error', error: { code: 'network' } }],
    ['that gets 503s until the deadline', forever(errorResponse(503)), { outcome: 'timed-out' }],
    [
      'for a job that no longer exists',
      [errorResponse(404)],
      { outcome: 'error', error: { code: 'not-found' } },
    ],
    [
      'at a URL that is not an agent service',
      forever(noJob),
      { outcome: 'error', error: { code: 'contract' } },
    ],
  ])('%s', async (_, script, expected) => {
    expect((await runTask(ATTACH, script)).result).toMatchObject(expected)
  })
})

describe('a cancel', () => {
  const cancelled = { outcome: 'cancelled' }
  const unknown = { outcome: 'cancelled', error: { code: 'create-unknown' } }

  test.each([
    ['during a create request', CREATE, [hangs(true)], unknown],
    ['during a message', MESSAGE, [hangs(true)], unknown],
    ['before a create request was sent', CREATE, [hangs(false)], cancelled],
    ['between two attempts', CREATE, [errorResponse(429, '600')], cancelled],
    ['before the response to a create request breaks off', CREATE, [cancelThen(noResponse)], unknown],
    ['between two polls', CREATE, forever(jobResult('active')), cancelled],
    ['during a poll', CREATE, [jobResult('active'), hangs(true)], cancelled],
    ['before the response to a message', MESSAGE, [cancelThen(jobResult('active'))], cancelled],
    ['during a poll of a job that is only waited for', ATTACH, [jobResult('active'), hangs(true)], cancelled],
    ['during the first poll', ATTACH, [hangs(false)], cancelled],
  ])('%s', async (_, task, script, expected) => {
    const { result, endedAt } = await runTask(task, script, { cancelAt: 7000 })
    expect(result).toMatchObject(expected)
    expect(errorOf(result) !== undefined).toBe('error' in expected)
    expect(endedAt).toBeLessThanOrEqual(7000)
  })

  test('before the response to a create request reports the job in it', async () => {
    const { result, progress, requests, published } = await runTask(CREATE, [cancelThen(jobResult('active'))])
    expect(result).toEqual({ outcome: 'cancelled' })
    expect(progress).toMatchObject({ jobId: 'job-1', status: 'active' })
    expect(published.at(-1)).toMatchObject({ jobId: 'job-1' })
    expect(requests).toEqual(['create'])
  })
})

describe('toRunResult', () => {
  const error = new ActionError('auth', 'a', 'b')
  test.each([
    ['a cancel', new Cancelled(), { outcome: 'cancelled' }],
    ['a cancel with an unknown result', new Cancelled(error), { outcome: 'cancelled', error }],
    ['an error of the action', error, { outcome: 'error', error }],
  ])('%s', (_, thrown, expected) => {
    expect(toRunResult(thrown)).toEqual(expected)
  })

  test.each([[new TypeError('x is undefined')], ['a text'], [undefined]])(
    'anything else is an internal error: %p',
    (thrown) => {
      expect(toRunResult(thrown)).toMatchObject({
        outcome: 'error',
        error: { code: 'internal', cause: thrown },
      })
    },
  )

  test('a run itself never throws', async () => {
    const { result } = await runTask(ATTACH, [])
    expect(result).toMatchObject({ outcome: 'error', error: { code: 'internal' } })
  })
})
