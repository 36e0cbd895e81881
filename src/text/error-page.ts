/**
 * Tells a gateway's refusal from the API's own, and summarizes a page in a few words: gateways and
 * GitHub respond with pages when they fail. Pure.
 */

import { oneLine } from './escape.js'

/** Refusals that say something of the key, or of what was asked for, if they are the API's own. */
const SAYING = [401, 403, 404]

/**
 * Whether a firewall, a proxy or a sign-in page has answered in place of the service or of GitHub,
 * and knows nothing of what was asked for. Their refusals are JSON; only a service may write others
 * in plain text. [send.refused.foreign] [github.foreign]
 *
 * @param type the header `content-type`
 */
export function isForeign(status: number, type: unknown, body: unknown): boolean {
  // GitHub has pages of its own for its own errors.
  if (status < 500 && typeof body === 'string' && isPage(body)) return true
  return SAYING.includes(status) && (body === '' || !/json/i.test(String(type)))
}

/**
 * A page by its title, or by its words if it has none. Its end may be missing. Other text is left
 * as it is. [text.page]
 */
export function summarizePage(text: string): string {
  if (!isPage(text)) return text
  const page = text.replace(/<!--.*?(?:-->|$)|<(style|script|svg)\b.*?(?:<\/\1>|$)/gis, ' ')
  const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1]?.trim()
  return oneLine(title || page.replace(/<[^<>]*>/g, ' '))
}

function isPage(text: string): boolean {
  return /^\s*<[a-z!?]/i.test(text)
}
