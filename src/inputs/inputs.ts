/** Reads the inputs: raw texts in, one frozen `Inputs` out, or every fault that was found. */

import { FAIL_ON, type FailOn, isId, type Job } from '../agent/job.js'
import { ActionError } from '../errors.js'
import { clip, quote, type Redact } from '../escape.js'
import type { RunEvent } from '../event/event.js'
import { skipAuthors } from '../event/skip-authors.js'
import { type PathPattern, PathPatternError, parsePathPatterns } from './path-patterns.js'

/** Every input and its default. action.yml and the README are held to this table by a test. */
export const DEFAULTS = {
  prompt: '',
  'prompt-file': '',
  'project-id': '',
  'api-key': '',
  'job-id': '',
  'job-scope': 'run',
  'job-key': '',
  context: 'none',
  'context-paths': '',
  wait: 'true',
  'timeout-minutes': '30',
  'poll-interval-seconds': '',
  'fail-on': 'failed, archived, timed-out',
  comment: 'false',
  'github-token': '${{ github.token }}',
  'skip-authors': 'mintlify[bot]',
  'base-url': 'https://api.mintlify.com',
  'dry-run': 'false',
} as const

export type InputName = keyof typeof DEFAULTS
export type RawInputs = Readonly<Record<InputName, string>>

/** What the step is asked to do. */
export type Task =
  | { readonly kind: 'create'; readonly prompt: string }
  | {
      readonly kind: 'message'
      readonly jobId: string
      readonly prompt: string
      /** The job as it was before, where that is known. */
      readonly before?: Job | undefined
      /** A new job takes its place where it is gone. */
      readonly orCreate?: boolean
    }
  | { readonly kind: 'attach'; readonly jobId: string }

export interface Inputs {
  readonly task: Task
  readonly projectId: string
  readonly apiKey: string
  readonly jobScope: 'run' | 'pull-request'
  readonly jobKey: string
  readonly context: 'none' | 'event' | 'diff'
  /** Empty: every changed file counts. */
  readonly paths: readonly PathPattern[]
  readonly comment: boolean
  readonly githubToken: string
  /** In lower case. */
  readonly skipAuthors: ReadonlySet<string>
  readonly wait: boolean
  readonly timeoutMs: number
  /** Undefined: the adaptive schedule. */
  readonly pollIntervalMs: number | undefined
  readonly failOn: ReadonlySet<FailOn>
  /** http(s), without a slash at its end. */
  readonly baseUrl: string
  readonly dryRun: boolean
}

/** A fault of one input: what it got, what it takes, what to do, as one line. */
export interface Fault {
  readonly input: InputName
  readonly text: string
}

/** What the reading of inputs needs from outside. */
export interface InputSources {
  /** Takes the key out of what a fault shows: it may stand in any input. */
  readonly redact: Redact
  /** Reads the prompt file: its text, or what is wrong with it. */
  readonly readPromptFile: (path: string) => { text: string } | { fault: string }
  /** Why the runner gave this run no secrets, if it is known. */
  readonly secretsWithheld: () => string | undefined
}

/** Bad input: one line a fault. Carries the job's id where that one was good. */
export class InputError extends ActionError {
  constructor(
    faults: readonly Fault[],
    readonly jobId: string,
  ) {
    super('input', faults.map(({ input, text }) => `${input}: ${text}`).join('\n'), 'Nothing was sent.')
  }
}

/**
 * Reads all inputs.
 *
 * A blank value means the default: the runner fills a default only where the key is absent, and an expression often
 * comes out empty.
 *
 * @throws InputError with every fault.
 */
