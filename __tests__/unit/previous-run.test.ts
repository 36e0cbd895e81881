// What an earlier run or attempt left: which job is continued, waited for or replaced.
import { describe, expect, test } from '@jest/globals'
import { ActionError } from '../../src/errors.js'
import type { RunEnvironment } from '../../src/event/event.js'
import type { Task } from '../../src/inputs/inputs.js'
import type { DocsPull } from '../../src/memory/docs-pull.js'
import type { StoredState } from '../../src/memory/marker.js'
import {
  continueOrCreate,
  findPreviousRun,
  type PreviousRun,
  type PreviousRunContext,
} from '../../src/memory/previous-run.js'
import type { StateWriter } from '../../src/memory/writer.js'
import {
  createScriptedRun,
  errorResponse,
  forever,
  INPUTS,
  job,
  jobResult,
  LINK,
  noResponse,
  notSent,
  type ScriptedResult,
  settle,
} from './scripted-run.js'

const OLD_LINK = 'https://github.com/your-org/docs/pull/3'
const UNKNOWN_RESULT =
  "The result of the last create request is unknown: a job may exist. Check the agent's jobs in the dashboard."

/** What run 8 stored; this run is run 9, in its first attempt. */
const stored = (state: string, more: Partial<StoredState> = {}): StoredState => ({
  jobId: 'job-1',
  link: OLD_LINK,
  run: '8',
  attempt: 1,
  state,
  ...more,
})
const ofThisRun = (state: string, more: Partial<StoredState> = {}): StoredState =>
  stored(state, { run: '9', ...more })

const GITHUB_ERROR = new ActionError('github', 'GitHub refused.', 'Set permissions.')

type Stored = StoredState | 'unverified' | 'nothing' | Error

function writer(what: Stored, decides: boolean) {
  const asked: boolean[] = []
  const all = {
    asked,
    stopped: false,
    decides,
    stop: () => {
      all.stopped = true
    },
    find: async (required: boolean) => {
      asked.push(required)
      if (what instanceof Error) throw what
      const unverified = what === 'nothing' ? 0 : 2 // Copies, beside what was verified.
      return { state: typeof what === 'string' ? undefined : what, unverified }
    },
  }
  return all
}

interface Options {
  comment?: Stored
  check?: Stored
  /** Whether the comment decides. */
  decides?: boolean
  attempt?: number
  dryRun?: boolean
  task?: Task
  script?: Iterable<ScriptedResult>
}

async function find({
  comment,
  check,
  decides = true,
  attempt = 1,
  dryRun = false,
  task = INPUTS.task,
  script = [],
}: Options = {}) {
  const scripted = createScriptedRun(script, { timeoutMs: 60_000 })
  const writers = {
    comment: comment && writer(comment, decides),
    check: check && writer(check, false),
  }
  const context: PreviousRunContext = {
    inputs: { ...INPUTS, task, dryRun, timeoutMs: 60_000 },
    run: { runId: '9', runAttempt: String(attempt) } as RunEnvironment,
    service: scripted.service,
    ...scripted.ports,
    ...(writers as unknown as Record<keyof typeof writers, StateWriter | undefined>),
  }
  const found = await settle(findPreviousRun(context))
  const { jobId, previousLink } = scripted.progress
  return { ...scripted, ...found, writers, followed: [jobId, previousLink] }
}

const ATTACH: Task = { kind: 'attach', jobId: 'job-1' }

const active = expect.objectContaining({ status: 'active' })

