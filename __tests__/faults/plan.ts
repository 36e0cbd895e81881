/** What one run of the action meets, drawn from a seed. Plain data, so that it can be printed and done again. */

import type { Behaviour } from '../support/proxy.js'
import { hostileText, INJECTED, keyForms } from './hostile.js'
import { createRandom, type Random } from './random.js'

export const REPOSITORY = 'your-org/your-repo'
export const TOKEN = 'ghs_token_0123456789'
/** It can read the docs repository, and nothing else can. */
export const DOCS_TOKEN = 'github_pat_docs_0123456789'
export const DOCS_REPOSITORY = 'your-org/docs'
export const DOCS_LINK = `https://github.com/${DOCS_REPOSITORY}/pull/17`
/** The numbers of the pull request and of the issue. */
export const PULL_REQUEST = 1
export const ISSUE = 2
/** How long after a cancel or the deadline the response to a POST is waited for. */
export const FINAL_POST_MS = 5_000

export interface Plan {
  readonly seed: number
  readonly key: string
  readonly transport: Transport
  /** The steps that run one after the other against the same service and GitHub. */
  readonly steps: readonly StepPlan[]
  readonly service: ServicePlan
  /** Undefined if the steps need nothing of GitHub. */
  readonly github: GitHubPlan | undefined
  /** Ids that the service knows from the start. */
  readonly knownJob: string
}

export interface Transport {
  readonly kind: 'http' | 'https' | 'proxy'
  /** Whether the action trusts the service's certificate. */
  readonly trusted: boolean
  /** The path prefix of the base URL. */
  readonly prefix: string
  /** What a proxy does with its nth CONNECT; the last one again and again. */
  readonly connects: readonly Behaviour[]
  readonly environment: Readonly<Record<string, string>>
}

export type TaskKind = 'create' | 'message' | 'attach' | 'bad-input'

export type EventName =
  | 'pull_request'
  | 'pull_request_review'
  | 'issues'
  | 'issue_comment'
  | 'workflow_run'
  | 'workflow_dispatch'

export interface StepPlan {
  readonly task: TaskKind
  readonly inputs: Readonly<Record<string, string>>
  /** The input `timeout-minutes`, in milliseconds. */
  readonly timeoutMs: number
  /** The deadline counts from about when the process is up: on a busy machine that alone takes seconds. */
  readonly plusStartup: boolean
  readonly runId: number
  readonly attempt: number
  readonly event: EventName
  readonly cause: Cause
  readonly actions: readonly ActionPlan[]
  /** GITHUB_OUTPUT is a disk that is full. */
  readonly fullDisk: boolean
}

/** Who did what. */
export interface Cause {
  /** Of the pull request. */
  readonly action: 'synchronize' | 'opened' | 'labeled' | 'edited' | 'closed'
  /** Who triggered the run; for `workflow_run`, the run before it. */
  readonly sender: Person
  /** The event of that run before it. */
  readonly before: 'push' | 'pull_request' | 'issue_comment'
  /** Who wrote the comment or the review. */
  readonly author: Person
  /** The event is about the comment that remembers the job, which its id shows; or its marker, if GitHub has lost it. */
  readonly ownComment: 'id' | 'marker' | undefined
}

export type Person = 'writer' | 'reader' | 'stranger' | 'app[bot]'

/** Something that happens to the process, some time after the nth of something else. */
export interface ActionPlan {
  readonly after: 'start' | 'request' | 'post' | 'get' | 'response' | 'github'
  readonly nth: number
  readonly delayMs: number
  readonly what: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'freeze' | 'close-log'
  /** How long a freeze takes. */
  readonly forMs: number
}

export interface ServicePlan {
  /** Nothing listens before this. */
  readonly startsAfterMs: number
  /** What happens to the nth connection before anything is read; more connections are fine. */
  readonly connections: readonly ('ok' | 'reset' | 'close' | 'hang')[]
  /** For the POSTs in turn; the last one again and again. */
  readonly posts: readonly Exchange[]
  /** For the GETs in turn; the last one again and again. */
  readonly gets: readonly Exchange[]
  /** For so long after a create, status requests get this response. */
  readonly invisible: { readonly forMs: number; readonly response: ResponsePlan }
}

