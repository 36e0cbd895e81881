/** How far a step can be, and how it can end from there: the table of which the texts are told. */

import type { ServiceResult } from '../../src/agent/client.js'
import { FAIL_ON, type FailOn, type Outcome } from '../../src/agent/job.js'
import {
  cannotConnect,
  createdWithoutJob,
  missingJob,
  rejected,
  resultUnknown,
} from '../../src/agent/problems.js'
import { ActionError, internalError } from '../../src/errors.js'
import { oneLine, quote } from '../../src/escape.js'
import { InputError } from '../../src/inputs/inputs.js'
import type { StepReport } from '../../src/report/report.js'
import type { RunResult } from '../../src/run/ports.js'
import type { Progress } from '../../src/run/progress.js'
import { job, LINK } from './scripted-run.js'

/** Texts that others choose. */
export interface Outside {
  readonly id: string
  readonly project: string
  readonly url: string
  readonly words: string
}

export interface Told {
  readonly outside: Outside
  readonly progress: Progress
  readonly report: StepReport
}

/** What is true, and not read from the code under test. */
interface Facts {
  /** A create request or a message has left this machine. */
  readonly posted?: true
  /** This request is in flight, or its result is unknown. */
  readonly unknown?: 'create' | 'message'
  /** The job that was accepted, or is waited for: seen running, never seen, or seen at its end. */
  readonly job?: 'runs' | 'unseen' | 'ended'
  /** The pull request to show. */
  readonly link?: string
}

interface State extends Facts {
  readonly happens: (step: Told) => void
  readonly ends: readonly (keyof typeof ENDS)[]
}

export interface Row extends Facts {
  readonly name: string
  readonly happens: (step: Told) => void
  /** Undefined while the step runs. */
  readonly end: End | undefined
  readonly failOn: ReadonlySet<FailOn>
  readonly badInput: boolean
  readonly brokenOutputs: boolean
  /** Only its result is news. */
  readonly brief: boolean
  /** The service does not know the job: there is nothing to wait for. */
  readonly gone: boolean
}

type End = (step: Told) => RunResult

const DEFAULT_FAIL_ON = new Set<FailOn>(['failed', 'archived', 'timed-out'])

const plain =
  (outcome: Exclude<Outcome, 'skipped' | 'cancelled' | 'error'>): End =>
  () => ({ outcome })
const error =
  (create: (step: Told) => ActionError): End =>
  (step) => ({ outcome: 'error', error: create(step) })

type Refusal = Extract<ServiceResult, { kind: 'error-response' }>

/** As the client describes a response: on one line. */
const refusal = (status: number, { words }: Outside): Refusal => ({
  kind: 'error-response',
  status,
  description: `${status}: ${oneLine(words)}`,
  retryAfter: undefined,
})

const unconnected = (permanent: Parameters<typeof cannotConnect>[0]['permanent'], posted: boolean): End =>
  error(({ outside }) =>
    cannotConnect({ kind: 'not-sent', reason: oneLine(outside.words), permanent, cause: undefined }, posted),
  )

const ENDS = {
  'so far': undefined,
  'pr-opened': plain('pr-opened'),
  'no-changes': plain('no-changes'),
  failed: plain('failed'),
  archived: plain('archived'),
  'timed-out': plain('timed-out'),
  started: plain('started'),
  'dry-run': plain('dry-run'),
  cancelled: () => ({ outcome: 'cancelled' }),
  skipped: ({ outside }) => ({ outcome: 'skipped', reason: quote(outside.words) }),
  'bad input': error(({ outside }) => {
    const lines = [`wait: expected true or false, got ${quote(outside.words)}.`, 'prompt: no instruction.']
    return new InputError(lines, '')
  }),
  'no permission': error(
    () => new ActionError('github', 'Reading the comments failed.', 'Add issues: write to permissions.'),
  ),
  'an exception': error(() => internalError(new TypeError('x is not a function'))),
  'ended in flight': error(({ report }) => report.resultUnknown() as ActionError),
  'cancelled in flight': ({ report }) => ({ outcome: 'cancelled', error: report.resultUnknown() }),
  'unknown create': error(({ outside }) => resultUnknown({ kind: 'create' }, oneLine(outside.words))),
  'unknown message': error(({ outside: { id, words } }) =>
    resultUnknown({ kind: 'message', jobId: id }, oneLine(words)),
  ),
  'cancelled, unknown create': ({ outside }) => ({
    outcome: 'cancelled',
    error: resultUnknown({ kind: 'create' }, oneLine(outside.words)),
  }),
  'no job in the response': error(({ outside }) => createdWithoutJob(oneLine(outside.words))),
  'no job in the last responses': error(({ outside }) => missingJob(outside.id, oneLine(outside.words))),
  'create refused, 403': error(({ outside }) => rejected(refusal(403, outside), { kind: 'create' })),
  'poll refused, 403': error(({ outside }) => rejected(refusal(403, outside), { kind: 'poll' })),
  'poll refused, 404': error(({ outside }) => rejected(refusal(404, outside), { kind: 'poll' })),
} satisfies Record<string, End | undefined>