describe('a first attempt', () => {
  test('continues the pull request that the comment names without a job', async () => {
    const state = stored('failed', { jobId: '' })
    const { value, calls, followed } = await find({ comment: state })
    expect(value).toEqual({ state, job: undefined, unfinished: false })
    expect(calls).toEqual([])
    expect(followed).toEqual(['', ''])
  })

  test('gets the job that the comment names without a pull request', async () => {
    const state = stored('active', { link: '' })
    const { value } = await find({ comment: state, script: [jobResult('active')] })
    expect(value).toEqual({ state, job: active, unfinished: false })
  })

  test('leaves the warning of an unknown status to the polls that follow', async () => {
    const { value, lines } = await find({
      comment: stored('active'),
      script: [jobResult('queued')],
    })
    expect(value).toMatchObject({ job: { rawStatus: 'queued' } })
    expect(lines.warn).toEqual([])
  })

  test('continues the job that the comment names, and shows its link', async () => {
    const state = stored('pr-opened')
    const { value, followed, calls, lines, writers, reportedStatuses } = await find({
      comment: state,
      check: 'nothing',
      script: [jobResult('active')],
    })
    expect(value).toEqual({ state, job: active, unfinished: false })
    expect(followed).toEqual(['job-1', OLD_LINK])
    expect(calls).toEqual([{ kind: 'poll', at: 0, jobId: 'job-1' }])
    expect(reportedStatuses).toEqual([])
    expect([lines.log, lines.warn]).toEqual([[], []])
    expect([writers.comment?.asked, writers.check?.asked]).toEqual([[true], [false]])
  })

  test('asks once, and retries what fails', async () => {
    const script = [noResponse, jobResult('active')]
    const { value, calls } = await find({ comment: stored('active'), script })
    expect(value).toMatchObject({ job: active })
    expect(calls).toHaveLength(2)
  })

  test.each([
    ['without either', {}],
    ['if nothing is stored', { comment: 'nothing', check: 'nothing' }],
    ['if the comment decides nothing', { comment: stored('active'), decides: false }],
    ['if the comment names no job', { comment: stored('skipped', { jobId: '', link: '' }) }],
  ] as const)('has no previous run %s', async (_, options) => {
    const { value, message, calls, lines } = await find(options)
    expect([value, message]).toEqual([undefined, undefined])
    expect(calls).toEqual([])
    expect([lines.log, lines.warn]).toEqual([[], []])
  })

  test('reads no comment that decides nothing', async () => {
    expect((await find({ comment: stored('active'), decides: false })).writers.comment?.asked).toEqual([])
  })

  test('does not mind a check that cannot be read, as writing it will say so', async () => {
    const { value } = await find({
      check: GITHUB_ERROR,
      comment: stored('active'),
      script: [jobResult('active')],
    })
    expect(value).toMatchObject({ job: active })
  })

  test.each([
    ['a check that the action itself fails to read', { check: new TypeError('x is not a function') }],
    ['a comment that cannot be read', { comment: GITHUB_ERROR }],
  ])('ends with the error of %s', async (_, options) => {
    const { message } = await find(options)
    expect(message).toBe(Object.values(options)[0]?.message)
  })
})