export function readInputs(raw: RawInputs, sources: InputSources): Inputs {
  const faults: Fault[] = []
  const read = <T>(input: InputName, parse: (value: string) => T): T => {
    const value = raw[input].trim() || DEFAULTS[input]
    try {
      return parse(value)
    } catch (thrown) {
      if (!(thrown instanceof Invalid)) throw thrown
      const got = thrown.got === undefined ? '' : `got ${quote(clip(sources.redact(thrown.got), 80))}`
      faults.push({ input, text: got + thrown.message })
      return undefined as T // Never read: a fault ends in the throw below.
    }
  }

  const baseUrl = read('base-url', parseBaseUrl)
  const jobId = read('job-id', (value) => (value === '' ? '' : parseId(value)))
  const inputs: Inputs = {
    apiKey: read('api-key', (value) => parseKey(value, baseUrl, sources.secretsWithheld)),
    projectId: read('project-id', parseProject),
    task: readTask(read, jobId, sources),
    jobScope: read('job-scope', (value) => parseScope(value, jobId)),
    jobKey: raw['job-key'].trim(),
    context: read('context', (value) => parseWord(value, ['none', 'event', 'diff'])),
    paths: read('context-paths', parsePatterns),
    comment: read('comment', parseBoolean),
    githubToken: raw['github-token'].trim(),
    skipAuthors: parseAuthors(raw['skip-authors']),
    wait: read('wait', parseBoolean),
    timeoutMs: read('timeout-minutes', (value) => parseNumber(value, TIMEOUT_MINUTES)) * 60_000,
    pollIntervalMs: read('poll-interval-seconds', parseInterval),
    failOn: read('fail-on', parseFailOn),
    baseUrl,
    dryRun: read('dry-run', parseBoolean),
  }
  if (faults.length > 0) throw new InputError(faults, jobId ?? '')
  return Object.freeze(inputs)
}

/** Whether what GitHub knows is asked for. */
export function needsGitHub(
  { task, jobScope, context, paths, comment, skipAuthors: authors }: Inputs,
  event: RunEvent,
): boolean {
  const merges = skipAuthors(event, authors).unlessMerges.length > 0
  const sends = task.kind !== 'attach'
  return (
    jobScope === 'pull-request' || comment || merges || (sends && (context !== 'none' || paths.length > 0))
  )
}

/** What is wrong with one input: what it got, if that may be shown, and the rest of the sentence. */
class Invalid extends Error {
  constructor(
    text: string,
    readonly got?: string,
  ) {
    super(text)
  }
}

type Read = <T>(input: InputName, parse: (value: string) => T) => T

function readTask(read: Read, jobId: string, sources: InputSources): Task {
  const fromFile = read('prompt-file', (path) => (path === '' ? '' : readFile(path, sources)))
  const prompt = read('prompt', (text) => {
    const whole = [text, fromFile].filter((part) => part !== '' && part !== undefined).join('\n\n')
    if (whole === '' && jobId === '' && fromFile === '') {
      throw new Invalid(
        'got nothing; takes the instruction for the agent. Give prompt or prompt-file, or a job-id to wait for.',
      )
    }
    return whole
  })
  if (jobId === '') return { kind: 'create', prompt }
  return prompt === '' ? { kind: 'attach', jobId } : { kind: 'message', jobId, prompt }
}

function readFile(path: string, sources: InputSources): string {
  const file = sources.readPromptFile(path)
  if ('fault' in file) throw new Invalid(`, ${file.fault}`, path)
  return file.text
}

function parseProject(value: string): string {
  if (value === '') {
    throw new Invalid("got nothing; takes the project's id. Copy it from the API keys page of the dashboard.")
  }
  return parseId(value)
}

function parseId(value: string): string {
  if (isId(value)) return value
  throw new Invalid(
    '; takes an id as the service gives it: not "." or "..", without control characters, at most 512 characters. ' +
      'Copy it anew.',
    value,
  )
}

/** Keys of these kinds are for other interfaces of the same service: its API keys page. */
const OTHER_KINDS = ['mint_dsc_', 'mint_us_']

/** The value is never shown. */
function parseKey(value: string, baseUrl: string, secretsWithheld: () => string | undefined): string {
  if (value === '') {
    throw new Invalid(
      `got nothing; takes the admin API key. ${secretsWithheld() ?? 'Set it from a secret: api-key: ${{ secrets.AGENT_API_KEY }}; a secret that does not exist comes out empty.'}`,
    )
  }
  if (!/^[!-~]+$/.test(value)) {
    throw new Invalid(
      'got a value with white space, control or non-ASCII characters inside; takes the admin API key as one word. Store the secret again, without quotes or line breaks.',
    )
  }
  if (baseUrl !== DEFAULTS['base-url']) return value
  const kind = OTHER_KINDS.find((prefix) => value.startsWith(prefix))
  if (kind !== undefined) {
    throw new Invalid(
      `got a key of another kind (${kind}…); takes an admin API key. Create one on the API keys page of the dashboard.`,
    )
  }
  if (!value.startsWith('mint_')) {
    throw new Invalid(
      'got a value that does not start with mint_; takes an admin API key, which does. Check which secret is passed, or set base-url for another service.',
    )
  }
  return value
}

