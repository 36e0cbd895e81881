/** Redacts secrets, however they are written. Pure. */

/**
 * Replaces a secret in a text.
 *
 * @param whole the text is complete; otherwise the start of a secret is replaced, too
 */
export type Redact = (text: string, whole?: boolean) => string

/**
 * Creates a function that replaces secrets with `***`, whether they are written plainly,
 * percent-encoded, as HTML or escaped as in a JSON string, in whole or in part.
 *
 * The text is decoded instead of searched with a pattern for all the ways to write a key, which
 * would backtrack through the backslashes in it. [secret.redacted] [text.cheap]
 */
export function createRedactor(...keys: readonly string[]): Redact {
  const secrets = keys.filter((key) => key !== '').map(toBytes)
  if (secrets.length === 0) return (text) => text
  return (text, whole = false) => {
    const views = decodedOf(toBytes(text))
    const found = secrets.flatMap((key) => views.flatMap((view) => findKey(key, view, whole)))
    return found.length === 0 ? text : replaceRanges(toBytes(text), found)
  }
}

/**
 * Hides which service a text is about, and which project there: many keep both as secrets. All that
 * may name them comes from outside, and is in quotes; a docs job's id stays as it is.
 * [report.comment.private]
 */
export function hideService(
  text: string,
  { baseUrl, projectId }: { readonly baseUrl: string; readonly projectId: string },
  jobId: string,
): string {
  const { hostname = '' } = URL.canParse(baseUrl) ? new URL(baseUrl) : {}
  const names = [projectId, hostname].filter((name) => name !== '')
  const escaped = names.map((name) => name.replace(/\W/g, '\\$&'))
  const hidden = RegExp(
    [...escaped.map((name) => `(?<![\\w-])${name}(?![\\w-])`), ADDRESS].join('|'),
    'gi',
  )
  return text
    .replace(/(\b\d{3} to|, Location) "(?:\w+:)?\/\/[^"]*"/g, '$1 another address')
    .replace(/"([^"]*)"/g, (quoted, words) =>
      [jobId, `job-id: ${jobId}`].includes(words) ? quoted : quoted.replace(hidden, '***'),
    )
}

/** This finds a host, as the connection's own words have it. */
const ADDRESS = '\\b(?:\\d+\\.){3}\\d+\\b|(?:[\\da-f]*:){2,}[\\da-f]+'

/** UTF-8, one character a byte: an escape may stand for part of a character. */
const toBytes = (text: string) => Buffer.from(text).toString('latin1')

const fromBytes = (bytes: string) => Buffer.from(bytes, 'latin1').toString()

/** A text, and where each of its bytes, and its end, starts in the original. */
interface Decoded {
  readonly bytes: string
  readonly startOf: (index: number) => number
}

type ByteRange = readonly [start: number, end: number]

/** A text is decoded in each way so many times. */
const LEVELS = 4

const WEB = /%[\da-f]{2}|&(?:#x[\da-f]{1,6}|#\d{1,7}|amp|lt|gt|quot|apos);/
/** Node's `inspect`, which writes the debug lines, escapes apostrophes as well. */
const JSON_STRING = /\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|\\u[\da-f]{4}|\\["'\\/]/
const ESCAPES = [[WEB], [JSON_STRING], [WEB, JSON_STRING]].map(
  (kinds) => new RegExp(`(${kinds.map(({ source }) => source).join('|')})|[^%&\\\\]+|[^]`, 'gi'),
)

/** The text as it is, and with its escapes decoded, in each way alone. */
function decodedOf(bytes: string): Decoded[] {
  const plain: Decoded = { bytes, startOf: (index) => index }
  const views = [plain]
  for (const way of ESCAPES) {
    let view = plain
    for (let level = 0; level < LEVELS && /[%&\\]/.test(view.bytes); level++) {
      const decoded = decodeOnce(view, way)
      if (decoded.bytes === view.bytes) break
      views.push(decoded)
      view = decoded
    }
  }
  return views
}

function decodeOnce({ bytes, startOf }: Decoded, escapes: RegExp): Decoded {
  let decoded = ''
  const starts: number[] = []
  let at = 0
  for (const [piece, escaped] of bytes.matchAll(escapes)) {
    const text = escaped === undefined ? undefined : decodeEscape(escaped)
    decoded += text ?? piece
    if (text === undefined)
      for (let index = 0; index < piece.length; index++) starts.push(startOf(at + index))
    else starts.push(...Array.from(text, () => startOf(at)))
    at += piece.length
  }
  starts.push(startOf(at))
  return { bytes: decoded, startOf: (index) => starts[index] as number }
}

/** HTML gives these characters a meaning; they stand by their entities. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}

/** It is undefined for an entity that names no character. */
function decodeEscape(escaped: string): string | undefined {
  if (escaped.startsWith('%')) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  if (/^\\u/i.test(escaped)) return toBytes(JSON.parse(`"${escaped.replaceAll('\\U', '\\u')}"`))
  if (escaped.startsWith('\\')) return escaped.slice(1)
  const code = Number(/^&#(.*);$/.exec(escaped)?.[1]?.replace(/^x/i, '0x'))
  return code <= 0x10ffff ? toBytes(String.fromCodePoint(code)) : ENTITIES[escaped]
}

/** How much of a secret's start is replaced, too, if the rest was cut off: less says nothing. */
const PREFIX_BYTES = 8
/** What all keys of a kind start with says nothing, either. */
const KIND = /^(?:mint_(?:dsc_|us_)?|gh[a-z]_|github_pat_)?/

function findKey(key: string, { bytes, startOf }: Decoded, whole: boolean): ByteRange[] {
  const kind = KIND.exec(key)?.[0] ?? ''
  const start = whole ? key : key.slice(0, Math.max(PREFIX_BYTES, kind.length + 3))
  const ranges: ByteRange[] = []
  for (let at = bytes.indexOf(start); at >= 0; at = bytes.indexOf(start, at + 1)) {
    let length = start.length
    while (length < key.length && bytes[at + length] === key[length]) length++
    ranges.push([startOf(at), startOf(at + length)])
  }
  return ranges
}

/** Replaces ranges, which may overlap: what overlaps becomes one `***`. */
function replaceRanges(bytes: string, ranges: readonly ByteRange[]): string {
  let text = ''
  let end = 0
  for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
    if (from >= end) text += `${fromBytes(bytes.slice(end, from))}***`
    end = Math.max(end, to)
  }
  return text + fromBytes(bytes.slice(end))
}
