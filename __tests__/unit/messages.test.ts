// Outputs, log lines and the one annotation: for every outcome, whatever the service said.
import { describe, expect, test } from '@jest/globals'
import { FAIL_ON, type FailOn, failsStep, type Job, OUTCOMES, type Outcome } from '../../src/agent/job.js'
import { ActionError, type ErrorCode, internalError } from '../../src/errors.js'
import { createRedactor } from '../../src/escape.js'
import { InputError, type Inputs, type Task } from '../../src/inputs/inputs.js'
import {
  annotation,
  endLine,
  heartbeatLine,
  JOB_LIMIT,
  nextStep,
  OUTPUTS,
  outputs,
  startLine,
  statusLine,
} from '../../src/report/messages.js'
import type { End } from '../../src/run/ports.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'
import { INPUTS, job, LINK } from './scripted-run.js'

const KEY = 'mint_s3cr3t'
const redact = createRedactor(KEY)
const plain = (text: string): string => text

function progressed(...jobs: Job[]) {
  const clock = new FakeClock()
  const progress = new Progress(clock)
  clock.advance(65_999)
  for (const one of jobs) progress.see(one)
  return progress
}

const fault = (code: ErrorCode = 'auth'): ActionError =>
  new ActionError(code, 'What happened.', 'What to do.')

