/** What can happen in a step, and how it can end then: the table of which the texts are told. */

import type { ServiceResult } from '../../src/agent/client.js'
import { DEFAULT_FAIL_ON, FAIL_ON, type FailOn, type Outcome } from '../../src/agent/job.js'
import {
  cannotConnect,
  createdWithoutJob,
  createRefusal,
  missingJob,
} from '../../src/agent/problems.js'
import { resultUnknown } from '../../src/agent/result-unknown.js'
import { InputError } from '../../src/inputs/inputs.js'
import type { StepReport } from '../../src/report/report.js'
import type { Asked, Happening } from '../../src/run/facts.js'
import type { RunResult } from '../../src/run/result.js'
import { ActionError, toActionError } from '../../src/text/errors.js'
import { oneLine, quote } from '../../src/text/escape.js'
import { job, LINK } from './scripted-run.js'

/** Texts that others choose. */
export interface Outside {
  readonly id: string
  readonly project: string
  readonly url: string
  readonly words: string
}

/** What is true, and not read from the code under test. */
interface Truth {
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

/** What happens, or how many milliseconds pass. */
type Happens = (outside: Outside) => (Happening | number)[]

interface State extends Truth {
  readonly happens: Happens
  /** The input `job-id` names a job, which gets a prompt or not. */
  readonly given?: 'attach' | 'message'
  /** A re-run finds the job in the comment. */
  readonly stored?: true
  readonly ends: readonly (keyof typeof ENDS)[]
}

export interface Row extends Omit<State, 'ends'> {
  readonly name: string
  /** Which promise it shows, in brackets. */
  readonly rule: string
  /** Undefined while the step runs. */
  readonly end: End | undefined
  readonly waits: boolean
  readonly failOn: ReadonlySet<FailOn>
  readonly badInput: boolean
  readonly brokenOutputs: boolean
  /** Only its result is news. */
  readonly brief: boolean
  /** The service does not know the job: there is nothing to wait for. */
  readonly gone: boolean
}

type End = (outside: Outside, report: Pick<StepReport, 'facts' | 'resultUnknown'>) => RunResult

const plain =
  (outcome: Exclude<Outcome, 'skipped' | 'cancelled' | 'error'>): End =>
  () => ({ outcome })
const error =
  (create: (...step: Parameters<End>) => ActionError): End =>
  (...step) => ({ outcome: 'error', error: create(...step) })

type Refusal = Extract<ServiceResult, { kind: 'error-response' }>

/** Why a request failed. */
const responded = ({ words }: Outside): string => `the service responded 503: ${quote(words)}`

/** As the client describes a response: on one line. */
const refusal = (status: number, { words }: Outside): Refusal => ({
  kind: 'error-response',
  status,
  description: `${status}: ${quote(words)}`,
  retryAfterMs: undefined,
  isForeign: false,
  hasError: true,
})

const pollRefused = (status: number): End =>
  error((outside, { facts: { seen, request } }) =>
    createRefusal(refusal(status, outside), {
      kind: 'poll',
      seen: seen !== undefined || request.kind === 'accepted',
    }),
  )

const unconnected = (permanent: Parameters<typeof cannotConnect>[0]['permanent']): End =>
  error((outside) =>
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
  started: plain('started'),
  'dry-run': plain('dry-run'),
  cancelled: () => ({ outcome: 'cancelled' }),
  skipped: (outside) => ({ outcome: 'skipped', reason: quote(outside.words) }),
  'skipped, a stranger': () => ({
    outcome: 'skipped',
    reason:
      'renovate[bot], who opened the pull request, has no write access to your-org/your-repo and is not in allow-users',
    advice: 'To let them start docs jobs, add the login to allow-users.',
  }),
  'skipped, docs closed': () => ({
    outcome: 'skipped',
    title: 'the docs pull request was closed',
    reason: `the docs pull request ${LINK} was closed without a merge`,
    advice: 'To get docs after all, reopen it.',
  }),
  'bad input': error((outside) => {
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
  'an exception': error(() => toActionError(new TypeError('x is not a function.'))),
  'ended in flight': error((_, report) => report.resultUnknown() as ActionError),
  'cancelled in flight': (_, report) => ({ outcome: 'cancelled', error: report.resultUnknown() }),
  'unknown create': error((outside) => resultUnknown({ kind: 'create' }, responded(outside))),
  'unknown message': error((outside) =>
    resultUnknown({ kind: 'message', jobId: outside.id }, responded(outside)),
  ),
  'cancelled, unknown create': (outside) => ({
    outcome: 'cancelled',
    error: resultUnknown({ kind: 'create' }, responded(outside)),
  }),
  'no job in the response': error((outside) =>
    createdWithoutJob({
      kind: 'no-job',
      description: `200: ${quote(outside.words)}`,
      isPage: false,
    }),
  ),
  'a web page': error((outside) =>
    createdWithoutJob({
      kind: 'no-job',
      description: `200: ${quote(outside.words)}`,
      isPage: true,
    }),
  ),
  'a web page to a message': error((outside) =>
    resultUnknown({ kind: 'message', jobId: outside.id }, responded(outside), { isPage: true }),
  ),
  'no job in the last responses': error((outside) =>
    missingJob(outside.id, true, `no docs job (200: ${quote(outside.words)})`),
  ),
  'create refused, 403': error((outside) =>
    createRefusal(refusal(403, outside), { kind: 'create' }),
  ),
  'message refused, 403': error((outside) =>
    createRefusal(refusal(403, outside), { kind: 'message' }),
  ),
  'poll refused, 403': pollRefused(403),
  'poll refused, 404': pollRefused(404),
} satisfies Record<string, End | undefined>

/** The promise that is broken if what a reader sees at such an end is not so. */
const RULES: Readonly<Record<string, readonly (keyof typeof ENDS)[]>> = {
  '[cancel.killed] [report.true]': ['so far'],
  '[report.review] [output.outcome]': ['pr-opened'],
  '[output.outcome] [report.advice.followed]': ['failed', 'archived'],
  '[output.outcome] [report.true] [report.advice.followed]': ['no-changes'],
  '[report.title.accepted] [report.advice.followed]': ['skipped'],
  '[output.timed-out] [report.advice.rerun] [report.true]': ['timed-out'],
  '[output.dry-run]': ['dry-run'],
  '[report.title.accepted] [report.past] [report.advice.rerun]': ['started'],
  '[cancel.told] [report.true] [report.advice.rerun]': [
    'cancelled',
    'cancelled in flight',
    'cancelled, unknown create',
  ],
  '[access.refused.green]': ['skipped, a stranger'],
  '[memory.run.closed] [report.title.accepted]': ['skipped, docs closed'],
  '[input.problems.together] [report.true]': ['bad input'],
  '[github.permission.named] [report.title.accepted]': ['no permission'],
  '[cancel.exception]': ['an exception'],
  '[send.unknown] [report.title.accepted]': [
    'ended in flight',
    'unknown create',
    'unknown message',
  ],
  '[send.no-job]': ['no job in the response', 'a web page', 'a web page to a message'],
  '[send.refused.final] [report.title.accepted]': ['create refused, 403', 'message refused, 403'],
  '[poll.refused] [report.advice.followed]': [
    'no job in the last responses',
    'poll refused, 403',
    'poll refused, 404',
  ],
}

const TIMED_OUT = ['so far', 'timed-out'] as const
const WAITED = [...TIMED_OUT, 'cancelled'] as const
const IN_FLIGHT = ['so far', 'ended in flight', 'cancelled in flight'] as const
const POLLED = ['poll refused, 403', 'poll refused, 404'] as const

type Seen = (outside: Outside) => ReturnType<typeof job>

/** The job as the service shows it. */
const is =
  (status: string, prLink: string | null = null): Seen =>
  ({ id, words }) =>
    job(status, { id, prLink, text: words })
const isUndocumented: Seen = (outside) => is(outside.words)(outside)

const sees =
  (seen: Seen): Happens =>
  (outside) => [{ kind: 'seen', job: seen(outside) }]
/** A status request that fails, a while after the one before. */
const misses: Happens = (outside) => [20_000, { kind: 'not-seen', reason: responded(outside) }]
const isRefused: Happens = (outside) => [
  5_000,
  { kind: 'not-seen', reason: responded(outside), advice: 'Check the key.' },
]
/** What an earlier run left. */
const remembers =
  (link?: string): Happens =>
  ({ id }) => [{ kind: 'continuing', jobId: id, link }]
const replaces =
  (link?: string): Happens =>
  () => [{ kind: 'continuing', jobId: '', link }]
const sends =
  (asked: Asked): Happens =>
  () => [{ kind: 'sending', asked }]
const isUnknown =
  (asked: Asked): Happens =>
  () => [{ kind: 'unknown', asked }]
const accepts =
  (asked: Asked, seen?: Seen): Happens =>
  (outside) => [{ kind: 'accepted', asked, fingerprint: '', job: seen?.(outside) }]
const waits: Happens = () => [{ kind: 'waiting', fingerprint: '', messageMayBeLost: false }]
const isNotAccepted =
  (posted: boolean): Happens =>
  () => [{ kind: 'not-accepted', posted }, { kind: 'pausing' }]

/** As GitHub's errors are worded, with the words of GitHub in quotes. */
const hasNotes: Happens = (outside) =>
  [
    `GitHub: reading the pull request failed: 503, ${quote(outside.words)}`,
    'GitHub: writing the comment failed: 403. Add `issues: write` to the permissions of the workflow job.',
  ].map((text) => ({ kind: 'noted', text }))

const all =
  (...happens: Happens[]): Happens =>
  (outside) =>
    happens.flatMap((one) => one(outside))

type JobFact = NonNullable<Truth['job']>

const creating = all(replaces(), sends('job'))
const messaging = all(remembers(), sends('message'))
const followingUp = all(remembers(LINK), sends('message'))

/** The job that the request created was `first` so, and is `fact` at last. */
const created = (fact: JobFact, first: Seen, ...more: Happens[]) => ({
  posted: true as const,
  happens: all(creating, accepts('job', first), ...more),
  job: fact,
})
const createdAfter = (link: string | undefined, fact: JobFact, first: Seen) => ({
  ...created(fact, first),
  happens: all(remembers(LINK), replaces(link), sends('job'), accepts('job', first)),
})
const messaged = (fact: JobFact, first?: Seen, ...more: Happens[]) => ({
  posted: true as const,
  stored: true as const,
  happens: all(messaging, accepts('message', first), ...more),
  job: fact,
})
const followedUp = (fact: JobFact, first?: Seen, ...more: Happens[]) => ({
  ...messaged(fact),
  happens: all(followingUp, accepts('message', first), ...more),
})
const attached = (fact: JobFact, ...more: Happens[]) => ({
  given: 'attach' as const,
  happens: all(waits, ...more),
  job: fact,
})

const GITLAB = 'https://gitlab.example.com/group/docs/-/merge_requests/8'
const OTHER = 'https://example.com/x'

const STATES: Record<string, State> = {
  start: {
    happens: all(),
    ends: [
      'skipped',
      'skipped, a stranger',
      'dry-run',
      'bad input',
      'no permission',
      'an exception',
      'cancelled',
    ],
  },
  'start with a job-id': { happens: all(), given: 'message', ends: ['bad input', 'cancelled'] },
  'with notes [report.summary] [report.log.lines]': {
    happens: hasNotes,
    ends: ['skipped', 'no permission'],
  },
  'with a remembered job [report.true] [output.remembered]': {
    happens: remembers(LINK),
    link: LINK,
    ends: ['dry-run', 'skipped', 'skipped, docs closed', 'cancelled', 'no permission'],
  },

  'create in flight': {
    happens: creating,
    unknown: 'create',
    ends: [...IN_FLIGHT, 'an exception'],
  },
  'message in flight': { happens: messaging, stored: true, unknown: 'message', ends: IN_FLIGHT },
  'message in flight, follow-up [memory.run.open-pull]': {
    happens: followingUp,
    unknown: 'message',
    link: LINK,
    ends: ['so far'],
  },
  'create in flight, after a job that is gone [output.job-id]': {
    happens: all(remembers(LINK), replaces(LINK), sends('job')),
    unknown: 'create',
    link: LINK,
    ends: IN_FLIGHT,
  },
  'create not sent': { happens: all(creating, isNotAccepted(false)), ends: ['so far'] },
  'create not sent, with notes': {
    happens: all(hasNotes, creating, isNotAccepted(false)),
    ends: ['so far'],
  },
  'message not sent': {
    happens: all(sends('message'), isNotAccepted(false)),
    given: 'message',
    ends: ['so far'],
  },
  'message not sent, follow-up': {
    happens: all(followingUp, isNotAccepted(false)),
    link: LINK,
    ends: ['so far', 'cancelled'],
  },
  'create refused': {
    posted: true,
    happens: all(creating, isNotAccepted(true)),
    ends: ['so far', 'create refused, 403', 'cancelled'],
  },
  'create refused, then not sent': {
    posted: true,
    happens: all(creating, isNotAccepted(true), isNotAccepted(false)),
    ends: ['cancelled'],
  },
  'message refused': {
    posted: true,
    stored: true,
    happens: all(messaging, isNotAccepted(true)),
    ends: ['so far', 'message refused, 403', 'cancelled'],
  },
  'message refused, follow-up': {
    posted: true,
    happens: all(followingUp, isNotAccepted(true)),
    link: LINK,
    ends: ['message refused, 403'],
  },
  'create unknown': {
    posted: true,
    happens: all(creating, isUnknown('job')),
    unknown: 'create',
    ends: ['unknown create', 'cancelled, unknown create', 'no job in the response', 'a web page'],
  },
  'message unknown': {
    posted: true,
    stored: true,
    happens: all(messaging, isUnknown('message')),
    unknown: 'message',
    ends: ['unknown message', 'a web page to a message'],
  },

  created: {
    ...created('runs', is('active')),
    ends: [...WAITED, 'started', 'no job in the last responses'],
  },
  'created, with a link': { ...created('runs', is('active', LINK)), link: LINK, ends: WAITED },
  'created, then missed': {
    ...created('missed', is('active'), misses),
    ends: [...WAITED, 'poll refused, 404'],
  },
  'created, then refused [poll.refused]': {
    ...created('missed', is('active'), isRefused),
    ends: TIMED_OUT,
  },
  'created, with a link, then missed': {
    ...created('missed', is('active', LINK), misses),
    link: LINK,
    ends: ['timed-out', 'cancelled', 'poll refused, 403'],
  },
  'created, undocumented status': {
    ...created('undocumented', isUndocumented),
    ends: [...WAITED, 'started'],
  },
  'created, then an undocumented status': {
    ...created('undocumented', is('active'), sees(isUndocumented)),
    ends: TIMED_OUT,
  },
  'created, undocumented status, then missed': {
    ...created('missed', is('active'), sees(isUndocumented), misses),
    ends: TIMED_OUT,
  },
  'created in place of another [memory.run.open-pull]': {
    ...createdAfter(undefined, 'runs', is('active')),
    ends: TIMED_OUT,
  },
  'created in place of another, to continue its pull request [memory.run.open-pull]': {
    ...createdAfter(LINK, 'runs', is('active')),
    link: LINK,
    ends: WAITED,
  },
  'pull request, with notes': {
    ...created('ended', is('active'), hasNotes, sees(is('completed', LINK))),
    link: LINK,
    ends: ['pr-opened'],
  },
  'pull request': {
    ...created('ended', is('active'), sees(is('completed', LINK))),
    link: LINK,
    ends: ['pr-opened'],
  },
  'pull request at once': {
    ...created('ended', is('completed', LINK)),
    link: LINK,
    ends: ['cancelled'],
  },
  'merge request [output.pr-number]': {
    ...created('ended', is('completed', GITLAB)),
    link: GITLAB,
    ends: ['pr-opened'],
  },
  'another link [output.pr-link]': {
    ...created('ended', is('completed', OTHER)),
    link: OTHER,
    ends: ['pr-opened'],
  },
  completed: { ...created('ended', is('completed')), ends: ['no-changes'] },
  failed: { ...created('ended', is('failed')), ends: ['failed', 'cancelled', 'an exception'] },
  'failed, with a link': { ...created('ended', is('failed', LINK)), link: LINK, ends: ['failed'] },
  archived: { ...created('ended', is('archived')), ends: ['archived'] },
  'archived, with a link': {
    ...created('ended', is('archived', LINK)),
    link: LINK,
    ends: ['archived'],
  },

  messaged: { ...messaged('unseen'), ends: [...WAITED, 'started', ...POLLED] },
  'messaged, runs': {
    ...messaged('runs', is('active')),
    ends: ['timed-out', 'started', 'poll refused, 404'],
  },
  'messaged, missed': { ...messaged('unseen', undefined, misses), ends: WAITED },
  // The status predates the message, which the job has accepted.
  'messaged, had ended [poll.stale-end]': {
    ...messaged('unseen', is('archived')),
    ends: ['started', 'cancelled'],
  },
  'messaged, follow-up [memory.run.open-pull]': {
    ...followedUp('runs', is('active')),
    link: LINK,
    ends: TIMED_OUT,
  },
  'messaged, follow-up without changes': {
    ...followedUp('ended', undefined, sees(is('completed'))),
    ends: ['no-changes'],
  },
  'messaged, failed': {
    ...messaged('ended', is('active'), sees(is('failed'))),
    given: 'message',
    ends: ['failed'],
  },
  'messaged, archived': {
    ...messaged('ended', undefined, sees(is('archived'))),
    ends: ['archived'],
  },

  attached: { ...attached('unseen'), ends: ['so far', 'cancelled', ...POLLED] },
  'attached, runs': {
    ...attached('runs', sees(is('active'))),
    ends: ['started', 'poll refused, 404'],
  },
  'attached, undocumented status': {
    ...attached('undocumented', sees(isUndocumented)),
    ends: ['so far', 'started'],
  },
  'attached, completed': { ...attached('ended', sees(is('completed'))), ends: ['no-changes'] },
  'attached, failed': { ...attached('ended', sees(is('failed'))), ends: ['failed', 'cancelled'] },
}

/** Of these, the outputs can't be written at the end. */
const BROKEN = [
  ['start', 'cancelled'],
  ['create refused', 'cancelled'],
  ['create unknown', 'unknown create'],
  ['message unknown', 'unknown message'],
  ['created in place of another [memory.run.open-pull]', 'timed-out'],
  ['pull request', 'pr-opened'],
  ['messaged, had ended [poll.stale-end]', 'started'],
  ['start', 'an exception'],
] as const

/** Every way in which the service refuses, or can't be reached. */
const PROBLEMS: readonly (readonly [state: string, name: string, end: End, rule: string])[] = [
  ...[300, 399, 400, 401, 403, 404, 409, 418, 429].flatMap((status) => {
    const refuse = (kind: 'create' | 'message'): End =>
      error((outside) => createRefusal(refusal(status, outside), { kind }))
    const own = status === 401 || status === 403 ? ' [send.refused.foreign]' : ''
    const rule = status === 429 ? '[send.limited]' : `[send.refused.final]${own}`
    return [
      ['create refused', `${status}`, refuse('create'), rule],
      ['message refused', `${status}`, refuse('message'), status === 409 ? '[send.limited]' : rule],
      // A status request is repeated after a 429.
      ...(status === 429
        ? []
        : [['created', `${status}`, pollRefused(status), '[poll.refused]'] as const]),
    ] as const
  }),
  ...(
    [
      undefined,
      'server-issuer',
      'proxy-issuer',
      'server-certificate',
      'proxy-certificate',
      'proxy-authentication',
    ] as const
  ).flatMap((permanent) => {
    const name = `no connection: ${permanent ?? 'for now'}`
    const rule = permanent ? '[send.certificate.final]' : '[send.unconnected]'
    return [
      ['create not sent', name, unconnected(permanent), rule],
      ['create refused', name, unconnected(permanent), rule],
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
    waits: !name.startsWith('started'),
    failOn: new Set(DEFAULT_FAIL_ON),
    badInput: false,
    brokenOutputs: false,
    brief: false,
  }
  return {
    ...facts,
    ...defaults,
    name: `${state}: ${name}`,
    rule:
      Object.keys(RULES).find((rule) => RULES[rule]?.some((one) => one === name)) ??
      '[report.true]',
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
    const failOn = new Set<FailOn>(fails ? FAIL_ON : [])
    return [
      { ...row, name, rule: '[output.exit-code] [report.annotation.one]', failOn, brief: true },
    ]
  }),
  ...BROKEN.map(([state, name]) =>
    createRow(`${name}, without outputs`, state, ENDS[name], {
      rule: '[output.unwritable]',
      brokenOutputs: true,
      brief: true,
    }),
  ),
  ...PROBLEMS.map(([state, name, end, rule]) => createRow(name, state, end, { rule, brief: true })),
]
