/** Makes text from outside harmless: the key replaced, workflow commands broken, Markdown shown as written. */

/**
 * Characters that move the cursor, break a line, reorder what is read or are not seen: controls, format characters,
 * line separators; not the joiner (U+200D) that emoji are made with.
 */
const INVISIBLE = /(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Replaces a secret in a text. */
export type Redact = (text: string) => string

/**
 * Makes a function that replaces the key by `***`, whether it is written plainly, percent-encoded or escaped as
 * in a JSON string, in whole or in part.
 *
 * @param keys the secrets; an empty one is none.
 */
export function redactor(...keys: readonly string[]): Redact {
  const forms = keys.filter((key) => key !== '').map((key) => [...key].map(formsOf).join(''))
  if (forms.length === 0) return (text) => text
  const pattern = new RegExp(forms.join('|'), 'gu')
  return (text) => text.replace(pattern, '***')
}

/** One character of the key as a pattern: as it is, as %XX, as \uXXXX, as \" or \\ or \/. */
function formsOf(character: string): string {
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&')
  const percent = encodeBytes(character).map((byte) => `%${anyCase(byte)}`)
  const unit = character.charCodeAt(0).toString(16).padStart(4, '0')
  const short = '"\\/'.includes(character) ? [`\\\\${plain}`] : []
  return `(?:${[...short, plain, percent.join(''), `\\\\u${anyCase(unit)}`].join('|')})`
}

function encodeBytes(character: string): string[] {
  return [...new TextEncoder().encode(character)].map((byte) => byte.toString(16).padStart(2, '0'))
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/**
 * Cuts a text to `limit` characters, with a mark where it was cut.
 *
 * Whoever clips a text from outside redacts it first: half a key is not found any more.
 */
export function clip(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).toWellFormed()}…`
}

/** One line of a text: white space folded, invisible and reordering characters shown as `\u{…}`. */
export function oneLine(text: string): string {
  return text
    .replace(/[ \t\r\n]+/g, ' ')
    .trim()
    .replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/**
 * One line that can't be a workflow command.
 *
 * The runner reads `::name::` after leading blanks, and `##[name]` anywhere in a line
 * (actions/runner, src/Runner.Common/ActionCommand.cs: TryParseV2 and TryParse).
 */
export function inert(line: string): string {
  return line
    .replace(INVISIBLE, (character) =>
      character === '\t' ? '  ' : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
    .replaceAll('##[', '##\\[')
    .replace(/^(\s*):(?=:)/u, '$1\\:')
}

/** Any lines as lines of a log that can't be workflow commands, each behind a bar. */
export function inertLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => inert(`| ${line}`))
}

/** A text from outside in quotes, on one line. Never cut: the key is taken out where it is written, and in whole. */
export function quote(text: string): string {
  return `"${oneLine(text)}"`
}

/**
 * A text from outside as Markdown that shows it as it is, as code: there GitHub makes no mention, no issue link and no
 * address of it. A text with marks that could end the code or the table has each of its marks as an entity.
 */
export function code(text: string): string {
  const line = oneLine(text)
  if (/^[^`|<>&[\]\\]+$/.test(line)) return `\`${line}\``
  const entities = line.replace(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`)
  return `<code>${entities}</code>`
}