export interface Exchange {
  readonly delayMs: number
  /** Where it breaks: at the first byte of the request, after the request, or after a part of the response. */
  readonly breaksAt: 'never' | 'first-byte' | 'request' | 'response'
  /** How much of the response is sent before it breaks, from 0 to 1. */
  readonly fraction: number
  readonly how: 'reset' | 'close' | 'hang'
  readonly response: ResponsePlan
}

export interface ResponsePlan {
  readonly status: number
  readonly body: BodyPlan
  readonly framing: 'length' | 'chunked' | 'close'
  readonly encoding: 'identity' | 'gzip' | 'deflate' | 'br'
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly informational: readonly number[]
  /** In how many parts it is sent, and how long the pauses between them are. */
  readonly parts: number
  readonly pauseMs: number
  /** What follows a whole response. */
  readonly afterwards: 'keep' | 'close' | 'reset' | 'garbage'
}

export type BodyPlan =
  /** The job that was created or asked for. */
  | {
      readonly kind: 'job'
      readonly status: string
      readonly link: string | null
      readonly more: Readonly<Record<string, unknown>>
    }
  /** A job with another id. */
  | { readonly kind: 'other-job'; readonly id: string; readonly status: string }
  | { readonly kind: 'text'; readonly text: string }
  /** So many bytes. */
  | { readonly kind: 'huge'; readonly bytes: number }

export interface GitHubPlan {
  readonly title: string
  readonly body: string
  readonly file: string
  readonly patch: string
  /** Lists come in pages that are shorter than asked for, or the last page comes again and again. */
  readonly pages: 'usual' | 'short' | 'repeated'
  /** The state of the docs pull request. */
  readonly docsPull: 'open' | 'closed'
  /** Whether every request is answered as GitHub would. */
  readonly healthy: boolean
  readonly faults: readonly {
    readonly method: string | undefined
    readonly path: string
    readonly times: number
    readonly takesEffect: boolean
    readonly answer:
      | 'silence'
      | 'reset'
      | 'cut off'
      | { readonly delayMs: number }
      | { readonly status: number; readonly headers: Record<string, string>; readonly body: string }
  }[]
}

const WORD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Printable ASCII, which is what a key may consist of. */
const PRINTABLE = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('')

function text(random: Random, alphabet: string, min: number, max: number): string {
  return random.times(random.int(min, max), () => random.pick([...alphabet])).join('')
}

export function createPlan(seed: number): Plan {
  const random = createRandom(seed)
  const alphabet = random.weighted([
    [5, WORD],
    [3, PRINTABLE],
    [1, `\\"%/${WORD}`],
    [0.5, '\\"'],
  ])
  const length = random.weighted<[number, number]>([
    [8, [12, 40]],
    [1, [200, 4000]],
  ])
  const key = `mint_${text(random, WORD, 12, 12)}${text(random, alphabet, ...length)}`
  const knownJob = `job-${text(random, `${WORD}._~:@=+,-`, 4, 30)}`
  const usesGitHub = random.chance(0.35)
  const transport = createTransport(random, usesGitHub)
  const theme = random.weighted<Theme>([
    [87, 'any'],
    [7, 'freeze'],
    [6, 'late response'],
    [usesGitHub ? 50 : 8, 'refusals'],
  ])
  const shared = { random, key, knownJob, usesGitHub, theme }
  const steps = createSteps(shared)
  return {
    seed,
    key,
    knownJob,
    transport,
    steps,
    service: createService(shared, transport, steps[0]?.timeoutMs ?? 0),
    github: usesGitHub ? createGitHubPlan(shared) : undefined,
  }
}

/**
 * What is rare otherwise: a freeze over the deadline, a POST that is responded to after the deadline, and a service that
 * refuses what is about a job, for a moment or for good, also if the job is a remembered one.
 */
