/** Defuses workflow commands and escapes Markdown in text from outside. Pure. */

/**
 * Truncates a text to `limit` characters, and marks it with an ellipsis.
 *
 * Redact text from outside first: half a key would not be found. [secret.redacted]
 */
export function truncate(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).toWellFormed()}…`
}

/** White space collapsed, invisible and reordering characters as `\u{…}`. [text.one-line] */
export function oneLine(text: string): string {
  return escapeInvisible(text.replace(/[ \t\r\n]+/g, ' ').trim())
}

/**
 * Shows characters that move the cursor, break a line, reorder text or are invisible: controls,
 * format characters, line separators; but not the joiner (U+200D) that emoji are made with.
 */
function escapeInvisible(text: string): string {
  if (/^[ -~]*$/.test(text)) return text // V8 takes long to build the classes below.
  return text.replace(/(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, showCodePoint)
}

export function showCodePoint(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`
}

/**
 * A line that can't be a workflow command.
 *
 * The runner reads `::name::` after leading blanks, and `##[name]` anywhere in a line
 * (actions/runner, src/Runner.Common/ActionCommand.cs: TryParseV2 and TryParse). [text.command]
 */
export function escapeCommands(line: string): string {
  return escapeInvisible(line.replaceAll('\t', '  '))
    .replaceAll('##[', '##\\[')
    .replace(/^(\s*):(?=:)/u, '$1\\:')
}

/** Text as log lines that can't be workflow commands, each behind a bar. */
export function escapeCommandLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => escapeCommands(`| ${line}`))
}

/**
 * A text from outside in quotes, on one line, with no such quotes inside. Never truncated: whoever
 * writes it out redacts it, which needs the whole key.
 */
export function quote(text: string): string {
  return `"${oneLine(text).replaceAll('"', "'")}"`
}

/**
 * A text from outside as Markdown code, in which GitHub creates no mentions, issue links or URLs.
 * If the text contains punctuation that could end the code span or the table cell, all punctuation
 * is written as HTML entities. [text.markdown]
 */
export function inlineCode(text: string): string {
  const line = oneLine(text)
  if (/^[^`|<>&[\]\\]+$/.test(line)) return `\`${line}\``
  const entities = line.replace(/[!-/:-@[-`{-~]/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<code>${entities}</code>`
}
