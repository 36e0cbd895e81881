/** What is safe to pass on of what comes from outside: ids and links. */

/** An id that is safe in a URL, a shell line and the log, where people put it. [input.id] */
export function isId(id: string): boolean {
  return /^(?!::|\.\.?$)[A-Za-z0-9._~:@=+,-]{1,512}$/.test(id)
}

/**
 * The link if it is safe to pass on: people put it into shell lines and Markdown.
 *
 * Safe is http(s), without user info, at most 2,048 characters of `A-Z a-z 0-9 . _ ~ : / ? # @ % =
 * + , -`. If only its query or fragment has other characters, it is passed on without these.
 * [output.pr-link]
 */
export function safeLink(link: string): string | undefined {
  return [link, link.replace(/[?#].*$/s, '')].find(isSafe)
}

function isSafe(link: string): boolean {
  const isPlain = /^https?:\/\/(?!\/|[^/?#]*@)[a-z0-9._~:/?#@%=+,-]+$/i.test(link)
  return isPlain && link.length <= 2048 && URL.canParse(link)
}

/** It is undefined if it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
