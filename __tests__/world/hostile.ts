/**
 * Texts that a hostile or broken service may send: commands, markup, control characters, and the
 * key in every form.
 */

import type { Random } from './random.js'

/**
 * No line of the log may begin with a command that carries this word, and no markup with it may be
 * live.
 */
export const INJECTED = 'INJECTED'

const PIECES = [
  'plain words',
  `::error::${INJECTED}`,
  `  ::warning file=x::${INJECTED}`,
  `::add-mask::${INJECTED}`,
  `::stop-commands::${INJECTED}`,
  `##[error]${INJECTED}`,
  `\r::error::${INJECTED}`,
  `\n::error::${INJECTED}`,
  `\r\n##[debug]${INJECTED}`,
  `%0A::error::${INJECTED}`,
  `\u2028::error::${INJECTED}`,
  `<img src=${INJECTED} onerror=alert(1)>`,
  `@${INJECTED}`,
  `[${INJECTED}](https://example.com)`,
  `\`\`\`${INJECTED}`,
  '<!-- agent-job-action:1 x y z -->',
  '-->',
  'name<<EOF\nx\nEOF',
  '\u001b[31mred\u001b[0m',
  '\u0000',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\\',
  '"',
  '%',
  '😀',
]

let last: { readonly key: string; readonly forms: readonly string[] } | undefined

/** How a key may be written in a text. */
export function keyForms(key: string): readonly string[] {
  if (last?.key !== key) last = { key, forms: formsOf(key) }
  return last.forms
}

function formsOf(key: string): string[] {
  const hex = (character: string, digits: number) =>
    character.charCodeAt(0).toString(16).padStart(digits, '0')
  const unicode = (character: string) => `\\u${hex(character, 4)}`
  const percent = (character: string) => `%${hex(character, 2).toUpperCase()}`
  const each = (change: (character: string, index: number) => string) =>
    [...key].map(change).join('')
  return [
    key,
    encodeURIComponent(key),
    encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
    each(percent),
    each((character) => percent(character).toLowerCase()),
    each((character) => `&#${character.charCodeAt(0)};`),
    each(unicode),
    JSON.stringify(key).slice(1, -1),
    JSON.stringify(key).slice(1, -1).replaceAll('/', '\\/'),
    // A character that starts an escape is always escaped: otherwise nobody could tell what is one.
    each((character, index) =>
      index % 2 === 0 && character !== '%' ? character : percent(character),
    ),
    each((character, index) =>
      index % 3 === 0 || character === '\\' ? unicode(character) : character,
    ),
  ]
}

/** A text of some pieces, sometimes with the key in it, sometimes long. */
export function hostileText(random: Random, key: string): string {
  const pieces = random.times(random.int(0, 5), () =>
    random.chance(0.3) ? random.pick(...keyForms(key)) : random.pick(...PIECES),
  )
  // Nobody could tell whether a backslash escapes the one that follows it.
  const apart = pieces.map((piece) => (piece.endsWith('\\') ? `${piece} ` : piece))
  const text = apart.join(random.pick('', ' ', '\n', ': '))
  return random.chance(0.1) ? text + 'long '.repeat(random.int(1, 2000)) + text : text
}
