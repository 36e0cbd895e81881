// A whole run against a scripted service: what it sends, what its reader knows, how it ends. One
// story after the other.
import { describe, expect, test } from '@jest/globals'
import type { Job } from '../../src/agent/job.js'
import { createRefusal } from '../../src/agent/problems.js'
import { sentIn } from '../../src/run/facts.js'
import { errorOf, toRunResult } from '../../src/run/result.js'
import { run } from '../../src/run/run.js'
import type { Plan, Task } from '../../src/run/task.js'
import { ActionError } from '../../src/text/errors.js'
import {
  cancelThen,
  createScriptedRun,
  delayed,
  errorResponse,
  forever,
  hangs,
  INPUTS,
  job,
  jobResult,
  LINK,
  MINUTE,
  noResponse,
  notSent,
  type ScriptedResult,
} from './scripted-run.js'

const CREATE: Task = { kind: 'create', prompt: 'Do it' }
const MESSAGE: Extract<Task, { kind: 'message' }> = {
  kind: 'message',
  jobId: 'job-1',
  prompt: 'Do more',
}
const ATTACH: Task = { kind: 'attach', jobId: 'job-1' }
const unlooked = (): Promise<Plan> => Promise.reject(new Error('Nobody should have looked'))
/** What is planned if the docs job no longer exists. */
const GONE: Plan = { kind: 'create', prompt: 'Do more', previousLink: LINK }

async function runTask(
  task: Task,
  script: Iterable<ScriptedResult>,
  { wait = true, cancelAt = Infinity } = {},
) {
  const jobId = task.kind === 'create' ? '' : task.jobId
  const scripted = createScriptedRun(script, { jobId, cancelAt, responded: 'job' in task })
  const result = await run(task, { ...INPUTS, wait }, scripted.tools).catch(toRunResult)
  const requests = scripted.calls.map(({ kind }) => kind).join(' ')
  const code = errorOf(result)?.code
  return {
    ...scripted,
    result,
    /** What was sent, and how it ended. */
    story: `${requests}: ${code === undefined ? result.outcome : `${result.outcome} ${code}`}`,
  }
}

type Row = [what: string, script: Iterable<ScriptedResult>, story: string]

const active = jobResult('active')
const opened = jobResult('completed', { prLink: LINK })
function* thenForever(first: ScriptedResult, rest: ScriptedResult): Iterable<ScriptedResult> {
  yield first
  yield* forever(rest)
}