describe('a re-run', () => {
  test.each(['active', 'sending', 'unknown', 'timed-out', 'cancelled', 'error', 'started', 'completed'])(
    'waits for the job of the attempt before that ended as %s',
    async (last) => {
      const state = ofThisRun(last)
      const { value, followed, writers } = await find({
        attempt: 2,
        check: state,
        comment: stored('pr-opened', { jobId: 'job-0' }),
        script: [jobResult('active')],
      })
      expect(value).toEqual({ state, job: active, unfinished: true })
      expect(followed).toEqual(['job-1', OLD_LINK])
      expect(writers.check?.asked).toEqual([true])
    },
  )

  test.each(['pr-opened', 'no-changes', 'failed', 'archived', 'unsent', 'skipped'])(
    'of an attempt that ended as %s is like a new run',
    async (last) => {
      const comment = stored('pr-opened', { jobId: 'job-0' })
      const script = [jobResult('active', { id: 'job-0' })]
      const { value, calls } = await find({ attempt: 2, check: ofThisRun(last), comment, script })
      expect(value).toEqual({ state: comment, job: active, unfinished: false })
      expect(calls).toMatchObject([{ jobId: 'job-0' }])
    },
  )

  test('finds the job in the comment if the check lacks it', async () => {
    const check = ofThisRun('active', { jobId: '' })
    const comment = ofThisRun('active')
    const { value, lines } = await find({ attempt: 2, check, comment, script: [jobResult('active')] })
    expect(value).toEqual({ state: comment, job: active, unfinished: true })
    expect(lines.warn).toEqual([])
  })

  test('that knows of no job has none to wait for', async () => {
    const { value, message, calls } = await find({ attempt: 2, check: ofThisRun('unknown', { jobId: '' }) })
    expect([value, message]).toEqual([undefined, undefined])
    expect(calls).toEqual([])
  })

  test('does not count what another run stored in the check', async () => {
    const { value } = await find({ attempt: 2, check: stored('active') })
    expect(value).toBeUndefined()
  })

  test('whose job no longer exists has nothing to wait for', async () => {
    const check = ofThisRun('active')
    const { value, followed } = await find({ attempt: 2, check, script: [errorResponse(404)] })
    expect(value).toEqual({ state: check, job: undefined, unfinished: false })
    expect(followed).toEqual(['', ''])
  })

  test('whose job no longer exists continues that of the comment, and asks for each job once', async () => {
    const comment = stored('active', { jobId: 'job-0' })
    const script = [errorResponse(404), jobResult('active', { id: 'job-0' })]
    const other = await find({ attempt: 2, check: ofThisRun('active'), comment, script })
    expect(other.value).toEqual({ state: comment, job: active, unfinished: false })
    const same = await find({
      attempt: 2,
      check: ofThisRun('active'),
      comment: stored('active'),
      script: [errorResponse(404)],
    })
    expect(same.value).toMatchObject({ job: undefined, unfinished: false })
    expect(same.calls).toHaveLength(1)
  })

  test.each<Task>([
    { kind: 'attach', jobId: 'job-2' },
    { kind: 'message', jobId: 'job-2', prompt: 'Do it' },
  ])('that is given another job now is about that one: %j', async (task) => {
    const { value, calls } = await find({ attempt: 2, check: ofThisRun('timed-out'), task })
    expect([value, calls]).toEqual([undefined, []])
  })

  test.each<Task>([ATTACH, { kind: 'message', jobId: 'job-1', prompt: 'Do it' }])(
    'that is given the same job waits for it: %j',
    async (task) => {
      const script = [jobResult('active')]
      const { value } = await find({ attempt: 2, check: ofThisRun('timed-out'), task, script })
      expect(value).toMatchObject({ unfinished: true })
    },
  )

  test.each([
    ['GitHub', GITHUB_ERROR],
    ['the action itself', new TypeError('x is not a function')],
  ])('ends if the check cannot be read because of %s', async (_, check) => {
    expect((await find({ attempt: 2, check })).message).toBe(check.message)
  })
})

describe('an earlier create request whose result is unknown', () => {
  const sent = (state: string, run = '8') => stored(state, { jobId: '', run })

  test.each([
    [{ comment: sent('sending') }, [UNKNOWN_RESULT]],
    [{ comment: sent('unknown') }, [UNKNOWN_RESULT]],
    [{ comment: sent('unsent') }, []],
    [{ comment: sent('skipped') }, []],
    [{ attempt: 2, check: sent('unknown', '9') }, [UNKNOWN_RESULT]],
    [{ attempt: 2, check: sent('unsent', '9'), comment: sent('unknown') }, []],
    [{ attempt: 2, check: sent('unknown', '9'), comment: stored('active') }, [UNKNOWN_RESULT]],
  ])('%j is warned about with %j', async (options, warnings) => {
    const { lines } = await find({ ...options, script: [jobResult('active')] })
    expect(lines.warn).toEqual(warnings)
  })
})

