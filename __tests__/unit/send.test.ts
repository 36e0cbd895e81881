// Sending a create request or a message: when it is sent and retried, and what is known if the time
// is up or the step is cancelled. Which results are retried at all is in verdict.test.ts.
import { describe, expect, test } from '@jest/globals'
import type { ServiceResult } from '../../src/agent/client.js'
import { sentIn } from '../../src/run/facts.js'
import { sendUntilAccepted } from '../../src/run/send.js'
import type { Sending } from '../../src/run/task.js'
import {
  callTimes,
  createScriptedRun,
  delayed,
  errorResponse,
  forever,
  hangs,
  jobResult,
  MINUTE,
  notSent,
  type ScriptedOptions,
  type ScriptedResult,
  settle,
} from './scripted-run.js'

const CREATE: Sending = { kind: 'create', prompt: 'Do it' }
const MESSAGE: Sending = { kind: 'message', jobId: 'job-1', prompt: 'Do it' }

type Script = Iterable<ScriptedResult>

async function submit(script: Script, options: ScriptedOptions = {}, request: Sending = CREATE) {
  const run = createScriptedRun(script, options)
  return { ...run, ...(await sendIn(run, request)), at: callTimes(run), endedAt: run.clock.now() }
}

const sendIn = (
  { tools }: Pick<ReturnType<typeof createScriptedRun>, 'tools'>,
  request: Sending = CREATE,
) => settle(sendUntilAccepted(request, tools))

const accepted = jobResult('active')

/** This result first, then no connection for as long as anyone asks. */
function* thenUnreachable(first: ServiceResult): Iterable<ScriptedResult> {
  yield first
  yield* forever(notSent)
}

describe('a retry', () => {
  const busy = (seconds: number) => [errorResponse(429, seconds * 1_000), accepted]
  test.each<[string, Script, ScriptedOptions, number[]]>([
    [
      'is exponential [send.limited]',
      [...Array(6).fill(notSent), accepted],
      {},
      [0, 500, 1500, 3500, 7500, 12_500, 17_500],
    ],
    ['waits for seconds [send.limited]', busy(90), {}, [0, 90_000]],
    ['waits for seconds, with jitter on top [send.limited]', busy(90), { random: 1 }, [0, 112_500]],
    [
      'leaves out jitter that reaches the deadline [send.limited]',
      busy(1438.4),
      { random: 1 },
      [0, 1_438_400],
    ],
    ['needs 2 s for the response [send.limited]', busy(5), { timeoutMs: 7001 }, [0, 5000]],
    ['is not made with less than 2 s left [send.limited]', busy(5), { timeoutMs: 7000 }, [0]],
    [
      'of what was not sent is made at the end [send.unconnected]',
      [notSent, notSent, accepted],
      { timeoutMs: 900 },
      [0, 500, 650],
    ],
  ])('%s', async (_, script, options, times) => {
    for (const request of [CREATE, MESSAGE]) {
      const { at, endedAt } = await submit(script, options, request)
      expect(at).toEqual(times)
      expect(endedAt).toBe(times.at(-1))
    }
  })

  test('is announced with its reason and its delay, in whole seconds, and what is known then is published [report.log.lines] [cancel.killed]', async () => {
    const script = [notSent, errorResponse(429, 30_000), accepted]
    const { lines, published } = await submit(script, { random: 0.1 })
    expect(lines.log).toEqual([
      "The service can't be reached: connect ECONNREFUSED. Retrying in 1 s.",
      'The service refused the create request (429: its message). Retrying in 31 s.',
    ])
    expect(published[1]).toMatchObject({ request: 'none', sent: 'nothing' })
    expect(published[2]).toMatchObject({ request: 'sending' })
  })

  test('is not sent if the delay ends after the deadline [send.limited]', async () => {
    const options = { timeoutMs: MINUTE, frozenMs: MINUTE }
    const { code, error, calls } = await submit([errorResponse(429, 1_000)], options)
    expect(code).toBe('rate-limited')
    expect(error?.message).toMatch(/Tried 1 time\.$/)
    expect(calls).toHaveLength(1)
  })
})