describe('a job that completed without a pull request [poll.link.late]', () => {
  const completed = jobResult('completed')
  const later = [completed, completed]
  test.each<[string, Task, Iterable<ScriptedResult>, wait: boolean, story: string]>([
    [
      'has its link then, and shows late itself [poll.new-job.grace]',
      CREATE,
      [active, ...Array(4).fill(errorResponse(404)), completed, opened],
      true,
      'create poll poll poll poll poll poll: pr-opened',
    ],
    ['has none', CREATE, [active, ...later], true, 'create poll poll: no-changes'],
    [
      'has its link, after it completed at once',
      CREATE,
      [completed, opened],
      false,
      'create poll: pr-opened',
    ],
    [
      'has its link, if only checked [poll.once]',
      ATTACH,
      [completed, opened],
      false,
      'poll poll: pr-opened',
    ],
    ['was archived', ATTACH, [completed, jobResult('archived')], true, 'poll poll: archived'],
    [
      'gets another job',
      ATTACH,
      [completed, jobResult('completed', { id: 'job-9', prLink: LINK })],
      true,
      'poll poll: no-changes',
    ],
  ])(
    'is asked for once more: it %s [poll.link.late] [cancel.killed]',
    async (_, task, script, wait, story) => {
      const { calls, closes, published, facts, ...ended } = await runTask(task, script, { wait })
      expect(ended.story).toBe(story)
      expect(facts().seen?.job.link).toBe(story.endsWith('pr-opened') ? LINK : undefined)
      const [last = 0, before = 0] = calls.map(({ at }) => at).reverse()
      expect(last - before).toBe(5_000)
      // Servers close a connection that was idle for so long.
      expect(closes).toEqual([calls.length - 1])
      // What is known is published before the wait, in which the step may be killed.
      const known = { jobId: 'job-1', status: 'completed', at: before, calls: calls.length - 1 }
      expect(published).toContainEqual(expect.objectContaining(known))
    },
  )

  test.each<[string, Task, Iterable<ScriptedResult>, wait: boolean, story: string]>([
    [
      'and waited for',
      CREATE,
      [active, completed, active, active, opened],
      true,
      'create poll poll poll poll: pr-opened',
    ],
    [
      'as often as it takes',
      ATTACH,
      [completed, active, completed, jobResult('queued'), completed, opened],
      true,
      'poll poll poll poll poll poll: pr-opened',
    ],
    [
      'also after a message, whose first end has lost its link',
      {
        ...MESSAGE,
        job: job('completed', { prLink: LINK }),
      },
      [active, completed, active, opened],
      true,
      'message poll poll poll: pr-opened',
    ],
    [
      'and only told, if it was only checked',
      ATTACH,
      [completed, active],
      false,
      'poll poll: started',
    ],
    ['to the deadline', ATTACH, thenForever(completed, active), true, 'timed-out'],
  ])(
    'is active if the next answer says so, %s [poll.link.late]',
    async (_, task, script, wait, story) => {
      const ended = await runTask(task, script, { wait })
      expect(ended.story).toMatch(RegExp(`${story}$`))
      expect(ended.facts().seen?.job.link).toBe(story.endsWith('pr-opened') ? LINK : undefined)
    },
  )

  test('is not asked for again after the last poll', async () => {
    const script = [active, delayed(30 * MINUTE - 5_000, noResponse), completed]
    expect((await runTask(CREATE, script)).story).toBe('create poll poll: no-changes')
  })

  test('is left to the next attempt if the step is cancelled before it could ask [poll.link.late] [cancel.first]', async () => {
    const { story, clock } = await runTask(ATTACH, [completed, hangs(false)], { cancelAt: 2_000 })
    expect([story, clock.now()]).toEqual(['poll poll: cancelled', 2_000])
  })

  test('has its link, also if the step is cancelled while that comes', async () => {
    const { story } = await runTask(ATTACH, [completed, cancelThen(opened)])
    expect(story).toBe('poll poll: pr-opened')
  })
})

describe('a step that messages a job [poll.stale-end]', () => {
  const changed = jobResult('completed', { prLink: `${LINK}0` })
  const failed = jobResult('failed')
  const POLLS = 'message poll poll poll'
  test.each<Row>([
    ['in the response', [opened, opened, active, failed], `${POLLS}: failed`],
    ['seen before', [active, opened, active, failed], `${POLLS}: failed`],
    ['in the response, not from before', [changed, changed, active, opened], `${POLLS}: pr-opened`],
    ['unless it differs from the one seen before', [active, changed], 'message poll: pr-opened'],
  ])(
    'does not end with the end from before the message: %s [poll.stale-end]',
    async (_, script, story) => {
      const known = job('completed', { prLink: LINK })
      expect((await runTask({ ...MESSAGE, job: known }, script)).story).toBe(story)
    },
  )

  test('says so if another docs job answers [send.no-job]', async () => {
    const other = jobResult('active', { id: 'job-9' })
    const { story, facts } = await runTask(MESSAGE, [other, active, opened])
    expect(story).toBe('message poll poll: pr-opened')
    expect(facts().notes).toEqual([expect.stringContaining('another docs job: "job-9".')])
  })

  test.each([
    ['tells no end if a poll follows, as it may be the earlier one', true, []],
    ['tells an end if no poll follows', false, ['completed']],
  ])('%s [poll.stale-end]', async (_, wait, statuses) => {
    const script = [jobResult('completed'), hangs(true), hangs(true)]
    expect((await runTask(MESSAGE, script, { wait })).reported).toEqual(statuses)
  })
})

