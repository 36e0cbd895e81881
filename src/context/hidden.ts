/** Shows what GitHub hides from people who read a text, so that nobody gives the agent words that nobody has seen. Pure. */

import { showCodePoint } from '../text/escape.js'
import { formatInteger } from '../text/format.js'

/**
 * An HTML comment, a declaration or CDATA, which to a browser is a comment up to the first `>` (html.spec.whatwg.org,
 * bogus comment state). Without an end, GitHub hides the rest of the text (spec.commonmark.org, HTML blocks, 2 to 5).
 */
const HTML_COMMENT = /<!--[\s\S]*?(?:-->|$)|<!(?:[a-z]|\[CDATA\[)[^>]*(?:>|$)/gi

function joinPatterns(parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => source).join(''), 'gm')
}

/** What quotes and lists put in front of a line: `> `, `- `, `2. `, and indentation. */
const PREFIX = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*[ \t]*/

/**
 * A footnote (docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#footnotes):
 * its label, and its text up to a line that begins something else, with the indented paragraphs that follow.
 *
 * | text | matched |
 * | --- | --- |
 * | `[^1]: One` | all |
 * | `[^1]: One⏎two⏎# Title` | `[^1]: One⏎two` |
 * | `> [^a]: One⏎⏎    two` | all |
 */
const FOOTNOTE = joinPatterns([
  PREFIX,
  /\[(\^[^\]\s]{1,999})\]:[^\n]*/,
  /(?:\n(?=[^\n]*\S)(?![ \t]*(?:\[\^|[#>*+-]|\d{1,9}[.)]|```))[^\n]*|(?:\n[ \t]*)+\n(?: {4}|\t)[^\n]*)*/,
])

/**
 * A link reference definition (spec.commonmark.org, 4.7), also in a quote or a list: its label, target and title. One of
 * `#` or `<>` is read to the end of its line, because people write comments so. Blanks can be matched in one way only, or
 * a body full of them would take hours.
 *
 * | text | label, target, title |
 * | --- | --- |
 * | `[a]: https://example.com "Title"` | `a`, `https://example.com`, `"Title"` |
 * | `[//]: # (words for the agent)` | `//`, `# (words for the agent)`, none |
 * | `- [a]:⏎<x y>` | `a`, `<x y>`, none |
 */
const DEFINITION = joinPatterns([
  PREFIX,
  /\[((?:[^[\]\\]|\\.){1,999})\]:[ \t]*(?:\n[ \t>]*(?![ \t>]))?/,
  /((?:#|<>)[^\n]*|<(?:[^<>\n\\]|\\.)*>|[^ \t\n]+)/,
  /((?:[ \t]+|[ \t]*\n[ \t>]*)(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\((?:[^()\\]|\\[\s\S])*\)))?[ \t]*$/,
])

/** A label, as in `[text][label]`, `[label]` and `[label][]`. */
const LABEL = /\[((?:[^[\]\\]|\\.){1,999})\]/g

/** Labels are the same in any case, with any blanks. */
const normalizeLabel = (label: string): string => label.trim().replace(/\s+/g, ' ').toLowerCase()

/**
 * A text by people, with a note in place of each part that GitHub doesn't show: HTML comments, link definitions, and
 * footnotes that nothing refers to. A definition stays if a link uses it and it hides no words: it has no title, and its
 * target is a URL.
 *
 * GitHub does show them in a block of code, but to find such blocks as exactly as GitHub does would take its own parser.
 */
export function noteHidden(text: string): string {
  const note = (hidden: string): string => `[hidden on GitHub: ${formatInteger(hidden.length)} characters]`
  const rest = text.replace(HTML_COMMENT, note)
  const links = rest.replace(FOOTNOTE, '').replace(DEFINITION, '').matchAll(LABEL)
  const used = new Set(Array.from(links, ([, label = '']) => normalizeLabel(label)))
  const withoutFootnotes = rest.replace(FOOTNOTE, (footnote: string, label: string) =>
    used.has(normalizeLabel(label)) ? footnote : note(footnote),
  )
  return withoutFootnotes.replace(
    DEFINITION,
    (definition: string, label: string, target: string, title?: string) => {
      const isPlain = title === undefined && !/^#|^<>|[ \t]/.test(target)
      return isPlain && used.has(normalizeLabel(label)) ? definition : note(definition)
    },
  )
}

/**
 * Shows invisible characters as `\u{…}`: controls other than tab and LF, halves of characters, and all that have no
 * width, which can hide or reorder text. Left as they are: what makes one emoji of several characters.
 */
export function showInvisible(text: string): string {
  if (/^[\t\n -~]*$/.test(text)) return text // V8 takes long to build the classes below.
  return text.replace(
    /((?<=\p{Extended_Pictographic})\ufe0f?\u200d(?=\p{Extended_Pictographic})|(?<=\p{Emoji})\ufe0f(?!\p{Variation_Selector}))|(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu,
    (match, emoji?: string) => emoji ?? showCodePoint(match),
  )
}
