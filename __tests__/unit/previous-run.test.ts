// What an earlier run or attempt left: which job is continued, waited for or replaced.
import { describe, expect, test } from '@jest/globals'
import { FAILURES } from '../../src/agent/job.js'
import type { RunEnvironment, RunEvent } from '../../src/event/event.js'
import type { Inputs } from '../../src/inputs/inputs.js'
import type { Situation } from '../../src/memory/decide.js'
import type { DocsPull } from '../../src/memory/docs-pull.js'
import type { StoredState } from '../../src/memory/marker.js'
import {
  type Attach,
  findPreviousRun,
  type PreviousRun,
  planFor,
} from '../../src/memory/previous-run.js'
import type { Task } from '../../src/run/task.js'
import { ActionError, WHERE_TO_LOOK } from '../../src/text/errors.js'
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
  state: state as StoredState['state'],
  fingerprint: '',
  ...more,
})
const ofThisRun = (state: string, more: Partial<StoredState> = {}) =>
  stored(state, { run: '9', ...more })
const NO_JOB = { jobId: '', link: '' }

type Stored = StoredState | 'nothing' | Error

function commentWith(what: Stored) {
  const comment = {
    isStopped: false,
    stop: () => {
      comment.isStopped = true
    },
    find: async () => {
      if (what instanceof Error) throw what
      return what === 'nothing' ? undefined : what
    },
  }
  return comment
}

interface Options {
  comment?: Stored
  attempt?: number
  dryRun?: boolean
  script?: Iterable<ScriptedResult>
  /** The state of the docs pull request. */
  pull?: DocsPull['state']
  action?: string
}

async function find({
  attempt = 1,
  dryRun = false,
  pull = 'merged',
  action = '',
  ...more
}: Options) {
  const scripted = createScriptedRun(more.script ?? [jobResult('active')], { timeoutMs: 60_000 })
  const comment = commentWith(more.comment ?? 'nothing')
  const read: string[] = []
  const { value, code, error } = await settle(
    findPreviousRun({
      inputs: { ...INPUTS, jobScope: 'pull-request', dryRun, timeoutMs: 60_000 },
      environment: { runId: '9', runAttempt: attempt } as RunEnvironment,
      event: { action, pullRequest: { number: 7 } } as RunEvent,
      readDocsPull: async (link) => {
        read.push(link)
        return { state: pull } as DocsPull
      },
      ...scripted.tools,
      comment,
    }).then(async (found) => [found, await describePrevious(found)] as const),
  )
  const [found, described] = value ?? []
  const { jobId, previousLink, notes } = scripted.facts()
  return {
    lines: scripted.lines,
    notes,
    fingerprint: found && 'kind' in found ? found.fingerprint : undefined,
    reported: scripted.reported,
    isStopped: comment.isStopped,
    read,

    error,
    /** What was found, which jobs were asked for, and which one is followed. */
    story: [
      error === undefined ? described : (code ?? error.message),
      `asks ${scripted.calls.map(({ jobId }) => jobId).join(' ') || 'nobody'}`,
      `follows ${[jobId, previousLink].filter(Boolean).join(' ') || 'nothing'}`,
    ].join('; '),
  }
}

/** Also asks for the job, as a run does that may send something. */
async function describePrevious(previous: PreviousRun | Attach | undefined): Promise<string> {
  if (previous === undefined) return 'nothing'
  if ('kind' in previous)
    return `waits for ${previous.jobId}: ${previous.job?.rawStatus ?? 'not requested'}`
  const { state } = previous
  const job = await previous.findJob()
  const now = job === undefined ? 'gone' : job === 'not requested' ? job : job.rawStatus
  return `continues ${state.jobId || 'no job'}, ${state.state}: ${now}`
}

const NOTHING = 'nothing; asks nobody; follows nothing'
const FOLLOWED = `follows job-1 ${OLD_LINK}`