describe('a step that messages a remembered job [send.message.ended]', () => {
  const newJob = (status: string) => jobResult(status, { id: 'job-2' })
  const NEW = [newJob('active'), newJob('failed')]

  const ended = job('completed', { prLink: LINK })
  const running = job('active')
  const plan = (known: Job | undefined, look = unlooked): Plan => ({
    ...MESSAGE,
    job: known,
    previousLink: LINK,
    look,
  })

  /** @param looks what is planned, each time when the step looks at the docs job again */
  async function follow(
    known: Job | undefined,
    script: Iterable<ScriptedResult>,
    looks: readonly Plan[] = [],
  ) {
    const answers = [...looks]
    const look = async (): Promise<Plan> => {
      const answer = answers.shift()
      if (answer === undefined) throw new Error('Nobody should have looked')
      return answer.kind === 'message' ? plan(answer.job, look) : answer
    }
    const run = await runTask(plan(known, look) as Task, script)
    expect(answers).toEqual([])
    return run
  }

  const again = (times: number, known = ended) => Array(times).fill(plan(known))

  const refused = (status: number, times = 1) => Array(times).fill(errorResponse(status))
  const words = (status: number) => `The service refused the message (${status}: its message).`
  const looks = (status: number, seconds: number) =>
    `${words(status)} Looking at the docs job again in ${seconds} s.`
  const EXISTS = `${words(404)} But the docs job exists: sending the message once more.`
  const ENDED =
    'The earlier docs job has ended and takes no more messages: a new one takes its place.'

  test.each<[string, refusals: ScriptedResult[], looks: Plan[], log: string[]]>([
    ['is gone [send.message.gone]', refused(404), [GONE], []],
    ['is gone by the next try [send.look-again]', refused(429, 2), [...again(1), GONE], []],
    ['is busy, and gone by the next try [send.look-again]', refused(409), [GONE], []],
    [
      'has ended and answers 404 twice [send.message.gone]',
      refused(404, 2),
      again(1),
      [EXISTS, ENDED],
    ],
    ['has ended and is busy three times', refused(409, 3), again(3), [looks(409, 2), ENDED]],
    [
      'has ended and is busy three times, after failures of other kinds',
      [notSent, ...refused(429), ...refused(409, 3)],
      again(4),
      [looks(409, 8), ENDED],
    ],
    [
      'has ended and refuses it for good, also when it is looked at again',
      refused(410),
      again(1),
      [looks(410, 1), ENDED],
    ],
    [
      'has ended and refuses it for good, whatever Retry-After says',
      [errorResponse(410, 3_600_000)],
      again(1),
      [looks(410, 1), ENDED],
    ],
    [
      'has ended by the next try, and is busy three times then [send.look-again]',
      refused(409, 4),
      [...again(1, running), ...again(3)],
      [looks(409, 4), ENDED],
    ],
  ])(
    'creates a new one if that %s [send.message.ended] [memory.run.open-pull] [cancel.killed]',
    async (_, refusals, looks, log) => {
      const tries = refusals.length
      const script = [...refusals, ...NEW]
      const { story, calls, lines, placeholders, facts, published } = await follow(
        ended,
        script,
        looks,
      )
      expect(story).toBe(`${'message '.repeat(tries)}create poll: failed`)
      expect(calls).toMatchObject([
        ...Array(tries).fill({ jobId: 'job-1', prompt: 'Do more' }),
        { prompt: 'Do more' },
        { jobId: 'job-2' },
      ])
      expect(log.length > 0 ? lines.log.slice(-log.length) : log).toEqual(log)
      expect(placeholders).toEqual([tries])
      expect(published).toContainEqual(
        expect.objectContaining({ calls: tries, jobId: '', request: 'sending' }),
      )
      expect(facts()).toMatchObject({ jobId: 'job-2', previousLink: LINK })
      expect(sentIn(facts())).toBe('job')
    },
  )

  const BUSY = 'message message message message poll poll: pr-opened'
  const UNKNOWN = 'message message: error create-unknown'
  const FOUND = 'message message poll poll: pr-opened'
  const NOT_FOUND = 'message message: error not-found'
  const LATER = 'message poll poll poll poll: error not-found'
  test.each<[string, Job | undefined, Iterable<ScriptedResult>, story: string, looks?: Plan[]]>([
    ['after a 401 [send.message.ended]', ended, [errorResponse(401)], 'message: error auth'],
    [
      'after no response [send.message.ended]',
      ended,
      [noResponse],
      'message: error create-unknown',
    ],
    [
      'after a cancel [send.message.gone]',
      ended,
      [cancelThen(errorResponse(404))],
      'message: cancelled',
    ],
    [
      'after a cancel, if nobody knows its result [cancel.in-flight]',
      ended,
      [cancelThen(noResponse)],
      'message: cancelled create-unknown',
    ],
    [
      'of an active job that refuses it [send.message.ended]',
      running,
      [errorResponse(410)],
      'message: error rejected',
    ],
    [
      'of unknown jobs that refuse it [send.message.ended]',
      undefined,
      [errorResponse(410)],
      'message: error rejected',
    ],
    [
      'of an active job that is busy three times [send.message.ended]',
      running,
      [...refused(409, 3), active, active, opened],
      BUSY,
      again(3, running),
    ],
    [
      'of one that has ended, and is busy with the message of somebody else [send.look-again]',
      ended,
      [...refused(409, 3), active, active, opened],
      BUSY,
      again(3, running),
    ],
    [
      'of one that has ended, refuses it, and turns out to be active [send.look-again]',
      ended,
      [...refused(410), ...refused(400), ...refused(422), active, active, opened],
      BUSY,
      again(3, running),
    ],
    [
      'if its pull request was closed while the message waited [send.look-again]',
      ended,
      refused(429),
      'message: skipped',
      [{ kind: 'skip', skip: { reason: 'it was closed' } }],
    ],
    [
      'if its pull request was closed while a new one had to wait [send.look-again]',
      ended,
      [errorResponse(410), errorResponse(429)],
      'message create: skipped',
      [...again(1), { kind: 'skip', skip: { reason: 'it was closed' } }],
    ],
    [
      'if the request for a new one gets a 404 [send.refused.final]',
      ended,
      [errorResponse(410), errorResponse(404)],
      'message create: error not-found',
      again(1),
    ],
    [
      'of one that has ended, and is busy while a new one had to wait [send.look-again]',
      ended,
      [errorResponse(410), errorResponse(429), active, active, opened],
      'message create message poll poll: pr-opened',
      [...again(1), ...again(1, running)],
    ],
    [
      'of one that is found [send.message.gone]',
      running,
      [...refused(404), active, active, opened],
      FOUND,
      again(1, running),
    ],
    [
      'of one that is found, and then is not [send.message.gone]',
      running,
      refused(404, 2),
      NOT_FOUND,
      again(1, running),
    ],
    [
      'of one that is gone only later [poll.refused]',
      ended,
      thenForever(active, errorResponse(404)),
      LATER,
    ],
    [
      'after a second unknown result [send.message.gone]',
      ended,
      [errorResponse(404), noResponse],
      UNKNOWN,
      again(1),
    ],
  ])('creates none %s [output.error-code]', async (_, known, script, story, looks = []) => {
    expect((await follow(known, script, looks)).story).toBe(story)
  })

  test('creates none if the job turns out to be active, and refuses the message again [send.message.ended]', async () => {
    expect((await follow(ended, refused(404, 2), again(1, running))).story).toBe(NOT_FOUND)
  })

  test('goes by what its last look has shown: what it sends, and the end that is not its own [send.look-again] [poll.stale-end]', async () => {
    const others = { prLink: `${LINK}1` }
    const known = plan(job('completed', others))
    const lookAgain = async () => ({ ...known, prompt: 'Do more there' })
    const look = async () => ({ ...known, prompt: 'Do more here', look: lookAgain })
    const { story, calls } = await runTask(plan(job('completed'), look) as Task, [
      ...refused(409, 2),
      active,
      jobResult('completed', others),
      active,
      opened,
    ])
    expect(story).toBe('message message message poll poll poll: pr-opened')
    const sent = ['Do more', 'Do more here', 'Do more there']
    expect(calls.flatMap(({ prompt }) => prompt ?? [])).toEqual(sent)
  })

  test('asks for a new one as its last look has shown [send.look-again]', async () => {
    const now: Plan = { kind: 'create', prompt: 'Do it there', previousLink: `${LINK}0` }
    const look = async (): Promise<Plan> => plan(ended, async () => now)
    const script = [...refused(410), ...refused(429), ...NEW]
    const { story, calls, facts } = await runTask(plan(ended, look) as Task, script)
    expect(story).toBe('message create create poll: failed')
    expect(calls.flatMap(({ prompt }) => prompt ?? [])).toEqual([
      'Do more',
      'Do more',
      'Do it there',
    ])
    expect(facts().previousLink).toBe(`${LINK}0`)
  })

  test('creates none of one that is busy to the deadline [send.look-again]', async () => {
    const look = async (): Promise<Plan> => plan(running, look)
    const { story, calls } = await runTask(plan(ended, look) as Task, forever(errorResponse(409)))
    expect(story).toMatch(/: error rejected$/)
    expect(calls.at(-1)?.at).toBeGreaterThan(25 * MINUTE)
  })

  test('creates none in place of a given one that is busy three times [send.message.ended]', async () => {
    const script = [...refused(409, 3), active, active, opened]
    expect((await runTask(MESSAGE, script)).story).toBe(BUSY)
  })

  test('ends with the refusal if nobody can tell whether the job is gone [send.message.gone] [send.look-again]', async () => {
    const look = () => Promise.reject(new ActionError('network', 'Timed out.', 'Later.'))
    const task = plan(ended, look) as Task
    const codes = { 404: 'not-found', 410: 'rejected', 429: 'rate-limited' }
    for (const [status, code] of Object.entries(codes)) {
      const { result } = await runTask(task, [errorResponse(Number(status), 1_000)])
      const message = expect.stringMatching(/^The service refused .*its message\)\.(?: Tried.*)?$/)
      expect(result).toMatchObject({ outcome: 'error', error: { code, message } })
    }
  })

  test('ends with what else a look has met [send.look-again]', async () => {
    const error = createRefusal(errorResponse(400), { kind: 'poll' })
    const task = plan(ended, () => Promise.reject(error)) as Task
    for (const status of [404, 409, 410, 429])
      expect((await runTask(task, [errorResponse(status)])).result).toEqual({
        outcome: 'error',
        error,
      })
  })
})

