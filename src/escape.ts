/** Redacts secrets, defuses workflow commands and escapes Markdown in text from outside. */

/**
 * Characters that move the cursor, break a line, reorder text or are invisible: controls, format characters, line
 * separators; but not the joiner (U+200D) that emoji are made with.
 */
const INVISIBLE = /(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029]/gu

/**
 * Replaces a secret in a text.
 *
 * @param whole nothing is missing at the end of the text: the start of a secret there is none
 */
export type Redact = (text: string, whole?: boolean) => string

/**
 * Creates a function that replaces secrets with `***`, whether they are written plainly, percent-encoded, as HTML or
 * escaped as in a JSON string, in whole or in part.
 *
 * Its time grows with the length of the text alone, whatever the secrets are: a regular expression for all the ways to
 * write a key would backtrack through the backslashes in it.
 *
 * @param keys the secrets; empty ones are ignored.
 */
export function createRedactor(...keys: readonly string[]): Redact {
  const secrets = keys.filter((key) => key !== '').map((key) => createSearch(Buffer.from(key)))
  if (secrets.length === 0) return (text) => text
  return (text, whole = false) => {
    const bytes = Buffer.from(text)
    const views = viewsOf(bytes)
    const found = secrets.flatMap((search) => views.flatMap((view) => search(view, whole)))
    return found.length === 0 ? text : replaceRanges(bytes, found)
  }
}

/** Bytes, and where each of them starts in the original. The length gives the end of the original. */
interface View {
  readonly bytes: Buffer
  readonly startOf: (index: number) => number
}

type ByteRange = readonly [start: number, end: number]

/** How often a text is decoded: a key in JSON that is itself in a JSON string is escaped twice. */
const ESCAPE_LEVELS = 2

/** The text as it is, and with its escapes decoded. What is only decoded in part has its secret in one of these. */
function viewsOf(bytes: Buffer): View[] {
  const views: View[] = [{ bytes, startOf: (index) => index }]
  for (let level = 0, latest = views; level < ESCAPE_LEVELS; level++) {
    latest = latest.flatMap(decodedViews)
    views.push(...latest)
  }
  return views
}

function decodedViews(view: View): View[] {
  const hasWeb = view.bytes.includes(PERCENT) || view.bytes.includes(AMPERSAND)
  const hasBackslash = view.bytes.includes(BACKSLASH)
  return [
    ...(hasWeb ? [decodeView(view, true, false)] : []),
    ...(hasBackslash ? [decodeView(view, false, true)] : []),
    ...(hasWeb && hasBackslash ? [decodeView(view, true, true)] : []),
  ]
}

const QUOTE = 0x22
const APOSTROPHE = 0x27
const PERCENT = 0x25
const AMPERSAND = 0x26
const SLASH = 0x2f
const BACKSLASH = 0x5c
const HEX_DIGITS = '0123456789abcdef'

/** @param web decodes percent-encoding and HTML's entities */
function decodeView(view: View, web: boolean, backslash: boolean): View {
  const { bytes, startOf } = view
  const decoded: number[] = []
  const positions: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const escaped =
      (web && bytes[at] === PERCENT && readPercent(bytes, at)) ||
      (web && bytes[at] === AMPERSAND && readEntity(bytes, at)) ||
      (backslash && bytes[at] === BACKSLASH && readBackslash(bytes, at)) ||
      undefined
    for (const byte of escaped?.bytes ?? [bytes[at] as number]) {
      decoded.push(byte)
      positions.push(startOf(at))
    }
    at += escaped?.length ?? 1
  }
  positions.push(startOf(bytes.length))
  return { bytes: Buffer.from(decoded), startOf: (index) => positions[index] as number }
}

interface Escape {
  /** What the escape stands for. */
  readonly bytes: Uint8Array
  readonly length: number
}

/** `%XX` */
function readPercent(bytes: Uint8Array, at: number): Escape | undefined {
  const byte = readHex(bytes, at + 1, 2)
  return byte === undefined ? undefined : { bytes: Uint8Array.of(byte), length: 3 }
}

/** Characters that HTML gives a meaning, by the names of their entities. */
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** `&#43;`, `&#x2b;` or `&amp;` */
function readEntity(bytes: Buffer, at: number): Escape | undefined {
  const end = bytes.subarray(at, at + MAX_ENTITY).indexOf(';')
  const name = bytes.toString('latin1', at + 1, at + Math.max(1, end))
  const number = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name)
  const code = number?.[1] === undefined ? Number(number?.[2]) : Number.parseInt(number[1], 16)
  const text = code <= 0x10ffff ? String.fromCodePoint(code) : ENTITIES.get(name)
  return text === undefined ? undefined : { bytes: Buffer.from(text), length: end + 1 }
}

/** The length of the longest entity that is decoded, `&#1114111;`, in bytes. */
const MAX_ENTITY = 10

