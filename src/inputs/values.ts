/** Parses the value of each input, or says what was expected and what came instead. Pure. */

import { FAIL_ON, type FailOn } from '../agent/job.js'
import { formatInteger } from '../text/format.js'
import { isId } from '../text/safe.js'

/** Tells what is wrong with one input. */
export class InvalidInput extends Error {
  /**
   * @param describe completes the line after the input's name; gets the value in quotes
   * @param shown in place of the value
   */
  constructor(
    readonly describe: (got: string) => string,
    readonly shown?: string,
  ) {
    super(describe('the value'))
  }
}

export const invalid = (problem: string): InvalidInput => new InvalidInput(() => problem)

const missing = (advice: string): InvalidInput => invalid(`required. ${advice}`)

/** Tells what is wrong with a value of the right form. */
export const unfit = (problem: string): InvalidInput =>
  new InvalidInput((got) => `${got} ${problem}`)

export const unexpected = (expected: string, advice = '', shown?: string): InvalidInput =>
  new InvalidInput((got) => `expected ${expected}, got ${got}.${advice && ` ${advice}`}`, shown)

export function parseProject(value: string): string {
  const advice = 'Copy it from the service (Mintlify: from the API keys page of its dashboard).'
  if (value === '') throw missing(advice)
  if (/^mint_.{16}/.test(value)) throw invalid(`expected a project ID, got a key. ${advice}`)
  return parseId(value, advice)
}

export function parseId(value: string, advice = 'Copy it again.'): string {
  if (isId(value)) return value
  throw unexpected('an ID as the service writes it', advice)
}

/** Keys of these kinds are for other APIs of the same service, as its API keys page says. */
const OTHER_KINDS = /^mint_(?:dsc|us)_/

/**
 * Whether it is one of GitHub's tokens, by their prefixes
 * (docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats).
 * Other actions call an input for it `api-key`, and no agent service may get one. [input.key.kind]
 */
export function isGitHubToken(value: string): boolean {
  return /^(?:gh[oprsu]|github_pat)_/.test(value)
}

const MAX_KEY_LENGTH = 4096

/** Reads a key of the service; the value is never shown. [input.key.kind] */
export function parseKey(
  value: string,
  isDefaultService: boolean,
  missingSecrets?: string,
): string {
  if (value === '') {
    throw missing(
      missingSecrets ??
        "Set it from a secret: `api-key: ${{ secrets.AGENT_API_KEY }}`. GitHub passes an empty string if the workflow job can't have the secret. Check its name, which repositories can use it, the environment of the workflow job, and what a calling workflow passes on (the secrets of an environment only with `secrets: inherit`).",
    )
  }
  parseKeyText(value)
  if (isGitHubToken(value))
    throw invalid("expected the service's key, got a GitHub token. Check which secret you pass.")
  if (!isDefaultService) return value
  const kind = OTHER_KINDS.exec(value)?.[0]
  if (kind !== undefined) {
    throw invalid(
      `expected an admin API key, got a different kind of key (${kind}…). Create one on the API keys page of the dashboard.`,
    )
  }
  if (!value.startsWith('mint_')) {
    throw invalid(
      'expected an admin API key, which starts with mint_. Check which secret you pass, and that it holds nothing else, or set base-url for another service.',
    )
  }
  return value
}

/** A key of any service, or a token, is what a header can hold. */
export function parseKeyText(value: string): string {
  if (value.length > MAX_KEY_LENGTH) {
    throw invalid(
      `the secret is longer than ${formatInteger(MAX_KEY_LENGTH)} characters. Pass one secret, not all of them.`,
    )
  }
  if (!/^[!-~]+$/.test(value)) {
    throw invalid(
      'the secret contains white space, control characters or non-ASCII characters. Store the secret again, without quotes or line breaks.',
    )
  }
  return value
}

/**
 * A boolean is written as in YAML 1.2's core schema (yaml.org/spec/1.2.2, section 10.3.2).
 * [input.values]
 */
export function parseBoolean(value: string): boolean {
  if (/^(?:true|True|TRUE)$/.test(value)) return true
  if (/^(?:false|False|FALSE)$/.test(value)) return false
  throw unexpected('true or false')
}

export function parseWord<T extends string>(value: string, words: readonly T[]): T {
  const word = words.find((known) => known === value)
  if (word !== undefined) return word
  throw unexpected(`one of ${words.join(', ')}`)
}

/**
 * A scope finds its docs job by the comment on an issue or a pull request. [input.scope]
 *
 * @param hasIssue the event or `issue-number` has a pull request or an issue
 */
export function parseScope(value: string, jobId: string, hasIssue: boolean) {
  const scope = parseWord(value, ['run', 'pull-request', 'issue'])
  if (scope !== 'run' && jobId !== '')
    throw unfit("can't be combined with job-id. Remove one of the two.")
  if (scope === 'issue' && !hasIssue)
    throw unfit('needs an issue or a pull request, and the event has neither. Set issue-number.')
  return scope
}

