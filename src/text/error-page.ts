/**
 * Tells a gateway's refusal from the API's own, and summarizes a page in a few words: gateways and
 * GitHub respond with pages when they fail. Pure.
 */

import { oneLine } from './escape.js'

/**
 * Whether a firewall, a proxy or the like has refused, which knows nothing of what was asked for:
 * the refusals of the service and of GitHub are JSON.
 *
 * @param type the header `content-type`
 */
export function isForeign(status: number, type: unknown): boolean {
  return status >= 400 && status < 500 && !/json/i.test(String(type))
}

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
