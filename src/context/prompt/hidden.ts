/**
 * Shows what GitHub hides from people who read a text, so that nobody gives the agent words that
 * nobody has seen. Pure.
 */

import { showCodePoint } from '../../text/escape.js'
import { formatInteger } from '../../text/format.js'

/**
 * An HTML comment, a declaration or CDATA, which to a browser is a comment up to the first `>`
 * (html.spec.whatwg.org, bogus comment state). Without an end, GitHub hides the rest of the text
 * (spec.commonmark.org, HTML blocks, 2 to 5).
 */
const HTML_COMMENT = /<!--[\s\S]*?(?:-->|$)|<!(?:[a-z]|\[CDATA\[)[^>]*(?:>|$)/gi

/** A link definition that people use as a comment, or with a title (spec.commonmark.org, 4.7). */
const DEFINITION = /^[ \t>]*\[[^\]\n]{1,999}\]:[ \t]*(?:#|<>|\S+[ \t]+["'(])[^\n]*$/gm

/** A text by people, with a note in place of what GitHub doesn't show. [context.hidden] */
export function noteHidden(text: string): string {
  const note = (hidden: string) => `[hidden on GitHub: ${formatInteger(hidden.length)} characters]`
  return text.replace(HTML_COMMENT, note).replace(DEFINITION, note)
}

/**
 * Shows invisible characters as `\u{…}`: controls other than tab and LF, halves of characters, and
 * all that have no width, which can hide or reorder text. Left as they are: what makes one emoji of
 * several characters.
 */
export function showInvisible(text: string): string {
  if (/^[\t\n -~]*$/.test(text)) return text // V8 takes long to build the classes below.
  return text.replace(
    /((?<=\p{Extended_Pictographic})\ufe0f?\u200d(?=\p{Extended_Pictographic})|(?<=\p{Emoji})\ufe0f(?!\p{Variation_Selector}))|(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu,
    (match, emoji?: string) => emoji ?? showCodePoint(match),
  )
}
