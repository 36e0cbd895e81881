// Outputs, log lines and the annotation: for every outcome, whatever the service returned.
import { describe, expect, test } from '@jest/globals'
import { FAIL_ON, type FailOn, failsStep, type Job, OUTCOMES, type Outcome } from '../../src/agent/job.js'
import { ActionError, type ErrorCode, internalError } from '../../src/errors.js'
import { InputError, type Inputs, type Task } from '../../src/inputs/inputs.js'
import { createRedactor } from '../../src/redact.js'
import {
  annotation,
  endLine,
  heartbeatLine,
  JOB_LIMIT,
  OUTPUTS,
  outputs,
  startLine,
  statusLine,
} from '../../src/report/messages.js'
import { describeOutcome } from '../../src/report/outcome.js'
import type { RunResult } from '../../src/run/ports.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS, job, LINK } from './scripted-run.js'

const KEY = 'mint_s3cr3t'
const redact = createRedactor(KEY)
const plain = (text: string): string => text

function createProgress(...jobs: Job[]): Progress {
  const clock = new FakeClock()
  const progress = new Progress(clock)
  clock.advance(65_999)
  for (const one of jobs) progress.update(one)
  return progress
}

/** A job that is known by its id alone: it got a message, or is waited for. */
function createReused(...jobs: Job[]): Progress {
  const progress = createProgress(...jobs)
  progress.follow('job-1')
  progress.messageAccepted()
  return progress
}

const createError = (code: ErrorCode = 'auth'): ActionError =>
  new ActionError(code, 'What happened.', 'What to do.')

/** A result with what each outcome needs. */
function resultOf(outcome: Outcome): RunResult {
  switch (outcome) {
    case 'error':
      return { outcome, error: createError() }
    case 'skipped':
      return { outcome, reason: 'a reason' }
    default:
      return { outcome }
  }
}

describe('outputs', () => {
  test('are all set at the end, and never null', () => {
    const all = outputs(createProgress(job('completed', { prLink: LINK })), { outcome: 'pr-opened' }, redact)
    expect(Object.keys(all).toSorted()).toEqual(OUTPUTS.toSorted())
    expect(all).toMatchObject({
      'job-id': 'job-1',
      status: 'completed',
      'pr-link': LINK,
      'pr-number': '7',
      'pr-repository': 'your-org/docs',
      outcome: 'pr-opened',
      'error-code': '',
      reused: 'false',
      'elapsed-seconds': '65',
    })
    expect(JSON.parse(all.job ?? '')).toEqual({ id: 'job-1', status: 'completed', prLink: LINK })
  })

  test('are empty if nothing is known', () => {
    expect(outputs(createProgress(), { outcome: 'error', error: createError('input') }, redact)).toEqual({
      'job-id': '',
      status: '',
      'pr-link': '',
      'pr-number': '',
      'pr-repository': '',
      outcome: 'error',
      'error-code': 'input',
      reused: 'false',
      'elapsed-seconds': '65',
      job: '',
    })
  })

  test('have an ID that the key begins with, but no key', () => {
    const idOf = (id: string): string | undefined => {
      const progress = createProgress()
      progress.follow(id)
      return outputs(progress, undefined, redact)['job-id']
    }
    expect(idOf(KEY.slice(0, 8))).toBe(KEY.slice(0, 8))
    expect(idOf(KEY)).toBe('***')
  })

  test('leave out what only the result tells while the run goes on', () => {
    const values = outputs(createProgress(job('active')), undefined, redact)
    expect(values).toMatchObject({ 'job-id': 'job-1', status: 'active', reused: 'false' })
    expect(Object.keys(values)).not.toEqual(expect.arrayContaining(['outcome']))
    expect(Object.keys(values)).not.toEqual(expect.arrayContaining(['error-code']))
  })

  test.each(OUTCOMES)('contain the outcome %s', (outcome) => {
    const result = resultOf(outcome)
    const code = outcome === 'error' ? 'auth' : ''
    expect(outputs(createProgress(), result, redact)).toMatchObject({ outcome, 'error-code': code })
  })

  test.each([
    ['error', 'rate-limited'],
    ['error', 'create-unknown'],
    ['cancelled', 'create-unknown'],
  ] as const)('contain for %s the code %s', (outcome, code) => {
    expect(outputs(createProgress(), { outcome, error: createError(code) }, redact)['error-code']).toBe(code)
  })

  test.each(['queued', 'Active', '', 'x\ny'])('never contain the undocumented status %j', (status) => {
    expect(outputs(createProgress(job(status)), undefined, redact).status).toBe('')
    expect(outputs(createProgress(job('active'), job(status)), undefined, redact).status).toBe('active')
  })

  test.each([
    [true, undefined, 'true'],
    [false, undefined, 'false'],
    [true, createError('auth'), 'true'],
    [false, createError('not-found'), 'false'],
  ])('reused %p with the error %p is %s', (reused, error, value) => {
    const progress = reused ? createReused() : createProgress()
    const result: RunResult = error === undefined ? { outcome: 'started' } : { outcome: 'error', error }
    expect(outputs(progress, result, redact).reused).toBe(value)
  })
})

