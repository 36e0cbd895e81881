/** Parses the inputs: raw strings in, one frozen `Inputs` out, or every problem that was found. */

import { DEFAULT_FAIL_ON } from '../agent/job.js'
import { ActionError } from '../text/errors.js'
import { quote, truncate } from '../text/escape.js'
import { joinSentences } from '../text/format.js'
import { createRedactor, type Redact } from '../text/redact.js'
import { parseCodeRepositories, parseCodeTokens, parseTime } from './code-repositories.js'
import { parsePathPatterns } from './path-patterns.js'
import {
  InvalidInput,
  invalid,
  isGitHubToken,
  parseBaseUrl,
  parseBoolean,
  parseFailOn,
  parseId,
  parseInterval,
  parseIssueNumber,
  parseKey,
  parseKeyText,
  parseLabels,
  parseLogins,
  parseProject,
  parseScope,
  parseSince,
  parseTimeout,
  parseWord,
  splitLines,
} from './values.js'

/** Every input and its default: action.yml and the README have the same. [house.defaults.once] */
export const DEFAULTS = {
  prompt: '',
  'prompt-file': '',
  'project-id': '',
  'api-key': '',
  'previous-api-key': '',
  'job-id': '',
  'job-scope': 'run',
  'issue-number': '',
  'job-key': '${{ toJSON(matrix) }}',
  context: 'none',
  'context-paths': '',
  since: '',
  'code-repositories': '',
  wait: 'true',
  'timeout-minutes': '30',
  'poll-interval-seconds': '',
  'fail-on': DEFAULT_FAIL_ON.join(', '),
  comment: 'false',
  'github-token': '${{ github.token }}',
  'code-token': '',
  'docs-token': '',
  'allow-users': '',
  'skip-labels': '',
  'skip-authors': 'mintlify[bot]',
  'base-url': 'https://api.mintlify.com',
  'dry-run': 'false',
}

export type InputName = keyof typeof DEFAULTS

/** The names stand in the order of the table. */
export const NAMES = Object.keys(DEFAULTS) as InputName[]

/** The inputs that hold a secret: their names say so, so that none is forgotten. [secret.name] */
export const SECRETS = NAMES.filter((name) => /api-key$|token$/.test(name))

export type RawInputs = Readonly<Record<InputName, string>>

type AskedTask = Readonly<
  | { kind: 'create'; prompt: string }
  | { kind: 'message'; jobId: string; prompt: string }
  | { kind: 'attach'; jobId: string }
>

export type InputSources = Readonly<{
  /** Redacts values that are shown: any input may contain the key. */
  redact: Redact
  /** Throws InvalidInput. */
  readPromptFile: (path: string) => string
  /** All inputs that the runner passed on, by name, also those that action.yml does not have. */
  given: Readonly<Record<string, string>>
  /** It says why the runner passed this run no secrets, if known. */
  missingSecrets: string | undefined
  /** Whether the run is about a pull request or an issue, if that can be read. */
  hasIssue: boolean
  eventName: string
  now: Date
}>

/**
 * Every problem at once: whoever mends one at a time pays a run for each. [input.problems.together]
 * A re-run has the new secrets, but the old workflow file. [input.problems.rerun]
 */
export class InputError extends ActionError {
  /** @param lines each begins with the input's name, says what is wrong and what to do */
  constructor(lines: readonly string[]) {
    const isOfSecret = lines.some((line) => SECRETS.some((name) => line.startsWith(`${name}: `)))
    super(
      'input',
      lines.join('\n'),
      joinSentences(
        'Fix the inputs.',
        isOfSecret ? 'If only a secret was wrong, re-run.' : '',
        'After a change to the workflow file, start a new run: a re-run uses the old file.',
      ),
    )
  }
}

/** A shorter key, of some other service, would also be found in ordinary text. */
const MIN_UNIQUE_LENGTH = 8

/** A short key, or the start of one, may be ordinary text. [context.secret.none] */
export function createKeyRedactor(...keys: readonly string[]): Redact {
  const redact = createRedactor(...keys.filter((key) => key.length >= MIN_UNIQUE_LENGTH))
  return (text) => redact(text, true)
}