describe('a step that only waits [input.task] [poll.once]', () => {
  test.each<[string, Job, wait: boolean, story: string]>([
    ['has ended [poll.link.late]', job('completed', { prLink: LINK }), true, ': pr-opened'],
    ['is active, and it need not wait', job('active'), false, ': started'],
    ['has failed, and it need not wait', job('failed'), false, ': failed'],
  ])('asks for nothing if the service just said that the job %s', async (_, seen, wait, story) => {
    expect((await runTask({ ...ATTACH, job: seen }, [], { wait })).story).toBe(story)
  })
})

test.each([
  ['a job that is checked is asked for once [poll.once]', ATTACH, active, 'poll: started'],
  ['a cancel stops what was not sent [cancel.before-post]', CREATE, notSent, 'create: cancelled'],
])('%s', async (_, task, result, story) => {
  expect((await runTask(task, [result], { wait: false, cancelAt: 100 })).story).toBe(story)
})

test.each([true, false])(
  'a cancel loses no job that the response has (wait: %s) [cancel.in-flight] [cancel.first]',
  async (wait) => {
    const { story, published } = await runTask(CREATE, [cancelThen(active)], { wait })
    expect(story).toBe('create: cancelled')
    expect(published.at(-1)).toMatchObject({ jobId: 'job-1', status: 'active' })
  },
)