const IN_FLIGHT = ['so far', 'ended in flight', 'cancelled in flight'] as const
const POLLED = ['poll refused, 403', 'poll refused, 404'] as const

/** The job as the service shows it. */
const sees =
  (status: string, prLink: string | null = null, linkRejected = false) =>
  ({ outside, report }: Told): void =>
    report.onJob({ ...job(status, { id: outside.id, prLink, text: outside.words }), linkRejected })
const seesBadLink = (status: string) => sees(status, null, true)
const follows = ({ progress, outside }: Told): void => progress.follow(outside.id)
const followsUp = ({ progress, outside }: Told): void => progress.follow(outside.id, LINK)
const isSent = ({ progress }: Told): void => {
  progress.request = 'sending'
}
const isUnknown = ({ progress }: Told): void => {
  progress.request = 'unknown'
}

const all =
  (...steps: ((step: Told) => void)[]) =>
  (step: Told): void => {
    for (const one of steps) one(step)
  }

/** A request that has left: a create request, or a message after `follows`. */
const posted = (...happened: ((step: Told) => void)[]) => ({
  posted: true as const,
  happens: all(
    ({ progress }) => {
      progress.posted = true
    },
    ...happened,
  ),
})
const messaged = (...happened: ((step: Told) => void)[]) =>
  posted(follows, ({ progress }) => progress.messageAccepted(), ...happened)
const attached = (...happened: ((step: Told) => void)[]) => ({
  happens: all(follows, ({ progress }) => progress.attach(), ...happened),
})

const GITLAB = 'https://gitlab.example.com/group/docs/-/merge_requests/8'
const OTHER = 'https://example.com/x'

const STATES: Record<string, State> = {
  start: {
    happens: all(),
    ends: ['so far', 'skipped', 'dry-run', 'bad input', 'no permission', 'an exception', 'cancelled'],
  },
  'start with a job-id': { happens: follows, ends: ['so far', 'bad input', 'cancelled'] },
  'with notes': {
    happens: ({ progress, outside }) => void progress.notes.push(outside.words, 'Another note.'),
    ends: ['so far'],
  },

  'create in flight': { happens: isSent, unknown: 'create', ends: IN_FLIGHT },
  'message in flight': { happens: all(follows, isSent), unknown: 'message', ends: IN_FLIGHT },
  'message in flight, follow-up': {
    happens: all(followsUp, isSent),
    unknown: 'message',
    link: LINK,
    ends: ['so far'],
  },
  'create in flight, after a job that is gone': {
    happens: all(followsUp, ({ progress }) => progress.forget(LINK), isSent),
    unknown: 'create',
    link: LINK,
    ends: IN_FLIGHT,
  },
  'create refused': { ...posted(), ends: ['so far', 'create refused, 403', 'cancelled'] },
  'message refused': { ...posted(follows), ends: ['so far', 'cancelled'] },
  'create unknown': {
    ...posted(isUnknown),
    unknown: 'create',
    ends: ['unknown create', 'cancelled, unknown create', 'no job in the response'],
  },
  'message unknown': { ...posted(follows, isUnknown), unknown: 'message', ends: ['unknown message'] },

  created: {
    ...posted(sees('active')),
    job: 'runs',
    ends: ['so far', 'timed-out', 'started', 'cancelled', 'no job in the last responses'],
  },
  'created, with a link': {
    ...posted(sees('active', LINK)),
    job: 'runs',
    link: LINK,
    ends: ['so far', 'timed-out', 'cancelled'],
  },
  'created, undocumented status': {
    ...posted((step) => sees(step.outside.words)(step)),
    job: 'runs',
    ends: ['so far', 'timed-out'],
  },
  'pull request': {
    ...posted(sees('active'), sees('completed', LINK)),
    job: 'ended',
    link: LINK,
    ends: ['pr-opened', 'cancelled'],
  },
  'merge request': { ...posted(sees('completed', GITLAB)), job: 'ended', link: GITLAB, ends: ['pr-opened'] },
  'another link': { ...posted(sees('completed', OTHER)), job: 'ended', link: OTHER, ends: ['pr-opened'] },
  completed: { ...posted(sees('completed')), job: 'ended', ends: ['no-changes'] },
  'completed, unusable link': { ...posted(seesBadLink('completed')), job: 'ended', ends: ['no-changes'] },
  failed: { ...posted(sees('failed')), job: 'ended', ends: ['failed', 'cancelled', 'an exception'] },
  'failed, unusable link': { ...posted(seesBadLink('failed')), job: 'ended', ends: ['failed'] },
  'failed, with a link': { ...posted(sees('failed', LINK)), job: 'ended', link: LINK, ends: ['failed'] },
  archived: { ...posted(sees('archived')), job: 'ended', ends: ['archived'] },
  'archived, with a link': {
    ...posted(sees('archived', LINK)),
    job: 'ended',
    link: LINK,
    ends: ['archived'],
  },

  messaged: {
    ...messaged(),
    job: 'unseen',
    ends: ['so far', 'timed-out', 'started', 'cancelled', ...POLLED],
  },
  'messaged, runs': {
    ...messaged(sees('active')),
    job: 'runs',
    ends: ['timed-out', 'started', 'poll refused, 404'],
  },
  // The status predates the message, which the job has accepted.
  'messaged, had ended': { ...messaged(sees('archived')), job: 'runs', ends: ['started', 'cancelled'] },
  'messaged, follow-up': {
    ...messaged(followsUp, sees('active')),
    job: 'runs',
    link: LINK,
    ends: ['so far', 'timed-out'],
  },
  'messaged, follow-up without changes': {
    ...messaged(followsUp, sees('completed')),
    job: 'ended',
    ends: ['no-changes'],
  },
  'messaged, failed': { ...messaged(sees('active'), sees('failed')), job: 'ended', ends: ['failed'] },
  'messaged, archived': { ...messaged(sees('archived')), job: 'ended', ends: ['archived'] },

  attached: { ...attached(), job: 'unseen', ends: ['so far', 'cancelled', ...POLLED] },
  'attached, runs': { ...attached(sees('active')), job: 'runs', ends: ['started', 'poll refused, 404'] },
  'attached, completed': { ...attached(sees('completed')), job: 'ended', ends: ['no-changes'] },
  'attached, failed': { ...attached(sees('failed')), job: 'ended', ends: ['failed'] },
}

