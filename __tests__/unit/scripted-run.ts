// Shared by the tests of a run: short ways to write jobs and results, and a service that plays a
// list of results.

import type { AgentService, ServiceResult } from '../../src/agent/client.js'
import { isStatus, type Job } from '../../src/agent/job.js'
import type { Inputs } from '../../src/inputs/inputs.js'
import { createDeadline, type Deadline } from '../../src/net/deadline.js'
import { collectOutputs } from '../../src/report/outputs.js'
import { factsAfter, factsAtStart, type Happening, sentIn, statusIn } from '../../src/run/facts.js'
import type { RunTools } from '../../src/run/step.js'
import { type ActionError, Cancelled } from '../../src/text/errors.js'
import { FakeClock } from './fake-clock.js'

/**
 * The inputs of a step that sets only the required ones, and that no outcome fails. inputs.test.ts
 * has the same.
 */
export const INPUTS: Inputs = {
  task: { kind: 'create', prompt: 'Do it' },
  projectId: 'p-1',
  apiKey: 'mint_key',
  previousApiKey: '',
  jobScope: 'run',
  issueNumber: undefined,
  context: 'none',
  contextPaths: [],
  since: '',
  codeRepositories: [],
  comment: false,
  skipLabels: new Set(),
  allowUsers: new Set(),
  wait: true,
  timeoutMs: 30 * 60_000,
  pollIntervalMs: undefined,
  failOn: new Set(),
  baseUrl: 'https://api.mintlify.com',
  dryRun: false,
  skipAuthors: new Set(),
  jobKey: '',
  githubToken: '',
  codeTokens: [],
  docsToken: '',
  hasPromptFile: false,
}

/** Every output, in order. */
export const OUTPUT_NAMES = Object.keys(
  collectOutputs({ ...factsAtStart(''), result: { outcome: 'dry-run' } }, String),
)

export const LINK = 'https://github.com/your-org/docs/pull/7'
export const MINUTE = 60_000

export function job(
  status: string,
  fields: { prLink?: string | null; [name: string]: unknown } = {},
): Job {
  const received = { id: 'job-1', status, prLink: null, ...fields }
  return {
    id: String(received.id),
    rawStatus: status,
    status: isStatus(status) ? status : undefined,
    link: received.prLink || undefined,
    received,
  }
}

export const jobResult = (status: string, fields = {}): ServiceResult => ({
  kind: 'job',
  job: job(status, fields),
})
export const noJob: ServiceResult = {
  kind: 'no-job',
  description: '200: hello',
  isPage: false,
}
export const noResponse: ServiceResult = {
  kind: 'no-response',
  reason: 'read ECONNRESET',
  cause: undefined,
}
export const notSent: ServiceResult = {
  kind: 'not-sent',
  reason: 'connect ECONNREFUSED',
  permanent: undefined,
  cause: undefined,
}
export const errorResponse = (status: number, retryAfterMs?: number) => ({
  kind: 'error-response' as const,
  status,
  description: `${status}: its message`,
  retryAfterMs,
  isForeign: false,
  hasError: true,
})

/** A result, or what happens until there is one. */
export type ScriptedResult =
  | ServiceResult
  | ((run: ScriptedRun, deadline: Deadline) => ServiceResult | Promise<ServiceResult>)

export function* forever(result: ScriptedResult): Generator<ScriptedResult> {
  for (;;) yield result
}

export const delayed =
  (milliseconds: number, result: ServiceResult): ScriptedResult =>
  async ({ clock }) => {
    await clock.sleep(milliseconds, new AbortController().signal)
    return result
  }

/** A request that never gets a response: it ends with its deadline or a cancel. */
export const hangs =
  (sent: boolean): ScriptedResult =>
  (_, deadline) =>
    new Promise((resolve) => {
      const end = (): void => resolve({ kind: 'aborted', sent })
      if (deadline.signal.aborted) end()
      else deadline.signal.addEventListener('abort', end)
    })

/** The cancel comes while this request is in flight. */
export const cancelThen =
  (result: ServiceResult): ScriptedResult =>
  ({ cancel }) => {
    cancel.abort()
    return result
  }

export interface Call {
  readonly kind: 'create' | 'message' | 'poll'
  readonly at: number
  readonly jobId?: string
  readonly prompt?: string
  /** How long it may take, in milliseconds. */
  readonly limitMs?: number
}

type ScriptedRun = ReturnType<typeof createScriptedRun>