type Theme = 'any' | 'freeze' | 'late response' | 'refusals'

interface Shared {
  readonly theme: Theme
  readonly random: Random
  readonly key: string
  readonly knownJob: string
  readonly usesGitHub: boolean
}

function createTransport(random: Random, usesGitHub: boolean): Transport {
  const kind = random.weighted<Transport['kind']>([
    [80, 'http'],
    [10, 'https'],
    [10, 'proxy'],
  ])
  const connect = () =>
    random.weighted<Transport['connects'][number]>([
      [6, 'open'],
      [1, 'drop'],
      [1, 'reset'],
      [0.5, 'silence'],
      [0.5, 'early'],
      [1, random.pick([400, 403, 407, 429, 500, 502, 503, 504])],
    ])
  // A proxy that nobody answers at: loopback must never go through it.
  const ignoredProxy = kind !== 'proxy' && !usesGitHub && random.chance(0.1)
  return {
    kind,
    trusted: kind === 'http' || random.chance(0.9),
    prefix: random.chance(0.2) ? '/pre/fix' : '',
    connects: random.chance(0.6) ? ['open'] : random.times(random.int(1, 4), connect),
    environment: {
      ...(ignoredProxy && { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' }),
      ...(random.chance(0.2) && { TZ: random.pick(['America/New_York', 'Asia/Kolkata', 'UTC']) }),
      ...(random.chance(0.05) && { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
    },
  }
}

function createSteps(shared: Shared): StepPlan[] {
  const { random, theme, usesGitHub } = shared
  const isRemembered = theme === 'refusals' && usesGitHub
  const drawn = createStep(shared)
  // Its one request is the first create: the service refuses the later step.
  const quick = { inputs: { ...drawn.inputs, wait: 'false' }, actions: [], fullDisk: false }
  const first: StepPlan = isRemembered ? { ...drawn, ...quick } : drawn
  const { 'job-scope': scope, check } = first.inputs
  if ((scope === undefined && check === undefined) || (!isRemembered && random.chance(0.3))) return [first]
  // A later run that shares the job, or a re-run of the same one, which alone finds a check.
  const isRerun = scope === undefined || random.chance(0.5)
  const second = createStep(shared)
  const mayBeOwn = !isRerun && first.event.startsWith('issue') && random.chance(0.7)
  const ownComment = mayBeOwn ? random.pick(['id', 'marker'] as const) : undefined
  return [
    first,
    {
      ...second,
      // What is wrong with bad input may be `wait`.
      inputs: { ...first.inputs, ...(first.task === 'create' && { wait: second.inputs.wait ?? 'true' }) },
      task: first.task,
      event: ownComment === undefined ? first.event : 'issue_comment',
      cause: isRerun ? first.cause : { ...second.cause, ownComment },
      runId: isRerun ? first.runId : first.runId + 1,
      attempt: isRerun ? 2 : 1,
    },
  ]
}

function createStep(shared: Shared): StepPlan {
  const { random, key, knownJob, usesGitHub, theme } = shared
  const isRemembered = theme === 'refusals' && usesGitHub
  const person = () =>
    random.chance(0.85) ? 'writer' : random.pick(['reader', 'stranger', 'app[bot]'] as const)
  const task = random.weighted<TaskKind>([
    [60, 'create'],
    [isRemembered ? 0 : usesGitHub ? 5 : 18, 'message'],
    [isRemembered ? 0 : usesGitHub ? 5 : 14, 'attach'],
    [isRemembered ? 0 : 6, 'bad-input'],
  ])
  const timeoutMs = random.weighted([
    // A 404 is repeated for 10 s.
    [theme === 'refusals' ? 1_000 : 0, random.int(11_000, 18_000)],
    [6, random.int(2_500, 7_000)],
    [3, random.int(1_000, 3_000)],
    [1, random.int(100, 1_000)],
  ])
  const prompt = random.weighted([
    [5, 'Update the docs.'],
    [1, `Update: ${hostileText(random, 'no key here')}`],
    [0.3, 'Long '.repeat(random.int(1, 20_000))],
  ])
  const event = usesGitHub
    ? random.weighted<EventName>([
        [7, 'pull_request'],
        [2, 'pull_request_review'],
        [3, 'issues'],
        [2, 'issue_comment'],
        [1.5, 'workflow_run'],
        [1.5, 'workflow_dispatch'],
      ])
    : 'workflow_dispatch'
  const inputs: Record<string, string> = {
    'api-key': key,
    'project-id': `docs-${text(random, `${WORD}._~:@=+,-`, 1, 12)}`,
    'poll-interval-seconds': random.weighted([
      [8, String(random.int(1, 8) / 10)],
      [1, '2'],
      [1, ''],
    ]),
    // An environment variable has no NUL.
    ...(task !== 'attach' && { prompt: prompt.replaceAll('\0', '') }),
    ...((task === 'message' || task === 'attach') && { 'job-id': knownJob }),
    ...(random.chance(0.2) && { wait: 'false' }),
    ...(random.chance(0.2) && {
      'fail-on': random.pick(['none', 'no-changes', 'failed', 'archived,timed-out']),
    }),
    ...(random.chance(0.04) && { 'dry-run': 'true' }),
    ...(usesGitHub && gitHubInputs(shared, task, event)),
    ...(task === 'bad-input' && badInput(random, key)),
  }
  return {
    task,
    inputs,
    timeoutMs,
    plusStartup: random.chance(0.9),
    runId: random.int(1, 1e9),
    attempt: 1,
    event,
    cause: {
      action: random.pick(['synchronize', 'synchronize', 'opened', 'labeled', 'edited', 'closed']),
      sender: person(),
      before: random.pick(['push', 'pull_request', 'issue_comment']),
      author: person(),
      ownComment: undefined,
    },
    actions: createActions(random, timeoutMs, usesGitHub, theme),
    fullDisk: random.chance(0.02),
  }
}

function gitHubInputs({ random, theme }: Shared, task: TaskKind, event: EventName): Record<string, string> {
  const usual = event.startsWith('pull_request') ? 'pull-request' : 'issue'
  const scope = random.weighted([
    [6, usual],
    [1, 'pull-request'],
    [1, 'issue'],
    [theme === 'refusals' ? 0 : 2, ''],
  ])
  const hasScope = task === 'create' && scope !== ''
  // Without a pull request or an issue in the event, the scope needs a number.
  const isAboutNone = event.startsWith('workflow_')
  const needsNumber = hasScope && scope === 'issue' && isAboutNone
  const usesPaths = !isAboutNone && random.chance(0.15)
  return {
    'github-token': TOKEN,
    context: random.pick(['none', 'event', 'diff']),
    ...(hasScope && { 'job-scope': scope }),
    ...((needsNumber || random.chance(0.15)) && {
      'issue-number': String(random.pick([PULL_REQUEST, ISSUE])),
    }),
    ...(random.chance(0.3) && { comment: 'true' }),
    ...(random.chance(0.35) && { check: 'true' }),
    ...(random.chance(0.15) && { 'allow-users': random.pick(['*', 'Reader', 'stranger, app[bot]']) }),
    ...(random.chance(0.5) && { 'docs-token': DOCS_TOKEN }),
    ...(usesPaths && { 'context-paths': random.pick(['docs/**', '!docs/**', '*.md']) }),
  }
}

/** One input that is wrong, whatever the others are. */
function badInput(random: Random, key: string): Record<string, string> {
  const hostile = (): string => hostileText(random, key).replaceAll('\0', '')
  const name = random.pick([
    'job-scope',
    'context',
    'wait',
    'timeout-minutes',
    'fail-on',
    'base-url',
    'dry-run',
  ])
  return random.pick<() => Record<string, string>>([
    () => ({ [name]: `?${hostile()}` }),
    () => ({ 'job-id': `?${hostile()}` }),
    () => ({ 'project-id': '' }),
    () => ({ 'project-id': `?${hostile()}` }),
    () => ({ 'api-key': `${key} ${key}` }),
    () => ({ 'api-key': '' }),
    () => ({ prompt: random.pick(keyForms(key)) }),
    () => ({ 'job-key': key }),
    () => ({ 'prompt-file': `no/such/file ${hostile()}` }),
    () => ({ 'timeout-minutes': '0' }),
  ])()
}

function createActions(random: Random, timeoutMs: number, usesGitHub: boolean, theme: Theme): ActionPlan[] {
  if (theme === 'freeze') return [freezeOverDeadline(random, timeoutMs)]
  if (theme === 'late response' && random.chance(0.5)) return [freezeAfterDeadline(random, timeoutMs)]
  const count = random.weighted([
    [theme === 'refusals' ? 300 : 55, 0],
    [28, 1],
    [12, 2],
    [5, 3],
  ])
  return random.times(count, () => ({
    after: random.weighted<ActionPlan['after']>([
      [2, 'start'],
      [2, 'request'],
      [4, 'post'],
      [2, 'response'],
      [usesGitHub ? 3 : 0, 'github'],
    ]),
    nth: random.weighted([
      [5, 1],
      [2, 2],
      [1, 3],
    ]),
    delayMs: random.weighted([
      [3, 0],
      [3, random.int(0, 100)],
      [2, random.int(0, timeoutMs)],
    ]),
    what: random.weighted<ActionPlan['what']>([
      [4, 'SIGINT'],
      [2, 'SIGTERM'],
      [5, 'freeze'],
      [0.5, 'SIGKILL'],
      [0.3, 'close-log'],
    ]),
    forMs: random.weighted([
      [1, random.int(10, 500)],
      [2, random.int(500, timeoutMs)],
      [2, random.int(timeoutMs, timeoutMs + 8_000)],
    ]),
  }))
}

/** The process freezes while it waits for a response, and goes on after its deadline. */
function freezeOverDeadline(random: Random, timeoutMs: number): ActionPlan {
  return {
    after: random.pick(['post', 'get', 'get']),
    nth: random.pick([1, 1, 2]),
    delayMs: random.pick([0, 0, random.int(0, 200)]),
    what: 'freeze',
    forMs: random.int(timeoutMs, timeoutMs + 4_000),
  }
}

/** It freezes while the response to a POST is waited for after the deadline, and goes on after that time. */
function freezeAfterDeadline(random: Random, timeoutMs: number): ActionPlan {
  const delayMs = timeoutMs + random.int(0, 2_000)
  return { after: 'post', nth: 1, delayMs, what: 'freeze', forMs: FINAL_POST_MS + random.int(0, 1_000) }
}

function createService(shared: Shared, transport: Transport, timeoutMs: number): ServicePlan {
  const { random, theme } = shared
  const forMs = theme === 'refusals' && random.chance(0.3) ? random.int(0, 14_000) : 0
  const invisible = { forMs, response: refusal(shared, 404).response }
  if (theme === 'refusals') return { ...refusingService(shared), invisible }
  // The other transports share an address with everybody else: their port must stay theirs.
  const late = transport.kind === 'http' && random.chance(0.06)
  return {
    startsAfterMs: late ? random.int(100, 4_000) : 0,
    connections: random.chance(0.12)
      ? random.times(random.int(1, 3), () => random.pick(['ok', 'reset', 'close', 'hang'] as const))
      : [],
    posts: [
      ...firstPosts(shared, timeoutMs),
      random.chance(0.8) ? healthy(shared, 'post') : createExchange(shared, 'post'),
    ],
    gets: [
      ...random.times(theme === 'freeze' ? random.int(0, 1) : random.int(0, 4), () =>
        random.chance(0.5) ? healthy(shared, 'get') : createExchange(shared, 'get'),
      ),
      random.chance(0.8) ? ending(shared) : createExchange(shared, 'get'),
    ],
    invisible,
  }
}

/** What makes a new job tempting, or right. */
function refusingService(shared: Shared): Omit<ServicePlan, 'invisible'> {
  const { random, usesGitHub } = shared
  const some = (most: number, ...statuses: number[]): Exchange[] => {
    const exchange = refusal(shared, random.pick(statuses))
    return random.times(random.int(0, most), () => exchange)
  }
  const seen = (): Exchange => (random.chance(0.5) ? healthy(shared, 'get') : ending(shared))
  const gets = random.times(random.int(1, 3), () => [...some(5, 404), seen()]).flat()
  return {
    startsAfterMs: 0,
    connections: [],
    posts: [
      ...(usesGitHub ? [healthy(shared, 'post')] : []),
      ...some(4, 404, 404, 400, 409, 410, 422, 401, 403, 303),
      healthy(shared, 'post'),
    ],
    gets: [...gets, ...some(5, 404), ending(shared)],
  }
}

/** By the service, or by a gateway in front of it. */
function refusal(shared: Shared, status: number): Exchange {
  const { random } = shared
  const exchange = healthy(shared, 'get')
  const text = random.pick(['{"error":"No"}', '<!DOCTYPE html><h1>No</h1>', 'No', ''])
  return { ...exchange, response: { ...plainResponse(status), body: { kind: 'text', text } } }
}

function firstPosts(shared: Shared, timeoutMs: number): Exchange[] {
  const { random, theme } = shared
  if (theme === 'late response')
    return [{ ...healthy(shared, 'post'), delayMs: random.int(timeoutMs, timeoutMs + FINAL_POST_MS) }]
  return random.times(random.chance(theme === 'freeze' ? 0.7 : 0.3) ? 0 : random.int(1, 3), () =>
    createExchange(shared, 'post'),
  )
}

function healthy(shared: Shared, method: 'post' | 'get'): Exchange {
  const { random } = shared
  return {
    delayMs: random.chance(0.6) ? 0 : random.int(0, 600),
    breaksAt: 'never',
    fraction: 1,
    how: 'close',
    response: {
      ...plainResponse(method === 'post' ? random.pick([200, 201]) : 200),
      body: jobBody(shared, 'active', null),
    },
  }
}

function ending(shared: Shared): Exchange {
  const { random } = shared
  const status = random.weighted([
    [8, 'completed'],
    [1, 'failed'],
    [1, 'archived'],
  ])
  const link = random.chance(0.6) ? DOCS_LINK : randomLink(shared)
  const exchange = healthy(shared, 'get')
  return { ...exchange, response: { ...exchange.response, body: jobBody(shared, status, link) } }
}

function plainResponse(status: number): ResponsePlan {
  return {
    status,
    body: { kind: 'text', text: '' },
    framing: 'length',
    encoding: 'identity',
    headers: [['content-type', 'application/json']],
    informational: [],
    parts: 1,
    pauseMs: 0,
    afterwards: 'keep',
  }
}

function jobBody(shared: Shared, status: string, link: string | null): BodyPlan {
  const { random, key } = shared
  const more = random.chance(0.15)
    ? { model: hostileText(random, key), [hostileText(random, key)]: hostileText(random, key) }
    : {}
  return { kind: 'job', status, link, more }
}

function randomLink({ random, key }: Shared): string | null {
  return random.pick([
    null,
    '',
    `${DOCS_LINK}?x=1&y=2#z`,
    'https://gitlab.example.com/your-org/docs/-/merge_requests/3',
    'http://example.com/',
    `https://example.com/${INJECTED}"; touch x; echo "`,
    `https://example.com/\n::error::${INJECTED}`,
    `https://example.com/${key}`,
    `https://example.com/${random.pick(keyForms(key))}`,
    'javascript:alert(1)',
    'https://user:password@example.com/',
    'https://',
    `https://example.com/${'x'.repeat(3000)}`,
  ])
}

/** Anything that can go wrong, or not, with one request. */
function createExchange(shared: Shared, method: 'post' | 'get'): Exchange {
  const { random } = shared
  const breaksAt = random.weighted<Exchange['breaksAt']>([
    [10, 'never'],
    [1, 'first-byte'],
    [2, 'request'],
    [3, 'response'],
  ])
  return {
    delayMs: random.weighted([
      [5, 0],
      [3, random.int(0, 500)],
      [2, random.int(0, 4_000)],
      [1, random.int(3_000, 12_000)],
    ]),
    breaksAt,
    fraction: random.next(),
    how: random.weighted([
      [3, 'reset'],
      [3, 'close'],
      [1.5, 'hang'],
    ]),
    response: createResponse(shared, method),
  }
}

function createResponse(shared: Shared, method: 'post' | 'get'): ResponsePlan {
  const { random, key } = shared
  const status = random.weighted([
    [6, random.pick([200, 201, 202])],
    [method === 'post' ? 5 : 2, 429],
    [method === 'post' ? 2 : 0.5, 409],
    // A cache answers 503 of its own, after the request went through.
    [6, random.pick([500, 502, 503, 503, 503, 504, 529])],
    [2, random.pick([400, 401, 403, 404, 408, 410, 418, 422, 425, 451])],
    [1, random.pick([301, 302, 303, 307, 308, 304])],
    [0.5, random.pick([203, 204, 205, 206, 299, 300, 599, 799])],
  ])
  const isSuccess = status >= 200 && status < 300
  const retryAfter = random.weighted([
    [3, undefined],
    [3, random.pick(['0', '1', '1', '0.5', '2', '3', '30', '3600'])],
    [
      1,
      random.pick([
        '-1',
        'soon',
        '',
        '1e3',
        '99999999999999999999',
        'Thu, 01 Jan 1970 00:00:00 GMT',
        'Fri, 31 Dec 2100 23:59:59 GMT',
        'Sunday, 06-Nov-94 08:49:37 GMT',
        'Sun Nov  6 08:49:37 1994',
        'in2s',
      ]),
    ],
  ])
  const location = random.pick(['elsewhere', '/', '', hostileText(random, key).replace(/[^ -~]/g, '')])
  return {
    ...plainResponse(status),
    body: isSuccess ? successBody(shared, method) : errorBody(shared),
    framing: random.weighted([
      [6, 'length'],
      [3, 'chunked'],
      [1, 'close'],
    ]),
    encoding: random.weighted([
      [12, 'identity'],
      [1, 'gzip'],
      [1, 'deflate'],
      [1, 'br'],
    ]),
    headers: [
      ['content-type', random.pick(['application/json', 'text/html', 'application/json; charset=utf-8', ''])],
      ...(retryAfter === undefined ? [] : ([['retry-after', retryAfter]] as const)),
      ...(status >= 300 && status < 400 ? ([['location', location]] as const) : []),
      ...(random.chance(0.1) ? ([['connection', random.pick(['close', 'keep-alive'])]] as const) : []),
      ...(random.chance(0.05) ? ([['x-padding', 'x'.repeat(random.int(1, 20_000))]] as const) : []),
    ],
    informational: random.chance(0.1)
      ? random.times(random.int(1, 3), () => random.pick([102, 103, 103, 100]))
      : [],
    parts: random.weighted([
      [4, 1],
      [2, random.int(2, 6)],
    ]),
    pauseMs: random.weighted([
      [3, 0],
      [2, random.int(1, 100)],
      [1, random.int(100, 1_500)],
    ]),
    afterwards: random.weighted([
      [10, 'keep'],
      [2, 'close'],
      [1, 'reset'],
      [1, 'garbage'],
    ]),
  }
}

function successBody(shared: Shared, method: 'post' | 'get'): BodyPlan {
  const { random, key } = shared
  const status = random.weighted([
    [method === 'post' ? 6 : 3, 'active'],
    [2, 'completed'],
    [1, random.pick(['failed', 'archived'])],
    [1, random.pick(['queued', '', 'ACTIVE', hostileText(random, key)])],
  ])
  return random.weighted<() => BodyPlan>([
    [8, () => jobBody(shared, status, random.chance(0.5) ? null : randomLink(shared))],
    [2, () => ({ kind: 'other-job', id: otherId(shared), status })],
    [2, () => ({ kind: 'text', text: randomText(shared) })],
    [0.4, () => ({ kind: 'huge', bytes: random.pick([1024 * 1024 - 1, 1024 * 1024 + 1, 3_000_000]) })],
  ])()
}

function otherId({ random, key }: Shared): string {
  return random.pick([
    'another-job',
    '',
    '.',
    '..',
    'with space',
    '"; touch x; echo "',
    'x'.repeat(513),
    `job-${key}`,
    `job-${key}`,
    `::error::${INJECTED}`,
    hostileText(random, key),
  ])
}

function randomText(shared: Shared): string {
  const { random, key } = shared
  return random.pick([
    '',
    ' ',
    '{}',
    'null',
    '[]',
    '"text"',
    '1e999',
    '{"id": 1, "status": "active"}',
    '{"id": "job-1"}',
    '{"id": "job-1", "status": null}',
    '{"id": "job-1", "status": "acti',
    '['.repeat(50_000),
    `{"__proto__": {"id": "job-1", "status": "active"}}`,
    '<!DOCTYPE html><title>Sign in</title><body>Sign in</body>',
    hostileText(random, key),
    JSON.stringify({ data: { id: 'job-1', status: hostileText(random, key) } }),
  ])
}

function errorBody(shared: Shared): BodyPlan {
  const { random, key } = shared
  return random.weighted<() => BodyPlan>([
    [4, () => ({ kind: 'text', text: JSON.stringify({ error: hostileText(random, key) }) })],
    [1, () => ({ kind: 'text', text: `<html><body>${hostileText(random, key)}</body></html>` })],
    [2, () => ({ kind: 'text', text: randomText(shared) })],
    // A refusal with a job in it is a refusal.
    [0.5, () => jobBody(shared, 'active', null)],
    [0.2, () => ({ kind: 'huge', bytes: random.pick([1024 * 1024 - 1, 1024 * 1024 + 1, 3_000_000]) })],
  ])()
}

function createGitHubPlan({ random, key }: Shared): GitHubPlan {
  const isHealthy = random.chance(0.5)
  const status = (): number => random.pick([500, 502, 503, 401, 401, 403, 403, 404, 404, 422, 429, 200, 301])
  const faults = random.times(isHealthy ? 0 : random.int(1, 4), () => ({
    method: random.pick([undefined, 'GET', 'POST', 'PATCH']),
    path: random.pick([
      '',
      '/comments',
      '/files',
      '/comments/\\d+$',
      '/issues/',
      '/pulls/',
      'check-runs',
      '/permission',
    ]),
    times: random.pick([1, 1, 2, 1000]),
    takesEffect: random.chance(0.5),
    answer: random.weighted<GitHubPlan['faults'][number]['answer']>([
      [1, 'silence'],
      [2, 'reset'],
      [2, 'cut off'],
      [2, { delayMs: random.int(0, 4_000) }],
      [
        4,
        {
          status: status(),
          headers: random.chance(0.2) ? { 'retry-after': random.pick(['0', '1', '60']) } : {},
          body: random.pick([
            JSON.stringify({ message: hostileText(random, key) }),
            '{}',
            '[]',
            'null',
            '<html>Unicorn</html>',
            '',
            hostileText(random, key),
          ]),
        },
      ],
    ]),
  }))
  return {
    title: `Title ${hostileText(random, key)}`.slice(0, 1000),
    body: hostileText(random, key),
    file: random.pick(['docs/a.md', 'src/a.ts', `src/${INJECTED}\n::error::x.ts`, '@x/<img>`|.md']),
    patch: `@@ -1 +1 @@\n-old\n+${hostileText(random, key)}`,
    pages: random.pick(['usual', 'usual', 'short', 'repeated']),
    docsPull: random.pick(['open', 'closed']),
    healthy: isHealthy,
    faults,
  }
}
