/** Parses the inputs: raw strings in, one frozen `Inputs` out, or every problem that was found. */

import type { Job } from '../agent/job.js'
import { ActionError } from '../errors.js'
import { quote, truncate } from '../escape.js'
import { joinSentences } from '../format.js'
import { createRedactor, type Redact } from '../redact.js'
import { parsePathPatterns } from './path-patterns.js'
import type { PromptFile } from './prompt-file.js'
import {
  InvalidInput,
  parseAllowUsers,
  parseBaseUrl,
  parseBoolean,
  parseFailOn,
  parseId,
  parseInterval,
  parseIssueNumber,
  parseKey,
  parseLogins,
  parseProject,
  parseScope,
  parseSince,
  parseSkipAuthors,
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
  since: '',
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
      /** Set if an earlier run left the job: a new one may take its place. */
      readonly remembered?: Remembered
    }
  | { readonly kind: 'attach'; readonly jobId: string }

/** A job that an earlier run left, and what a new one in its place would get. */
export interface Remembered {
  /** As it was before the message, if known. */
  readonly job: Job | undefined
  /** Asks the service for it again; undefined if it does not exist. */
  readonly find: () => Promise<Job | undefined>
  readonly prompt: string
  /** The pull request that a new job is asked to continue, or empty. */
  readonly previousLink: string
}

/** What the step needs even if other inputs are bad: to refuse a stranger, say, or to conclude its check. */
export type Given = ReturnType<typeof readGiven>

export function readGiven(raw: RawInputs) {
  const given = (input: InputName): string => raw[input].trim()
  const isTrue = (input: InputName): boolean => ['true', 'True', 'TRUE'].includes(given(input))
  const hasPromptFile = given('prompt-file') !== ''
  return {
    projectId: given('project-id'),
    apiKey: given('api-key'),
    githubToken: given('github-token'),
    /** Empty if there is none. */
    docsToken: given('docs-token'),
    jobScope: given('job-scope') || DEFAULTS['job-scope'],
    /** Without a matrix, `toJSON(matrix)` is `null` on the runner and `{}` in nektos/act. */
    jobKey: ['null', '{}'].includes(given('job-key')) ? '' : given('job-key'),
    /** In lower case; `*` is everyone. */
    allowUsers: parseLogins(raw['allow-users']),
    /** In lower case. */
    skipAuthors: parseSkipAuthors(raw['skip-authors'], DEFAULTS['skip-authors']),
    hasPromptFile,
    onlyWaits: given('job-id') !== '' && given('prompt') === '' && !hasPromptFile,
    /** A dry run writes none. */
    check: isTrue('check') && !isTrue('dry-run'),
  }
}

/** What parsing the inputs needs from outside. */
export interface InputSources {
  /** Redacts values that are shown: any input may contain the key. */
  readonly redact: Redact
  readonly readPromptFile: (path: string) => PromptFile
  /** The names of the step's inputs that the action does not have, in lower case. */
  readonly unknownInputs: readonly string[]
  /** Why the runner passed this run no secrets, if known. */
  readonly missingSecrets: string | undefined
  /** Whether a pull request or an issue triggered the run, as far as the event can be read. */
  readonly hasIssue: boolean
}