export interface ScriptedOptions {
  timeoutMs?: number
  random?: number
  jobId?: string
  startAt?: number | undefined
  /** The service has responded earlier in the step. */
  responded?: boolean
  cancelAt?: number | undefined
  /** Each time that it waits, the process is frozen for so long. */
  frozenMs?: number
  /** The timer that a frozen process waits for is called before the deadline's. */
  wakesFirst?: boolean
}

/**
 * After these, a reader knows more. After `seen`, too, but it is left out: what a poll shows has to
 * be published by the pause that follows, in which the step may be killed.
 */
const PUBLISHED = ['sending', 'pausing', 'accepted', 'waiting']

/** Everything around a run, recorded for the assertions. */
export function createScriptedRun(
  script: Iterable<ScriptedResult>,
  {
    timeoutMs = 30 * MINUTE,
    random = 0,
    jobId = '',
    responded = false,
    ...times
  }: ScriptedOptions = {},
) {
  const {
    startAt = 0,
    cancelAt = Number.POSITIVE_INFINITY,
    frozenMs = 0,
    wakesFirst = false,
  } = times
  const clock = new FakeClock()
  clock.advance(startAt)
  const cancel = new AbortController()
  const deadline: Deadline = createDeadline(timeoutMs, cancel.signal, clock)
  let facts = factsAtStart(jobId)
  const results = script[Symbol.iterator]()
  const calls: Call[] = []
  const lines = { log: [] as string[], debug: [] as string[], warn: [] as string[] }
  /** The status of each job that was reported. */
  const reported: string[] = []
  /** What a reader knew each time, and how many requests had been sent by then. */
  const published: object[] = []
  /** For each placeholder, how many requests had been sent before it was written. */
  const placeholders: number[] = []
  /** For each time that the connection was closed, how many requests had been sent. */
  const closes: number[] = []
  const tell = (happening: Happening): void => {
    const now = clock.now()
    facts = factsAfter(facts, happening, clock)
    if ('job' in happening && happening.job !== undefined) reported.push(happening.job.rawStatus)
    if (!PUBLISHED.includes(happening.kind)) return
    const { jobId, request } = facts
    const known = { jobId, status: statusIn(facts), request: request.kind, sent: sentIn(facts) }
    published.push({ at: now, ...known, calls: calls.length })
  }
  const play = async (call: Omit<Call, 'at'>, until = deadline): Promise<ServiceResult> => {
    calls.push({ ...call, at: clock.now() })
    const { value, done } = results.next()
    if (done) throw new Error(`The script has no result for call ${calls.length}, a ${call.kind}`)
    const result = typeof value === 'function' ? await value(all, until) : value
    responded ||= ['job', 'no-job', 'error-response'].includes(result.kind)
    return result
  }
  const service: AgentService = {
    submit: (request, prompt) => play({ ...request, prompt }),
    getJob: (jobId, until) => play({ kind: 'poll', jobId, limitMs: until.remainingMs() }, until),
    hasResponded: () => responded,
    close: () => void closes.push(calls.length),
  }
  const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
    await clock.sleep(milliseconds, signal)
    if (frozenMs === 0 || milliseconds === 0 || signal.aborted) return
    if (wakesFirst) clock.advance(frozenMs)
    else await clock.sleep(frozenMs, new AbortController().signal)
  }
  const tools: RunTools = {
    service,
    clock: { now: () => clock.now(), date: () => clock.date(), every: clock.every, sleep },
    deadline,
    random: () => random,
    log: (line) => lines.log.push(line),
    debug: (line) => lines.debug.push(line),
    warn: (line) => lines.warn.push(line),
    tell,
    writePlaceholder: async () => void placeholders.push(calls.length),
  }
  if (cancelAt !== Number.POSITIVE_INFINITY) {
    void clock.sleep(cancelAt, deadline.signal).then(() => cancel.abort())
  }
  const recorded = { calls, closes, lines, reported, published, placeholders }
  const all = { clock, cancel, deadline, facts: () => facts, tools, ...recorded }
  return all
}

export const callTimes = ({ calls }: { calls: readonly Call[] }): number[] =>
  calls.map(({ at }) => at)

/**
 * How a promise settled: its value, or its error and the error's code. A cancel says whether a
 * result is unknown.
 */
export async function settle<T>(promise: Promise<T>) {
  try {
    return { value: await promise }
  } catch (thrown) {
    if (thrown instanceof Cancelled)
      return { code: ['cancelled', thrown.unknown?.code].filter(Boolean).join(' ') }
    const error = thrown as ActionError
    return { error, code: error.code as string | undefined }
  }
}
