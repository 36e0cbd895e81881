/** What became of a request, as the service knows it. */

import { bodyText, type Entry, isMessage } from './service.js'

export function isId(text: unknown): boolean {
  return (
    typeof text === 'string' && /^[A-Za-z0-9._~:@=+,-]{1,512}$/.test(text) && text !== '.' && text !== '..'
  )
}

/** What a POST's response says of it. `any`: nobody can tell whether the response was whole. */
export type Fate = 'job' | 'no-job' | 'refused' | 'unknown' | 'any'

export function fateOf({ exchange, respondedAt, path, jobId }: Entry): Fate {
  const { status, framing } = exchange.response
  if (respondedAt === undefined) {
    // Only the end of the connection tells where such a body ends (RFC 9112, 6.3).
    const endsWithConnection = framing === 'close' && exchange.breaksAt === 'response'
    return endsWithConnection && exchange.how !== 'hang' ? 'any' : 'unknown'
  }
  // 303 says that it was done (RFC 9110, 15.4.4).
  if (status >= 500 || status === 303) return 'unknown'
  if (status >= 300) return 'refused'
  if (isMessage({ path })) return 'job'
  return jobIn({ exchange, jobId }) === undefined ? 'no-job' : 'job'
}

/** The job in a response, if there is one that the action has to take. */
export function jobIn({ exchange, jobId }: Pick<Entry, 'exchange' | 'jobId'>) {
  try {
    const { id, status } = JSON.parse(bodyText(exchange.response, jobId))
    return typeof status === 'string' && isId(id) ? { id: id as string, status } : undefined
  } catch {
    return undefined
  }
}