test('a job that never existed was not reused, one that was seen and then disappeared was', () => {
  const notFound: RunResult = { outcome: 'error', error: createError('not-found') }
  const attached = (...jobs: Job[]): Progress => {
    const progress = createProgress(...jobs)
    progress.follow('job-1')
    progress.attach()
    return progress
  }
  expect(outputs(attached(), notFound, redact).reused).toBe('false')
  expect(outputs(attached(), { outcome: 'error', error: createError() }, redact).reused).toBe('true')
  expect(outputs(attached(), undefined, redact).reused).toBe('true')
  expect(outputs(attached(job('active')), notFound, redact).reused).toBe('true')
  expect(outputs(createReused(), notFound, redact).reused).toBe('true')
})

test('before the first status, a job that is waited for is in the outputs by its id alone', () => {
  expect(outputs(createReused(), undefined, redact)).toEqual({
    'job-id': 'job-1',
    status: '',
    'pr-link': '',
    'pr-number': '',
    'pr-repository': '',
    reused: 'true',
    job: '',
  })
})

test('the id is redacted', () => {
  const progress = createProgress()
  progress.follow(`a${KEY}`)
  expect(outputs(progress, undefined, redact)['job-id']).toBe('a***')
})

describe('the output job', () => {
  const jobOutput = (fields: Record<string, unknown>): string =>
    outputs(createProgress(job('active', fields)), { outcome: 'started' }, redact).job ?? ''

  test('is the whole object, with any new fields', () => {
    const fields = { new: { deep: [1, 'ü', null] }, source: { ref: null } }
    expect(JSON.parse(jobOutput(fields))).toEqual({ id: 'job-1', status: 'active', prLink: null, ...fields })
  })

  test.each([
    ['plainly', KEY],
    ['percent-encoded', KEY.replace('_', '%5f')],
    ['inside a text', `a ${KEY} b`],
  ])('has the key replaced if it is in it %s', (_, text) => {
    const output = jobOutput({ text, [text]: 1 })
    expect(output).not.toContain('s3cr3t')
    expect(JSON.parse(output).text).toContain('***')
  })

  test('is left out if it would not be JSON without the key', () => {
    const number = outputs(
      createProgress(job('active', { n: 12345 })),
      { outcome: 'started' },
      createRedactor('234'),
    )
    expect(number.job).toBe('')
  })

  test('is left out over 256 KiB, counted in bytes', () => {
    const frame = JSON.stringify(job('active', { text: '' }).received).length
    expect(JOB_LIMIT).toBe(262_144)
    expect(jobOutput({ text: 'x'.repeat(JOB_LIMIT - frame) })).toHaveLength(JOB_LIMIT)
    expect(jobOutput({ text: 'x'.repeat(JOB_LIMIT - frame + 1) })).toBe('')
    expect(jobOutput({ text: 'ü'.repeat(JOB_LIMIT / 2) })).toBe('')
  })

  test('is left out if it is nested too deeply to be written', () => {
    let deep: unknown = []
    for (let depth = 0; depth < 200_000; depth++) deep = [deep]
    expect(jobOutput({ deep })).toBe('')
  })
})