/** Bad input: one line per problem. Has the job's id if that input was valid. */
export class InputError extends ActionError {
  /** @param lines each names the input, says what is wrong and what to do */
  constructor(
    lines: readonly string[],
    readonly jobId: string,
  ) {
    super(
      'input',
      lines.join('\n'),
      'Nothing was sent. Fix the inputs. After a change to the workflow file, start a new run: a re-run uses the old file.',
    )
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
  const lines: string[] = []
  const parse: Parse = (input, parseValue) => {
    try {
      return parseValue(raw[input].trim() || DEFAULTS[input])
    } catch (thrown) {
      if (!(thrown instanceof InvalidInput)) throw thrown
      const line = `${input}: ${thrown.describe(quote(truncate(sources.redact(thrown.value), 80)))}`
      const isMissing = raw[input].trim() === ''
      lines.push(joinSentences(line, isMissing ? describeSlip(input, sources.unknownInputs) : ''))
      return undefined as never // Placeholder: `parseInputs` throws before anyone uses it.
    }
  }
  const inputs = readAll(raw, parse, sources)
  const { task } = inputs
  if (lines.length > 0) throw new InputError(lines, (task.kind !== 'create' && task.jobId) || '')
  return Object.freeze(inputs)
}

/** Names an input whose name was written with other hyphens than this one's; the runner passes it on all the same. */
function describeSlip(input: InputName, unknown: readonly string[]): string {
  const plain = (name: string): string => name.replace(/[-_]/g, '')
  const meant: readonly InputName[] = input === 'prompt' ? ['prompt', 'prompt-file'] : [input]
  for (const name of meant) {
    const slip = unknown.find((other) => plain(other) === plain(name))
    if (slip !== undefined) return `The step sets ${quote(slip)}: write ${name}.`
  }
  return ''
}

/** Every input, parsed. */
export type Inputs = Readonly<ReturnType<typeof readAll>>

type Parse = <T>(input: InputName, parseValue: (value: string) => T) => T

function readAll(raw: RawInputs, parseAny: Parse, sources: InputSources) {
  const redactKey = createKeyRedactor(raw['api-key'].trim())
  const refuseKey = (text: string): string => {
    if (redactKey(text, true) === text) return text
    throw new InvalidInput(() => 'contains the key. Pass it as api-key only.')
  }
  const parse: Parse = (input, parseValue) =>
    parseAny(input, (value) => parseValue(value === DEFAULTS[input] ? value : refuseKey(value)))
  // Any text is valid: `readGiven` reads it.
  for (const input of ['github-token', 'docs-token', 'job-key', 'skip-authors'] as const) {
    parse(input, String)
  }
  const baseUrl = parse('base-url', parseBaseUrl)
  const jobId = parse('job-id', (value) => (value === '' ? '' : parseId(value)))
  const isDefaultService = baseUrl === DEFAULTS['base-url']
  const hasIssue = sources.hasIssue || raw['issue-number'].trim() !== ''
  return {
    apiKey: parseAny('api-key', (value) => parseKey(value, isDefaultService, sources.missingSecrets)),
    projectId: parse('project-id', parseProject),
    task: parseTask(parse, jobId, (path) => refuseKey(readFile(path, sources))),
    jobScope: parse('job-scope', (value) => parseScope(value, { jobId, hasIssue })),
    /** Undefined: the pull request or issue that triggered the run. */
    issueNumber: parse('issue-number', parseIssueNumber),
    context: parse('context', (value) => parseWord(value, ['none', 'event', 'diff'] as const)),
    /** Empty: every changed file counts. */
    contextPaths: parse('context-paths', parsePathPatterns),
    /** Undefined: where the event's own range begins. */
    since: parse('since', parseSince),
    comment: parse('comment', parseBoolean),
    check: parse('check', parseBoolean),
    allowUsers: parse('allow-users', parseAllowUsers),
    wait: parse('wait', parseBoolean),
    timeoutMs: parse('timeout-minutes', parseTimeout),
    /** Undefined: adaptive polling. */
    pollIntervalMs: parse('poll-interval-seconds', parseInterval),
    failOn: parse('fail-on', parseFailOn),
    /** http(s), without a slash at its end. */
    baseUrl,
    dryRun: parse('dry-run', parseBoolean),
  }
}

/** Whether anything depends on what GitHub's API says. */
export function needsGitHub({ task, jobScope, context, contextPaths, comment, check }: Inputs): boolean {
  const needsChanges = task.kind !== 'attach' && (context !== 'none' || contextPaths.length > 0)
  return jobScope !== 'run' || comment || check || needsChanges
}

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
