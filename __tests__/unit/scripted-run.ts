// What the tests of a run share: jobs and replies by their few words, and a service that plays a list of replies.

import type { Reply, Service } from '../../src/agent/client.js'
import { isStatus, type Job } from '../../src/agent/job.js'
import { type ActionError, Cancelled } from '../../src/errors.js'
import type { Inputs } from '../../src/inputs/inputs.js'
import { createDeadline } from '../../src/net/deadline.js'
import type { Ports } from '../../src/run/ports.js'
import { Progress } from '../../src/run/progress.js'
import { FakeClock } from './fake-clock.js'

/** Inputs as a step has them that names none but the required. */
export const INPUTS: Inputs = {
  task: { kind: 'create', prompt: 'Do it' },
  projectId: 'p-1',
  apiKey: 'mint_key',
  jobScope: 'run',
  jobKey: '',
  context: 'none',
  paths: [],
  comment: false,
  githubToken: '',
  skipAuthors: new Set(),
  wait: true,
  timeoutMs: 30 * 60_000,
  pollIntervalMs: undefined,
  failOn: new Set(),
  baseUrl: 'https://api.mintlify.com',
  dryRun: false,
}

export const LINK = 'https://github.com/your-org/docs/pull/7'
export const MINUTE = 60_000

export function job(status: string, fields: { prLink?: string | null; [name: string]: unknown } = {}): Job {
  const received = { id: 'job-1', status, prLink: null, ...fields }
  return {
    id: String(received.id),
    word: status,
    status: isStatus(status) ? status : undefined,
    link: received.prLink ?? '',
    linkRefused: false,
    received,
  }
}

export const gives = (status: string, fields = {}): Reply => ({ kind: 'job', job: job(status, fields) })
export const noJob: Reply = { kind: 'no-job', words: '200: hello' }
export const lost: Reply = { kind: 'lost', reason: 'read ECONNRESET', cause: undefined }
export const unsent: Reply = {
  kind: 'unsent',
  reason: 'connect ECONNREFUSED',
  refusal: undefined,
  cause: undefined,
}
export const refused = (status: number, retryAfter?: string): Reply => ({
  kind: 'refused',
  status,
  words: `${status}: its words`,
  retryAfter,
})

/** A reply, or what happens until there is one. */
export type Line = Reply | ((world: World) => Reply | Promise<Reply>)

export function* forever(line: Line): Generator<Line> {
  for (;;) yield line
}

/** Answers after a time. */
export const after =
  (milliseconds: number, reply: Reply): Line =>
  async ({ clock }) => {
    await clock.sleep(milliseconds, new AbortController().signal)
    return reply
  }

/** Never answers: the request ends with the deadline or a cancel. */
export const hangs =
  (sent: boolean): Line =>
  ({ stop }) =>
    new Promise((resolve) => {
      const end = (): void => resolve({ kind: 'stopped', sent })
      if (stop.signal.aborted) end()
      else stop.signal.addEventListener('abort', end)
    })

/** The cancel comes while this request is on its way. */
export const cancelledThen =
  (reply: Reply): Line =>
  ({ cancel }) => {
    cancel.abort()
    return reply
  }

export interface Call {
  readonly what: 'create' | 'message' | 'look'
  readonly at: number
  readonly jobId?: string
  readonly prompt?: string
}

export interface Snapshot {
  readonly at: number
  readonly jobId: string
  readonly status: string | undefined
  readonly sending: boolean
  readonly reused: boolean
  readonly calls: number
}

export type World = ReturnType<typeof world>

/** Everything around a run, all of it to be looked at afterwards. */
export function world(
  lines: Iterable<Line>,
  { timeoutMs = 30 * MINUTE, random = 0, jobId = '', cancelAt = Number.POSITIVE_INFINITY } = {},
) {
  const clock = new FakeClock()
  const cancel = new AbortController()
  const stop = createDeadline(timeoutMs, cancel.signal, clock)
  const progress = new Progress(clock)
  progress.jobId = jobId
  const script = lines[Symbol.iterator]()
  const calls: Call[] = []
  const said = { log: [] as string[], debug: [] as string[], warn: [] as string[] }
  const seen: string[] = []
  const published: Snapshot[] = []
  const publish = (): void => {
    const { jobId, status, sending, reused } = progress
    published.push({ at: clock.now(), jobId, status, sending, reused, calls: calls.length })
  }
  const play = async (call: Omit<Call, 'at'>): Promise<Reply> => {
    calls.push({ ...call, at: clock.now() })
    const { value, done } = script.next()
    if (done) throw new Error(`No line is left in the script for call ${calls.length}, a ${call.what}`)
    return typeof value === 'function' ? await value(all) : value
  }
  const service: Service = {
    create: (prompt) => play({ what: 'create', prompt }),
    message: (jobId, prompt) => play({ what: 'message', jobId, prompt }),
    look: (jobId) => play({ what: 'look', jobId }),
    close: () => undefined,
  }
  const ports: Ports = {
    clock,
    stop,
    progress,
    random: () => random,
    log: (line) => said.log.push(line),
    debug: (line) => said.debug.push(line),
    warn: (line) => said.warn.push(line),
    see: (job) => {
      seen.push(job.word)
      progress.see(job)
      publish()
    },
    place: async () => undefined,
    publish,
  }
  if (cancelAt !== Number.POSITIVE_INFINITY) {
    void clock.sleep(cancelAt, stop.signal).then(() => cancel.abort())
  }
  const all = { clock, cancel, stop, progress, calls, said, seen, published, service, ports }
  return all
}

export const times = ({ calls }: { calls: readonly Call[] }): number[] => calls.map(({ at }) => at)

/** What a promise ended with: its value, the code of its error, or that it was cancelled. */
export async function endOfPromise<T>(promise: Promise<T>) {
  try {
    return { value: await promise }
  } catch (thrown) {
    if (thrown instanceof Cancelled) return { cancelled: true, code: thrown.unknown?.code }
    return { code: (thrown as ActionError).code, message: (thrown as ActionError).message }
  }
}
