/**
 * Summarizes a page in a few words: gateways and GitHub respond with pages when they fail. Pure.
 */

import { oneLine } from './escape.js'

/**
 * A page by its title, or by its words if it has none. Its end may be missing. Other text is left
 * as it is.
 */
export function summarizePage(text: string): string {
  if (!/^\s*<[a-z!?]/i.test(text)) return text
  const page = text.replace(/<!--.*?(?:-->|$)|<(style|script|svg)\b.*?(?:<\/\1>|$)/gis, ' ')
  const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1]?.trim()
  return oneLine(decodeEntities(title || page.replace(/<[^<>]*>/g, ' ')))
}

/** Those in the titles of pages of errors. */
const ENTITIES = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    middot: '·',
    rsquo: '’',
  }),
)

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(x[\da-f]{1,6}|\d{1,7})|([a-z]+));/gi,
    (entity, number?: string, name = '') => {
      const code = Number(number?.replace(/^x/i, '0x'))
      return code <= 0x10ffff ? String.fromCodePoint(code) : (ENTITIES.get(name) ?? entity)
    },
  )
}
