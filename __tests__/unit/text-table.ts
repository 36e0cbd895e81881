/** How far a step can be, and how it can end from there: the table of which the texts are told. */

import type { ServiceResult } from '../../src/agent/client.js'
import { DEFAULT_FAIL_ON, FAIL_ON, type FailOn, type Outcome } from '../../src/agent/job.js'
import {
  cannotConnect,
  createdWithoutJob,
  createRefusal,
  missingJob,
  resultUnknown,
} from '../../src/agent/problems.js'
import { InputError } from '../../src/inputs/inputs.js'
import type { StepReport } from '../../src/report/report.js'
import type { Progress } from '../../src/run/progress.js'
import type { RunResult } from '../../src/run/result.js'
import { ActionError, internalError } from '../../src/text/errors.js'
import { oneLine, quote } from '../../src/text/escape.js'
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
   * The job that was accepted, or is waited for: seen running by the last request, seen before the
   * last request missed it, seen with a status that is not documented, never seen (since the
   * message), or seen at its end.
   */
  readonly job?: 'runs' | 'missed' | 'undocumented' | 'unseen' | 'ended'
  /** The pull request to show. */
  readonly link?: string
}

interface State extends Facts {
  readonly happens: (step: Told) => void
  readonly ends: readonly (keyof typeof ENDS)[]
}

export interface Row extends Omit<State, 'ends'> {
  readonly name: string
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
  isPage: false,
})

const pollRefused = (status: number): End =>
  error(({ outside, progress }) => {
    const refused = createRefusal(refusal(status, outside), {
      kind: 'poll',
      seen: progress.job !== undefined || progress.accepted === 'message',
    })
    progress.missedReason = refused.message
    return refused
  })

const unconnected = (permanent: Parameters<typeof cannotConnect>[0]['permanent']): End =>
  error(({ outside }) =>
    cannotConnect({
      kind: 'not-sent',
      reason: oneLine(outside.words),
      permanent,
      cause: undefined,
    }),
  )

const ENDS = {
  'so far': undefined,
  'pr-opened': plain('pr-opened'),
  'no-changes': plain('no-changes'),
  failed: plain('failed'),
  archived: plain('archived'),
  'timed-out': plain('timed-out'),
  started: ({ progress }) => {
    progress.waits = false
    return { outcome: 'started' }
  },
  'dry-run': plain('dry-run'),
  cancelled: () => ({ outcome: 'cancelled' }),
  skipped: ({ outside }) => ({ outcome: 'skipped', reason: quote(outside.words) }),
  'skipped, a stranger': () => ({
    outcome: 'skipped',
    reason:
      'renovate[bot], who opened the pull request, has no write access to your-org/your-repo and is not in allow-users',
    advice: 'To let them start docs jobs, add the login to allow-users.',
  }),
  'skipped, docs closed': () => ({
    outcome: 'skipped',
    title: 'docs were closed',
    reason: `the docs pull request ${LINK} was closed without a merge`,
    advice: 'To get docs after all, reopen it.',
  }),
  'bad input': error(({ outside }) => {
    const lines = [
      `wait: expected true or false, got ${quote(outside.words)}.`,
      'prompt: no instruction.',
    ]
    return new InputError(lines)
  }),
  'no permission': error(
    () =>
      new ActionError(
        'github',
        'Reading the comments failed.',
        'Add issues: write to permissions.',
      ),
  ),
  'an exception': error(() => internalError(new TypeError('x is not a function.'))),
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
  'no job in the response': error(({ outside }) =>
    createdWithoutJob(`200: ${quote(outside.words)}`),
  ),
  'no job in the last responses': error(({ outside }) =>
    missingJob(outside.id, `no docs job (200: ${quote(outside.words)})`),
  ),
  'create refused, 403': error(({ outside }) =>
    createRefusal(refusal(403, outside), { kind: 'create' }),
  ),
  'message refused, 403': error(({ outside }) =>
    createRefusal(refusal(403, outside), { kind: 'message' }),
  ),
  'poll refused, 403': pollRefused(403),
  'poll refused, 404': pollRefused(404),
} satisfies Record<string, End | undefined>

const TIMED_OUT = ['so far', 'timed-out'] as const
const WAITED = [...TIMED_OUT, 'cancelled'] as const
const IN_FLIGHT = ['so far', 'ended in flight', 'cancelled in flight'] as const
const POLLED = ['poll refused, 403', 'poll refused, 404'] as const