export function parseIssueNumber(value: string): number | undefined {
  if (value === '') return undefined
  const number = /^[1-9]\d*$/.test(value) ? Number(value) : NaN
  if (Number.isSafeInteger(number)) return number
  throw unexpected('the number of a pull request or an issue, such as 7')
}

function splitList(value: string): string[] {
  return value.split(/[\s,]/).filter((word) => word !== '')
}

/** Returns the lines that have something, trimmed. */
export function splitLines(value: string): readonly string[] {
  return value.match(/\S(?:[^\r\n]*\S)?/g) ?? []
}

/**
 * Labels separated by commas or line breaks, as they may have blanks. What belongs to another kind
 * of list would match no label, in silence. [input.labels]
 */
export function parseLabels(value: string): ReadonlySet<string> {
  const labels = value.split(/[,\r\n]/).map((label) => label.trim())
  const isSlip = (label: string) => /^(?:- |["'[])|(?<!\\)["'\]]$|\s#/.test(label)
  if (labels.some(isSlip))
    throw unexpected(
      'labels separated by commas or line breaks, such as no-docs',
      'Write them without "- ", quotes, brackets and comments; write "\\" before one that is part of a label.',
    )
  return new Set(labels.filter((label) => label !== '').map(labelKey))
}

/**
 * What a label is compared by: in any case, however its accents are written, and without what makes
 * an emoji of a character; `\` only keeps a label from being taken for a slip. [skip.labels.about]
 */
export function labelKey(label: string): string {
  return label
    .toLowerCase()
    .normalize('NFC')
    .replace(/\ufe0f|^\\|\\(?=["'\]#])/g, '')
}

/** An enterprise's own accounts may have `_`; `[bot]` is part of an app's login. */
const LOGIN = /^[a-z\d][a-z\d_-]*(?:\[bot\])?$/

/**
 * Logins separated by commas or white space, in lower case. Here, empty means nobody.
 * [input.logins]
 *
 * @param everyone a word for all of them, if there is one
 */
export function parseLogins(value: string, everyone = ''): ReadonlySet<string> {
  const logins = splitList(value.toLowerCase())
  if (logins.every((login) => LOGIN.test(login) || login === everyone)) return new Set(logins)
  throw unexpected(
    `logins separated by commas, spaces or line breaks, such as octocat or renovate[bot]${everyone && `, or ${everyone} for everyone`}`,
    'Write whole logins, without "@"; a team can\'t be named.',
  )
}

/** Two dots, which no ref has, could lead elsewhere in a URL. [range.since] */
export function parseSince(value: string): string {
  if (!value.includes('..')) return value
  throw unexpected('a tag, a branch or a commit')
}

/** Anything else is NaN, which is in no range. */
function toNumber(value: string): number {
  return /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value) ? Number(value) : NaN
}

/** @returns milliseconds */
export function parseTimeout(value: string): number {
  const minutes = toNumber(value)
  if (minutes > 0 && minutes <= 1440) return minutes * 60_000
  throw unexpected(
    'a number of minutes above 0 and at most 1440, such as 30, or 0.5 for half a minute',
  )
}

/** @returns milliseconds; undefined for adaptive polling */
export function parseInterval(value: string): number | undefined {
  if (value === '') return undefined
  const seconds = toNumber(value)
  if (seconds >= 0.1 && seconds <= 3600) return seconds * 1000
  throw unexpected(
    'a number of seconds from 0.1 to 3600, such as 10, or an empty value for adaptive polling',
  )
}

export function parseFailOn(value: string): ReadonlySet<FailOn> {
  const words = splitList(value)
  const known = FAIL_ON.filter((word) => words.includes(word))
  const isNone = words.length === 1 && words[0] === 'none'
  if (isNone || (known.length > 0 && known.length === new Set(words).size)) return new Set(known)
  throw unexpected(
    `any of ${FAIL_ON.join(', ')}, separated by commas, spaces or line breaks; or the word none alone`,
    'error and cancelled always fail the step.',
  )
}

/** localhost, 127.0.0.0/8 (RFC 1122, 3.2.1.3) and ::1 (RFC 4291, 2.5.3), as `URL` spells them. */
const LOOPBACK = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/

/** The key goes there, so nobody on the way may read it. [input.base-url] */
export function parseBaseUrl(value: string): string {
  // User info, query and fragment may contain a secret.
  const shown = value.replace(/^(https?:\/\/)?.*@/is, '$1***@').replace(/([?#]).+$/s, '$1***')
  const expected = "the service's base URL, such as https://agent.example.com/prefix"
  const url = value.length <= 2048 && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined) throw unexpected(expected, 'That is not a valid URL.', shown)
  if (url.username !== '' || url.password !== '' || /[?#]|\/v2\/agent(?:\/|$)/.test(value)) {
    const less = 'without user name, password, query, fragment or /v2/agent'
    throw unexpected(`${expected}, ${less}`, '', shown)
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))) {
    const safe = "https (http only on loopback), so that the key isn't sent unencrypted"
    throw unexpected(`a base URL with ${safe}`, '', shown)
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}
