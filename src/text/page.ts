/** Summarizes a page in a few words: gateways and GitHub respond with pages when they fail. Pure. */

import { oneLine } from './escape.js'

/** Tags inside of a line; every other tag starts a new one. */
const INLINE = /<\/?(?:a|abbr|b|code|em|font|i|ins|small|span|strong|sub|sup|u)\b[^<>]*>/gi

/**
 * A page by its title and its first sentence, or by its first line if it has no title. Its end may be missing. Other text
 * is left as it is. The time grows with the length of the page alone.
 */
export function summarizePage(text: string): string {
  if (!/^\s*<[a-z!?]/i.test(text)) return text
  const page = text.replace(/<!--.*?(?:-->|$)|<(style|script|svg)\b.*?(?:<\/\1>|$)/gis, ' ')
  const words = page.replace(/\s+/g, ' ').replace(INLINE, '')
  const lines = words.replace(/<[^<>]*>/g, '\n').split('\n')
  const [title = '', line = ''] = lines.map((part) => oneLine(decodeEntities(part))).filter(Boolean)
  const hasTitle = /<title[^<>]*>\s*[^<\s]/i.test(page)
  const sentence = firstSentence(hasTitle ? line : title)
  return !hasTitle || sentence.startsWith(title) ? sentence : [title, sentence].filter(Boolean).join(': ')
}

function firstSentence(line: string): string {
  return /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line
}

/** Those that pages of errors use. */
const ENTITIES = new Map(
  Object.entries({
    ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', middot: '·', hellip: '…' },
    ...{ ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”' },
  }),
)

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(x[\da-f]{1,6}|\d{1,7})|([a-z]+));/gi, (entity, number?: string, name = '') => {
    const code = Number(number?.replace(/^x/i, '0x'))
    return code <= 0x10ffff ? String.fromCodePoint(code) : (ENTITIES.get(name) ?? entity)
  })
}
