/** What became of a request, as the service knows it. */

import { bodyText, type Entry, isMessage } from './service.js'

export function isId(text: string): boolean {
  return /^[A-Za-z0-9._~:@=+,-]{1,512}$/.test(text) && text !== '.' && text !== '..'
}

/**
 * What a POST's response says of it. `any`: what the action makes of it depends on its HTTP library, such as of a
 * response that was announced by `100 Continue` or has more headers than anybody reads.
 */
export type Fate = 'job' | 'no-job' | 'refused' | 'unknown' | 'any'

export function fateOf({ exchange, respondedAt, path, jobId }: Entry): Fate {
  if (exchange === undefined) return 'unknown'
  const { status, body, informational, headers, framing } = exchange.response
  if (respondedAt === undefined) {
    // Nobody can tell where a body ends that only the end of the connection delimits (RFC 9112, 6.3). A reset that arrives
    // together with the last bytes is an ordinary end to libuv.
    const ended = exchange.breaksAt === 'response' && exchange.how !== 'hang'
    const resetAtEnd = exchange.breaksAt === 'never' && exchange.response.afterwards === 'reset'
    return framing === 'close' && (ended || resetAtEnd) ? 'any' : 'unknown'
  }
  const large = headers.some(([, value]) => value.length > 10_000)
  if (large || informational.includes(100) || body.kind === 'huge') return 'any'
  // 303 says that it was done (RFC 9110, 15.4.4).
  if (status >= 500 || status === 303) return 'unknown'
  if (status >= 300) return 'refused'
  if (isMessage({ path })) return 'job'
  return jobOf({ exchange, jobId }) === '' ? 'no-job' : 'job'
}

/** The id of the job in a response, if there is one that the action has to take. */
export function jobOf({ exchange, jobId }: Pick<Entry, 'exchange' | 'jobId'>): string {
  if (exchange === undefined || exchange.response.status === 204) return ''
  try {
    const { id, status } = JSON.parse(bodyText(exchange.response, jobId))
    return typeof id === 'string' && typeof status === 'string' && isId(id) ? id : ''
  } catch {
    return ''
  }
}