/**
 * A blank value means the default: the runner fills in a default only if the key is absent, and an
 * expression often evaluates to an empty string. So does a bad value, so that a stranger can be
 * refused before the problem ends the step. [input.blank.default]
 */
export function parseInputs(raw: RawInputs, sources: InputSources) {
  const lines = describeMisspelt(sources.given, raw)
  const parse: Parse = (input, parseValue, ifBad) => {
    const value = raw[input].trim() || DEFAULTS[input]
    try {
      return parseValue(value === DEFAULTS[input] ? value : refuseSecrets(raw, input, value))
    } catch (thrown) {
      if (!(thrown instanceof InvalidInput)) throw thrown
      const shown = quote(truncate(sources.redact(thrown.shown ?? value), 80))
      lines.push(`${input}: ${thrown.describe(shown)}`)
      return ifBad ?? parseValue(DEFAULTS[input])
    }
  }
  const inputs = Object.freeze(readAll(raw, parse, sources))
  return { inputs, problem: lines.length > 0 ? new InputError(lines) : undefined }
}

/**
 * A text that is sent or stored may contain no secret. Of two secrets, the second may not contain
 * the first, unless that is a GitHub token in the place of a key, which is the problem then; but
 * one GitHub token may do for several inputs. [secret.input]
 */
function refuseSecrets(raw: RawInputs, input: InputName, text: string): string {
  const first = input.endsWith('-token') ? 'github-token' : input
  const others = SECRETS.slice(0, SECRETS.includes(input) ? SECRETS.indexOf(first) : undefined)
  const name = others.find((name) => {
    const secret = raw[name].trim()
    const isMisplaced = name.endsWith('api-key') && isGitHubToken(secret)
    return !isMisplaced && createKeyRedactor(...splitLines(secret))(text) !== text
  })
  if (name === undefined) return text
  throw invalid(`contains the value of ${name}. Pass it as ${name} only.`)
}

/**
 * Whoever writes `dry_run: true` means it. nektos/act also passes on the inputs of a composite
 * action around the step, which may have such names: the values of ours, then. [input.misspelt]
 */
function describeMisspelt(given: InputSources['given'], raw: RawInputs): string[] {
  const lettersOf = (name: string) => name.replace(/[-_]/g, '').toLowerCase()
  return Object.entries(given).flatMap(([name, value]) => {
    const meant = NAMES.find((input) => lettersOf(input) === lettersOf(name))
    if (meant === undefined || meant === name.toLowerCase()) return []
    if (value.trim() === (raw[meant].trim() || DEFAULTS[meant])) return []
    return [`${name.toLowerCase()}: no such input. Write ${quote(meant)} instead.`]
  })
}

export type Inputs = Readonly<ReturnType<typeof readAll>>

/**
 * Reads one input.
 *
 * @param ifBad what takes the place of a bad value, if the input is required and so has no default
 */
type Parse = <T>(input: InputName, parseValue: (value: string) => T, ifBad?: T) => T