/** The job as the service shows it. */
const sees =
  (status: string, prLink: string | null = null, linkRejected = false) =>
  ({ outside, report }: Told): void =>
    report.onJob({ ...job(status, { id: outside.id, prLink, text: outside.words }), linkRejected })
const seesBadLink = (status: string) => sees(status, null, true)
const follows = ({ progress, outside, report }: Told): void => {
  // A re-run finds the job there.
  Object.assign(report.comment ?? {}, { memory: 'stored' })
  progress.follow(outside.id)
}
const followsUp = ({ progress, outside }: Told): void => progress.follow(outside.id, LINK)
const isSent = ({ progress }: Told): void => {
  progress.request = 'sending'
}
/** A status request that fails, a while after the one before. */
const misses = ({ clock, outside, progress }: Told): void => {
  clock.advance(20_000)
  progress.missedReason = responded(outside)
}
const hasUndocumentedStatus = (step: Told): void => sees(step.outside.words)(step)
const isUnknown = ({ progress }: Told): void => {
  progress.request = 'unknown'
}

/** As GitHub's errors are worded, with the words of GitHub in quotes. */
const hasNotes = ({ progress, outside }: Told): void => {
  progress.notes.push(
    `GitHub: reading the pull request failed: 503, ${quote(outside.words)}`,
    'GitHub: writing the comment failed: 403. Add `issues: write` to the permissions of the workflow job.',
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
const accepts =
  (what: 'job' | 'message') =>
  ({ progress }: Told): void => {
    progress.accepted = what
  }
const onlyWaits = ({ progress }: Told): void => {
  progress.onlyWaits = true
}
type JobFact = NonNullable<Facts['job']>

/** The job that the request created is so. */
const created = (job: JobFact, ...happened: ((step: Told) => void)[]) => ({
  ...posted(accepts('job'), ...happened),
  job,
})
const messaged = (job: JobFact, ...happened: ((step: Told) => void)[]) =>
  created(job, follows, accepts('message'), ...happened)
const attached = (job: JobFact, ...happened: ((step: Told) => void)[]) => ({
  happens: all(follows, onlyWaits, isGiven, ...happened),
  job,
})
const isGiven = ({ progress }: Told): void => {
  progress.isGiven = true
}
const forgets =
  (link?: string) =>
  ({ progress }: Told): void =>
    progress.forget(link)

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
    ends: ['so far', 'dry-run', 'skipped', 'skipped, docs closed', 'cancelled', 'no permission'],
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
    happens: all(followsUp, forgets(LINK), isSent),
    unknown: 'create',
    link: LINK,
    ends: IN_FLIGHT,
  },
  'create refused': { ...posted(), ends: ['so far', 'create refused, 403', 'cancelled'] },
  'message refused': { ...posted(follows), ends: ['so far', 'message refused, 403', 'cancelled'] },
  'message refused, follow-up': {
    ...posted(followsUp),
    link: LINK,
    ends: ['message refused, 403'],
  },
  'create unknown': {
    ...posted(isUnknown),
    unknown: 'create',
    ends: ['unknown create', 'cancelled, unknown create', 'no job in the response'],
  },
  'message unknown': {
    ...posted(follows, isUnknown),
    unknown: 'message',
    ends: ['unknown message'],
  },

  created: {
    ...created('runs', sees('active')),
    ends: [...WAITED, 'started', 'no job in the last responses'],
  },
  'created, with a link': { ...created('runs', sees('active', LINK)), link: LINK, ends: WAITED },
  'created, then missed': {
    ...created('missed', sees('active'), misses),
    ends: [...WAITED, 'poll refused, 404'],
  },
  'created, with a link, then missed': {
    ...created('missed', sees('active', LINK), misses),
    link: LINK,
    ends: ['timed-out', 'cancelled', 'poll refused, 403'],
  },
  'created, undocumented status': {
    ...created('undocumented', hasUndocumentedStatus),
    ends: [...WAITED, 'started'],
  },
  'created, then an undocumented status': {
    ...created('undocumented', sees('active'), hasUndocumentedStatus),
    ends: TIMED_OUT,
  },
  'created, undocumented status, then missed': {
    ...created('missed', sees('active'), hasUndocumentedStatus, misses),
    ends: TIMED_OUT,
  },
  'created in place of another': {
    ...created('runs', followsUp, forgets(), sees('active')),
    ends: TIMED_OUT,
  },
  'created in place of another, to continue its pull request': {
    ...created('runs', followsUp, forgets(LINK), sees('active')),
    link: LINK,
    ends: WAITED,
  },
  'pull request, with notes': {
    ...created('ended', sees('active'), hasNotes, sees('completed', LINK)),
    link: LINK,
    ends: ['pr-opened'],
  },
  'pull request': {
    ...created('ended', sees('active'), sees('completed', LINK)),
    link: LINK,
    ends: ['pr-opened', 'cancelled'],
  },
  'merge request': {
    ...created('ended', sees('completed', GITLAB)),
    link: GITLAB,
    ends: ['pr-opened'],
  },
  'another link': {
    ...created('ended', sees('completed', OTHER)),
    link: OTHER,
    ends: ['pr-opened'],
  },
  completed: { ...created('ended', sees('completed')), ends: ['no-changes'] },
  'completed, unusable link': {
    ...created('ended', seesBadLink('completed')),
    ends: ['no-changes'],
  },
  failed: { ...created('ended', sees('failed')), ends: ['failed', 'cancelled', 'an exception'] },
  'failed, unusable link': { ...created('ended', seesBadLink('failed')), ends: ['failed'] },
  'failed, with a link': {
    ...created('ended', sees('failed', LINK)),
    link: LINK,
    ends: ['failed'],
  },
  archived: { ...created('ended', sees('archived')), ends: ['archived'] },
  'archived, with a link': {
    ...created('ended', sees('archived', LINK)),
    link: LINK,
    ends: ['archived'],
  },

  messaged: { ...messaged('unseen'), ends: [...WAITED, 'started', ...POLLED] },
  'messaged, runs': {
    ...messaged('runs', sees('active')),
    ends: ['timed-out', 'started', 'poll refused, 404'],
  },
  'messaged, missed': { ...messaged('unseen', misses), ends: WAITED },
  // The status predates the message, which the job has accepted.
  'messaged, had ended': {
    ...messaged('unseen', sees('archived')),
    ends: ['started', 'cancelled'],
  },
  'messaged, follow-up': {
    ...messaged('runs', followsUp, sees('active')),
    link: LINK,
    ends: TIMED_OUT,
  },
  'messaged, follow-up without changes': {
    ...messaged('ended', followsUp, sees('completed')),
    ends: ['no-changes'],
  },
  'messaged, failed': { ...messaged('ended', sees('active'), sees('failed')), ends: ['failed'] },
  'messaged, archived': { ...messaged('ended', sees('archived')), ends: ['archived'] },

  attached: { ...attached('unseen'), ends: ['so far', 'cancelled', ...POLLED] },
  'attached, runs': { ...attached('runs', sees('active')), ends: ['started', 'poll refused, 404'] },
  'attached, undocumented status': {
    ...attached('undocumented', hasUndocumentedStatus),
    ends: ['so far', 'started'],
  },
  'attached, completed': { ...attached('ended', sees('completed')), ends: ['no-changes'] },
  'attached, failed': { ...attached('ended', sees('failed')), ends: ['failed', 'cancelled'] },
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
      error(({ outside }) => createRefusal(refusal(status, outside), { kind }))
    return [
      ['create refused', `${status}`, refuse('create')],
      ['message refused', `${status}`, refuse('message')],
      // A poll is sent again after a 429.
      ...(status === 429 ? [] : [['created', `${status}`, pollRefused(status)] as const]),
    ] as const
  }),
  ...(
    [
      undefined,
      'server-certificate',

      'proxy-certificate',

      'proxy-authentication',
    ] as const
  ).flatMap((permanent) => {
    const name = `no connection: ${permanent ?? 'for now'}`
    return [
      ['start', name, unconnected(permanent)],
      ['create refused', name, unconnected(permanent)],
    ] as const
  }),
]

function createRow(
  name: string,
  state: string,
  end: End | undefined,
  more: Partial<Row> = {},
): Row {
  const { ends: _, ...facts } = STATES[state] as State
  const defaults = {
    failOn: new Set(DEFAULT_FAIL_ON),
    badInput: false,
    brokenOutputs: false,
    brief: false,
  }
  return {
    ...facts,
    ...defaults,
    name: `${state}: ${name}`,
    end,
    gone: name.endsWith('404'),
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
    const fails = !DEFAULT_FAIL_ON.some((word) => word === outcome)
    const name = `${row.name}, ${fails ? 'which fails' : 'which does not fail'} the step`
    return [{ ...row, name, failOn: new Set<FailOn>(fails ? FAIL_ON : []), brief: true }]
  }),
  ...BROKEN.map(([state, name]) =>
    createRow(`${name}, without outputs`, state, ENDS[name], { brokenOutputs: true, brief: true }),
  ),
  ...PROBLEMS.map(([state, name, end]) => createRow(name, state, end, { brief: true })),
]