describe('what this very attempt stored', () => {
  const text = (what: string, wait = '') =>
    `job-key: a step of this very attempt, with the same workflow, job, step ID and project, has already ${what}. ` +
    `Nothing was sent this time. If it is another step or matrix leg, give each a job-key of its own.${wait}`
  const USED = text('used job "job-1"', ' To wait for that job, set job-id: job-1 and no prompt.')

  test.each([
    ['comment', 1, ofThisRun('active'), USED],
    ['check', 1, ofThisRun('pr-opened'), USED],
    ['check', 3, ofThisRun('active', { attempt: 3 }), USED],
    ['comment', 1, ofThisRun('sending', { jobId: '' }), text('sent a request')],
  ])("in the %s, in attempt %d, is another step's: %j", async (place, attempt, state, message) => {
    const other = place === 'comment' ? 'check' : 'comment'
    const { code, advice, ...rest } = await find({ attempt, [place]: state, [other]: 'nothing' })
    expect({ code, message: rest.message }).toEqual({ code: 'input', message })
    expect(advice).toBe('Fix the inputs and run it again. Nothing was sent.')
    expect([rest.writers.comment?.stopped, rest.writers.check?.stopped]).toEqual([true, true])
    expect(rest.calls).toEqual([])
  })

  test.each(['comment', 'check'])('ends the step with the %s alone, too', async (place) => {
    expect((await find({ [place]: ofThisRun('active') })).code).toBe('input')
  })

  test.each(['unsent', 'skipped'])('may be that nothing was sent (%s)', async (state) => {
    const { value, message } = await find({ comment: ofThisRun(state, { jobId: '', link: '' }) })
    expect([value, message]).toEqual([undefined, undefined])
  })

  test.each([
    { kind: 'attach', jobId: 'job-2' },
    { kind: 'message', jobId: 'job-1', prompt: 'More' },
  ] as const)('keeps a step from waiting for another job, and from a message: %j', async (task) => {
    expect(await find({ check: ofThisRun('started'), task })).toMatchObject({ code: 'input' })
  })

  test('does not keep a step from waiting for its job, as the refusal advises', async () => {
    const { value, message, calls } = await find({ check: ofThisRun('started'), task: ATTACH })
    expect([value, message, calls]).toEqual([undefined, undefined, []])
  })

  test('is not what another attempt or another run stored', async () => {
    const other = await find({
      attempt: 2,
      comment: stored('active', { attempt: 2 }),
      script: [jobResult('active')],
    })
    expect(other.value).toMatchObject({ unfinished: false })
    expect(other.writers.comment?.stopped).toBe(false)
  })
})

describe('the remembered job', () => {
  test('is not requested in a dry run', async () => {
    const { value, calls } = await find({ comment: stored('active'), dryRun: true })
    expect(value).toMatchObject({ job: 'not requested' })
    expect(calls).toEqual([])
  })

  test('that has ended is continued all the same', async () => {
    const { value } = await find({ comment: stored('active'), script: [jobResult('completed')] })
    expect(value).toMatchObject({ job: { status: 'completed' } })
  })

  test('that cannot be read until the deadline ends the step', async () => {
    const { code, message, advice } = await find({
      comment: stored('active'),
      script: forever(errorResponse(503)),
    })
    expect({ code, message, advice }).toEqual({
      code: 'network',
      message: 'Timed out while checking the earlier job. Nothing was sent.',
      advice: 'Run it again later, or raise timeout-minutes.',
    })
  })

  test.each([
    [[errorResponse(401)], 'auth'],
    [forever(notSent), 'network'],
  ])('that is refused ends the step: %#', async (script, code) => {
    expect(await find({ comment: stored('active'), script })).toMatchObject({ code })
  })
})