/** People write YAML, and a slip must not be paid. [input.values] */
function readAll(raw: RawInputs, parse: Parse, sources: InputSources) {
  /**
   * Here, an empty value means none: the runner has already filled in the default. So does the
   * value of the input `same`: while secrets are replaced, one is changed first. [input.key.same]
   */
  const parseIfSet = (
    input: InputName,
    parseValue: (value: string) => string = String,
    same?: InputName,
  ): string => {
    const others = ['', same && raw[same].trim()]
    return others.includes(raw[input].trim()) ? '' : parse(input, parseValue, '')
  }
  const baseUrl = parse('base-url', parseBaseUrl, '')
  const jobId = parseIfSet('job-id', parseId)
  const dryRun = parse('dry-run', parseBoolean)
  const jobKey = parseIfSet('job-key')
  const hasPromptFile = raw['prompt-file'].trim() !== ''
  // Keys of other services have other forms.
  const isDefaultService = baseUrl === DEFAULTS['base-url']
  const hasIssue = sources.hasIssue || raw['issue-number'].trim() !== ''
  const context = parse('context', (value) => parseWord(value, ['none', 'event', 'diff'] as const))
  const hasChanges = context !== 'none' || raw['context-paths'].trim() !== ''
  const hasCode = raw['code-repositories'].trim() !== ''
  const codeRepositories = parse('code-repositories', (value) =>
    parseCodeRepositories(value, sources.eventName, hasChanges),
  )
  return {
    apiKey: parse(
      'api-key',
      (value) => parseKey(value, isDefaultService, sources.missingSecrets),
      '',
    ),
    previousApiKey: parseIfSet(
      'previous-api-key',
      (value) => parseKey(value, isDefaultService),
      'api-key',
    ),
    projectId: parse('project-id', parseProject, ''),
    task: parseTask(
      parse,
      jobId,
      parseIfSet('prompt-file', (path) =>
        refuseSecrets(raw, 'prompt-file', sources.readPromptFile(path)),
      ),
      hasPromptFile || raw['job-id'].trim() !== '',
    ),
    jobScope: parse('job-scope', (value) => parseScope(value, jobId, hasIssue)),
    issueNumber: parse('issue-number', parseIssueNumber),
    context,
    contextPaths: parse('context-paths', (value) =>
      parsePathPatterns(
        value,
        codeRepositories.map(({ name }) => `${name}/`),
      ),
    ),
    since: parseIfSet('since', hasCode ? (value) => parseTime(value, sources.now) : parseSince),
    codeRepositories,
    comment: parse('comment', parseBoolean),
    /** They are in lower case; `*` is everyone. */
    allowUsers: parse('allow-users', (value) => parseLogins(value, '*')),
    /**
     * In lower case: always the agent's, unless the list is empty. An app's `[bot]` may be left
     * out. [skip.authors.always]
     */
    skipAuthors: new Set(
      raw['skip-authors'].trim() &&
        parse('skip-authors', (value) =>
          [DEFAULTS['skip-authors'], ...parseLogins(value)].flatMap((login) => [
            login,
            login.replace(/(?:\[bot\])?$/, '[bot]'),
          ]),
        ),
    ),
    skipLabels: parse('skip-labels', parseLabels),
    wait: parse('wait', parseBoolean),
    timeoutMs: parse('timeout-minutes', parseTimeout),
    pollIntervalMs: parse('poll-interval-seconds', parseInterval),
    failOn: parse('fail-on', parseFailOn),
    /** Without a slash at its end; empty if it was bad: nobody knows which service is meant. */
    baseUrl,
    dryRun,
    /** Without a matrix, the runner says `null`, nektos/act `{}`. [input.job-key.matrix] */
    jobKey: ['null', '{}'].includes(jobKey) ? '' : jobKey,
    githubToken: parseIfSet('github-token', parseKeyText),
    /** They are tried in this order; none if `github-token` reads the code. */
    codeTokens: parse('code-token', (value) => parseCodeTokens(value, hasCode)),
    docsToken: parseIfSet('docs-token', parseKeyText, 'github-token'),
    hasPromptFile,
  }
}

/** A run that doesn't need GitHub's part doesn't load it. [net.cheap] */
export function needsGitHub(inputs: Inputs): boolean {
  const { task, jobScope, context, contextPaths, skipLabels, comment } = inputs
  const asksAbout = context !== 'none' || contextPaths.length > 0 || skipLabels.size > 0
  return jobScope !== 'run' || comment || (task.kind !== 'attach' && asksAbout)
}

/**
 * What the step is asked to do: a docs job without an instruction would be paid for nothing.
 * [input.task]
 *
 * @param fromFile the text of the prompt file, or empty
 * @param hasOther another input says what to do, or is bad
 */
function parseTask(parse: Parse, jobId: string, fromFile: string, hasOther: boolean): AskedTask {
  const parsePrompt = (text: string): string => {
    const whole = [text, fromFile].filter((part) => part).join('\n\n')
    if (whole !== '' || hasOther) return whole
    throw invalid(
      'no instruction for the agent. Set prompt or prompt-file, or job-id to wait for an existing docs job.',
    )
  }
  const prompt = parse('prompt', parsePrompt, '')
  if (jobId === '') return { kind: 'create', prompt }
  return prompt === '' ? { kind: 'attach', jobId } : { kind: 'message', jobId, prompt }
}