describe("a service that can't be reached [send.unconnected]", () => {
  const LONG = { timeoutMs: 10 * MINUTE }
  const LIMITED = errorResponse(429, 1_000)
  test.each<[string, Script, ScriptedOptions, from: number, to: number]>([
    ['is given up after 2 minutes', forever(notSent), {}, 105_000, 120_000],
    ['is given up soon after slow tries', forever(delayed(10_000, notSent)), {}, 105_000, 130_000],
    ['is given up at an earlier deadline', forever(notSent), { timeoutMs: MINUTE }, 45_000, MINUTE],
    ['is tried to the deadline if it responded', thenUnreachable(LIMITED), LONG, 540_000, 600_000],
  ])('%s', async (_, script, options, from, to) => {
    const { code, endedAt } = await submit(script, options)
    expect(code).toBe('network')
    expect(endedAt).toBeGreaterThan(from)
    expect(endedAt).toBeLessThanOrEqual(to)
  })

  test.each<[string, Script, ScriptedOptions]>([
    ['attempts', [...Array(3).fill(delayed(3 * MINUTE, notSent)), accepted], {}],
    ['a wait', [notSent, notSent, accepted], { frozenMs: 3 * MINUTE }],
  ])('is tried again if the process stood still in %s', async (_, script, options) => {
    expect((await submit(script, options)).code).toBeUndefined()
  })

  test('is tried until the deadline if it responded earlier in the step', async () => {
    const run = createScriptedRun(forever(notSent), { ...LONG, responded: true })
    expect((await sendIn(run)).code).toBe('network')
    expect(run.clock.now()).toBeGreaterThan(9 * MINUTE)
  })
})

describe('the error', () => {
  const NETWORK_ADVICE = 'Check base-url, the proxy variables and the network.'
  const cause = new Error('refused')
  const unreachable = { ...notSent, cause } as ServiceResult

  test.each<[string, Script, number, object]>([
    [
      'says how often it was tried [send.unconnected]',
      forever(unreachable),
      2400,
      {
        code: 'network',
        message: "The service can't be reached: connect ECONNREFUSED. Tried 4 times.",
        advice: NETWORK_ADVICE,
        cause,
      },
    ],
    [
      'counts each try [send.unconnected]',
      forever(unreachable),
      200,
      { message: expect.stringMatching(/Tried 1 time\.$/) },
    ],
    [
      'names the time that the service asks for [send.limited]',
      [errorResponse(429, 1_800_000)],
      MINUTE,
      {
        code: 'rate-limited',
        message:
          'The service refused the create request (429: its message). ' +
          'It asks to wait 30 min, which leaves no time for a response.',
        advice:
          'Re-run later, or start runs less often. Mintlify documents a limit of 100 uses per project per hour.',
      },
    ],
    [
      'does not blame a wait of 0 seconds [send.limited]',
      forever(errorResponse(429, 0)),
      2400,
      { message: expect.stringMatching(/\(429: its message\)\. Tried 1 time\.$/) },
    ],
    [
      'names a connection that hangs until the deadline [output.timed-out]',
      [hangs(false)],
      MINUTE,
      {
        code: 'network',
        message: 'Timed out before the request could be sent.',
        advice: 'Check base-url, the proxy variables and the network, or raise timeout-minutes.',
      },
    ],
    [
      'says that the result is unknown if the action fails while it sends [send.unknown]',
      [
        () => {
          throw cause
        },
      ],
      MINUTE,
      {
        code: 'create-unknown',
        message: expect.stringContaining(
          'its result is unknown: the action failed while sending it. A docs job may exist.',
        ),
        cause,
      },
    ],
  ])('%s', async (_, script, timeoutMs, expected) => {
    const { code, error } = await submit(script, { timeoutMs })
    expect({
      code,
      message: error?.message,
      advice: error?.advice,
      cause: error?.cause,
    }).toMatchObject(expected)
  })

  test('says that the deadline passed before the request [output.timed-out]', async () => {
    const run = createScriptedRun([], { timeoutMs: MINUTE })
    await run.clock.sleep(MINUTE + 1, new AbortController().signal)
    expect((await sendIn(run)).error).toMatchObject({
      code: 'network',
      message: 'Timed out before the request could be sent.',
      advice: expect.stringContaining('raise timeout-minutes'),
    })
    expect(run.calls).toEqual([])
  })
})

test.each<[string, Script, code: string]>([
  ['a request that was sent has an unknown result', [hangs(true)], 'create-unknown'],
  ['a request that was not sent is a network error', [hangs(false)], 'network'],
  [
    'a retry that was not sent leaves the last error',
    [errorResponse(429, 1_000), hangs(false)],
    'rate-limited',
  ],
  ['a retry that was sent is unknown', [errorResponse(429, 1_000), hangs(true)], 'create-unknown'],
])(
  'at the deadline, %s [output.timed-out] [output.sent] [report.true]',
  async (name, script, code) => {
    const { endedAt, facts, ...result } = await submit(script, { timeoutMs: MINUTE })
    expect([result.code, endedAt]).toEqual([code, MINUTE])
    expect(sentIn(facts())).toBe(code === 'create-unknown' ? 'job' : 'nothing')
    expect(facts().isRefused).toBe(name.startsWith('a retry'))
  },
)
