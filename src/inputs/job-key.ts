/** The input job-key as people read it, who tell the comments of matrix legs apart by it. */

import { truncate } from '../text/escape.js'

/** The values of a matrix leg as GitHub shows them, or the user's own key; shortened. */
export function describeJobKey(jobKey: string): string {
  let text = ''
  try {
    const leg: unknown = JSON.parse(jobKey)
    if (typeof leg === 'object' && leg !== null) {
      const values = Object.values(leg).map((value) =>
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      )
      text = values.join(', ').trim()
    }
  } catch {
    // It is a key of the user's own, whatever it begins with, or JSON that hiding a secret broke.
  }
  return truncate((text || jobKey).replace(/\s+/g, ' ').trim(), 99)
}