describe('the first line', () => {
  const line = (task: Task, more: Partial<Inputs> = {}): string =>
    startLine(task, { ...INPUTS, apiKey: KEY, ...more })

  test.each([
    ['create', { kind: 'create', prompt: 'ü'.repeat(1500) }, /creat.*1,500 characters \(3,000 bytes\)/i],
    [
      'message',
      { kind: 'message', jobId: 'job-1', prompt: 'Secret plan' },
      /message.*11 characters.*"job-1"/,
    ],
    ['step that only waits', { kind: 'attach', jobId: 'job-1' }, /"job-1".*nothing is sent/],
  ] as const)('of a %s says what is sent and where, without prompt and key', (_, task, pattern) => {
    expect(line(task)).toMatch(pattern)
    expect(line(task)).toMatch(/"p-1" at https:\/\/api\.mintlify\.com/)
    expect(line(task)).not.toMatch(/üü|plan|s3cr3t|\n/)
  })

  const PLACE = 'in project "p-1" at https://api.mintlify.com'
  const CREATE: Task = { kind: 'create', prompt: 'Do it' }
  const MESSAGE: Task = { kind: 'message', jobId: 'job-1', prompt: 'Do more' }
  const ATTACH: Task = { kind: 'attach', jobId: 'job-1' }

  test.each([
    [CREATE, {}, `Creating a job ${PLACE}, with a prompt of 5 characters (5 bytes).`],
    [MESSAGE, {}, `Sending a message of 7 characters (7 bytes) to job "job-1" ${PLACE}.`],
    [ATTACH, {}, `Waiting for job "job-1" ${PLACE}; nothing is sent to it.`],
    [ATTACH, { wait: false }, `Checking job "job-1" ${PLACE}; nothing is sent to it.`],
    [
      CREATE,
      { dryRun: true },
      `Dry run: would create a job ${PLACE}, with a prompt of 5 characters (5 bytes).`,
    ],
    [
      MESSAGE,
      { dryRun: true },
      `Dry run: would send a message of 7 characters (7 bytes) to job "job-1" ${PLACE}.`,
    ],
    [ATTACH, { dryRun: true }, `Dry run: would wait for job "job-1" ${PLACE}; nothing is sent to it.`],
    [
      ATTACH,
      { dryRun: true, wait: false },
      `Dry run: would check job "job-1" ${PLACE}; nothing is sent to it.`,
    ],
  ])('of %j with %j', (task, options, text) => {
    expect(line(task, options)).toBe(text)
  })

  test('is one line, whatever the ids contain', () => {
    expect(line({ kind: 'attach', jobId: 'a\n::error::b' }, { projectId: 'c\r\nd' })).not.toMatch(/[\r\n]/)
  })
})

describe('the later lines', () => {
  test('at a change of status: the job, its status, the elapsed time, the link', () => {
    expect(statusLine(createProgress(job('active')))).toBe('Job "job-1": active after 1 min 5 s.')
    expect(statusLine(createProgress(job('completed', { prLink: LINK })))).toBe(
      `Job "job-1": completed after 1 min 5 s, pull request ${LINK}.`,
    )
  })

  test('never contain an undocumented status', () => {
    expect(statusLine(createProgress(job('##[error]x')))).toBe('Job "job-1": accepted after 1 min 5 s.')
    expect(heartbeatLine(createProgress(job('##[error]x')))).toBe(
      'Job "job-1" is still running after 1 min 5 s.',
    )
  })

  test('once a minute: what the step is waiting for', () => {
    expect(heartbeatLine(createProgress(job('active')))).toBe('Job "job-1" is still active after 1 min 5 s.')
    const sending = createProgress()
    sending.sending = true
    expect(heartbeatLine(sending)).toBe('Still waiting for a response after 1 min 5 s.')
    expect(heartbeatLine(createProgress())).toBe('Nothing has been accepted yet after 1 min 5 s.')
    expect(heartbeatLine(createReused())).toBe('No status for job "job-1" yet after 1 min 5 s.')
  })

  test('at the end: the elapsed time, the outcome, the code', () => {
    expect(endLine(createProgress(), { outcome: 'pr-opened' })).toBe('Finished after 1 min 5 s: pr-opened.')
    expect(endLine(createProgress(), { outcome: 'error', error: createError() })).toBe(
      'Finished after 1 min 5 s: error (auth).',
    )
  })
})

