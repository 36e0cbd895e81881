/**
 * Summarizes a page in a few words: gateways and GitHub respond with pages when they fail. Pure.
 */

import { oneLine } from './escape.js'

/**
 * A page by its title, or by its words if it has none. Its end may be missing. Other text is left
 * as it is.
 */
export function summarizePage(text: string): string {
  if (!isPage(text)) return text
  const page = text.replace(/<!--.*?(?:-->|$)|<(style|script|svg)\b.*?(?:<\/\1>|$)/gis, ' ')
  const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1]?.trim()
  return oneLine(title || page.replace(/<[^<>]*>/g, ' '))
}

export function isPage(text: string): boolean {
  return /^\s*<[a-z!?]/i.test(text)
}