/** YAML 1.2's booleans, as the core schema writes them (yaml.org/spec/1.2.2, section 10.3.2). */
function parseBoolean(value: string): boolean {
  if (['true', 'True', 'TRUE'].includes(value)) return true
  if (['false', 'False', 'FALSE'].includes(value)) return false
  throw new Invalid('; takes true or false. Write one of these.', value)
}

function parseWord<T extends string>(value: string, words: readonly T[]): T {
  const word = words.find((known) => known === value)
  if (word !== undefined) return word
  throw new Invalid(`; takes ${words.join(', ')}. Write one of these.`, value)
}

function parseScope(value: string, jobId: string): 'run' | 'pull-request' {
  const scope = parseWord(value, ['run', 'pull-request'])
  if (scope === 'run' || jobId === '') return scope
  throw new Invalid(' together with job-id; takes one of both. Take one out.', value)
}

function parsePatterns(value: string): readonly PathPattern[] {
  try {
    return parsePathPatterns(value)
  } catch (thrown) {
    if (!(thrown instanceof PathPatternError)) throw thrown
    throw new Invalid(`, ${thrown.message}`, thrown.pattern)
  }
}

/** Nothing, unlike elsewhere, means nobody. */
export function parseAuthors(value: string): ReadonlySet<string> {
  return new Set(
    value
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((login) => login !== ''),
  )
}

interface Range {
  readonly fits: (value: number) => boolean
  readonly text: string
}

const TIMEOUT_MINUTES: Range = {
  fits: (value) => value > 0 && value <= 1440,
  text: 'a number of minutes above 0, at most 1440. Write for example 30, or 0.5 for half a minute',
}
const INTERVAL_SECONDS: Range = {
  fits: (value) => value >= 0.1 && value <= 3600,
  text: 'a number of seconds from 0.1 to 3600. Write for example 10, or nothing for the adaptive schedule',
}

function parseNumber(value: string, range: Range): number {
  const plain = value.length <= 20 && /^(?:\d+\.?\d*|\.\d+)$/.test(value)
  const number = plain ? Number(value) : Number.NaN
  if (range.fits(number)) return number
  throw new Invalid(`; takes ${range.text}.`, value)
}

function parseInterval(value: string): number | undefined {
  return value === '' ? undefined : parseNumber(value, INTERVAL_SECONDS) * 1000
}

function parseFailOn(value: string): ReadonlySet<FailOn> {
  const words = value.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length === 1 && words[0] === 'none') return new Set()
  const strange = words.filter((word) => !(FAIL_ON as readonly string[]).includes(word))
  if (strange.length === 0 && words.length > 0) return new Set(words as FailOn[])
  throw new Invalid(
    `; takes some of ${FAIL_ON.join(', ')}, or none alone (error and cancelled always fail the step). ` +
      'Separate them by comma, space or line.',
    value,
  )
}

function parseBaseUrl(value: string): string {
  // User info, query and fragment may hold a secret.
  const shown = value.replace(/^(https?:\/\/)?.*@/is, '$1***@').replace(/([?#]).+$/s, '$1***')
  const takes = 'takes the address of the service, such as https://agent.example.com/prefix'
  const url = value.length <= 2048 && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined) throw new Invalid(`, which is no address; ${takes}. Check its spelling.`, shown)
  if (url.username !== '' || url.password !== '' || /[?#]/.test(value)) {
    throw new Invalid(`; ${takes}, without user info, query or fragment. Take these out.`, shown)
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw new Invalid(
      `; ${takes}: https, or http on loopback only. Write https, so that the key is not sent in clear.`,
      shown,
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** localhost, 127.0.0.0/8 (RFC 1122, 3.2.1.3) and ::1 (RFC 4291, 2.5.3), as `URL` spells them. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}