const GITHUB_ERROR = new ActionError('github', 'GitHub refused.', 'Set permissions.')
const BUG = new TypeError('x is not a function')
/** A 404 is believed when it is repeated. */
const gone = Array(4).fill(errorResponse(404))
const asks = (jobId: string, count = 4) => `asks ${Array(count).fill(jobId).join(' ') || 'nobody'}`

describe('a first attempt', () => {
  const comment = stored('active')
  test.each<[string, Options, now: string, requests: number]>([
    ['that runs', {}, 'active', 1],
    ['that ended', { script: [jobResult('completed')] }, 'completed', 1],
    ['seen at the second request', { script: [noResponse, jobResult('active')] }, 'active', 2],
    ['that is gone', { script: gone }, 'gone', 4],
    ['without asking in a dry run', { dryRun: true }, 'not requested', 0],
  ])('continues the job in the comment, %s', async (_, options, now, requests) => {
    const { story } = await find({ comment, ...options })
    expect(story).toBe(`continues job-1, active: ${now}; ${asks('job-1', requests)}; ${FOLLOWED}`)
  })

  test('continues a job without a pull request, or a pull request without a job', async () => {
    const withoutLink = await find({ comment: stored('a', { link: '' }) })
    expect(withoutLink.story).toBe('continues job-1, a: active; asks job-1; follows job-1')
    const withoutJob = await find({ comment: stored('a', { jobId: '' }) })
    expect(withoutJob.story).toBe('continues no job, a: gone; asks nobody; follows nothing')
  })

  test.each<[string, Options]>([
    ['if nothing is stored', {}],
    ['in a comment without a job', { comment: stored('skipped', NO_JOB) }],
  ])('finds nothing %s', async (_, options) => {
    expect((await find(options)).story).toBe(NOTHING)
  })

  test.each<[string, Options, story: string]>([
    ["comments can't be read", { comment: GITHUB_ERROR }, 'github; asks nobody; follows nothing'],
    ['the action itself fails', { comment: BUG }, `${BUG.message}; asks nobody; follows nothing`],
    [
      'the job is refused',
      { comment, script: Array(4).fill(errorResponse(401)) },
      `auth; ${asks('job-1')}; ${FOLLOWED}`,
    ],
  ])('ends with an error if %s', async (_, options, story) => {
    expect((await find(options)).story).toBe(story)
  })

  test('leaves what it sees to the polls that follow', async () => {
    const script = [jobResult('queued')]
    const { lines, reported } = await find({ comment, script })
    expect([lines.log, lines.warn, reported]).toEqual([[], [], []])
  })

  test('ends at the deadline', async () => {
    const { error } = await find({ comment, script: forever(errorResponse(503)) })
    const message = 'Timed out while checking the earlier docs job.'
    const advice = 'Re-run later, or raise timeout-minutes.'
    expect(error).toMatchObject({ code: 'network', message, advice })
    expect((await find({ comment, script: forever(notSent) })).error?.message).toMatch(
      /^The service never answered/,
    )
  })
})