/** Of these, the outputs can't be written at the end. */
const BROKEN = [
  ['start', 'cancelled'],
  ['create refused', 'cancelled'],
  ['create unknown', 'unknown create'],
  ['message unknown', 'unknown message'],
  ['created', 'timed-out'],
  ['pull request', 'pr-opened'],
  ['messaged, had ended', 'started'],
  ['start', 'an exception'],
] as const

/** Every way in which the service refuses, or can't be reached. */
const PROBLEMS: readonly (readonly [state: string, name: string, end: End])[] = [
  ...[300, 399, 400, 401, 403, 404, 409, 418, 429].flatMap((status) => {
    const refuse = (kind: 'create' | 'message' | 'poll'): End =>
      error(({ outside }) => rejected(refusal(status, outside), { kind }))
    return [
      ['create refused', `${status}`, refuse('create')],
      ['message refused', `${status}`, refuse('message')],
      ['created', `${status}`, refuse('poll')],
    ] as const
  }),
  ...([undefined, 'server-certificate', 'proxy-certificate', 'proxy-authentication'] as const).flatMap(
    (permanent) => {
      const name = `no connection: ${permanent ?? 'for now'}`
      return [
        ['start', name, unconnected(permanent, false)],
        ['create refused', name, unconnected(permanent, true)],
      ] as const
    },
  ),
]

function createRow(name: string, state: string, end: End | undefined, more: Partial<Row> = {}): Row {
  const { ends: _, ...facts } = STATES[state] as State
  const defaults = { failOn: DEFAULT_FAIL_ON, badInput: false, brokenOutputs: false, brief: false }
  return { ...facts, ...defaults, name: `${state}: ${name}`, end, gone: name.endsWith('404'), ...more }
}

const FULL = Object.entries(STATES).flatMap(([state, { ends }]) =>
  ends.map((name) => createRow(name, state, ENDS[name], { badInput: name === 'bad input' })),
)

export const ROWS: readonly Row[] = [
  ...FULL,
  ...FULL.flatMap((row) => {
    const outcome = FAIL_ON.find((word) => row.end !== undefined && row.end === ENDS[word])
    if (outcome === undefined) return []
    const fails = !DEFAULT_FAIL_ON.has(outcome)
    const name = `${row.name}, ${fails ? 'which fails' : 'which does not fail'} the step`
    return [{ ...row, name, failOn: new Set<FailOn>(fails ? FAIL_ON : []), brief: true }]
  }),
  ...BROKEN.map(([state, name]) =>
    createRow(`${name}, without outputs`, state, ENDS[name], { brokenOutputs: true, brief: true }),
  ),
  ...PROBLEMS.map(([state, name, end]) => createRow(name, state, end, { brief: true })),
]
