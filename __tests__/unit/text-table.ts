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
import type { FakeClock } from './fake-clock.js'
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
  readonly clock: FakeClock
  readonly progress: Progress
  readonly report: StepReport
}

/** What is true, and not read from the code under test. */
interface Facts {
  /** A create request or a message has left this machine. */
  readonly posted?: true
  /** This request is in flight, or its result is unknown. */
  readonly unknown?: 'create' | 'message'
  /**
   * The job that was accepted, or is waited for: seen running by the last request, seen before the last request missed it,
   * seen with a status that is not documented, never seen (since the message), or seen at its end.
   */
  readonly job?: 'runs' | 'missed' | 'undocumented' | 'unseen' | 'ended'
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

/** Why a request failed. */
const responded = ({ words }: Outside): string => `the service responded 503: ${quote(words)}`

/** As the client describes a response: on one line. */
const refusal = (status: number, { words }: Outside): Refusal => ({
  kind: 'error-response',
  status,
  description: `${status}: ${quote(words)}`,
  retryAfter: undefined,
})

const pollRefused = (status: number): End =>
  error(({ outside, progress }) => {
    const refused = rejected(refusal(status, outside), {
      kind: 'poll',
      seen: progress.job !== undefined || progress.reuse === 'message',
    })
    progress.missed(refused.message)
    return refused
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
  'skipped, a stranger': () => ({
    outcome: 'skipped',
    reason:
      'renovate[bot], who opened the pull request, has no write access to your-org/your-repo and is not in allow-users',
    advice: 'To let them start jobs, add the login to allow-users.',
  }),
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
  'unknown create': error(({ outside }) => resultUnknown({ kind: 'create' }, responded(outside))),
  'unknown message': error(({ outside }) =>
    resultUnknown({ kind: 'message', jobId: outside.id }, responded(outside)),
  ),
  'cancelled, unknown create': ({ outside }) => ({
    outcome: 'cancelled',
    error: resultUnknown({ kind: 'create' }, responded(outside)),
  }),
  'no job in the response': error(({ outside }) => createdWithoutJob(`200: ${quote(outside.words)}`)),
  'no job in the last responses': error(({ outside }) =>
    missingJob(outside.id, `no job (200: ${quote(outside.words)})`),
  ),
  'create refused, 403': error(({ outside }) => rejected(refusal(403, outside), { kind: 'create' })),
  'message refused, 403': error(({ outside }) => rejected(refusal(403, outside), { kind: 'message' })),
  'poll refused, 403': pollRefused(403),
  'poll refused, 404': pollRefused(404),
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
/** A status request that fails, a while after the one before. */
const misses = ({ clock, outside, progress }: Told): void => {
  clock.advance(20_000)
  progress.missed(responded(outside))
}
const hasUndocumentedStatus = (step: Told): void => sees(step.outside.words)(step)
const isUnknown = ({ progress }: Told): void => {
  progress.request = 'unknown'
}

/** As GitHub's errors are worded, with the words of GitHub in quotes. */
const hasNotes = ({ progress, outside }: Told): void => {
  progress.notes.push(
    `GitHub: reading the pull request failed: 503, ${quote(outside.words)}. The prompt doesn't say what changed.`,
    'GitHub: writing the check failed: 403. Add the permission to the workflow job: `permissions: checks: write`.',
  )
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
    ends: [
      'so far',
      'skipped',
      'skipped, a stranger',
      'dry-run',
      'bad input',
      'no permission',
      'an exception',
      'cancelled',
    ],
  },
  'start with a job-id': { happens: follows, ends: ['so far', 'bad input', 'cancelled'] },
  'with notes': { happens: hasNotes, ends: ['so far', 'skipped'] },
  'with a remembered job': {
    happens: followsUp,
    link: LINK,
    ends: ['so far', 'dry-run', 'skipped', 'cancelled', 'no permission'],
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
  'message refused': { ...posted(follows), ends: ['so far', 'message refused, 403', 'cancelled'] },
  'message refused, follow-up': { ...posted(followsUp), link: LINK, ends: ['message refused, 403'] },
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
  'created, then missed': {
    ...posted(sees('active'), misses),
    job: 'missed',
    ends: ['so far', 'timed-out', 'cancelled', 'poll refused, 404'],
  },
  'created, with a link, then missed': {
    ...posted(sees('active', LINK), misses),
    job: 'missed',
    link: LINK,
    ends: ['timed-out', 'cancelled', 'poll refused, 403'],
  },
  'created, undocumented status': {
    ...posted(hasUndocumentedStatus),
    job: 'undocumented',
    ends: ['so far', 'timed-out', 'started', 'cancelled'],
  },
  'created, then an undocumented status': {
    ...posted(sees('active'), hasUndocumentedStatus),
    job: 'undocumented',
    ends: ['so far', 'timed-out'],
  },
  'created, undocumented status, then missed': {
    ...posted(sees('active'), hasUndocumentedStatus, misses),
    job: 'missed',
    ends: ['so far', 'timed-out'],
  },
  'created in place of another': {
    ...posted(followsUp, ({ progress }) => progress.forget(), sees('active')),
    job: 'runs',
    ends: ['so far', 'timed-out'],
  },
  'created in place of another, to continue its pull request': {
    ...posted(followsUp, ({ progress }) => progress.forget(LINK), sees('active')),
    job: 'runs',
    link: LINK,
    ends: ['so far', 'timed-out', 'cancelled'],
  },
  'pull request, with notes': {
    ...posted(sees('active'), hasNotes, sees('completed', LINK)),
    job: 'ended',
    link: LINK,
    ends: ['pr-opened'],
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
  'messaged, missed': { ...messaged(misses), job: 'unseen', ends: ['so far', 'timed-out', 'cancelled'] },
  // The status predates the message, which the job has accepted.
  'messaged, had ended': { ...messaged(sees('archived')), job: 'unseen', ends: ['started', 'cancelled'] },
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
  'attached, undocumented status': {
    ...attached(hasUndocumentedStatus),
    job: 'undocumented',
    ends: ['so far', 'started'],
  },
  'attached, completed': { ...attached(sees('completed')), job: 'ended', ends: ['no-changes'] },
  'attached, failed': { ...attached(sees('failed')), job: 'ended', ends: ['failed', 'cancelled'] },
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
    const refuse = (kind: 'create' | 'message'): End =>
      error(({ outside }) => rejected(refusal(status, outside), { kind }))
    return [
      ['create refused', `${status}`, refuse('create')],
      ['message refused', `${status}`, refuse('message')],
      ['created', `${status}`, pollRefused(status)],
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
  return {
    ...facts,
    ...defaults,
    name: `${state}: ${name}`,
    end,
    gone: state === 'attached' && name.endsWith('404'),
    ...more,
  }
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