describe('outputs', () => {
  test('are all set at the end, and never null', () => {
    const all = outputs(progressed(job('completed', { prLink: LINK })), { outcome: 'pr-opened' }, redact)
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

  test('that nothing is known of are empty', () => {
    expect(outputs(progressed(), { outcome: 'error', error: fault('input') }, redact)).toEqual({
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

  test('leave out what only the end tells while it goes on', () => {
    const so = outputs(progressed(job('active')), undefined, redact)
    expect(so).toMatchObject({ 'job-id': 'job-1', status: 'active', reused: 'false' })
    expect(Object.keys(so)).not.toEqual(expect.arrayContaining(['outcome']))
    expect(Object.keys(so)).not.toEqual(expect.arrayContaining(['error-code']))
  })

  test.each(OUTCOMES)('hold the outcome %s', (outcome) => {
    expect(outputs(progressed(), { outcome }, redact)).toMatchObject({ outcome, 'error-code': '' })
  })

  test.each([
    ['error', 'rate-limited'],
    ['error', 'create-unknown'],
    ['cancelled', 'create-unknown'],
  ] as const)('hold with %s the code %s', (outcome, code) => {
    expect(outputs(progressed(), { outcome, error: fault(code) }, redact)['error-code']).toBe(code)
  })

  test.each(['queued', 'Active', '', 'x\ny'])('never hold the strange status %j', (word) => {
    expect(outputs(progressed(job(word)), undefined, redact).status).toBe('')
    expect(outputs(progressed(job('active'), job(word)), undefined, redact).status).toBe('active')
  })

  test.each([
    [true, undefined, 'true'],
    [false, undefined, 'false'],
    [true, fault('auth'), 'true'],
    [false, fault('not-found'), 'false'],
  ])('say reused %p with the error %p as %s', (reused, error, said) => {
    const progress = progressed()
    progress.reused = reused
    const end: End = error === undefined ? { outcome: 'started' } : { outcome: 'error', error }
    expect(outputs(progress, end, redact).reused).toBe(said)
  })
})

test('a job that is not there was not reused, one that was seen and then lost was', () => {
  const gone: End = { outcome: 'error', error: fault('not-found') }
  const never = Object.assign(progressed(), { reused: true })
  const lost = Object.assign(progressed(job('active')), { reused: true })
  expect(outputs(never, gone, redact).reused).toBe('false')
  expect(outputs(lost, gone, redact).reused).toBe('true')
})

describe('the output job', () => {
  const jobOutput = (fields: Record<string, unknown>): string =>
    outputs(progressed(job('active', fields)), { outcome: 'started' }, redact).job ?? ''

  test('is the whole object, what is new in it too', () => {
    const fields = { new: { deep: [1, 'ü', null] }, source: { ref: null } }
    expect(JSON.parse(jobOutput(fields))).toEqual({ id: 'job-1', status: 'active', prLink: null, ...fields })
  })

  test.each([
    ['plainly', KEY],
    ['percent-encoded', KEY.replace('_', '%5f')],
    ['inside of a text', `a ${KEY} b`],
  ])('has the key replaced where it stands %s', (_, text) => {
    const said = jobOutput({ text, [text]: 1 })
    expect(said).not.toContain('s3cr3t')
    expect(JSON.parse(said).text).toContain('***')
  })

  test('is left out where it would be no JSON any more without the key', () => {
    const number = outputs(progressed(job('active', { n: 12345 })), { outcome: 'started' }, createRedactor('234'))
    expect(number.job).toBe('')
  })

  test('is left out over 256 KiB, counted in bytes', () => {
    const frame = JSON.stringify(job('active', { text: '' }).received).length
    expect(JOB_LIMIT).toBe(262_144)
    expect(jobOutput({ text: 'x'.repeat(JOB_LIMIT - frame) })).toHaveLength(JOB_LIMIT)
    expect(jobOutput({ text: 'x'.repeat(JOB_LIMIT - frame + 1) })).toBe('')
    expect(jobOutput({ text: 'ü'.repeat(JOB_LIMIT / 2) })).toBe('')
  })

  test('is left out where it is nested too deep to be written', () => {
    let deep: unknown = []
    for (let depth = 0; depth < 200_000; depth++) deep = [deep]
    expect(jobOutput({ deep })).toBe('')
  })
})

describe('the line at the start', () => {
  const line = (task: Task, more: Partial<Inputs> = {}): string =>
    startLine({ ...INPUTS, task, apiKey: KEY, ...more })

  test.each([
    ['create', { kind: 'create', prompt: 'ü'.repeat(1500) }, /creat.*1,500 characters \(3,000 bytes\)/i],
    [
      'message',
      { kind: 'message', jobId: 'job-1', prompt: 'Secret plan' },
      /message.*11 characters.*"job-1"/,
    ],
    ['wait', { kind: 'attach', jobId: 'job-1' }, /"job-1".*nothing is sent/],
  ] as const)('of a %s says what is sent and where, without prompt and key', (_, task, says) => {
    expect(line(task)).toMatch(says)
    expect(line(task)).toMatch(/"p-1" at https:\/\/api\.mintlify\.com/)
    expect(line(task)).not.toMatch(/üü|plan|s3cr3t|\n/)
  })

  test('is one line, whatever stands in the ids', () => {
    expect(line({ kind: 'attach', jobId: 'a\n::error::b' }, { projectId: 'c\r\nd' })).not.toMatch(/[\r\n]/)
  })
})

describe('the lines on the way', () => {
  test('at a change of state: the job, its state, the time, the link', () => {
    expect(statusLine(progressed(job('active')))).toBe('Job "job-1" is active after 1 min 5 s.')
    expect(statusLine(progressed(job('completed', { prLink: LINK })))).toBe(
      `Job "job-1" is completed after 1 min 5 s, pull request ${LINK}.`,
    )
  })

  test('never have a word of the service that is not in its list', () => {
    expect(statusLine(progressed(job('##[error]x')))).not.toContain('x]')
    expect(heartbeatLine(progressed(job('##[error]x')))).not.toContain('##[')
  })

  test('once a minute: what is being waited for', () => {
    expect(heartbeatLine(progressed(job('active')))).toBe('Job "job-1" is still active after 1 min 5 s.')
    const sending = progressed()
    sending.sending = true
    expect(heartbeatLine(sending)).toMatch(/answer after 1 min 5 s/)
    expect(heartbeatLine(progressed())).toMatch(/trying after 1 min 5 s/)
  })

  test('at the end: the time, the outcome, the code', () => {
    expect(endLine(progressed(), { outcome: 'pr-opened' })).toBe('Ended after 1 min 5 s: pr-opened.')
    expect(endLine(progressed(), { outcome: 'error', error: fault() })).toBe(
      'Ended after 1 min 5 s: error (auth).',
    )
  })
})

const endWith = (outcome: Outcome): End => (outcome === 'error' ? { outcome, error: fault() } : { outcome })

describe('the annotation', () => {
  const ALL = new Set<FailOn>(FAIL_ON)
  const NONE = new Set<FailOn>()
  const cases = OUTCOMES.flatMap((outcome) =>
    [ALL, NONE].flatMap((failOn) =>
      ['', LINK].map((link) => ({ outcome, failOn, link, on: [...failOn].length })),
    ),
  )

  test.each(cases)(
    'of $outcome with $on words in fail-on and the link "$link"',
    ({ outcome, failOn, link }) => {
      const { level, text } = annotation(
        progressed(job('active', { prLink: link })),
        endWith(outcome),
        failOn,
      )
      expect(level).toBe(failsStep(outcome, failOn) ? 'error' : link === '' ? 'log' : 'notice')
      expect(text).not.toBe('')
      expect(text).not.toContain('undefined')
      if (level === 'notice') expect(text).toContain(LINK)
    },
  )

  test.each([
    ['timed-out', /"job-1" has not ended after 1 min 5 s.*job-id: job-1.*no prompt.*timeout-minutes/],
    ['failed', /"job-1" failed.*dashboard.*job-id: job-1/],
    ['archived', /"job-1" was archived/],
    ['no-changes', /"job-1" completed without a pull request/],
    ['cancelled', /cancelled.*job-1.* goes on.*job-id: job-1.*no prompt/],
    ['error', /What happened\. What to do\./],
  ] as const)('of %s says what happened and what to do', (outcome, says) => {
    expect(annotation(progressed(job('active')), endWith(outcome), ALL).text).toMatch(says)
  })

  test('of a job that failed has its link too', () => {
    expect(
      annotation(progressed(job('failed', { prLink: LINK })), { outcome: 'failed' }, ALL).text,
    ).toContain(LINK)
  })

  test('of bad input is one line a fault and nothing more', () => {
    const error = new InputError(
      [
        { input: 'wait', text: 'got "a"; takes b. Do c.' },
        { input: 'prompt', text: 'got nothing.' },
      ],
      '',
    )
    expect(annotation(progressed(), { outcome: 'error', error }, NONE)).toEqual({
      level: 'error',
      text: 'wait: got "a"; takes b. Do c.\nprompt: got nothing.',
    })
  })

  test('of something unknown says so also with a cancel', () => {
    const end: End = { outcome: 'cancelled', error: fault('create-unknown') }
    expect(annotation(progressed(), end, NONE).text).toMatch(/cancelled.*What happened\. What to do\./)
  })

  test('has no stack trace', () => {
    const end: End = { outcome: 'error', error: internalError(new TypeError('x is undefined')) }
    const { text } = annotation(progressed(), end, NONE)
    expect(text).toContain('x is undefined')
    expect(text).not.toMatch(/\n|\bat .*:\d+/)
  })

  test('tells how to pick up a job that took the message but was not seen since', () => {
    const progress = progressed()
    progress.jobId = 'job-1'
    progress.reused = true
    expect(annotation(progress, endWith('error'), NONE).text).toContain('job-id: job-1')
  })
})

describe('what to do next', () => {
  test.each(OUTCOMES)('is said in one line for %s', (outcome) => {
    const said = nextStep(progressed(job('active')), endWith(outcome), plain)
    expect(said).not.toMatch(/undefined|null|\n/)
    if (outcome !== 'skipped') expect(said).toMatch(/\.$/)
  })

  test.each(['timed-out', 'started', 'cancelled', 'error'] as const)('names the job after %s', (outcome) => {
    expect(nextStep(progressed(job('active')), endWith(outcome), plain)).toContain('job-id: job-1')
  })

  test('does not send a reader to a job that is not there', () => {
    const progress = progressed()
    progress.jobId = 'job-1'
    expect(nextStep(progress, { outcome: 'error', error: fault('not-found') }, plain)).toBe('What to do.')
  })

  test('after a cancel says that a job goes on only where there is one', () => {
    const none = nextStep(progressed(), { outcome: 'cancelled' }, plain)
    expect(none).not.toMatch(/goes on|job-id/)
    const reused = progressed()
    reused.jobId = 'job-1'
    reused.reused = true
    expect(nextStep(reused, { outcome: 'cancelled' }, plain)).toMatch(/job-1 goes on/)
  })

  test('shows text from outside as it is asked to', () => {
    const said = nextStep(progressed(job('active')), { outcome: 'timed-out' }, (text) => `<${text}>`)
    expect(said).toContain('<job-id: job-1>')
  })
})