describe('continuing', () => {
  const CONTINUE = (link: string): string =>
    `Do it\n\nAn earlier job has already opened the pull request ${link}, which is still open. ` +
    'Continue there: add to its branch, and open no second pull request.'

  const composeWith = (...more: string[]): string => ['Do it', ...more].join('\n\n')

  async function task(previousJob: PreviousRun['job'], pull: DocsPull, link = OLD_LINK, jobId = 'job-1') {
    const scripted = createScriptedRun([], { jobId })
    const links: string[] = []
    const context = {
      ...scripted.ports,
      readDocsPull: async (read: string) => {
        links.push(read)
        return pull
      },
    }
    const previous = {
      state: stored('active', { jobId, link }),
      job: previousJob,
      unfinished: false,
    }
    const result = await continueOrCreate(previous, composeWith, context)
    const { progress, lines } = scripted
    return {
      task: result,
      links,
      log: lines.log,
      followed: progress.jobId,
      kept: progress.previousLink,
    }
  }

  const message = (previousJob: unknown, newPrompt: string, previousLink = '') => ({
    kind: 'message',
    jobId: 'job-1',
    prompt: 'Do it',
    previousJob,
    forNewJob: { prompt: newPrompt, previousLink },
  })

  test('a job that was not requested gets the message', async () => {
    expect(await task('not requested', { state: 'closed' })).toEqual({
      task: { kind: 'message', jobId: 'job-1', prompt: 'Do it' },
      links: [],
      log: [],
      followed: 'job-1',
      kept: '',
    })
  })

  test.each([
    [job('active'), OLD_LINK],
    [job('completed', { prLink: LINK }), LINK],
  ])(
    'a job with an open pull request gets the message, and a new one would continue there',
    async (old, link) => {
      expect(await task(old, { state: 'open' })).toEqual({
        task: message(old, CONTINUE(link), link),
        links: [link],
        log: [],
        followed: 'job-1',
        kept: link,
      })
    },
  )

  test('a pull request that cannot be read counts as open, which is logged', async () => {
    const old = job('active')
    expect(await task(old, { state: 'unknown', reason: 'It is on another host.' })).toEqual({
      task: message(old, 'Do it'),
      links: [OLD_LINK],
      log: [
        `Can't tell whether the job's pull request ${OLD_LINK} is still open, so it counts as open. It is on another host.`,
      ],
      followed: 'job-1',
      kept: OLD_LINK,
    })
  })

  test('a job without a pull request gets the message, and none is read', async () => {
    const old = job('completed')
    expect(await task(old, { state: 'closed' }, '')).toEqual({
      task: message(old, 'Do it'),
      links: [],
      log: [],
      followed: 'job-1',
      kept: '',
    })
  })

  test.each([
    [undefined, { state: 'open' }, 'no longer exists', CONTINUE(OLD_LINK)],
    [undefined, { state: 'closed' }, 'no longer exists', 'Do it'],
    [job('failed'), { state: 'open' }, 'failed', CONTINUE(OLD_LINK)],
    [job('archived'), { state: 'unknown', reason: 'No.' }, 'was archived', 'Do it'],
    [job('completed'), { state: 'closed' }, 'has a pull request that was merged or closed', 'Do it'],
    [job('active'), { state: 'closed' }, 'has a pull request that was merged or closed', 'Do it'],
  ] as const)('%#: a job that is of no use is replaced', async (old, pull, reason, prompt) => {
    expect(await task(old, pull)).toEqual({
      task: { kind: 'create', prompt },
      links: [OLD_LINK],
      log: [`The earlier job ${reason}: creating a new one.`],
      followed: '',
      kept: prompt === 'Do it' ? '' : OLD_LINK,
    })
  })

  test('if only the pull request is remembered, the new job continues there', async () => {
    expect(await task(undefined, { state: 'open' }, OLD_LINK, '')).toEqual({
      task: { kind: 'create', prompt: CONTINUE(OLD_LINK) },
      links: [OLD_LINK],
      log: [],
      followed: '',
      kept: OLD_LINK,
    })
  })
})