/** `\uXXXX`, a pair of them for a character beyond U+FFFF, or a backslash before the character itself. */
function readBackslash(bytes: Uint8Array, at: number): Escape | undefined {
  const unit = bytes[at + 1] === 0x75 ? readHex(bytes, at + 2, 4) : undefined
  if (unit !== undefined) {
    const low = bytes[at + 6] === BACKSLASH && bytes[at + 7] === 0x75 ? readHex(bytes, at + 8, 4) : undefined
    const isPair = unit >= 0xd800 && unit < 0xdc00 && low !== undefined && low >= 0xdc00 && low < 0xe000
    const text = isPair ? String.fromCharCode(unit, low) : String.fromCharCode(unit)
    return { bytes: Buffer.from(text), length: isPair ? 12 : 6 }
  }
  const next = bytes[at + 1]
  // Node's `inspect`, which writes the debug lines, escapes apostrophes as well.
  const isSelf = next === BACKSLASH || next === QUOTE || next === SLASH || next === APOSTROPHE
  return isSelf ? { bytes: Uint8Array.of(next), length: 2 } : undefined
}

/** The number in this many hexadecimal digits; undefined if there is anything else. */
function readHex(bytes: Uint8Array, at: number, digits: number): number | undefined {
  let value = 0
  for (let index = at; index < at + digits; index++) {
    const digit = HEX_DIGITS.indexOf(String.fromCharCode(bytes[index] ?? 0).toLowerCase())
    if (digit < 0) return undefined
    value = value * 16 + digit
  }
  return value
}

/** Almost every text is known to have no secret when so many bytes of it are not found, which Node does quickly. */
const PREFIX_BYTES = 8

/** Creates a search for all occurrences (Knuth, Morris and Pratt), which never looks at a byte of the text twice. */
function createSearch(key: Buffer): (view: View, whole: boolean) => ByteRange[] {
  const prefix = key.subarray(0, PREFIX_BYTES)
  // How much of the key still matches if it fails after so many bytes.
  const fallback = new Uint32Array(key.length + 1)
  for (let at = 1, matched = 0; at < key.length; at++) {
    while (matched > 0 && key[at] !== key[matched]) matched = fallback[matched] as number
    if (key[at] === key[matched]) matched++
    fallback[at + 1] = matched
  }
  return ({ bytes, startOf }, whole) => {
    const ranges: ByteRange[] = []
    const first = bytes.indexOf(prefix)
    if (first < 0) return ranges
    let matched = 0
    for (let at = first; at < bytes.length; at++) {
      while (matched > 0 && bytes[at] !== key[matched]) matched = fallback[matched] as number
      if (bytes[at] === key[matched]) matched++
      if (matched === key.length) {
        ranges.push([startOf(at + 1 - key.length), startOf(at + 1)])
        matched = fallback[matched] as number
      }
    }
    // The text may have been cut off inside of a secret.
    if (!whole && matched >= PREFIX_BYTES)
      ranges.push([startOf(bytes.length - matched), startOf(bytes.length)])
    return ranges
  }
}

/** Replaces ranges, which may overlap: what overlaps becomes one `***`. */
function replaceRanges(bytes: Buffer, ranges: readonly ByteRange[]): string {
  let text = ''
  let end = 0
  for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
    if (from >= end) text += `${bytes.toString('utf8', end, from)}***`
    end = Math.max(end, to)
  }
  return text + bytes.toString('utf8', end)
}

/**
 * Truncates a text to `limit` characters, and marks it with an ellipsis.
 *
 * Redact text from outside first: half a key would not be found.
 */
export function truncate(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).toWellFormed()}…`
}

/** A text on one line: white space collapsed, invisible and reordering characters shown as `\u{…}`. */
export function oneLine(text: string): string {
  return text
    .replace(/[ \t\r\n]+/g, ' ')
    .trim()
    .replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/**
 * A line that can't be a workflow command.
 *
 * The runner reads `::name::` after leading blanks, and `##[name]` anywhere in a line
 * (actions/runner, src/Runner.Common/ActionCommand.cs: TryParseV2 and TryParse).
 */
export function escapeCommands(line: string): string {
  return line
    .replace(INVISIBLE, (character) =>
      character === '\t' ? '  ' : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
    .replaceAll('##[', '##\\[')
    .replace(/^(\s*):(?=:)/u, '$1\\:')
}

/** Text as log lines that can't be workflow commands, each behind a bar. */
export function escapeCommandLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => escapeCommands(`| ${line}`))
}

/** A text from outside in quotes, on one line. Never truncated: whoever writes it out redacts it, which needs the whole key. */
export function quote(text: string): string {
  return `"${oneLine(text)}"`
}

/**
 * A text from outside as Markdown code, in which GitHub creates no mentions, issue links or URLs. If the text contains
 * punctuation that could end the code span or the table cell, all punctuation is written as HTML entities.
 */
export function inlineCode(text: string): string {
  const line = oneLine(text)
  if (/^[^`|<>&[\]\\]+$/.test(line)) return `\`${line}\``
  const entities = line.replace(/[!-/:-@[-`{-~]/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<code>${entities}</code>`
}
