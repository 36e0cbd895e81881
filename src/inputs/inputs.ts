/** Parses the inputs: raw strings in, one frozen `Inputs` out, or every problem that was found. */

import type { FailOn, Job } from '../agent/job.js'
import { ActionError } from '../errors.js'
import { quote, truncate } from '../escape.js'
import { createRedactor, type Redact } from '../redact.js'
import type { PathPattern } from './path-patterns.js'
import type { PromptFile } from './prompt-file.js'
import {
  InvalidInput,
  type JobScope,
  parseAllowUsers,
  parseBaseUrl,
  parseBoolean,
  parseFailOn,
  parseId,
  parseInterval,
  parseIssueNumber,
  parseKey,
  parseLogins,
  parsePatterns,
  parseProject,
  parseScope,
  parseTimeout,
  parseWord,
} from './values.js'

/** Every input and its default. A test compares action.yml and the README with this table. */
export const DEFAULTS = {
  prompt: '',
  'prompt-file': '',
  'project-id': '',
  'api-key': '',
  'job-id': '',
  'job-scope': 'run',
  'issue-number': '',
  'job-key': '${{ toJSON(matrix) }}',
  context: 'none',
  'context-paths': '',
  wait: 'true',
  'timeout-minutes': '30',
  'poll-interval-seconds': '',
  'fail-on': 'failed, archived, timed-out',
  comment: 'false',
  check: 'false',
  'github-token': '${{ github.token }}',
  'docs-token': '',
  'allow-users': '',
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
      /** The job as it was before the message, if known. */
      readonly previousJob?: Job | undefined
      /** Create a new job if this one no longer exists; `previousLink` is the pull request that it continues, or empty. */
      readonly forNewJob?: { readonly prompt: string; readonly previousLink: string }
    }
  | { readonly kind: 'attach'; readonly jobId: string }

export interface Inputs {
  readonly task: Task
  readonly projectId: string
  readonly apiKey: string
  readonly jobScope: JobScope
  /** Undefined: the pull request or issue that triggered the run. */
  readonly issueNumber: number | undefined
  readonly context: 'none' | 'event' | 'diff'
  /** Empty: every changed file counts. */
  readonly contextPaths: readonly PathPattern[]
  readonly comment: boolean
  readonly check: boolean
  /** Empty if there is none. */
  readonly docsToken: string
  /** In lower case; `*` is everyone. */
  readonly allowUsers: ReadonlySet<string>
  /** In lower case. */
  readonly skipAuthors: ReadonlySet<string>
  readonly wait: boolean
  readonly timeoutMs: number
  /** Undefined: adaptive polling. */
  readonly pollIntervalMs: number | undefined
  readonly failOn: ReadonlySet<FailOn>
  /** http(s), without a slash at its end. */
  readonly baseUrl: string
  readonly dryRun: boolean
}

/** What parsing the inputs needs from outside. */
export interface InputSources {
  /** Redacts values that are shown: any input may contain the key. */
  readonly redact: Redact
  readonly readPromptFile: (path: string) => PromptFile
  /** Why the runner passed this run no secrets, if known. */
  readonly missingSecrets: string | undefined
  /** Whether a pull request or an issue triggered the run, as far as the event can be read. */
  readonly hasIssue: boolean
}

interface Problem {
  readonly input: InputName
  /** What is wrong and what to do, on one line. */
  readonly text: string
}

/** Bad input: one line per problem. Has the job's id if that input was valid. */
export class InputError extends ActionError {
  constructor(
    problems: readonly Problem[],
    readonly jobId: string,
  ) {
    const lines = problems.map(({ input, text }) => `${input}: ${text}`)
    super('input', lines.join('\n'), 'Fix the inputs and run it again. Nothing was sent.')
  }
}

/** A shorter key, of some other service, would also be found in ordinary text. */
const MIN_UNIQUE_LENGTH = 8

/** Redacts the key in what the agent reads; a short key is left as it is. */
export function createKeyRedactor(key: string): Redact {
  return createRedactor(key.length < MIN_UNIQUE_LENGTH ? '' : key)
}

/**
 * Parses all inputs.
 *
 * A blank value means the default: the runner fills in a default only if the key is absent, and an expression often
 * evaluates to an empty string.
 *
 * @throws InputError with every problem
 */