describe('the annotation', () => {
  const ALL = new Set<FailOn>(FAIL_ON)
  const NONE = new Set<FailOn>()
  const cases = OUTCOMES.flatMap((outcome) =>
    [ALL, NONE].flatMap((failOn) =>
      // Without a link, a completed job is no-changes.
      (outcome === 'pr-opened' ? [LINK] : ['', LINK]).map((link) => ({
        outcome,
        failOn,
        link,
        on: failOn.size,
      })),
    ),
  )

  test.each(cases)(
    'of $outcome with $on outcomes in fail-on and the link "$link"',
    ({ outcome, failOn, link }) => {
      const { level, text } = annotation(
        createProgress(job('active', { prLink: link })),
        resultOf(outcome),
        failOn,
      )
      expect(level).toBe(failsStep(outcome, failOn) ? 'error' : link === '' ? 'log' : 'notice')
      expect(text).not.toBe('')
      expect(text).not.toContain('undefined')
      if (level === 'notice') expect(text).toContain(LINK)
    },
  )

  const TO_WAIT = 'To wait for it, run a step with "job-id: job-1" and no prompt.'
  const SENTENCES: Record<Exclude<Outcome, 'pr-opened'>, string> = {
    started: `Job "job-1" is still running; this step did not wait for it to finish. ${TO_WAIT}`,
    'no-changes':
      'Job "job-1" completed without a pull request. If you expected changes, say in the prompt which pages to ' +
      "change and how, then run it again. The service's dashboard shows what the agent did.",
    failed:
      'FIRSTJob "job-1" failed. See the service\'s dashboard for the reason. Run it again to start a new job, or send ' +
      'this one a message: run a step with "job-id: job-1" and a prompt.',
    archived:
      'FIRSTJob "job-1" was archived. REVIEWAn archived job won\'t produce anything more. Run it again to start a new job.',
    'timed-out':
      `Job "job-1" is still running after 1 min 5 s.LINK It keeps running on the service. ${TO_WAIT} ` +
      'To wait longer next time, raise timeout-minutes.',
    cancelled: `The step was cancelled. Job "job-1" is still running on the service. ${TO_WAIT}`,
    skipped: 'Nothing was sent: a reason. There is nothing to do.',
    'dry-run': 'Nothing was sent. Remove dry-run to send it.',
    error: `What happened. What to do. The job may still be running. ${TO_WAIT}`,
  }

  test.each(Object.entries(SENTENCES))('of %s is exact, with and without a link', (outcome, sentence) => {
    const result = resultOf(outcome as Outcome)
    const withLink = createProgress(job('active', { prLink: LINK }))
    const without = createProgress(job('active'))
    const text = sentence.replace('FIRST', '').replace('REVIEW', '').replace('LINK', '')
    const textWithLink = sentence
      .replace('FIRST', `Pull request: ${LINK}. `)
      .replace('REVIEW', 'Review the pull request. ')
      .replace('LINK', ` Its pull request: ${LINK}.`)
    const notice = { level: 'notice', text: `Pull request: ${LINK}`, log: textWithLink }
    const fails = ['error', 'cancelled'].includes(outcome)
    const canFail = fails || (FAIL_ON as readonly string[]).includes(outcome)
    expect(annotation(without, result, NONE)).toEqual({ level: fails ? 'error' : 'log', text })
    expect(annotation(without, result, ALL)).toEqual({ level: canFail ? 'error' : 'log', text })
    expect(annotation(withLink, result, NONE)).toEqual(
      fails ? { level: 'error', text: textWithLink } : notice,
    )
    expect(annotation(withLink, result, ALL)).toEqual(
      canFail ? { level: 'error', text: textWithLink } : notice,
    )
  })

  test('of no-changes says that a link was dropped', () => {
    const progress = createProgress({ ...job('completed'), linkRejected: true })
    expect(annotation(progress, { outcome: 'no-changes' }, NONE)).toEqual({
      level: 'warn',
      text:
        'Job "job-1" completed, but its pull request link was dropped, because it can\'t be passed on safely. ' +
        "See the service's dashboard for the pull request.",
    })
    expect(annotation(progress, { outcome: 'no-changes' }, ALL).level).toBe('error')
    expect(annotation(progress, { outcome: 'failed' }, NONE).level).toBe('log')
  })

  test.each(['message', 'attach'] as const)(
    'of a job that existed before (%s) does not promise a new one',
    (reuse) => {
      const text = (
        status: 'completed' | 'failed' | 'archived',
        outcome: 'no-changes' | 'failed' | 'archived',
      ) => {
        const progress = createProgress(job(status))
        if (reuse === 'message') progress.messageAccepted()
        else progress.attach()
        return annotation(progress, { outcome }, ALL).text
      }
      const NEW = 'To start a new job, run a step with a prompt and no job-id'
      const PROMPT = 'run a step with "job-id: job-1" and a prompt.'
      expect(text('failed', 'failed')).toBe(
        `Job "job-1" failed. See the service's dashboard for the reason. ${NEW}, or send this one a message: ${PROMPT}`,
      )
      expect(text('archived', 'archived')).toBe(
        `Job "job-1" was archived. An archived job won't produce anything more. ${NEW}.`,
      )
      expect(text('completed', 'no-changes')).toBe(
        'Job "job-1" completed without a pull request. If you expected changes, ' +
          (reuse === 'attach'
            ? `send the job a message that says which pages to change and how: ${PROMPT} `
            : 'say in the prompt which pages to change and how, then run it again. ') +
          "The service's dashboard shows what the agent did.",
      )
    },
  )

  test('of a cancel after the job has ended does not say that it is running', () => {
    expect(annotation(createProgress(job('failed')), { outcome: 'cancelled' }, ALL).text).toBe(
      'The step was cancelled. Job "job-1" has ended: failed.',
    )
    const messaged = createProgress(job('failed'))
    messaged.messageAccepted()
    expect(annotation(messaged, { outcome: 'cancelled' }, ALL).text).toMatch(/is still running/)
  })

  test('of a job that was never seen does not say that it is running', () => {
    expect(annotation(createReused(), { outcome: 'timed-out' }, ALL).text).toBe(
      'Nothing is known about the status of job "job-1" after 1 min 5 s. It may still be running on the service. ' +
        'To wait for it, run a step with "job-id: job-1" and no prompt. To wait longer next time, raise timeout-minutes.',
    )
  })

  test('of a message that was not waited for says only that it was accepted', () => {
    const progress = createReused()
    progress.messageAccepted()
    progress.update(job('archived'))
    expect(annotation(progress, { outcome: 'started' }, ALL).text).toMatch(
      /^Job "job-1" accepted the message; this step did not wait for it to finish\. /,
    )
  })

  test('of pr-opened is the link', () => {
    const progress = createProgress(job('completed', { prLink: LINK }))
    expect(annotation(progress, { outcome: 'pr-opened' }, ALL)).toEqual({
      level: 'notice',
      text: `Pull request: ${LINK}`,
    })
  })

  test.each([
    [
      { outcome: 'skipped', reason: 'a reason' },
      'log',
      'Nothing was sent: a reason. There is nothing to do.',
    ],
    [{ outcome: 'dry-run' }, 'log', 'Nothing was sent. Remove dry-run to send it.'],
    [
      { outcome: 'cancelled' },
      'error',
      'The step was cancelled. The service had not accepted anything from this step.',
    ],
    [{ outcome: 'error', error: createError() }, 'error', 'What happened. What to do.'],
    [
      { outcome: 'cancelled', error: createError() },
      'error',
      'The step was cancelled. What happened. What to do.',
    ],
  ] as [RunResult, string, string][])('of %j before there is a job', (result, level, text) => {
    expect(annotation(createProgress(), result, ALL)).toEqual({ level, text })
  })

  test.each([
    ['timed-out', /"job-1" is still running after 1 min 5 s.*job-id: job-1.*no prompt.*timeout-minutes/],
    ['failed', /"job-1" failed.*dashboard.*job-id: job-1/],
    ['archived', /"job-1" was archived/],
    ['no-changes', /"job-1" completed without a pull request/],
    ['cancelled', /cancelled.*job-1.* is still running.*job-id: job-1.*no prompt/],
    ['error', /What happened\. What to do\./],
  ] as const)('of %s says what happened and what to do', (outcome, pattern) => {
    expect(annotation(createProgress(job('active')), resultOf(outcome), ALL).text).toMatch(pattern)
  })

  test('of a failed job has its link too', () => {
    expect(
      annotation(createProgress(job('failed', { prLink: LINK })), { outcome: 'failed' }, ALL).text,
    ).toContain(LINK)
  })

  test('of bad input is one line per problem and nothing more', () => {
    const error = new InputError(
      [
        { input: 'wait', text: 'expected b, got "a". Do c.' },
        { input: 'prompt', text: 'required.' },
      ],
      '',
    )
    expect(annotation(createProgress(), { outcome: 'error', error }, NONE)).toEqual({
      level: 'error',
      text: 'wait: expected b, got "a". Do c.\nprompt: required.',
    })
  })

  test('of an unknown result says so even after a cancel', () => {
    const result: RunResult = { outcome: 'cancelled', error: createError('create-unknown') }
    expect(annotation(createProgress(), result, NONE).text).toMatch(/cancelled.*What happened\. What to do\./)
  })

  test('has no stack trace', () => {
    const result: RunResult = { outcome: 'error', error: internalError(new TypeError('x is undefined')) }
    const { text } = annotation(createProgress(), result, NONE)
    expect(text).toContain('x is undefined')
    expect(text).not.toMatch(/\n|\bat .*:\d+/)
  })

  test('says how to wait for a job that accepted the message but was not seen since', () => {
    expect(annotation(createReused(), resultOf('error'), NONE).text).toContain('job-id: job-1')
  })
})