describe('a re-run', () => {
  const NEW = (state: string, now: string, count = 1) =>
    `continues job-1, ${state}: ${now}; ${asks('job-1', count)}; ${FOLLOWED}`

  test.each(['active', 'unknown', 'timed-out', 'completed'])(
    'waits for the job of an attempt that was %s',
    async (state) => {
      const { story } = await find({ attempt: 2, comment: ofThisRun(state) })
      expect(story).toBe(`waits for job-1: active; asks job-1; ${FOLLOWED}`)
    },
  )

  test.each(['pr-opened', 'no-changes', ...FAILURES, 'unsent', 'skipped'])(
    'is like a new run after an attempt that was %s',
    async (state) => {
      const { story } = await find({ attempt: 2, comment: ofThisRun(state), pull: 'open' })
      expect(story).toBe(NEW(state, 'active'))
    },
  )

  const told = ofThisRun('pr-opened', { fingerprint: 'its fingerprint' })
  const isNow = (status: string) => [jobResult(status)]
  const REPORTS = (status: string) => `waits for job-1: ${status}; asks job-1; ${FOLLOWED}`
  test.each<[story: string, Options]>([
    [REPORTS('completed'), { pull: 'open' }],
    [REPORTS('completed'), { pull: 'unknown' }],
    [REPORTS('active'), { pull: 'open', script: isNow('active') }],
    [NEW('pr-opened', 'completed'), { pull: 'merged' }],
    [NEW('pr-opened', 'completed'), { pull: 'closed' }],
  ])('of a run whose docs job has opened a pull request: %s, with %j', async (story, options) => {
    const found = await find({ attempt: 2, comment: told, script: isNow('completed'), ...options })
    expect(found.story).toBe(story)
    const isReported = story.startsWith('waits')
    expect(found.fingerprint).toBe(isReported ? 'its fingerprint' : undefined)
    const why =
      'This is a re-run, and its docs job has opened a pull request. ' +
      'To ask for docs again, run a step with "job-id: job-1" and a prompt.'
    expect(found.notes).toEqual(isReported ? [why] : [])
  })

  test('asks for the pull request that the docs job names now', async () => {
    const script = [jobResult('failed', { prLink: LINK })]
    expect((await find({ attempt: 2, comment: told, script, pull: 'open' })).read).toEqual([LINK])
  })

  test('finds that its job is gone', async () => {
    const { story } = await find({ attempt: 2, comment: ofThisRun('timed-out'), script: gone })
    expect(story).toBe(NEW('timed-out', 'gone', 4))
  })

  test('finds nothing if no job is known', async () => {
    expect((await find({ attempt: 2, comment: ofThisRun('active', NO_JOB) })).story).toBe(NOTHING)
  })
})

describe('an earlier create request whose result is unknown', () => {
  const sent = (state: string, run = '8') => stored(state, { jobId: '', run })
  test.each<[Options, isTold: boolean]>([
    [{ comment: sent('sending') }, true],
    [{ comment: sent('unsent') }, false],
    [{ comment: stored('unknown') }, false],
    [{ attempt: 2, comment: sent('unknown', '9') }, true],
    [{ attempt: 2, comment: sent('unsent', '9') }, false],
  ])('%j is told: %s', async (options, isTold) => {
    const text = `The result of the last create request is unknown: a docs job may exist. Look ${WHERE_TO_LOOK}.`
    expect((await find(options)).notes.includes(text)).toBe(isTold)
  })
})

test.each<[Options, isTold: boolean]>([
  [{ attempt: 2, comment: ofThisRun('unknown') }, true],
  [{ attempt: 2, comment: ofThisRun('sending') }, true],
  [{ attempt: 2, comment: ofThisRun('active') }, false],
  [{ comment: stored('unknown') }, false],
])('an earlier message whose result is unknown: %j is told: %s', async (options, isTold) => {
  const text =
    'The result of the last message is unknown: it may be lost. To send it again, re-run after the docs job has ended.'
  expect((await find(options)).notes.includes(text)).toBe(isTold)
})

describe('what this very attempt stored', () => {
  const text = (what: string, wait = '') =>
    `job-key: another step of this run has the same workflow, job, step ID and project, and has already ${what}. ` +
    `Give each step or matrix leg its own job-key.${wait}`
  const USED = text(
    'used docs job "job-1"',
    ' To wait for that docs job, set job-id: job-1 and no prompt.',
  )

  test.each<[string, Options, message: string]>([
    ['while its job runs', { comment: ofThisRun('active') }, USED],
    ['with its end', { comment: ofThisRun('pr-opened') }, USED],
    ['in a later attempt', { attempt: 3, comment: ofThisRun('active', { attempt: 3 }) }, USED],
    ['without a job', { comment: ofThisRun('sending', NO_JOB) }, text('sent a request')],
  ])("is another step's: %s", async (_, options, message) => {
    const { error, story, isStopped } = await find(options)
    expect(story).toBe('input; asks nobody; follows nothing')
    expect(error).toMatchObject({
      message,
      advice:
        'Fix the inputs. After a change to the workflow file, start a new run: a re-run uses the old file.',
    })
    expect(isStopped).toBe(true)
  })

  test.each<[string, Options, story: string]>([
    ['it sent nothing: unsent', { comment: ofThisRun('unsent', NO_JOB) }, NOTHING],
    ['it sent nothing: skipped', { comment: ofThisRun('skipped', NO_JOB) }, NOTHING],
    [
      'it is of another run',
      { attempt: 2, comment: stored('a', { attempt: 2 }) },
      `continues job-1, a: active; asks job-1; ${FOLLOWED}`,
    ],
  ])('does not matter if %s', async (_, options, expected) => {
    const { story, isStopped } = await find(options)
    expect(story).toBe(expected)
    expect(isStopped).toBe(false)
  })
})