export function parseInputs(raw: RawInputs, sources: InputSources): Inputs {
  const problems: Problem[] = []
  const key = raw['api-key'].trim()
  const redactKey = createKeyRedactor(key)
  const refuseKey = (text: string): string => {
    if (redactKey(text, true) === text) return text
    throw new InvalidInput(() => 'contains the key. Pass it as api-key only.')
  }
  const parse: Parse = (input, parseValue) => {
    try {
      const value = raw[input].trim() || DEFAULTS[input]
      if (input !== 'api-key' && value !== DEFAULTS[input]) refuseKey(value)
      return parseValue(value)
    } catch (thrown) {
      if (!(thrown instanceof InvalidInput)) throw thrown
      const got = quote(truncate(sources.redact(thrown.value), 80))
      problems.push({ input, text: thrown.describe(got) })
      return undefined as never // Placeholder: `parseInputs` throws before anyone uses it.
    }
  }
  /** For inputs that accept any text, and for which a blank one does not mean the default. */
  const trim = (input: InputName): string => parse(input, () => raw[input].trim())

  for (const name of ['github-token', 'job-key'] as const) trim(name)
  const baseUrl = parse('base-url', parseBaseUrl)
  const jobId = parse('job-id', (value) => (value === '' ? '' : parseId(value)))
  const inputs: Inputs = {
    apiKey: parse('api-key', (value) =>
      parseKey(value, baseUrl === DEFAULTS['base-url'], sources.missingSecrets),
    ),
    projectId: parse('project-id', parseProject),
    task: parseTask(parse, jobId, (path) => refuseKey(readFile(path, sources))),
    jobScope: parse('job-scope', (value) =>
      parseScope(value, { jobId, hasIssue: sources.hasIssue || raw['issue-number'].trim() !== '' }),
    ),
    issueNumber: parse('issue-number', parseIssueNumber),
    context: parse('context', (value) => parseWord(value, ['none', 'event', 'diff'])),
    contextPaths: parse('context-paths', parsePatterns),
    comment: parse('comment', parseBoolean),
    check: parse('check', parseBoolean),
    docsToken: trim('docs-token'),
    allowUsers: parse('allow-users', parseAllowUsers),
    skipAuthors: parse('skip-authors', () => parseLogins(raw['skip-authors'])),
    wait: parse('wait', parseBoolean),
    timeoutMs: parse('timeout-minutes', parseTimeout),
    pollIntervalMs: parse('poll-interval-seconds', parseInterval),
    failOn: parse('fail-on', parseFailOn),
    baseUrl,
    dryRun: parse('dry-run', parseBoolean),
  }
  if (problems.length > 0) throw new InputError(problems, jobId ?? '')
  return Object.freeze(inputs)
}

/**
 * Whether anything depends on what GitHub's API says.
 *
 * @param commitsToCheck whether `skip-authors` depends on which commits are merges
 */
export function needsGitHub(
  { task, jobScope, context, contextPaths, comment, check }: Inputs,
  commitsToCheck: boolean,
): boolean {
  const needsChanges = task.kind !== 'attach' && (context !== 'none' || contextPaths.length > 0)
  return jobScope !== 'run' || comment || check || commitsToCheck || needsChanges
}

/** Whether a check is asked for, whatever the other inputs are. A dry run writes none. */
export function asksForCheck(raw: RawInputs): boolean {
  const isOff = ['', 'false', 'False', 'FALSE'].includes(raw['dry-run'].trim())
  return isOff && ['true', 'True', 'TRUE'].includes(raw.check.trim())
}

type Parse = <T>(input: InputName, parseValue: (value: string) => T) => T

function parseTask(parse: Parse, jobId: string, read: (path: string) => string): Task {
  const fromFile = parse('prompt-file', (path) => (path === '' ? '' : read(path)))
  const prompt = parse('prompt', (text) => {
    const whole = [text, fromFile].filter((part) => part).join('\n\n')
    if (whole !== '' || jobId !== '' || fromFile !== '') return whole
    throw new InvalidInput(
      () => 'no instruction for the agent. Set prompt or prompt-file, or job-id to wait for an existing job.',
    )
  })
  if (jobId === '') return { kind: 'create', prompt }
  return prompt === '' ? { kind: 'attach', jobId } : { kind: 'message', jobId, prompt }
}

function readFile(path: string, sources: InputSources): string {
  const file = sources.readPromptFile(path)
  if ('problem' in file) throw new InvalidInput((got) => `${got} ${file.problem}`, path)
  return file.text
}