describe('what to do next', () => {
  test.each(OUTCOMES)('is one line for %s', (outcome) => {
    const text = describeOutcome(createProgress(job('active')), resultOf(outcome), plain).next
    expect(text).not.toMatch(/undefined|null|\n/)
    expect(text).toMatch(/\.$/)
  })

  test.each(['timed-out', 'started', 'cancelled', 'error'] as const)('names the job after %s', (outcome) => {
    expect(describeOutcome(createProgress(job('active')), resultOf(outcome), plain).next).toContain(
      'job-id: job-1',
    )
  })

  test.each([
    ['never seen', createReused()],
    ['seen before', createReused(job('active'))],
  ])('does not send the reader to a job that the service does not find, %s', (_, progress) => {
    expect(describeOutcome(progress, { outcome: 'error', error: createError('not-found') }, plain).next).toBe(
      'What to do.',
    )
  })

  test('of pr-opened is to review it', () => {
    const progress = createProgress(job('completed', { prLink: LINK }))
    expect(describeOutcome(progress, { outcome: 'pr-opened' }, plain).next).toBe(
      'Review the pull request, then merge it.',
    )
  })

  test('does not send the reader to a job that does not exist', () => {
    const progress = createProgress()
    progress.follow('job-1')
    expect(describeOutcome(progress, { outcome: 'error', error: createError('not-found') }, plain).next).toBe(
      'What to do.',
    )
  })

  test('after a cancel says that a job is still running only if there is one', () => {
    const none = describeOutcome(createProgress(), { outcome: 'cancelled' }, plain).next
    expect(none).not.toMatch(/running|job-id/)
    const seen = createProgress(job('active'))
    expect(describeOutcome(seen, { outcome: 'cancelled' }, plain).next).toMatch(/^Job job-1 is still running/)
    expect(describeOutcome(createReused(), { outcome: 'cancelled' }, plain).next).toMatch(
      /^Job job-1 may still be running/,
    )
    const found = createProgress()
    found.follow('job-1')
    expect(describeOutcome(found, { outcome: 'cancelled' }, plain).next).toMatch(
      /^The service had not accepted anything from this step\. Job job-1 may still be running on the service\. To wait/,
    )
  })

  test('passes text from outside through the given function', () => {
    const shown = describeOutcome(
      createProgress(job('active')),
      { outcome: 'timed-out' },
      (text) => `<${text}>`,
    ).next
    expect(shown).toContain('<job-id: job-1>')
  })
})
