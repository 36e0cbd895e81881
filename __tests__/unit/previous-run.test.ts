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

/** What run 8 stored; this run is run 9, in its first attempt. */
const stored = (state: string, more: Partial<StoredState> = {}): StoredState => ({
  jobId: 'job-1',
  link: OLD_LINK,
  run: '8',
  attempt: 1,
  state,
  ...more,
})
const ofThisRun = (state: string, more: Partial<StoredState> = {}) => stored(state, { run: '9', ...more })
const NO_JOB = { jobId: '', link: '' }

type Stored = StoredState | 'nothing' | Error

function writer(what: Stored | undefined, decides: boolean) {
  if (what === undefined) return undefined
  const all = {
    decides,
    asked: [] as boolean[],
    stopped: false,
    stop: () => {
      all.stopped = true
    },
    find: async (required: boolean) => {
      all.asked.push(required)
      if (what instanceof Error) throw what
      return { state: what === 'nothing' ? undefined : what, unverified: false }
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

async function find({ decides = true, attempt = 1, dryRun = false, task = INPUTS.task, ...more }: Options) {
  const scripted = createScriptedRun(more.script ?? [jobResult('active')], { timeoutMs: 60_000 })
  const writers = { comment: writer(more.comment, decides), check: writer(more.check, false) }
  const { value, code, error } = await settle(
    findPreviousRun({
      inputs: { ...INPUTS, task, dryRun, timeoutMs: 60_000 },
      run: { runId: '9', runAttempt: attempt } as RunEnvironment,
      service: scripted.service,
      ...scripted.ports,
      ...(writers as unknown as Pick<PreviousRunContext, 'comment' | 'check'>),
    }),
  )
  const { jobId, previousLink } = scripted.progress
  return {
    lines: scripted.lines,
    reported: scripted.reported,
    writers,
    value,
    error,
    /** What was found, which jobs were asked for, and which one is followed. */
    story: [
      error === undefined ? describePrevious(value) : (code ?? error.message),
      scripted.calls.map(({ jobId }) => jobId).join(' '),
      [jobId, previousLink].filter(Boolean).join(' '),
    ],
  }
}

function describePrevious(previous: PreviousRun | undefined): string {
  if (previous === undefined) return 'nothing'
  const { state, job, unfinished } = previous
  const now = job === undefined ? 'gone' : job === 'not requested' ? job : job.rawStatus
  return `${unfinished ? 'waits for' : 'continues'} ${state.jobId || 'no job'}, ${state.state}: ${now}`
}

type Story = [found: string, asked: string, followed: string]
const NOTHING: Story = ['nothing', '', '']
const FOLLOWED = `job-1 ${OLD_LINK}`

const ATTACH: Task = { kind: 'attach', jobId: 'job-1' }
const MESSAGE: Task = { kind: 'message', jobId: 'job-1', prompt: 'More' }
const GITHUB_ERROR = new ActionError('github', 'GitHub refused.', 'Set permissions.')
const BUG = new TypeError('x is not a function')
/** A 404 is believed when it is repeated. */
const gone = Array(4).fill(errorResponse(404))
const asked = (jobId: string, count = 4): string => Array(count).fill(jobId).join(' ')

describe('a first attempt', () => {
  const comment = stored('active')
  const CONTINUES: Story = ['continues job-1, active: active', 'job-1', FOLLOWED]
  test.each<[string, Options, Story]>([
    ['the job in the comment', { comment, check: 'nothing' }, CONTINUES],
    [
      'it without a pull request',
      { comment: stored('a', { link: '' }) },
      ['continues job-1, a: active', 'job-1', 'job-1'],
    ],
    ['only a pull request', { comment: stored('a', { jobId: '' }) }, ['continues no job, a: gone', '', '']],
    [
      'an ended job',
      { comment, script: [jobResult('completed')] },
      ['continues job-1, active: completed', 'job-1', FOLLOWED],
    ],
    [
      'a job at the second request',
      { comment, script: [noResponse, jobResult('active')] },
      ['continues job-1, active: active', 'job-1 job-1', FOLLOWED],
    ],
    [
      'a job that is gone',
      { comment, script: gone },
      ['continues job-1, active: gone', asked('job-1'), FOLLOWED],
    ],
    [
      'a job that seemed to be gone',
      { comment, script: [...gone.slice(1), jobResult('active')] },
      ['continues job-1, active: active', asked('job-1'), FOLLOWED],
    ],
    [
      'a job, without asking in a dry run',
      { comment, dryRun: true },
      ['continues job-1, active: not requested', '', FOLLOWED],
    ],
    ['a job although the check cannot be read', { comment, check: GITHUB_ERROR }, CONTINUES],
    ['nothing without either', {}, NOTHING],
    ['nothing if nothing is stored', { comment: 'nothing', check: 'nothing' }, NOTHING],
    ['nothing in a comment that decides nothing', { comment, decides: false }, NOTHING],
    ['nothing in a comment without a job', { comment: stored('skipped', NO_JOB) }, NOTHING],
    ['an error if the comment cannot be read', { comment: GITHUB_ERROR }, ['github', '', '']],
    ['an error if the action fails', { check: BUG }, [BUG.message, '', '']],
    [
      'an error if the job is refused',
      { comment, script: [errorResponse(401)] },
      ['auth', 'job-1', FOLLOWED],
    ],
  ])('finds %s', async (_, options, story) => {
    expect((await find(options)).story).toEqual(story)
  })

  test('leaves what it sees to the polls that follow, and does not depend on the check', async () => {
    const { lines, reported, writers } = await find({
      comment,
      check: 'nothing',
      script: [jobResult('queued')],
    })
    expect([lines.log, lines.warn, reported]).toEqual([[], [], []])
    expect([writers.comment?.asked, writers.check?.asked]).toEqual([[true], [false]])
    expect((await find({ comment, decides: false })).writers.comment?.asked).toEqual([])
  })

  test('ends at the deadline', async () => {
    const { error } = await find({ comment, script: forever(errorResponse(503)) })
    expect(error).toMatchObject({
      code: 'network',
      message: 'Timed out while checking the earlier job. Nothing was sent.',
      advice: 'Start a new run later, or raise timeout-minutes.',
    })
    expect((await find({ comment, script: forever(notSent) })).error?.message).toMatch(
      /^The service never answered/,
    )
  })
})

describe('a re-run', () => {
  const check = ofThisRun('timed-out')
  const other = stored('pr-opened', { jobId: 'job-0' })
  const WAITS: Story = ['waits for job-1, timed-out: active', 'job-1', FOLLOWED]
  const OTHER: Story = ['continues job-0, pr-opened: active', 'job-0', `job-0 ${OLD_LINK}`]
  const job0 = jobResult('active', { id: 'job-0' })

  test.each(['active', 'sending', 'unknown', 'timed-out', 'cancelled', 'error', 'started', 'completed'])(
    'waits for the job of an attempt that was %s',
    async (state) => {
      const { story, writers } = await find({ attempt: 2, check: ofThisRun(state), comment: other })
      expect(story).toEqual([`waits for job-1, ${state}: active`, 'job-1', FOLLOWED])
      expect(writers.check?.asked).toEqual([true])
    },
  )

  test.each(['pr-opened', 'no-changes', 'failed', 'archived', 'unsent', 'skipped'])(
    'is like a new run after an attempt that was %s',
    async (state) => {
      const options = { attempt: 2, check: ofThisRun(state), comment: other, script: [job0] }
      expect((await find(options)).story).toEqual(OTHER)
    },
  )

  test.each<[string, Options, Story]>([
    [
      'the job in the comment if the check lacks it',
      { check: ofThisRun('active', NO_JOB), comment: check },
      WAITS,
    ],
    ['the job that it is given to wait for', { check, task: ATTACH }, WAITS],
    ['the job that it is given to message', { check, task: MESSAGE }, WAITS],
    ['nothing if it is given another job', { check, task: { kind: 'attach', jobId: 'job-2' } }, NOTHING],
    ['nothing if it is to message another job', { check, task: { ...MESSAGE, jobId: 'job-2' } }, NOTHING],
    ['nothing if no job is known', { check: ofThisRun('unknown', NO_JOB) }, NOTHING],
    ['nothing of another run in the check', { check: stored('active') }, NOTHING],
    [
      'that its job is gone',
      { check, script: gone },
      ['continues job-1, timed-out: gone', asked('job-1'), ''],
    ],
    [
      'its job that seemed to be gone',
      { check, script: [...gone.slice(1), jobResult('active')] },
      ['waits for job-1, timed-out: active', asked('job-1'), FOLLOWED],
    ],
    [
      'the job of the comment if its own is gone',
      { check, comment: other, script: [...gone, job0] },
      ['continues job-0, pr-opened: active', `${asked('job-1')} job-0`, `job-0 ${OLD_LINK}`],
    ],
    [
      'at once that the job of both is gone',
      { check, comment: stored('a'), script: gone },
      ['continues job-1, a: gone', asked('job-1'), FOLLOWED],
    ],
    ['an error if the check cannot be read', { check: GITHUB_ERROR }, ['github', '', '']],
    ['an error if the action fails', { check: BUG }, [BUG.message, '', '']],
  ])('finds %s', async (_, options, story) => {
    expect((await find({ attempt: 2, ...options })).story).toEqual(story)
  })
})

describe('an earlier create request whose result is unknown', () => {
  const sent = (state: string, run = '8') => stored(state, { jobId: '', run })
  test.each<[Options, isTold: boolean]>([
    [{ comment: sent('sending') }, true],
    [{ comment: sent('unsent') }, false],
    [{ comment: sent('skipped') }, false],
    [{ comment: stored('unknown') }, false],
    [{ attempt: 2, check: sent('unknown', '9') }, true],
    [{ attempt: 2, check: sent('unsent', '9'), comment: sent('unknown') }, false],
    [{ attempt: 2, check: sent('unknown', '9'), comment: stored('active') }, true],
    [{ attempt: 2, check: sent('unknown', '9'), comment: ofThisRun('active') }, false],
  ])('%j is told: %s', async (options, isTold) => {
    const text =
      "The result of the last create request is unknown: a job may exist. Check the agent's jobs in the dashboard."
    expect((await find(options)).lines.warn).toEqual(isTold ? [text] : [])
  })
})

describe('what this very attempt stored', () => {
  const text = (what: string, wait = '') =>
    `job-key: another step of this run has the same workflow, job, step ID and project, and has already ${what}. ` +
    `Give each step or matrix leg its own job-key.${wait}`
  const USED = text('used job "job-1"', ' To wait for that job, set job-id: job-1 and no prompt.')
  const state = ofThisRun('active')

  test.each<[string, Options, message: string]>([
    ['in the comment', { comment: state, check: 'nothing' }, USED],
    ['in the check', { check: ofThisRun('pr-opened'), comment: 'nothing' }, USED],
    [
      'in a later attempt',
      { attempt: 3, check: ofThisRun('active', { attempt: 3 }), comment: 'nothing' },
      USED,
    ],
    ['without a job', { comment: ofThisRun('sending', NO_JOB), check: 'nothing' }, text('sent a request')],
    ['with the comment alone', { comment: state }, USED],
    ['with the check alone', { check: state }, USED],
    [
      'although it is to wait for another job',
      { check: state, task: { kind: 'attach', jobId: 'job-2' } },
      USED,
    ],
    ['although it is to message the job', { check: state, task: MESSAGE }, USED],
  ])("is another step's: %s", async (_, options, message) => {
    const { error, story, writers } = await find(options)
    expect(story).toEqual(['input', '', ''])
    expect(error).toMatchObject({
      message,
      advice:
        'Nothing was sent. Fix the inputs. After a change to the workflow file, start a new run: a re-run uses the old file.',
      jobId: '',
    })
    expect([writers.comment?.stopped, writers.check?.stopped]).not.toContain(false)
  })

  test.each<[string, Options, Story]>([
    ['it sent nothing: unsent', { comment: ofThisRun('unsent', NO_JOB) }, NOTHING],
    ['it sent nothing: skipped', { comment: ofThisRun('skipped', NO_JOB) }, NOTHING],
    ['the step only waits for its job', { check: ofThisRun('started'), task: ATTACH }, NOTHING],
    [
      'it is of another run',
      { attempt: 2, comment: stored('a', { attempt: 2 }) },
      ['continues job-1, a: active', 'job-1', FOLLOWED],
    ],
  ])('does not matter if %s', async (_, options, expected) => {
    const { story, writers } = await find(options)
    expect(story).toEqual(expected)
    expect([writers.comment?.stopped, writers.check?.stopped]).not.toContain(true)
  })
})

describe('continuing', () => {
  const composeWith = (...more: string[]): string => ['Do it', ...more].join('\n\n')
  const continueAt = (link: string): string =>
    `Do it\n\nAn earlier job has already opened the pull request ${link}, which is still open. ` +
    'Continue there: add to its branch, and open no second pull request.'

  async function decide(
    previousJob: PreviousRun['job'],
    pull: DocsPull,
    link = OLD_LINK,
    jobId = 'job-1',
    script: Iterable<ScriptedResult> = [],
  ) {
    const { ports, service, progress, lines } = createScriptedRun(script, { jobId, timeoutMs: 60_000 })
    const read: string[] = []
    const readDocsPull = async (link: string) => {
      read.push(link)
      return pull
    }
    const previous = { state: stored('active', { jobId, link }), job: previousJob, unfinished: false }
    const inputs = { ...INPUTS, timeoutMs: 60_000 }
    const run = { runId: '9', runAttempt: 1 } as RunEnvironment
    const nowhere = { comment: undefined, check: undefined }
    const context = { ...ports, ...nowhere, inputs, run, service, readDocsPull }
    const task = await continueOrCreate(previous, composeWith, context)
    const followed = [progress.jobId, progress.previousLink]
    return { told: { task, read, log: lines.log, followed }, task, progress }
  }

  const active = job('active')
  const linked = job('completed', { prLink: LINK })
  const open: DocsPull = { state: 'open' }
  const closed: DocsPull = { state: 'closed' }
  const unknown: DocsPull = { state: 'unknown', reason: 'It is on another host.' }
  const UNKNOWN =
    `Can't tell whether the job's pull request ${OLD_LINK} is still open, so it counts as open. ` +
    'It is on another host.'

  test.each<
    [string, PreviousRun['job'], DocsPull, remembered: string, link: string, newPrompt: string, log: string[]]
  >([
    ['an open pull request', active, open, OLD_LINK, OLD_LINK, continueAt(OLD_LINK), []],
    ['an open pull request that is news', linked, open, OLD_LINK, LINK, continueAt(LINK), []],
    ['a pull request that cannot be read', active, unknown, OLD_LINK, OLD_LINK, 'Do it', [UNKNOWN]],
    ['no pull request', active, closed, '', '', 'Do it', []],
  ])('a job with %s gets the message', async (_, previousJob, pull, remembered, link, prompt, log) => {
    const previousLink = pull === open ? link : ''
    expect((await decide(previousJob, pull, remembered)).told).toEqual({
      task: {
        kind: 'message',
        jobId: 'job-1',
        prompt: 'Do it',
        remembered: { job: previousJob, find: expect.any(Function), prompt, previousLink },
      },
      read: link === '' ? [] : [link],
      log,
      followed: ['job-1', link],
    })
  })

  test('a job that was not requested gets the message, and no pull request is read', async () => {
    const task = { kind: 'message', jobId: 'job-1', prompt: 'Do it' }
    expect((await decide('not requested', closed)).told).toEqual({
      task,
      read: [],
      log: [],
      followed: ['job-1', ''],
    })
  })

  test.each<[string, Iterable<ScriptedResult>, answer: object]>([
    ['four times 404', gone, { value: undefined }],
    ['the job', [jobResult('completed')], { value: { status: 'completed' } }],
    [
      'the job after three times 404',
      [...gone.slice(1), jobResult('archived')],
      { value: { status: 'archived' } },
    ],
    ['403', [errorResponse(403)], { code: 'auth' }],
    ['only 503', forever(errorResponse(503)), { code: 'network' }],
  ])(
    'the service is asked whether a job is gone that takes no message: it says %s',
    async (_, script, answer) => {
      const { task, progress } = await decide(linked, open, OLD_LINK, 'job-1', script)
      progress.posted = true
      const find = task.kind === 'message' ? task.remembered?.find : undefined
      const answered = await settle(Promise.resolve(find?.()))
      expect(answered).toMatchObject(answer)
      expect(answered.error?.message ?? '').not.toContain('Nothing was sent')
      expect(progress).toMatchObject({ job: undefined, jobId: 'job-1', missedReason: '' })
    },
  )

  test.each<[string, PreviousRun['job'], DocsPull]>([
    ['no longer exists', undefined, open],
    ['no longer exists', undefined, closed],
    ['failed', job('failed'), open],
    ['was archived', job('archived'), unknown],
    ['has a pull request that was merged or closed', active, closed],
    ['has a pull request that was merged or closed', job('completed'), closed],
  ])('a job that %s is replaced: %j, %j', async (reason, previousJob, pull) => {
    const isOpen = pull === open
    expect((await decide(previousJob, pull)).told).toEqual({
      task: { kind: 'create', prompt: isOpen ? continueAt(OLD_LINK) : 'Do it' },
      read: [OLD_LINK],
      log: [`The earlier job ${reason}: creating a new one.`],
      followed: ['', isOpen ? OLD_LINK : ''],
    })
  })

  test('if only the pull request is remembered, the new job continues there', async () => {
    expect((await decide(undefined, open, OLD_LINK, '')).told).toEqual({
      task: { kind: 'create', prompt: continueAt(OLD_LINK) },
      read: [OLD_LINK],
      log: [],
      followed: ['', OLD_LINK],
    })
  })
})
