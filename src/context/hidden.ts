/** Shows what GitHub hides from people who read a text, so that nobody gives the agent words that nobody has seen. Pure. */

import { formatInteger } from '../format.js'

/** An HTML comment; without an end, GitHub hides the rest of the text (spec.commonmark.org, HTML blocks, kind 2). */
const HTML_COMMENT = /<!--[\s\S]*?(?:-->|$)/g

/**
 * A link reference definition that links to nothing or has a title, as in `[//]: # (text)`: people write comments so. GitHub
 * shows no definitions, but those that links use are left as they are. Blanks can be matched in one way only, or a body full
 * of them would take hours.
 */
const DEFINITION_COMMENT =
  /^ {0,3}\[(?:[^\]\\]|\\.){1,999}\]:[ \t]*(?:\n[ \t]*)?(?:(?:#|<>)[^\n]*|(?:<[^<>\n]*>|\S+)(?:[ \t]+|[ \t]*\n[ \t]*)(?:"[^"]*"|'[^']*'|\([^()]*\))[ \t]*)$/gm

/**
 * A text by people, with a note in place of each part that GitHub doesn't show. In a block of code GitHub would show it, but
 * telling such blocks apart as exactly as GitHub does would take its own parser.
 */
export function noteHidden(text: string): string {
  const note = (hidden: string): string => `[hidden on GitHub: ${formatInteger(hidden.length)} characters]`
  return text.replace(HTML_COMMENT, note).replace(DEFINITION_COMMENT, note)
}

/**
 * Shows invisible characters as `\u{…}`: controls other than tab and LF, and all that have no width, which can hide or
 * reorder text. Left as they are: what makes one emoji of several characters.
 */
export function showInvisible(text: string): string {
  return text.replace(
    INVISIBLE,
    (match, emoji?: string) => emoji ?? `\\u{${match.codePointAt(0)?.toString(16)}}`,
  )
}

const INVISIBLE =
  /((?<=\p{Extended_Pictographic})\ufe0f?\u200d(?=\p{Extended_Pictographic})|(?<=\p{Emoji})\ufe0f(?!\p{Variation_Selector}))|(?![\t\n])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
