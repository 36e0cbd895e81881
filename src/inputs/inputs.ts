/** Parses the inputs: raw strings in, one frozen `Inputs` out, or every problem that was found. */

import type { Job } from '../agent/job.js'
import { ActionError } from '../errors.js'
import { quote, truncate } from '../escape.js'
import { createRedactor, type Redact } from '../redact.js'
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
    skipAuthors: parseLogins(raw['skip-authors']),
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
  const lines: string[] = []
  const parse: Parse = (input, parseValue) => {
    try {
      return parseValue(raw[input].trim() || DEFAULTS[input])
    } catch (thrown) {
      if (!(thrown instanceof InvalidInput)) throw thrown
      lines.push(`${input}: ${thrown.describe(quote(truncate(sources.redact(thrown.value), 80)))}`)
      return undefined as never // Placeholder: `parseInputs` throws before anyone uses it.
    }
  }
  const inputs = readAll(raw, parse, sources)
  const { task } = inputs
  if (lines.length > 0) throw new InputError(lines, (task.kind !== 'create' && task.jobId) || '')
  return Object.freeze(inputs)
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
  // Any text is valid, and a blank one does not mean the default.
  for (const input of ['github-token', 'docs-token', 'job-key', 'skip-authors'] as const) {
    parse(input, () => refuseKey(raw[input].trim()))
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
    contextPaths: parse('context-paths', parsePatterns),
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