describe('continuing', () => {
  const composeWith = (...more: string[]): string => ['Do it', ...more].join('\n\n')
  const continueAt = (link: string): string =>
    `Do it\n\nThe pull request ${link} is already open for this. ` +
    'Continue there: add to its branch, and open no second pull request.'

  interface Decide {
    link?: string
    jobId?: string
    script?: Iterable<ScriptedResult>
    dryRun?: boolean
    /** A push of what was sent before. */
    pushed?: boolean
    /** How what was sent before is stored. */
    fingerprint?: string
    known?: DocsPull['state']
  }

  async function decide(
    previousJob: Situation['job'],
    pull: DocsPull,
    {
      link = OLD_LINK,
      jobId = 'job-1',
      script = [],
      dryRun = false,
      pushed,
      fingerprint = 'the same',
      known,
    }: Decide = {},
  ) {
    const { tools, facts, lines } = createScriptedRun(script, { jobId, timeoutMs: 60_000 })
    const read: string[] = []
    const readDocsPull = async (link: string) => {
      read.push(link)
      return pull
    }
    const state = stored('active', { jobId, link, fingerprint })
    const previous = { state, findJob: async () => previousJob, pull: known }
    const inputs: Inputs = { ...INPUTS, timeoutMs: 60_000, jobScope: 'pull-request', dryRun }
    const event = { action: pushed ? 'synchronize' : '', pullRequest: { number: 7 } } as RunEvent
    const environment = { runId: '9', runAttempt: 1 } as RunEnvironment
    const comment = commentWith('nothing')
    const context = { ...tools, comment, inputs, environment, event, readDocsPull }
    const sent = ['the same', 'with the key before'] as const
    const task = await planFor(previous, sent, composeWith, context)
    const { jobId: followed, previousLink, notes } = facts()
    const told = { task, read, log: [...lines.log, ...notes], followed: [followed, previousLink] }
    return { told, task, facts }
  }

  const STORED = { fingerprint: 'the same' }
  const active = job('active')
  const linked = job('completed', { prLink: LINK })
  const open: DocsPull = { state: 'open' }
  const closed: DocsPull = { state: 'closed' }
  const merged: DocsPull = { state: 'merged' }
  const unknown: DocsPull = { state: 'unknown', reason: 'It is on another host.' }

  test.each<[string, Situation['job'], DocsPull, remembered: string, link: string]>([
    ['an open pull request', active, open, OLD_LINK, OLD_LINK],
    ['an open pull request that is news', linked, open, OLD_LINK, LINK],
    ['a pull request that cannot be read', active, unknown, OLD_LINK, OLD_LINK],
    ['no pull request', active, closed, '', ''],
  ])('a job with %s gets the message', async (_, previousJob, pull, remembered, link) => {
    // Only an open pull request is continued.
    const prompt = pull === open ? continueAt(link) : 'Do it'
    const previousLink = pull === open ? link : ''
    const { told } = await decide(previousJob, pull, { link: remembered })
    const known = { job: previousJob, find: expect.any(Function), previousLink }
    expect(told).toEqual({
      task: { kind: 'message', jobId: 'job-1', prompt, remembered: known, ...STORED },
      read: link === '' ? [] : [link],
      log: [],
      followed: ['job-1', link],
    })
  })

  test.each<[DocsPull, Task]>([
    [open, { kind: 'message', jobId: 'job-1', prompt: continueAt(OLD_LINK), ...STORED }],
    [merged, { kind: 'create', prompt: 'Do it', previousLink: '', ...STORED }],
  ])('an unrequested job, with a pull request that is %j, is told: %j', async (pull, task) => {
    const { told } = await decide('not requested', pull)
    expect(told.task).toEqual(task)
  })

  test.each<[string, Iterable<ScriptedResult>, answer: object]>([
    ['four times 404', gone, { value: undefined }],
    ['the job', [...gone.slice(1), jobResult('archived')], { value: { status: 'archived' } }],
    ['four times 403', Array(4).fill(errorResponse(403)), { code: 'auth' }],
    ['only 503', forever(errorResponse(503)), { code: 'network' }],
  ])('if it takes none, the service is asked whether it is gone: %s', async (_, script, answer) => {
    const { task, facts } = await decide(linked, open, { script })
    const find = 'remembered' in task ? task.remembered?.find : undefined
    const answered = await settle(Promise.resolve(find?.()))
    expect(answered).toMatchObject(answer)
    expect(answered.error?.message ?? '').not.toContain('Nothing was sent')
    expect(facts()).toMatchObject({ seen: undefined, jobId: 'job-1', notSeen: undefined })
  })

  test.each<[string, Situation['job'], DocsPull]>([
    ['no longer exists', undefined, open],
    ['has a pull request that was closed', active, closed],
    ['has a pull request that was merged', active, merged],
  ])('a job that %s is replaced: %j, %j', async (reason, previousJob, pull) => {
    const isOpen = pull === open
    expect((await decide(previousJob, pull)).told).toEqual({
      task: {
        kind: 'create',
        prompt: isOpen ? continueAt(OLD_LINK) : 'Do it',
        previousLink: isOpen ? OLD_LINK : '',
        ...STORED,
      },
      read: [OLD_LINK],
      log: [`The earlier docs job ${reason}: a new one takes its place.`],
      followed: ['job-1', OLD_LINK],
    })
  })

  test.each([
    ['the same', linked, linked],
    ['with the key before', linked, linked],
    ['the same', 'not requested' as const, undefined],
  ])('a push of what was sent before waits for the job: %s, %j', async (...row) => {
    const [fingerprint, previousJob, job] = row
    const { told } = await decide(previousJob, open, { pushed: true, fingerprint })
    const link = previousJob === linked ? LINK : OLD_LINK
    const why =
      'This push has nothing new for the docs job. ' +
      'To ask for docs again, run a step with "job-id: job-1" and a prompt.'
    expect(told).toEqual({
      task: { kind: 'attach', jobId: 'job-1', job, messageMayBeLost: false, ...STORED },
      read: [link],
      log: [why],
      followed: ['job-1', link],
    })
  })

  test('a push of what was sent before is skipped once that is merged, with the link', async () => {
    const { told } = await decide(linked, merged, { pushed: true })
    const reason = `this push has nothing new for the docs job, and the docs pull request ${LINK} was merged`
    expect(told).toMatchObject({ task: { why: { reason } }, followed: ['job-1', LINK] })
  })

  test('a no to the docs is told, and follows the job no longer', async () => {
    const { told } = await decide(active, closed, { pushed: true })
    const reason = `the docs pull request ${OLD_LINK} was closed without a merge`
    expect(told).toMatchObject({ task: { why: { reason } }, log: [] })
  })

  test('a pull request that was read before is not read again', async () => {
    expect((await decide(active, open, { known: 'merged' })).told).toMatchObject({
      task: { kind: 'create' },
      read: [],
    })
  })

  test('if only the pull request is remembered, the new job continues there', async () => {
    const { told } = await decide(undefined, open, { jobId: '' })
    const prompt = continueAt(OLD_LINK)
    const task = { kind: 'create', prompt, previousLink: OLD_LINK, ...STORED }
    expect(told).toEqual({ task, read: [OLD_LINK], log: [], followed: ['', OLD_LINK] })
  })
})
